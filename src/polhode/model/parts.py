"""Bodies and joints as their user writes them: frozen records, valid from birth."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.errors import ModelError, check_name, did_you_mean, message, warn_caller
from polhode.model.joints.base import JointKind
from polhode.model.joints.registry import JOINTS, SYNONYMS
from polhode.model.numbers import SMALLEST, Number, assign, direction, number, numbers, plain, unit_quaternion_numbers
from polhode.scalar import Array, shown
from polhode.spatial import TRIANGLE_TOLERANCE

LIMITS = ("lower", "upper")
"""Numbers of joints that no equation of motion reads."""


@dataclass(frozen=True)
class Body:
    """A rigid body. Its inertia is about the mass centre, in body axes.

    name      unique; "world" is the ground
    mass      kg, above 0
    inertia   3 principal moments or 3×3, kg m²
    center    mass centre in the body frame, m
    physical  False: accept zero mass and inertias no real body has, with a warning where it was needed
    """

    name: str
    mass: Number
    inertia: Any
    center: Array = (0.0, 0.0, 0.0)
    physical: bool = True

    def __post_init__(self) -> None:
        """Check everything."""
        check_name("body", "body", self.name)
        where = f"body '{self.name}'"
        assign(
            self,
            mass=number(where, "mass", self.mass),
            inertia=_inertia_numbers(where, self.inertia),
            center=numbers(where, "center", self.center, 3),
        )
        fault = _mass_fault(where, plain(self.mass)) or _inertia_fault(where, self.inertia_matrix())
        if fault and self.physical:
            raise ModelError(fault)
        if fault:
            warn_caller(fault)

    def inertia_matrix(self) -> np.ndarray:
        """The 3×3 inertia about the mass centre, with parameters at their own values."""
        values = np.array(plain(self.inertia), dtype=float)
        return np.diag(values) if values.ndim == 1 else values


def _inertia_numbers(where: str, value: Any) -> tuple:
    try:
        rows = tuple(value)
    except TypeError:
        rows = ()
    if len(rows) != 3:
        raise ModelError(message(f"{where}, inertia", "wrong size", repr(value), "3 numbers, or 3 rows of 3"))
    if all(isinstance(row, (Iterable,)) and not isinstance(row, str) for row in rows):
        return tuple(numbers(where, "inertia", row, 3) for row in rows)
    return numbers(where, "inertia", rows, 3)


def _mass_fault(where: str, mass: float) -> str:
    if mass >= SMALLEST:
        return ""
    if mass > 0:
        found, expected = f"{mass:g} kg", f"at least {SMALLEST:g}"
        raise ModelError(message(f"{where}, mass", "too small to compute with", found, expected))
    fix = "A massless or negative body is kept with physical=False."
    return message(f"{where}, mass", "not that of a real body", f"{mass:g} kg", "above 0", fix)


def _inertia_fault(where: str, J: np.ndarray) -> str:
    size = float(np.max(abs(J), initial=0.0))
    if 0 < size < SMALLEST:
        found, expected = f"{size:g} kg m²", f"at least {SMALLEST:g}, or zero"
        raise ModelError(message(f"{where}, inertia", "too small to compute with", found, expected))
    diagonal = J.diagonal()
    moments = np.sort(diagonal) if np.count_nonzero(J) == np.count_nonzero(diagonal) else _moments(where, J, size)
    small, middle, large = moments.tolist()
    if small >= -1e-12 * size and small + middle >= large * (1 - TRIANGLE_TOLERANCE):
        return ""
    shown = "principal moments " + ", ".join(f"{m:.6g}" for m in moments) + " kg m²"
    bound = f"none below 0, and the largest at most the sum of the others ({small + middle:.6g})"
    fix = "Was it given about the joint instead of the centre of mass? physical=False keeps it as it is."
    return message(f"{where}, inertia", "not that of a real body", shown, bound, fix)


def _moments(where: str, J: np.ndarray, size: float) -> np.ndarray:
    """The principal moments of a matrix, ascending."""
    if np.max(abs(J - J.T)) > 1e-9 * size:
        raise ModelError(message(f"{where}, inertia", "not symmetric", f"{J.tolist()}", "equal entries across"))
    return np.linalg.eigvalsh(J)


@dataclass(frozen=True)
class Joint:
    """How a child body moves relative to its parent.

    The joint frame is fixed in the parent at `position`, `orientation`; the child frame coincides with
    it at zero. `axis` is a direction in the joint frame (fixed, spherical, planar and free ignore it).

    name                       unique
    type                       fixed, revolute, prismatic, screw, cylindrical, universal, planar, spherical, free, …
    parent, child              body names; "world" is the ground
    axis, axis2                directions; axis2 is the second of a universal joint, carried by the first
    position, orientation      m; unit quaternion (w, x, y, z)
    armature                   added to the mass matrix, kg m² or kg; one number on the angular part of a quaternion
    damping, stiffness, rest   per coordinate: one number for all, or one each
    lower, upper               limits of the coordinates; stops in runs, `ph.with_limits`
    pitch                      of a screw, m per radian
    data                       own numbers by name, of a kind of your own (`register_joint`)
    """

    name: str
    type: str
    parent: str
    child: str
    axis: Array = (0.0, 0.0, 1.0)
    position: Array = (0.0, 0.0, 0.0)
    orientation: Array = (1.0, 0.0, 0.0, 0.0)
    armature: Any = 0.0
    damping: Any = 0.0
    stiffness: Any = 0.0
    rest: Any = 0.0
    lower: Any = -math.inf
    upper: Any = math.inf
    pitch: Number | None = None
    axis2: Array | None = None
    data: Mapping[str, Number] | None = None

    def __post_init__(self) -> None:
        """Check everything."""
        check_name("joint", "joint", self.name)
        where = f"joint '{self.name}'"
        if not isinstance(self.type, str) or self.type not in JOINTS:
            fix = did_you_mean(self.type, JOINTS, synonyms=SYNONYMS)
            raise ModelError(message(where, "unknown type", repr(self.type), ", ".join(JOINTS), fix))
        if isinstance(self.parent, str) and isinstance(self.child, str) and self.parent == self.child:
            raise ModelError(message(where, "parent and child are one body", f"'{self.child}'", "two bodies"))
        assign(
            self,
            axis=direction(where, "axis", self.axis),
            position=numbers(where, "position", self.position, 3),
            orientation=unit_quaternion_numbers(where, self.orientation),
            armature=self._each(where, "armature"),
            damping=self._each(where, "damping"),
            stiffness=self._each(where, "stiffness"),
            rest=self._each(where, "rest"),
            lower=self._limits(where, "lower"),
            upper=self._limits(where, "upper"),
        )
        self._check_limits(where)
        self._check_kind(where)

    def _each(self, where: str, name: str) -> Any:
        """One number, or a tuple with one per velocity."""
        value = getattr(self, name)
        if isinstance(value, Sequence) and not isinstance(value, str):
            value = numbers(where, name, value, self.kind.nv)
        else:
            value = number(where, name, value)
        values = value if isinstance(value, tuple) else (value,)
        if name in ("armature", "damping") and any(plain(x) < 0 for x in values):
            raise ModelError(message(f"{where}, {name}", "negative", repr(plain(value)), "at least 0"))
        return value

    def _limits(self, where: str, name: str) -> Any:
        value = getattr(self, name)
        values = value if isinstance(value, (tuple, list)) else (value,)
        if not all(isinstance(x, (int, float, np.number)) and not math.isnan(x) for x in values):
            raise ModelError(message(f"{where}, {name}", "not a limit", shown(value), "numbers, or infinite"))
        return tuple(map(float, value)) if isinstance(value, (tuple, list)) else float(value)

    def _check_limits(self, where: str) -> None:
        """Limits are one number for all coordinates or one for each, and leave room between them."""
        sizes = [len(limit) if isinstance(limit, tuple) else 1 for limit in (self.lower, self.upper)]
        for name, size in zip(("lower", "upper"), sizes, strict=True):
            if size not in (1, self.nq, self.nv):
                raise ModelError(message(f"{where}, {name}", "wrong size", f"{size} numbers", f"1 or {self.nq}"))
        if max(sizes) > min(sizes) > 1:
            raise ModelError(message(where, "limits of two sizes", f"{sizes[0]} and {sizes[1]}", "one size"))
        for low, high in limit_pairs(self.lower, self.upper):
            if low > high or low == math.inf or high == -math.inf:
                found = f"lower {low:g}, upper {high:g}"
                raise ModelError(
                    message(f"{where}, limits", "lower above upper, or no room between", found, "lower ≤ upper")
                )

    def _check_kind(self, where: str) -> None:
        kind = self.kind
        if kind.has_quaternion:
            for name in ("stiffness", "rest"):
                if np.any(np.asarray(plain(getattr(self, name)), dtype=float) != 0):
                    raise ModelError(
                        message(
                            f"{where}, {name}",
                            "has no meaning for a quaternion",
                            repr(getattr(self, name)),
                            "0",
                            "Use a Spring between body points.",
                        )
                    )
            if isinstance(self.armature, tuple):
                raise ModelError(message(f"{where}, armature", "several numbers", repr(self.armature), "one number"))
        self._check_own(where, kind)
        self._refuse(where, "axis2", "axis2" in kind.axes)
        assign(self, axis2=kind.second_axis(where, self.axis, self.axis2))

    def _check_own(self, where: str, kind: JointKind) -> None:
        """The numbers that this kind of joint has of its own, and no others."""
        self._refuse(where, "pitch", "pitch" in kind.keys)
        if not kind.keys and self.data is None:
            return
        if self.data is not None and not isinstance(self.data, Mapping):
            raise ModelError(message(f"{where}, data", "not a mapping", shown(self.data), "numbers by name"))
        given = dict(self.data or {})
        if self.pitch is not None:
            given["pitch"] = self.pitch
        for name in given:
            if name not in kind.keys:
                expected, fix = ", ".join(kind.keys) or "none", did_you_mean(name, kind.keys)
                raise ModelError(message(f"{where}, data", "no such number of this joint", repr(name), expected, fix))
        for name, key in kind.keys.items():
            if name not in given:
                raise ModelError(
                    message(f"{where}, {name}", "missing", "none", key.text or f"a {key.holds}, {key.unit}")
                )
        checked = {name: kind.keys[name].checked(where, name, value) for name, value in given.items()}
        assign(self, pitch=checked.pop("pitch", None), data=checked or None)

    def _refuse(self, where: str, name: str, known: bool) -> None:
        """Raise an error where data are given to a kind of joint that has none of this name."""
        if getattr(self, name) is not None and not known:
            takers = [
                kind.noun or f"a {kind.name} joint" for kind in JOINTS.values() if name in (*kind.axes, *kind.keys)
            ]
            expected = " or ".join(takers)
            raise ModelError(message(f"{where}, {name}", "given to a joint without one", self.type, expected))

    def own(self) -> dict[str, tuple[str, Any]]:
        """The numbers that its kind has of its own: for each name the end of its path, and its value."""
        data = self.data or {}
        places = {name: name if name == "pitch" else f"data.{name}" for name in self.kind.keys}
        return {name: (place, self.pitch if place == name else data[name]) for name, place in places.items()}

    @property
    def kind(self) -> JointKind:
        """What its type means; a ModelError where this process has not registered it."""
        if self.type not in JOINTS:
            where, fix = f"joint '{self.name}'", "Import the module that calls ph.register_joint for it."
            raise ModelError(message(where, "a type that is not registered", repr(self.type), ", ".join(JOINTS), fix))
        return JOINTS[self.type].sized(self)

    @property
    def zero(self) -> tuple[float, ...]:
        """The coordinates at zero: no angle, no travel, the identity quaternion."""
        return self.kind.zero

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return self.kind.nq

    @property
    def nv(self) -> int:
        """Number of velocities."""
        return self.kind.nv


@dataclass(frozen=True)
class BodyFrame:
    """A frame fixed to a body, with a name that every call takes in the place of a body's: a tool, a foot, a sensor.

    name         unique among frames and bodies
    body         that carries it
    position     of its origin in the body frame, m
    orientation  its axes → those of the body: unit quaternion (w, x, y, z)
    """

    name: str
    body: str
    position: Array = (0.0, 0.0, 0.0)
    orientation: Array = (1.0, 0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        """Check everything."""
        check_name("frame", "frame", self.name)
        where = f"frame '{self.name}'"
        position = plain(numbers(where, "position", self.position, 3))
        assign(self, position=position, orientation=plain(unit_quaternion_numbers(where, self.orientation)))


def limit_pairs(lower: Any, upper: Any) -> list[tuple[float, float]]:
    """Lower and upper limits in pairs; one number counts for all coordinates."""
    lowers, uppers = (tuple(x) if isinstance(x, (tuple, list)) else (x,) for x in (lower, upper))
    size = max(len(lowers), len(uppers))
    lowers, uppers = (x * size if len(x) == 1 else x for x in (lowers, uppers))
    return list(zip(lowers, uppers, strict=False))
