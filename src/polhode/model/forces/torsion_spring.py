"""A torsion spring and damper about an axis."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from polhode.errors import ModelError, message
from polhode.model.forces.base import ForceElement, Wrench
from polhode.model.forces.joint_axis import along_axes, axis_of
from polhode.model.forces.monotone_table import check_table
from polhode.model.forces.spring_law import SpringLaw, law_summary, one_number, warn_of_negative
from polhode.model.forces.two_frames import (
    ORIENTATIONS,
    FrameOnBody,
    body_frame,
    check_two_bodies,
    is_between_bodies,
    opposite,
    reflected_ends,
)
from polhode.model.joints.base import JointKind
from polhode.model.keys import Key
from polhode.model.mount import array_of, floats
from polhode.model.numbers import short
from polhode.model.reflection import FRAME, Reflection
from polhode.model.state import MachineState
from polhode.scalar import Scalar, Vec, atan2, cos, dot, is_zero, sin, smooth, sqrt, square, trace, vec
from polhode.spatial import ORIGIN

NO_TWIST = 1e-12
"""1 + the cosine between the axis on one body and on the other, below which no twist about it is defined."""


@dataclass(frozen=True)
class TorsionSpring(ForceElement):
    """A torsion spring and damper: at a joint that turns about one axis, or about an axis of frames on two bodies.

    torque = preload + stiffness e + c₂ e² + c₃ e³ + … + table(e) + damping d(angle)/dt,  e = angle − rest,
    turning back. At a joint the angle is its coordinate, over any number of turns. Of two frames it is the twist of b
    relative to a about the axis, however else the two are inclined, at most half a turn from rest:

        θ = 2 atan2(r·n, r₀),   the couple along (n_a + n_b)/(1 + n_a·n_b), the slope of θ

    r = (r₀, r) relative quaternion, n the axis, n_a and n_b as a and b carry it. Where n_b = −n_a there is no twist.

    joint                         a joint; or
    body_a, body_b                two bodies, or a body and the world
    orientation_a, orientation_b  axes of the frames in body axes, unit quaternions
    axis                          in the axes of each frame
    polynomial, table, energy, law  as of a Spring, of the angle in rad and in N m
    """

    name: str
    body_a: str | None = None
    body_b: str | None = None
    axis: Any = (0.0, 0.0, 1.0)
    orientation_a: Any = (1.0, 0.0, 0.0, 0.0)
    orientation_b: Any = (1.0, 0.0, 0.0, 0.0)
    stiffness: Scalar = 0.0
    damping: Scalar = 0.0
    rest: Scalar = 0.0
    preload: Scalar = 0.0
    polynomial: Any = ()
    table: Any = ()
    energy: Callable[[Scalar], Scalar] | None = None
    law: Callable[[Scalar, Scalar], Scalar] | None = None
    joint: str | None = None

    kind = "torsion-spring"
    keys: ClassVar = {
        "body_a": Key("body", "a body, or world"),
        "body_b": Key("body", "another body, or world"),
        "axis": Key("direction", "in the axes of both frames; z unless given", unit="1", letter="n"),
        **ORIENTATIONS,
        "stiffness": Key("number", "N m/rad", unit="N m/rad", letter="k_t"),
        "damping": Key("number", "N m s/rad", unit="N m s/rad", letter="b_t"),
        "rest": Key("number", "angle at which its stiffness turns nothing, rad", unit="rad", letter="theta_t"),
        "preload": Key("number", "torque at that angle, N m", unit="N m", letter="N_t"),
        "polynomial": Key("array", "factors of e², e³, …, e = angle − rest", unit="N m/rad2, N m/rad3, …"),
        "table": Key("array", "rows [e, torque], e = angle − rest: rad, N m", unit="rad, N m"),
        "energy": Key("function", "energy (J) of a further elastic torque, of e = angle − rest", variables=("e",)),
        "law": Key("function", "a further torque (N m) of angle and rate", variables=("angle", "rate")),
        "joint": Key("joint", "a joint that turns about one axis, in place of body_a and body_b"),
    }

    def check(self, where: str) -> None:
        """Refuse a spring within one body, or nowhere, and what is no law; warn of a negative stiffness."""
        ends = [name for name in ("body_a", "body_b", "joint") if getattr(self, name) is not None]
        if ends not in (["joint"], ["body_a", "body_b"]):
            found, expected = ", ".join(ends) or "neither", "body_a and body_b, or joint"
            raise ModelError(message(where, "not between two", found, expected))
        if self.joint is None:
            check_two_bodies(where, self.body_a, self.body_b)
        if self.table:
            check_table(f"{where}, table", self.table)
        warn_of_negative(where, self.stiffness, self.damping)

    def check_joint(self, where: str, joint: str, kind: JointKind) -> None:
        """Refuse a joint that does not turn about one axis."""
        if kind.nv != 1 or kind.elements[0][0].units[1] != ("rad/s",):
            raise ModelError(
                message(f"{where}, joint", "does not turn about one axis", f"'{joint}', {kind.name}", "one angle")
            )

    @property
    def changes_energy(self) -> str:  # type: ignore[override]
        """Its damper; or its law."""
        return "given forces" if self.law else "dampers"

    def wrenches(self, state: MachineState) -> Iterator[Wrench]:
        """The couple on b, and the opposite on a."""
        if self.joint is not None:
            return
        a, b = self._ends(state)
        n_a, n_b = self._axis_in(a.frame.R), self._axis_in(b.frame.R)
        slope = (n_a + n_b) / (1 + dot(n_a, n_b))
        e, rate = self._from_rest(a.frame.R, b.frame.R), dot(slope, b.twist.angular - a.twist.angular)
        yield from opposite(a, b, ORIGIN, -self._torque(e, rate) * slope)

    def generalized(self, state: MachineState) -> Sequence[Scalar]:
        """The torque about the axis of a joint."""
        if self.joint is None:
            return super().generalized(state)
        angle, rate = axis_of(state, self.joint, 0)
        return along_axes(state, (self.joint, 0, -self._torque(angle - self.rest, rate)))

    @property
    def of_coordinates(self) -> bool:
        """At a joint it is."""
        return self.joint is not None

    def potential(self, state: MachineState) -> Scalar:
        """The integral of its elastic torque: stiffness e²/2 + …"""
        if self.joint is not None:
            return self._law.potential(axis_of(state, self.joint, 0).q - self.rest)
        a, b = self._ends(state)
        return self._law.potential(self._from_rest(a.frame.R, b.frame.R))

    def _torque(self, e: Scalar, rate: Scalar) -> Scalar:
        found = self._law.force(e) + self.damping * rate
        return found + one_number(f"force '{self.name}', law", self.law, e + self.rest, rate) if self.law else found

    @property
    def _law(self) -> SpringLaw:
        return SpringLaw(self.name, self.stiffness, self.preload, self.polynomial, self.table, self.energy)

    def _ends(self, state: MachineState) -> tuple[FrameOnBody, FrameOnBody]:
        assert self.body_a is not None
        assert self.body_b is not None
        a = body_frame(state, self.body_a, ORIGIN, self.orientation_a)
        return a, body_frame(state, self.body_b, ORIGIN, self.orientation_b)

    def _axis_in(self, R: Vec) -> Vec:
        return R @ self._unit_axis

    @property
    def _unit_axis(self) -> Vec:
        return self.axis / sqrt(square(self.axis))

    @smooth
    def _from_rest(self, R_a: Vec, R_b: Vec) -> Scalar:
        """The angle less rest, −π … π, so that the energy of a stiffness is continuous half a turn from rest.

        2 atan2(r·n, r₀) of the relative rotation R is the angle of (tr R − n·R n, n·w), R − Rᵀ = w̃.
        """
        n, R = self._unit_axis, R_a.T @ R_b
        w = vec(R[2][1] - R[1][2], R[0][2] - R[2][0], R[1][0] - R[0][1])
        y, x, s, c = dot(n, w), trace(R) - dot(n, R @ n), sin(self.rest), cos(self.rest)
        return atan2(y * c - x * s, x * c + y * s)

    def fault(self, state: MachineState) -> str:
        """Where the axis points the other way round there is no twist about it."""
        if self.joint is not None:
            return ""
        a, b = self._ends(state)
        if 1 + dot(self._axis_in(a.frame.R), self._axis_in(b.frame.R)) > NO_TWIST:
            return ""
        return f"its axis on '{self.body_b}' points opposite to that on '{self.body_a}', and has no twist about it"

    def conservative_part(self) -> "TorsionSpring":
        """The spring alone."""
        return self.changed(damping=0.0, law=None)

    def other_part(self) -> "TorsionSpring | None":
        """The damper and the law alone."""
        if is_zero(self.damping) and not self.law:
            return None
        return self.changed(stiffness=0.0, preload=0.0, polynomial=(), table=(), energy=None)

    def summary(self) -> str:
        """Its ends and its numbers."""
        ends = f"{self.body_a} – {self.body_b} about {short(self.axis)}" if self.joint is None else f"at {self.joint}"
        return f"torsion spring, {ends}, {law_summary(self)}"

    @property
    def has_conditions(self) -> bool:  # type: ignore[override]
        """A table bends at its points."""
        return bool(self.table)

    @property
    def is_internal(self) -> bool:
        """Between two bodies it is, those of a joint included, not to the world."""
        return self.joint is not None or is_between_bodies(self.body_a, self.body_b)

    def reflected(self, mirror: Reflection) -> dict[str, Any]:
        """Its frames and its axis: the angle is the same."""
        if self.joint is not None:
            return {}
        return reflected_ends(self, mirror) | {"axis": floats(-FRAME @ array_of(self.axis))}
