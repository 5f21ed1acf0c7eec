"""Forces of constraints between two bodies, from the multipliers of their rows."""

from collections.abc import Iterable, Sequence

from polhode.dynamics import reactions
from polhode.dynamics.arguments import Arguments
from polhode.dynamics.constraints import in_row_order
from polhode.dynamics.kinematics import machine_state
from polhode.dynamics.reactions import Reaction
from polhode.model import Constraint
from polhode.model.constraints.base import ConstraintCondition
from polhode.scalar import Scalar, Vec


def between_bodies(constraints: Iterable[Constraint]) -> list[Constraint]:
    """The constraints between two bodies: those with a reaction."""
    return [constraint for constraint in constraints if not constraint.kind.of_coordinates]


def forces_of_multipliers(
    conditions: tuple[ConstraintCondition, ...], constraints: Sequence[Constraint], x: Arguments, lam: Vec
) -> list[tuple[Constraint, Reaction]]:
    """The reactions of constraints between two bodies.

    conditions   of all constraints
    constraints  those between two bodies
    lam          the multipliers of all rows
    """
    rows: dict[tuple[str, bool], list[Scalar]] = {}
    at = 0
    for c in in_row_order(conditions):
        rows.setdefault((c.name, c.holonomic), []).extend(lam[at : at + len(c.rows)])
        at += len(c.rows)
    now = machine_state(x.tree, x.t, x.q, x.v)
    return [
        (c, reactions.reaction(c, now, *(Vec(rows.get((c.name, held), ())) for held in (True, False))))
        for c in constraints
    ]
