"""Where modal bodies leave what modes describe: large displacements, and fast rotation, which should stiffen them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from polhode.model import Model
from polhode.model.joints.modal import first_frequency
from polhode.model.numbers import plain
from polhode.model.per_model_cache import once_each

FAR = 0.1
"""The part of its size by which a body may deform: modes are linear, an error of second order is about the square."""

FAST = 0.3
"""Rotation of a body, of its first frequency: without centrifugal stiffening a rotating beam has ω² = ω₁² − Ω², some
5 % too low a frequency there, and is unstable from Ω = ω₁ on where it should have become stiffer."""


class _WatchedModes(NamedTuple):
    """The modes of one body."""

    body: str
    place: int
    """Of the body among those of the model."""
    coordinates: slice
    size: float
    shapes: list[np.ndarray]
    """(3, k)  of its interfaces"""
    slowest: float
    """The first frequency, rad/s."""


class ModalLimits:
    """Looks at samples of a run as they pass."""

    def __init__(self, model: Model) -> None:
        self._leaders = _leaders(model)
        self._far: dict[str, tuple[float, float]] = {}
        self._fast: dict[str, tuple[float, float]] = {}

    def seen(self, parts: Iterable[Mapping[str, np.ndarray]]) -> Iterable[Mapping[str, np.ndarray]]:
        """The same parts, looked at."""
        return self._looked_at(parts) if self._leaders else parts

    def _looked_at(self, parts: Iterable[Mapping[str, np.ndarray]]) -> Iterator[Mapping[str, np.ndarray]]:
        for part in parts:
            for leader in self._leaders:
                q = part["q"][:, leader.coordinates]
                moved = [np.linalg.norm(q @ shape.T, axis=1) for shape in leader.shapes]
                reach = np.max([np.linalg.norm(q, axis=1), *moved], axis=0) / leader.size
                _note(self._far, leader.body, part["time"], reach, FAR)
                if "omega_body" in part:
                    speed = np.linalg.norm(part["omega_body"][:, leader.place], axis=-1) / max(leader.slowest, 1e-300)
                    _note(self._fast, leader.body, part["time"], speed, FAST)
            yield part

    def notes(self) -> list[str]:
        """What was seen, a line for each body and kind."""
        far = [
            f"modal body '{body}' deforms by {worst:.2g} of its size from t = {t:.4g} s on: modes are good to about "
            f"{FAR:g}. Divide it into several bodies, or take beams"
            for body, (t, worst) in self._far.items()
        ]
        fast = [
            f"modal body '{body}' turns with {worst:.2g} of its first frequency from t = {t:.4g} s on: modes lack "
            f"centrifugal stiffening, which counts above {FAST:g}. Divide it into several bodies, or take beams"
            for body, (t, worst) in self._fast.items()
        ]
        return [*far, *fast]


def watches_modes(model: Model) -> bool:
    """Whether there are modal bodies to be looked at."""
    return bool(_leaders(model))


@once_each
def _leaders(model: Model) -> list[_WatchedModes]:
    """The modes of every modal body."""
    names, found, at = [body.name for body in model.bodies], list[_WatchedModes](), 0
    for joint in model.joints:
        if joint.kind.shared:
            own: Any = joint.data
            others: list[Any] = [x.data for x in model.joints if x.parent == joint.parent and x.kind.shares]
            shapes = [np.array(plain(x["shape"]), dtype=float) for x in (own, *others)]
            body, place, size = names.index(joint.parent), slice(at, at + joint.nq), float(plain(own["size"]))
            found.append(_WatchedModes(joint.parent, body, place, size, shapes, first_frequency(joint)))
        at += joint.nq
    return found


def _note(found: dict[str, tuple[float, float]], body: str, time: np.ndarray, x: np.ndarray, most: float) -> None:
    """Keep when a value first exceeds its limit, and its largest."""
    above = np.flatnonzero(x > most)
    if len(above):
        first, worst = found.get(body, (float(time[above[0]]), 0.0))
        found[body] = first, max(worst, float(np.max(x[above])))
