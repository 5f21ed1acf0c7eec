"""A spring and damper between points of two bodies."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from polhode.errors import ModelError, message
from polhode.model.forces.base import ForceElement, Wrench
from polhode.model.keys import Key
from polhode.model.numbers import short
from polhode.model.state import MachineState
from polhode.model.topology import WORLD
from polhode.scalar import Scalar, Vec, cross, dot, is_zero, maximum, sqrt, square

SHORTEST = 1e-150
"""A spring shorter than this has no direction: it pulls as if it were this long."""


@dataclass(frozen=True)
class Spring(ForceElement):
    """A spring and damper along the line between points of two bodies (or the world).

    force = stiffness (length − rest) + damping d(length)/dt, pulling the points together; with rest = 0
    and no damping its line may have no length.
    """

    name: str
    body_a: str
    body_b: str
    point_a: Any = (0.0, 0.0, 0.0)
    point_b: Any = (0.0, 0.0, 0.0)
    stiffness: Scalar = 0.0
    damping: Scalar = 0.0
    rest: Scalar = 0.0

    kind = "spring"
    keys: ClassVar = {
        "body_a": Key("body", "a body, or world", needed=True),
        "body_b": Key("body", "another body, or world", needed=True),
        "point_a": Key("vector", "m, in the axes of body_a", unit="m", letter="r_a"),
        "point_b": Key("vector", "m, in the axes of body_b", unit="m", letter="r_b"),
        "stiffness": Key("number", "N/m", unit="N/m", letter="k_s"),
        "damping": Key("number", "N s/m", unit="N s/m", letter="b_s"),
        "rest": Key("number", "length at which it pulls nothing, m", unit="m", letter="l_s"),
    }
    changes_energy = "dampers"

    def check(self, where: str) -> None:
        """Refuse a spring within one body."""
        if isinstance(self.body_a, str) and isinstance(self.body_b, str) and self.body_a == self.body_b:
            raise ModelError(message(where, "both ends on one body", f"'{self.body_a}'", "two bodies"))

    def wrenches(self, state: MachineState) -> Iterator[Wrench]:
        """The pull on its two bodies."""
        arm_a, arm_b, line, length = self._stretch(state)
        k, d, rest = self.stiffness, self.damping, self.rest
        if is_zero(rest) and is_zero(d):
            pull = k * line  # a spring without rest length needs no direction
        else:
            a, b = state.twist(self.body_a), state.twist(self.body_b)
            apart = b.linear + cross(b.angular, arm_b) - a.linear - cross(a.angular, arm_a)
            along = line / maximum(length, SHORTEST)
            pull = (k * (length - rest) + d * dot(along, apart)) * along
        yield Wrench(self.body_a, pull, cross(arm_a, pull))
        yield Wrench(self.body_b, -pull, -cross(arm_b, pull))

    def potential(self, state: MachineState) -> Scalar:
        """stiffness (length − rest)²/2"""
        apart = self._stretch(state).length - self.rest
        return self.stiffness * apart * apart / 2

    def _stretch(self, state: MachineState) -> "Stretch":
        a, b = state.frame(self.body_a), state.frame(self.body_b)
        arm_a, arm_b = a.R @ self.point_a, b.R @ self.point_b
        line = b.o + arm_b - a.o - arm_a
        return Stretch(arm_a, arm_b, line, sqrt(square(line)))

    def conservative_part(self) -> "Spring":
        """The spring alone."""
        return self.changed(damping=0.0)

    def other_part(self) -> "Spring | None":
        """The damper alone."""
        return None if is_zero(self.damping) else self.changed(stiffness=0.0)

    @property
    def is_internal(self) -> bool:
        """Between two bodies it is, not to the world."""
        return WORLD not in (self.body_a, self.body_b)

    def summary(self) -> str:
        """Its ends and its numbers."""
        ends = f"{self.body_a} {short(self.point_a)} – {self.body_b} {short(self.point_b)}"
        return f"spring, {ends}, " + ", ".join(
            f"{n} {short(getattr(self, n))}" for n in ("stiffness", "damping", "rest")
        )


class Stretch(NamedTuple):
    """A spring's ends in the world: arms from the bodies' origins, the line from a to b, its length."""

    arm_a: Vec
    arm_b: Vec
    line: Vec
    length: Scalar
