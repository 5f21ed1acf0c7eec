"""A force and a couple on a body, by a user function of how it moves."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from polhode.errors import CompileError, ModelError, defined_at, message
from polhode.model.forces.base import ForceElement, Wrench
from polhode.model.forces.two_frames import check_two_bodies, is_between_bodies, stays_on_body
from polhode.model.keys import Key
from polhode.model.mount import Mount, NotCarried
from polhode.model.numbers import plain
from polhode.model.reflection import Reflection
from polhode.model.state import MachineState
from polhode.quaternion import from_matrix
from polhode.scalar import Vec, cross
from polhode.spatial import ORIGIN

ARGUMENTS = ("t", "body", "other")
"""Names that the numbers of a function cannot have."""


class BodyMotion(NamedTuple):
    """Where a body is and how it moves, as the function of a BodyForce sees it."""

    position: Vec
    """Of the point at which the force acts (of the other body: of its origin), m, in world axes."""
    R: Vec
    """Its axes (3, 3): R @ x turns body components into world components."""
    velocity: Vec
    """Of that point, m/s, in the axes of the element."""
    angular_velocity: Vec
    """rad/s, in the axes of the element."""

    @property
    def quaternion(self) -> Vec:
        """Its attitude (w, x, y, z), the largest component positive."""
        return from_matrix(self.R)


@dataclass(frozen=True)
class BodyForce(ForceElement):
    """A force and a couple on a body by a user function of time and of how the body moves, on generic scalars.

    function  function(t, body) -> force (3,), or force and torque; with another body function(t, body, other). Each
              body is a `BodyMotion`: position, R, velocity, angular_velocity; numbers are given by keyword
    body      the body it acts on
    other     another body, on which the opposite acts at the same point; None: there is none
    point     where the force acts, in body axes from the body's origin, m
    axes      "world", "body" or "other": the axes of velocities, of force and torque
    numbers   named numbers of the function, as {"c": 0.3}: each has a path, forces.<name>.numbers.c

        ph.BodyForce("drag", lambda t, body, c: -c * body.velocity, "ball", numbers={"c": 0.3})
    """

    name: str
    function: Callable[..., Sequence]
    body: str
    other: str | None = None
    point: Any = (0.0, 0.0, 0.0)
    axes: str = "world"
    numbers: Mapping[str, Any] | tuple = ()

    kind = "body-force"
    keys: ClassVar = {
        "function": Key("function", "function(t, body), or function(t, body, other)", needed=True),
        "body": Key("body", "the body it acts on", needed=True),
        "other": Key("body", "another body, on which the opposite acts"),
        "point": Key("vector", "where it acts, in body axes from the body's origin, m", unit="m", letter="r"),
        "axes": Key(
            "word", "axes of velocities, force, torque: world, body, other", choices=("world", "body", "other")
        ),
        "numbers": Key("named", "numbers of the function, by name"),
    }
    expressions: ClassVar = {
        "force": "three expressions, N, of t, x y z, vx vy vz, wx wy wz, R11 … R33, other.x …, and named numbers",
        "torque": "three expressions of the same, N m",
    }

    def check(self, where: str) -> None:
        """Refuse axes of a body that is not there, and numbers that no function can have."""
        if self.axes == "other" and self.other is None:
            raise ModelError(message(f"{where}, axes", "no other body", "'other'", "'world' or 'body'"))
        if self.other is not None:
            check_two_bodies(where, self.body, self.other)
        for name in self.numbers:
            if not name.isidentifier() or name in ARGUMENTS:
                expected = f"a name for an argument, none of {', '.join(ARGUMENTS)}"
                raise ModelError(message(f"{where}, numbers", "cannot be called so", repr(name), expected))
        self._check_call(where)

    def _check_call(self, where: str) -> None:
        """Refuse a function that does not take these arguments."""
        bodies = ["body"] if self.other is None else ["body", "other"]
        try:
            inspect.signature(self.function).bind("t", *bodies, **dict(self.numbers))
        except ValueError:  # a function that has no signature
            return
        except TypeError as error:
            expected = f"function({', '.join(['t', *bodies, *self.numbers])})"
            fix = "What else it takes is given by name: numbers={…}."
            raise ModelError(
                message(
                    f"{where}, function{defined_at(self.function)}", "cannot be called so", str(error), expected, fix
                )
            ) from None

    def wrenches(self, state: MachineState) -> Iterator[Wrench]:
        """What the function gives, and on the other body the opposite."""
        R, o = state.frame(self.body)
        arm = R @ self.point
        axes = {"world": None, "body": self.body, "other": self.other}[self.axes]
        E = state.frame(axes).R if axes is not None else None
        bodies = [_motion(state, self.body, arm, E)]
        bodies += [_motion(state, self.other, ORIGIN, E)] if self.other is not None else []
        force, torque = self._given(self.function(state.t, *bodies, **dict(self.numbers)))
        force, torque = (force, torque) if E is None else (E @ force, E @ torque)
        yield Wrench(self.body, force, torque + cross(arm, force))
        if self.other is not None:
            yield Wrench(self.other, -force, cross(state.frame(self.other).o - o - arm, force) - torque)

    def _given(self, found: Any) -> tuple[Vec, Vec]:
        """Force and torque of what the function gave, or an error that names it."""
        parts = list(found) if hasattr(found, "__len__") else []
        sizes = [_size(part) for part in parts]
        if len(parts) == 3 and not any(isinstance(part, (tuple, list)) for part in parts):
            return Vec(parts), ORIGIN
        if sizes == [3, 3]:
            return Vec(parts[0]), Vec(parts[1])
        shown = f"parts of {sizes} numbers" if any(sizes) else f"{len(parts)} numbers" if parts else repr(found)[:60]
        expected = "a force, 3 numbers, or a force and a torque, 3 numbers each"
        raise CompileError(message(f"force '{self.name}'{defined_at(self.function)}", "wrong result", shown, expected))

    @property
    def is_internal(self) -> bool:
        """With the opposite on another body it is, not to the world."""
        return self.other is not None and is_between_bodies(self.body, self.other)

    def summary(self) -> str:
        """Where it acts, and its numbers."""
        held = "".join(f", {name} {x:.4g}" for name, x in plain(tuple(dict(self.numbers).items())))
        on = self.body if self.other is None else f"{self.body} and {self.other}"
        return f"a function of the motion of {on}{held}, {self.axes} axes"

    def moved(self, mounts: Mapping[str, Mount]) -> dict[str, Any]:
        """Where it acts, while the axes of its bodies stay."""
        mount, other = mounts["body"], mounts.get("other")
        stays_on_body(mount, self.body)
        if mount.turns or (other is not None and not other.is_own):
            raise NotCarried("its function is of a body whose frame is another")
        return {"point": mount.point(self.point)}

    def reflected(self, mirror: Reflection) -> dict[str, Any]:
        """Functions have no image."""
        raise NotCarried("its function has no image")


def _size(part: Any) -> int:
    """How many numbers a part of a result has; 0 for one number."""
    return len(part) if isinstance(part, (tuple, list)) or (isinstance(part, np.ndarray) and part.ndim) else 0


def _motion(state: MachineState, body: str, arm: Vec, E: Vec | None) -> BodyMotion:
    """The motion of a body.  arm: from its origin to the point that is looked at;  E: axes of velocities, or None"""
    R, o = state.frame(body)
    linear, angular = state.twist(body)
    velocity = linear + cross(angular, arm)
    if E is None:
        return BodyMotion(o + arm, R, velocity, angular)
    return BodyMotion(o + arm, R, E.T @ velocity, E.T @ angular)
