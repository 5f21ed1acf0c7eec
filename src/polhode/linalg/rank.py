"""Rank by singular values, on arrays of floats: conditions in a metric, null spaces, spaces of columns.

    B = D⁻¹A K⁻ᵀ = U diag(s) Vᵀ,   M = K Kᵀ,   D: natural sizes of the rows;      rank = how many s exceed a tolerance

Singular values tell how near rows are to dependent, and which sets of rows are: what a diagnosis asks and an
elimination cannot answer. Golub, Van Loan (2013) §5.4.
"""

from typing import Any

import numpy as np

from polhode.linalg.blas_threads import small_by_one_thread


@small_by_one_thread
def metric_factor(M: np.ndarray, A: np.ndarray | None = None, sizes: np.ndarray | None = None) -> np.ndarray:
    """K (..., n, n) of M = K Kᵀ; with rows A (..., k, n) and their sizes of M + AᵀD⁻²A, where M alone is singular."""
    if A is None or sizes is None:
        return np.linalg.cholesky(M)
    return np.linalg.cholesky(M + np.swapaxes(A / sizes[:, None] ** 2, -1, -2) @ A)


@small_by_one_thread
def scaled_rows(A: np.ndarray, K: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """B = D⁻¹A K⁻ᵀ (..., k, n); rows of zeros, often many, cost nothing."""
    B = np.zeros_like(A)
    present = np.any(A != 0, axis=(*range(A.ndim - 2), -1))
    rows = np.linalg.solve(K, np.swapaxes(A[..., present, :], -1, -2))
    B[..., present, :] = np.swapaxes(rows, -1, -2) / sizes[present, None]
    return B


@small_by_one_thread
def decomposed_rows(B: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """U (k, k), singular values (min(k, n)) and Vᵀ (n, n) of B (k, n); rows of zeros, often many, cost nothing."""
    k, present = len(B), np.any(B != 0, axis=1)
    m = int(np.sum(present))
    U, singular = np.zeros((k, k)), np.zeros(min(B.shape))
    U[present, :m], values, Vt = np.linalg.svd(B[present])
    U[~present, m:] = np.eye(k - m)
    singular[: len(values)] = values
    return U, singular, Vt


@small_by_one_thread
def left_decomposed_rows(B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """U (k, m) and singular values (m) of B (k, n), m = min(k, n); rows of zeros cost nothing."""
    k, present = len(B), np.any(B != 0, axis=1)
    U, singular = np.zeros((k, min(B.shape))), np.zeros(min(B.shape))
    few, values, _ = np.linalg.svd(B[present], full_matrices=False)
    U[present, : len(values)], singular[: len(values)] = few, values
    for i, row in zip(range(len(values), len(singular)), np.flatnonzero(~present), strict=False):
        U[row, i] = 1.0
    return U, singular


@small_by_one_thread
def singular_values(B: np.ndarray) -> np.ndarray:
    """(..., min(k, n))  of B (..., k, n); rows of zeros, often many, cost nothing."""
    found = np.zeros((*B.shape[:-2], min(B.shape[-2:])))
    values = np.linalg.svd(B[..., np.any(B != 0, axis=(*range(B.ndim - 2), -1)), :], compute_uv=False)
    found[..., : values.shape[-1]] = values
    return found


@small_by_one_thread
def symmetric_eigenpairs(M: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The eigenvalues (n), ascending, and the eigenvectors, the columns of (n, n), of a symmetric matrix (n, n)."""
    values, vectors = np.linalg.eigh(M)
    return values, vectors


@small_by_one_thread
def left_singular_vectors(B: np.ndarray) -> np.ndarray:
    """(..., k, k)  of B (..., k, n)"""
    return np.linalg.svd(B)[0]


def rank_of(singular: np.ndarray, tolerance: Any) -> np.ndarray:
    """(...)  how many of the singular values (..., m) exceed a tolerance (...)."""
    return np.sum(singular > np.asarray(tolerance)[..., None], axis=-1)


def left_null_parts(U: np.ndarray, rank: Any) -> np.ndarray:
    """(..., k)  the part that each row has in the left null vectors, U (..., k, k) from the rank on; 0: in none."""
    null = np.arange(U.shape[-1]) >= np.asarray(rank)[..., None, None]
    return np.linalg.norm(np.where(null, U, 0.0), axis=-1)


def left_over(B: np.ndarray) -> np.ndarray:
    """(k)  what each row (k, n) has left when those that have more were taken from it: the pivots of an elimination."""
    from scipy.linalg import qr

    R, order = qr(B.T, mode="r", pivoting=True)
    found = np.zeros(len(B))
    found[order[: min(B.shape)]] = abs(np.diag(R))
    return found


@small_by_one_thread
def column_spaces(X: np.ndarray, tolerance: float, least: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Orthonormal bases (m, r), (m, m − r) of what the columns of X (m, n) span, and of what is across all of them.

    tolerance  singular values up to this part of the largest, or of `least` where that is larger, count as 0
    """
    U, s, _ = np.linalg.svd(X)
    rank = int(rank_of(s, tolerance * max(least, float(np.max(s, initial=0.0)))))
    return U[:, :rank], U[:, rank:]


def null_space(A: np.ndarray, tolerance: float, least: float = 1.0) -> np.ndarray:
    """Orthonormal columns x (n, n − r) with A x = 0; tolerance, least: as in `column_spaces`."""
    return column_spaces(A.T, tolerance, least)[1]


class RankedRows:
    """Conditions A (k, n) of any rank in the metric K Kᵀ, by the singular vectors of their scaled rows.

    weighted  whether K is the factor of M + AᵀD⁻²A
    """

    def __init__(
        self, A: np.ndarray, K: np.ndarray, sizes: np.ndarray, tolerance: float, weighted: bool = False
    ) -> None:
        self.A, self.K, self.sizes, self.weighted = A, K, sizes, weighted
        self.B = scaled_rows(A, K, sizes)
        self.U, self.singular, self.Vt = decomposed_rows(self.B)
        self.rank = int(rank_of(self.singular, tolerance))

    @property
    def left_null(self) -> np.ndarray:
        """(k, k − rank)  left null vectors of B, orthonormal."""
        return self.U[:, self.rank :]

    @property
    def basis(self) -> np.ndarray:
        """(n, n − rank)  directions d with A d = 0, orthonormal in the metric."""
        return np.linalg.solve(self.K.T, self.Vt[self.rank :].T)

    def constrained(self, f: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """a, λ of M a = f + Aᵀλ, A a = b, λ the shortest by sizes; one column each or several.

        y = (I − VVᵀ) K⁻¹f + V z,  z = s⁻¹UᵀD⁻¹b;   λ = D⁻¹U s⁻¹(z − VᵀK⁻¹f)                  Udwadia (12), (45)
        """
        U, s, V = self.U[:, : self.rank], self.singular[: self.rank], self.Vt[: self.rank]
        c = (b.T / self.sizes).T
        if self.weighted:
            f = f + self.A.T @ (c.T / self.sizes).T
        y = np.linalg.solve(self.K, f)
        eta = ((U.T @ c).T / s).T - V @ y
        lam = (U @ (eta.T / s).T).T / self.sizes
        return np.linalg.solve(self.K.T, y + V.T @ eta), lam.T
