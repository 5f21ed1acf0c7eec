"""The dimension of every number of a model, by its path: what a unit that is written with it must be of."""

from collections.abc import Sequence
from typing import Any

from polhode.model.parts import Joint
from polhode.model.units import Dimension, UnknownUnit, dimension_at, unit_of

BODY = {"mass": "kg", "inertia": "kg m2", "center": "m"}
JOINT = {"axis": "1", "axis2": "1", "position": "m", "orientation": "1", "rpy": "rad", "euler": "rad"}
PER_AXIS = {"armature": "kg m2 or kg", "damping": "N m s/rad or N s/m", "stiffness": "N m/rad or N/m",
            "rest": "rad or m", "lower": "rad or m", "upper": "rad or m"}  # fmt: skip
"""Units of the numbers of a joint: about an axis, or along one."""
OTHER = {"gravity": "m/s2", "duration": "s", "angle": "rad"}

Path = Sequence[str | int]
"""A path as its parts, ("bodies", "arm", "inertia", 0)."""


_LENGTHS = dict.fromkeys(("diameter", "outer", "inner", "width", "height"), "m")
_STIFFNESSES = {
    "axial": "N",
    "torsion": "N m2",
    "bending_y": "N m2",
    "bending_z": "N m2",
    "shear_y": "N",
    "shear_z": "N",
}
BEAMS = {
    "materials": {"young": "N/m2", "poisson": "1", "density": "kg/m3"},
    "sections": _LENGTHS | _STIFFNESSES | {"mass": "kg/m", "inertia_y": "kg m", "inertia_z": "kg m"},
    "beams": {"start": "m", "end": "m", "through": "m", "damping": "s", "driven": "m", "prestrain": "m", "load": "N/m"},
}
"""Units of what files say of beams."""


def dimension_of(model: Any, path: Path) -> tuple[Dimension, ...]:
    """The dimensions that a number of a model may have; none where nothing is known of it, as of a parameter.

    path  as a file has it: keys that files alone have (rpy, euler) too
    """
    group, *rest = path
    try:
        if group in OTHER:
            return (unit_of(OTHER[str(group)]).dimension,)
        if group == "start":
            return _of_start(model, rest)
        if group == "tau":
            return _of_state(model, "tau", rest)
        if group in BEAMS and len(rest) > 1:
            found = BEAMS[str(group)].get(str(rest[1]))
            return (unit_of(found).dimension,) if found else ()
        if group == "configurations" and len(rest) > 1:
            return _of_state(model, "q", rest[1:])
        if len(rest) > 1 and group in ("bodies", "joints", "forces", "constraints"):
            record = next((x for x in getattr(model, str(group)) if x.name == rest[0]), None)
            return () if record is None else _OF[str(group)](model, record, str(rest[1]), rest[2:])
    except UnknownUnit:
        return ()
    return ()


def _places(path: Path) -> tuple[int, ...]:
    return tuple(int(part) for part in path if isinstance(part, int) or str(part).isdigit())


def _of_body(model: Any, body: Any, key: str, rest: Path) -> tuple[Dimension, ...]:
    return (unit_of(BODY[key]).dimension,) if key in BODY else ()


def _of_joint(model: Any, joint: Joint, key: str, rest: Path) -> tuple[Dimension, ...]:
    kind, own = joint.kind, str(rest[0]) if key == "data" and rest else key
    if key in JOINT:
        return (unit_of(JOINT[key]).dimension,)
    if key in PER_AXIS:
        places = _places(rest)
        chosen = kind.linear[places[0] : places[0] + 1] if places and joint.nq == joint.nv else kind.linear
        if key == "armature" and kind.has_quaternion:
            chosen = (False,)
        return tuple(dict.fromkeys(dimension_at(PER_AXIS[key], is_linear=x) for x in chosen))
    return (unit_of(kind.keys[own].unit).dimension,) if own in kind.keys and kind.keys[own].unit else ()


def _of_force(model: Any, force: Any, key: str, rest: Path) -> tuple[Dimension, ...]:
    if key.startswith("rpy_"):
        return (Dimension(rad=1),)
    if key not in force.keys or not force.keys[key].unit:
        return (Dimension(s=1),) if key in force.keys and force.keys[key].holds == "seconds" else ()
    axis = getattr(force, "axis", 0)
    along = _linear(model, next(iter(force.joints), ""))
    is_linear = along[axis if isinstance(axis, int) and axis < len(along) else 0]
    if key == "stiffness" and getattr(force, "exponent", 1.0) != 1.0:  # N/mⁿ: no unit has broken powers
        return ()
    places, value = _places(rest), getattr(force, key)
    row = value[places[0]] if len(places) > 1 else value
    size = len(row) if isinstance(row, tuple) else 0
    return (dimension_at(force.keys[key].unit, places, size, is_linear),)


def _of_constraint(model: Any, constraint: Any, key: str, rest: Path) -> tuple[Dimension, ...]:
    if key.startswith("rpy_"):
        return (Dimension(rad=1),)
    kind, data = constraint.kind, constraint.data
    if kind.of_coordinates and key in ("value", "offset", "multiplier", "polynomial"):
        own = dimension_at("rad or m", is_linear=_linear(model, data["joint"])[0])
        if key in ("value", "offset"):
            return (own,)
        source = dimension_at("rad or m", is_linear=_linear(model, data["source"])[0])
        power = 1 if key == "multiplier" else _places(rest)[0]
        return (own.times(source, -power), *((Dimension(),) if own == source and power == 1 else ()))
    return (unit_of(kind.keys[key].unit).dimension,) if key in kind.keys and kind.keys[key].unit else ()


_OF = {"bodies": _of_body, "joints": _of_joint, "forces": _of_force, "constraints": _of_constraint}


def _linear(model: Any, joint: str) -> tuple[bool, ...]:
    return next((x.kind.linear for x in model.joints if x.name == joint), ()) or (False,)


def _of_start(model: Any, rest: Path) -> tuple[Dimension, ...]:
    if not rest:
        return ()
    if rest[0] == "duration":
        return (Dimension(s=1),)
    return _of_state(model, str(rest[0]), rest[1:]) if rest[0] in ("q", "v") else ()


def _of_state(model: Any, which: str, rest: Path) -> tuple[Dimension, ...]:
    """Of a number of q or v, by its place, or by its joint and its place there."""
    part, units = {"q": 0, "v": 1, "tau": 2}[which], dict[str, list[str]]()
    for joint in model.joints:
        units[joint.name] = [unit for kind, _ in joint.kind.elements for unit in kind.units[part]]
    named = bool(rest) and isinstance(rest[0], str) and rest[0] in units
    chosen = units[str(rest[0])] if named else [unit for own in units.values() for unit in own]
    places = _places(rest[1:] if named else rest) or (0,)
    return (unit_of(chosen[places[0]]).dimension,) if places[0] < len(chosen) else ()
