"""Reactions of constraints and of joints, as quantities of a System."""

from collections.abc import Callable
from typing import Any, NamedTuple

from polhode.constrain.constrained_dynamics import ConstrainedDynamics
from polhode.constrain.multiplier_forces import between_bodies
from polhode.dynamics import forces, normal_forces, reactions
from polhode.dynamics.arguments import Arguments
from polhode.dynamics.kinematics import machine_state
from polhode.model import Constraint, Model
from polhode.scalar import Vec


class ConstraintReactions(NamedTuple):
    """Multipliers λ (..., k) and rank, as in `Reactions`; force and torque (..., m, 3) of the m constraints between
    two bodies, on body b, in the axes of the frame on body a; the torque about the point where the force acts."""

    multipliers: Any
    rank: Any
    force: Any
    torque: Any


class JointReactions(NamedTuple):
    """What each joint gives to its child, its drive included: force and torque (..., joints, 3), about the child's
    origin, in the axes of the joint frame."""

    force: Any
    torque: Any


def connecting(model: Model) -> list[Constraint]:
    """The constraints between two bodies: those with a reaction."""
    return between_bodies(model.constraints)


def constraint_reactions(constrained: ConstrainedDynamics, x: Arguments) -> ConstraintReactions:
    """Multipliers, and the forces and torques they are."""
    found, _ = constrained.accelerate(x)
    pairs = [r.in_joint_axes for _, r in constrained.forces_on_bodies(x, found.multipliers)]
    force, torque = (Vec([pair[k] for pair in pairs]) for k in (0, 1))
    return ConstraintReactions(found.multipliers, found.rank, force, torque)


def joint_reactions(
    constrained: ConstrainedDynamics | None, model: Model, x: Arguments, forward: Callable[[Arguments], Vec]
) -> JointReactions:
    """Force and torque of each joint, by Newton and Euler; reactions of constraints act on their bodies.

    forward  v̇ of a tree without constraints
    """
    x = constrained.with_normals(x) if constrained else x._replace(normals=normal_forces.solved(x))
    acting = forces.acting(x.tree, x.t, x.q, x.v, x.wrench, x.normals).wrenches
    if constrained:
        found, _ = constrained.accelerate(x)
        vd, now = found.a, machine_state(x.tree, x.t, x.q, x.v)
        reactions.on_bodies(x.tree, now, constrained.forces_on_bodies(x, found.multipliers), acting)
    else:
        vd = forward(x)
    given = dict(zip(_children(x), reactions.joint_loads(x.tree, x.q, x.v, vd, acting), strict=True))
    pairs = [given[joint.child] for joint in model.joints]
    return JointReactions(*(Vec([pair[k] for pair in pairs]) for k in (0, 1)))


def _children(x: Arguments) -> list[str]:
    """The bodies in the order of the tree's elements."""
    return [e.body for e in x.tree.elements if e.body is not None]
