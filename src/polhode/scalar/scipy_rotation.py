"""SciPy's Rotation among numbers: accepted without importing SciPy, its scalar-last order turned into ours."""

import sys
from typing import Any

import numpy as np


def _kind() -> Any:
    """`scipy.spatial.transform.Rotation` where it is loaded: without it nobody can pass one."""
    return getattr(sys.modules.get("scipy.spatial.transform"), "Rotation", None)


def _wxyz(rotation: Any) -> np.ndarray:
    return np.roll(np.asarray(rotation.as_quat(), dtype=float), 1, axis=-1)


def without_rotations(value: Any, shape: tuple[int, ...] | None = None) -> Any:
    """A Rotation as numbers, a list that holds some with their numbers in place; anything else as it is.

    shape  of the last axes that are asked for: (3, 3) gives matrices, all else quaternions (..., 4), scalar first, with
           SciPy's sign; for (4,) a list of rotations is a batch, else its quaternions follow each other, as coordinates
           of joints do: [0, 0, 1, rotation] are the seven of a free joint
    """
    kind = _kind()
    if kind is None:
        return value
    if isinstance(value, kind):
        return np.asarray(value.as_matrix(), dtype=float) if shape == (3, 3) else _wxyz(value)
    if not isinstance(value, (list, tuple)) or not any(isinstance(x, kind) for x in value):
        return value
    if shape in ((4,), (3, 3)) and all(isinstance(x, kind) for x in value):
        return [without_rotations(x, shape) for x in value]
    parts = [_wxyz(x).tolist() if isinstance(x, kind) else [x] for x in value]
    return [x for part in parts for x in part]
