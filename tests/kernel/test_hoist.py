"""Numbers apart from states: the two parts of a graph give the bits of the whole, whatever crosses between them."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from polhode import scalar
from polhode.kernel import evaluate, trace
from polhode.kernel.backends.llvm.compile import lanes
from polhode.kernel.backends.llvm.hoisted_kernel import HoistedKernel
from polhode.kernel.hoist import hoisted
from polhode.scalar import SharedFunction, Vec
from random_programs import programs, run


def divided(function, numbers=("p",), **shapes):
    return hoisted(trace(function, **shapes), numbers)


@given(programs(), st.lists(st.floats(-2, 2), min_size=4, max_size=4))
@settings(max_examples=60, deadline=None)
def test_prelude_and_rest_are_the_whole(steps, values):
    parts = divided(lambda x, p, t: run(steps, [*x, *p], 6), x=(2,), p=(2,), t=())
    given = {"x": values[:2], "t": 0.0}
    kept = evaluate(parts.prelude, numbers=values[2:])
    whole = evaluate(parts.whole, numbers=values[2:], **given)
    assert np.array_equal(evaluate(parts.main, kept=kept, **given), whole, equal_nan=True)


def test_what_follows_from_numbers_alone_is_not_in_the_rest():
    def function(x, p):
        return x[0] * (scalar.sqrt(p[0]) * p[1] + 3.0) + p[0] * p[1]

    parts = divided(function, x=(1,), p=(2,))
    assert parts.main.operations == {"fma": 1}
    assert [port.shape for port in parts.main.inputs] == [(1,), (2,)]


def test_conditions_and_results_of_numbers_cross():
    parts = divided(lambda x, p: Vec([scalar.where(p[0] < p[1], x[0], -x[0]), p[0]]), x=(1,), p=(2,))
    for p in ([1.0, 2.0], [2.0, 1.0]):
        kept = evaluate(parts.prelude, numbers=p)
        assert evaluate(parts.main, x=[5.0], kept=kept).tolist() == [5.0 if p[0] < p[1] else -5.0, p[0]]


def test_routines_of_numbers_alone_run_once():
    def function(x, p):
        square = SharedFunction("square", lambda y: Vec([y[0] * y[0]]))
        return square(Vec([p[0]]))[0] + square(Vec([x[0]]))[0]

    parts = divided(function, x=(1,), p=(1,))
    assert sum(node.op == "call" for node in parts.prelude.nodes) == 1
    assert sum(node.op == "call" for node in parts.main.nodes) == 1
    assert evaluate(parts.main, x=[3.0], kept=evaluate(parts.prelude, numbers=[2.0])) == 13.0


def test_without_a_number_in_use_there_is_still_a_kernel():
    kernel = HoistedKernel("", lambda: trace(lambda x, p: 2.0 * x, x=(2,), p=(1,)), ("p",), "twice", 1)
    assert kernel.main(np.ones(2), kernel.kept(np.ones(1)))[0].tolist() == [2.0, 2.0]


@pytest.mark.parametrize("size", [3, 400])
def test_every_lane_has_the_same_numbers_and_bits(size):
    """Small graphs keep numbers in registers, large ones in memory."""

    def function(x, p, t):
        values = [*x, *p]
        for k in range(size):
            values.append(values[k] * values[k + 1] + scalar.sin(values[k + 2]) * p[k % 4])
        return Vec(values[-3:])

    one = HoistedKernel("", lambda: trace(function, x=(3,), p=(4,), t=()), ("p",), "sines", 1)
    wide = one.of_width(lanes())
    rng = np.random.default_rng(0)
    x, p = rng.uniform(-1, 1, size=(21, 3)), rng.uniform(-1, 1, size=4)
    kept = one.kept(p)
    expected = np.array([one.main(row, kept, 0.0)[0] for row in x])
    assert np.array_equal(wide.main(x, kept, 0.0)[0], expected)
    assert np.array_equal(wide.whole(x, np.tile(p, (21, 1)), 0.0)[0], expected)
    assert np.all(np.isfinite(expected))
