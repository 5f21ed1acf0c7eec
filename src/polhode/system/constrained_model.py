"""The constrained dynamics of a model: user functions are tried, and natural sizes of rows computed, by the compiler.

What follows from conditions and sizes is in `constrain`, which knows no compiler.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from polhode.constrain.absolute_coordinates import AbsoluteCoordinates
from polhode.constrain.constrained_dynamics import ConstrainedDynamics, RecordedRows
from polhode.constrain.constraint_policy import DEFAULT_POLICY, ConstraintPolicy
from polhode.constrain.multiplier_forces import between_bodies
from polhode.constrain.row_scales import Scales, mobility_terms, scales
from polhode.dynamics import constraints
from polhode.kernel.backends.llvm.target_machine import processor_identity
from polhode.kernel.cache import key, load_facts, save_facts
from polhode.model import Model, make_tree
from polhode.model.constraints.base import ConstraintCondition
from polhode.model.description import check_constraint
from polhode.model.per_model_cache import once_each
from polhode.model.user_kinds import is_by_user, user_kinds
from polhode.scalar import Vec
from polhode.system.function_constraints import check_linear, row_names
from polhode.system.identity import identity_text
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
    return tuple(found), _scales(model, tuple(found)), None if own else RecordedRows.of(make_tree(model), found)


def _scales(model: Model, found: tuple[ConstraintCondition, ...]) -> Scales:
    """Natural sizes of the rows of conditions; those of a model whose kernels are kept on disk are kept there too.

    To compute them takes 15 ms for `stewart-platform` and 60 ms for `n-four-bar-40`.
    """
    tree = make_tree(model)
    if model.number_inputs:
        return scales(model, tree, found, partial(_mobility_terms, model) if tree.nv <= COMPILED else None)
    name = _name_of_scales(model)
    kept = _kept_scales(load_facts(name), sum(len(each.scales) for each in found)) if name else None
    if kept is None:
        kept = scales(model, tree, found)
        if name:
            save_facts(name, kept._asdict())
    return kept


def _name_of_scales(model: Model) -> str:
    """The name of natural sizes on disk: of the model, of NumPy and of the processor; "" where none are kept."""
    if not (text := identity_text(model)):
        return ""
    try:
        return key("row scales", text, processor_identity())
    except ImportError:  # no compiler
        return ""


def _kept_scales(facts: dict[str, Any] | None, rows: int) -> Scales | None:
    """Natural sizes from the disk; None where there are none of so many rows."""
    if facts is None or {*facts} != {*Scales._fields} or type(facts["singular_mass"]) is not bool:
        return None
    for sizes in (facts["sizes"], facts["units"]):
        if type(sizes) is not list or len(sizes) != rows or not all(type(x) is float and x > 0 for x in sizes):
            return None
    return Scales(tuple(facts["sizes"]), tuple(facts["units"]), facts["singular_mass"])


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
