"""`ph.absolute(model)`: a machine in absolute coordinates, all its joints as constraints; its states there and back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from polhode.check.given_start import start_of
from polhode.dynamics import absolute as seen
from polhode.dynamics.kinematics import frames
from polhode.errors import ModelError, message
from polhode.model import Constraint, Joint, Model, Start, check_model, make_tree, plain
from polhode.model.joints.base import Element, JointKind
from polhode.model.tree import Tree
from polhode.quaternion import conjugate, product, rotate
from polhode.scalar import Array, Vec, split, stack

OWN = ("stiffness", "damping", "armature")
"""Numbers of a joint that act along its coordinates, which a model in absolute coordinates has not."""


@dataclass(frozen=True)
class AbsoluteModel:
    """A machine in absolute coordinates, and the model with joints that it was made of."""

    model: Model
    """Every body on a free joint: q holds (x, p) of each body, v its (ẋ, ω in body axes), in their order."""
    source: Model
    """The model with joints."""

    def to(self, q: Array, v: Array) -> tuple[np.ndarray, np.ndarray]:
        """Absolute coordinates (7 per body) and velocities (6 per body) of a state (nq,), (nv,) of the joints."""
        tree = make_tree(self.source)
        found = seen.bodies(tree, *(Vec(np.asarray(x, dtype=float).tolist()) for x in (q, v)))
        order = self._order(tree)
        Q, V = np.array(found.Q, dtype=float).reshape(-1, 7), np.array(found.V, dtype=float).reshape(-1, 6)
        return Q[order].ravel(), V[order].ravel()

    def back(self, Q: Array, V: Array) -> tuple[np.ndarray, np.ndarray]:
        """The state of the joints (..., nq), (..., nv), from absolute coordinates; angles up to whole turns.

        Q, V  (..., 7 per body), (..., 6 per body)
        """
        tree, source = make_tree(self.source), self.source
        Q, V = np.asarray(Q, dtype=float), np.asarray(V, dtype=float)
        batch = Q.shape[:-1]
        parts = {joint.name: [e for e in tree.elements if e.joint == joint.name] for joint in source.joints}
        q = np.empty((*batch, source.nq))
        for k in np.ndindex(batch):
            at = {body.name: (x[:3], x[3:]) for body, x in zip(source.bodies, Q[k].reshape(-1, 7), strict=True)}
            at["world"] = (np.zeros(3), np.array([1.0, 0, 0, 0]))
            q[k] = [x for j in source.joints for x in _coordinates(j.kind, parts[j.name], at[j.parent], at[j.child])]
        ordered = V.reshape(*batch, -1, 6)[..., np.argsort(self._order(tree)), :].reshape(V.shape)
        scalars = split(q, 1)
        P = seen.rates(tree, scalars, frames(tree, scalars))
        return q, np.asarray(stack(P @ split(ordered, 1), batch), dtype=float)

    def _order(self, tree: Any) -> list[int]:
        """For each body of the model its place in the order of the tree."""
        names = [e.body for e in tree.elements if e.body is not None]
        return [names.index(body.name) for body in self.source.bodies]


def absolute(model: Model) -> AbsoluteModel:
    """The same machine in absolute coordinates: every body on a free joint of its own, every joint a constraint.

    Stiffness, damping and armature of joints, forces and constraints on their coordinates have no meaning there and are
    refused; `engine="absolute"` takes them, since it knows the state of the joints.
    """
    check_model("absolute", model)
    _check(model)
    joints = [Joint(body.name, "free", "world", body.name) for body in model.bodies]
    held = _held(model, make_tree(model))
    made = Model(
        f"{model.name}, absolute", model.gravity, model.bodies, tuple(joints), model.forces,
        (*held, *model.constraints), ignored=model.ignored,
    )  # fmt: skip
    q, v = AbsoluteModel(made, model).to(*start_of(model, None, None, "absolute"))
    begin = model.start
    start = Start(tuple(q), tuple(v), begin.duration if begin else None, begin.method if begin else None)
    return AbsoluteModel(replace(made, start=start), model)


def _check(model: Model) -> None:
    where, fix = f"absolute, model '{model.name}'", "Take engine='absolute'."
    for joint in model.joints:
        for name in OWN:
            if np.any(np.array(plain(getattr(joint, name)), dtype=float) != 0):
                raise ModelError(message(f"{where}, joint '{joint.name}'", f"has {name}", "not 0", "0", fix))
    for force in model.forces:
        if force.own_states:
            raise ModelError(message(where, "a force with states of its own", f"'{force.name}'", "none", fix))
        if force.of_coordinates:
            raise ModelError(message(where, "a force of the joints' coordinates", f"'{force.name}'", "none", fix))
    for constraint in model.constraints:
        if constraint.kind.of_coordinates:
            raise ModelError(message(where, "a constraint of coordinates", f"'{constraint.name}'", "none", fix))


def _held(model: Model, tree: Tree) -> list[Constraint]:
    """The joints of a model as constraints between its bodies, in their order."""
    closed = {x.joint: x for x in seen.closed_joints(tree, {joint.name: joint.kind for joint in model.joints})}
    found = [closed[joint.name] for joint in model.joints if joint.name in closed]
    return [Constraint(x.name, x.kind.name, _plain_data(x.data)) for x in found]


def _plain_data(data: Mapping[str, Any]) -> dict[str, Any]:
    """The data of a constraint with tuples in the place of vectors."""
    return {key: tuple(value) if isinstance(value, Vec) else value for key, value in data.items()}


Place = tuple[np.ndarray, np.ndarray]


def _coordinates(kind: JointKind, elements: Sequence[Element], parent: Place, child: Place) -> list[float]:
    """The coordinates of a joint, from the places of its two bodies."""
    first = elements[0]
    turned = np.array(product(parent[1], np.array(first.orientation, dtype=float)))
    origin = parent[0] + np.array(rotate(parent[1], np.array(first.position, dtype=float)))
    r = np.array(rotate(np.array(conjugate(turned)), child[0] - origin))
    p = np.array(product(np.array(conjugate(turned)), child[1]))
    return kind.from_pose(elements, r, p)
