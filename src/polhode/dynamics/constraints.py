"""The rows of the constraints of a tree: what follows from their residuals.

A condition is a residual on generic scalars: φ(t, q) of positions, or r(t, q, v) of velocities, linear in v
(`model.constraints`). Its rates, Jacobians and second-order terms are derived, never written.
"""

from collections.abc import Sequence
from typing import NamedTuple

from polhode.dynamics.kinematics import machine_state, rate
from polhode.model import Constraint, Tree
from polhode.model.constraints.base import ConstraintCondition
from polhode.scalar import Scalar, Vec, jacobian, vec


def conditions(constraint: Constraint, names: Sequence[str] = ()) -> list[ConstraintCondition]:
    """The conditions of one constraint: of positions, of velocities, or both.

    names  of its rows, where only a trial tells them
    """
    return constraint.kind.conditions(constraint.name, constraint.data, names)


def in_row_order(found: Sequence[ConstraintCondition]) -> list[ConstraintCondition]:
    """Conditions in the order of their rows: those of positions first."""
    return sorted(found, key=lambda c: not c.holonomic)


class ConstraintRows(NamedTuple):
    """All conditions at an instant: φ (m,), the rates r (k,) with those of φ first, A (k, nv) and b (k,) of A v̇ = b."""

    phi: Vec
    r: Vec
    A: Vec
    b: Vec


def positions(tree: Tree, found: list[ConstraintCondition], t: Scalar, q: Vec) -> Vec:
    """φ(t, q) of all conditions of positions."""
    now = machine_state(tree, t, q, Vec([0.0] * tree.nv))
    return Vec([x for c in found if c.holonomic for x in c.residual(now)])


def speeds(tree: Tree, found: list[ConstraintCondition], t: Scalar, q: Vec, v: Vec) -> Vec:
    """r(t, q, v): the rates of φ along the motion, then the conditions of velocities."""

    def along(s: Vec) -> Vec:
        return positions(tree, found, t + s[0], q + s[0] * rate(tree, q, v))

    rates: list[Scalar] = []
    if any(c.holonomic for c in found):
        _, slopes = jacobian(along, vec(0.0 * q[0]))
        rates = [row[0] for row in slopes]
    now = machine_state(tree, t, q, v)
    return Vec([*rates, *(x for c in found if not c.holonomic for x in c.residual(now))])


def rows(tree: Tree, found: list[ConstraintCondition], t: Scalar, q: Vec, v: Vec) -> ConstraintRows:
    """The rows of all conditions at an instant.

    A = ∂r/∂v,  b = −d/ds r(t + s, q + s q̇, v):  ṙ = A v̇ − b                           Udwadia (3)–(5)
    """
    r, A = jacobian(lambda w: speeds(tree, found, t, q, w), v)
    _, turning = jacobian(lambda s: speeds(tree, found, t + s[0], q + s[0] * rate(tree, q, v), v), vec(0.0 * q[0]))
    return ConstraintRows(positions(tree, found, t, q), r, A, Vec([-row[0] for row in turning]))
