"""Multipliers and null space against the fundamental equation, in numbers alone."""

import numpy as np
import pytest

import polhode as ph
from close import assert_close
from linalg.test_constrained import on_symbols
from polhode.kernel import evaluate, trace
from polhode.kernel.backends.llvm.compile import build
from polhode.linalg import augmented
from polhode.linalg.augmented import by_multipliers
from polhode.linalg.constrained import ConstrainedProblem
from polhode.linalg.null_space import by_null_space
from polhode.scalar import Vec

WAYS = {"multipliers": by_multipliers, "null-space": by_null_space}
TOLERANCE = 1e-10


def problem(rng, n, k, dependent):
    """A full metric in bad units, rows the last of which follow from the others, and b that can be met."""
    units = np.exp(rng.normal(size=n) * 2)
    X = rng.normal(size=(n, n))
    M = (X @ X.T + n * np.eye(n)) * np.outer(units, units)
    A = rng.normal(size=(k, n)) * units
    A[k - dependent :] = rng.normal(size=(dependent, k - dependent)) @ A[: k - dependent]
    return M, A, rng.normal(size=n) * units, A @ (rng.normal(size=n) / units)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("unrolled", [0, 100])
@pytest.mark.parametrize(("n", "k", "dependent"), [(2, 1, 0), (4, 3, 1), (3, 5, 2), (6, 4, 0)])
def test_every_way_is_the_fundamental_equation(way, unrolled, n, k, dependent, monkeypatch):
    monkeypatch.setattr(augmented, "UNROLLED", unrolled)
    M, A, f, b = problem(np.random.default_rng(n + 10 * k), n, k, dependent)
    K = np.linalg.cholesky(M)
    sizes = np.linalg.norm(np.linalg.solve(K, A.T), axis=0)

    def solved(M, A, f, b):
        return WAYS[way](ConstrainedProblem(M, A, sizes.tolist(), TOLERANCE), [(f, b)])[0]

    graph, given = on_symbols(solved, M, A, f, b)
    expected = ph.fundamental.solve(M, f, A, b, sizes=sizes)
    for found in (evaluate(graph, **given), build(graph, 1)(*given.values())):
        a, multipliers, rank, rows, missing, pivots = found
        size = np.sqrt(np.diag(M))
        assert_close(size * a, size * expected.acceleration, 1e4)
        assert_close(multipliers @ A / size, expected.force / size, 1e4)
        assert_close(missing, np.zeros(k), 1e4)
        assert (rank, np.sum(rows), np.count_nonzero(pivots)) == (k - dependent, dependent, k - dependent)


@pytest.mark.parametrize("way", WAYS)
def test_several_right_sides_share_the_factors(way):
    rng = np.random.default_rng(3)
    M, A, *_ = problem(rng, 7, 4, 1)
    sides = [(rng.normal(size=7), A @ rng.normal(size=7)) for _ in range(3)]

    def solved(fs, bs):
        given = ConstrainedProblem(*(Vec([Vec(row) for row in X.tolist()]) for X in (M, A)), [1.0] * 4, TOLERANCE)
        found = WAYS[way](given, list(zip(fs, bs, strict=True)))
        return tuple(x.a for x in found), tuple(x.multipliers for x in found)

    fs, bs = (np.array(x) for x in zip(*sides, strict=True))
    vectors, multipliers = evaluate(trace(solved, fs=fs.shape, bs=bs.shape), fs=fs, bs=bs)
    for a, lam, (f, b) in zip(vectors, multipliers, sides, strict=True):
        expected = ph.fundamental.solve(M, f, A, b)
        assert_close(a, expected.acceleration, 1e5)
        assert_close(lam @ A, expected.force, 1e6)


@pytest.mark.parametrize("way", WAYS)
def test_a_singular_metric_serves_where_the_answer_is_unique(way):
    """M = 0 along the last unknown, which the conditions hold."""
    M, A, f, b = np.diag([2.0, 3, 0]), np.array([[1.0, 0, 1], [2, 0, 2]]), np.array([1.0, 2, 0.5]), np.array([3.0, 6])

    def solved(f, b):
        given = ConstrainedProblem(*(Vec([Vec(row) for row in X.tolist()]) for X in (M, A)), [1.0, 1.0], TOLERANCE)
        return WAYS[way](given, [(f, b)])[0]

    a, multipliers, rank, *_ = evaluate(trace(solved, f=(3,), b=(2,)), f=f, b=b)
    assert_close(M @ a, f + multipliers @ A, 10)
    assert_close(A @ a, b, 10)
    assert_close(a, [0.25, 2 / 3, 2.75], 10)
    assert rank == 1
