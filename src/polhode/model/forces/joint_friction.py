"""Dry friction in a joint: Coulomb, Stribeck and viscous, regularised with a stated creep speed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from polhode.errors import ModelError, message
from polhode.model.forces.base import ForceElement
from polhode.model.forces.joint_axis import check_axis
from polhode.model.joints.base import JointKind
from polhode.model.keys import ABOVE_ZERO, AT_LEAST_ZERO, Key
from polhode.model.numbers import plain, short
from polhode.model.state import MachineState
from polhode.scalar import Scalar, Vec, exp, real_part, sqrt, square, where

CREEP = 1e-3
"""The creep speed unless given, rad/s or m/s: an explicit method takes steps of about 2 m v_c/F_s, for a mass m."""

STRIBECK = 10.0
"""The Stribeck speed unless given, in creep speeds."""


@dataclass(frozen=True)
class JointFriction(ForceElement):
    """Friction along an axis of a joint, or in a spherical joint, against its velocity u, regularised:

        F(u) = F_s (3 − (u/v_c)²) u/(2 v_c)                        |u| ≤ v_c, creep
        F(u) = ±(F_c + (F_s − F_c) exp(−((|u| − v_c)/v_s)²))       beyond, slip
        force = −F(u) − viscous u

    F has a continuous slope, and reaches the break-away force F_s at the creep speed: a joint under a smaller load f
    creeps at v_c 2 sin(asin(f/F_s)/3), less than v_c, where it would stick.

    coulomb         F_c, N m or N
    static          F_s, at least F_c; F_c unless given
    stribeck_speed  v_s, over which F falls from F_s to F_c, rad/s or m/s; 10 creep speeds unless given
    viscous         N m s or N s/m
    creep_speed     v_c, rad/s or m/s; 1e-3 unless given. Small ones make the motion stiff: steps of explicit methods
                    are at most about 2 m v_c/F_s
    axis            the place of the axis among those of a joint that has several
    """

    name: str
    joint: str
    coulomb: Scalar
    static: Scalar = None
    stribeck_speed: Scalar = None
    viscous: Scalar = 0.0
    creep_speed: Scalar = CREEP
    axis: int = 0

    kind = "joint-friction"
    keys: ClassVar = {
        "joint": Key("joint", "a joint with axes, or a spherical one", needed=True),
        "coulomb": Key("number", "of slip, N m or N", "N m or N", "F_c", needed=True, range=AT_LEAST_ZERO),
        "static": Key("number", "of break-away, N m or N; as of slip unless given", "N m or N", "F_s"),
        "stribeck_speed": Key(
            "number",
            "over which friction falls from break-away to slip, rad/s or m/s; 10 creep speeds unless given",
            "rad/s or m/s",
            "v_s",
            range=ABOVE_ZERO,
        ),
        "viscous": Key("number", "N m s or N s/m", "N m s or N s/m", "b_f", range=AT_LEAST_ZERO),
        "creep_speed": Key(
            "number", "at most, below break-away, rad/s or m/s; 1e-3 unless given", "rad/s or m/s", "v_c",
            range=ABOVE_ZERO,
        ),
        "axis": Key("axis", "the place of the axis among those of the joint; 0 unless given"),
    }  # fmt: skip
    changes_energy = "friction"

    def check(self, where: str) -> None:
        """Refuse less friction at rest than in slip."""
        if self.static is not None and plain(self.static) < plain(self.coulomb):
            found, expected = short(self.static), f"at least that of slip, coulomb = {short(self.coulomb)}"
            raise ModelError(message(f"{where}, static", "smaller than in slip", found, expected))

    def check_joint(self, where: str, joint: str, kind: JointKind) -> None:
        """Of a joint with a quaternion only the spherical one, whose friction is against its angular velocity."""
        if not _is_ball(kind):
            check_axis(where, joint, kind, self.axis)
        elif self.axis:
            found = f"{self.axis} of '{joint}', spherical"
            raise ModelError(message(f"{where}, axis", "no such axis", found, "none: it is the same about every axis"))

    def generalized(self, state: MachineState) -> Sequence[Scalar]:
        """The friction against the velocity of the axis, or against the angular velocity."""
        places = state.rates_of_joint[self.joint]
        is_ball = len(state.of_joint[self.joint]) > len(places)
        acted = places if is_ball else places[self.axis : self.axis + 1]
        u = Vec([state.v[k] for k in acted])
        force = -self.resistance(square(u)) * u
        tau: list[Scalar] = [0.0] * len(state.v)
        for k, f in zip(acted, force, strict=True):
            tau[k] = f
        return tau

    def resistance(self, square_of_speed: Scalar) -> Scalar:
        """Friction over speed, at least 0, N m s or N s/m; of the square of the speed, so that it is smooth at 0."""
        v_c, static = self.creep_speed, self.coulomb if self.static is None else self.static
        v_s = STRIBECK * v_c if self.stribeck_speed is None else self.stribeck_speed
        creeps = real_part(square_of_speed) < real_part(v_c * v_c)
        speed = sqrt(where(creeps, v_c * v_c, square_of_speed))
        over = (speed - v_c) / v_s
        slip = (self.coulomb + (static - self.coulomb) * exp(-over * over)) / speed
        creep = static * (3 - square_of_speed / (v_c * v_c)) / (2 * v_c)
        return where(creeps, creep, slip) + self.viscous

    def notes(self) -> list[str]:
        """At which speed it creeps."""
        told = f"friction '{self.name}' of joint '{self.joint}' is regularised"
        return [f"{told}: below its break-away load the joint creeps at up to {short(self.creep_speed)} m/s or rad/s"]

    @property
    def is_internal(self) -> bool:
        """It is, between the two bodies of its joint."""
        return True


def _is_ball(kind: JointKind) -> bool:
    return kind.has_quaternion and kind.nv == 3
