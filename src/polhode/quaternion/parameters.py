"""Three parameters of an attitude: modified Rodrigues parameters σ with their shadow set, and the Gibbs vector g.

σ = tan(μ/4) axis, g = tan(μ/2) axis. Conversions to and from quaternions are in `convert`.
"""

from polhode.quaternion.algebra import product
from polhode.quaternion.convert import gibbs_to_wxyz, mrp_to_wxyz, wxyz_to_gibbs, wxyz_to_mrp
from polhode.scalar import Array, Scalar, Vec, cross, dot, on_arrays, outer, real_part, square, where


@on_arrays(sigma="direction")
def shadow_mrp(sigma: Vec) -> Vec:
    """The other modified Rodrigues parameters of the same attitude: −σ/‖σ‖², of −p where σ is that of p.

    sigma  (..., 3)  not zero: no rotation has its shadow at infinity
    ->     (..., 3)

    >>> import polhode as ph
    >>> ph.quaternion.shadow_mrp([0.5, 0, 0]).tolist()
    [-2.0, 0.0, 0.0]
    """
    return (-1 / square(sigma)) * sigma + Vec((0.0, 0.0, 0.0))


@on_arrays(sigma="vector")
def short_mrp(sigma: Vec) -> Vec:
    """The one of σ and its shadow that is within the unit ball: turns of up to half a turn. σ where ‖σ‖ = 1.

    sigma  (..., 3)
    ->     (..., 3)
    """
    s = square(sigma)
    outside = real_part(s) > 1
    return where(outside, (-1 / where(outside, s, 1.0)) * sigma, sigma)


def mrp_product(a: Array, b: Array) -> Array:
    """Modified Rodrigues parameters of b followed by a, in space axes, as p∘q of quaternions; those of the short set.

    a, b  (..., 3)
    ->    (..., 3)
    """
    return wxyz_to_mrp(product(mrp_to_wxyz(a), mrp_to_wxyz(b)))


@on_arrays(sigma="vector", omega="vector")
def mrp_rate(sigma: Vec, omega: Vec) -> Vec:
    """Rate of modified Rodrigues parameters, from the angular velocity in body axes.

        σ̇ = ¼ ((1 − σ²) ω + 2 σ × ω + 2 (σ·ω) σ)

    sigma  (..., 3)
    omega  (..., 3)  rad/s
    ->     (..., 3)  1/s
    """
    return ((1 - square(sigma)) * omega + 2 * cross(sigma, omega) + 2 * dot(sigma, omega) * sigma) / 4


@on_arrays(sigma="vector", rate="vector")
def mrp_angular_velocity(sigma: Vec, rate: Vec) -> Vec:
    """Angular velocity in body axes of modified Rodrigues parameters that change.

        ω = 4 ((1 − σ²) σ̇ − 2 σ × σ̇ + 2 (σ·σ̇) σ)/(1 + σ²)²

    sigma, rate  (..., 3)  1, 1/s
    ->           (..., 3)  rad/s
    """
    s: Scalar = square(sigma)
    sum_ = (1 - s) * rate - 2 * cross(sigma, rate) + 2 * dot(sigma, rate) * sigma
    return (4 / ((1 + s) * (1 + s))) * sum_


def gibbs_product(a: Array, b: Array) -> Array:
    """Gibbs vector of b followed by a, in space axes, as p∘q of quaternions; an error at half a turn.

        (a + b + a × b)/(1 − a·b)

    a, b  (..., 3)
    ->    (..., 3)
    """
    return wxyz_to_gibbs(product(gibbs_to_wxyz(a), gibbs_to_wxyz(b)))


@on_arrays(g="vector", omega="vector")
def gibbs_rate(g: Vec, omega: Vec) -> Vec:
    """Rate of the Gibbs vector, from the angular velocity in body axes.

        ġ = ½ (ω + g × ω + g gᵀ ω)

    g      (..., 3)
    omega  (..., 3)  rad/s
    ->     (..., 3)  1/s
    """
    return (omega + cross(g, omega) + outer(g, g) @ omega) / 2


@on_arrays(g="vector", rate="vector")
def gibbs_angular_velocity(g: Vec, rate: Vec) -> Vec:
    """Angular velocity in body axes of a Gibbs vector that changes.

        ω = 2 (ġ − g × ġ)/(1 + g²)

    g, rate  (..., 3)  1, 1/s
    ->       (..., 3)  rad/s
    """
    return (2 / (1 + square(g))) * (rate - cross(g, rate))
