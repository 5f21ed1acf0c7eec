"""The kinds of constraints by name; those of users are added while a program runs."""

from polhode.errors import ModelError, did_you_mean, fault_of_name, message
from polhode.model.constraints.base import BodyConstraint, ConstraintKind
from polhode.model.constraints.beam_strain import BeamStrain
from polhode.model.constraints.coordinates import Gear, Mimic, Prescribed
from polhode.model.constraints.function import FunctionConstraint
from polhode.model.constraints.loop_joints import (
    Cylindrical,
    Planar,
    Prismatic,
    Revolute,
    Screw,
    Spherical,
    Universal,
    Weld,
)
from polhode.model.constraints.points import Distance, PointOnCurve, PointOnLine, PointOnPlane
from polhode.model.constraints.rolling import KnifeEdge, RollingDisk, RollingSphere
from polhode.model.joints.registry import SYNONYMS
from polhode.scalar import shown

CONSTRAINTS: dict[str, ConstraintKind] = {
    "weld": Weld(),
    "revolute": Revolute(),
    "prismatic": Prismatic(),
    "cylindrical": Cylindrical(),
    "universal": Universal(),
    "spherical": Spherical(),
    "planar": Planar(),
    "screw": Screw(),
    "distance": Distance(),
    "point-on-line": PointOnLine(),
    "point-on-plane": PointOnPlane(),
    "point-on-curve": PointOnCurve(),
    "rolling-disk": RollingDisk(),
    "rolling-sphere": RollingSphere(),
    "knife-edge": KnifeEdge(),
    "mimic": Mimic(),
    "gear": Gear(),
    "prescribed": Prescribed(),
    "beam-strain": BeamStrain(),
    "function": FunctionConstraint(),
}
"""Every kind of constraint."""


def constraint_kind(where: str, name: object) -> ConstraintKind:
    """The kind of this name, or a ModelError."""
    if isinstance(name, str) and name in CONSTRAINTS:
        return CONSTRAINTS[name]
    fix = did_you_mean(name, CONSTRAINTS, synonyms={**SYNONYMS, "fixed": "weld", "rigid": "weld", "rod": "distance"})
    raise ModelError(message(where, "no such type", repr(name), ", ".join(CONSTRAINTS), fix))


def register_constraint(kind: type[ConstraintKind]) -> type[ConstraintKind]:
    """Let constraints have a kind of the user's own, by its `name`; also a decorator."""
    where = f"register_constraint, {getattr(kind, '__name__', shown(kind))}"
    if not isinstance(kind, type) or not issubclass(kind, ConstraintKind):
        expected = "a subclass of BodyConstraint or CoordinateConstraint"
        raise ModelError(message(where, "not a kind of constraint", shown(kind), expected))
    if fault_of_name(getattr(kind, "name", "")):
        raise ModelError(message(where, "has no name", "no `name`", 'name = "pulley", in the class'))
    if not (kind.rows or kind.rate_rows or kind.rows_by_trial):
        raise ModelError(message(where, "has no rows", "no `rows`", 'rows = ("length",), a name for each number'))
    if issubclass(kind, BodyConstraint) and not {"body_a", "body_b"} <= set(kind.keys):
        expected = "keys = {**ph.BodyConstraint.keys, …}"
        raise ModelError(message(where, "names no bodies", f"keys {', '.join(kind.keys)}", expected))
    known = CONSTRAINTS.get(kind.name)
    if known and (type(known).__module__, type(known).__qualname__) != (kind.__module__, kind.__qualname__):
        raise ModelError(message(where, "a name twice", f"'{kind.name}' is known", "another `name`"))
    for other in CONSTRAINTS.values():
        for key in kind.keys:
            if key in other.keys and other.keys[key].holds != kind.keys[key].holds and other is not known:
                found = f"'{key}' holds a {kind.keys[key].holds}, in '{other.name}' a {other.keys[key].holds}"
                raise ModelError(message(where, "a key of two sorts", found, "another name for the key"))
    CONSTRAINTS[kind.name] = kind()
    return kind
