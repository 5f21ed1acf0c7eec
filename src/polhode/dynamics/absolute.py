"""A tree seen from its bodies: where each is and how it moves, its joints as conditions, its rates from theirs.

Velocities of the bodies are V = (ẋ of the origin, ω in body axes), 6 each, in the order of `free_bodies`. With
V = J v:  v = P V, P J = 1, and  V̇ = J v̇ + J̇ v.                                              BEYOND §4
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from polhode.dynamics.forward import small_inverse
from polhode.dynamics.kinematics import accelerations, frames, orientations, unit_motions, velocities
from polhode.model.constraints.base import BodyConstraint, ConstraintCondition
from polhode.model.constraints.frames import end
from polhode.model.constraints.registry import CONSTRAINTS
from polhode.model.joints.base import Element, JointKind
from polhode.model.joints.registry import JOINTS
from polhode.model.parts import Joint
from polhode.model.topology import WORLD
from polhode.model.tree import GROUND, Numbers, Tree, joint_elements
from polhode.quaternion import product, skew
from polhode.scalar import Scalar, Vec, cross, dot, square
from polhode.spatial import Frame


class Bodies(NamedTuple):
    """Places (position, quaternion) and velocities (ẋ, ω in body axes) of all bodies, 7 and 6 numbers each."""

    Q: Vec
    V: Vec


def bodies(tree: Tree, q: Vec, v: Vec) -> Bodies:
    """Where the bodies of a tree are, and how they move."""
    at, turned = frames(tree, q), orientations(tree, q)
    moving = velocities(tree, q, at, v)
    Q: list[Scalar] = []
    V: list[Scalar] = []
    for i, e in enumerate(tree.elements):
        if e.body is not None:
            Q += [*at[i].o, *turned[i]]
            V += [*moving[i].linear, *(at[i].R.T @ moving[i].angular)]
    nothing = 0.0 * q[0]  # of the kind of q, so that conditions can be derived along each number
    return Bodies(Vec([x + nothing for x in Q]), Vec([x + nothing for x in V]))


def turning(tree: Tree, q: Vec, at: list[Frame], v: Vec) -> Vec:
    """J̇ v: the accelerations of the bodies at v̇ = 0."""
    found: list[Scalar] = []
    for i, a in enumerate(accelerations(tree, q, at, v, Vec([0.0] * tree.nv))):
        if tree.elements[i].body is not None:
            found += [*a.linear, *(at[i].R.T @ a.angular)]
    return Vec(found)


def rates(tree: Tree, q: Vec, at: list[Frame]) -> Vec:
    """P: the velocities of the joints from those of the bodies, nv rows of 6 numbers a body."""
    motions = unit_motions(tree, q, at)
    place = {i: 6 * k for k, i in enumerate(i for i, e in enumerate(tree.elements) if e.body is not None)}
    found: list[list[Scalar]] = [[0.0] * (6 * len(place)) for _ in range(tree.nv)]
    for joint in _joints(tree):
        child, parent = joint[-1], tree.elements[joint[0]].parent
        dofs = [a for i in joint for a in tree.elements[i].v]
        o = at[child].o
        S = [Vec((*(cross(motions[a].w, o - motions[a].o) + motions[a].l), *motions[a].w)) for a in dofs]
        across = _orthogonal([tree.elements[i] for i in joint])
        for a, G in zip(dofs, _left_inverse(S, across), strict=True):
            linear, angular = Vec(G[:3]), Vec(G[3:])
            found[a][place[child] : place[child] + 6] = [*linear, *(angular @ at[child].R)]
            if parent != GROUND:
                arm = linear @ skew(o - at[parent].o)
                found[a][place[parent] : place[parent] + 6] = [*-linear, *((arm - angular) @ at[parent].R)]
    return Vec([Vec(row) for row in found])


def _left_inverse(S: list[Vec], across: bool) -> list[Vec]:
    """(SᵀS)⁻¹Sᵀ of the unit motions of a joint, as twists at the child's origin; across: they are orthogonal."""
    if len(S) < 2 or across:
        return [s / square(s) for s in S]
    return [*(small_inverse(Vec([Vec([dot(a, b) for b in S]) for a in S])) @ Vec(S))]


def _orthogonal(joint: Sequence[Element]) -> bool:
    """Whether the unit motions of a joint are known to be orthogonal: slides across each other, then one turn."""
    *slides, last = joint
    lines = [e.axis for e in (*slides, last) if not e.kind.turns and e.v]
    known = all(isinstance(x, float) for axis in lines for x in axis)
    square_on = known and all(dot(a, b) == 0 for a, b in combinations(lines, 2))
    return square_on and not any(e.kind.turns for e in slides) and last.kind.constant


def _joints(tree: Tree) -> list[list[int]]:
    """The elements of each joint, up to the one that carries its body."""
    found: list[list[int]] = [[]]
    for i, e in enumerate(tree.elements):
        found[-1].append(i)
        if e.body is not None:
            found.append([])
    return found[:-1]


def free_bodies(tree: Tree) -> Tree:
    """The bodies of a tree in its order, each on a free joint of its own; gravity acts, no other force. Inertia that
    couples bodies stays."""
    elements: list[Element] = []
    of_body = {WORLD: GROUND}
    free = JOINTS["free"]
    for e in tree.elements:
        if e.body is None:
            continue
        count = len(of_body) - 1
        joint = Joint(e.body, "free", WORLD, e.body)
        at = len(elements), free.nq * count, free.nv * count
        elements += joint_elements(joint, GROUND, *at, e.inertia, Numbers({}))
        of_body[e.body] = len(elements) - 1
    count = len(of_body) - 1
    coupling = tuple(force for force in tree.forces if force.inertia_bodies)
    return Tree(
        tree.name, tree.gravity, tuple(elements), of_body, coupling, free.nq * count, free.nv * count, tree.constraints
    )


class ClosedJoint(NamedTuple):
    """A joint of a tree as a constraint between its two bodies: its kind and its data."""

    joint: str
    kind: BodyConstraint
    data: dict[str, Any]

    @property
    def name(self) -> str:
        """What the constraint is called."""
        return f"joint {self.joint}"

    def condition(self) -> ConstraintCondition:
        """Its residual."""
        kind, data, rows = self.kind, self.data, self.kind.rows
        residual = lambda s: kind.positions(end(data, "a", s), end(data, "b", s), data)  # noqa: E731
        return ConstraintCondition(self.name, rows, True, residual, ("length",) * len(rows))


def closed_joints(tree: Tree, kinds: Mapping[str, JointKind]) -> list[ClosedJoint]:
    """The joints of a tree as constraints; a free joint is none.  kinds: of the joints by name"""
    found = []
    for joint in _joints(tree):
        elements = [tree.elements[i] for i in joint]
        first, last = elements[0], elements[-1]
        closing = kinds[first.joint].closing(elements)
        if closing is None:
            continue
        kind = CONSTRAINTS[closing.constraint]
        assert isinstance(kind, BodyConstraint)
        data = {
            "body_a": tree.elements[first.parent].body if first.parent != GROUND else WORLD,
            "body_b": last.body,
            "position_a": first.position,
            "orientation_a": product(first.orientation, closing.turn_a),
            "orientation_b": closing.turn_b,
            **closing.data,
        }
        found.append(ClosedJoint(first.joint, kind, data))
    return found
