"""Means of attitudes, and how they scatter."""

from typing import Any

import numpy as np

from polhode.errors import InputError, message
from polhode.quaternion.jacobians import difference, integrate
from polhode.quaternion.signs import canonical
from polhode.scalar import Array, checked_real, shown

UNIQUE = 1e-12
"""Least gap between the two largest eigenvalues, relative to the largest, with which a mean counts as unique: at it
rounding already turns the mean by 1e-4 rad."""

ITERATIONS = 100
"""Steps of the geodesic mean at most; of attitudes within a quarter turn of each other it takes about five."""


def mean(p: Array, weights: Array | None = None, axis: int | tuple[int, ...] | None = None) -> np.ndarray:
    """The attitude with the smallest weighted sum of squared chordal distances.          Markley et al. (2007)

    The eigenvector of Σ w p pᵀ for its largest eigenvalue: the signs of p do not matter. Attitudes without a unique
    mean, as two that are half a turn apart, are an error. Its sign is that of `canonical`.

    p        (..., 4)
    weights  (...)  not negative, not all 0; None: all alike
    axis     of the batch, the one or those to go over; None: all
    ->       (..., 4)  without those axes

    >>> import polhode as ph
    >>> mean = ph.quaternion.mean([[1, 0, 0, 0], [0.28, 0, 0, 0.96]])
    >>> round(ph.quaternion.quaternion_distance(mean, [0.8, 0, 0, 0.6]), 9)
    0.0
    """
    where = "quaternion.mean"
    x, w = _samples(where, p, weights, axis)
    values, vectors = np.linalg.eigh(np.einsum("...n,...ni,...nj->...ij", w, x, x))
    bad = values[..., 3] - values[..., 2] <= UNIQUE * values[..., 3]
    if np.any(bad):
        place = tuple(int(i) for i in np.argwhere(bad)[0])
        found = f"eigenvalues {values[place][3]:.6g} and {values[place][2]:.6g}" + (
            f" at index {place}" if place else ""
        )
        fix = "These attitudes are spread so evenly that several are as near to them all."
        raise InputError(message(where, "no unique mean", found, "a largest one alone", fix))
    return canonical(vectors[..., :, 3])


def geodesic_mean(p: Array, weights: Array | None = None, axis: int | tuple[int, ...] | None = None) -> np.ndarray:
    """The attitude with the smallest weighted sum of squared angles (Karcher's mean), from `mean` onwards.

    p        (..., 4)
    weights  (...)  not negative, not all 0; None: all alike
    axis     of the batch, the one or those to go over; None: all
    ->       (..., 4)  without those axes
    """
    x, w = _samples("quaternion.geodesic_mean", p, weights, axis)
    w = w / np.sum(w, axis=-1, keepdims=True)
    m = np.asarray(mean(p, weights, axis))
    for _ in range(ITERATIONS):
        step = np.einsum("...n,...ni->...i", w, difference(m[..., None, :], x))
        m = integrate(m, step)
        m = m / np.sqrt(np.sum(m * m, axis=-1, keepdims=True))
        if np.max(abs(step), initial=0.0) < 1e-15:
            break
    return canonical(m)


def covariance(p: Array, about: Array, weights: Array | None = None) -> np.ndarray:
    """The weighted mean of φ φᵀ, φ the rotation vectors from one attitude to each of p, in body axes of that one.

    p        (..., n, 4)
    about    (..., 4)  as `mean(p, axis=-1)` gives it: the last batch axis
    weights  (..., n)  not negative, not all 0; None: all alike. Take n/(n − 1) times it for an unbiased estimate
    ->       (..., 3, 3)  rad²
    """
    where = "quaternion.covariance"
    x, w = _samples(where, p, weights, -1)
    m = checked_real(f"{where}, argument about", about, "unit quaternion")
    phi = difference(m[..., None, :], x)
    return np.einsum("...n,...ni,...nj->...ij", w / np.sum(w, axis=-1, keepdims=True), phi, phi)


def _samples(where: str, p: Array, weights: Array | None, axis: Any) -> tuple[np.ndarray, np.ndarray]:
    """Attitudes (..., n, 4) and weights (..., n), the axes to go over joined into the last one of the batch."""
    x = checked_real(f"{where}, argument p", p, "unit quaternion")
    if x.ndim == 1:
        x = x[None]
    batch = x.shape[:-1]
    w = np.ones(batch) if weights is None else checked_real(f"{where}, argument weights", weights, "scalar")
    try:
        w = np.broadcast_to(w, batch)
    except ValueError:
        raise InputError(message(f"{where}, argument weights", "wrong shape", str(w.shape), f"{batch}")) from None
    over = _axes(where, axis, len(batch))
    ends = tuple(range(len(batch) - len(over), len(batch)))
    x, w = np.moveaxis(x, over, ends), np.moveaxis(w, over, ends)
    kept = x.shape[: len(batch) - len(over)]
    n = int(np.prod(x.shape[len(kept) : -1]))
    if n == 0:
        raise InputError(message(f"{where}, argument p", "nothing to take a mean of", f"shape {(*batch, 4)}", "n ≥ 1"))
    x, w = x.reshape(*kept, n, 4), w.reshape(*kept, n)
    if np.any(w < 0) or np.any(np.max(w, axis=-1) == 0):
        raise InputError(message(f"{where}, argument weights", "not weights", shown(weights), "from 0, one above 0"))
    return x, w / np.max(w, axis=-1, keepdims=True)


def _axes(where: str, axis: Any, depth: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(depth))
    axes = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    whole = all(isinstance(a, (int, np.integer)) and not isinstance(a, bool) for a in axes)
    if not whole or not all(-depth <= a < depth for a in axes):
        expected = f"axes of the batch, from {-depth} to {depth - 1}"
        raise InputError(message(f"{where}, argument axis", "no such axis", shown(axis), expected))
    return tuple(sorted({int(a) % depth for a in axes}))
