"""The constrained dynamics of a model: user functions are tried, and natural sizes of rows computed, by the compiler.

What follows from conditions and sizes is in `constrain`, which knows no compiler.
"""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from polhode.constrain.absolute_coordinates import AbsoluteCoordinates
from polhode.constrain.constrained_dynamics import ConstrainedDynamics, RecordedRows
from polhode.constrain.constraint_policy import DEFAULT_POLICY, ConstraintPolicy
from polhode.constrain.multiplier_forces import between_bodies
from polhode.constrain.row_scales import Scales, mobility_terms, scales
from polhode.dynamics import constraints
from polhode.model import Model, make_tree
from polhode.model.constraints.base import ConstraintCondition
from polhode.model.description import check_constraint
from polhode.model.per_model_cache import once_each
from polhode.model.user_kinds import is_by_user, user_kinds
from polhode.scalar import Vec
from polhode.system.function_constraints import check_linear, row_names
from polhode.system.number_inputs import NumberInputs, tree_inputs
from polhode.system.tree_kernel import tree_kernel

COMPILED = 40
"""Velocities up to which a kernel computes natural sizes, of a model whose numbers are inputs: it is written out, and
grows with their square."""


def constrained_dynamics(model: Model, policy: ConstraintPolicy = DEFAULT_POLICY) -> ConstrainedDynamics | None:
    """The constrained dynamics of a model; None for one without constraints."""
    if not model.constraints:
        return None
    found, scales_of_rows, recorded = _conditions(model)
    between = tuple(between_bodies(model.constraints))
    return ConstrainedDynamics(found, scales_of_rows, policy, AbsoluteCoordinates.of(model), recorded, between)


@once_each
def _conditions(model: Model) -> tuple[tuple[ConstraintCondition, ...], Scales, RecordedRows | None]:
    """The conditions of a model, checked; natural sizes of their rows; the rows, traced once, unless users' functions
    are among them."""
    found: list[ConstraintCondition] = []
    for constraint in model.constraints:
        check_constraint(model, constraint)
        kind = constraint.kind
        made = constraints.conditions(constraint, row_names(model, constraint) if kind.rows_by_trial else ())
        for condition in made if is_by_user(type(kind)) else ():
            if not condition.holonomic:
                check_linear(model, condition)
        found += made
    own = any(is_by_user(type(c.kind)) or any(map(callable, c.data.values())) for c in model.constraints)
    tree = make_tree(model)
    by_kernel = model.number_inputs and tree.nv <= COMPILED
    sizes = scales(model, tree, tuple(found), partial(_mobility_terms, model) if by_kernel else None)
    return tuple(found), sizes, None if own else RecordedRows.of(tree, found)


def _mobility_terms(model: Model, positions: Sequence[Vec]) -> Iterator[list[np.ndarray]]:
    """`mobility_terms` at several configurations, by a kernel that takes the numbers of the model."""
    shapes = {"q": (model.nq,)}
    kernel = tree_kernel(model, "row scales", mobility_terms, shapes, 1, is_kept=not user_kinds(model))
    for parts in zip(*kernel(np.array(positions, dtype=float)), strict=True):
        yield list(parts)


@once_each
def number_inputs(model: Model, policy: ConstraintPolicy) -> NumberInputs:
    """The numbers of a model as inputs of kernels, under a constraint policy."""
    constrained = constrained_dynamics(model, policy)
    return inputs_with_scales(model, constrained) if constrained else tree_inputs(model)


def inputs_with_scales(
    model: Model, constrained: ConstrainedDynamics | None, given: Sequence[str] = ()
) -> NumberInputs:
    """The numbers of a model as inputs, natural sizes of the rows of its constraints among them.

    given  as of `NumberInputs`
    """
    if constrained is None:
        return NumberInputs(model, given=given)
    sizes = constrained.scales
    return NumberInputs(model, (*sizes.sizes, *sizes.units), f"light {sizes.singular_mass}", given)
