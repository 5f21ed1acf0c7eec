"""Random attitudes in one array, for tests of functions that take batches."""

import numpy as np
from scipy.spatial.transform import Rotation


def attitudes(n, seed=0):
    """Unit quaternions (n, 4): thirds spread evenly, near the identity, near half a turn; both signs."""
    rng = np.random.default_rng(seed)
    axes = rng.standard_normal((n, 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    small = 10.0 ** rng.uniform(-12, -1, n)
    kind = np.arange(n) % 3
    angle = np.where(kind == 0, rng.uniform(0, np.pi, n), np.where(kind == 1, small, np.pi - small))
    p = np.column_stack([np.cos(angle / 2), np.sin(angle / 2)[:, None] * axes])
    return p * rng.choice([-1.0, 1.0], n)[:, None]


def scipys(p):
    """The same attitudes as SciPy's, without our conversion."""
    return Rotation.from_quat(np.roll(p, -1, axis=-1))


def wxyz(rotation):
    """SciPy's attitudes scalar first, without our conversion."""
    return np.roll(rotation.as_quat(), 1, axis=-1)


def apart(p, q):
    """The largest angle between two lists of attitudes, by SciPy."""
    return float(np.max((scipys(p).inv() * scipys(q)).magnitude(), initial=0.0))
