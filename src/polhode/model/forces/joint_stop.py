"""Stops of a joint: compliant, with dissipation."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from polhode.errors import ModelError, message
from polhode.model.forces.base import ForceElement
from polhode.model.forces.compliant_contact import KEYS, TOUCH, law_of
from polhode.model.forces.joint_axis import along_axes, axis_of, check_axis, reflected_limits
from polhode.model.joints.base import JointKind
from polhode.model.keys import Key
from polhode.model.numbers import plain, short
from polhode.model.reflection import Reflection
from polhode.model.scale import Scale, multiplied
from polhode.model.state import MachineState
from polhode.scalar import Scalar, is_zero


@dataclass(frozen=True)
class JointStop(ForceElement):
    """Stops along an axis of a joint: beyond its limits, at a depth δ, it is pushed back by k δⁿ (1 + c δ̇), never
    pulled. Steps of a run end where it touches them, and where it leaves them.

    lower, upper  of the coordinate, rad or m; infinite unless given
    stiffness     k, N m/radⁿ or N/mⁿ
    dissipation   c, s/rad or s/m: it leaves the stop slower than 1/c. 0 unless given: nothing is lost
    exponent      n, 1 unless given
    axis          the place of the axis among those of a joint that has several
    """

    name: str
    joint: str
    lower: Scalar = -math.inf
    upper: Scalar = math.inf
    stiffness: Scalar = field(kw_only=True)
    dissipation: Scalar = 0.0
    exponent: float = 1.0
    axis: int = 0

    kind = "joint-stop"
    keys: ClassVar = {
        "joint": Key("joint", "a joint with axes", needed=True),
        "lower": Key("limit", "of the coordinate, rad or m; none unless given", "rad or m", "q_l"),
        "upper": Key("limit", "of the coordinate, rad or m; none unless given", "rad or m", "q_u"),
        **KEYS,
        "axis": Key("axis", "the place of the axis among those of the joint; 0 unless given"),
    }
    changes_energy = "stops"
    elastic: ClassVar[float] = 1.0
    is_contact = True

    def check(self, where: str) -> None:
        """Refuse stops that leave no room, and none at all."""
        low, high = plain(self.lower), plain(self.upper)
        if not low <= high or (math.isinf(low) and math.isinf(high)):
            expected = "lower ≤ upper, one of them finite"
            raise ModelError(message(f"{where}, limits", "no stops", f"lower {low:g}, upper {high:g}", expected))

    def check_joint(self, where: str, joint: str, kind: JointKind) -> None:
        """A joint with this axis."""
        check_axis(where, joint, kind, self.axis)

    def generalized(self, state: MachineState) -> Sequence[Scalar]:
        """The push of the stop that is touched."""
        (q, v), law, force = axis_of(state, self.joint, self.axis), law_of(self), 0.0
        if _is_there(self.lower):
            force = force + law.force(self.lower - q, -v)
        if _is_there(self.upper):
            force = force - law.force(q - self.upper, v)
        return along_axes(state, (self.joint, self.axis, force))

    def switching(self, state: MachineState) -> list[Scalar]:
        """The depths, from where it touches."""
        return [depth - TOUCH for depth in self._depths(state)]

    def corners(self, state: MachineState) -> list[Scalar]:
        """Where a stop is pulled open."""
        v, law = axis_of(state, self.joint, self.axis).v, law_of(self)
        rates = [-v] * _is_there(self.lower) + [v] * _is_there(self.upper)
        return law.corners(*zip(self._depths(state), rates, strict=True))

    def _depths(self, state: MachineState) -> list[Scalar]:
        q = axis_of(state, self.joint, self.axis).q
        return [self.lower - q] * _is_there(self.lower) + [q - self.upper] * _is_there(self.upper)

    def potential(self, state: MachineState) -> Scalar:
        """k δⁿ⁺¹/(n + 1)"""
        law = law_of(self)
        return sum((law.potential(depth) for depth in self._depths(state)), start=0.0)

    def conservative_part(self) -> "JointStop":
        """The spring alone."""
        return self.changed(dissipation=0.0)

    def other_part(self) -> "JointStop | None":
        """The dissipation alone."""
        return None if is_zero(self.dissipation) else self.changed(elastic=0.0)

    @property
    def is_internal(self) -> bool:
        """It is, between the two bodies of its joint."""
        return True

    def summary(self) -> str:
        """Its limits and its numbers."""
        ends = f"{short(self.lower)} to {short(self.upper)}"
        law = f"stiffness {short(self.stiffness)}, dissipation {short(self.dissipation)}, exponent {self.exponent:g}"
        return f"stops of {self.joint}, {ends}, {law}"

    @property
    def stops(self) -> Sequence[tuple[str, int]]:
        """Its own axis."""
        return [(self.joint, self.axis)]

    def reflected(self, mirror: Reflection) -> dict[str, Any]:
        """Its limits, the other way round where the coordinate changes its sign."""
        return reflected_limits(self, mirror)

    def scaled(self, scale: Scale) -> dict[str, Any]:
        """Numbers by their units, the stiffness also by its exponent."""
        found = super().scaled(scale)
        factor = scale.of_coordinate(self.joint, self.axis) ** (1 - self.exponent)
        return found | {"stiffness": multiplied(found["stiffness"], factor)}


class LimitStop(JointStop):
    """The stop that a limit of a joint is in runs; the work of all of them is counted together."""

    kind = "limit-stop"
    source = "joint limits"


def _is_there(limit: Scalar) -> bool:
    """Whether a limit is finite: symbols are."""
    return not (isinstance(limit, float) and math.isinf(limit))
