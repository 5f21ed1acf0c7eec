"""The stages of an explicit rule in a loop are the stages written out."""

import numpy as np
import pytest

import polhode as ph
from polhode.integrate.explicit import looped, runge_kutta
from polhode.integrate.tableaus import BS32, DOP853, RK4
from polhode.kernel import evaluate, trace
from polhode.kernel.backends.llvm.compile import build
from polhode.scalar import Vec, sin
from polhode.simulation import compiled_run


def rhs(t, x):
    return Vec([sin(x[i - 1]) - t * x[i] for i in range(len(x))])


@pytest.mark.parametrize("tableau", [RK4, BS32, DOP853], ids=lambda tableau: tableau.name)
def test_a_loop_over_stages_is_the_rule(tableau):
    x = np.random.default_rng(1).normal(size=11)

    def found(rule):
        return lambda x, t, h: tuple(y for part in [rule(rhs, t, x, h)] for y in (part.x, *part.errors))

    written = evaluate(trace(found(runge_kutta(tableau)), x=(11,), t=(), h=()), x=x, t=0.3, h=0.1)
    graph = trace(found(looped(tableau)), x=(11,), t=(), h=())
    for results in (evaluate(graph, x=x, t=0.3, h=0.1), build(graph, 1)(x, np.array(0.3), np.array(0.1))):
        for a, b in zip(np.atleast_2d(results), np.atleast_2d(written), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-15)
    plain = looped(tableau)(rhs, 0.3, Vec(x.tolist()), 0.1)
    np.testing.assert_allclose(plain.x, runge_kutta(tableau)(rhs, 0.3, Vec(x.tolist()), 0.1).x, rtol=1e-15)


def test_a_large_machine_runs_the_same_way_in_loops(monkeypatch):
    model, options = ph.load("chain-6"), {"duration": 0.2, "tolerance": 1e-9, "samples": 4}
    written = ph.simulate(model, **options)
    monkeypatch.setattr(compiled_run, "WRITTEN", 0)
    in_loops = ph.simulate(model, **options, events=[ph.Event("never", lambda t, q, v: t - 10.0)])
    assert np.max(abs(in_loops["q"].values - written["q"].values)) < 1e-9
