"""Attitudes between two: at constant rate (slerp), or bent towards two others (squad)."""

from typing import Literal

import numpy as np

from polhode.quaternion.algebra import conjugate, product, pure
from polhode.quaternion.powers import principal_log
from polhode.quaternion.rates import State
from polhode.quaternion.rotation import exp, log, relative
from polhode.quaternion.signs import checked_path
from polhode.scalar import Array, Scalar, Vec, dot, on_arrays, one_of, real_part, split, stack, where

Way = Literal["shorter", "longer", "as given"]
"""Which way round from p to q: by up to half a turn, by half a turn or more, or as the signs of p and q say."""

WAYS = ("shorter", "longer", "as given")


@on_arrays(p="unit quaternion", q="unit quaternion", s="scalar")
def slerp(p: Vec, q: Vec, s: Scalar, way: Way = "shorter") -> Vec:
    """The rotation at constant rate from p (s = 0) to q (s = 1).

        p∘exp(s log(p*∘q)), with −q in place of q where the other way round is asked for

    p, q  (..., 4)
    s     (...)
    way   "shorter" round, "longer", or "as given": by the signs of p and q. A whole turn has no axis: the z axis of the
          body is taken
    ->    (..., 4)

    >>> import polhode as ph
    >>> ph.quaternion.slerp([1, 0, 0, 0], [0, 0, 0, 1], 0.5, way="longer").round(4).tolist()
    [0.7071, 0.0, 0.0, -0.7071]
    """
    return product(p, exp(s * _whole(p, q, way)))


@on_arrays(p="unit quaternion", q="unit quaternion", s="scalar")
def slerp_state(p: Vec, q: Vec, s: Scalar, way: Way = "shorter") -> State:
    """`slerp` with its derivative by s; `angular_velocity(*state)` is the angular velocity, body axes, per unit of s.

    p, q  (..., 4)
    s     (...)
    ->    p (..., 4), pdot (..., 4)
    """
    x = _whole(p, q, way)
    at = product(p, exp(s * x))
    return State(at, product(at, pure(x)))


def _whole(p: Vec, q: Vec, way: str) -> Vec:
    """Half the rotation vector from p to q, in the axes of p."""
    one_of("quaternion.slerp, argument way", way, WAYS, "no such way round")
    against = real_part(dot(p, q)) < 0
    if way == "shorter":
        return log(relative(p, where(against, -q, q)))
    return principal_log(relative(p, where(against, q, -q) if way == "longer" else q))


@on_arrays(p="unit quaternion", a="unit quaternion", b="unit quaternion", q="unit quaternion", s="scalar")
def squad(p: Vec, a: Vec, b: Vec, q: Vec, s: Scalar) -> Vec:
    """The curve from p (s = 0) to q (s = 1) that is bent towards a and b.              Shoemake (1985)

        slerp(slerp(p, q, s), slerp(a, b, s), 2 s (1 − s)), all by their signs as given

    p, a, b, q  (..., 4)
    s           (...)
    ->          (..., 4)
    """
    turned = slerp(p, q, s, way="as given")
    return slerp(turned, slerp(a, b, s, way="as given"), 2 * s * (1 - s), way="as given")


def squad_controls(p: Array) -> np.ndarray:
    """The attitudes that `squad` is bent towards to pass all of a path, at equal times, with a continuous rate.

        a_i = p_i∘exp(−(log(p_i*∘p_{i+1}) + log(p_i*∘p_{i−1}))/4),  a = p at both ends

    Between p_i and p_{i+1} the curve is `squad(p_i, a_i, a_{i+1}, p_{i+1}, s)`.

    p   (..., n, 4)  with `continuous_signs`
    ->  (..., n, 4)
    """
    path = checked_path("quaternion.squad_controls, argument p", p)
    controls = path.copy()
    if path.shape[-2] > 2:
        before, at, after = (split(path[..., k : path.shape[-2] - 2 + k, :], 1) for k in range(3))
        back = conjugate(at)
        bend = principal_log(product(back, after)) + principal_log(product(back, before))
        inner = product(at, exp(-0.25 * bend))
        controls[..., 1:-1, :] = stack(inner, np.shape(at[0]))
    return controls
