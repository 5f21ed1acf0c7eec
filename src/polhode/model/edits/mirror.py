"""The mirror image of a machine: a left arm of a right one.

Points are reflected, x → H x with H = I − 2 n nᵀ, in the world and in the axes of every body alike; so are
directions, and what turns, an axial vector, becomes −H ω. Where the child of a planar joint would leave its plane of
coordinates, its axes are reflected in that plane instead.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from polhode.errors import InputError, ModelError, message
from polhode.model.constraints.base import BodyConstraint
from polhode.model.constraints.constraint import Constraint
from polhode.model.edits.carry import SIDES, Faults, NotCarried, frame_attitude, refuse_functions, refuse_modal
from polhode.model.edits.mount import made_body, unit_quaternion
from polhode.model.edits.states import NamedState, bare, by_joint, start_state, started
from polhode.model.forces.backlash import Backlash
from polhode.model.forces.base import ForceElement
from polhode.model.forces.beam_element import BeamElement
from polhode.model.forces.beam_inertia import BeamInertia
from polhode.model.forces.body_force import BodyForce
from polhode.model.forces.bushing import Bushing
from polhode.model.forces.force import Force
from polhode.model.forces.impact_stop import ImpactStop
from polhode.model.forces.joint_friction import JointFriction
from polhode.model.forces.joint_lock import JointLock
from polhode.model.forces.joint_stop import JointStop
from polhode.model.forces.spring import Spring
from polhode.model.forces.thrust import Thrust
from polhode.model.forces.torsion_spring import TorsionSpring
from polhode.model.numbers import direction, plain
from polhode.model.parts import LIMITS, Body, BodyFrame, Joint, limit_pairs
from polhode.model.shapes import BodyShape
from polhode.model.topology import WORLD
from polhode.model.user_kinds import is_by_user
from polhode.quaternion import rotation_matrix

FRAME = np.diag([1.0, -1.0, 1.0])
"""How the frames of constraints and bushings are reflected: their x and z axes are images, y is not."""

SIGNS: dict[str, tuple[float, ...]] = {
    "fixed": (), "revolute": (1.0,), "prismatic": (1.0,), "screw": (1.0,), "cylindrical": (1.0, -1.0),
    "universal": (1.0, 1.0),
}  # fmt: skip
"""What the coordinates of joints along axes become, times themselves."""

WITH_QUATERNION = ("spherical", "free")


def mirrored(model: Any, normal: Any, drop: bool = False) -> Any:
    """The Model that is the mirror image of another; see `Model.mirrored`."""
    where = f"mirrored, model '{model.name}'"
    refuse_modal(where, model.joints)
    try:
        n = np.array(plain(direction(where, "normal", normal)), dtype=float)
    except ModelError as error:
        raise InputError(str(error)) from None
    return _Mirror.of(where, model, n / np.linalg.norm(n)).image(model, drop)


@dataclass(frozen=True)
class _Mirror:
    """The reflection of a model.

    of_body  how components in the axes of each body are reflected, (3, 3); the world among them
    signs    what the coordinates of each joint without a quaternion become, times themselves
    """

    where: str
    of_body: Mapping[str, np.ndarray]
    signs: Mapping[str, tuple[float, ...]]

    @classmethod
    def of(cls, where: str, model: Any, n: np.ndarray) -> "_Mirror":
        H = np.eye(3) - 2 * np.outer(n, n)
        H = np.where(abs(H - np.round(H)) < 1e-15, np.round(H), H)
        is_diagonal = np.count_nonzero(H) == 3
        of_body, signs = {WORLD: H}, dict[str, tuple[float, ...]]()
        for joint in model.joints:
            S = np.diag([1.0, 1.0, -1.0]) if joint.type == "planar" and not is_diagonal else H
            of_body[joint.child] = S
            if joint.type == "planar":
                signs[joint.name] = (S[0, 0], S[1, 1], -S[2, 2])
            elif joint.type in SIGNS:
                signs[joint.name] = SIGNS[joint.type]
            elif joint.type not in WITH_QUATERNION:
                expected = ", ".join([*SIGNS, "planar", *WITH_QUATERNION])
                raise ModelError(message(f"{where}, joint '{joint.name}'", "has no image", joint.type, expected))
        return cls(where, of_body, signs)

    def polar(self, body: str, x: Any) -> tuple[float, ...]:
        """The image of a point or a direction in the axes of a body."""
        return _floats(self.of_body[body] @ np.array(plain(tuple(x)), dtype=float))

    def axial(self, body: str, x: Any) -> tuple[float, ...]:
        """The image of an axis of rotation, or of a torque."""
        return _floats(-self.of_body[body] @ np.array(plain(tuple(x)), dtype=float))

    def attitude(self, body: str, p: Any, S: np.ndarray) -> tuple[float, ...]:
        """The image of a frame on a body.  S: how components in the frame are reflected"""
        R = np.array(rotation_matrix(np.array(plain(tuple(p)), dtype=float)))
        return unit_quaternion(self.of_body[body] @ R @ S)

    def frame(self, frame: BodyFrame) -> BodyFrame:
        """The image of a named frame: its x and z axes are images, y is not."""
        orientation = self.attitude(frame.body, frame.orientation, FRAME)
        return BodyFrame(frame.name, frame.body, self.polar(frame.body, frame.position), orientation)

    def shape(self, shape: BodyShape) -> BodyShape:
        """The image of a shape, which is its own image in its xz plane."""
        orientation = self.attitude(shape.body, shape.orientation, FRAME)
        return replace(shape, position=self.polar(shape.body, shape.position), orientation=orientation)

    def image(self, model: Any, drop: bool) -> Any:
        """The image of a model."""
        faults = Faults(self.where, drop)
        forces, constraints = [], []
        for force in model.forces:
            try:
                forces.append(self.force(force))
            except NotCarried as reason:
                faults.note(force, reason)
        for constraint in model.constraints:
            try:
                constraints.append(self.constraint(constraint))
            except NotCarried as reason:
                faults.note(constraint, reason)
        faults.end()
        made = bare(
            model,
            gravity=self.polar(WORLD, model.gravity),
            bodies=[self.body(body) for body in model.bodies],
            joints=[self.joint(joint) for joint in model.joints],
            forces=forces,
            constraints=constraints,
            frames=[self.frame(frame) for frame in model.frames],
            shapes=[self.shape(shape) for shape in model.shapes if not shape.file],  # files have no image
        )
        state, kinds = start_state(model), {joint.name: joint for joint in model.joints}
        q = {name: self.q(kinds[name], x) for name, x in state.q.items()} if state.q is not None else None
        v = {name: self.v(kinds[name], x) for name, x in state.v.items()} if state.v is not None else None
        configurations = {
            name: {joint: self.q(kinds[joint], x) for joint, x in by_joint(model, given).items()}
            for name, given in model.configurations.items()
        }
        return started(made, NamedState(q, v, state.own), model.start, configurations)

    def q(self, joint: Joint, q: tuple[float, ...]) -> tuple[float, ...]:
        """The coordinates of a joint in the image."""
        if joint.name in self.signs:
            return _times(self.signs[joint.name], q)
        return (*self.polar(joint.child, q[:3])[: len(q) - 4], q[-4], *self.axial(joint.child, q[-3:]))

    def v(self, joint: Joint, v: tuple[float, ...]) -> tuple[float, ...]:
        """The velocities of a joint in the image."""
        if joint.name in self.signs:
            return _times(self.signs[joint.name], v)
        return (*self.polar(joint.child, v[:3])[: len(v) - 3], *self.axial(joint.child, v[-3:]))

    def body(self, body: Body) -> Body:
        """A body."""
        J, center, S = body.inertia, self.polar(body.name, body.center), self.of_body[body.name]
        if isinstance(J[0], tuple) or np.count_nonzero(S) > 3:  # across no axis of the body: its moments get products
            image = S @ body.inertia_matrix() @ S.T
            J = tuple(_floats(row) for row in (image + image.T) / 2)
        return made_body(body.name, body.mass, J, center, body.physical)

    def joint(self, joint: Joint) -> Joint:
        """A joint."""
        S = self.of_body[joint.child]
        values: dict[str, Any] = {
            "position": self.polar(joint.parent, joint.position),
            "orientation": self.attitude(joint.parent, joint.orientation, S),
        }
        if joint.type == "prismatic":
            values["axis"] = self.polar(joint.child, joint.axis)
        elif joint.kind.uses_axis:
            values["axis"] = self.axial(joint.child, joint.axis)
        if joint.axis2 is not None:
            values["axis2"] = self.axial(joint.child, joint.axis2)
        if joint.pitch is not None:
            values["pitch"] = -plain(joint.pitch)
        signs = self.signs.get(joint.name, ())
        if any(sign < 0 for sign in signs):
            values |= _limits(joint, signs)
            if any(np.atleast_1d(plain(joint.rest))):
                values["rest"] = _times(signs, _each(joint.rest, joint.nv))
        if joint.type in WITH_QUATERNION:
            self._refuse_uneven(joint)
        return replace(joint, **values)

    def _refuse_uneven(self, joint: Joint) -> None:
        """Refuse damping that differs between directions that are reflected into one another."""
        if isinstance(joint.damping, tuple) and np.count_nonzero(self.of_body[joint.child]) > 3:
            place, found = f"{self.where}, joint '{joint.name}', damping", f"{plain(joint.damping)}"
            raise ModelError(message(place, "has no image about this plane", found, "one number for all"))

    def force(self, force: ForceElement) -> ForceElement:
        """A force element."""
        refuse_functions(force)
        if isinstance(force, (Spring, Bushing, TorsionSpring, BeamElement, BeamInertia)):
            return replace(force, **self._between(force))
        if isinstance(force, Force):
            return replace(force, **self._load(force))
        if isinstance(force, Thrust):
            at: dict[str, Any] = {
                "point": self.polar(force.body, force.point),
                "direction": self.polar(force.body, force.direction),
            }
            return replace(force, **at)
        if isinstance(force, Backlash):
            return self._backlash(force)
        if isinstance(force, (JointStop, ImpactStop)):
            if self._sign(force.joint, force.axis) < 0:
                lower, upper = -plain(force.upper), -plain(force.lower)
                return replace(force, lower=lower, upper=upper)
            return force
        if isinstance(force, JointFriction):
            if plain(force.drive_speed) and self._sign(force.joint, force.axis) < 0:
                return replace(force, drive_speed=-plain(force.drive_speed))
            return force
        if isinstance(force, JointLock):
            return force
        raise NotCarried("its function has no image" if isinstance(force, BodyForce) else "its kind has no image")

    def _sign(self, joint: str, axis: int = 0) -> float:
        """What a coordinate of a joint becomes, times itself."""
        return self.signs[joint][axis] if joint in self.signs else 1.0

    def _between(self, force: Any) -> dict[str, Any]:
        """The fields of an element between frames on two bodies. A torsion spring keeps its angle and a spring its
        length, so that their laws stay."""
        found: dict[str, Any] = {}
        if isinstance(force, TorsionSpring) and force.joint is not None:
            return found
        for side in SIDES:
            body = getattr(force, f"body_{side}")
            if f"point_{side}" in force.keys:
                found[f"point_{side}"] = self.polar(body, getattr(force, f"point_{side}"))
            if f"orientation_{side}" in force.keys:
                found[f"orientation_{side}"] = self.attitude(body, getattr(force, f"orientation_{side}"), FRAME)
        if isinstance(force, TorsionSpring):
            found["axis"] = _floats(-FRAME @ np.array(plain(force.axis)))
        if isinstance(force, BeamElement):  # torsion, and bending in the plane of y, change their signs
            found["prestrain"] = _times((1.0, -1.0, 1.0, 1.0, -1.0, -1.0), force.prestrain)
            in_section = _floats(FRAME @ np.array(plain(tuple(force.load)), dtype=float))
            found["load"] = in_section if force.follower else self.polar(WORLD, force.load)
        if isinstance(force, Bushing):
            signs = np.concatenate([FRAME.diagonal(), -FRAME.diagonal()])
            for name in ("stiffness", "damping"):
                K = np.array(plain(getattr(force, name)), dtype=float)
                if K.ndim == 2:
                    found[name] = tuple(_floats(row) for row in K * np.outer(signs, signs))
        return found

    def _load(self, force: Force) -> dict[str, Any]:
        """The fields of a force and a couple on a body."""
        if callable(force.force) or callable(force.torque):
            raise NotCarried("its function of time has no image")
        axes = WORLD if force.axes == "world" else force.body
        return {
            "point": self.polar(force.body, force.point),
            "force": self.polar(axes, force.force),
            "torque": self.axial(axes, force.torque),
        }

    def _backlash(self, force: Backlash) -> Backlash:
        own, other = self._sign(force.joint), self._sign(force.other) if force.other else 1.0
        return replace(force, ratio=own * other * plain(force.ratio), offset=own * plain(force.offset))

    def constraint(self, constraint: Constraint) -> Constraint:
        """A constraint."""
        kind, data = constraint.kind, dict(constraint.data)
        if any(map(callable, data.values())) and constraint.type != "prescribed":
            raise NotCarried("its function has no image")
        if constraint.type in ("mimic", "gear"):
            data |= self._follower(data)
        elif constraint.type == "prescribed":
            if self._sign(data["joint"]) < 0:
                raise NotCarried("its coordinate changes its sign")
        elif isinstance(kind, BodyConstraint) and not is_by_user(type(kind)):
            data = self._ends(data)
            if "pitch" in data:
                data["pitch"] = -plain(data["pitch"])
        else:
            raise NotCarried("its kind has no image")
        return Constraint(constraint.name, constraint.type, data)

    def _follower(self, data: Mapping[str, Any]) -> dict[str, Any]:
        joint, source = self._sign(data["joint"]), self._sign(data["source"])
        if "polynomial" in data:
            return {"polynomial": tuple(joint * source**k * c for k, c in enumerate(plain(data["polynomial"])))}
        return {
            "multiplier": joint * source * plain(data.get("multiplier", 1.0)),
            "offset": joint * plain(data.get("offset", 0.0)),
        }

    def _ends(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """The data of a constraint between frames on two bodies."""
        found = {key: value for key, value in data.items() if key not in ("axis_a", "axis_b")}
        for side in SIDES:
            body = data.get(f"body_{side}", WORLD)
            if f"position_{side}" in data:
                found[f"position_{side}"] = self.polar(body, data[f"position_{side}"])
            found[f"orientation_{side}"] = self.attitude(body, frame_attitude(data, side), FRAME)
        return found


def _floats(x: Sequence) -> tuple[float, ...]:
    return tuple(float(a) + 0.0 for a in x)


def _times(signs: Sequence[float], values: Sequence[Any]) -> tuple[float, ...]:
    return tuple(sign * plain(x) + 0.0 for sign, x in zip(signs, values, strict=True))


def _each(value: Any, size: int) -> tuple:
    return value if isinstance(value, tuple) else (value,) * size


def _limits(joint: Joint, signs: Sequence[float]) -> dict[str, Any]:
    """The limits of a joint, those of coordinates that change their sign the other way round."""
    pairs = limit_pairs(joint.lower, joint.upper)
    pairs = pairs * joint.nv if len(pairs) == 1 else pairs
    turned = [(-b, -a) if sign < 0 else (a, b) for sign, (a, b) in zip(signs, pairs, strict=True)]
    return {name: tuple(pair[k] for pair in turned) for k, name in enumerate(LIMITS)}
