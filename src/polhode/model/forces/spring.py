"""A spring and damper between points of two bodies."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from polhode.errors import ModelError, message
from polhode.model.forces.base import DrawnLine, ForceElement, Wrench
from polhode.model.forces.monotone_table import check_table
from polhode.model.forces.spring_law import SpringLaw, law_summary, one_number, warn_of_negative
from polhode.model.forces.two_frames import check_two_bodies, is_between_bodies, reflected_ends
from polhode.model.keys import Key
from polhode.model.numbers import plain, short
from polhode.model.reflection import Reflection
from polhode.model.state import MachineState
from polhode.scalar import Scalar, Vec, cross, dot, is_zero, length, maximum, real_part, smooth, sqrt, square, where

SHORTEST = 1e-150
"""A damper shorter than this has no direction: it pulls as if it were this long."""

NO_LENGTH = 1e-12
"""A line shorter than this part of a spring's rest length, or of its arms, has a direction by rounding alone."""


@dataclass(frozen=True)
class Spring(ForceElement):
    """A spring and damper along the line between points of two bodies (or the world); a cable with only="pull".

    pull = preload + stiffness e + c₂ e² + c₃ e³ + … + table(e) + damping d(length)/dt,  e = length − rest,
    pulling the points together; with rest = 0 and stiffness alone its line may have no length.

    polynomial  c₂, c₃, …, N/m², N/m³, …
    table       rows (e, force), m and N: monotone cubics through them, beyond its ends straight lines
    energy      a user function: the energy of a further elastic force, J, of the extension e; the force is its slope
    law         a user function: a further force, N, of length and its rate; it may do work and has no potential
    only        "both"; "pull": slack where e ≤ 0, and its damper never pushes; "push": the other way round
    """

    name: str
    body_a: str
    body_b: str
    point_a: Any = (0.0, 0.0, 0.0)
    point_b: Any = (0.0, 0.0, 0.0)
    stiffness: Scalar = 0.0
    damping: Scalar = 0.0
    rest: Scalar = 0.0
    preload: Scalar = 0.0
    polynomial: Any = ()
    table: Any = ()
    energy: Callable[[Scalar], Scalar] | None = None
    law: Callable[[Scalar, Scalar], Scalar] | None = None
    only: str = "both"

    kind = "spring"
    keys: ClassVar = {
        "body_a": Key("body", "a body, or world", needed=True),
        "body_b": Key("body", "another body, or world", needed=True),
        "point_a": Key("vector", "m, in the axes of body_a", "m", "r_a", fixed_to="body_a"),
        "point_b": Key("vector", "m, in the axes of body_b", "m", "r_b", fixed_to="body_b"),
        "stiffness": Key("number", "N/m", unit="N/m", letter="k_s"),
        "damping": Key("number", "N s/m", unit="N s/m", letter="b_s"),
        "rest": Key("number", "length at which its stiffness pulls nothing, m", unit="m", letter="l_s"),
        "preload": Key("number", "pull at rest length, N", unit="N", letter="F_s"),
        "polynomial": Key("array", "factors of e², e³, …: N/m², N/m³, …; e = length − rest", unit="N/m2, N/m3, …"),
        "table": Key("array", "rows [e, force], e = length − rest: m, N", unit="m, N"),
        "energy": Key("function", "energy (J) of a further elastic force, of e = length − rest", variables=("e",)),
        "law": Key("function", "a further pull (N) of length and rate", variables=("length", "rate")),
        "only": Key("word", "pull: a cable; push: a prop; both", choices=("both", "pull", "push")),
    }

    part: ClassVar[str] = "all"
    """Of a one-sided spring: what its damper and law add to the elastic force is the part "other"."""

    def check(self, where: str) -> None:
        """Refuse a spring within one body, and what is no law; warn of a negative stiffness."""
        check_two_bodies(where, self.body_a, self.body_b)
        if self.table:
            check_table(f"{where}, table", self.table)
        if self.only != "both" and plain(self.preload):
            fix = "Give the rest length at which it goes slack: rest − preload/stiffness."
            raise ModelError(message(f"{where}, preload", "of a one-sided spring", short(self.preload), "0", fix))
        warn_of_negative(where, self.stiffness, self.damping)

    @property
    def changes_energy(self) -> str:  # type: ignore[override]
        """Its damper; or its law."""
        return "given forces" if self.law else "dampers"

    def wrenches(self, state: MachineState) -> Iterator[Wrench]:
        """The pull on its two bodies."""
        arm_a, arm_b, line, long = self._stretch(state)
        if self._is_proportional and is_zero(self.damping) and not self.law and self.only == "both":
            pull = self.stiffness * line  # a spring without rest length needs no direction
        else:
            a, b = state.twist(self.body_a), state.twist(self.body_b)
            apart = b.linear + cross(b.angular, arm_b) - a.linear - cross(a.angular, arm_a)
            along = line / (long if self._has_direction else smooth(maximum)(long, SHORTEST))
            pull = self._pull(long, dot(along, apart)) * along
        yield Wrench(self.body_a, pull, cross(arm_a, pull))
        yield Wrench(self.body_b, -pull, -cross(arm_b, pull))

    def _pull(self, long: Scalar, rate: Scalar) -> Scalar:
        e = long - self.rest
        elastic, other = self._law.force(e), self.damping * rate
        if self.law:
            other = other + one_number(f"force '{self.name}', law", self.law, long, rate)
        if self.only == "both":
            return elastic + other
        taut = real_part(e) > 0 if self.only == "pull" else real_part(e) < 0
        if is_zero(self.damping) and not self.law:
            return where(taut, elastic, 0.0)
        other = _added(elastic, other) if self.only == "pull" else -_added(-elastic, -other)
        return where(taut, other if self.part == "other" else elastic + other, 0.0)

    def potential(self, state: MachineState) -> Scalar:
        """The integral of its elastic force: stiffness e²/2 + …"""
        e = self._stretch(state).length - self.rest
        if self.only == "both":
            return self._law.potential(e)
        taut = real_part(e) > 0 if self.only == "pull" else real_part(e) < 0
        return where(taut, self._law.potential(e) - self._law.potential(0.0), 0.0)

    @property
    def _law(self) -> SpringLaw:
        return SpringLaw(self.name, self.stiffness, self.preload, self.polynomial, self.table, self.energy)

    @property
    def _is_proportional(self) -> bool:
        """Whether its elastic force is proportional to its length."""
        return is_zero(self.rest) and self._law.is_linear

    @property
    def _has_direction(self) -> bool:
        """Whether it may pull at zero length, where it has no direction: it has no value there. A cable is slack."""
        return self.only != "pull" and not self._is_proportional

    def _stretch(self, state: MachineState) -> "Stretch":
        a, b = state.frame(self.body_a), state.frame(self.body_b)
        arm_a, arm_b = a.R @ self.point_a, b.R @ self.point_b
        line = b.o + arm_b - a.o - arm_a
        return Stretch(arm_a, arm_b, line, sqrt(square(line)))

    def fault(self, state: MachineState) -> str:
        """A spring that pulls at zero length has no direction there."""
        arm_a, arm_b, _, long = self._stretch(state)
        size = abs(self.rest) + length(arm_a) + length(arm_b)
        if long > NO_LENGTH * size or not self._has_direction:
            return ""
        pull = self._pull(0.0, 0.0)
        ends = f"its ends on '{self.body_a}' and '{self.body_b}' are at one point"
        return f"{ends}, where it pulls with {pull:.4g} N and has no direction" if pull else ""

    def conservative_part(self) -> "Spring":
        """The spring alone."""
        return self.changed(damping=0.0, law=None)

    def other_part(self) -> "Spring | None":
        """The damper and the law alone."""
        if is_zero(self.damping) and not self.law:
            return None
        if self.only != "both":
            return self.changed(part="other")
        return self.changed(stiffness=0.0, preload=0.0, polynomial=(), table=(), energy=None)

    @property
    def has_conditions(self) -> bool:  # type: ignore[override]
        """A one-sided spring bends where it becomes taut, a table at its points."""
        return self.only != "both" or bool(self.table)

    @property
    def has_jumps(self) -> bool:  # type: ignore[override]
        """Its damper jumps there."""
        return self.only != "both" and not is_zero(self.damping)

    @property
    def is_internal(self) -> bool:
        """Between two bodies it is, not to the world."""
        return is_between_bodies(self.body_a, self.body_b)

    def drawing(self) -> Iterator[DrawnLine]:
        """A coil between its ends; of a cable, a line."""
        look = "line" if self.only == "pull" else "coil"
        yield DrawnLine(self.body_a, self.point_a, self.body_b, self.point_b, look)

    def summary(self) -> str:
        """Its ends and its numbers."""
        ends = f"{self.body_a} {short(self.point_a)} – {self.body_b} {short(self.point_b)}"
        only = f", only {self.only}" if self.only != "both" else ""
        return f"spring, {ends}, {law_summary(self)}{only}"

    def reflected(self, mirror: Reflection) -> dict[str, Any]:
        """Its frames: a length is the same."""
        return reflected_ends(self, mirror)


def _added(elastic: Scalar, other: Scalar) -> Scalar:
    """What a damper adds to the elastic pull of a cable: it takes away no more than there is, so that none pushes."""
    least = where(real_part(elastic) > 0, -elastic, 0.0)
    return where(real_part(other) > real_part(least), other, least)


class Stretch(NamedTuple):
    """A spring's ends in the world: arms from the bodies' origins, the line from a to b, its length."""

    arm_a: Vec
    arm_b: Vec
    line: Vec
    length: Scalar
