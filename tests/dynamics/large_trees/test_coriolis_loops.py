"""The Coriolis matrix in loops: that of the momenta of subtrees, for all joints."""

import numpy as np
import pytest

import polhode as ph
from machines import ALL, random_model, random_q
from polhode.dynamics.large_trees.coriolis_loops import coriolis
from polhode.kernel import trace
from polhode.kernel.backends.llvm.compile import build
from polhode.model import make_tree, regrouped

TREES = {"hinges": ["revolute"] * 6, "flying": ["free", "revolute", "spherical"], "all": ALL}


@pytest.mark.parametrize("kinds", TREES.values(), ids=TREES)
def test_the_coriolis_matrix_in_loops_is_that_written_out(kinds):
    model, rng = random_model(kinds, 4), np.random.default_rng(2)
    tree = regrouped(make_tree(model))
    q, v = random_q(model, rng, (9,)), rng.normal(size=(9, model.nv))
    (found,) = build(trace(lambda q, v: coriolis(tree, q, v), q=(model.nq,), v=(model.nv,)))(q, v)
    expected = ph.compile(model, target="python").coriolis(q, v)
    assert np.max(abs(found - expected)) <= 1e-12 * np.max(abs(expected))
