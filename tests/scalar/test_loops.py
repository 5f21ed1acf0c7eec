"""Loops over arrays on generic scalars: one text for numbers, batches, complex steps, symbols."""

import numpy as np
import pytest
import sympy

from close import assert_close
from machines import ALL, random_model, random_q
from polhode.dynamics import forward, inertia, inverse
from polhode.dynamics.large_trees import loops, subtree_rows
from polhode.kernel import evaluate, trace
from polhode.kernel.routine import routines
from polhode.model import make_tree
from polhode.scalar import Dual, SharedFunction, Vec, equal, is_zero, loops_for, sin, split, stack, unless_valid, where

X = np.random.default_rng(3).normal(size=(6, 5))


def ordered(x):
    """Numbers in decreasing order, with where each stood, by exchanges of rows; and a walk over a table."""
    n = len(x)
    with loops_for("ordered", x) as r:
        given, found, places = r.given("x", x, sparse=True), r.output("found", n), r.output("places", n)
        number, order, chosen = r.table("number", range(n)), r.array("order", n), r.array("chosen", 1)
        for i in r.range(n):
            order[i] = number[i]
        for p in r.range(n):
            chosen[0] = number[p]
            most = r.array("most", 1)
            most[0] = given[p]
            for i in r.range(p, n):
                larger = given[i] > most[0]
                most[0], chosen[0] = where(larger, given[i], most[0]), where(larger, number[i], chosen[0])
            r.exchange(n, p, chosen, ((given, 1), (order, 1)))
            found[p] = given[p]
            r.put(places, 0, n, order, p, number[p])
        kinds, total = r.lookup("kinds", [0, 1] * n), r.output("total", 1)
        for i in r.range(0, n, down=True):
            for kind in r.cases(kinds.at(i), [0, 1]):
                total[0] = total[0] + (given[i] if kind else 10.0 * given[i])
    return Vec(r.results())


def expected(x):
    order = np.argsort(-x)
    ranks, found = np.argsort(order), x[order]
    return np.array([*found, *ranks, sum(y * (1 if i % 2 else 10) for i, y in enumerate(found))])


def test_one_text_serves_numbers_batches_and_symbols():
    wanted = np.array([expected(x) for x in X])
    on_floats = np.array([ordered(Vec(x.tolist())) for x in X])
    on_batches = np.array(ordered(split(X, 1))).T
    on_symbols = evaluate(trace(ordered, x=(5,)), x=X)
    for found in (on_floats, on_batches, on_symbols):
        assert_close(found, wanted)


def test_loops_are_recorded_unless_they_are_to_be_written_out():
    def summed(x, written_out):
        with loops_for("sum", x, written_out=written_out) as r:
            given, total = r.given("x", x), r.output("total", 1)
            for i in r.range(len(x)):
                total[0] = total[0] + given[i]
        return r.results()[0]

    rolled, straight = (trace(lambda x, w=w: summed(x, w), x=(4,)) for w in (False, True))
    assert "call" in {node.op for node in rolled.nodes}
    assert "call" not in {node.op for node in straight.nodes}


def test_a_structural_zero_is_zero_whatever_the_state():
    assert is_zero(0.0)
    assert is_zero(np.float64(0))
    assert not is_zero(np.zeros(3))
    assert not is_zero(Dual(0.0, 1.0))
    assert not is_zero(sympy.Symbol("x"))
    seen = []
    trace(lambda x: seen.extend([is_zero(x[0]), is_zero(0.0 * x[0]), is_zero(x[0] - x[0])]) or x, x=(1,))
    assert seen == [False, True, True]


def test_numbers_of_every_kind_are_compared_for_equality():
    x = sympy.Symbol("x")
    assert equal(x, 1.0) == sympy.Eq(x, 1.0)
    assert bool(equal(Dual(1.0, 3.0), 1.0))
    assert not equal(2.0, 1.0)


def test_a_shared_function_is_one_routine_in_a_trace_and_itself_on_numbers():
    calls = []

    def inner(u):
        calls.append(u)
        return Vec([sin(u[0]) + u[1], u[0] * u[1]])

    shared = SharedFunction("inner", inner)
    twice = lambda x: shared(shared(x))
    graph = trace(twice, x=(2,))
    assert len(calls) == 1
    x = np.array([0.3, -0.7])
    assert_close(evaluate(graph, x=x), np.array(twice(Vec(x.tolist()))))
    assert len(calls) == 3


def test_a_shared_function_of_its_arguments_alone_is_one_routine_in_all_traces():
    calls = []

    def inner(u):
        calls.append(len(u))
        return Vec([sin(u[0]) + 2.0])

    def of_symbols(x):
        return SharedFunction("outer", lambda u: Vec([u[0] * x[1]]))(Vec([x[0]]))

    shared = SharedFunction("inner", inner)
    first, second = (trace(lambda x, k=k: shared(Vec([x[k]])), x=(2,)) for k in (0, 1))
    assert calls == [1]
    assert routines(first)[0] is routines(second)[0]
    x = np.array([0.3, -0.7])
    assert_close(evaluate(first, x=x), np.sin(x[:1]) + 2)
    assert_close(evaluate(second, x=x), np.sin(x[1:]) + 2)
    assert_close(evaluate(trace(lambda x: shared(x[::-1]), x=(2,)), x=x), np.sin(x[1:]) + 2)
    assert calls == [1, 2]  # of other lengths: another routine
    assert_close(evaluate(trace(of_symbols, x=(2,)), x=x), x[:1] * x[1])


def test_a_shared_function_that_uses_symbols_is_recorded_in_each_trace():
    kept = {}
    shared = SharedFunction("inner", lambda u: Vec([u[0] * kept["factor"]]))

    def function(x):
        kept["factor"] = x[1]
        return shared(Vec([x[0]]))

    x = np.array([0.3, -0.7])
    graphs = [trace(function, x=(2,)) for _ in range(2)]
    assert routines(graphs[0])[0] is not routines(graphs[1])[0]
    for graph in graphs:
        assert_close(evaluate(graph, x=x), x[:1] * x[1])


def test_a_longer_way_runs_where_a_shortcut_was_not_valid():
    safe = lambda x: unless_valid(x[0] > 0, Vec([x[0] * 2]), lambda: Vec([x[0] * x[0] + 7]))
    wanted = np.where(X[:, 0] > 0, 2 * X[:, 0], X[:, 0] ** 2 + 7)[:, None]
    assert_close(np.array([safe(Vec(x.tolist())) for x in X]), wanted)
    assert_close(np.array(safe(split(X, 1))).T, wanted)
    assert_close(evaluate(trace(safe, x=(5,)), x=X), wanted)
    assert unless_valid(True, Vec([1.0]), lambda: pytest.fail("ran")) == (1.0,)


def test_passes_over_a_tree_in_loops_run_on_numbers_and_batches():
    model = random_model(list(ALL), 3)
    tree, rng = make_tree(model), np.random.default_rng(5)
    q, v, w = random_q(model, rng, (4,)), rng.normal(size=(4, model.nv)), rng.normal(size=(4, model.nv))
    for rolled, plain, more in (
        (loops.inverse_dynamics, inverse.inverse_dynamics, (v, w)),
        (loops.forward_dynamics, forward.forward_dynamics, (v, w)),
        (subtree_rows.mass_matrix, inertia.mass_matrix, ()),
    ):
        states = [split(x, 1) for x in (q, *more)]
        one = [Vec([float(x[0]) for x in state]) for state in states]
        assert_close(np.array(rolled(tree, *one), dtype=float), np.array(plain(tree, *one), dtype=float), 10)
        assert_close(stack(rolled(tree, *states), (4,)), stack(plain(tree, *states), (4,)), 10)
