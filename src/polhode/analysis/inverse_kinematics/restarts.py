"""Configurations that attempts begin from: random ones within limits, the same for every target."""

import math

import numpy as np

from polhode.check.joint_limits import limited_axes
from polhode.model import Model, make_tree
from polhode.model.per_model_cache import once_each
from polhode.result.symmetry import length_of

MOST_RESTARTS = 100
"""Attempts after the first, at most."""


@once_each
def random_configurations(model: Model, seed: int) -> np.ndarray:
    """Random configurations (MOST_RESTARTS, nq): evenly within limits, all attitudes alike.

    Angles without a limit are within half a turn of 0, travels within the length of the machine.
    """
    tree, length, count = make_tree(model), length_of(model) or 1.0, MOST_RESTARTS
    rng = np.random.default_rng(seed)
    found = np.tile(np.array(model.zero, dtype=float), (count, 1))
    limits = {axis.q: (axis.lower, axis.upper) for axis in limited_axes(model)}
    for e in tree.elements:
        if e.kind.quaternion:
            p = rng.standard_normal((count, 4))
            found[:, e.q[-4:]] = p / np.linalg.norm(p, axis=1, keepdims=True)
            continue
        for place, linear in zip(e.q, e.kind.linear, strict=False):
            ends = limits.get(place, (-math.inf, math.inf))
            found[:, place] = rng.uniform(*_range(*ends, length if linear else math.pi), count)
    return found


def _range(lower: float, upper: float, reach: float) -> tuple[float, float]:
    """The range of a coordinate; without limits `reach` to each side of 0, with one limit twice that from it."""
    if math.isinf(lower) and math.isinf(upper):
        return -reach, reach
    return (upper - 2 * reach if math.isinf(lower) else lower), (lower + 2 * reach if math.isinf(upper) else upper)
