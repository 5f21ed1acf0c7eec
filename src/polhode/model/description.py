"""A machine as its user writes it: frozen records, valid from birth, every number with a path.

model = Model("pendulum", bodies=[Body("bob", 1.0, (0.1, 0.1, 0.02), center=(0, 0, -1))],
              joints=[Joint("hinge", "revolute", "world", "bob", axis=(0, 1, 0))])
"""

import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any

import numpy as np

from polhode.errors import ModelError, PolhodeWarning, message
from polhode.model.joints import JOINTS
from polhode.model.topology import WORLD, check_names, parent_first
from polhode.scalar import UNIT_TOLERANCE
from polhode.spatial import TRIANGLE_TOLERANCE

STANDARD_GRAVITY = (0.0, 0.0, -9.81)
CYCLIC = {(1.0, 0.0, 0.0): (0.0, 1.0, 0.0), (0.0, 1.0, 0.0): (0.0, 0.0, 1.0), (0.0, 0.0, 1.0): (1.0, 0.0, 0.0)}


@dataclass(frozen=True)
class Parameter:
    """A number with a name: the same value until a call or a sweep gives another."""

    name: str
    value: float

    def __post_init__(self) -> None:
        """Check the value."""
        _number(f"parameter '{self.name}'", "value", self.value)


Number = float | Parameter
"""A number of a model: plain, or with a name."""


def plain(value: Any) -> Any:
    """A number, or nested numbers, with every Parameter replaced by its value."""
    if isinstance(value, Parameter):
        return value.value
    if isinstance(value, tuple):
        return tuple(plain(x) for x in value)
    return value


def _number(where: str, name: str, value: Any) -> Any:
    """A finite number, kept as a Parameter if it is one."""
    if isinstance(value, Parameter):
        return value
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise ModelError(message(f"{where}, {name}", "not a finite number", repr(value), "a number"))
    return number


def _numbers(where: str, name: str, value: Any, size: int) -> tuple:
    """A tuple of numbers of this size."""
    try:
        entries = tuple(value)
    except TypeError:
        entries = ()
    if len(entries) != size:
        raise ModelError(message(f"{where}, {name}", "wrong size", repr(value), f"{size} numbers"))
    return tuple(_number(where, name, x) for x in entries)


def _set(record: Any, **values: Any) -> None:
    for name, value in values.items():
        object.__setattr__(record, name, value)


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
    center: tuple = (0.0, 0.0, 0.0)
    physical: bool = True

    def __post_init__(self) -> None:
        """Check everything."""
        where = f"body '{self.name}'"
        _set(
            self,
            mass=_number(where, "mass", self.mass),
            inertia=_inertia_numbers(where, self.inertia),
            center=_numbers(where, "center", self.center, 3),
        )
        fault = _mass_fault(where, plain(self.mass)) or _inertia_fault(where, self.inertia_matrix())
        if fault and self.physical:
            raise ModelError(fault)
        if fault:
            warnings.warn(fault, PolhodeWarning, stacklevel=3)

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
        return tuple(_numbers(where, "inertia", row, 3) for row in rows)
    return _numbers(where, "inertia", rows, 3)


def _mass_fault(where: str, mass: float) -> str:
    if mass > 0:
        return ""
    fix = "A massless or negative body is kept with physical=False."
    return message(f"{where}, mass", "not that of a real body", f"{mass:g} kg", "above 0", fix)


def _inertia_fault(where: str, J: np.ndarray) -> str:
    size = float(np.max(abs(J), initial=0.0))
    if np.max(abs(J - J.T)) > 1e-9 * size:
        raise ModelError(message(f"{where}, inertia", "not symmetric", f"{J.tolist()}", "equal entries across"))
    moments = np.linalg.eigvalsh(J)
    small, middle, large = moments
    if small >= -1e-12 * size and small + middle >= large * (1 - TRIANGLE_TOLERANCE):
        return ""
    shown = "principal moments " + ", ".join(f"{m:.6g}" for m in moments) + " kg m²"
    bound = f"none below 0, and the largest at most the sum of the others ({small + middle:.6g})"
    fix = "Was it given about the joint instead of the centre of mass? physical=False keeps it as it is."
    return message(f"{where}, inertia", "not that of a real body", shown, bound, fix)


@dataclass(frozen=True)
class Joint:
    """How a child body moves relative to its parent.

    The joint frame is fixed in the parent at `position`, `orientation`; the child frame coincides with
    it at zero. `axis` is a direction in the joint frame (fixed, spherical, planar and free ignore it).

    name                       unique
    type                       fixed, revolute, prismatic, screw, cylindrical, universal, planar, spherical, free
    parent, child              body names; "world" is the ground
    axis, axis2                directions; axis2 is the second of a universal joint, carried by the first
    position, orientation      m; unit quaternion (w, x, y, z)
    armature                   added to the mass matrix, kg m² or kg; one number on the angular part of a quaternion
    damping, stiffness, rest   per coordinate: one number for all, or one each
    lower, upper               limits of the coordinates, kept as data
    pitch                      of a screw, m per radian
    """

    name: str
    type: str
    parent: str
    child: str
    axis: tuple = (0.0, 0.0, 1.0)
    position: tuple = (0.0, 0.0, 0.0)
    orientation: tuple = (1.0, 0.0, 0.0, 0.0)
    armature: Any = 0.0
    damping: Any = 0.0
    stiffness: Any = 0.0
    rest: Any = 0.0
    lower: Any = -math.inf
    upper: Any = math.inf
    pitch: Number | None = None
    axis2: tuple | None = None

    def __post_init__(self) -> None:
        """Check everything."""
        where = f"joint '{self.name}'"
        if self.type not in JOINTS:
            near = get_close_matches(str(self.type), JOINTS, 1, 0.4)
            fix = f"Did you mean '{near[0]}'?" if near else ""
            raise ModelError(message(where, "unknown type", repr(self.type), ", ".join(JOINTS), fix))
        if self.parent == self.child:
            raise ModelError(message(where, "parent and child are one body", f"'{self.child}'", "two bodies"))
        _set(
            self,
            axis=_direction(where, "axis", self.axis),
            position=_numbers(where, "position", self.position, 3),
            orientation=_unit_quaternion(where, self.orientation),
            armature=self._each(where, "armature"),
            damping=self._each(where, "damping"),
            stiffness=self._each(where, "stiffness"),
            rest=self._each(where, "rest"),
            lower=self._limits(where, "lower"),
            upper=self._limits(where, "upper"),
        )
        self._check_kind(where)

    def _each(self, where: str, name: str) -> Any:
        """One number, or a tuple with one per velocity."""
        value = getattr(self, name)
        if isinstance(value, Sequence) and not isinstance(value, str):
            value = _numbers(where, name, value, JOINTS[self.type].nv)
        else:
            value = _number(where, name, value)
        if name in ("armature", "damping") and np.min(plain(value), initial=0.0) < 0:
            raise ModelError(message(f"{where}, {name}", "negative", repr(plain(value)), "at least 0"))
        return value

    def _limits(self, where: str, name: str) -> Any:
        value = getattr(self, name)
        values = value if isinstance(value, (tuple, list)) else (value,)
        if not all(isinstance(x, (int, float)) and not math.isnan(x) for x in values):
            raise ModelError(message(f"{where}, {name}", "not a limit", repr(value), "numbers, or infinite"))
        return tuple(map(float, value)) if isinstance(value, (tuple, list)) else float(value)

    def _check_kind(self, where: str) -> None:
        kind = JOINTS[self.type]
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
        if self.type == "screw":
            if self.pitch is None:
                raise ModelError(message(f"{where}, pitch", "missing", "none", "metres of travel per radian"))
            _set(self, pitch=_number(where, "pitch", self.pitch))
        elif self.pitch is not None:
            raise ModelError(message(f"{where}, pitch", "given to a joint without one", self.type, "a screw"))
        if self.type == "universal":
            _set(self, axis2=self._second_axis(where))
        elif self.axis2 is not None:
            raise ModelError(message(f"{where}, axis2", "given to a joint without one", self.type, "a universal joint"))

    def _second_axis(self, where: str) -> tuple:
        first = plain(self.axis)
        if self.axis2 is None:
            if first not in CYCLIC:
                fix = "Only a coordinate axis has a default second axis: the next cyclic one."
                raise ModelError(message(f"{where}, axis2", "missing", f"axis {first}", "a direction", fix))
            return CYCLIC[first]
        second = _direction(where, "axis2", self.axis2)
        a, b = np.array(first, dtype=float), np.array(plain(second), dtype=float)
        if np.linalg.norm(np.cross(a, b)) < 1e-9 * np.linalg.norm(a) * np.linalg.norm(b):
            raise ModelError(message(f"{where}, axis2", "parallel to axis", f"{plain(second)}", "another direction"))
        return second

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return JOINTS[self.type].nq

    @property
    def nv(self) -> int:
        """Number of velocities."""
        return JOINTS[self.type].nv


def _direction(where: str, name: str, value: Any) -> tuple:
    numbers = _numbers(where, name, value, 3)
    if not any(plain(numbers)):
        raise ModelError(message(f"{where}, {name}", "is zero", "(0, 0, 0)", "a direction"))
    return numbers


def _unit_quaternion(where: str, value: Any) -> tuple:
    numbers = _numbers(where, "orientation", value, 4)
    norm = math.sqrt(sum(x * x for x in plain(numbers)))
    if abs(norm - 1) > UNIT_TOLERANCE:
        fix = "Order is (w, x, y, z)."
        raise ModelError(message(f"{where}, orientation", "not a unit quaternion", f"norm {norm:.9g}", "1", fix))
    return numbers


TimeFunction = Callable[[Any], Sequence]
"""A function of time on generic scalars that gives three numbers."""


@dataclass(frozen=True)
class Force:
    """A force and a couple on a body, constant or functions of time t.

    axes   "world" or "body": the axes of force and torque
    point  where the force acts, in body axes from the body's origin, m
    """

    name: str
    body: str
    force: tuple | TimeFunction = (0.0, 0.0, 0.0)
    torque: tuple | TimeFunction = (0.0, 0.0, 0.0)
    point: tuple = (0.0, 0.0, 0.0)
    axes: str = "world"

    def __post_init__(self) -> None:
        """Check everything."""
        where = f"force '{self.name}'"
        for name in ("force", "torque"):
            if not callable(getattr(self, name)):
                _set(self, **{name: _numbers(where, name, getattr(self, name), 3)})
        _set(self, point=_numbers(where, "point", self.point, 3))
        if self.axes not in ("world", "body"):
            raise ModelError(message(f"{where}, axes", "unknown", repr(self.axes), "'world' or 'body'"))


@dataclass(frozen=True)
class Spring:
    """A spring and damper along the line between points of two bodies (or the world).

    force = stiffness (length − rest) + damping d(length)/dt, pulling the points together; with rest = 0
    and no damping its line may have no length.
    """

    name: str
    body_a: str
    body_b: str
    point_a: tuple = (0.0, 0.0, 0.0)
    point_b: tuple = (0.0, 0.0, 0.0)
    stiffness: Number = 0.0
    damping: Number = 0.0
    rest: Number = 0.0

    def __post_init__(self) -> None:
        """Check everything."""
        where = f"spring '{self.name}'"
        _set(
            self,
            point_a=_numbers(where, "point_a", self.point_a, 3),
            point_b=_numbers(where, "point_b", self.point_b, 3),
            stiffness=_number(where, "stiffness", self.stiffness),
            damping=_number(where, "damping", self.damping),
            rest=_number(where, "rest", self.rest),
        )
        if self.body_a == self.body_b:
            raise ModelError(message(where, "both ends on one body", f"'{self.body_a}'", "two bodies"))


@dataclass(frozen=True)
class ForceFunction:
    """Generalised forces by a function of the user's, on generic scalars.

    function(t, q, v) -> nv numbers, dual to v. Use `ph.sin`, `ph.where` and their like inside.
    """

    name: str
    function: Callable[[Any, Any, Any], Sequence]

    def __post_init__(self) -> None:
        """Check that it can be called."""
        if not callable(self.function):
            found = repr(self.function)
            raise ModelError(message(f"force '{self.name}'", "not a function", found, "function(t, q, v)"))


@dataclass(frozen=True)
class Constraint:
    """A condition on the motion, kept as data until the constraint engine lands.

    type  "mimic" (joint follows source: q = multiplier · q_source + offset), or the name a file gives it
    data  its numbers and names
    """

    name: str
    type: str
    data: Mapping[str, Any]


@dataclass(frozen=True)
class Start:
    """Where a motion starts, and how long and by which method it is followed. None: not said."""

    q: tuple | None = None
    v: tuple | None = None
    duration: float | None = None
    method: str | None = None

    def __post_init__(self) -> None:
        """Check everything."""
        for name in ("q", "v"):
            value = getattr(self, name)
            if value is not None:
                _set(self, **{name: _numbers("start", name, value, len(value))})
        if self.duration is not None and not 0 < _number("start", "duration", self.duration) < math.inf:
            raise ModelError(message("start, duration", "not positive", repr(self.duration), "seconds above 0"))


AnyForce = Force | Spring | ForceFunction


@dataclass(frozen=True)
class Model:
    """A machine: bodies hung on the world by joints, in a tree; forces, constraints, a start.

    q and v are those of the joints, in the order of `joints`.
    """

    name: str
    gravity: tuple = STANDARD_GRAVITY
    bodies: tuple[Body, ...] = ()
    joints: tuple[Joint, ...] = ()
    forces: tuple[AnyForce, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    start: Start | None = None

    def __post_init__(self) -> None:
        """Check everything."""
        _set(self, gravity=_numbers(f"model '{self.name}'", "gravity", self.gravity, 3))
        for name in ("bodies", "joints", "forces", "constraints"):
            _set(self, **{name: tuple(getattr(self, name))})
        check_names(self.name, "body", [body.name for body in self.bodies], reserved=WORLD)
        check_names(self.name, "joint", [joint.name for joint in self.joints])
        check_names(self.name, "force", [force.name for force in self.forces])
        check_names(self.name, "constraint", [constraint.name for constraint in self.constraints])
        parent_first(self.name, [b.name for b in self.bodies], [(j.name, j.parent, j.child) for j in self.joints])
        self._check_forces()
        self._check_start()
        named_parameters(self)

    def _check_forces(self) -> None:
        known = {WORLD, *(body.name for body in self.bodies)}
        for force in self.forces:
            ends = [force.body] if isinstance(force, Force) else []
            ends += [force.body_a, force.body_b] if isinstance(force, Spring) else []
            for end in ends:
                if end not in known:
                    near = get_close_matches(end, known, 1, 0.4)
                    fix = f"Did you mean '{near[0]}'?" if near else ""
                    raise ModelError(message(f"force '{force.name}'", "unknown body", repr(end), "a body", fix))

    def _check_start(self) -> None:
        if self.start is None:
            return
        for name, size in (("q", self.nq), ("v", self.nv)):
            value = getattr(self.start, name)
            if value is not None:
                _numbers(f"model '{self.name}', start", name, value, size)

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return sum(joint.nq for joint in self.joints)

    @property
    def nv(self) -> int:
        """Number of velocities: the degrees of freedom of the tree."""
        return sum(joint.nv for joint in self.joints)

    def body(self, name: str) -> Body:
        """The body of this name."""
        return _named(self.bodies, name, f"model '{self.name}'", "body")

    def joint(self, name: str) -> Joint:
        """The joint of this name."""
        return _named(self.joints, name, f"model '{self.name}'", "joint")

    def numbers(self) -> dict[str, float]:
        """Every number of the model by its path, as in "bodies.arm.mass" or "joints.hip.axis.2"."""
        return dict(_paths(self))

    def __str__(self) -> str:
        lines = [f"{self.name}: {len(self.bodies)} bodies, {len(self.joints)} joints, nq {self.nq}, nv {self.nv}"]
        lines += [f"  {j.name}: {j.type}, {j.parent} → {j.child}" for j in self.joints]
        return "\n".join(lines)


def _named(records: Sequence, name: str, where: str, kind: str) -> Any:
    for record in records:
        if record.name == name:
            return record
    near = get_close_matches(str(name), [record.name for record in records], 1, 0.4)
    fix = f"Did you mean '{near[0]}'?" if near else ""
    raise ModelError(message(where, f"no such {kind}", repr(name), f"one of {len(records)} names", fix))


def _paths(model: Model) -> Iterator[tuple[str, float]]:
    yield from _flat("gravity", model.gravity)
    for group in ("bodies", "joints", "forces"):
        for record in getattr(model, group):
            for field in fields(record):
                yield from _flat(f"{group}.{record.name}.{field.name}", getattr(record, field.name))


def named_parameters(model: Model) -> list[Parameter]:
    """Every Parameter of a model, once; two of one name with different values are a ModelError."""
    found: dict[str, Parameter] = {}

    def visit(value: Any) -> None:
        if isinstance(value, tuple):
            for x in value:
                visit(x)
        elif isinstance(value, Parameter) and found.setdefault(value.name, value) != value:
            where, shown = f"model '{model.name}', parameter '{value.name}'", found[value.name].value
            raise ModelError(message(where, "two values", f"{shown} and {value.value}", "one value"))

    visit(model.gravity)
    for record in (*model.bodies, *model.joints, *model.forces):
        for field in fields(record):
            visit(getattr(record, field.name))
    return list(found.values())


def _flat(path: str, value: Any) -> Iterator[tuple[str, float]]:
    if isinstance(value, tuple):
        for i, x in enumerate(value):
            yield from _flat(f"{path}.{i}", x)
    elif isinstance(value, Parameter):
        yield path, value.value
    elif isinstance(value, float) and math.isfinite(value):
        yield path, value
