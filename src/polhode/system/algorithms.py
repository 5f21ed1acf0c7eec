"""Which algorithm computes a quantity: of those that apply, the one with fewest operations; and its graph.

Trees are regrouped where nothing asks for their bodies one by one. Derivatives come from the graph of inverse dynamics;
those of large trees by recursion; on numbers, from dual numbers.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from polhode.dynamics import inertia, kinematics
from polhode.dynamics.arguments import Arguments
from polhode.dynamics.coupled_inertia import is_coupled
from polhode.dynamics.factored_columns import solve_columns
from polhode.dynamics.large_trees import christoffel_loops, derivatives
from polhode.dynamics.large_trees.loops import is_large
from polhode.dynamics.normal_forces import loaded_joints
from polhode.dynamics.state_inertia import at_state, is_fixed
from polhode.dynamics.with_forces import applied_forces, forward_by_factors, forward_dynamics, inverse_dynamics
from polhode.kernel import Graph, jacobian, replay, trace
from polhode.kernel.hoist import hoisted
from polhode.kernel.schedule import fused
from polhode.kernel.stage_clock import stage
from polhode.model import Tree, regrouped
from polhode.scalar import Dual, Vec
from polhode.system.quantity import FIELDS, NUMBERS, WHOLE, Algorithm, Argument, Quantity, Request, Subject, SystemSpec

FACTORED = 12
"""Velocities up to which factors of the mass matrix may take fewer operations than articulated bodies."""

DIFFERENTIATED = 900
"""The sum of the squared depths of velocities up to which derivatives come from a graph that is written out, which
has some 20 operations for each. Of forward dynamics so and in loops, one call and a state in batches: `chain-12` (650)
5.8 and 3.5 µs, 1.0 and 1.2; `quadruped` (867) 4.7 and 5.1, 1.0 and 2.2; `chain-16` (1496) 13 and 4.4, 2.4 and 1.9."""

DIFFERENTIATED_TWICE = 150
"""The same for second derivatives, by the time that they take to compile: chains of 8 and 10 (204, 385) 3.5 and 6 s in
loops, 6 and 16 s written out, of 20 24 s in loops."""

SYMBOLS_WRITTEN_OUT = 1000
"""The same for Christoffel symbols. Written out and in loops, one call and a state in batches: `chain-12` (650) 1.9 and
2.6 µs, 1.3 and 1.5; `quadruped` (867) 4.7 and 4.3, 3.6 and 6.0; `chain-14` (1015) 3.7 and 3.6, 2.4 and 3.3; `chain-20`
(2870) 19 and 4.5, 7.8 and 7.2. In loops `chain-20` is compiled in 0.26 s, `chain-50` in 1.1 s (`polhode bench`)."""

Shapes = Mapping[Argument, tuple[int, ...]]


def candidates(quantity: Quantity, spec: SystemSpec) -> list[Algorithm]:
    """The algorithms of a quantity that serve a System."""
    return [algorithm for algorithm in quantity.algorithms if algorithm.applies(spec)]


def cheapest(quantity: Quantity, spec: SystemSpec, subject: Subject, shapes: Shapes) -> tuple[Algorithm, Graph]:
    """The algorithm of a quantity with fewest operations, and its graph."""
    found = [(one, _traced(quantity, one, spec, subject, shapes)) for one in candidates(quantity, spec)]
    return min(found, key=lambda pair: operations(pair[1])) if len(found) > 1 else found[0]


def operations(graph: Graph) -> int:
    """The number of operations of a graph, fused ones counted once, without those on numbers alone."""
    numbers = [port.name for port in graph.inputs if port.name == str(NUMBERS) or port.name.startswith("parameters.")]
    return (hoisted(graph, numbers).main if numbers else fused(graph)).operations.total()


def graph_of(quantity: Quantity, spec: SystemSpec, subject: Subject, shapes: Shapes) -> Graph:
    """The graph of a quantity with fewest operations; its last input is the time where no others follow."""
    return cheapest(quantity, spec, subject, shapes)[1]


class ChosenDynamics(NamedTuple):
    """The algorithm of v̇ that a run takes, as a function of `Arguments`."""

    function: Callable[[Arguments], Vec]
    tree: Tree
    """The tree that it works on."""
    rolled: bool
    """Whether it goes over the elements in loops."""
    operations: int | None
    """The number of operations of its graph; None in loops and under constraints, where it is not written out."""


def chosen_dynamics(forward: Quantity, spec: SystemSpec, on: SystemSpec | None = None) -> ChosenDynamics:
    """The cheapest algorithm of forward dynamics, of t, q, v, τ and the numbers that are inputs.

    on  the same with symbols among its numbers, to be traced
    """
    shapes = {Argument(name): spec.shape(FIELDS[name]) for name in ("t", "q", "v", "tau")}
    if spec.inputs:
        shapes[NUMBERS] = spec.inputs.values.shape
    first, on = candidates(forward, spec)[0], on or spec
    regroup = regroups(first, spec, shapes)
    tree, rolled = regrouped(on.tree) if regroup else on.tree, regroup and is_large(spec.tree)
    algorithm, count = first, None
    if not (rolled or spec.policy):
        algorithm, graph = cheapest(forward, spec, WHOLE, shapes)
        count = operations(graph)
    return ChosenDynamics(lambda x: algorithm.function(Request.of(on, x)), tree, rolled, count)


def regroups(algorithm: Algorithm, spec: SystemSpec, shapes: Shapes) -> bool:
    """Whether it may work on a regrouped tree: nothing but gravity acts on single bodies."""
    alone = not spec.model.forces and not any(argument.field == "force" for argument in shapes)
    return algorithm.regroups and alone


def _traced(quantity: Quantity, algorithm: Algorithm, spec: SystemSpec, subject: Subject, shapes: Shapes) -> Graph:
    arguments = {str(argument): argument for argument in shapes}
    regroup = regroups(algorithm, spec, shapes)

    def on_symbols(**scalars: Any) -> Any:
        return algorithm.function(Request(spec, {arguments[name]: x for name, x in scalars.items()}, subject, regroup))

    notes = [f"{quantity.what}, by {algorithm.text}"]
    if regroup:
        notes.append(f"on the regrouped tree{', in loops over the joints' if is_large(spec.tree) else ''}")
    graph = trace(on_symbols, **{str(argument): shape for argument, shape in shapes.items()})
    return replace(graph, notes=tuple(notes))


def on_numbers(
    quantity: Quantity, spec: SystemSpec, subject: Subject
) -> Callable[[Mapping[Argument, Any], tuple[int, ...]], Any] | None:
    """The first algorithm of a quantity as a function of numbers; None where it goes by its graph."""
    algorithm = candidates(quantity, spec)[0]
    if algorithm.by_graph:
        return None
    function = algorithm.on_numbers or algorithm.function
    return lambda scalars, batch: function(Request(spec, scalars, subject, batch=batch))


# derivatives


def by_recursion(spec: SystemSpec, beyond: int | None = None) -> bool:
    """Whether derivatives of a tree are better taken by recursion, in loops, than from a graph that is written out.

    beyond  the sum of the squared depths of velocities from which on they are; DIFFERENTIATED unless given
    """
    depths = [0] * (len(spec.tree.elements) + 1)  # the ground's is the last
    squares = 0
    for i, e in enumerate(spec.tree.elements):
        depths[i] = depths[e.parent] + len(e.v)
        squares += sum((depths[e.parent] + k + 1) ** 2 for k in range(len(e.v)))
    return squares > (DIFFERENTIATED if beyond is None else beyond) and _recursion_applies(spec.tree)


def twice_by_recursion(spec: SystemSpec) -> bool:
    """The same of second derivatives."""
    return by_recursion(spec, DIFFERENTIATED_TWICE)


def symbols_in_loops(spec: SystemSpec) -> bool:
    """The same of Christoffel symbols."""
    return by_recursion(spec, SYMBOLS_WRITTEN_OUT)


def christoffel_in_loops(r: Request) -> Vec:
    """The Christoffel symbols, in loops over the tree."""
    return christoffel_loops.christoffel(_moving_tree(r), r.x.q)


def _recursion_applies(tree: Tree) -> bool:
    return derivatives.applies(tree) and is_fixed(tree) and not loaded_joints(tree) and not is_coupled(tree)


def inverse_slopes(r: Request) -> tuple[Vec, ...]:
    """∂τ/∂q (tangent), ∂τ/∂v, ∂τ/∂v̇."""
    return _slopes(r, r.scalars, ("step", "v", "vd"))


def forward_slopes(r: Request, written_out: bool = False) -> tuple[Vec, ...]:
    """∂v̇/∂q (tangent), ∂v̇/∂v, ∂v̇/∂τ.

    ∂v̇/∂x = −M⁻¹ ∂τ/∂x at the v̇ of the motion, ∂v̇/∂τ = M⁻¹

    written_out  without loops, to be differentiated again
    """
    x = r.x
    if loaded_joints(x.tree):  # friction that depends on v̇
        dq, dv, dtau = _slopes(r, r.scalars, ("step", "v", "tau"), lambda r: forward_dynamics(r.x))
        return dq, dv, dtau
    dq, dv = _slopes(r, {**_without(r, "tau"), Argument("vd"): forward_by_factors(x)}, ("step", "v"))
    L, D = inertia.factor(x.tree, inertia.mass_matrix(at_state(x).tree, x.q))  # shared with v̇
    return *solve_columns(x.tree, L, D, dq, dv, written_out=written_out), inertia.inverse_factored(x.tree, L, D)


def inverse_slopes_by_recursion(r: Request) -> tuple[Vec, ...]:
    """∂τ/∂q (tangent), ∂τ/∂v, ∂τ/∂v̇, by recursion over the tree."""
    x = r.x
    return derivatives.inverse_derivatives(_moving_tree(r), x.q, x.v, x.vd, _slopes_of_applied(r))


def forward_slopes_by_recursion(r: Request) -> tuple[Vec, ...]:
    """∂v̇/∂q (tangent), ∂v̇/∂v, ∂v̇/∂τ, by recursion over the tree."""
    x = r.x
    return derivatives.forward_derivatives(_moving_tree(r), x.q, x.v, x.tau + applied_forces(x), _slopes_of_applied(r))


def _moving_tree(r: Request) -> Tree:
    """The tree of inertia and gravity alone, which may be regrouped whatever else acts."""
    return r.x.tree if r.regroup else regrouped(r.x.tree)


def _slopes_of_applied(r: Request) -> tuple[Vec, Vec]:
    """The derivatives of all generalised forces but gravity along the tangent directions of q and by v."""
    dq, dv = _slopes(r, _without(r, "vd", "tau"), ("step", "v"), lambda r: applied_forces(r.x))
    return dq, dv


def _without(r: Request, *fields: str) -> dict[Argument, Any]:
    """The arguments of a request but for these."""
    return {argument: x for argument, x in r.scalars.items() if argument.field not in fields}


def _slopes(
    r: Request,
    scalars: Mapping[Argument, Any],
    names: tuple[str, ...],
    of: Callable[[Request], Vec] = lambda r: inverse_dynamics(r.x),
) -> tuple[Vec, ...]:
    """Derivatives of inverse dynamics, or of another function, from its graph: along "step", v, v̇.

    "step" stands for the tangent directions of q.
    """
    given = {str(argument): argument for argument in scalars}
    rest = Vec([0.0] * r.spec.model.nv)

    def needed(step: Vec, **inner: Any) -> Vec:
        x = replace(r, scalars={given[name]: value for name, value in inner.items()}).x
        moved = {**inner, "q": x.q + kinematics.rate(x.tree, x.q, step)}
        return of(replace(r, scalars={given[name]: value for name, value in moved.items()}))

    shapes = {name: _shape(scalars[argument]) for name, argument in given.items()}
    values = trace(needed, step=(len(rest),), **shapes)
    with stage("differentiate"):
        graph = jacobian(values, wrt=names)
    found = replay(graph, step=rest, **{name: scalars[argument] for name, argument in given.items()})
    return tuple(found[f"d_result_d_{name}"] for name in names)


def second_slopes(first: Callable[[Request], tuple[Vec, ...]]) -> Callable[[Request], tuple[Vec, ...]]:
    """Derivatives of three matrices, those of a function along q, by v, and by a third argument: all three along the
    tangent directions of q, and the second by v. [i, j, k]: of entry [i, j] along k."""

    def found(r: Request) -> tuple[Vec, ...]:
        n = r.spec.model.nv

        def entries(r: Request) -> Vec:
            return Vec([a for matrix in first(r) for row in matrix for a in row])

        along_q, by_v = _slopes(r, r.scalars, ("step", "v"), entries)
        dq, dv, third = (_matrices(along_q[block * n * n : (block + 1) * n * n], n) for block in range(3))
        return dq, dv, _matrices(by_v[n * n : 2 * n * n], n), third

    return found


def _matrices(rows: Sequence[Vec], n: int) -> Vec:
    """n² rows in n matrices of n rows."""
    return Vec([Vec([*rows[n * i : n * (i + 1)]]) for i in range(n)])


def _shape(value: Any) -> tuple[int, ...]:
    """The axes of an argument on scalars."""
    return (len(value), *_shape(value[0])) if isinstance(value, Vec) and value else (0,) * isinstance(value, Vec)


def slopes_by_graph(function: Callable[[Request], Vec], *fields: str) -> Callable[[Request], tuple[Vec, ...]]:
    """Derivatives of a function along the tangent directions of q, then by these arguments, from its graph."""
    return lambda r: _slopes(r, r.scalars, ("step", *fields), function)


def by_duals(function: Callable[[Arguments], Vec], *fields: str) -> Callable[[Request], tuple[Vec, ...]]:
    """`slopes_by_duals` of a function of the arguments alone."""
    return slopes_by_duals(lambda r: function(r.x), *fields)


def slopes_by_duals(function: Callable[[Request], Vec], *fields: str) -> Callable[[Request], tuple[Vec, ...]]:
    """Derivatives of a function along the tangent directions of q, then by these arguments, on numbers."""

    def slopes(r: Request) -> tuple[Vec, ...]:
        x, n, blocks = r.x, r.spec.model.nv, 1 + len(fields)
        values = x._asdict()
        values["q"] = Vec(map(Dual, x.q, _tangents(x, blocks, r.batch)))
        for block, field in enumerate(fields, 1):
            seeds = np.zeros((n, blocks * n, *r.batch))
            seeds[np.arange(n), block * n + np.arange(n)] = 1.0
            values[field] = Vec(map(Dual, values[field], seeds))
        results = function(r.at(Arguments(**values)))
        found = np.zeros((len(results), blocks * n, *r.batch))  # result, direction, batch
        for row, entry in enumerate(results):
            found[row] = entry.slope if isinstance(entry, Dual) else 0.0
        parts = [found[:, k * n : (k + 1) * n] for k in range(blocks)]
        return tuple(Vec([Vec([*row]) for row in part]) for part in parts)

    return slopes


def _tangents(x: Arguments, blocks: int, batch: tuple[int, ...]) -> np.ndarray:
    """For each coordinate its derivative along each direction: q̇ of the unit velocities."""
    n = x.tree.nv
    seeds = np.zeros((len(x.q), blocks * n, *batch))
    for direction, unit in enumerate(np.eye(n)):
        for k, value in enumerate(kinematics.rate(x.tree, x.q, Vec(unit.tolist()))):
            seeds[k, direction] = value
    return seeds
