"""One row for each operation: its meaning, its derivative, and the text of every backend agree."""

import ctypes
import subprocess
from math import inf, nan

import numpy as np
import pytest

from close import assert_close
from emulated import GCC, Emulated
from polhode.kernel import Builder, Graph, Port, Symbol, evaluate, jacobian, replay, trace
from polhode.kernel.backends import c, cuda
from polhode.kernel.backends.llvm import function_text
from polhode.kernel.backends.llvm.compile import build, lanes
from polhode.kernel.operations import MEANING, OPERATIONS
from polhode.scalar import Vec, where

WITH_OPERANDS = {name for name, operation in OPERATIONS.items() if operation.arity}
NUMBERS = [name for name in OPERATIONS if name in WITH_OPERANDS and not OPERATIONS[name].condition]
LIBRARY = {"sin", "cos", "tan", "asin", "acos", "atan2", "exp", "log"}
"""What IEEE 754 does not round in one way: a unit in the last place may differ."""

POINTS = [0.0, -0.0, 0.3, -0.9, 1.0, -1.0, 7.5, 1e-300, -1e200, 4e6, inf, -inf, nan]
ROWS = np.array([(x, POINTS[(3 * k + 1) % len(POINTS)], POINTS[(5 * k + 2) % len(POINTS)])
                 for shift in range(3) for k, x in enumerate(POINTS[shift:] + POINTS[:shift])])  # fmt: skip


def single(op):
    """The graph of one operation on x (3,): conditions are x[1] < x[0] and x[1] <= x[2]; a condition gives 1 or 0."""
    builder = Builder(op)
    x = [builder.input(f"x[{k}]") for k in range(3)]
    first, second = builder.apply("less", x[1], x[0]), builder.apply("less_equal", x[1], x[2])
    args = {"select": [first, x[1], x[2]], "and": [first, second], "or": [first, second], "not": [first]}
    node = builder.apply(op, *args.get(op, x[: OPERATIONS[op].arity]))
    if op == "not":  # alone, a choice by it would be a choice by its operand
        node = builder.apply("and", node, second)
    if OPERATIONS[op].condition:
        node = builder.apply("select", node, builder.constant(1.0), builder.constant(0.0))
    return Graph.pruned(op, [Port("x", (3,), tuple(x))], [Port("y", (), (node,))], builder.nodes, 0)


def on_llvm(graph, folder):
    for width in (1, lanes()):
        (found,) = build(graph, width)(ROWS)
        yield found
        (quickly,) = build(graph, width, quick=True)(ROWS)
        assert np.array_equal(quickly, found, equal_nan=True)


def on_c(graph, folder):
    text = folder / "one.c"
    text.write_text(c.c_source(graph, "one"))
    subprocess.run([*GCC, text, "-o", text.with_suffix(".so"), "-lm"], check=True)
    function, found = ctypes.CDLL(str(text.with_suffix(".so"))).one, np.empty(len(ROWS))
    for k, row in enumerate(ROWS):
        function(ctypes.c_void_p(row.ctypes.data), ctypes.c_void_p(found[k:].ctypes.data))
    yield found


def on_cuda(graph, folder):
    yield Emulated(graph, folder)(len(ROWS), x=ROWS)


BACKENDS = {"llvm": (function_text.TEXT, on_llvm), "c": (c.TEXT, on_c), "cuda": (cuda.TEXT, on_cuda)}
"""Of every backend its table of text, and what runs a graph on all rows."""


def test_every_operation_has_a_meaning_and_a_cost():
    assert {*MEANING} == WITH_OPERANDS
    assert all(operation.cost >= 1 for operation in OPERATIONS.values())


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_backend_covers_every_operation(backend):
    assert {*BACKENDS[backend][0]} == WITH_OPERANDS


@pytest.mark.parametrize("op", sorted(WITH_OPERANDS))
@pytest.mark.parametrize("backend", BACKENDS)
def test_the_text_of_every_backend_computes_the_meaning(backend, op, tmp_path):
    graph = single(op)
    assert sum(node.op == op for node in graph.nodes) >= 1, "simplified away"
    expected = evaluate(graph, x=ROWS)
    for found in BACKENDS[backend][1](graph, tmp_path):
        if op in LIBRARY:
            np.testing.assert_allclose(found, expected, rtol=4.5e-16, atol=5e-324)
        else:
            np.testing.assert_array_equal(found, expected)
            numbers = ~np.isnan(expected)
            np.testing.assert_array_equal(np.signbit(found[numbers]), np.signbit(expected[numbers]))


@pytest.mark.parametrize("op", sorted(WITH_OPERANDS - {"fma"}))  # of symbols an fma is a product and a sum
def test_a_meaning_on_symbols_is_the_operation_itself(op):
    graph = single(op)
    again = trace(lambda x: replay(graph, x=x), x=(3,))
    assert again.nodes == graph.nodes


def test_an_fma_of_symbols_is_a_product_and_a_sum():
    graph = trace(lambda x: MEANING["fma"](*x), x=(3,))
    assert graph.operations == {"mul": 1, "add": 1}


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("op", NUMBERS)
def test_each_derivative_is_the_limit_of_differences(op, mode):
    graph = single(op)
    for x in ([0.6, 0.3, -1.2], [-0.4, 0.7, 2.0], [0.2, -0.9, 0.5]):
        x = np.abs(x) if op in ("sqrt", "log") else np.array(x)
        h, steps = 1e-6, 1e-6 * np.eye(3)
        expected = (evaluate(graph, x=x + steps) - evaluate(graph, x=x - steps)) / (2 * h)
        found = evaluate(jacobian(graph, mode=mode), x=x)["d_y_d_x"]
        assert_close(found, expected, condition=1e4)  # rounding / h, and h² times the third derivative


def test_every_operation_on_numbers_has_a_derivative_by_each_of_them():
    assert [*NUMBERS] == [name for name, operation in OPERATIONS.items() if operation.derivative]
    for op in NUMBERS:
        numbers = OPERATIONS[op].arity - (op == "select")

        def partials(x, op=op):
            given = [x[1] < x[0], x[1], x[2]] if op == "select" else [*x][: OPERATIONS[op].arity]
            found = OPERATIONS[op].derivative(MEANING[op](*given), *given)
            return Vec([slope if isinstance(slope, (float, Symbol)) else where(slope, 1.0, 0.0) for slope in found])

        assert trace(partials, x=(3,)).outputs[0].shape == (numbers,)
