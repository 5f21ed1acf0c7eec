"""Dry friction in a joint: Coulomb, Stribeck and viscous; regularised with a stated creep speed, or exact by events."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from polhode.errors import ModelError, message
from polhode.model.forces.base import ElementEvent, ForceElement, Hold, Jump
from polhode.model.forces.joint_axis import along_axes, axis_of, check_axis
from polhode.model.joints.base import JointKind
from polhode.model.keys import ABOVE_ZERO, AT_LEAST_ZERO, Key
from polhode.model.numbers import plain, short
from polhode.model.reflection import Reflection
from polhode.model.state import MachineState
from polhode.scalar import Scalar, Vec, exp, real_part, sqrt, square, where

CREEP = 1e-3
"""The creep speed unless given, rad/s or m/s: an explicit method takes steps of about 2 m v_c/F_s, for a mass m."""

STRIBECK = 10.0
"""The Stribeck speed unless given, in creep speeds."""

STILL = 1e-12
"""A relative speed up to this, rad/s or m/s, is none, by rounding."""


@dataclass(frozen=True)
class JointFriction(ForceElement):
    """Friction along an axis of a joint, or in a spherical joint, against its velocity u, regularised:

        F(u) = F_s (3 − (u/v_c)²) u/(2 v_c)                        |u| ≤ v_c, creep
        F(u) = ±(F_c + (F_s − F_c) exp(−((|u| − v_c)/v_s)²))       beyond, slip
        force = −F(u) − viscous u

    F has a continuous slope, and reaches the break-away force F_s at the creep speed: a joint under a smaller load f
    creeps at v_c 2 sin(asin(f/F_s)/3), less than v_c, where it would stick.

    By events it is exact: the axis sticks, held until its load exceeds F_s, or slips with

        F(u) = ±(F_c + (F_s − F_c) exp(−(|u|/v_s)²)),  F_c at once where v_s is not given

    until u passes 0. Then it sticks again, and slips the other way at once where its load exceeds F_s. The mode `slip`
    is 0 or the sign of u; events are recorded as "name.slips" and "name.sticks".

    coulomb         F_c, N m or N
    static          F_s, at least F_c; F_c unless given
    stribeck_speed  v_s, over which F falls from F_s to F_c, rad/s or m/s; 10 creep speeds unless given
    viscous         N m s or N s/m
    creep_speed     v_c, rad/s or m/s; 1e-3 unless given. Small ones make the motion stiff: steps of explicit methods
                    are at most about 2 m v_c/F_s
    axis            the place of the axis among those of a joint that has several
    method          "regularised", or "events"
    coefficient     μ: friction has a further part, ±μ N, or ±μ N r about an axis, by the normal force N of the joint:
                    what it bears but for the part along an axis that slides, solved for with the acceleration. It
                    adds to F_s as to F_c. Where N has no or several solutions (Painlevé) a run ends with that reason
    radius          r, at which the joint rubs about its axis, m
    drive_speed     of what rubs on the axis, as a belt, rad/s or m/s: u is its velocity less this
    """

    name: str
    joint: str
    coulomb: Scalar
    static: Scalar = None
    stribeck_speed: Scalar = None
    viscous: Scalar = 0.0
    creep_speed: Scalar = CREEP
    axis: int = 0
    method: str = "regularised"
    drive_speed: Scalar = 0.0
    coefficient: Scalar = None
    radius: Scalar = None

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
        "method": Key("word", "regularised unless given, or by events", choices=("regularised", "events")),
        "drive_speed": Key("number", "of what rubs on the axis, rad/s or m/s; 0 unless given", "rad/s or m/s", "v_d"),
        "coefficient": Key("number", "of its normal force; none unless given", "1", "mu", range=AT_LEAST_ZERO),
        "radius": Key("number", "at which it rubs about its axis, m", "m", "r_f", range=ABOVE_ZERO),
    }  # fmt: skip
    changes_energy = "friction"
    passes_impulses = False

    @property
    def modes(self) -> Mapping[str, str]:  # type: ignore[override]
        """By events: 0 where it sticks, else the direction of slip."""
        return {"slip": "1"} if self.method == "events" else {}

    def check(self, where: str) -> None:
        """Refuse less friction at rest than in slip."""
        if self.static is not None and plain(self.static) < plain(self.coulomb):
            found, expected = short(self.static), f"at least that of slip, coulomb = {short(self.coulomb)}"
            raise ModelError(message(f"{where}, static", "smaller than in slip", found, expected))
        if self.radius is not None and self.coefficient is None:
            raise ModelError(message(f"{where}, radius", "without a coefficient", short(self.radius), "both"))

    def check_joint(self, where: str, joint: str, kind: JointKind) -> None:
        """Of a joint with a quaternion only the spherical one, whose friction is against its angular velocity."""
        if self.coefficient is not None:
            (element, _), *more = kind.elements
            if more or element.numbers or not (element.one_axis and element.constant):
                found = f"'{joint}', {kind.name}"
                raise ModelError(message(f"{where}, coefficient", "no normal force", found, "revolute or prismatic"))
            turns = element.turns
            if turns != (self.radius is not None):
                found = "none" if self.radius is None else f"{short(self.radius)} m of a {kind.name} joint"
                expected = "that at which a revolute joint rubs" if turns else "none: it slides"
                raise ModelError(message(f"{where}, radius", "does not fit", found, expected))
        if self.method == "events" or not _is_ball(kind):
            check_axis(where, joint, kind, self.axis)
        elif self.axis:
            found = f"{self.axis} of '{joint}', spherical"
            raise ModelError(message(f"{where}, axis", "no such axis", found, "none: it is the same about every axis"))

    def generalized(self, state: MachineState) -> Sequence[Scalar]:
        """The friction against the velocity of the axis, or against the angular velocity."""
        if self.method == "events":
            return along_axes(state, (self.joint, self.axis, self._force_of_slip(state)))
        places = state.rates_of_joint[self.joint]
        is_ball = len(state.of_joint[self.joint]) > len(places)
        acted = places if is_ball else places[self.axis : self.axis + 1]
        u = Vec([state.v[k] if is_ball else state.v[k] - self.drive_speed for k in acted])
        resistance = self.resistance(square(u))
        if self.coefficient is not None:
            resistance = resistance + self._by_normal_force(state) * self._direction(square(u))
        force = -resistance * u
        tau: list[Scalar] = [0.0] * len(state.v)
        for k, f in zip(acted, force, strict=True):
            tau[k] = f
        return tau

    @property
    def loaded_joints(self) -> Sequence[str]:
        """Its joint, where there is a coefficient."""
        return () if self.coefficient is None else (self.joint,)

    def _by_normal_force(self, state: MachineState) -> Scalar:
        """The part of friction by the normal force of the joint, N m or N, at least 0."""
        if self.coefficient is None:
            return 0.0
        return self.coefficient * (1.0 if self.radius is None else self.radius) * state.normal(self.joint)

    def _direction(self, square_of_speed: Scalar) -> Scalar:
        """The regularised sign of the speed, over the speed."""
        v_c = self.creep_speed
        creeps = real_part(square_of_speed) < real_part(v_c * v_c)
        creep = (3 - square_of_speed / (v_c * v_c)) / (2 * v_c)
        return where(creeps, creep, 1 / sqrt(where(creeps, v_c * v_c, square_of_speed)))

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

    # by events

    def _slip(self, state: MachineState) -> Scalar:
        """−1, 0 or 1: the direction of slip."""
        (slip,) = state.own(self)
        return where(real_part(slip) > 0.5, 1.0, where(real_part(slip) < -0.5, -1.0, 0.0))

    def _speed(self, state: MachineState) -> Scalar:
        return axis_of(state, self.joint, self.axis).v - self.drive_speed

    def _force_of_slip(self, state: MachineState) -> Scalar:
        slip, u, force = self._slip(state), self._speed(state), self.coulomb
        if self.static is not None and self.stribeck_speed is not None:
            over = u / self.stribeck_speed
            force = force + (self.static - force) * exp(-over * over)
        force = force + self._by_normal_force(state)
        return -slip * force - slip * slip * self.viscous * u

    def holds(self, own: Vec) -> Iterable[Hold]:
        """The axis, where it sticks."""
        if self.method == "events":
            yield Hold(self.joint, self.axis, where(own[0] * own[0] < 0.25, 1.0, 0.0))

    def events(self) -> Sequence[ElementEvent]:
        """Slip where the load exceeds static friction, and sticking where the velocity passes that of the drive."""
        if self.method != "events":
            return ()
        return ElementEvent("sticks", self._reversed, self._stick), ElementEvent("slips", self._overloaded, self._start)

    def _reversed(self, state: MachineState) -> Scalar:
        slip = self._slip(state)
        return where(slip * slip > 0.5, -slip * self._speed(state), -1.0)

    def _stick(self, state: MachineState) -> Jump:
        return Jump({"slip": 0.0}, [(self.joint, self.axis, self.drive_speed)])

    def _overloaded(self, state: MachineState) -> Scalar:
        slip, static = self._slip(state), self.coulomb if self.static is None else self.static
        static = static + self._by_normal_force(state)
        return where(slip * slip > 0.5, -1.0, abs(state.load(self.joint, self.axis)) - static)

    def _start(self, state: MachineState) -> Jump:
        return Jump({"slip": math.copysign(1.0, state.load(self.joint, self.axis))})

    def settled(self, state: MachineState) -> Mapping[str, float]:
        """It slips where it moves."""
        if self.method != "events" or not abs(u := self._speed(state)) > STILL:
            return {}
        return {"slip": math.copysign(1.0, u)}

    def notes(self) -> list[str]:
        """At which speed it creeps."""
        if self.method == "events":
            return []
        told = f"friction '{self.name}' of joint '{self.joint}' is regularised"
        return [f"{told}: below its break-away load the joint creeps at up to {short(self.creep_speed)} m/s or rad/s"]

    @property
    def is_internal(self) -> bool:
        """It is, between the two bodies of its joint."""
        return True

    def reflected(self, mirror: Reflection) -> dict[str, Any]:
        """The speed of its drive, where the coordinate changes its sign."""
        if plain(self.drive_speed) and mirror.sign(self.joint, self.axis) < 0:
            return {"drive_speed": -plain(self.drive_speed)}
        return {}


def _is_ball(kind: JointKind) -> bool:
    return kind.has_quaternion and kind.nv == 3
