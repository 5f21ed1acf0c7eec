"""Eigenvalues with bounds of their errors, and the stability that follows from both.

A matrix A is known up to some E, ‖E‖ ≤ δ. An eigenvalue that is apart from all others is then known up to κ δ, with
κ = 1/|yᴴx| of its unit left and right vectors. Those of a cluster are not: a chain of m is known up to about δ^(1/m).
The bound of such a one is the radius r of a circle about it where

    σ_min(z − A) > δ  for all z with |z − λ| = r:

A and all A + E have as many eigenvalues inside as each other, since none can pass the circle.
                                           Golub, Van Loan (2013) §7.2.2; Trefethen, Embree (2005) §2
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import eig, matrix_balance

from polhode.linalg.rank import rank_of

EPSILON = float(np.finfo(float).eps)

MARGIN = 16.0
"""The bound of E relative to its estimate, which counts each rounding once, and to what was measured of it in one
direction. Too small a factor calls rounding an instability; a larger one calls what is nearly critical marginal."""

APART = 10.0
"""How many bounds, for each eigenvalue there is, lie between those that are apart and the next: beyond it terms of
second order, (κ δ)² over the distance, are below a tenth of the bound."""

POINTS = 16
"""Points of a circle where σ_min is looked at."""


class Spectrum(NamedTuple):
    """Eigenvalues (n,), 1/s, bounds of their errors (n,), unit right vectors as columns (n, n), null vectors counted.

    A zero is an eigenvalue within its bound of 0. Where as many as there are null vectors are zeros, each belongs to a
    steady motion nearby; where more are, some grow in proportion to time.
    """

    values: np.ndarray
    bounds: np.ndarray
    vectors: np.ndarray
    nullity: int

    @property
    def is_zero(self) -> np.ndarray:
        """(n,) which are 0, within their bounds."""
        return abs(self.values) <= self.bounds

    @property
    def rounded(self) -> np.ndarray:
        """(n,) the eigenvalues, parts of them that are within their bounds made 0."""
        real, imag = (np.where(abs(part) > self.bounds, part, 0.0) for part in (self.values.real, self.values.imag))
        return real + 1j * imag

    @property
    def stability(self) -> str:
        """stable: all real parts are below −bound, but for zeros that are steady motions nearby; unstable: one is above
        its bound; marginal: neither can be told, or neither is so."""
        if np.any(self.values.real > self.bounds):
            return "unstable"
        moving, zeros = ~self.is_zero, int(np.sum(self.is_zero))
        dies_out = bool(moving.any() and np.all(self.values.real[moving] < -self.bounds[moving]))
        return "stable" if dies_out and zeros == self.nullity else "marginal"


def spectrum(A: np.ndarray, error: np.ndarray | float = 0.0) -> Spectrum:
    """The eigenvalues of a real matrix with their bounds.

    A      (n, n)
    error  what its entries (n, n) may be off by, without the rounding of the eigenvalues themselves
    """
    n = len(A)
    if not n:
        return Spectrum(np.zeros(0, dtype=complex), np.zeros(0), np.zeros((0, 0), dtype=complex), 0)
    with np.errstate(invalid="ignore"):  # SciPy turns scales into places of a permutation: large ones are none
        balanced, (scale, _) = matrix_balance(A, permute=False, separate=True)
    size = float(np.linalg.norm(balanced))
    known = np.broadcast_to(np.asarray(error, dtype=float), A.shape) * scale / scale[:, None]
    delta = MARGIN * (EPSILON * n * size + float(np.linalg.norm(known)))
    values, left, right = eig(balanced, left=True, right=True)
    vectors = scale[:, None] * right
    vectors = vectors / np.linalg.norm(vectors, axis=0)
    nullity = n - int(rank_of(np.linalg.svd(balanced, compute_uv=False), delta))
    return Spectrum(values, _bounds(balanced, values, left, right, delta), vectors, nullity)


def _bounds(A: np.ndarray, values: np.ndarray, left: np.ndarray, right: np.ndarray, delta: float) -> np.ndarray:
    """Bounds of the errors of eigenvalues (n,) of a matrix that is known up to delta."""
    n = len(values)
    with np.errstate(divide="ignore"):
        found = delta / abs(np.sum(left.conj() * right, axis=0))
    gaps = abs(values[:, None] - values) + np.where(np.eye(n, dtype=bool), np.inf, 0.0)
    near = ~(APART * n * found < gaps.min(axis=1, initial=np.inf))
    for k in np.flatnonzero(near & (values.imag >= 0)):
        found[k] = _circle(A, values[k], delta)
    for k in np.flatnonzero(near & (values.imag < 0)):  # a pair has one bound
        found[k] = found[int(np.argmin(abs(values - values[k].conj())))]
    return found


def _circle(A: np.ndarray, centre: complex, delta: float) -> float:
    """The radius, up to a factor of 2, of the least circle about an eigenvalue that no eigenvalue can pass."""
    around, one = np.exp(2j * np.pi * np.arange(POINTS) / POINTS), np.eye(len(A))
    radius = 2 * delta
    while radius:
        z = centre + radius * around
        if np.linalg.svd(z[:, None, None] * one - A, compute_uv=False)[:, -1].min() > delta:
            break
        radius = 2 * radius
    return radius
