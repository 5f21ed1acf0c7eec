"""A rotation as a twist about an axis and a swing of that axis."""

from typing import NamedTuple

from polhode.quaternion.algebra import conjugate, product, vector_part
from polhode.scalar import Vec, dot, on_arrays, sqrt, square, where


class SwingTwist(NamedTuple):
    """A rotation swing∘twist, each (..., 4): the twist turns about an axis, the swing about one across it."""

    swing: Vec
    twist: Vec


@on_arrays(p="unit quaternion", axis="direction")
def swing_twist(p: Vec, axis: Vec) -> SwingTwist:
    """The twist about an axis and the swing after it, p = swing∘twist.

    Where the swing is half a turn the twist is not determined: none is taken.

    p     (..., 4)
    axis  (..., 3)  in body axes, not zero; normalised here
    ->    swing (..., 4) with swing₀ ≥ 0, twist (..., 4)
    """
    n = axis / sqrt(square(axis))
    e0, along = p[0], dot(vector_part(p), n)
    size = sqrt(e0 * e0 + along * along)
    none = size < 1e-150
    twist = Vec((where(none, 1.0, e0), *(where(none, 0.0, along) * n))) / where(none, 1.0, size)
    return SwingTwist(product(p, conjugate(twist)), twist)
