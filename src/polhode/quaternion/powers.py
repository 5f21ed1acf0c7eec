"""Exponential, logarithm and powers of quaternions of any length."""

from math import pi

from polhode.quaternion.algebra import IDENTITY, vector_part
from polhode.quaternion.rotation import exp, log
from polhode.scalar import (
    Scalar,
    Vec,
    exp as exp_of,
    log as log_of,
    on_arrays,
    real_part,
    smooth,
    sqrt,
    square,
    vec,
    where,
)


@on_arrays(p="quaternion")
def full_exp(p: Vec) -> Vec:
    """Exponential of a quaternion: e^p = Σ pᵏ/k!

        e^p = e^e0 (cos ‖e‖, sin(‖e‖)/‖e‖ e)

    p   (..., 4)  any
    ->  (..., 4)  of length e^e0
    """
    return exp_of(p[0]) * exp(vector_part(p))


@on_arrays(p="nonzero quaternion")
def full_log(p: Vec) -> Vec:
    """Principal logarithm of a quaternion: x with e^x = p and a vector part up to π long.

        log p = (ln ‖p‖, log(p/‖p‖))

    Of negative numbers every direction would do: z is taken.

    p   (..., 4)  not zero
    ->  (..., 4)

    >>> import polhode as ph
    >>> ph.quaternion.full_log([0, 0, 2, 0]).round(4).tolist()
    [0.6931, 0.0, 1.5708, 0.0]
    """
    n = sqrt(square(p))
    return Vec((log_of(n), *principal_log(p / n)))


@on_arrays(p="nonzero quaternion", s="scalar")
def power(p: Vec, s: Scalar) -> Vec:
    """Power of a quaternion: e^(s log p), the principal value. Signs are kept.

    Of a unit quaternion it is the rotation by s times the angle of p: that of the shorter way round for
    `power(canonical(p), s)`, as SciPy's `Rotation ** s`.

    p   (..., 4)  not zero
    s   (...)
    ->  (..., 4)  of length ‖p‖^s
    """
    n = sqrt(square(p))
    return exp_of(s * log_of(n)) * exp(s * principal_log(p / n))


@smooth
def principal_log(p: Vec) -> Vec:
    """Logarithm of a unit quaternion as `log`, and (0, 0, π) of −1.

    p   (4,)
    ->  (3,)
    """
    opposite = (real_part(square(vector_part(p))) == 0.0) & (real_part(p[0]) < 0)
    return where(opposite, vec(0.0, 0.0, pi), log(where(opposite, IDENTITY, p)))
