"""Columns solved at once by code for one state: those that are alike, their solutions, bits of one state and lanes."""

import numpy as np
import pytest

import polhode as ph
from machines import random_model, random_q
from polhode.dynamics import factored_columns
from polhode.dynamics.factored_columns import Strip, solve_columns
from polhode.dynamics.inertia import factor, mass_matrix
from polhode.kernel import evaluate, trace
from polhode.kernel.routine import routines
from polhode.model import make_tree
from polhode.scalar import Vec

MODELS = {
    "quadruped": lambda: ph.load("quadruped"),
    "arm-7": lambda: ph.load("arm-7"),
    "chain of many kinds": lambda: random_model(["free", "universal", "revolute", "spherical", "screw"], 2, chain=True),
    "branches": lambda: random_model(["revolute", "prismatic"] * 5, 3),
}


@pytest.fixture(params=MODELS)
def model(request):
    return MODELS[request.param]()


def matrix(rows):
    return Vec([Vec(row) for row in rows])


def test_the_columns_are_those_of_the_inverse(model):
    """Of dense columns, of sparse ones, and of none but zeros, on symbols and on numbers."""
    tree, rng = make_tree(model), np.random.default_rng(1)
    n, q = tree.nv, random_q(model, rng)
    sparse = rng.normal(size=(n, n)) * (rng.random((n, n)) < 0.3)
    sparse[:, : n // 3] = 0.0
    B = [rng.normal(size=(n, n)), sparse]

    def solved(q, dense):
        M = mass_matrix(tree, q)
        given = [dense, Vec([Vec([dense[0][0] * x / B[0][0, 0] if x else 0.0 for x in row]) for row in sparse])]
        return *solve_columns(tree, *factor(tree, M), *given), M

    graph = trace(solved, q=(len(q),), dense=(n, n))
    X, Y, M = evaluate(graph, q=q, dense=B[0])
    assert [routine.one_state for routine in routines(graph)] == [True]
    for found, b in ((X, B[0]), (Y, B[1])):
        expected = -np.linalg.solve(M, b)
        assert np.max(abs(found - expected)) <= 1e-13 * np.linalg.cond(M) * np.max(abs(expected))
    floats = solve_columns(tree, *factor(tree, matrix(M)), matrix(B[0]), matrix(B[1]))
    assert np.allclose(np.array(floats), [X, Y], rtol=1e-12, atol=1e-12 * np.max(abs(X)))


def test_columns_that_are_zero_in_the_same_rows_are_alike():
    """But for one row more, and none of zeros alone."""
    a = [[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 2], [0, 0, 0, 3]]
    b = [[0, 5, 0, 0], [0, 5, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    found = factored_columns._groups([matrix(np.array(x, dtype=float).tolist()) for x in (a, b)])
    assert [(group.rows, group.strips) for group in found] == [
        ((0, 1), [Strip(0, 0, 2), Strip(1, 1, 2)]),
        ((2, 3), [Strip(0, 3, 4)]),
    ]


def test_few_columns_are_written_out():
    tree = make_tree(ph.load("double-pendulum"))
    graph = trace(lambda q, b: solve_columns(tree, *factor(tree, mass_matrix(tree, q)), b)[0], q=(2,), b=(2, 2))
    assert not routines(graph)


def test_derivatives_by_loops_are_those_written_out(model, monkeypatch):
    """One state has the bits of lanes; both are those of plain numbers and of the written-out solution to rounding."""
    rng = np.random.default_rng(5)
    q, (v, tau) = random_q(model, rng, (11,)), rng.normal(size=(2, 11, model.nv))
    monkeypatch.setenv("POLHODE_CACHE", "")
    system = ph.compile(model)
    found = system.forward_dynamics_derivatives(q, v, tau)
    for k in range(len(q)):
        one = system.forward_dynamics_derivatives(q[k], v[k], tau[k])
        assert all(np.array_equal(a.view(np.int64), b[k].view(np.int64)) for a, b in zip(one, found, strict=True))
    plain = ph.compile(model, target="python").forward_dynamics_derivatives(q, v, tau)
    monkeypatch.setattr(factored_columns, "AT_ONCE", 10**9)
    long = ph.compile(model).forward_dynamics_derivatives(q, v, tau)
    condition = np.max(np.linalg.cond(system.mass_matrix(q)))
    for a, b, c in zip(found, long, plain, strict=True):
        assert np.max(abs(a - b)) <= 1e-14 * condition * np.max(abs(b))
        assert np.max(abs(a - c)) <= 1e-13 * condition * np.max(abs(c))
