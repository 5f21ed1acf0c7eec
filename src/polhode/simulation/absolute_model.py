"""`ph.absolute(model)`: the same machine as bodies that fly, with all its joints as constraints; and its states."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import atan2
from typing import Any

import numpy as np

from polhode.check.given_start import start_of
from polhode.dynamics import absolute as seen
from polhode.dynamics.kinematics import frames
from polhode.errors import ModelError, message
from polhode.model import Constraint, Joint, Model, Start, check_model, make_tree, plain
from polhode.quaternion import conjugate, from_axis_angle, product, rotate, rotation_matrix, shortest_rotation
from polhode.scalar import Array, Vec, split, stack

OWN = ("stiffness", "damping", "armature")
"""What a joint may have that bodies which fly have not."""

SQUARE = 1e-9
"""The cosine up to which two axes count as across each other."""


@dataclass(frozen=True)
class AbsoluteModel:
    """A machine in absolute coordinates."""

    model: Model
    """Its q are places (x, p), its v are (ẋ, ω in body axes), of the bodies in their order."""
    source: Model
    """What it was made of."""

    def to(self, q: Array, v: Array) -> tuple[np.ndarray, np.ndarray]:
        """The state of the bodies, from one of the joints."""
        tree = make_tree(self.source)
        found = seen.bodies(tree, *(Vec(np.asarray(x, dtype=float).tolist()) for x in (q, v)))
        order = self._order(tree)
        Q, V = np.array(found.Q, dtype=float).reshape(-1, 7), np.array(found.V, dtype=float).reshape(-1, 6)
        return Q[order].ravel(), V[order].ravel()

    def back(self, Q: Array, V: Array) -> tuple[np.ndarray, np.ndarray]:
        """The state of the joints, from one of the bodies; an angle is found up to whole turns.

        Q, V  (..., 7 per body), (..., 6 per body)
        """
        tree, source = make_tree(self.source), self.source
        Q, V = np.asarray(Q, dtype=float), np.asarray(V, dtype=float)
        batch = Q.shape[:-1]
        q = np.empty((*batch, source.nq))
        for place in np.ndindex(batch):
            at = {body.name: (x[:3], x[3:]) for body, x in zip(source.bodies, Q[place].reshape(-1, 7), strict=True)}
            at["world"] = (np.zeros(3), np.array([1.0, 0, 0, 0]))
            q[place] = [x for joint in source.joints for x in _coordinates(joint, at[joint.parent], at[joint.child])]
        ordered = V.reshape(*batch, -1, 6)[..., np.argsort(self._order(tree)), :].reshape(V.shape)
        place = split(q, 1)
        P = seen.rates(tree, place, frames(tree, place))
        return q, np.asarray(stack(P @ split(ordered, 1), batch), dtype=float)

    def _order(self, tree: Any) -> list[int]:
        """For each body of the model its place in the order of the tree."""
        names = [e.body for e in tree.elements if e.body is not None]
        return [names.index(body.name) for body in self.source.bodies]


def absolute(model: Model) -> AbsoluteModel:
    """The same machine in absolute coordinates: every body on a free joint of its own, every joint a constraint.

    Stiffness, damping and armature of joints, forces and constraints on their coordinates cannot be told of bodies that
    fly, and are refused; `engine="absolute"` takes them, since it knows the state of the joints.
    """
    check_model("absolute", model)
    _check(model)
    joints = [Joint(body.name, "free", "world", body.name) for body in model.bodies]
    held = [constraint for joint in model.joints for constraint in _held(joint)]
    flying = Model(
        f"{model.name}, absolute", model.gravity, model.bodies, tuple(joints), model.forces, (*held, *model.constraints)
    )
    flight = AbsoluteModel(flying, model)
    q, v = flight.to(*start_of(model, None, None, "absolute"))
    begin = model.start
    start = Start(tuple(q), tuple(v), begin.duration if begin else None, begin.method if begin else None)
    return AbsoluteModel(replace(flying, start=start), model)


def _check(model: Model) -> None:
    where, fix = f"absolute, model '{model.name}'", "Take engine='absolute'."
    for joint in model.joints:
        for name in OWN:
            if np.any(np.array(plain(getattr(joint, name)), dtype=float) != 0):
                raise ModelError(message(f"{where}, joint '{joint.name}'", f"has {name}", "not 0", "0", fix))
        if joint.type == "universal" and abs(np.dot(_axis(joint, "axis"), _axis(joint, "axis2"))) > SQUARE:
            raise ModelError(message(f"{where}, joint '{joint.name}'", "axes not across", "universal", "90°", fix))
    for force in model.forces:
        if force.of_coordinates:
            raise ModelError(message(where, "a force of the joints' coordinates", f"'{force.name}'", "none", fix))
    for constraint in model.constraints:
        if constraint.kind.of_coordinates:
            raise ModelError(message(where, "a constraint of coordinates", f"'{constraint.name}'", "none", fix))


def _axis(joint: Joint, name: str) -> np.ndarray:
    axis = np.array(plain(getattr(joint, name)), dtype=float)
    return axis / np.linalg.norm(axis)


def _held(joint: Joint) -> Iterator[Constraint]:
    """A joint as a constraint between its bodies."""
    if joint.type == "free":
        return
    orientation = np.array(plain(joint.orientation), dtype=float)
    turn_a = turn_b = np.array([1.0, 0, 0, 0])
    if joint.type not in ("fixed", "spherical", "planar"):
        turn_a = turn_b = _turn((0.0, 0.0, 1.0), _axis(joint, "axis"))
    if joint.type == "universal":
        turn_b = _turn((1.0, 0.0, 0.0), _axis(joint, "axis2"))
    data: dict[str, Any] = {
        "body_a": joint.parent,
        "body_b": joint.child,
        "position_a": plain(joint.position),
        "orientation_a": tuple(np.array(product(orientation, turn_a)).tolist()),
        "orientation_b": tuple(turn_b.tolist()),
    }
    if joint.type == "screw":
        data["pitch"] = plain(joint.pitch)
    yield Constraint(f"joint {joint.name}", "weld" if joint.type == "fixed" else joint.type, data)


def _turn(source: tuple, target: np.ndarray) -> np.ndarray:
    """The shortest turn from one axis to another, or to its opposite where that is nearer."""
    return np.asarray(shortest_rotation(source, target if np.dot(source, target) >= 0 else -target))


Place = tuple[np.ndarray, np.ndarray]


def _coordinates(joint: Joint, parent: Place, child: Place) -> list[float]:
    """The coordinates of a joint, from the places of its two bodies."""
    turned = np.array(product(parent[1], np.array(plain(joint.orientation), dtype=float)))
    origin = parent[0] + np.array(rotate(parent[1], np.array(plain(joint.position), dtype=float)))
    r = np.array(rotate(np.array(conjugate(turned)), child[0] - origin))
    p = np.array(product(np.array(conjugate(turned)), child[1]))
    kind = joint.type
    if kind in ("fixed", "spherical", "free", "planar"):
        z = np.array([0.0, 0, 1])
        ways = {"fixed": [], "spherical": [*p], "free": [*r, *p], "planar": [*r[:2], _angle(z, p)]}
        return [float(x) for x in ways[kind]]
    axis = _axis(joint, "axis")
    if kind == "universal":
        return _two_angles(axis, _axis(joint, "axis2"), p)
    if kind == "screw" and plain(joint.pitch):
        return [float(axis @ r) / float(plain(joint.pitch))]
    angle, travel = _angle(axis, p), float(axis @ r)
    return {"prismatic": [travel], "cylindrical": [angle, travel]}.get(kind, [angle])


def _angle(axis: np.ndarray, p: np.ndarray) -> float:
    """The angle of a turn about an axis, between half turns."""
    return (2 * atan2(float(axis @ p[1:]), float(p[0])) + np.pi) % (2 * np.pi) - np.pi


def _two_angles(first: np.ndarray, second: np.ndarray, p: np.ndarray) -> list[float]:
    """The angles of a turn about an axis and then about one that it carries."""
    there = np.array(rotation_matrix(p)) @ second
    one, other = np.cross(first, second), np.cross(first, there)
    angle = atan2(float(first @ np.cross(one, other)), float(one @ other))
    left = product(np.array(conjugate(from_axis_angle(first, angle))), p)
    return [angle, _angle(second, np.array(left))]
