"""Constraints by user functions: a trial call tells how many rows they have, and whether velocities enter linearly."""

import numpy as np

from polhode.dynamics import kinematics
from polhode.errors import CompileError, message
from polhode.kernel import Graph, evaluate, trace
from polhode.model import Constraint, Model, make_tree
from polhode.model.constraints.base import ConstraintCondition
from polhode.model.constraints.function import function_residual
from polhode.scalar import Vec

LINEAR = 1e-9
"""Bound on r(v + w) − r(v) − r(w) + r(0), relative to its terms, for a residual that counts as linear in v: above
the rounding of functions of many terms (1e-16 each), below any quadratic term that matters."""

TRIES = 3
"""Random states at which linearity is checked."""


def row_names(model: Model, constraint: Constraint) -> tuple[str, ...]:
    """The names of the rows of a constraint by a user function; a CompileError tells what is wrong with it."""
    where, rows = f"constraint '{constraint.name}', function", constraint.data.get("rows")
    count = rows if rows is None or isinstance(rows, int) else len(rows)
    expected = "one number or several" if count is None else f"{count} numbers, as `rows` says"

    def residual(t: float, q: Vec, v: Vec) -> Vec:
        values = function_residual(constraint.name, constraint.data, t, q, v)
        if any(hasattr(value, "__len__") for value in values):
            raise CompileError(message(where, "wrong result", "numbers inside one another", expected))
        if not values or len(values) != (count or len(values)):
            raise CompileError(message(where, "wrong result", f"{len(values) or 'no'} numbers", expected))
        return values

    graph = trace(residual, t=(), q=(model.nq,), v=(model.nv,))
    count = len(graph.outputs[0].nodes)
    names = rows if isinstance(rows, tuple) else tuple(map(str, range(count)))
    if not constraint.data.get("holonomic", True):
        _check_linear(model, graph, where, names)
    return names


def check_linear(model: Model, condition: ConstraintCondition) -> None:
    """Refuse rows of velocities of a user's kind that are not linear in the velocities."""
    tree = make_tree(model)
    graph = trace(
        lambda t, q, v: condition.residual(kinematics.machine_state(tree, t, q, v)), t=(), q=(model.nq,), v=(model.nv,)
    )
    _check_linear(model, graph, f"constraint '{condition.name}'", condition.rows)


def _check_linear(model: Model, graph: Graph, where: str, names: tuple[str, ...]) -> None:
    """Refuse a condition of velocities that is not linear in them: r(v + w) − r(v) − r(w) + r(0) is not 0."""
    rng, tree = np.random.default_rng(0), make_tree(model)
    for _ in range(TRIES):
        v, w, step = rng.normal(size=(3, model.nv))
        q = np.array(kinematics.integrate(tree, Vec(model.zero), Vec(step.tolist())), dtype=float)
        ways = np.array([v + w, v, w, 0 * v])
        found = np.array(evaluate(graph, t=rng.normal(), q=q, v=ways)) * np.array([[1], [-1], [-1], [1]])
        wrong = abs(np.sum(found, axis=0)) > LINEAR * np.sum(abs(found), axis=0)  # NaN is told at the start
        if np.any(wrong):
            row = int(np.argmax(wrong))
            shown = f"row '{names[row]}': r(v + w) − r(v) − r(w) + r(0) = {np.sum(found, axis=0)[row]:.3g}"
            fix = "A condition of velocities is A(t, q) v = b(t, q); one of positions takes (t, q) alone."
            raise CompileError(message(where, "not linear in v", shown, "0", fix))
