"""Quantities of constraints: rows, residuals, multipliers, reactions."""

from typing import Any

from polhode.constrain.constrained_dynamics import (
    MORE_CORRECTIONS,
    ConditionRows,
    Impact,
    Projected,
    Reactions,
    Residuals,
)
from polhode.constrain.reactions import (
    ConstraintReactions,
    JointReactions,
    constraint_reactions as reactions_of_constraints,
    joint_reactions as reactions_of_joints,
)
from polhode.dynamics import mass_inverse, with_forces
from polhode.scalar import Vec
from polhode.system.catalogue.record import (
    COORDINATES,
    DAMPING,
    MULTIPLIERS,
    RESTITUTION,
    SCALAR,
    SQUARE,
    TAU,
    VELOCITIES,
    Q,
    V,
    quantity,
)
from polhode.system.quantity import Algorithm, Axes, Request
from polhode.system.records import ImpactDerivatives

ROWS_BY_V: Axes = ("rows", "nv")

ROWS: dict[str, Any] = {
    "by": "rows of the constraints, derived from their residuals; BEYOND §4",
    "by_graph": True,
    "needs_constraints": True,
}
"""The fields that all quantities of constraints share."""


@quantity((Q, V, TAU), ("rows",), VELOCITIES, SCALAR, ("rows",), record=Reactions, **ROWS)
def constraint_forces(r: Request) -> Reactions:
    """The multipliers of the constraints and their generalised force, the rank, and which rows are dependent."""
    return r.constrained.reactions(r.x)


@quantity((Q, V, TAU), ("rows",), SCALAR, ("connections", 3), ("connections", 3), record=ConstraintReactions, **ROWS)
def constraint_reactions(r: Request) -> ConstraintReactions:
    """The forces and torques of the constraints between two bodies."""
    return reactions_of_constraints(r.constrained, r.x)


def _joint_reactions(r: Request) -> JointReactions:
    constrained = r.constrained if r.spec.constrained else None
    return reactions_of_joints(constrained, r.spec.model, r.x, with_forces.forward_dynamics)


@quantity(
    (Q, V, TAU),
    ("joints", 3),
    ("joints", 3),
    by="Newton and Euler, body by body",
    record=JointReactions,
    applies=lambda spec: spec.constrained is None,
    also=(
        Algorithm(
            "Newton and Euler, body by body, with the reactions of the constraints",
            _joint_reactions,
            applies=lambda spec: spec.constrained is not None,
            by_graph=True,
        ),
    ),
    inverts_mass=True,
)
def joint_reactions(r: Request) -> JointReactions:
    """The forces and torques that joints give to their children."""
    return _joint_reactions(r)


@quantity((Q, V), ("positions",), ("rows",), record=Residuals, **ROWS)
def constraint_residuals(r: Request) -> Residuals:
    """The residuals of the constraints in positions and in velocities."""
    return Residuals(*r.constrained.residuals(r.x.tree, r.x.t, r.x.q, r.x.v))


@quantity((Q, V), ("rows",), **ROWS)
def constraint_rates(r: Request) -> Vec:
    """The residuals of the constraints in velocities."""
    return r.constrained.residuals(r.x.tree, r.x.t, r.x.q, r.x.v)[1]


@quantity((Q, V), ("rows", "nv"), ("rows",), record=ConditionRows, **ROWS)
def constraint_rows(r: Request) -> ConditionRows:
    """The rows A v̇ = b of the constraints."""
    found = r.constrained.rows(r.x)
    return ConditionRows(found.A, found.b)


@quantity((Q, MULTIPLIERS), VELOCITIES, **ROWS)
def generalized_constraint_force(r: Request) -> Vec:
    """The generalised force of multipliers of the constraints."""
    return r.x.multipliers @ r.constrained.rows_at_rest(r.x)


@quantity((Q,), ("rows",), **ROWS)
def constraint_pivots(r: Request) -> Vec:
    """What the rows of the constraints have left after elimination; 0 for dependent ones."""
    return r.constrained.pivots(r.x)


@quantity((Q, V), COORDINATES, VELOCITIES, record=Projected, is_watched=True, **ROWS)
def project(r: Request) -> Projected:
    """The state nearest in the mass metric at which the constraints hold."""
    return Projected(*r.constrained.projected(r.x.tree, r.x.t, r.x.q, r.x.v, more=MORE_CORRECTIONS))


@quantity((Q, V), COORDINATES, VELOCITIES, record=Projected, **ROWS)
def project_step(r: Request) -> Projected:
    """The state after two corrections of positions and one of velocities towards where the constraints hold."""
    return Projected(*r.constrained.projected(r.x.tree, r.x.t, r.x.q, r.x.v))


@quantity((Q, V, RESTITUTION), VELOCITIES, ("rows",), SCALAR, record=Impact, **ROWS)
def impact(r: Request) -> Impact:
    """The velocities after an impact on the constraints, and its impulses."""
    return r.constrained.impact(r.x, r.x.restitution)


@quantity((Q, V, RESTITUTION), SQUARE, SQUARE, ROWS_BY_V, ROWS_BY_V, record=ImpactDerivatives, **ROWS)
def impact_derivatives(r: Request) -> tuple[Vec, ...]:
    """The derivatives of the velocities after an impact, and of its impulses, along the directions of q and by v."""
    return r.constrained.impact_slopes(r.x, r.x.restitution)


@quantity((Q,), ("rows", "rows"), **ROWS)
def delassus_matrix(r: Request) -> Vec:
    """Delassus' matrix A M⁻¹ Aᵀ of the rows of the constraints."""
    return mass_inverse.moved_by(r.x.tree, r.x.q, r.constrained.rows_at_rest(r.x))


@quantity((Q, DAMPING), ("rows", "rows"), **ROWS)
def delassus_factor(r: Request) -> Vec:
    """The triangular factor of Delassus' matrix, damped."""
    return mass_inverse.delassus_factor(r.x.tree, r.x.q, r.constrained.rows_at_rest(r.x), r.x.damping)


@quantity((Q, DAMPING), ("nv + rows", "nv + rows"), **ROWS)
def kkt_matrix(r: Request) -> Vec:
    """The matrix of accelerations and multipliers."""
    return mass_inverse.kkt_matrix(r.x.tree, r.x.q, r.constrained.rows_at_rest(r.x), r.x.damping)


@quantity((Q, DAMPING), ("nv + rows", "nv + rows"), **ROWS)
def kkt_inverse(r: Request) -> Vec:
    """The inverse of the matrix of accelerations and multipliers."""
    return mass_inverse.kkt_inverse(r.x.tree, r.x.q, r.constrained.rows_at_rest(r.x), r.x.damping).matrix
