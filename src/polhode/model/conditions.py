"""The kinds of constraints: what the data of each must and may say, checked where a model is read or compiled."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import ModelError, did_you_mean, fault_of_name, message
from polhode.model.description import Constraint, Model
from polhode.model.numbers import numbers, plain
from polhode.model.topology import WORLD
from polhode.scalar import UNIT_TOLERANCE


class Kind(NamedTuple):
    """The keys that the data of a constraint must have, and those that it may have."""

    must: tuple[str, ...]
    may: tuple[str, ...] = ()


PLACES = ("body_a", "position_a", "orientation_a", "axis_a", "position_b", "orientation_b", "axis_b")
"""A frame on each of two bodies: where it is, and its attitude or else its z axis. Body a is the world unless given."""

_ENDS = Kind(("body_b",), PLACES)
KINDS: dict[str, Kind] = {
    **dict.fromkeys(("weld", "revolute", "prismatic", "cylindrical", "universal", "spherical", "planar"), _ENDS),
    "screw": Kind(("body_b", "pitch"), PLACES),
    "distance": Kind(("body_b", "length"), PLACES),
    "point-on-line": _ENDS,
    "point-on-plane": _ENDS,
    "point-on-curve": Kind(("body_b", "function"), PLACES),
    "rolling-disk": Kind(("body_b", "radius"), (*PLACES, "rim")),
    "rolling-sphere": Kind(("body_b", "radius"), PLACES),
    "knife-edge": _ENDS,
    "mimic": Kind(("joint", "source"), ("multiplier", "offset", "polynomial")),
    "gear": Kind(("joint", "source"), ("multiplier", "offset")),
    "prescribed": Kind(("joint", "value")),
    "function": Kind(("function",), ("rows", "holonomic", "matrix")),
}
"""Every kind of constraint by name."""

SIZES = {"position": 3, "axis": 3, "orientation": 4}
"""How many numbers a key has, by its first word."""

BOUNDS: dict[str, tuple[Callable[[float], bool], str]] = {
    "pitch": (math.isfinite, "metres per radian"),
    "length": (lambda x: 0 < x < math.inf, "metres, above 0: a point that stays on another is a 'spherical' joint"),
    "radius": (lambda x: 0 < x < math.inf, "metres, above 0"),
    "rim": (lambda x: 0 <= x < math.inf, "metres, at least 0"),
    "multiplier": (math.isfinite, "a number"),
    "offset": (math.isfinite, "a number"),
    "value": (math.isfinite, "a number, or a function of time"),
}
"""What a single number must be, and how that is said."""


def check_data(constraint: Constraint) -> None:
    """Refuse a constraint whose kind is not known, or whose data do not say what it needs."""
    where, data = f"constraint '{constraint.name}'", constraint.data
    if not isinstance(constraint.type, str) or constraint.type not in KINDS:
        fix = did_you_mean(constraint.type, KINDS)
        raise ModelError(message(where, "no such type", repr(constraint.type), ", ".join(KINDS), fix))
    must, may = KINDS[constraint.type]
    for key in must:
        if key not in data:
            raise ModelError(message(where, f"'{key}' is missing", ", ".join(data) or "nothing", f"'{key}'"))
    for key, value in data.items():
        if key not in must and key not in may:
            fix = did_you_mean(key, [*must, *may])
            raise ModelError(message(where, "no such key", repr(key), ", ".join((*must, *may)), fix))
        _check_value(where, key, value)
    if data.get("matrix") and data.get("holonomic", True):
        found = "matrix=True without holonomic=False"
        raise ModelError(message(where, "A v = b is a condition of velocities", found, "holonomic=False"))
    if "polynomial" in data and ("multiplier" in data or "offset" in data):
        raise ModelError(message(where, "two rules", "a polynomial and a multiplier or an offset", "one of them"))
    for side in ("a", "b"):
        if f"axis_{side}" in data and f"orientation_{side}" in data:
            found = f"axis_{side} and orientation_{side}"
            raise ModelError(message(where, "an attitude twice", found, "one of them"))


def _check_value(where: str, key: str, value: Any) -> None:
    place, first = f"{where}, {key}", key.partition("_")[0]
    if key == "function" or (key == "value" and callable(value)):
        if not callable(value):
            raise ModelError(message(place, "not a function", repr(value), "a function on generic scalars"))
    elif key == "rows":
        named = isinstance(value, tuple) and value and not any(map(fault_of_name, value))
        if not named and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            expected = "how many numbers the function gives, or a name for each"
            raise ModelError(message(place, "not a count", repr(value), expected))
        if named and len(set(value)) < len(value):
            raise ModelError(message(place, "one name twice", repr(value), "different names"))
    elif key in ("holonomic", "matrix"):
        if not isinstance(value, bool):
            raise ModelError(message(place, "neither true nor false", repr(value), "True or False"))
    elif key == "polynomial":
        if not isinstance(value, tuple) or len(value) < 2:
            raise ModelError(message(place, "not a polynomial", repr(value), "coefficients c of Σ c[k] source^k"))
        numbers(where, key, value, len(value))
    elif first in SIZES:
        _check_vector(place, first, np.array(plain(numbers(where, key, value, SIZES[first])), dtype=float))
    elif key in BOUNDS:
        (is_good, expected), value = BOUNDS[key], plain(value)
        if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not is_good(float(value)):
            raise ModelError(message(place, "out of range", repr(value), expected))


def _check_vector(place: str, kind: str, value: np.ndarray) -> None:
    size = float(np.linalg.norm(value))
    if kind == "axis" and not size > 0:
        raise ModelError(message(place, "is zero", "(0, 0, 0)", "a direction"))
    if kind == "orientation" and abs(size - 1) > UNIT_TOLERANCE:
        fix = "Order is (w, x, y, z)."
        raise ModelError(message(place, "not a unit quaternion", f"norm {size:.9g}", "1", fix))


def check_constraint(model: Model, constraint: Constraint) -> None:
    """Refuse a constraint that is none, or that names what the model does not have."""
    check_data(constraint)
    where, data = f"constraint '{constraint.name}'", constraint.data
    bodies, joints = [WORLD, *(body.name for body in model.bodies)], [joint.name for joint in model.joints]
    for keys, known, what in ((("body_a", "body_b"), bodies, "body"), (("joint", "source"), joints, "joint")):
        for key in keys:
            if key in data and data[key] not in known:
                fix = did_you_mean(data[key], known)
                raise ModelError(message(f"{where}, {key}", f"no such {what}", repr(data[key]), f"a {what}", fix))
    if "body_b" in data and data["body_b"] == data.get("body_a", WORLD):
        raise ModelError(message(where, "both ends on one body", repr(data["body_b"]), "two bodies"))
    for key in ("joint", "source"):
        if key in data and model.joint(data[key]).nv != 1:
            found = f"'{data[key]}', {model.joint(data[key]).type}"
            raise ModelError(message(f"{where}, {key}", "not a joint of one axis", found, "one coordinate"))
    if data.get("joint") and data.get("joint") == data.get("source"):
        raise ModelError(message(where, "a joint that follows itself", repr(data["joint"]), "two joints"))
