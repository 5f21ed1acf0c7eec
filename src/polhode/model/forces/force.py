"""A force and a couple on a body."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from polhode.errors import CompileError, defined_at, message
from polhode.model.forces.base import ForceElement, Wrench
from polhode.model.forces.two_frames import stays_on_body
from polhode.model.keys import Key
from polhode.model.mount import Mount, NotCarried
from polhode.model.numbers import short
from polhode.model.reflection import Reflection
from polhode.model.state import MachineState
from polhode.model.topology import WORLD
from polhode.scalar import Array, Scalar, Vec, cross

TimeFunction = Callable[[Any], Sequence]
"""A function of time on generic scalars that gives three numbers."""


@dataclass(frozen=True)
class Force(ForceElement):
    """A force and a couple on a body, constant or functions of time t.

    axes   "world" or "body": the axes of force and torque
    point  where the force acts, in body axes from the body's origin, m
    """

    name: str
    body: str
    force: Array | TimeFunction = (0.0, 0.0, 0.0)
    torque: Array | TimeFunction = (0.0, 0.0, 0.0)
    point: Any = (0.0, 0.0, 0.0)
    axes: str = "world"

    kind = "force"
    keys: ClassVar = {
        "body": Key("body", "the body it acts on", needed=True),
        "force": Key("vector", "N", unit="N", letter="F", of_time=True),
        "torque": Key("vector", "N m", unit="N m", letter="N", of_time=True),
        "point": Key("vector", "where the force acts, in body axes from the body's origin, m", unit="m", letter="r"),
        "axes": Key("word", "axes of force and torque: world or body", choices=("world", "body")),
    }

    def wrenches(self, state: MachineState) -> Iterator[Wrench]:
        """The force, and the couple about the body's origin."""
        R = state.frame(self.body).R
        f, n = self._given("force", state.t), self._given("torque", state.t)
        if self.axes == "body":
            f, n = R @ f, R @ n
        yield Wrench(self.body, f, n + cross(R @ self.point, f))

    def _given(self, part: str, t: Scalar) -> Vec:
        """The force or the torque at time t."""
        value: Any = getattr(self, part)
        if not callable(value):
            return value
        found = value(t)
        if not hasattr(found, "__len__") or len(found) != 3:
            shown = f"{len(found)} numbers" if hasattr(found, "__len__") else repr(found)[:60]
            where = f"force '{self.name}', {part}{defined_at(value)}"
            raise CompileError(message(where, "wrong result", shown, "3 numbers"))
        return Vec(found)

    def functions(self) -> list[tuple[str, Callable[[Scalar, Vec, Vec], Any]]]:
        """Its functions of time."""
        held = [(part, getattr(self, part)) for part in ("force", "torque")]
        return [(f"{part} of '{self.name}'", _of_time(f)) for part, f in held if callable(f)]

    def summary(self) -> str:
        """Where it acts, and its numbers."""
        force, torque = ("a function of t" if callable(x) else short(x) for x in (self.force, self.torque))
        return f"on {self.body}, force {force} N, torque {torque} N m, at {short(self.point)}, {self.axes} axes"

    @property
    def is_load(self) -> bool:
        """It is."""
        return True

    def moved(self, mounts: Mapping[str, Mount]) -> dict[str, Any]:
        """Where it acts; force and torque where they are in body axes."""
        mount = mounts["body"]
        stays_on_body(mount, self.body)
        found: dict[str, Any] = {"point": mount.point(self.point)}
        if self.axes == "body" and mount.turns:
            for part in ("force", "torque"):
                value = getattr(self, part)
                if callable(value):
                    raise NotCarried(f"its {part} is a function of time in the axes of a body whose frame is another")
                found[part] = mount.direction(value)
        return found

    def reflected(self, mirror: Reflection) -> dict[str, Any]:
        """Where it acts, the force, and the couple, which is axial."""
        if callable(self.force) or callable(self.torque):
            raise NotCarried("its function of time has no image")
        axes = WORLD if self.axes == "world" else self.body
        return {
            "point": mirror.polar(self.body, self.point),
            "force": mirror.polar(axes, self.force),
            "torque": mirror.axial(axes, self.torque),
        }


def _of_time(function: TimeFunction) -> Callable[[Scalar, Vec, Vec], Vec]:
    return lambda t, q, v: Vec(function(t))
