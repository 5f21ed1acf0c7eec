"""The Christoffel symbols in loops: those that are written out, for all joints, and where a System takes them."""

import numpy as np
import pytest

import polhode as ph
from machines import ALL, random_model, random_q
from polhode.dynamics import covariant
from polhode.dynamics.large_trees.christoffel_loops import christoffel
from polhode.kernel import trace
from polhode.kernel.backends.llvm.compile import build
from polhode.model import make_tree, regrouped
from polhode.scalar import Vec
from polhode.system import algorithms

TREES = {"hinges": ["revolute"] * 6, "flying": ["free", "revolute", "spherical"], "all": ALL}


@pytest.mark.parametrize("kinds", TREES.values(), ids=TREES)
@pytest.mark.parametrize("seed", [4, 5])
def test_christoffel_symbols_in_loops_are_those_written_out(kinds, seed):
    model, rng = random_model(kinds, seed), np.random.default_rng(2)
    tree = regrouped(make_tree(model))
    q = random_q(model, rng, (9,))
    kernel = build(trace(lambda q: christoffel(tree, q), q=(model.nq,)))
    (found,) = kernel(q)
    expected = ph.compile(model, target="python").christoffel(q)
    assert np.max(abs(found - expected)) <= 1e-12 * np.max(abs(expected))
    for one, row in zip(found, q, strict=True):
        assert np.array_equal(kernel(row)[0], one)
    plain = np.array(christoffel(tree, Vec(q[0].tolist())), dtype=float)
    assert np.max(abs(plain - expected[0])) <= 1e-12 * np.max(abs(expected))


def test_armature_of_a_quaternion_is_in_the_symbols_in_loops():
    ball, q = ph.Body("ball", 1.0, (0.1, 0.2, 0.3)), Vec([0.5, 0.5, -0.5, 0.5])

    def symbols(function, armature):
        joints = (ph.Joint("socket", "spherical", "world", "ball", armature=armature),)
        return np.array(function(make_tree(ph.Model("one", bodies=(ball,), joints=joints)), q), dtype=float)

    found, without = symbols(christoffel, 0.7), symbols(christoffel, 0.0)
    assert np.allclose(found, symbols(covariant.christoffel, 0.7), rtol=0, atol=1e-15)
    assert found[0, 1, 2] - without[0, 1, 2] == pytest.approx(0.35)


def test_long_chains_have_their_symbols_in_loops():
    model = ph.load("chain-16")
    system, plain = ph.compile(model), ph.compile(model, target="python")
    assert algorithms.symbols_in_loops(system._spec)
    assert not algorithms.symbols_in_loops(ph.compile(ph.load("chain-7"))._spec)
    q, v = np.random.default_rng(1).normal(size=(2, 16, 16))
    found, expected = system.christoffel(q), plain.christoffel(q)
    assert np.max(abs(found - expected)) <= 1e-12 * np.max(abs(expected))
    assert all(np.array_equal(system.christoffel(one), row) for one, row in zip(q, found, strict=True))
    assert "in loops" in system.source("christoffel")
    C = np.einsum("sabg,sa->sgb", found, v)
    assert np.max(abs(C - system.coriolis(q, v))) <= 1e-12 * np.max(abs(C))
