"""Random inputs: spread evenly, near the identity, near half a turn."""

import numpy as np
from hypothesis import strategies as st

EPS = np.finfo(float).eps


def vectors(size: int = 3, scale: float = 3.0) -> st.SearchStrategy[np.ndarray]:
    """Vectors with components in ±scale."""
    return st.lists(st.floats(-scale, scale, width=32), min_size=size, max_size=size).map(np.array)


def directions(size: int = 3) -> st.SearchStrategy[np.ndarray]:
    """Unit vectors."""
    return vectors(size, 1.0).filter(lambda x: np.linalg.norm(x) > 1e-3).map(lambda x: x / np.linalg.norm(x))


def _unit(angle: float, axis: np.ndarray) -> np.ndarray:
    return np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * axis])


def quaternions() -> st.SearchStrategy[np.ndarray]:
    """Unit quaternions: evenly spread, near the identity, near half a turn; both signs."""
    small = st.floats(-12, -1).map(lambda k: 10.0**k)
    near_identity = st.builds(_unit, small, directions())
    near_half_turn = st.builds(lambda d, axis: _unit(np.pi - d, axis), small, directions())
    signs = st.sampled_from([1.0, -1.0])
    return st.builds(lambda s, p: s * p, signs, st.one_of(directions(4), near_identity, near_half_turn))


def inertias(full: bool = True) -> st.SearchStrategy[np.ndarray]:
    """Inertia matrices of real bodies: Σ m (ρ² I − ρ ρᵀ) over a few point masses, well away from a rod."""

    def build(planar: list[float], axes: np.ndarray) -> np.ndarray:
        P = np.diag(planar)
        J = np.trace(P) * np.eye(3) - P
        if not full:
            return J
        w, x, y, z = axes
        R = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )
        J = R @ J @ R.T
        return (J + J.T) / 2

    moments = st.lists(st.floats(0.125, 3.0, width=32), min_size=3, max_size=3)
    return st.builds(build, moments, directions(4))


def tangents(p: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The part of x tangent to the unit sphere at p."""
    return x - p * (p @ x)


@st.composite
def states(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """A unit quaternion p and a rate ṗ with p·ṗ = 0."""
    p = draw(quaternions())
    return p, tangents(p, draw(vectors(4)))
