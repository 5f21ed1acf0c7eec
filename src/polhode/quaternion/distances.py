"""Distances of attitudes. The geodesic one, an angle, is `angle_between`."""

from math import sqrt as sqrt_of_number

from polhode.quaternion.algebra import vector_part
from polhode.quaternion.rotation import relative
from polhode.scalar import Scalar, Vec, length, minimum, on_arrays


@on_arrays(p="unit quaternion", q="unit quaternion")
def chordal_distance(p: Vec, q: Vec) -> Scalar:
    """The distance of two rotation matrices, 0 … 2√2.

        ‖A(p) − A(q)‖_F = 2√2 sin(θ/2),  θ the angle between them

    p, q  (..., 4)
    ->    (...)

    >>> import polhode as ph
    >>> round(ph.quaternion.chordal_distance([1, 0, 0, 0], [0, 1, 0, 0]), 4)
    2.8284
    """
    return 2 * sqrt_of_number(2) * length(vector_part(relative(p, q)))


@on_arrays(p="unit quaternion", q="unit quaternion")
def quaternion_distance(p: Vec, q: Vec) -> Scalar:
    """The distance of two attitudes on the unit sphere, the smaller of ‖p − q‖ and ‖p + q‖: 2 sin(θ/4), 0 … √2.

    p, q  (..., 4)
    ->    (...)
    """
    return minimum(length(p - q), length(p + q))
