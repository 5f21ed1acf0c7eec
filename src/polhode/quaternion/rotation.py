"""Unit quaternions as rotations: matrices, axis and angle, exponential and logarithm, composition.

A unit quaternion p = (e0, e) turns body components into space components (active, body → world).
"""

from typing import NamedTuple

from polhode.quaternion.algebra import G, L, conjugate, normalise, product, pure, skew, vector_part
from polhode.scalar import (
    Scalar,
    Vec,
    atan2,
    cos,
    cross,
    dot,
    identity,
    on_arrays,
    outer,
    real_part,
    sin,
    smooth,
    sqrt,
    square,
    vec,
    where,
)

SERIES_BELOW = 1e-4
"""Squared argument below which sin(x)/x and its like are taken from their series."""


class AxisAngle(NamedTuple):
    """A rotation as a unit axis (..., 3) and an angle (...) in radians, 0 ≤ angle ≤ π."""

    axis: Vec
    angle: Scalar


@on_arrays(p="unit quaternion", x="vector")
def rotate(p: Vec, x: Vec) -> Vec:
    """Turn a vector: body components x′ to space components x.

        (0, x) = p∘(0, x′)∘p*               Schwab-Meijaard (25), (26); Schwab (5), (6); Sherif (1)

    p   (..., 4)  unit; otherwise x also grows by ‖p‖²
    x   (..., 3)
    ->  (..., 3)
    """
    return vector_part(product(product(p, pure(x)), conjugate(p)))


@on_arrays(p="unit quaternion")
def rotation_matrix(p: Vec) -> Vec:
    """The rotation matrix of p/‖p‖: a rotation for every p ≠ 0.

        A = G Lᵀ/N(p)

    p   (..., 4)
    ->  (..., 3, 3)
    """
    return rotation_matrix_homogeneous(p) / square(p)


@on_arrays(p="unit quaternion")
def rotation_matrix_homogeneous(p: Vec) -> Vec:
    """The rotation matrix, every entry a quadratic form in p; ‖p‖² A off the unit sphere.

        A = G Lᵀ, diag(1, A) = Q Q̄ᵀ          Sherif (7), Schwab-Meijaard (27), (28), Schwab (7), (8)

    p   (..., 4)
    ->  (..., 3, 3)
    """
    return G(p) @ L(p).T


@on_arrays(p="unit quaternion")
def rotation_matrix_inhomogeneous(p: Vec) -> Vec:
    """The rotation matrix as Sherif writes it; not a multiple of a rotation off the unit sphere.

        A = (2 e0² − 1) I + 2 (e eᵀ + e0 ẽ)                                          Sherif (5)

    p   (..., 4)
    ->  (..., 3, 3)
    """
    e0, e = p[0], vector_part(p)
    return (2 * e0 * e0 - 1) * identity(3) + 2 * (outer(e, e) + e0 * skew(e))


@on_arrays(R="rotation")
@smooth
def from_matrix(R: Vec) -> Vec:
    """The unit quaternion of a rotation matrix, accurate everywhere.          inverse of Sherif (5)

    Of the four squares 4e0², …, 4e3² the largest is taken from the diagonal (it is at least 1), the
    other components from sums and differences across it. That component comes out positive; −p is
    the same attitude.

    R   (..., 3, 3)
    ->  (..., 4)
    """
    (r11, r12, r13), (r21, r22, r23), (r31, r32, r33) = R
    squares = [1 + r11 + r22 + r33, 1 + r11 - r22 - r33, 1 - r11 + r22 - r33, 1 - r11 - r22 + r33]
    rows = [  # 4 e_k p, for k = 0 … 3
        vec(squares[0], r32 - r23, r13 - r31, r21 - r12),
        vec(r32 - r23, squares[1], r12 + r21, r13 + r31),
        vec(r13 - r31, r12 + r21, squares[2], r23 + r32),
        vec(r21 - r12, r13 + r31, r23 + r32, squares[3]),
    ]
    best, row = squares[0], rows[0]
    for k in (1, 2, 3):
        larger = real_part(squares[k]) > real_part(best)
        best, row = where(larger, squares[k], best), where(larger, rows[k], row)
    return row / sqrt(square(row))


@smooth
def sinc(square_of_x: Scalar) -> Scalar:
    """sin(x)/x as a function of x²; below x² = 1e-4 a series with remainder x⁸/362880."""
    small = real_part(square_of_x) < SERIES_BELOW
    x = sqrt(where(small, 1.0, square_of_x))
    series = 1 - square_of_x / 6 * (1 - square_of_x / 20 * (1 - square_of_x / 42))
    return where(small, series, sin(x) / x)


@on_arrays(x="vector")
@smooth
def exp(x: Vec) -> Vec:
    """Exponential of the pure quaternion (0, x): the rotation by 2‖x‖ about x.

        exp x = (cos ‖x‖, sin(‖x‖)/‖x‖ x)                                  Schwab-Meijaard (29)

    x   (..., 3)  half the rotation vector, rad
    ->  (..., 4)  unit
    """
    xx = square(x)
    small = real_part(xx) < SERIES_BELOW
    c = where(small, 1 - xx / 2 * (1 - xx / 12 * (1 - xx / 30)), cos(sqrt(where(small, 1.0, xx))))
    return Vec((c, *(sinc(xx) * x)))


@on_arrays(p="unit quaternion but -1")
@smooth
def log(p: Vec) -> Vec:
    """Logarithm of a unit quaternion: x with exp x = p and ‖x‖ ≤ π. Signs are kept: log(−p) ≠ log p.

    p   (..., 4)  unit, not −1: there every direction would do, see `full_log`
    ->  (..., 3)  half the rotation vector, rad
    """
    e0, e = p[0], vector_part(p)
    ee = square(e)
    small = (real_part(ee) < SERIES_BELOW * real_part(e0 * e0)) & (real_part(e0) > 0)
    s = sqrt(where(small, 1.0, ee))
    z = ee / where(small, e0 * e0, 1.0)  # atan(x)/x in z = x², x = ‖e‖/e0
    series = (1 - z * (1 / 3 - z * (1 / 5 - z / 7))) / where(small, e0, 1.0)
    return where(small, series, atan2(s, e0) / s) * e


@on_arrays(axis="direction", angle="scalar")
def from_axis_angle(axis: Vec, angle: Scalar) -> Vec:
    """The rotation by an angle μ about an axis e_μ.

        p = (cos μ/2, sin μ/2 e_μ)                             Schwab-Meijaard (29), Schwab (9)

    axis   (..., 3)  not zero; normalised here
    angle  (...)     rad
    ->     (..., 4)
    """
    return Vec((cos(angle / 2), *(sin(angle / 2) / sqrt(square(axis)) * axis)))


@on_arrays(a="unit vector", b="unit vector")
@smooth
def shortest_rotation(a: Vec, b: Vec) -> Vec:
    """The rotation by the smallest angle that takes one unit vector to another.

        p = (1 + c, a × b)/‖·‖,  c = a·b;   for c ≤ 0, 1 + c = ‖a × b‖²/(1 − c) without loss of digits

    There what rounding left of a × b along a is taken away: near −a the axis is ill-defined, and b is reached all the
    same. From a to −a every axis across a serves: y × a is taken, or z × a, x × a where a leans less to these.

    a, b  (..., 3)  unit vectors
    ->    (..., 4)
    """
    c, e = dot(a, b), cross(a, b)
    above = c > 0
    e = e - where(above, 0.0, dot(e, a)) * a
    p = Vec((where(above, 1 + c, square(e) / (1 - where(above, 0.0, c))), *e))
    nothing = square(p) == 0.0
    return normalise(where(nothing, Vec((0.0, *_across(a))), p))


def _across(a: Vec) -> Vec:
    """A vector across a: the product of a coordinate axis, the one a leans to least, and a."""
    x, y, z = identity(3)
    least, axis = abs(a[1]), y
    for size, other in ((abs(a[2]), z), (abs(a[0]), x)):
        smaller = size < least
        least, axis = where(smaller, size, least), where(smaller, other, axis)
    return cross(axis, a)


@on_arrays(a="direction", b="direction")
def from_two_vectors(a: Vec, b: Vec) -> Vec:
    """The rotation by the smallest angle that takes the direction of one vector to that of another.

    a, b  (..., 3)  not zero, of any length
    ->    (..., 4)

    >>> import polhode as ph
    >>> ph.quaternion.from_two_vectors([2, 0, 0], [0, 5, 0]).round(4).tolist()
    [0.7071, 0.0, 0.0, 0.7071]
    """
    return shortest_rotation(a / sqrt(square(a)), b / sqrt(square(b)))


@on_arrays(p="unit quaternion")
def axis_angle(p: Vec) -> AxisAngle:
    """Axis and angle of the shorter of the two rotations that p and −p stand for.

    Without rotation the axis is arbitrary: (0, 0, 1) is given.         Schwab-Meijaard (29), inverted

    p   (..., 4)  unit
    ->  axis (..., 3), angle (...)
    """
    e0 = p[0]
    e = where(e0 < 0, -1.0, 1.0) * vector_part(p)
    s = sqrt(square(e))
    none = s < 1e-300
    axis = where(none, vec(0.0, 0.0, 1.0), e / where(none, 1.0, s))
    return AxisAngle(axis, 2 * atan2(s, abs(e0)))


@on_arrays(p="unit quaternion", q="unit quaternion")
def compose(p: Vec, q: Vec) -> Vec:
    """The rotation q followed by p, in space axes; q carried along by p, in body axes.

        p∘q                                            under Schwab-Meijaard (30), Schwab (10)

    p, q  (..., 4)
    ->    (..., 4)
    """
    return product(p, q)


@on_arrays(p="unit quaternion", q="unit quaternion")
def relative(p: Vec, q: Vec) -> Vec:
    """The attitude r of q as seen from p: q = p∘r, so q_BC = relative(q_WB, q_WC).

        r = p*∘q                                       under Schwab-Meijaard (30), Schwab (10)

    p, q  (..., 4)
    ->    (..., 4)
    """
    return product(conjugate(p), q)


@on_arrays(p="unit quaternion", q="unit quaternion")
def angle_between(p: Vec, q: Vec) -> Scalar:
    """The angle of the rotation from p to q, 0 … π: the distance of two attitudes.

    p, q  (..., 4)
    ->    (...)  rad
    """
    return axis_angle(relative(p, q)).angle
