"""Configurations of a model as arrays: random ones within limits, and which of them are the same."""

import math
from collections.abc import Iterator
from operator import index
from typing import Any

import numpy as np

from polhode.errors import InputError, message
from polhode.model.description import Model, check_model
from polhode.model.layout import spelled_out
from polhode.model.parts import limit_pairs
from polhode.scalar import Array, as_array, batch_shape, checked, lengths, real_number, shown

SAME = 1e-12
"""The difference of coordinates that counts as none, unless another is given: some roundings of an angle."""


def random_configuration(model: Model, shape: Any = (), seed: Any = 0, reach: float = 1.0) -> np.ndarray:
    """Random configurations (*shape, nq), uniform within the limits of the joints.

        >>> import polhode as ph
        >>> ph.random_configuration(ph.load("double-pendulum"), 5, seed=1).shape
        (5, 2)

    shape  of the batch: a number, or several
    seed   a number, or a generator of NumPy: the same seed gives the same configurations
    reach  half the range of travels without limits, m; angles without limits are drawn from −π … π, on the side of a
           single limit as well; quaternions evenly from all attitudes
    """
    check_model("random_configuration", model)
    batch, rng = _shape("random_configuration, shape", shape), _generator("random_configuration, seed", seed)
    reach = real_number("random_configuration, reach", reach, "a length above 0, m", 0.0)
    parts = [np.zeros((*batch, 0))]
    for places, limits in _parts(model):
        if limits is None:
            p = rng.normal(size=(*batch, places.stop - places.start))
            parts.append(p / lengths(p)[..., None])
        else:
            low, high = _range(*limits[:2], reach if limits[2] else math.pi)
            parts.append(rng.uniform(low, high, size=(*batch, 1)))
    return np.concatenate(parts, axis=-1)


def same_configuration(model: Model, q0: Array, q1: Array, tolerance: float = SAME) -> Any:
    """Whether two configurations (..., nq) place all bodies alike: (...), truth values.

        >>> import polhode as ph
        >>> bool(ph.same_configuration(ph.load("heavy-top"), [1, 0, 0, 0], [-1, 0, 0, 0]))
        True

    Quaternions p and −p are one attitude; angles that differ by whole turns are two coordinates. tolerance: the largest
    difference of a coordinate.
    """
    check_model("same_configuration", model)
    where = "same_configuration"
    tolerance = real_number(f"{where}, tolerance", tolerance, "a number, at least 0", -math.ulp(0.0))
    given = ((f"{where}, argument {name}", q) for name, q in (("q0", q0), ("q1", q1)))
    a, b = (as_array(place, spelled_out(place, model, "q", q), (model.nq,)) for place, q in given)
    batch = batch_shape(where, {"q0": a.shape[:-1], "q1": b.shape[:-1]})
    found = np.ones(batch, dtype=bool)
    for places, limits in _parts(model):
        x, y = a[..., places], b[..., places]
        if limits is None:
            for name, p in (("q0", x), ("q1", y)):
                checked(
                    f"{where}, argument {name}, coordinates {places.start} to {places.stop - 1}", p, "unit quaternion"
                )
            y = np.where(np.sum(x * y, axis=-1, keepdims=True) < 0, -y, y)
        found &= np.all(abs(x - y) <= tolerance, axis=-1)
    return found if batch else bool(found)


def _parts(model: Model) -> Iterator[tuple[slice, tuple[float, float, bool] | None]]:
    """The places in q of each coordinate, with its limits and whether it is a length; those of a quaternion, None."""
    at = 0
    for joint in model.joints:
        pairs, first = limit_pairs(joint.lower, joint.upper), at
        for kind, _ in joint.kind.elements:
            if kind.quaternion:
                yield slice(at, at + kind.nq), None
            else:
                for k in range(kind.nq):
                    place = at - first + k
                    low, high = pairs[place] if len(pairs) > 1 else pairs[0]
                    is_length = kind.linear[k] if len(kind.linear) == kind.nq else False
                    yield slice(at + k, at + k + 1), (low, high, is_length)
            at += kind.nq


def _range(low: float, high: float, half: float) -> tuple[float, float]:
    """From where to where a coordinate is drawn; half: of the range without limits."""
    if math.isinf(low) and math.isinf(high):
        return -half, half
    if math.isinf(low):
        return min(-half, high - half), high
    return low, max(half, low + half) if math.isinf(high) else high


def _shape(where: str, shape: Any) -> tuple[int, ...]:
    """The axes of a batch, or an InputError."""
    try:
        sizes = tuple(map(index, shape)) if isinstance(shape, (tuple, list)) else (index(shape),)
    except TypeError:
        sizes = (-1,)
    if any(size < 0 for size in sizes):
        raise InputError(message(where, "not the shape of a batch", shown(shape), "a number, or several, at least 0"))
    return sizes


def _generator(where: str, seed: Any) -> np.random.Generator:
    """The generator of a seed, or an InputError."""
    if isinstance(seed, np.random.Generator):
        return seed
    try:
        return np.random.default_rng(index(seed))
    except (TypeError, ValueError):
        expected = "a whole number, at least 0, or a numpy.random.Generator"
        raise InputError(message(where, "not a seed", shown(seed), expected)) from None
