"""A machine as its user writes it: bodies, joints, forces by name, and a path for every number.

model = Model("pendulum", bodies=[Body("bob", 1.0, (0.1, 0.1, 0.02), center=(0, 0, -1))],
              joints=[Joint("hinge", "revolute", "world", "bob", axis=(0, 1, 0))])
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, fields
from typing import Any

from polhode.errors import InputError, ModelError, check_name, did_you_mean, message
from polhode.model.numbers import Number, Parameter, assign, number, numbers, plain
from polhode.model.parts import Body, Joint
from polhode.model.topology import WORLD, check_names, parent_first
from polhode.scalar import is_list, shown

STANDARD_GRAVITY = (0.0, 0.0, -9.81)

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
        check_name("force", "force", self.name)
        where = f"force '{self.name}'"
        for name in ("force", "torque"):
            if not callable(getattr(self, name)):
                assign(self, **{name: numbers(where, name, getattr(self, name), 3)})
        assign(self, point=numbers(where, "point", self.point, 3))
        if not isinstance(self.axes, str) or self.axes not in ("world", "body"):
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
        check_name("spring", "spring", self.name)
        where = f"spring '{self.name}'"
        assign(
            self,
            point_a=numbers(where, "point_a", self.point_a, 3),
            point_b=numbers(where, "point_b", self.point_b, 3),
            stiffness=number(where, "stiffness", self.stiffness),
            damping=number(where, "damping", self.damping),
            rest=number(where, "rest", self.rest),
        )
        if isinstance(self.body_a, str) and isinstance(self.body_b, str) and self.body_a == self.body_b:
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
        check_name("force", "force", self.name)
        if not callable(self.function):
            found = repr(self.function)
            raise ModelError(message(f"force '{self.name}'", "not a function", found, "function(t, q, v)"))


@dataclass(frozen=True, init=False)
class Constraint:
    """A condition on the motion: a loop joint, a rod, a gear, a rolling wheel, a given motion, a function.

    Constraint("rod", "distance", body_b="bob", length=1.0)     # or its data as a mapping, third
    Constraint(lambda t, q: q[0] - 2 * q[1])                    # φ(t, q) = 0
    Constraint(skate, holonomic=False)                          # skate(t, q, v) = 0, linear in v
    Constraint(skate, holonomic=False, matrix=True)             # A v = b,  (A, b) = skate(t, q)

    type  its kind; `polhode.model.conditions.KINDS` lists them all, and what the data of each must and may hold
    data  its numbers and names, as in {"body_a": "arm", "body_b": "rod", "position_a": (0, 0, 1), "axis_a": (0, 1, 0)}

    Between bodies, data name a frame on each: body_a (the world unless given) and body_b, with position_a, …, and
    orientation_a, … or only its z axis, axis_a, …. A function works on generic scalars and gives one number or
    several; `rows` is how many, or their names; its name is the function's unless name=… is given.
    """

    name: str
    type: str
    data: Mapping[str, Any]

    def __init__(
        self,
        function: str | Callable = "",
        /,
        type: str = "function",
        data: Mapping[str, Any] | None = None,
        *,
        name: str = "",
        **more: Any,
    ) -> None:
        """From a name, a type and data; or from a function."""
        if data is not None and not isinstance(data, Mapping):
            where, expected = f"constraint {shown(name or function)}, data", "a mapping, as {'body_b': 'rod'}"
            raise ModelError(message(where, "not a mapping", shown(data), expected))
        given = {**(data or {}), **more}
        if isinstance(function, str) and isinstance(name, str) and not (function or name):  # only by keyword
            function = given.get("function", "")
        if callable(function):
            own = getattr(function, "__name__", "function")
            name, given = name or ("function" if own == "<lambda>" else own), {"function": function, **given}
        elif isinstance(function, str) and function and name:
            raise ModelError(message(f"constraint '{name}'", "two names", f"{function!r} and {name!r}", "one of them"))
        else:
            name = function if isinstance(name, str) and not name else name
        check_name("constraint", "constraint", name)
        assign(self, name=name, type=type, data={key: _frozen(value) for key, value in given.items()})
        for key in self.numeric:
            _check_size(f"constraint '{name}'", key, self.data[key])

    @property
    def numeric(self) -> list[str]:
        """The keys of its data that hold numbers of the machine: each of these has a path."""
        return [key for key, value in self.data.items() if key not in ("rows", "active") and _is_numeric(value)]


def _frozen(value: Any) -> Any:
    """Lists and arrays become tuples."""
    return tuple(value) if is_list(value) else value


def _check_size(where: str, key: str, value: Any) -> None:
    """Refuse numbers too large to be computed with; what else is wrong is told where the kind is known."""
    for x in value if isinstance(value, tuple) else (value,):
        if isinstance(x, tuple):
            _check_size(where, key, x)
        elif not isinstance(x, float) or math.isfinite(x):
            number(where, key, x)


def _is_numeric(value: Any) -> bool:
    if isinstance(value, tuple):
        return bool(value) and all(map(_is_numeric, value))
    return isinstance(value, Parameter) or (isinstance(value, (int, float)) and not isinstance(value, bool))


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
                size = len(value) if isinstance(value, Sized) and getattr(value, "ndim", 1) != 0 else 1
                assign(self, **{name: numbers("start", name, value, size)})
        if self.duration is not None and not 0 < plain(number("start", "duration", self.duration)) < math.inf:
            raise ModelError(message("start, duration", "not positive", repr(self.duration), "seconds above 0"))


AnyForce = Force | Spring | ForceFunction

LIMITS = ("lower", "upper")
"""Numbers of joints that no equation of motion reads."""

RECORDS: dict[str, tuple[type, ...]] = {
    "bodies": (Body,),
    "joints": (Joint,),
    "forces": (Force, Spring, ForceFunction),
    "constraints": (Constraint,),
}
"""The lists of a model, and what each may hold."""


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
        check_name("model", "model", self.name)
        assign(self, gravity=numbers(f"model '{self.name}'", "gravity", self.gravity, 3))
        for name in RECORDS:
            assign(self, **{name: self._records(name)})
        if self.start is not None and not isinstance(self.start, Start):
            where, fix = f"model '{self.name}', start", "Write start=ph.Start(q=…, v=…, duration=…)."
            raise ModelError(message(where, "not a start", shown(self.start), "a Start", fix))
        check_names(self.name, "body", [body.name for body in self.bodies], reserved=WORLD)
        check_names(self.name, "joint", [joint.name for joint in self.joints])
        check_names(self.name, "force", [force.name for force in self.forces])
        check_names(self.name, "constraint", [constraint.name for constraint in self.constraints])
        parent_first(self.name, [b.name for b in self.bodies], [(j.name, j.parent, j.child) for j in self.joints])
        self._check_forces()
        self._check_start()
        named_parameters(self)

    def _records(self, name: str) -> tuple:
        """The bodies, joints, forces or constraints that were given, if they are that."""
        given, kinds, where = getattr(self, name), RECORDS[name], f"model '{self.name}', {name}"
        expected, one = " or ".join(kind.__name__ for kind in kinds), {"bodies": "body"}.get(name, name[:-1])
        if not is_list(given):
            fix = f"Leave {name} out where there are none." if given is None else ""
            raise ModelError(message(where, "not a list", shown(given), f"a list of {expected}", fix))
        records = tuple(given)
        for k, record in enumerate(records):
            if not isinstance(record, kinds):
                fix = "Wrap it: ph.Constraint(function)." if name == "constraints" and callable(record) else ""
                raise ModelError(message(f"{where}[{k}]", f"not a {one}", shown(record), f"a {expected}", fix))
        return records

    def _check_forces(self) -> None:
        known = {WORLD, *(body.name for body in self.bodies)}
        for force in self.forces:
            ends = [force.body] if isinstance(force, Force) else []
            ends += [force.body_a, force.body_b] if isinstance(force, Spring) else []
            for end in ends:
                if not isinstance(end, str) or end not in known:
                    fix = did_you_mean(end, known)
                    raise ModelError(message(f"force '{force.name}'", "unknown body", repr(end), "a body", fix))

    def _check_start(self) -> None:
        if self.start is None:
            return
        for name, size in (("q", self.nq), ("v", self.nv)):
            value = getattr(self.start, name)
            if value is not None:
                numbers(f"model '{self.name}', start", name, value, size)

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return sum(joint.nq for joint in self.joints)

    @property
    def nv(self) -> int:
        """Number of velocities: the degrees of freedom of the tree."""
        return sum(joint.nv for joint in self.joints)

    @property
    def zero(self) -> tuple[float, ...]:
        """Coordinates at zero: no angles, no travels, identity quaternions."""
        return tuple(x for joint in self.joints for x in joint.zero)

    def body(self, name: str) -> Body:
        """The body of this name."""
        return _named(self.bodies, name, f"model '{self.name}'", "body")

    def joint(self, name: str) -> Joint:
        """The joint of this name."""
        return _named(self.joints, name, f"model '{self.name}'", "joint")

    def numbers(self) -> dict[str, float]:
        """Every number of the equations of motion by its path, as in "bodies.arm.mass" or "joints.hip.axis.2".

        The limits of joints are kept as data and take no part in the motion, so they have no path.
        """
        return dict(_paths(self))

    def __str__(self) -> str:
        lines = [f"{self.name}: {len(self.bodies)} bodies, {len(self.joints)} joints, nq {self.nq}, nv {self.nv}"]
        lines += [f"  {j.name}: {j.type}, {j.parent} → {j.child}" for j in self.joints]
        return "\n".join(lines)


def check_model(where: str, model: Any) -> None:
    """Raise an InputError unless it is a Model.  where: the function that needs one"""
    if not isinstance(model, Model):
        fix = f"Read it first: {where}(load({model!r}))." if isinstance(model, str) else ""
        raise InputError(message(f"{where}, model", "not a model", shown(model), "a Model", fix))


def _named(records: Sequence, name: str, where: str, kind: str) -> Any:
    for record in records:
        if isinstance(name, str) and record.name == name:
            return record
    fix = did_you_mean(name, [record.name for record in records])
    raise ModelError(message(where, f"no such {kind}", repr(name), f"one of {len(records)} names", fix))


def _paths(model: Model) -> Iterator[tuple[str, float]]:
    yield from _flat("gravity", model.gravity)
    for group in ("bodies", "joints", "forces"):
        for record in getattr(model, group):
            for field in fields(record):
                if field.name in LIMITS:
                    continue
                yield from _flat(f"{group}.{record.name}.{field.name}", getattr(record, field.name))
    for constraint in model.constraints:
        for key in constraint.numeric:
            yield from _flat(f"constraints.{constraint.name}.{key}", constraint.data[key])


def named_parameters(model: Model) -> list[Parameter]:
    """Every Parameter of a model, once; two of one name with different values are a ModelError."""
    found: dict[str, Parameter] = {}

    def visit(value: Any) -> None:
        if isinstance(value, (tuple, Mapping)):
            for x in value.values() if isinstance(value, Mapping) else value:
                visit(x)
        elif isinstance(value, Parameter) and found.setdefault(value.name, value) != value:
            where, shown = f"model '{model.name}', parameter '{value.name}'", found[value.name].value
            raise ModelError(message(where, "two values", f"{shown} and {value.value}", "one value"))

    visit(model.gravity)
    for record in (*model.bodies, *model.joints, *model.forces):
        for value in vars(record).values():
            if type(value) is not float:
                visit(value)
    for constraint in model.constraints:
        for key in constraint.numeric:
            visit(constraint.data[key])
    return list(found.values())


def _flat(path: str, value: Any) -> Iterator[tuple[str, float]]:
    if isinstance(value, Mapping):
        for name, x in value.items():
            yield from _flat(f"{path}.{name}", x)
    if isinstance(value, tuple):
        for i, x in enumerate(value):
            yield from _flat(f"{path}.{i}", x)
    elif isinstance(value, Parameter):
        yield path, value.value
    elif isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
        yield path, float(value)
