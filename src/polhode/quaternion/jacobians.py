"""Derivatives of exponential and logarithm on the rotation group: its left and right Jacobians.

A rotation vector r stands for p = exp(r/2). When r changes, the body turns with ω = Jr(r) ṙ in body axes and
ω_s = Jl(r) ṙ in space axes; Jl(r) = Jr(−r) = Jr(r)ᵀ = A(p) Jr(r).
"""

from math import factorial
from typing import NamedTuple

from polhode.quaternion.algebra import product, skew, skew_square
from polhode.quaternion.convert import rotation_vector_to_wxyz, wxyz_to_rotation_vector
from polhode.quaternion.rotation import relative, rotation_matrix_homogeneous, sinc
from polhode.scalar import (
    Array,
    Scalar,
    Vec,
    cos,
    cross,
    derivative_along,
    identity,
    on_arrays,
    real_part,
    sin,
    smooth,
    sqrt,
    square,
    where,
)

SERIES_BELOW = 1.0
"""θ² below which coefficients come from their series: the closed forms have lost no more than two bits there."""

CUBIC = [(-1) ** k / factorial(2 * k + 3) for k in range(9)]
"""(θ − sin θ)/θ³ in powers of θ²; the remainder below θ² = 1 is 1/21! = 2e-20."""

COTANGENT = [
    1 / 12,
    1 / 720,
    1 / 30240,
    1 / 1209600,
    1 / 47900160,
    691 / 1307674368000,
    1 / 74724249600,
    3617 / 10670622842880000,
    43867 / 5109094217170944000,
    174611 / 802857662698291200000,
    77683 / 14101100039391805440000,
]
"""(1 − θ/2 cot θ/2)/θ² in powers of θ², |B_2k|/(2k)!; the remainder below θ² = 1 is 1.5e-19."""


class RotationStepDerivatives(NamedTuple):
    """Derivatives (..., 3, 3) of `integrate`, in body axes of the attitude that it gives."""

    attitude: Vec
    rotation_vector: Vec


class RotationDifferenceDerivatives(NamedTuple):
    """Derivatives (..., 3, 3) of `difference` by small rotations of each attitude, in body axes of that attitude."""

    start: Vec
    end: Vec


def _polynomial(coefficients: list[float], x: Scalar) -> Scalar:
    total: Scalar = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        total = c + x * total
    return total


@smooth
def cubic_coefficient(rr: Scalar) -> Scalar:
    """(θ − sin θ)/θ³ as a function of θ²."""
    small = real_part(rr) < SERIES_BELOW
    theta = sqrt(where(small, 1.0, rr))
    return where(small, _polynomial(CUBIC, rr), (theta - sin(theta)) / (theta * where(small, 1.0, rr)))


@smooth
def cotangent_coefficient(rr: Scalar) -> Scalar:
    """(1 − θ/2 cot θ/2)/θ² as a function of θ²."""
    small = real_part(rr) < SERIES_BELOW
    half = sqrt(where(small, 1.0, rr)) / 2
    closed = (1 - half * cos(half) / sin(half)) / where(small, 1.0, rr)
    return where(small, _polynomial(COTANGENT, rr), closed)


def versine_coefficient(rr: Scalar) -> Scalar:
    """(1 − cos θ)/θ² as a function of θ², without cancellation."""
    s = sinc(rr / 4)
    return s * s / 2


@on_arrays(r="vector")
def right_jacobian(r: Vec) -> Vec:
    """Jr with exp((r + δ)/2) = exp(r/2)∘exp(Jr δ/2) to first order; ω = Jr ṙ in body axes.

        Jr = I − (1 − cos θ)/θ² r̃ + (θ − sin θ)/θ³ r̃²,  θ = ‖r‖

    r   (..., 3)  rotation vector, rad
    ->  (..., 3, 3)

    >>> import polhode as ph
    >>> ph.quaternion.right_jacobian([0, 0, 0]).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    rr = square(r)
    return identity(3) - versine_coefficient(rr) * skew(r) + cubic_coefficient(rr) * skew_square(r, r)


@on_arrays(r="vector")
def left_jacobian(r: Vec) -> Vec:
    """Jl with exp((r + δ)/2) = exp(Jl δ/2)∘exp(r/2) to first order; ω_s = Jl ṙ in space axes.

    r   (..., 3)  rotation vector, rad
    ->  (..., 3, 3)
    """
    return right_jacobian(-r)


@on_arrays(r="vector")
def right_jacobian_inverse(r: Vec) -> Vec:
    """Jr⁻¹, the derivative of the rotation vector by a small rotation in body axes; ṙ = Jr⁻¹ ω.

        Jr⁻¹ = I + ½ r̃ + (1 − θ/2 cot θ/2)/θ² r̃²,  θ = ‖r‖ < 2π

    r   (..., 3)  rotation vector, rad
    ->  (..., 3, 3)
    """
    return identity(3) + 0.5 * skew(r) + cotangent_coefficient(square(r)) * skew_square(r, r)


@on_arrays(r="vector")
def left_jacobian_inverse(r: Vec) -> Vec:
    """Jl⁻¹, the derivative of the rotation vector by a small rotation in space axes; ṙ = Jl⁻¹ ω_s.

    r   (..., 3)  rotation vector, rad
    ->  (..., 3, 3)
    """
    return right_jacobian_inverse(-r)


def _turning(r: Vec, rdot: Vec) -> Vec:
    """Jr ṙ without the matrix."""
    rr, across = square(r), cross(r, rdot)
    return rdot - versine_coefficient(rr) * across + cubic_coefficient(rr) * cross(r, across)


@on_arrays(r="vector", rdot="vector")
def rotation_vector_angular_velocity(r: Vec, rdot: Vec) -> Vec:
    """Angular velocity in body axes of a rotation vector that changes, ω = Jr ṙ; inverse of `rotation_vector_rate`.

    r, rdot  (..., 3)  rad, rad/s
    ->       (..., 3)  rad/s
    """
    return _turning(r, rdot)


@on_arrays(r="vector", rdot="vector", rddot="vector")
def rotation_vector_angular_acceleration(r: Vec, rdot: Vec, rddot: Vec) -> Vec:
    """Angular acceleration in body axes of a rotation vector that changes, ω̇ = Jr r̈ + J̇r ṙ.

    r, rdot, rddot  (..., 3)  rad, rad/s, rad/s²
    ->              (..., 3)  rad/s²
    """
    both, along = Vec((*r, *rdot)), Vec((*rdot, *rddot))
    return derivative_along(lambda x: _turning(Vec(x[:3]), Vec(x[3:])), both, along)[1]


def integrate(p: Array, r: Array) -> Array:
    """The attitude after a rotation by r in the axes of the body, p∘exp(r/2): r = ω h after h seconds at constant ω.

    p   (..., 4)
    r   (..., 3)  rotation vector, rad
    ->  (..., 4)
    """
    return product(p, rotation_vector_to_wxyz(r))


def difference(p: Array, q: Array) -> Array:
    """The rotation vector of the shorter way from p to q, in body axes: `integrate(p, difference(p, q))` is ±q.

    p, q  (..., 4)
    ->    (..., 3)  rad

    >>> import polhode as ph
    >>> ph.quaternion.difference([1, 0, 0, 0], [0, 0, 1, 0]).round(4).tolist()
    [0.0, 3.1416, 0.0]
    """
    return wxyz_to_rotation_vector(relative(p, q))


@on_arrays(r="vector")
def integrate_derivatives(r: Vec) -> RotationStepDerivatives:
    """Derivatives of `integrate` by small rotations of p, in its body axes, and by r; both are the same for every p.

        A(exp(r/2))ᵀ,  Jr(r)

    With r = ω h, the derivative by ω is h Jr, that by h is ω.

    r   (..., 3)  rotation vector, rad
    ->  attitude (..., 3, 3), rotation_vector (..., 3, 3)
    """
    return RotationStepDerivatives(rotation_matrix_homogeneous(rotation_vector_to_wxyz(r)).T, right_jacobian(r))


@on_arrays(p="unit quaternion", q="unit quaternion")
def difference_derivatives(p: Vec, q: Vec) -> RotationDifferenceDerivatives:
    """Derivatives of `difference` by small rotations of p and of q, each in its own body axes.

        −Jl⁻¹(r),  Jr⁻¹(r),  r = difference(p, q)

    p, q  (..., 4)
    ->    start (..., 3, 3), end (..., 3, 3)
    """
    r = wxyz_to_rotation_vector(relative(p, q))
    return RotationDifferenceDerivatives(-left_jacobian_inverse(r), right_jacobian_inverse(r))
