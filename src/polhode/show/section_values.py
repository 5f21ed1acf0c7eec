"""What the sections of a run's beams bear, along each of them: of held strains the multipliers, and what loads add."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from polhode.errors import UnknownNameError, did_you_mean, message
from polhode.model import WORLD, DrawnBeam, ForceElement, Model, plain
from polhode.quaternion import product, rotation_matrix
from polhode.scalar import Vec, shown
from polhode.show.run_values import labels, values

if TYPE_CHECKING:
    from xarray import Dataset


class SectionForce(NamedTuple):
    """A section force: its name in words, its unit, the parts it is the size of, whether its sign tells anything."""

    words: str
    unit: str
    parts: tuple[str, ...]
    is_signed: bool = True


SECTION_FORCES = {
    "N": SectionForce("normal force N", "N", ("N",)),
    "Qy": SectionForce("shear force Qy", "N", ("Qy",)),
    "Qz": SectionForce("shear force Qz", "N", ("Qz",)),
    "Mx": SectionForce("torsion Mx", "N m", ("Mx",)),
    "My": SectionForce("bending moment My", "N m", ("My",)),
    "Mz": SectionForce("bending moment Mz", "N m", ("Mz",)),
    "M": SectionForce("bending moment √(My² + Mz²)", "N m", ("My", "Mz"), False),
}
"""The section forces that pictures show, by name."""

ALSO = {
    "axial": "N", "shear_y": "Qy", "shear_z": "Qz", "torsion": "Mx", "bending_y": "My", "bending_z": "Mz",
    "bending": "M",
}  # fmt: skip
"""The same by the names of the stiffness against each, as a Section has them."""


def force_name(where: str, given: str) -> str:
    """The name of a section force, or an UnknownNameError."""
    found = ALSO.get(given, given) if isinstance(given, str) else ""
    if found not in SECTION_FORCES:
        known = [*SECTION_FORCES, *ALSO]
        raise UnknownNameError(
            message(where, "no such section force", shown(given), ", ".join(known), did_you_mean(given, known))
        )
    return found


def beam_of(element: str) -> str:
    """The name of the beam whose element this is: "blade" of "blade-3"; of others their own."""
    name, dash, number = element.rpartition("-")
    return name if dash and number.isdecimal() else element


@dataclass(frozen=True)
class SectionValues:
    """What the elements of beams bear at the samples of a run.

    elements  those with sections, in the order of the model
    loads     (time, elements, section loads), those of held strains among them
    axes      (time, elements, 2, 3, 3)  of the frames at both ends, columns, in the world
    """

    elements: tuple[ForceElement, ...]
    loads: np.ndarray
    axes: np.ndarray

    @property
    def beams(self) -> dict[str, list[int]]:
        """The places of the elements of each beam, by its name."""
        found: dict[str, list[int]] = {}
        for k, element in enumerate(self.elements):
            found.setdefault(beam_of(element.name), []).append(k)
        return found

    def length(self, k: int) -> float:
        """The length of an element without strain, m."""
        return _drawn(self.elements[k]).length

    def along(self, k: int, parts: Sequence[float], force: str) -> np.ndarray:
        """A section force of an element (time, parts) at these parts of its length, 0 … 1."""
        element, kind = self.elements[k], SECTION_FORCES[force]
        loads = list(self.loads[:, k].T)
        R_a, R_b = (Vec([Vec(row) for row in np.moveaxis(self.axes[:, k, end], 0, -1)]) for end in (0, 1))
        found = []
        for part in parts:
            forces = dict(zip(element.section_forces, element.forces_along(loads, R_a, R_b, part), strict=True))
            each = [np.broadcast_to(forces[name], self.loads.shape[:1]) for name in kind.parts]
            found.append(each[0] if kind.is_signed else np.sqrt(sum(x * x for x in each)))
        return np.stack(found, axis=-1)

    def at_ends(self, force: str) -> np.ndarray:
        """A section force at both ends of all elements (time, elements, 2)."""
        return np.stack([self.along(k, (0.0, 1.0), force) for k in range(len(self.elements))], axis=1)


def section_values(run: "Dataset", model: Model) -> SectionValues | None:
    """What the sections bear; None where the run or the model has no sections, or the run lacks what is needed."""
    loads, attitude = values(run, "section_force"), values(run, "quaternion")
    names, bodies = labels(run, "beam_element"), labels(run, "body")
    known = {force.name: force for force in model.forces if force.section_forces}
    if loads is None or attitude is None or not names or not known.keys() >= {*names}:
        return None
    elements = tuple(known[name] for name in names)
    loads = loads + _held(run, elements, loads)
    axes = np.stack([_axes(element, bodies, attitude) for element in elements], axis=1)
    return SectionValues(elements, loads, axes)


def _held(run: "Dataset", elements: Sequence[ForceElement], like: np.ndarray) -> np.ndarray:
    """What strains that are held bear: minus their multipliers, which push where the section pulls."""
    found, lam = np.zeros_like(like), values(run, "multiplier")
    if lam is None:
        return found
    place = {row.rpartition(".")[0]: k for k, row in enumerate(labels(run, "constraint"))}
    for e, element in enumerate(elements):
        rows = [place.get(name) for name in element.strain_holders]
        if any(row is not None for row in rows):
            sigma = [np.zeros(len(lam)) if row is None else -lam[:, row] for row in rows]
            found[:, e] = np.stack(list(element.held_loads(sigma)), axis=-1)
    return found


def _drawn(element: ForceElement) -> DrawnBeam:
    return next(line for line in element.drawing() if isinstance(line, DrawnBeam))


def _axes(element: ForceElement, bodies: Sequence[str], attitude: np.ndarray) -> np.ndarray:
    """The axes (time, 2, 3, 3) of the frames at the ends of an element."""
    beam, found = _drawn(element), []
    for body, turn in ((beam.body_a, beam.orientation_a), (beam.body_b, beam.orientation_b)):
        p = np.tile((1.0, 0.0, 0.0, 0.0), (len(attitude), 1)) if body == WORLD else attitude[:, bodies.index(body)]
        found.append(np.asarray(rotation_matrix(np.asarray(product(p, np.broadcast_to(plain(turn), p.shape))))))
    return np.stack(found, axis=1)
