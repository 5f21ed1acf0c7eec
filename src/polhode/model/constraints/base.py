"""The base classes of constraint kinds: what a machine asks of one. A kind is a subclass, and a line of `registry`.

A kind states a residual on generic scalars: φ(t, q) of positions, or r(t, q, v) of velocities, linear in v. What
follows from it (rates, Jacobians, second-order terms, reactions) is derived in `dynamics`, never written.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from polhode.errors import CompileError, ModelError, PolhodeError, message, told
from polhode.model.constraints.frames import MovingFrame, attitude, end
from polhode.model.keys import Key
from polhode.model.mount import NotCarried, unit_quaternion
from polhode.model.numbers import Parameter, plain
from polhode.model.reflection import Reflection
from polhode.model.scale import Scale
from polhode.model.state import MachineState
from polhode.model.topology import WORLD
from polhode.scalar import Vec, vec

Data = Mapping[str, Any]
"""The data of a constraint: its numbers as scalars, names, functions."""


class ConstraintCondition(NamedTuple):
    """One constraint: names of its rows and its residual, of positions (`holonomic`) or of velocities."""

    name: str
    rows: tuple[str, ...]
    holonomic: bool
    residual: Callable[[MachineState], Vec]
    scales: tuple[str, ...]
    """For each row "length" or "turn": what its residual is measured in."""


class ConstraintKind:
    """A kind of constraint. Subclass `BodyConstraint` or `CoordinateConstraint`, not this class."""

    name: ClassVar[str]
    """What `Constraint(…, type)` and files call it."""
    keys: ClassVar[Mapping[str, Key]] = {}
    """What its data must and may hold."""
    rows: ClassVar[tuple[str, ...]] = ()
    """Names of the rows of positions. One that begins with "turn" is an angle, any other a length."""
    rate_rows: ClassVar[tuple[str, ...]] = ()
    """Names of the rows of velocities."""
    of_coordinates: ClassVar[bool] = False
    """Whether it is on the coordinates of joints; any other kind is between two bodies, and has a reaction."""
    has_constant_rows: ClassVar[bool] = False
    """Whether its rows A of A v̇ = b are the same everywhere: no position can be singular by them."""
    rows_by_trial: ClassVar[bool] = False
    """Whether only a call of its function tells how many rows it has."""
    expressions_of: ClassVar[str] = ""
    """What the expressions of its `residual` in a file are of: "coordinates", or a "point"; "" where it has none."""
    normal_row: ClassVar[str] = ""
    """The row whose multiplier is the force of a contact that can only push, where it is one; "" where none is."""
    turns_about_axis: ClassVar[bool] = False
    """Whether two bodies turn about the z axis of its frames: drawings show it as two halves of a can."""

    def check(self, where: str, data: Data) -> None:
        """Raise a ModelError where values that are good one by one make no sense together."""

    def conditions(self, name: str, data: Data, names: Sequence[str]) -> list[ConstraintCondition]:
        """The conditions of a constraint: of positions, of velocities, or both.

        data   of the model, its numbers unbound: residuals read those of the state
        names  of the rows, where only a trial tells them
        """
        raise NotImplementedError

    def multiplier_unit(self, row: str, data: Data, joint_units: Mapping[str, Sequence[str]]) -> str:
        """The unit of a row's multiplier: its power with the rate of the row is in watts.

        joint_units  units of the generalised forces of each joint
        """
        return "N m" if row.startswith("turn") else "N"

    def may_move(self, data: Data) -> bool:
        """Whether it may do work, since time enters it."""
        return any(map(callable, data.values()))

    def does_work(self, data: Data, nq: int, nv: int) -> bool:
        """Whether it may do work on a machine of nq coordinates and nv velocities."""
        return self.may_move(data)

    def is_internal(self, data: Data) -> bool:
        """Whether its forces on the bodies of the machine cancel, moments included."""
        return WORLD not in self.bodies(data)

    def following(self, data: Data, q: Mapping[str, tuple[float, ...]]) -> tuple[str, float] | None:
        """A joint whose coordinate follows from those of others, and its value; None where none does.

        q  the coordinates of each joint
        """
        return None

    # changed models: each of these gives the data that a constraint has there, or raises a NotCarried that says why

    def reflected(self, data: Data, mirror: Reflection) -> Data:
        """Its data in a mirror image of the machine."""
        raise NotCarried("its kind has no image")

    def scaled(self, data: Data, scale: Scale) -> Data:
        """Its data in a machine of another size: numbers by their units."""
        found = dict(data)
        for name in numeric_keys(data):
            if not self.keys[name].unit:
                raise NotCarried(f"the unit of its {name} is not known")
            found[name] = scale.by(self.keys[name].unit, data[name])
        return found

    def locked(self, data: Data, values: Mapping[str, tuple[float, ...]]) -> "tuple[str, Data] | None":
        """The kind and the data of what is left of it where joints do not move, some of those that it names among them;
        None: it is met.

        values  the coordinates of each locked joint
        """
        held = next(name for name in self.joints(data) if name in values)
        raise NotCarried(f"joint '{held}' is locked")

    def bodies(self, data: Data) -> list[str]:
        """The bodies that it is between; the world where none is named."""
        return [data.get(name, WORLD) for name, key in self.keys.items() if key.holds == "body"]

    def joints(self, data: Data) -> list[str]:
        """The joints that it names."""
        return [data[name] for name, key in self.keys.items() if key.holds == "joint" and name in data]


_ATTITUDE = "unit quaternion w, x, y, z"
_AXIS = "only its z axis: that of a hinge or a wheel, the normal of a plane, in the body's axes"
ENDS = {
    "body_a": Key("body", "a body, or world"),
    "body_b": Key("body", "another body, or world", needed=True),
    "position_a": Key("vector", "of the frame on body_a, m; 0 unless given", unit="m", letter="p_a"),
    "position_b": Key("vector", "of the frame on body_b, m; 0 unless given", unit="m", letter="p_b"),
    "orientation_a": Key("quaternion", _ATTITUDE, unit="1"),
    "orientation_b": Key("quaternion", _ATTITUDE, unit="1"),
    "axis_a": Key("direction", _AXIS, unit="1"),
    "axis_b": Key("direction", "only its z axis, in the body's axes", unit="1"),
}
"""Keys of a frame on each of two bodies: where it is, and its attitude or else its z axis. Body a is the world unless
given."""


SIDES = ("a", "b")


class BodyConstraint(ConstraintKind):
    """A kind of constraint between frames on two bodies: its residual is a function of both frames."""

    keys = ENDS
    has_image: ClassVar[bool] = False
    """Whether its residual vanishes in the mirror image too, where x and z axes of both frames are images, y axes the
    opposites of theirs."""

    def positions(self, a: MovingFrame, b: MovingFrame, data: Data) -> Vec:
        """The residual of positions, one number for each of `rows`: zero where the constraint holds."""
        raise NotImplementedError

    def velocities(self, a: MovingFrame, b: MovingFrame, data: Data) -> Vec:
        """The residual of velocities, linear in them, one number for each of `rate_rows`."""
        raise NotImplementedError

    def point(self, a: MovingFrame, b: MovingFrame, data: Data) -> Vec:
        """Where the reaction acts, in the world."""
        return b.o

    def check(self, where: str, data: Data) -> None:
        """Refuse a frame whose attitude is given twice, and two frames on one body."""
        for side in SIDES:
            if f"axis_{side}" in data and f"orientation_{side}" in data:
                found = f"axis_{side} and orientation_{side}"
                raise ModelError(message(where, "an attitude twice", found, "one of them"))
        if data["body_b"] == data.get("body_a", WORLD):
            raise ModelError(message(where, "both ends on one body", repr(data["body_b"]), "two bodies"))

    def reflected(self, data: Data, mirror: Reflection) -> Data:
        """Its frames."""
        if not self.has_image:
            raise NotCarried("its kind has no image")
        if any(map(callable, data.values())):
            raise NotCarried("its function has no image")
        found = {key: value for key, value in data.items() if key not in ("axis_a", "axis_b")}
        for side in SIDES:
            body = data.get(f"body_{side}", WORLD)
            if f"position_{side}" in data:
                found[f"position_{side}"] = mirror.polar(body, data[f"position_{side}"])
            found[f"orientation_{side}"] = mirror.attitude(body, frame_attitude(data, side))
        return found

    def conditions(self, name: str, data: Data, names: Sequence[str]) -> list[ConstraintCondition]:
        """Those of positions and those of velocities."""
        each = ((self.rows, True, self.positions), (self.rate_rows, False, self.velocities))
        return [_of_ends(name, rows, holonomic, residual) for rows, holonomic, residual in each if rows]


def _of_ends(
    name: str, rows: tuple[str, ...], holonomic: bool, of_ends: Callable[[MovingFrame, MovingFrame, Data], Vec]
) -> ConstraintCondition:
    """A condition on the frames of two bodies."""
    scales = tuple("turn" if row.startswith("turn") else "length" for row in rows)

    def residual(state: MachineState) -> Vec:
        data = state.constraints[name]
        found = asked(name, of_ends, end(data, "a", state), end(data, "b", state), data)
        return counted(name, len(rows), found)

    return ConstraintCondition(name, rows, holonomic, residual, scales)


class CoordinateConstraint(ConstraintKind):
    """A kind of constraint on the coordinates of joints of one axis."""

    of_coordinates = True

    def residual(self, state: MachineState, data: Data) -> Vec:
        """The residual of positions, one number for each of `rows`: zero where the constraint holds."""
        raise NotImplementedError

    def conditions(self, name: str, data: Data, names: Sequence[str]) -> list[ConstraintCondition]:
        """One condition of positions."""
        rows = self.rows

        def residual(state: MachineState) -> Vec:
            return counted(name, len(rows), asked(name, self.residual, state, state.constraints[name]))

        return [ConstraintCondition(name, rows, True, residual, ("turn",) * len(rows))]

    def multiplier_unit(self, row: str, data: Data, joint_units: Mapping[str, Sequence[str]]) -> str:
        """That of the generalised force of its first joint."""
        return joint_units[self.joints(data)[0]][0]

    def is_internal(self, data: Data) -> bool:
        """Forces between joints are."""
        return True


def frame_attitude(data: Data, side: str) -> tuple[float, ...]:
    """The orientation of the frame that a constraint names on a body, also where only its z axis is given."""
    values = {key: plain(value) for key, value in data.items()}
    return unit_quaternion(np.array(attitude(values, side), dtype=float))


def numeric_keys(data: Data) -> list[str]:
    """The keys of data that hold numbers of the machine: each of these has a path."""
    return [key for key, value in data.items() if key not in ("rows", "active") and _is_numeric(value)]


def _is_numeric(value: Any) -> bool:
    if isinstance(value, tuple):
        return bool(value) and all(map(_is_numeric, value))
    return isinstance(value, Parameter) or (isinstance(value, (int, float)) and not isinstance(value, bool))


def asked(name: str, function: Callable, *arguments: Any) -> Any:
    """What a function gives; an error within it names the constraint."""
    where = f"constraint '{name}', function"
    try:
        return function(*arguments)
    except PolhodeError as error:
        raise CompileError(f"{where}: {error}") from error
    except Exception as error:
        expected, fix = "numbers on generic scalars", "Use ph.sin, ph.where and their like inside."
        raise CompileError(message(where, "failed", told(error), expected, fix)) from error


def as_vector(found: Any) -> Vec:
    """What a function gave as a vector: several numbers, or one."""
    if isinstance(found, (str, bytes)) or found is None:
        return Vec()
    try:
        return Vec(found)
    except TypeError:
        return vec(found)


def counted(name: str, count: int, found: Any) -> Vec:
    """What a function gives, if it is as many numbers as it should be."""
    values = as_vector(found)
    if len(values) != count or any(hasattr(value, "__len__") for value in values):
        several = f"{len(values)} numbers" if values else type(found).__name__
        shown = "numbers inside one another" if len(values) == count else several
        raise CompileError(message(f"constraint '{name}', function", "wrong result", shown, f"{count} numbers"))
    return values
