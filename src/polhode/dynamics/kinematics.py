"""Where the bodies of a tree are and how they move: placements, poses, velocities, Jacobians.

Each pass is a step from an element's parent to the element. The state of the ground is at rest at the
world's origin.
"""

from typing import NamedTuple

from polhode.model import Element, Tree
from polhode.model.state import MachineState
from polhode.model.tree import GROUND, ORIGIN
from polhode.quaternion import conjugate, exp, log, product, rotation_matrix_homogeneous
from polhode.scalar import Scalar, Vec, cos, cross, identity, sin, where
from polhode.spatial import AT_REST, WORLD_FRAME, Frame, Placement, Twist


class UnitMotion(NamedTuple):
    """What one velocity component moves: a point x has the velocity w × (x − o) + l."""

    element: int
    w: Vec
    l: Vec
    o: Vec


def placement(e: Element, q: Vec) -> Placement:
    """Where an element's frame is in its parent's, at the coordinates q of the whole tree."""
    C0, C1, C2 = e.turning
    if e.kind == "revolute":
        angle = q[e.q[0]]
        return Placement(C0 + cos(angle) * C1 + sin(angle) * C2, e.position)
    if e.kind == "screw":
        angle = q[e.q[0]]
        return Placement(C0 + cos(angle) * C1 + sin(angle) * C2, e.position + e.pitch * angle * ((C0 + C1) @ e.axis))
    if e.kind == "prismatic":
        return Placement(C0 + C1, e.position + q[e.q[0]] * ((C0 + C1) @ e.axis))
    if e.kind == "ball":
        return Placement(C1 @ rotation_matrix_homogeneous(Vec([q[k] for k in e.q])), e.position)
    return Placement(C1, e.position)


def unit_twists(e: Element) -> list[Twist]:
    """The unit motions of an element, in its own axes, at its own origin: one per velocity.     BEYOND §0"""
    if e.kind == "ball":
        return [Twist(ORIGIN, axis) for axis in identity(3)]
    if e.kind == "prismatic":
        return [Twist(e.axis, ORIGIN)]
    if e.kind == "screw":
        return [Twist(e.pitch * e.axis, e.axis)]
    return [Twist(ORIGIN, e.axis)] if e.kind == "revolute" else []


def joint_velocity(e: Element, v: Vec) -> Twist:
    """The velocity of an element relative to its parent, in its own axes, at its own origin."""
    if e.kind == "ball":
        return Twist(ORIGIN, Vec([v[k] for k in e.v]))
    if e.kind == "fixed":
        return AT_REST
    (unit,) = unit_twists(e)
    return Twist(v[e.v[0]] * unit.linear, v[e.v[0]] * unit.angular)


def frames(tree: Tree, q: Vec) -> list[Frame]:
    """The frame of every element in the world."""
    found: list[Frame] = []
    for e in tree.elements:
        parent = found[e.parent] if e.parent != GROUND else WORLD_FRAME
        R, r = placement(e, q)
        found.append(Frame(parent.R @ R, parent.o + parent.R @ r))
    return found


def orientations(tree: Tree, q: Vec) -> list[Vec]:
    """The quaternion of every element's frame in the world: products along the chain, no sign turned."""
    found: list[Vec] = []
    for e in tree.elements:
        at = product(found[e.parent], e.orientation) if e.parent != GROUND else e.orientation
        if e.kind == "ball":
            at = product(at, Vec([q[k] for k in e.q]))
        elif e.kind in ("revolute", "screw"):
            half = q[e.q[0]] / 2
            at = product(at, Vec((cos(half), *(sin(half) * e.axis))))
        found.append(at)
    return found


def velocities(tree: Tree, at: list[Frame], v: Vec) -> list[Twist]:
    """Velocity of every element's origin and its angular velocity, world axes."""
    found: list[Twist] = []
    for e, frame in zip(tree.elements, at, strict=True):
        parent, frame_p = (found[e.parent], at[e.parent]) if e.parent != GROUND else (AT_REST, WORLD_FRAME)
        own = joint_velocity(e, v)
        linear = parent.linear + cross(parent.angular, frame.o - frame_p.o) + frame.R @ own.linear
        found.append(Twist(linear, parent.angular + frame.R @ own.angular))
    return found


def machine_state(tree: Tree, t: Scalar, q: Vec, v: Vec) -> MachineState:
    """Everything that force elements and constraints depend on."""
    at = frames(tree, q)
    return MachineState(t, q, v, at, velocities(tree, at, v), tree.of_body, tree.of_joint, tree.constraints)


def accelerations(tree: Tree, at: list[Frame], v: Vec, vd: Vec) -> list[Twist]:
    """Acceleration of every element's origin and its angular acceleration, world axes."""
    moving = velocities(tree, at, v)
    found: list[Twist] = []
    for e, frame in zip(tree.elements, at, strict=True):
        outer_, frame_p = (found[e.parent], at[e.parent]) if e.parent != GROUND else (AT_REST, WORLD_FRAME)
        omega = moving[e.parent].angular if e.parent != GROUND else ORIGIN
        own, own_rate = joint_velocity(e, v), joint_velocity(e, vd)
        arm = frame.o - frame_p.o
        linear = outer_.linear + cross(outer_.angular, arm) + cross(omega, cross(omega, arm))
        linear = linear + 2 * cross(omega, frame.R @ own.linear) + frame.R @ own_rate.linear
        angular = outer_.angular + cross(omega, frame.R @ own.angular) + frame.R @ own_rate.angular
        found.append(Twist(linear, angular))
    return found


def unit_motions(tree: Tree, at: list[Frame]) -> list[UnitMotion]:
    """The unit motion of every velocity component, world axes, in the order of v.       BEYOND §0"""
    found = {}
    for i, (e, frame) in enumerate(zip(tree.elements, at, strict=True)):
        for a, unit in zip(e.v, unit_twists(e), strict=True):
            found[a] = UnitMotion(i, frame.R @ unit.angular, frame.R @ unit.linear, frame.o)
    return [found[a] for a in range(tree.nv)]


def jacobian(tree: Tree, q: Vec, element: int, point: Vec) -> Vec:
    """Three linear and three angular rows: the velocity of a point of an element, per v, world axes.

    Zoric (63), (77): the columns are quasi-basic vectors T and Ω.
    """
    at = frames(tree, q)
    x = at[element].o + at[element].R @ point
    path = set(tree.ancestors[element])
    columns = []
    for motion in unit_motions(tree, at):
        if motion.element in path:
            columns.append(Vec((*(cross(motion.w, x - motion.o) + motion.l), *motion.w)))
        else:
            columns.append(Vec([0.0] * 6))
    return Vec(columns).T if columns else Vec([Vec() for _ in range(6)])


def jacobian_rate(tree: Tree, q: Vec, v: Vec, element: int, point: Vec) -> Vec:
    """The time derivative of `jacobian` along a motion."""
    at = frames(tree, q)
    moving = velocities(tree, at, v)
    arm = at[element].R @ point
    x, xdot = at[element].o + arm, moving[element].linear + cross(moving[element].angular, arm)
    path = set(tree.ancestors[element])
    columns = []
    for w, l, o, i in ((m.w, m.l, m.o, m.element) for m in unit_motions(tree, at)):
        if i not in path:
            columns.append(Vec([0.0] * 6))
            continue
        Omega = moving[i].angular  # the axis is fixed in the element's frame
        wdot, ldot = cross(Omega, w), cross(Omega, l)
        linear = cross(wdot, x - o) + cross(w, xdot - moving[i].linear) + ldot
        columns.append(Vec((*linear, *wdot)))
    return Vec(columns).T if columns else Vec([Vec() for _ in range(6)])


def rate(tree: Tree, q: Vec, v: Vec) -> Vec:
    """q̇ of a velocity v: ½ p∘(0, ω) for quaternions, v itself for everything else."""
    found: list[Scalar] = [0.0] * tree.nq
    for e in tree.elements:
        if e.kind == "ball":
            p, omega = Vec([q[k] for k in e.q]), Vec([v[k] for k in e.v])
            values = product(p, Vec((0.0, *omega))) / 2
        else:
            values = Vec([v[k] for k in e.v])
        for k, value in zip(e.q, values, strict=True):
            found[k] = value
    return Vec(found)


def integrate(tree: Tree, q: Vec, dv: Vec) -> Vec:
    """q ⊕ δ: quaternions turn, p ← p∘exp(δ/2); everything else adds.                       BEYOND §3"""
    found: list[Scalar] = [0.0] * tree.nq
    for e in tree.elements:
        old, step = Vec([q[k] for k in e.q]), Vec([dv[k] for k in e.v])
        new = product(old, exp(step / 2)) if e.kind == "ball" else old + step
        for k, value in zip(e.q, new, strict=True):
            found[k] = value
    return Vec(found)


def difference(tree: Tree, q0: Vec, q1: Vec) -> Vec:
    """δ with q0 ⊕ δ = q1, the shorter way round for quaternions: 2 log(p0*∘p1), scalar part ≥ 0.    BEYOND §3"""
    found: list[Scalar] = [0.0] * tree.nv
    for e in tree.elements:
        a, b = Vec([q0[k] for k in e.q]), Vec([q1[k] for k in e.q])
        if e.kind == "ball":
            r = product(conjugate(a), b)
            step = 2 * log(where(r[0] < 0, -r, r))
        else:
            step = b - a
        for k, value in zip(e.v, step, strict=True):
            found[k] = value
    return Vec(found)
