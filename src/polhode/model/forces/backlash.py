"""Backlash: a gap between two coordinates, or about a place of one, with compliant contact at both of its ends."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from polhode.errors import ModelError, message
from polhode.model.forces.base import ForceElement
from polhode.model.forces.compliant_contact import KEYS, TOUCH, law_of
from polhode.model.forces.joint_axis import along_axes
from polhode.model.keys import AT_LEAST_ZERO, Key
from polhode.model.numbers import plain
from polhode.model.reflection import Reflection
from polhode.model.scale import Scale, multiplied
from polhode.model.state import MachineState
from polhode.scalar import Scalar, is_zero


@dataclass(frozen=True)
class Backlash(ForceElement):
    """A joint that drives another through a gap, as teeth of gears do.

    s = q_joint − ratio q_other − offset moves freely within ± gap/2; beyond, at a depth δ, a contact pushes it back by
    k δⁿ (1 + c δ̇), never pulls. Steps of a run end where it touches, and where it leaves.

    joint, other  joints of one axis; without another one, the gap is about `offset`
    gap           rad or m, the whole of it
    ratio         of the coordinate to that of the other joint, 1 unless given
    stiffness, dissipation, exponent   k, c, n, as of a `JointStop`; the force is that on `joint`
    """

    name: str
    joint: str
    other: str | None = None
    gap: Scalar = field(kw_only=True)
    ratio: Scalar = 1.0
    offset: Scalar = 0.0
    stiffness: Scalar = field(kw_only=True)
    dissipation: Scalar = 0.0
    exponent: float = 1.0

    kind = "backlash"
    keys: ClassVar = {
        "joint": Key("joint", "a joint of one axis", needed=True),
        "other": Key("joint", "another joint of one axis; none unless given"),
        "gap": Key("number", "the whole of it, rad or m", "rad or m", "g_b", needed=True, range=AT_LEAST_ZERO),
        "ratio": Key("number", "of the coordinate to that of the other joint; 1 unless given", "1", "i_b"),
        "offset": Key("number", "middle of the gap, rad or m; 0 unless given", "rad or m", "q_b"),
        **KEYS,
    }
    changes_energy = "backlash"
    elastic: ClassVar[float] = 1.0
    is_contact = True

    def check(self, where: str) -> None:
        """Refuse a joint that drives itself."""
        if self.joint == self.other:
            raise ModelError(message(where, "a joint that drives itself", repr(self.joint), "two joints"))

    def generalized(self, state: MachineState) -> Sequence[Scalar]:
        """The push of the contact on the joint, and its reaction on the other."""
        law, rate = law_of(self), self._rate(state)
        below, above = self._depths(state)
        force = law.force(below, -rate) - law.force(above, rate)
        acted = [(self.joint, 0, force)]
        if self.other is not None:
            acted.append((self.other, 0, -self.ratio * force))
        return along_axes(state, *acted)

    def switching(self, state: MachineState) -> list[Scalar]:
        """The depths at both ends of the gap, from where it touches."""
        return [depth - TOUCH for depth in self._depths(state)]

    def corners(self, state: MachineState) -> list[Scalar]:
        """Where a contact is pulled open."""
        law, rate, (below, above) = law_of(self), self._rate(state), self._depths(state)
        return law.corners((below, -rate), (above, rate))

    def _rate(self, state: MachineState) -> Scalar:
        rate = state.rate(self.joint)
        return rate if self.other is None else rate - self.ratio * state.rate(self.other)

    def _depths(self, state: MachineState) -> list[Scalar]:
        s = state.coordinate(self.joint) - self.offset
        s = s if self.other is None else s - self.ratio * state.coordinate(self.other)
        return [-self.gap / 2 - s, s - self.gap / 2]

    def potential(self, state: MachineState) -> Scalar:
        """k δⁿ⁺¹/(n + 1)"""
        law = law_of(self)
        return sum((law.potential(depth) for depth in self._depths(state)), start=0.0)

    def conservative_part(self) -> "Backlash":
        """The springs alone."""
        return self.changed(dissipation=0.0)

    def other_part(self) -> "Backlash | None":
        """The dissipation alone."""
        return None if is_zero(self.dissipation) else self.changed(elastic=0.0)

    @property
    def is_internal(self) -> bool:
        """It is, between the bodies of its joints."""
        return True

    def reflected(self, mirror: Reflection) -> dict[str, Any]:
        """Ratio and offset, by the signs of the coordinates."""
        own, other = mirror.sign(self.joint), mirror.sign(self.other) if self.other else 1.0
        return {"ratio": own * other * plain(self.ratio), "offset": own * plain(self.offset)}

    def scaled(self, scale: Scale) -> dict[str, Any]:
        """Numbers by their units; the ratio by what both joints go, the stiffness by its exponent."""
        own = scale.of_coordinate(self.joint)
        found = super().scaled(scale)
        found["stiffness"] = multiplied(found["stiffness"], own ** (1 - self.exponent))
        if self.other is not None:
            found["ratio"] = multiplied(self.ratio, own / scale.of_coordinate(self.other))
        return found

    def locked(self, values: Mapping[str, tuple[float, ...]]) -> dict[str, Any] | None:
        """With the other joint locked, the gap is about a fixed place."""
        if self.joint in values or self.other is None:
            return super().locked(values)
        offset = plain(self.offset) + plain(self.ratio) * values[self.other][0]
        return {"other": None, "offset": offset, "ratio": 1.0}
