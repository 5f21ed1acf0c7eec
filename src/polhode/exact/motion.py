"""What every closed-form motion returns and accepts."""

from decimal import localcontext
from typing import NamedTuple

import numpy as np

from polhode.errors import InputError, message
from polhode.exact.elliptic import EXACT, decimals, even_angle, floats, turn_rate
from polhode.quaternion import conjugate, product
from polhode.scalar import KINDS, Array, Vec, as_array, checked, length
from polhode.spatial import as_inertia


class Motion(NamedTuple):
    """An attitude p (..., 4), body → world, and the angular velocity ω (..., 3) in body axes, rad/s."""

    p: np.ndarray
    omega: np.ndarray


def constant_rate(p: Array, omega: Array, t: Array) -> Motion:
    """Rotation at a constant angular velocity.

        p(t) = p₀∘exp(½ ω t)

    p      (4,)   attitude at t = 0
    omega  (3,)   rad/s; about an axis fixed in the body and in space, so these components are both
    t      (...)  s
    ->     p (..., 4), omega (..., 3)
    """
    p = single("exact.constant_rate", "p", p, "unit quaternion")
    omega = single("exact.constant_rate", "omega", omega, "vector")
    t = times("exact.constant_rate", t)
    with localcontext(EXACT):
        turned = product(p, rotation(decimals(omega), t))
    return Motion(turned, np.broadcast_to(omega, (*t.shape, 3)).copy())


def rotation(omega: Vec, t: np.ndarray) -> np.ndarray:
    """exp(½ ω t), ω in decimals: t (...) -> (..., 4)."""
    rate = length(omega)
    axis = floats(omega / rate) if rate else np.zeros(3)
    half = even_angle(turn_rate(rate / 2), t)[..., None]
    return np.concatenate([np.cos(half), np.sin(half) * axis], axis=-1)


def times(where: str, t: Array) -> np.ndarray:
    """The times as an array of floats of any shape."""
    return _real(f"{where}, argument t", as_array(f"{where}, argument t", t, ()))


def single(where: str, name: str, value: Array, kind: str) -> np.ndarray:
    """An argument of one of the `KINDS`, without batch axes."""
    place = f"{where}, argument {name}"
    return _alone(place, checked(place, value, kind), KINDS[kind].shape)


def single_inertia(where: str, name: str, value: Array) -> np.ndarray:
    """A checked inertia matrix (3, 3), without batch axes."""
    place = f"{where}, argument {name}"
    return _alone(place, as_inertia(place, value), (3, 3))


def positive(where: str, name: str, value: Array) -> float:
    """A number above zero."""
    number = float(single(where, name, value, "scalar"))
    if number <= 0:
        raise InputError(message(f"{where}, argument {name}", "not positive", f"{number:g}", "a number above 0"))
    return number


def _alone(place: str, array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    if array.shape != shape:
        fix = "Call once for each body; only the time may have more axes."
        raise InputError(message(place, "more than one", f"shape {array.shape}", f"shape {shape}", fix))
    return _real(place, array)


def _real(place: str, array: np.ndarray) -> np.ndarray:
    if array.dtype.kind != "f":
        raise InputError(message(place, "not real floating-point numbers", f"dtype {array.dtype}", "floats"))
    return array.astype(float)


def seen_from_body(p: np.ndarray, axes: np.ndarray, r: np.ndarray, r_start: np.ndarray) -> np.ndarray:
    """The attitude of a body whose chosen axes have the attitude r in a frame that turns p to its start.

        p(t) = p∘q∘r₀*∘r(t)∘q*, with q the attitude of the axes in the body

    p        (4,)     at t = 0
    axes     (4,)     q: chosen axes → body axes
    r        (n, 4)
    r_start  (4,)     r at t = 0
    ->       (n, 4)
    """
    before = product(product(p, axes), conjugate(r_start))
    return product(product(before, r), conjugate(axes))
