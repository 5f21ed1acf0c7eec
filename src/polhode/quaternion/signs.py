"""The two signs of an attitude: p and −p turn alike. Nothing flips a sign unless it is called from here."""

import numpy as np

from polhode.errors import InputError, message
from polhode.scalar import Array, Vec, checked_real, dot, on_arrays, real_part, where


@on_arrays(p="unit quaternion")
def canonical(p: Vec) -> Vec:
    """The one of p and −p whose first component that is not zero is positive.

    p   (..., 4)
    ->  (..., 4)

    >>> import polhode as ph
    >>> ph.quaternion.canonical([-0.5, 0.5, -0.5, 0.5]).tolist()
    [0.5, -0.5, 0.5, -0.5]
    """
    first = p[3]
    for component in (p[2], p[1], p[0]):
        first = where(component == 0.0, first, component)
    return where(real_part(first) < 0, -p, p)


@on_arrays(p="unit quaternion", reference="unit quaternion")
def same_sign(p: Vec, reference: Vec) -> Vec:
    """The one of p and −p that is nearer to a reference; p where both are as near.

    p, reference  (..., 4)
    ->            (..., 4)
    """
    return where(real_part(dot(p, reference)) < 0, -p, p)


def continuous_signs(p: Array) -> np.ndarray:
    """A path of attitudes with each the nearer to that before it of p and −p; the first keeps its sign.

    p   (..., n, 4)  n attitudes one after the other
    ->  (..., n, 4)

    >>> import polhode as ph
    >>> ph.quaternion.continuous_signs([[1, 0, 0, 0], [-0.5, 0.5, -0.5, 0.5]]).tolist()
    [[1.0, 0.0, 0.0, 0.0], [0.5, -0.5, 0.5, -0.5]]
    """
    path = checked_path("quaternion.continuous_signs, argument p", p)
    turned = np.sum(path[..., 1:, :] * path[..., :-1, :], axis=-1) < 0
    signs = np.ones(path.shape[:-1])
    signs[..., 1:] = np.cumprod(np.where(turned, -1.0, 1.0), axis=-1)
    return signs[..., None] * path


def checked_path(where: str, p: Array) -> np.ndarray:
    """Attitudes one after the other (..., n, 4), or an InputError."""
    path = checked_real(where, p, "unit quaternion")
    if path.ndim < 2:
        raise InputError(message(where, "not a path", f"shape {path.shape}", "(..., n, 4), n attitudes in order"))
    return path
