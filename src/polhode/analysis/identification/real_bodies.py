"""Least squares over the inertial parameters of real bodies: those of some positive density, and no others.

    P = [Σ  h; hᵀ m] positive definite,   Σ = ½ tr(I) 1 − I                                               Wensing (2018)

    minimise ½ |A π − b|² + Σ_bodies (tr(P₀⁻¹ P) − log det P)                                               Lee (2020)

The second term is convex, keeps every P positive definite, and draws it to that of a body P₀ known before: near P₀ it
is half the square of the relative change, so it counts as one measurement of each parameter.
"""

from typing import NamedTuple

import numpy as np

from polhode.dynamics.regressors import PAIRS

LEAST = 1e-6
"""Eigenvalues of P₀ of a body without extent, relative to the largest of their kind, up to which they are raised: rods
and disks are at the border of what is possible."""

STEPS, SETTLED = 200, 1e-9
"""Newton steps at most, and the square of the last one, in the metric of the second derivatives: twice what is left to
gain of the minimum, whose unit is one measurement."""

HALVINGS, GAINED = 60, 1e-4
"""How often a step is halved, and the part of what its slope promises that it must gain.  Nocedal-Wright (2006) §3.1"""


def pseudo_inertia(values: np.ndarray) -> np.ndarray:
    """P (..., 4, 4) of inertial parameters (..., 10)."""
    return np.tensordot(values, _basis(), axes=1)


def _basis() -> np.ndarray:
    """P of each unit parameter (10, 4, 4)."""
    found = np.zeros((10, 4, 4))
    found[0, 3, 3] = 1.0
    for k in range(3):
        found[1 + k, k, 3] = found[1 + k, 3, k] = 1.0
    for k, (i, j) in enumerate(PAIRS, 4):
        if i == j:
            found[k, :3, :3] = np.eye(3) / 2
            found[k, i, i] = -0.5
        else:
            found[k, i, j] = found[k, j, i] = -1.0
    return found


def is_physical(values: np.ndarray) -> np.ndarray:
    """Whether inertial parameters (..., 10) are those of a body of positive density."""
    return np.linalg.eigvalsh(pseudo_inertia(values))[..., 0] > 0


def with_extent(values: np.ndarray) -> np.ndarray:
    """Inertial parameters (10,) of a body with mass; one without extent, or impossible, gets the least extent."""
    P = pseudo_inertia(values)
    m, c = P[3, 3], P[:3, 3] / P[3, 3]
    moments, axes = np.linalg.eigh(P[:3, :3] - m * np.outer(c, c))
    least = LEAST * max(float(moments[-1]), LEAST * float(m))
    if moments[0] >= least:
        return values
    second = axes * np.maximum(moments, least) @ axes.T + m * np.outer(c, c)
    inertia = np.trace(second) * np.eye(3) - second
    return np.array([m, *(m * c), *(inertia[i, j] for i, j in PAIRS)])


class _Point(NamedTuple):
    x: np.ndarray
    cost: float
    rows: np.ndarray
    """The matrix of Newton's least squares."""
    right: np.ndarray


def least_squares(A: np.ndarray, b: np.ndarray, first: np.ndarray, bodies: int) -> np.ndarray:
    """x least in the squares |A x − b|²/2 and the terms of bodies.

    A, b    rows of unit noise
    first   (n,)  ten parameters of each body, known before and of positive density; then numbers that are free
    bodies  how many there are
    """
    E, count = _basis(), 10 * bodies
    known = np.linalg.inv(pseudo_inertia(first[:count].reshape(-1, 10)))

    def at(x: np.ndarray) -> _Point | None:
        P = pseudo_inertia(x[:count].reshape(-1, 10))
        try:
            L = np.linalg.cholesky(P)
        except np.linalg.LinAlgError:
            return None
        # the slopes of the terms are Mᵀ s and their second derivatives MᵀM, so a Newton step is one of least squares
        back = np.linalg.inv(L)
        M = np.einsum("nij,kjl,nml->nimk", back, E, back).reshape(-1, 16, 10)
        s = (np.swapaxes(L, 1, 2) @ known @ L - np.eye(4)).reshape(-1, 16)
        rows = np.zeros((16 * bodies, len(x)))
        for k in range(bodies):
            rows[16 * k : 16 * k + 16, 10 * k : 10 * k + 10] = M[k]
        left = A @ x - b
        apart = np.trace(known @ P, axis1=1, axis2=2) - 2 * np.sum(np.log(np.diagonal(L, axis1=1, axis2=2)), axis=1)
        return _Point(x, float(left @ left / 2 + np.sum(apart)), np.vstack([A, rows]), -np.append(left, s))

    now = at(first)
    assert now is not None
    for _ in range(STEPS):
        sizes = np.linalg.norm(now.rows, axis=0) + 1e-300
        step = np.linalg.lstsq(now.rows / sizes, now.right, rcond=None)[0] / sizes
        slope = float(now.right @ (now.rows @ step))
        following, part = None, 1.0
        for _ in range(HALVINGS):
            following = at(now.x + part * step)
            if following is not None and following.cost <= now.cost - GAINED * part * slope:
                break
            following, part = None, part / 2
        if following is None:
            break
        now = following
        if slope < SETTLED:
            break
    return now.x
