"""Random attitudes: all equally likely, or near one of them."""

from typing import Any, Union

import numpy as np

from polhode.errors import InputError, message
from polhode.quaternion.algebra import product
from polhode.quaternion.rotation import exp
from polhode.scalar import Array, checked_real, shown

Seed = Union[int, "np.random.Generator", None]  # in quotes: numpy.random is loaded by those who draw
"""A whole number gives the same draws each time, a generator of NumPy goes on where it stands, None draws afresh."""


def random(shape: int | tuple[int, ...] = (), seed: Seed = None) -> np.ndarray:
    """Random attitudes, uniform on the rotation group; both signs are equally likely.

    shape  of the batch
    ->     (*shape, 4)

    >>> import polhode as ph
    >>> ph.quaternion.random(3, seed=1).shape
    (3, 4)
    """
    where = "quaternion.random"
    x = _generator(where, seed).standard_normal((*_shape(where, shape), 4))
    return x / np.sqrt(np.sum(x * x, axis=-1, keepdims=True))


def random_near(mean: Array, spread: Array, shape: int | tuple[int, ...] = (), seed: Seed = None) -> np.ndarray:
    """Random attitudes near a mean: mean∘exp(φ/2) with a normal rotation vector φ, in body axes of the mean.

    mean    (..., 4)
    spread  rad: one standard deviation for all components of φ, three, or rad²: a covariance matrix (3, 3)
    shape   of the draws of each mean
    ->      (..., *shape, 4)
    """
    where = "quaternion.random_near"
    p, size = checked_real(f"{where}, argument mean", mean, "unit quaternion"), _shape(where, shape)
    root = _root(f"{where}, argument spread", spread)
    phi = _generator(where, seed).standard_normal((*p.shape[:-1], *size, 3)) @ root.T
    return product(p.reshape(*p.shape[:-1], *(1,) * len(size), 4), exp(phi / 2))


def _generator(where: str, seed: Any) -> "np.random.Generator":
    whole = isinstance(seed, (int, np.integer)) and not isinstance(seed, bool) and seed >= 0
    if not (seed is None or whole or isinstance(seed, np.random.Generator)):
        expected = "a whole number from 0, a numpy.random.Generator, or None"
        raise InputError(message(f"{where}, argument seed", "not a seed", shown(seed), expected))
    return np.random.default_rng(seed)


def _shape(where: str, shape: Any) -> tuple[int, ...]:
    sizes = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    if not all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) and n >= 0 for n in sizes):
        expected = "a whole number from 0, or a tuple of them"
        raise InputError(message(f"{where}, argument shape", "not a shape", shown(shape), expected))
    return tuple(int(n) for n in sizes)


def _root(where: str, spread: Array) -> np.ndarray:
    """A matrix (3, 3) whose product with its transpose is the covariance."""
    given = checked_real(where, spread, "scalar")
    if given.shape == (3, 3):
        w, V = np.linalg.eigh(given)
        scale = max(1e-300, float(np.max(abs(w))))
        if np.max(abs(given - given.T)) > 1e-9 * scale or w[0] < -1e-9 * scale:
            found = f"eigenvalues {', '.join(f'{x:.3g}' for x in w)}"
            raise InputError(message(where, "not a covariance", found, "a symmetric matrix without negative ones"))
        return V * np.sqrt(np.maximum(w, 0.0))
    if given.shape not in ((), (3,)):
        raise InputError(message(where, "wrong shape", str(given.shape), "(), (3,) or (3, 3)"))
    if np.any(given < 0):
        raise InputError(message(where, "a negative spread", shown(spread), "radians from 0"))
    return np.diag(np.broadcast_to(given, (3,)))
