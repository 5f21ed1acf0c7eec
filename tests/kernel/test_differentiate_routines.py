"""Reverse derivatives through routines without loops, and chains that go side by side."""

import numpy as np
import pytest

from close import assert_close
from polhode.errors import CompileError
from polhode.kernel import evaluate, jacobian, pullback, pushforward, trace
from polhode.kernel.backends.llvm.compile import build, lanes
from polhode.kernel.backends.llvm.in_place import chained
from polhode.scalar import SharedFunction, Vec, cos, iterate, sin, sqrt, where


def shared_twice(x, a):
    """A function that becomes one routine, called at two places, with a branch that is undefined elsewhere."""

    def inner(u, w):
        root = where(u[0] > 0, sqrt(u[0]), u[1])
        return Vec([sin(u[0]) * w[0] + a, u[1] * u[0] * cos(a), root])

    f = SharedFunction("inner", inner)
    y = f(x, Vec([2 * x[1]]))
    z = f(Vec([y[0], y[1]]), Vec([y[2]]))
    return Vec([z[0] + y[0], where(x[0] > 0, z[1], y[2]), z[2]])


def given(n=40):
    rng = np.random.default_rng(1)
    return {"x": rng.normal(size=(n, 2)), "a": rng.normal(size=n)}


@pytest.mark.parametrize("target", ["evaluate", "compiled"])
def test_a_routine_without_loops_is_gone_back_through(target):
    graph, values = trace(shared_twice, x=(2,), a=()), given()
    weights = np.random.default_rng(2).normal(size=(len(values["a"]), 3))
    slopes = evaluate(jacobian(graph, mode="forward"), **values)
    back = pullback(graph)
    if target == "evaluate":
        found = evaluate(back, **values, result_bar=weights)
    else:
        found = dict(zip(("x_bar", "a_bar"), build(back)(*values.values(), weights), strict=True))
    assert_close(found["x_bar"], np.einsum("ni,nij->nj", weights, slopes["d_result_d_x"]), 100)
    assert_close(found["a_bar"], np.einsum("ni,ni->n", weights, slopes["d_result_d_a"]), 100)


def test_second_derivatives_back_and_forth_agree():
    values = given()
    back = pullback(trace(shared_twice, x=(2,), a=()))
    more = {**values, "result_bar": np.ones((len(values["a"]), 3))}
    twice = evaluate(pullback(back, of="x_bar", suffix="_2", wrt="x"), **more, x_bar_2=values["x"])["x_2"]
    forward = evaluate(pushforward(back, wrt="x"), **more, x_dot=values["x"])["x_bar_dot"]
    assert_close(twice, forward, 1000)


def test_a_loop_that_does_not_depend_on_what_changes_is_no_hindrance():
    def function(x, t):
        power = iterate(lambda s: (Vec([s[0] * t]), True), Vec([t]), 3)[0]
        return Vec([x[0] * power, x[1]])

    graph = trace(function, x=(2,), t=())
    with pytest.raises(CompileError, match="no way back"):
        pullback(graph)
    found = evaluate(pullback(graph, wrt="x"), x=[1.0, 2.0], t=3.0, result_bar=[1.0, 5.0])
    np.testing.assert_array_equal(found["x_bar"], [81.0, 5.0])


@pytest.mark.parametrize("side", [8, 11])
def test_chains_side_by_side_are_those_one_by_one(side):
    graph = trace(lambda row, a: Vec([row[1], sin(row[0]) + a * row[1]]), row=(2,), a=())
    rng, n = np.random.default_rng(3), 6
    start, a = rng.normal(size=(side, 2)), rng.normal(size=n)
    together = np.empty((n + 1, side, 2))
    together[0] = start
    wide = build(graph, lanes())
    chained(wide, together.reshape(-1, 2), [np.repeat(a, side)], apart=side)
    for k in range(side):
        alone = np.empty((n + 1, 2))
        alone[0] = start[k]
        chained(build(graph, 1), alone, [a])
        np.testing.assert_array_equal(together[:, k], alone)
