"""Routines for code of one state: lanes have their operations written out, with the same bits."""

import re

import numpy as np
import pytest

from polhode.kernel import evaluate, trace
from polhode.kernel.backends.llvm import parts
from polhode.kernel.backends.llvm.compile import build
from polhode.kernel.routine import routines
from polhode.kernel.schedule import divided, fused
from polhode.kernel.written_out import written_out
from polhode.scalar import Vec, loops_for

N = 11
"""States: no multiple of any lane width."""

ROWS, COLUMNS = 5, 11


def columns(x, one_state=True):
    """Sums along columns, each scaled, in rows; their numbers are computed before, and used after."""
    given = [x[k % 4] * x[(k + 2) % 4] * k - x[(k + 1) % 4] for k in range(ROWS * COLUMNS - 1)]
    with loops_for("columns", given) as r:
        A = r.given("A", [*given, 0.5])
        B, S = r.array("B", ROWS * COLUMNS, unset=True), r.output("S", ROWS * COLUMNS, unset=True)
        for c in r.together(COLUMNS):
            total = A[c] * x[3]
            for i in range(ROWS):
                total = total - A[i * COLUMNS + c] * x[i % 4]
                B[i * COLUMNS + c] = total
        for i in r.range(ROWS):
            for c in r.together(3):
                S[i * COLUMNS + c] = -B[i * COLUMNS + c]
            for c in r.together(3, COLUMNS):
                S[i * COLUMNS + c] = B[i * COLUMNS + c]
    found = r.results(one_state=one_state)
    return Vec(found), found[7] * x[0]


def states(count=N):
    return np.random.default_rng(3).normal(size=(count, 4))


def same_bits(found, expected):
    return all(np.array_equal(a.view(np.int64), b.view(np.int64)) for a, b in zip(found, expected, strict=True))


def test_what_is_written_out_has_no_routine_and_no_operation_twice():
    graph = fused(trace(columns, x=(4,)))
    found = written_out(graph)
    assert [routine.one_state for routine in routines(graph)] == [True]
    assert not routines(found)
    assert len({node for node in found.nodes if node.args}) == sum(bool(node.args) for node in found.nodes)
    x = states(1)[0]
    for a, b in zip(evaluate(found, x=x), evaluate(graph, x=x), strict=True):
        assert np.array_equal(a, b)


def test_graphs_without_such_routines_are_left_alone():
    graph = fused(trace(lambda x: columns(x, one_state=False), x=(4,)))
    assert written_out(graph) is graph


@pytest.mark.parametrize("width", [1, 2, 4, 8])
@pytest.mark.parametrize("most", [0, 10**6])
def test_one_state_has_the_bits_of_lanes(width, most, monkeypatch):
    """In one piece and in parts, which hand arguments and results on in memory."""
    monkeypatch.setattr(parts, "MOST_OPERATIONS", most)
    monkeypatch.setattr(parts, "MOST_RESULTS", most)
    graph, x = trace(columns, x=(4,)), states()
    expected = [np.array(rows) for rows in zip(*[evaluate(fused(graph), x=row) for row in x], strict=True)]
    kernel = build(graph, width)
    assert same_bits(kernel(x), [np.reshape(y, (N, *y.shape[1:])) for y in expected])
    for row, *found in zip(x, *kernel(x), strict=True):
        assert same_bits(kernel(row), found)
    assert re.findall(r"define internal void @routine0_(\d)\(", kernel.source) == ["1"]


def test_arguments_and_results_of_one_state_lie_where_they_are_wanted():
    graph = fused(trace(lambda x: columns(x)[0], x=(4,)))
    division = divided(graph)
    ((call, first),) = division.given.items()
    args = graph.nodes[call].args
    elsewhere = [a for place, a in enumerate(args, first) if division.slot.get(a) != place]
    assert all(graph.nodes[a].op in ("input", "constant") for a in elsewhere)
    assert division.found[call] == len(graph.inputs[0].nodes)
