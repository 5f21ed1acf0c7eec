"""Rank by singular values against the fundamental equation and the elimination."""

import numpy as np
import pytest

import polhode as ph
from close import assert_close
from linalg.test_augmented import problem
from polhode.linalg.orthogonal import row_basis
from polhode.linalg.rank import (
    RankedRows,
    column_spaces,
    left_null_parts,
    left_over,
    metric_factor,
    null_space,
    rank_of,
    scaled_rows,
)
from polhode.scalar import Vec

TOLERANCE = 1e-10


@pytest.mark.parametrize(("n", "k", "dependent"), [(2, 1, 0), (4, 3, 1), (3, 5, 2), (6, 4, 0), (3, 0, 0)])
def test_rows_of_any_rank_give_the_motion_of_the_fundamental_equation(n, k, dependent):
    M, A, f, b = problem(np.random.default_rng(n + 10 * k), n, k, dependent)
    K = metric_factor(M)
    sizes = np.linalg.norm(np.linalg.solve(K, A.T), axis=0)
    rows, expected = RankedRows(A, K, sizes, TOLERANCE), ph.fundamental.solve(M, f, A, b, sizes=sizes)
    a, lam = rows.constrained(f, b)
    size = np.sqrt(np.diag(M))
    assert rows.rank == expected.rank == k - dependent
    assert_close(size * a, size * expected.acceleration, 1e4)
    assert_close(lam @ A / size, expected.force / size, 1e4)
    assert_close(rows.basis.T @ M @ rows.basis, np.eye(n - rows.rank), 1e4)
    assert_close(scaled_rows(A, K, sizes) @ K.T @ rows.basis, np.zeros((k, n - rows.rank)), 1e4)
    assert list(left_null_parts(rows.U, rows.rank) > 1e-7) == list(expected.redundant)
    assert_close(rows.left_null.T @ rows.B, np.zeros((dependent, n)), 1e4)


def test_a_singular_metric_takes_the_rows_along():
    """M = 0 along the last unknown, which the conditions hold: the multipliers are those of M alone."""
    M, A, f, b = np.diag([2.0, 3, 0]), np.array([[1.0, 0, 1], [2, 0, 2]]), np.array([1.0, 2, 0.5]), np.array([3.0, 6])
    sizes = np.array([1.5, 2.5])
    a, lam = RankedRows(A, metric_factor(M, A, sizes), sizes, TOLERANCE, weighted=True).constrained(f, b)
    assert_close(a, [0.25, 2 / 3, 2.75], 10)
    assert_close(M @ a, f + lam @ A, 10)


def test_several_right_sides_are_columns():
    M, A, f, b = problem(np.random.default_rng(2), 5, 3, 1)
    rows = RankedRows(A, metric_factor(M), np.ones(3), TOLERANCE)
    a, lam = rows.constrained(np.array([f, 2 * f]).T, np.array([b, 2 * b]).T)
    one, own = rows.constrained(f, b)
    assert_close(a, np.array([one, 2 * one]).T, 1e4)
    assert_close(lam, np.array([own, 2 * own]).T, 1e4)


def test_each_member_of_a_batch_has_its_own_rank():
    rng = np.random.default_rng(1)
    A = rng.normal(size=(3, 4, 5))
    A[1, 3] = A[1, 0] - A[1, 2]
    A[2, 1:] = 0.0
    M = np.array([np.diag(1 + rng.random(5)) for _ in range(3)])
    B = scaled_rows(A, metric_factor(M), np.ones(4))
    U, s, _ = np.linalg.svd(B)
    rank = rank_of(s, np.full(3, TOLERANCE))
    assert rank.tolist() == [4, 3, 1]
    redundant = left_null_parts(U, rank) > 1e-7
    assert redundant.tolist() == [[False] * 4, [True, False, True, True], [False, True, True, True]]


@pytest.mark.parametrize("shape", [(4, 6), (6, 4), (3, 3)])
def test_what_rows_have_left_are_the_pivots_of_the_elimination(shape):
    B = np.random.default_rng(4).normal(size=shape)
    B[-1] = B[0] + 1e-6 * B[-1]
    basis = row_basis(Vec([Vec(row) for row in B.tolist()]), TOLERANCE)
    pivots = np.zeros(shape[0])
    pivots[np.argmax(basis.P, axis=1)[: min(shape)]] = basis.L.diagonal()
    found = left_over(B)
    assert_close(found, pivots, 1e4)
    assert_close(np.array(basis.basis) @ np.array(basis.basis).T, np.eye(min(shape)), 10)


def test_spaces_of_columns_and_null_spaces_make_up_everything():
    X = np.random.default_rng(5).normal(size=(6, 2)) @ np.random.default_rng(6).normal(size=(2, 4))
    own, across = column_spaces(X, 1e-9)
    assert (own.shape, across.shape) == ((6, 2), (6, 4))
    assert_close(own @ own.T @ X, X, 100)
    assert_close(across.T @ X, np.zeros((4, 4)), 100)
    assert_close(X @ null_space(X, 1e-9), np.zeros((6, 2)), 100)
    assert null_space(1e-12 * X, 1e-9).shape == (4, 4)  # nothing, against 1
