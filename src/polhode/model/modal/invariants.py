"""Minimal inertia invariants of a body with modes, and the points whose motion has the same.

With u = Σ q_i φ_i(r0) the kinetic energy ½ ∫|ẋ + ω × (r0 + u) + u̇|² dm depends on the modes by

    S_i = ∫φ_i dm,  B0_i = ∫φ_i r0ᵀ dm,  B_ij = ∫φ_i φ_jᵀ dm                                            FLEXIBLE §5

alone. The same numbers belong to a few points: B = Σ μ_n Φ_nᵀΦ_n is a sum over points of mass μ_n at u_n = Φ_n q; B0 is
that of three points with a first moment e_b, which stays in body axes, at Σ q_i B0_i e_b; and S less what these have is
that of two points of opposite mass. What they all have while q = 0 is taken off.
"""

from typing import NamedTuple

import numpy as np

from polhode.model.modal.matrices import FiniteElements
from polhode.model.modal.reduction import displacements

SAME = 1e-9
"""The part of the largest entry by which a mass matrix may differ from Ms ⊗ I₃."""

ROUNDING = 4e-15
"""Numbers below this part of the largest are 0: rounding left them."""


class Invariants(NamedTuple):
    """What the kinetic energy knows of the modes, beside mass, centre and inertia."""

    S: np.ndarray
    """(k, 3)"""
    B0: np.ndarray
    """(k, 3, 3)"""
    B: np.ndarray
    """(k, 3, k, 3)"""
    is_exact: bool
    """Whether the mass matrix is of the form Ms ⊗ I₃. Else S, the vector of B0 and the trace of B are those of the
    whole matrix, and the rest that of the displacements alone."""


def invariants(fe: FiniteElements, R: np.ndarray, modes: np.ndarray, origin: np.ndarray) -> Invariants:
    """The invariants of modes (n, k) about a frame at an origin.  R: the rigid motions (n, 6) about (0, 0, 0)"""
    k, shape = modes.shape[1], displacements(fe, modes)
    Ms, is_exact = _scalar_mass(fe)
    places = fe.nodes - origin
    moved = (Ms @ shape.reshape(len(shape), 3 * k)).reshape(shape.shape)
    S = np.einsum("adi->id", moved)
    B0 = np.einsum("adi,ab->idb", moved, places)
    B = np.einsum("adi,aej->idje", shape, moved)
    if not is_exact:
        whole = R.T @ (fe.M @ modes)  # momenta of the modes: ∫φ, ∫r0 × φ
        S = whole[:3].T
        L = (whole[3:] - np.cross(origin, whole[:3], axis=0)).T
        B0 = (B0 + np.swapaxes(B0, 1, 2)) / 2 + np.array([_skew(x) for x in L]).reshape(k, 3, 3) / 2
        missing = modes.T @ (fe.M @ modes) - np.einsum("idjd->ij", B)
        B = B + np.einsum("ij,de->idje", missing, np.eye(3)) / 3
    return Invariants(S, B0, B, is_exact)


def _skew(x: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


def _scalar_mass(fe: FiniteElements) -> tuple[np.ndarray, bool]:
    """Ms (nodes, nodes) of a mass matrix Ms ⊗ I₃, and whether it is that; else the mean over the three directions."""
    n = len(fe.nodes)
    node, direction = fe.freedoms.T
    parts = []
    for d in range(3):
        own = np.flatnonzero(direction == d)
        block = fe.M[own][:, own].tocoo()
        rows, columns = node[own][block.row], node[own][block.col]
        parts.append(type(fe.M)((block.data, (rows, columns)), shape=(n, n)))
    mean = (parts[0] + parts[1] + parts[2]) / 3
    size = float(np.max(abs(fe.M.data)))
    apart = max(float(np.max(abs((part - mean).data), initial=0.0)) for part in parts)
    same = fe.M.tocoo()
    across = same.data[direction[same.row] != direction[same.col]]
    turning = same.data[(direction[same.row] == direction[same.col]) & (direction[same.row] > 2)]
    worst = max(apart, *(float(np.max(abs(x), initial=0.0)) for x in (across, turning)))
    return mean, worst <= SAME * size


def points(found: Invariants, mass: float, size: float) -> np.ndarray:
    """Rows (n, 4 + 3k) of points: mass, first moments, displacements per mode; the first is what all have at q = 0.

    mass, size  of the body, kg and m: what points are made of the order of
    """
    k = len(found.S)
    squares = _squares(found.B.reshape(3 * k, 3 * k))
    each = mass / max(len(squares), 1)
    rows = [(sign * each, ORIGIN, root / np.sqrt(each)) for sign, root in squares]
    left = (found.S - sum((m * u.reshape(k, 3) for m, _, u in rows), np.zeros((k, 3)))).ravel()
    if np.any(left):
        rows += [(sign * mass, ORIGIN, sign * left / (2 * mass)) for sign in (1.0, -1.0)]
    arm = mass * size
    for b, axis in enumerate(np.eye(3)):
        if np.any(shape := _rounded(found.B0[:, :, b].ravel(), float(np.max(abs(found.B0))))):
            rows.append((0.0, arm * axis, shape / arm))
    still = [-sum(m for m, _, _ in rows), *(-sum((h for _, h, _ in rows), ORIGIN)), *[0.0] * (3 * k)]
    return np.array([still, *([m, *h, *u] for m, h, u in rows)])


ORIGIN = np.zeros(3)


def _rounded(x: np.ndarray, size: float) -> np.ndarray:
    return np.where(abs(x) > ROUNDING * size, x, 0.0)


def _squares(B: np.ndarray) -> list[tuple[float, np.ndarray]]:
    """Signs and vectors with B = Σ ± r rᵀ: Cholesky's, the largest first, and eigenvectors of what is not positive."""
    left, found = (B + B.T) / 2, []
    largest = float(np.max(np.diag(left), initial=0.0))
    for _ in range(len(left)):
        p = int(np.argmax(np.diag(left)))
        if left[p, p] <= 1e-14 * largest:
            break
        root = left[:, p] / np.sqrt(left[p, p])
        root = np.where(abs(root) > ROUNDING * np.sqrt(largest), root, 0.0)
        found.append((1.0, root))
        left = left - np.outer(root, root)
        left[p, :] = left[:, p] = 0.0
    values, vectors = np.linalg.eigh(left)
    for value, vector in zip(values, vectors.T, strict=True):
        if abs(value) > 1e-14 * largest:
            found.append((float(np.sign(value)), _rounded(np.sqrt(abs(value)) * vector, np.sqrt(largest))))
    return found
