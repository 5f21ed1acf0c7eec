"""Reactions of constraints and of joints, as quantities of a System."""

from collections.abc import Callable
from typing import Any, NamedTuple

from polhode.constrain.constrained_dynamics import ConstrainedDynamics
from polhode.constrain.row_scales import ordered
from polhode.dynamics import forces, normal_forces, reactions
from polhode.dynamics.arguments import Arguments
from polhode.dynamics.kinematics import machine_state
from polhode.dynamics.reactions import Reaction
from polhode.model import Constraint, Model
from polhode.scalar import Scalar, Vec


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
    return [constraint for constraint in model.constraints if not constraint.kind.of_coordinates]


def _of_multipliers(
    closed: ConstrainedDynamics, model: Model, x: Arguments, lam: Vec
) -> list[tuple[Constraint, Reaction]]:
    """The reactions of all constraints between two bodies, from the multipliers of all rows."""
    rows: dict[tuple[str, bool], list[Scalar]] = {}
    at = 0
    for c in ordered(closed.conditions):
        rows.setdefault((c.name, c.holonomic), []).extend(lam[at : at + len(c.rows)])
        at += len(c.rows)
    now = machine_state(x.tree, x.t, x.q, x.v)
    return [
        (c, reactions.reaction(c, now, *(Vec(rows.get((c.name, held), ())) for held in (True, False))))
        for c in connecting(model)
    ]


def constraint_reactions(closed: ConstrainedDynamics, model: Model, x: Arguments) -> ConstraintReactions:
    """Multipliers, and the forces and torques they are."""
    found, _ = closed.accelerate(x)
    pairs = [r.in_joint_axes for _, r in _of_multipliers(closed, model, x, found.multipliers)]
    force, torque = (Vec([pair[k] for pair in pairs]) for k in (0, 1))
    return ConstraintReactions(found.multipliers, found.rank, force, torque)


def joint_reactions(
    closed: ConstrainedDynamics | None, model: Model, x: Arguments, forward: Callable[[Arguments], Vec]
) -> JointReactions:
    """Force and torque of each joint, by Newton and Euler; reactions of constraints act on their bodies.

    forward  v̇ of a tree without constraints
    """
    acting = forces.acting(x.tree, x.t, x.q, x.v, x.wrench, normal_forces.solved(x)).wrenches
    if closed:
        found, _ = closed.accelerate(x)
        vd, now = found.a, machine_state(x.tree, x.t, x.q, x.v)
        reactions.on_bodies(x.tree, now, _of_multipliers(closed, model, x, found.multipliers), acting)
    else:
        vd = forward(x)
    given = dict(zip(_children(x), reactions.joint_loads(x.tree, x.q, x.v, vd, acting), strict=True))
    pairs = [given[joint.child] for joint in model.joints]
    return JointReactions(*(Vec([pair[k] for pair in pairs]) for k in (0, 1)))


def _children(x: Arguments) -> list[str]:
    """The bodies in the order of the tree's elements."""
    return [e.body for e in x.tree.elements if e.body is not None]
