"""Stops of a joint by impacts: restitution at once, rest where the load presses."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from polhode.errors import ModelError, message
from polhode.model.forces.base import ElementEvent, ForceElement, Hold, Jump
from polhode.model.forces.joint_axis import axis_of, check_axis, reflected_limits
from polhode.model.joints.base import JointKind
from polhode.model.keys import ABOVE_ZERO, Key
from polhode.model.numbers import plain, short
from polhode.model.reflection import Reflection
from polhode.model.state import MachineState
from polhode.scalar import Scalar, Vec, where

REST_SPEED = 1e-6
"""The speed after an impact, rad/s or m/s, below which it comes to rest unless another is given: a ball under gravity
would bounce on for 2e-7 s, by 5e-14 m."""

STILL = 1e-12
"""A speed up to this, rad/s or m/s, is none, by rounding."""

SLACK = 1e-9
"""A stop that a coordinate has passed by more than this, rad or m, was hit, though it moves away already: it is far
above the rounding of coordinates after an impact."""

BEYOND = 1e-6
"""How far beyond a stop a coordinate may be, rad or m: by rounding, and by what keeps constraints."""


@dataclass(frozen=True)
class ImpactStop(ForceElement):
    """Rigid stops along an axis of a joint. Where its coordinate reaches a limit with a velocity v, an impulse along
    the axis makes it −e v at once; what else moves changes by that impulse, constraints and axes that are held kept.

    An impact after which it would be slower than the rest speed brings it to rest on the stop. There it stays, held,
    until its load pulls away. The mode `rests` is 0, or −1 and 1 on the lower and the upper stop; events are recorded
    as "name.hits-lower", "name.hits-upper" and "name.leaves".

    lower, upper  of the coordinate, rad or m; infinite unless given
    restitution   e, 0 to 1
    rest_speed    rad/s or m/s, above 0; 1e-6 unless given. In its place 0 would have bounces without end
    axis          the place of the axis among those of a joint that has several
    """

    name: str
    joint: str
    lower: Scalar = -math.inf
    upper: Scalar = math.inf
    restitution: Scalar = 0.0
    rest_speed: Scalar = REST_SPEED
    axis: int = 0

    kind = "impact-stop"
    keys: ClassVar = {
        "joint": Key("joint", "a joint with axes", needed=True),
        "lower": Key("limit", "of the coordinate, rad or m; none unless given", "rad or m", "q_l"),
        "upper": Key("limit", "of the coordinate, rad or m; none unless given", "rad or m", "q_u"),
        "restitution": Key(
            "number", "of speeds, 0 unless given", "1", "e", range=(lambda x: 0 <= x <= 1, "0 to 1")
        ),
        "rest_speed": Key(
            "number", "below which it rests after an impact, rad/s or m/s; 1e-6 unless given", "rad/s or m/s", "v_r",
            range=ABOVE_ZERO,
        ),
        "axis": Key("axis", "the place of the axis among those of the joint; 0 unless given"),
    }  # fmt: skip
    modes: ClassVar = {"rests": "1"}
    changes_energy = "stops"

    def check(self, where: str) -> None:
        """Refuse stops that leave no room, and none at all."""
        low, high = plain(self.lower), plain(self.upper)
        if not low < high or (math.isinf(low) and math.isinf(high)):
            expected, fix = "lower < upper, one of them finite", "A joint that is never to move is a fixed one."
            raise ModelError(message(f"{where}, limits", "no stops", f"lower {low:g}, upper {high:g}", expected, fix))

    def check_joint(self, where: str, joint: str, kind: JointKind) -> None:
        """A joint with this axis."""
        check_axis(where, joint, kind, self.axis)

    def holds(self, own: Vec) -> Iterable[Hold]:
        """The axis, where it rests."""
        (rests,) = own
        yield Hold(self.joint, self.axis, where(rests * rests > 0.25, 1.0, 0.0), side=rests)

    def events(self) -> Sequence[ElementEvent]:
        """Impacts on each stop, and that it leaves one."""
        found = [ElementEvent("leaves", self._pulled, self._leave)]
        if not _is_none(self.lower):
            found.append(ElementEvent("hits-lower", lambda state: self._depth(state, -1.0), self._hit))
        if not _is_none(self.upper):
            found.append(ElementEvent("hits-upper", lambda state: self._depth(state, 1.0), self._hit))
        return found

    def _depth(self, state: MachineState, side: float) -> Scalar:
        """How far beyond a stop it is, where it still moves into it; less SLACK where it comes back within one step."""
        (rests,), (q, v) = state.own(self), axis_of(state, self.joint, self.axis)
        depth = q - self.upper if side > 0 else self.lower - q
        return where(rests * rests > 0.25, -1.0, where(side * v > 0, depth, depth - SLACK))

    def _hit(self, state: MachineState) -> Jump:
        v = axis_of(state, self.joint, self.axis).v
        after = -self.restitution * v
        if abs(after) < self.rest_speed:
            return Jump({"rests": math.copysign(1.0, v)}, [(self.joint, self.axis, 0.0)])
        return Jump(rates=[(self.joint, self.axis, after)])

    def _leave(self, state: MachineState) -> Jump:
        return Jump({"rests": 0.0}, [(self.joint, self.axis, 0.0)])  # without what rounding left of its velocity

    def _pulled(self, state: MachineState) -> Scalar:
        """The load away from the stop on which it rests."""
        (rests,) = state.own(self)
        return where(rests * rests > 0.25, -rests * state.load(self.joint, self.axis), -1.0)

    def settled(self, state: MachineState) -> Mapping[str, float]:
        """It rests no more where it moves or is not at that stop; it is an error where it is beyond one."""
        (rests,), (q, v) = state.own(self), axis_of(state, self.joint, self.axis)
        if max(self.lower - q, q - self.upper) > BEYOND:
            found, expected = f"{q:.6g} of '{self.joint}'", f"{short(self.lower)} to {short(self.upper)}"
            raise ModelError(message(f"force '{self.name}'", "a coordinate beyond its stops", found, expected))
        away = q - self.lower if rests < 0 else self.upper - q
        return {"rests": 0.0} if abs(v) > STILL or (rests and away > BEYOND) else {}

    @property
    def is_internal(self) -> bool:
        """It is, between the two bodies of its joint."""
        return True

    def notes(self) -> list[str]:
        """From which speed on it rests."""
        told = f"impact-stop '{self.name}' of joint '{self.joint}'"
        return [f"{told} comes to rest after impacts that would leave less than {short(self.rest_speed)} m/s or rad/s"]

    @property
    def stops(self) -> Sequence[tuple[str, int]]:
        """Its own axis."""
        return [(self.joint, self.axis)]

    def reflected(self, mirror: Reflection) -> dict[str, Any]:
        """Its limits, the other way round where the coordinate changes its sign."""
        return reflected_limits(self, mirror)


def _is_none(limit: Scalar) -> bool:
    """Whether there is no limit: symbols are one."""
    return isinstance(limit, float) and math.isinf(limit)
