"""Points of bodies: their velocities, accelerations and Jacobians, in the axes that are asked for.

    world-aligned  at the point, world axes
    local          at the point, the axes of its body or frame
    world          at the world's origin, world axes: of the point of the body that is there just now

A classical acceleration is the second derivative of a position; a spatial one, a − ω × v, is the rate of the velocities
of a body as a spatial vector.                                                                  Featherstone (2008) 2.10
"""

from typing import NamedTuple

from polhode.dynamics.inverse import handed
from polhode.dynamics.kinematics import (
    accelerations,
    frames,
    joint_force,
    motion_slots,
    orientations,
    placement,
    slot_motion_rates,
    slot_motions,
    unit_twists,
    velocities,
)
from polhode.model.tree import GROUND, Tree
from polhode.quaternion import product, rotation_matrix_homogeneous
from polhode.scalar import Scalar, Vec, cross, identity
from polhode.spatial import ORIGIN, Frame, Twist, snapped
from polhode.spatial.pose import Pose

AXES = ("world-aligned", "local", "world")
KINDS = ("classical", "spatial")


class BodyPoint(NamedTuple):
    """A point fixed to an element of a tree, in the axes of the element, and the axes of the frame it belongs to."""

    element: int
    point: Vec
    turn: Vec | None = None
    """The axes of the frame → those of the element; None: they are the same."""


def body_point(tree: Tree, body: str, point: Vec) -> BodyPoint:
    """A point of a body, or of a frame, in its axes."""
    if body not in tree.frames:
        return BodyPoint(tree.of_body[body], point)
    element, position, orientation = tree.frames[body]
    turn = snapped(rotation_matrix_homogeneous(orientation))
    return BodyPoint(element, position + turn @ point, turn)


def pose(tree: Tree, q: Vec, body: str) -> Pose:
    """Where a body or a frame is in the world."""
    i = tree.element(body)
    at, turn = frames(tree, q)[i], orientations(tree, q)[i]
    if body not in tree.frames:
        return Pose(at.o, turn)
    _, position, orientation = tree.frames[body]
    return Pose(at.o + at.R @ position, product(turn, orientation))


def velocity(tree: Tree, q: Vec, v: Vec, p: BodyPoint, axes: str) -> Twist:
    """The velocity of a point and the angular velocity of its body: J v without J."""
    at = frames(tree, q)
    frame, (linear, angular) = at[p.element], velocities(tree, q, at, v)[p.element]
    return _in_axes(Twist(linear + cross(angular, _arm(frame, p, axes)), angular), frame, p, axes)


def acceleration(tree: Tree, q: Vec, v: Vec, vd: Vec, p: BodyPoint, axes: str, kind: str) -> Twist:
    """The acceleration of a point and the angular acceleration of its body."""
    at = frames(tree, q)
    frame, (linear, angular) = at[p.element], velocities(tree, q, at, v)[p.element]
    rate, turn = accelerations(tree, q, at, v, vd)[p.element]
    arm = _arm(frame, p, axes)
    rate = rate + cross(turn, arm) + cross(angular, cross(angular, arm))
    if kind == "spatial":
        rate = rate - cross(angular, linear + cross(angular, arm))
    return _in_axes(Twist(rate, turn), frame, p, axes)


def jacobian(tree: Tree, q: Vec, p: BodyPoint, axes: str) -> Vec:
    """Three linear and three angular rows: `velocity` per v.                                        Zoric (63), (77)"""
    if axes == "local":
        return _local_jacobian(tree, q, p)
    at, path = frames(tree, q), set(tree.ancestors[p.element])
    x = _place(at[p.element], p, axes)
    columns = {}
    for (a, _), (i, w, l, o) in zip(motion_slots(tree), slot_motions(tree, q, at), strict=True):
        if i in path:
            columns[a] = Vec((*(cross(w, x - o) + l), *w))
    return _rows(tree, columns)


def _local_jacobian(tree: Tree, q: Vec, p: BodyPoint) -> Vec:
    """From the body to the root: A turns the axes of an element into those of the frame, d is the point there."""
    columns = {}
    A, d, i = p.turn.T if p.turn else identity(3), p.point, p.element
    while i != GROUND:
        e = tree.elements[i]
        for a, (l, w) in zip(e.v, unit_twists(e, q), strict=True):
            columns[a] = Vec((*(A @ (l + cross(w, d))), *(A @ w)))
        R, r = placement(e, q)
        A, d, i = A @ R.T, r + R @ d, e.parent
    return _rows(tree, columns)


def jacobian_rate(tree: Tree, q: Vec, v: Vec, p: BodyPoint, axes: str) -> Vec:
    """The time derivative of `jacobian` along a motion."""
    at, path = frames(tree, q), set(tree.ancestors[p.element])
    moving = velocities(tree, q, at, v)
    x, (xdot, omega) = _place(at[p.element], p, axes), moving[p.element]
    xdot = ORIGIN if axes == "world" else xdot + cross(omega, x - at[p.element].o)
    back = _axes_in_world(at[p.element], p).T
    columns, motions, changes = {}, slot_motions(tree, q, at), slot_motion_rates(tree, q, v, at, moving)
    for (a, _), (i, w, l, o), (ldot, wdot) in zip(motion_slots(tree), motions, changes, strict=True):
        if i in path:
            linear = cross(wdot, x - o) + cross(w, xdot - moving[i].linear) + ldot
            if axes == "local":
                linear = back @ (linear - cross(omega, cross(w, x - o) + l))
                wdot = back @ (wdot - cross(omega, w))
            columns[a] = Vec((*linear, *wdot))
    return _rows(tree, columns)


def hessian(tree: Tree, q: Vec, p: BodyPoint, axes: str) -> Vec:
    """The derivatives H[r][a][b] of the columns a of `jacobian` along the tangent directions b of q, (6, nv, nv)."""
    path = {a for i in tree.ancestors[p.element] for a in tree.elements[i].v}
    nothing = Vec([Vec([0.0] * tree.nv) for _ in range(6)])
    along = [
        jacobian_rate(tree, q, unit, p, axes) if b in path else nothing for b, unit in enumerate(identity(tree.nv))
    ]
    return Vec([Vec([Vec([slope[r][a] for slope in along]) for a in range(tree.nv)]) for r in range(6)])


def generalized_force(tree: Tree, q: Vec, load: Vec, p: BodyPoint, axes: str) -> Vec:
    """Jᵀ times a force and a couple, without J: they are handed from joint to joint, to the root."""
    f, n = Vec(load[:3]), Vec(load[3:])
    if axes == "local":
        f, n = (p.turn @ f, p.turn @ n) if p.turn else (f, n)
        n = n + cross(p.point, f)
    else:
        frame = frames(tree, q)[p.element]
        f, n = frame.R.T @ f, frame.R.T @ (n + cross(_arm(frame, p, axes), f))
    found: list[Scalar] = [0.0] * tree.nv
    i = p.element
    while i != GROUND:
        e = tree.elements[i]
        for a, value in zip(e.v, joint_force(e, q, f, n), strict=True):
            found[a] = value
        f, n = handed(placement(e, q), f, n)
        i = e.parent
    return Vec(found)


def _arm(frame: Frame, p: BodyPoint, axes: str) -> Vec:
    """From the origin of an element to where its motion is asked for, world axes."""
    return -frame.o if axes == "world" else frame.R @ p.point


def _in_axes(twist: Twist, frame: Frame, p: BodyPoint, axes: str) -> Twist:
    """A motion in world axes in those that are asked for."""
    if axes != "local":
        return twist
    back = _axes_in_world(frame, p).T
    return Twist(back @ twist.linear, back @ twist.angular)


def _axes_in_world(frame: Frame, p: BodyPoint) -> Vec:
    return frame.R @ p.turn if p.turn else frame.R


def _place(frame: Frame, p: BodyPoint, axes: str) -> Vec:
    """Where a motion is asked for, in the world."""
    return ORIGIN if axes == "world" else frame.o + frame.R @ p.point


def _rows(tree: Tree, columns: dict[int, Vec]) -> Vec:
    """Six rows from the columns of some velocities; those of all others are zero."""
    nothing = Vec([0.0] * 6)
    return Vec([Vec([columns.get(a, nothing)[r] for a in range(tree.nv)]) for r in range(6)])
