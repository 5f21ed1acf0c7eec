"""A tree seen from its bodies: where each is and how it moves, its joints as conditions, its rates from theirs.

Velocities of the bodies are V = (ẋ of the origin, ω in body axes), 6 each, in the order of `model.flown`. With
V = J v:  v = P V, P J = 1, and  V̇ = J v̇ + J̇ v.                                              BEYOND §4
"""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

from polhode.dynamics.forward import small_inverse
from polhode.dynamics.kinematics import accelerations, frames, orientations, unit_motions, velocities
from polhode.model import Element, Tree
from polhode.model.constraints.base import BodyConstraint, ConstraintCondition
from polhode.model.constraints.frames import MovingFrame, end
from polhode.model.constraints.loop_joints import LENGTHS
from polhode.model.constraints.registry import CONSTRAINTS
from polhode.model.joints.base import UPRIGHT
from polhode.model.state import MachineState
from polhode.model.tree import GROUND
from polhode.quaternion import product, shortest_rotation, skew
from polhode.scalar import Scalar, Vec, cross, dot, square, where
from polhode.spatial import Frame, Z

KINDS = {"fixed": "weld"}
"""Joints of a tree whose name as a constraint is another."""


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


def joints(tree: Tree, types: dict[str, str]) -> list[ConstraintCondition]:
    """The joints of a tree as conditions between its bodies; types: of the joints by name. A free joint has none."""
    made = [_condition(tree, [tree.elements[i] for i in joint], types) for joint in _joints(tree)]
    return [condition for condition in made if condition]


def _condition(tree: Tree, elements: Sequence[Element], types: dict[str, str]) -> ConstraintCondition | None:
    first, last = elements[0], elements[-1]
    kind = types[first.joint]
    if kind == "free":
        return None
    parent = tree.elements[first.parent].body if first.parent != GROUND else "world"
    to_axis = _from_z(first.axis) if kind in ("revolute", "prismatic", "screw", "cylindrical", "universal") else UPRIGHT
    a = {"body_a": parent, "position_a": first.position, "orientation_a": product(first.orientation, to_axis)}
    b = {"body_b": last.body, "orientation_b": to_axis}
    data = {**a, **b, **first.numbers}
    if kind == "universal":
        return _universal(first, last, data)
    closing = CONSTRAINTS[KINDS.get(kind, kind)]
    assert isinstance(closing, BodyConstraint)
    residual = lambda s: closing.positions(end(data, "a", s), end(data, "b", s), data)  # noqa: E731
    return ConstraintCondition(f"joint {first.joint}", closing.rows, True, residual, ("length",) * len(closing.rows))


def _universal(first: Element, last: Element, data: dict) -> ConstraintCondition:
    """Two axes that keep their angle, right or not."""
    angle = dot(first.axis, last.axis)

    def residual(s: MachineState) -> Vec:
        a: MovingFrame = end({**data, "orientation_a": first.orientation}, "a", s)
        b: MovingFrame = end({**data, "orientation_b": UPRIGHT}, "b", s)
        return Vec((*(a.R.T @ (b.o - a.o)), dot(a.R @ first.axis, b.R @ last.axis) - angle))

    return ConstraintCondition(f"joint {first.joint}", (*LENGTHS, "turn z"), True, residual, ("length",) * 4)


def _from_z(axis: Vec) -> Vec:
    """The quaternion of the shortest turn that takes z to an axis, or to its opposite where that is nearer."""
    return shortest_rotation(Z, where(axis[2] < 0, -axis, axis))
