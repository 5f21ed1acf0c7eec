"""Where the bodies of a tree are and how they move: placements, poses, velocities, unit motions.

Each pass is a step from an element's parent to the element. The state of the ground is at rest at the
world's origin.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from polhode.errors import InputError, message
from polhode.model.joints.base import Element
from polhode.model.state import MachineState
from polhode.model.tree import GROUND, Tree
from polhode.quaternion import product
from polhode.scalar import Scalar, Vec, cross
from polhode.spatial import AT_REST, ORIGIN, WORLD_FRAME, Frame, Placement, Twist


class UnitMotion(NamedTuple):
    """What one velocity component moves: a point x has the velocity w × (x − o) + l."""

    element: int
    w: Vec
    l: Vec
    o: Vec


def own_coordinates(e: Element, q: Vec) -> Vec:
    """The coordinates of an element among those of the whole tree."""
    return Vec([q[k] for k in e.q])


def _of_v(e: Element, v: Vec) -> Vec:
    return Vec([v[k] for k in e.v])


def placement(e: Element, q: Vec) -> Placement:
    """Where an element's frame is in its parent's, at the coordinates q of the whole tree."""
    return e.kind.placement(e, own_coordinates(e, q))


def unit_twists(e: Element, q: Vec) -> Sequence[Twist]:
    """The unit motions of an element, in its own axes, at its own origin: one per velocity.     BEYOND §0"""
    return e.kind.motions(e, _shape(e, q))


def joint_velocity(e: Element, q: Vec, v: Vec) -> Twist:
    """The velocity of an element relative to its parent, in its own axes, at its own origin."""
    return e.kind.velocity(e, _shape(e, q), _of_v(e, v))


def joint_acceleration(e: Element, q: Vec, v: Vec, vd: Vec) -> Twist:
    """The acceleration of an element relative to its parent, in its own axes: S v̇ + Ṡ v, and that of turning axes."""
    found, drift = joint_velocity(e, q, vd), e.kind.drift(e, _shape(e, q), _of_v(e, v))
    return found if drift is None else Twist(found.linear + drift.linear, found.angular + drift.angular)


def joint_force(e: Element, q: Vec, f: Vec, n: Vec) -> Vec:
    """What the joint must give along its own velocities: Sᵀ(f, n)."""
    return e.kind.force(e, _shape(e, q), f, n)


def _shape(e: Element, q: Vec) -> Vec:
    """What the unit motions of an element depend on: its coordinates, or nothing."""
    return Vec() if e.kind.constant else own_coordinates(e, q)


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
        turn = e.kind.turn(e, own_coordinates(e, q))
        found.append(at if turn is None else product(at, turn))
    return found


def velocities(tree: Tree, q: Vec, at: list[Frame], v: Vec) -> list[Twist]:
    """Velocity of every element's origin and its angular velocity, world axes."""
    found: list[Twist] = []
    for e, frame in zip(tree.elements, at, strict=True):
        parent, frame_p = (found[e.parent], at[e.parent]) if e.parent != GROUND else (AT_REST, WORLD_FRAME)
        joint = joint_velocity(e, q, v)
        linear = parent.linear + cross(parent.angular, frame.o - frame_p.o) + frame.R @ joint.linear
        found.append(Twist(linear, parent.angular + frame.R @ joint.angular))
    return found


def machine_state(tree: Tree, t: Scalar, q: Vec, v: Vec) -> MachineState:
    """Everything that force elements and constraints depend on."""
    at = frames(tree, q)
    moving, places = velocities(tree, q, at, v), (tree.of_body, tree.of_joint)
    return MachineState(t, q, v, at, moving, *places, tree.constraints, tree.rates_of_joint, tree.of_states)


def joint_state(tree: Tree, t: Scalar, q: Vec, v: Vec) -> MachineState:
    """What force elements on coordinates depend on: the state without the frames of bodies."""
    places = tree.of_body, tree.of_joint
    return MachineState(t, q, v, (), (), *places, tree.constraints, tree.rates_of_joint, tree.of_states)


def accelerations(tree: Tree, q: Vec, at: list[Frame], v: Vec, vd: Vec) -> list[Twist]:
    """Acceleration of every element's origin and its angular acceleration, world axes."""
    moving = velocities(tree, q, at, v)
    found: list[Twist] = []
    for e, frame in zip(tree.elements, at, strict=True):
        outer_, frame_p = (found[e.parent], at[e.parent]) if e.parent != GROUND else (AT_REST, WORLD_FRAME)
        omega = moving[e.parent].angular if e.parent != GROUND else ORIGIN
        joint, joint_rate = joint_velocity(e, q, v), joint_acceleration(e, q, v, vd)
        arm = frame.o - frame_p.o
        linear = outer_.linear + cross(outer_.angular, arm) + cross(omega, cross(omega, arm))
        linear = linear + 2 * cross(omega, frame.R @ joint.linear) + frame.R @ joint_rate.linear
        angular = outer_.angular + cross(omega, frame.R @ joint.angular) + frame.R @ joint_rate.angular
        found.append(Twist(linear, angular))
    return found


def unit_motions(tree: Tree, q: Vec, at: list[Frame]) -> list[UnitMotion]:
    """The unit motion of every velocity component, world axes, in the order of v.       BEYOND §0

    Of a tree where each velocity has one: `motion_slots` are then the velocities.
    """
    if tree.shares:
        where, found = f"model '{tree.name}'", "velocities that move several frames, each in its own way"
        raise InputError(message(where, "not for machines with modal bodies", found, "one motion for each velocity"))
    return slot_motions(tree, q, at)


def motion_slots(tree: Tree) -> list[tuple[int, int]]:
    """Which velocity moves which element by itself: pairs of velocity and element, in the order of v."""
    return sorted((a, i) for i, e in enumerate(tree.elements) for a in e.v)


def slot_motions(tree: Tree, q: Vec, at: list[Frame]) -> list[UnitMotion]:
    """The unit motions of all `motion_slots`, world axes."""
    found = {}
    for i, (e, frame) in enumerate(zip(tree.elements, at, strict=True)):
        for a, unit in zip(e.v, unit_twists(e, q), strict=True):
            found[a, i] = UnitMotion(i, frame.R @ unit.angular, frame.R @ unit.linear, frame.o)
    return [found[slot] for slot in motion_slots(tree)]


def slot_motion_rates(tree: Tree, q: Vec, v: Vec, at: list[Frame], moving: list[Twist]) -> list[Twist]:
    """d/dt of the unit motions (l, w) along a motion, world axes, of all `motion_slots`."""
    found = {}
    for i, (e, frame, twist) in enumerate(zip(tree.elements, at, moving, strict=True)):
        units = unit_twists(e, q)
        changes = [None] * len(units) if e.kind.constant else e.kind.motion_rates(e, own_coordinates(e, q), _of_v(e, v))
        for a, unit, change in zip(e.v, units, changes, strict=True):
            linear = cross(twist.angular, frame.R @ unit.linear)
            angular = cross(twist.angular, frame.R @ unit.angular)
            if change:
                linear, angular = linear + frame.R @ change.linear, angular + frame.R @ change.angular
            found[a, i] = Twist(linear, angular)
    return [found[slot] for slot in motion_slots(tree)]


def rate(tree: Tree, q: Vec, v: Vec) -> Vec:
    """q̇ of a velocity v: ½ p∘(0, ω) for quaternions, v itself for everything else."""
    return _joined(tree.nq, ((e.q, e.kind.rate(own_coordinates(e, q), _of_v(e, v))) for e in tree.elements))


def integrate(tree: Tree, q: Vec, dv: Vec) -> Vec:
    """q ⊕ δ: quaternions turn, p ← p∘exp(δ/2); everything else adds.                       BEYOND §3"""
    return _joined(tree.nq, ((e.q, e.kind.retract(own_coordinates(e, q), _of_v(e, dv))) for e in tree.elements))


def difference(tree: Tree, q0: Vec, q1: Vec) -> Vec:
    """δ with q0 ⊕ δ = q1, the shorter way round for quaternions: 2 log(p0*∘p1), scalar part ≥ 0.    BEYOND §3"""
    pairs = ((e, own_coordinates(e, q0), own_coordinates(e, q1)) for e in tree.elements)
    return _joined(tree.nv, ((e.v, e.kind.difference(a, b)) for e, a, b in pairs))


def tangent(tree: Tree, q: Vec, qdot: Vec) -> Vec:
    """δ with q̇ = rate(q, δ), of a raw q̇: 2 p*∘ṗ/‖p‖² for quaternions, q̇ itself for everything else."""
    pairs = ((e, own_coordinates(e, q), own_coordinates(e, qdot)) for e in tree.elements)
    return _joined(tree.nv, ((e.v, e.kind.tangent(a, b)) for e, a, b in pairs))


def normalised(tree: Tree, q: Vec) -> Vec:
    """q with quaternions of unit length."""
    return _joined(tree.nq, ((e.q, e.kind.normalised(own_coordinates(e, q))) for e in tree.elements))


def _joined(size: int, parts: Iterable[tuple[Sequence[int], Vec]]) -> Vec:
    """A vector from those of the elements and their places in it."""
    found: list[Scalar] = [0.0] * size
    for places, values in parts:
        for k, value in zip(places, values, strict=True):
            found[k] = value
    return Vec(found)
