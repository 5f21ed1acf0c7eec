"""Force elements and constraints that name frames of a model, put on the bodies that carry the frames."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from polhode.errors import ModelError, message
from polhode.model.constraints.constraint import Constraint
from polhode.model.constraints.registry import CONSTRAINTS
from polhode.model.edits.carry import Renaming, carried_constraint, carried_force
from polhode.model.forces.base import ForceElement
from polhode.model.mount import Mount, NotCarried
from polhode.model.numbers import Parameter
from polhode.model.parts import BodyFrame
from polhode.model.topology import WORLD

R = TypeVar("R", ForceElement, Constraint)


def forces_on_bodies(forces: Sequence[ForceElement], frames: Sequence[BodyFrame]) -> tuple[ForceElement, ...]:
    """Force elements whose bodies may be frames: on the bodies, points and axes seen from there."""
    mounts = _mounts(frames)
    made = [
        _carried("force", force, carried_force, mounts) if _names(force.bodies, mounts) else force for force in forces
    ]
    for old, new in zip(forces, made, strict=True):
        _refuse_parameters(f"force '{old.name}'", {name: (getattr(old, name), getattr(new, name)) for name in old.keys})
    return tuple(made)


def constraints_on_bodies(constraints: Sequence[Constraint], frames: Sequence[BodyFrame]) -> tuple[Constraint, ...]:
    """Constraints whose bodies may be frames: on the bodies, frames of the constraint seen from there."""
    mounts = _mounts(frames)
    made = []
    for constraint in constraints:
        named = [value for value in constraint.data.values() if isinstance(value, str)]
        new = constraint
        if _names(named, mounts) and _names(_bodies(constraint), mounts):
            new = _carried("constraint", constraint, carried_constraint, mounts)
        old = constraint.data
        _refuse_parameters(f"constraint '{new.name}'", {key: (old[key], new.data.get(key)) for key in old})
        made.append(new)
    return tuple(made)


def _mounts(frames: Sequence[BodyFrame]) -> dict[str, Mount]:
    return {frame.name: Mount(frame.body, tuple(frame.position), tuple(frame.orientation)) for frame in frames}


def _names(bodies: Sequence[Any], mounts: Mapping[str, Mount]) -> bool:
    return any(isinstance(body, str) and body in mounts for body in bodies)


def _bodies(constraint: Constraint) -> list[Any]:
    """The bodies that a constraint names, as they are written; none of a kind that is not known."""
    if constraint.type not in CONSTRAINTS:
        return []
    return [constraint.data.get(name, WORLD) for name, key in constraint.kind.keys.items() if key.holds == "body"]


def _carried(noun: str, record: R, carry: Callable[[R, Renaming], R], mounts: Mapping[str, Mount]) -> R:
    try:
        return carry(record, Renaming(mounts, layout=True))
    except NotCarried as reason:
        fix = "Name the body that carries the frame."
        where = f"{noun} '{record.name}'"
        raise ModelError(message(where, "cannot stand on a frame", str(reason), "a body", fix)) from None


def _refuse_parameters(where: str, values: Mapping[str, tuple[Any, Any]]) -> None:
    """Refuse a parameter in the axes of a frame: on the body its numbers would be others."""
    for name, (old, new) in values.items():
        if isinstance(old, tuple) and new is not old and new != old and any(isinstance(x, Parameter) for x in old):
            fix = "Name the body that carries the frame, and give the point in its axes."
            raise ModelError(
                message(f"{where}, {name}", "a parameter in the axes of a frame", repr(old), "numbers", fix)
            )
