"""Where the numbers of a study go: into the model, the start, the forces, or to functions of the user's alone.

bodies.arm.mass, gravity.2, m1    a number of the model, or one of its Parameters
start.q.hinge, start.v.hinge      the start; a joint of several coordinates takes as many numbers, a quaternion four
tau.hinge                         a constant force
tau.stiffness, tau.damping        the gains of a PD controller
anything else that is a name      a number for expressions and functions
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import InputError, UnknownNameError, did_you_mean, message
from polhode.formats.expression import is_name
from polhode.model import Model
from polhode.model.numbers import Parameter, named_parameters, plain
from polhode.result import labels

START = {"q": "start.q", "v": "start.v"}
FORCE = "tau"
GAINS = ("tau.stiffness", "tau.damping")


class StudyColumn(NamedTuple):
    """A number that differs from run to run: its name, and what it is a number of.

    of     "model"; "q" or "v" of the start; "force", constant along a velocity; "gain" of a PD controller; "functions",
           which alone read it
    place  in q or v; of a force that of its velocity; −1 for others
    """

    name: str
    of: str
    place: int = -1

    @property
    def is_input(self) -> bool:
        """Whether it is a number of the generalised forces."""
        return self.of in ("force", "gain")


@dataclass(frozen=True)
class StudyParameters:
    """The numbers of a model and of its run that a study can name."""

    model: Model

    @cached_property
    def numbers(self) -> dict[str, float]:
        """Numbers of the model by path, Parameters by name."""
        found = {parameter.name: float(parameter.value) for parameter in named_parameters(self.model)}
        return {**self.model.numbers(), **found}

    @cached_property
    def starts(self) -> dict[str, list[str]]:
        """The names of q and of v."""
        return {"q": labels.coordinate_names(self.model), "v": labels.dof_names(self.model)}

    def columns(self, name: str, width: int) -> list[StudyColumn]:
        """The single numbers that a name of a study stands for; `width` of them are to be given."""
        found = self._below(name)
        if len(found) > width == 4 and name.startswith(START["q"]):  # of a free joint, its attitude
            joint = next((j for j in self.model.joints if name == f"{START['q']}.{j.name}"), None)
            found = found[-4:] if joint and joint.kind.has_quaternion else found
        if len(found) != width:
            given = "1 number" if width == 1 else f"{width} numbers"
            names = [column.name for column in found[:4]]
            expected = f"{len(found)}: {', '.join(names)}{', …' if len(found) > 4 else ''}"
            raise InputError(message(f"sweep, parameter '{name}'", "wrong size", given, expected))
        return found

    def _below(self, name: str) -> list[StudyColumn]:
        for part, root in (*START.items(), ("force", FORCE)):
            if name == root or name.startswith(f"{root}."):
                if name in GAINS:
                    return [StudyColumn(name, "gain")]
                inner, all_names = name.removeprefix(root).lstrip("."), self.starts["v" if part == "force" else part]
                found = [
                    StudyColumn(f"{root}.{x}", part, place)
                    for place, x in enumerate(all_names)
                    if not inner or x == inner or x.startswith(f"{inner}.")
                ]
                if found:
                    return found
                raise self._unknown(name)
        if name in self.numbers:
            return [StudyColumn(name, "model")]
        below = [StudyColumn(path, "model") for path in self.numbers if path.startswith(f"{name}.")]
        if below:
            return below
        if is_name(name):
            return [StudyColumn(name, "functions")]
        raise self._unknown(name)

    def _unknown(self, name: str) -> UnknownNameError:
        return unknown(self, name)

    @cached_property
    def known(self) -> list[str]:
        """All names, for messages."""
        starts = [f"{START[part]}.{x}" for part, names in self.starts.items() for x in names]
        return [*starts, *(f"{FORCE}.{x}" for x in self.starts["v"]), *GAINS, *self.numbers]


def unknown(parameters: StudyParameters, name: str) -> UnknownNameError:
    """The error for a name of a study that stands for nothing."""
    fix = did_you_mean(name, parameters.known, "model.numbers() lists those of the model.", most=3)
    expected = "a path of the model, start.q.…, start.v.…, tau.…, or a name that an expression uses"
    return UnknownNameError(
        message(f"sweep, model '{parameters.model.name}'", "no such number", repr(name), expected, fix)
    )


def impossible(model: Model, columns: Sequence[str], values: np.ndarray) -> dict[int, str]:
    """Why no real machine has the numbers of a run, by run (row of values); runs that one could have are not listed."""
    found: dict[int, str] = {}
    at = {name: k for k, name in enumerate(columns)}

    def refuse(bad: np.ndarray, why: str) -> None:
        for k in np.flatnonzero(bad).tolist():
            found.setdefault(k, why)

    finite = np.isfinite(values)
    for k, name in enumerate(columns):
        refuse(~finite[:, k], f"{name} is not finite")
    for body in model.bodies:
        path = f"bodies.{body.name}"
        mass = _column(f"{path}.mass", body.mass, at)
        if mass is not None and body.physical:
            refuse(~(values[:, mass] > 0), f"the mass of '{body.name}' is not above 0")
        moments = _moments(body.inertia, path, at, values) if body.physical else None
        if moments is not None:
            low, mid, high = np.sort(moments, axis=1).T
            refuse(~((low >= -1e-9 * high) & (low + mid >= high * (1 - 1e-9))), f"the inertia of '{body.name}' is not that of a real body")  # noqa: E501  # fmt: skip
    place = 0
    for joint in model.joints:
        names = [f"start.q.{x}" for x in labels.coordinate_names(model)[place : place + joint.nq]][-4:]
        if joint.kind.has_quaternion and all(name in at for name in names):
            size = np.linalg.norm(values[:, [at[name] for name in names]], axis=1)
            refuse(~(abs(size - 1) <= 1e-6), f"the quaternion of '{joint.name}' is not of length 1")
        place += joint.nq
    return found


def _column(path: str, value: Any, at: Mapping[str, int]) -> int | None:
    """The column of a number of the model, by its path or by the name of the Parameter it is; None: it is not drawn."""
    return at.get(path, at.get(value.name) if isinstance(value, Parameter) else None)


def _moments(inertia: tuple, path: str, at: Mapping[str, int], values: np.ndarray) -> np.ndarray | None:
    """The principal moments (n, 3) of a body whose inertia is among the columns."""
    full = isinstance(inertia[0], tuple)
    if full:
        drawn = [_column(f"{path}.inertia.{i}.{j}", x, at) for i, row in enumerate(inertia) for j, x in enumerate(row)]
    else:
        drawn = [_column(f"{path}.inertia.{i}", x, at) for i, x in enumerate(inertia)]
    if not any(column is not None for column in drawn):
        return None
    found = np.tile(np.array(plain(inertia), dtype=float).ravel(), (len(values), 1))
    for k, column in enumerate(drawn):
        if column is not None:
            found[:, k] = values[:, column]
            if full:
                found[:, 3 * (k % 3) + k // 3] = values[:, column]
    return np.linalg.eigvalsh(found.reshape(-1, 3, 3)) if full else found
