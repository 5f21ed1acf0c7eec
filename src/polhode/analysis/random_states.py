"""Random states of a model: configurations within limits, velocities, accelerations."""

import math

import numpy as np

from polhode.check.joint_limits import limited_axes
from polhode.model import Model, make_tree
from polhode.result.symmetry import length_of


def random_configurations(model: Model, count: int, rng: np.random.Generator) -> np.ndarray:
    """Random configurations (count, nq): evenly within limits, all attitudes alike.

    Angles without a limit are within half a turn of 0, travels within the length of the machine.
    """
    length = length_of(model) or 1.0
    found = np.tile(np.array(model.zero, dtype=float), (count, 1))
    limits = {axis.q: (axis.lower, axis.upper) for axis in limited_axes(model)}
    for e in make_tree(model).elements:
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


def random_states(model: Model, count: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random q (count, nq), v (count, nv), v̇ (count, nv): normal, 1 rad/s or length of the machine per second."""
    rng = np.random.default_rng(seed)
    q = random_configurations(model, count, rng)
    return q, *rng.standard_normal((2, count, model.nv))
