"""A small study that several tests run."""

import numpy as np

import polhode as ph
from polhode.ensemble.study import study

RUNS = 200
OPTIONS = {
    "runs": RUNS,
    "seed": 4,
    "duration": 0.2,
    "step": 1e-3,
    "method": "rk4",
    "every": 20,
    "derived": {"bodies.lower.mass": "ratio*bodies.upper.mass"},
    "outputs": {"height": "-cos(q.hinge) - cos(q.hinge + q.elbow)"},
    "stop": {"down": ph.Stop("q.hinge", -1)},
    "measures": {"highest": ph.Measure("max", "height"), "last": ph.Measure("final", "q.elbow")},
}


def samples():
    return {
        "bodies.upper.mass": ph.Normal(1.0, 0.1),
        "ratio": ph.LogUniform(0.5, 2.0),
        "start.q.hinge": ph.Uniform(0.0, 1.5),
        "start.v": ph.Listed([[0.0, 0.0], [1.0, -1.0], [-1.0, 0.5]]),
    }


def small(**other):
    return study(ph.load("double-pendulum"), samples(), **(OPTIONS | other))


def same(a, b):
    """Whether two Datasets hold the same bits."""
    assert set(a.data_vars) == set(b.data_vars)
    for name in a.data_vars:
        assert np.array_equal(a[name].values, b[name].values, equal_nan=a[name].dtype.kind == "f"), name
    return True
