"""The plane pendulum, of any amplitude."""

from decimal import Decimal, localcontext
from math import inf, pi
from typing import NamedTuple

import numpy as np
from scipy.special import ellipkm1

from polhode.errors import InputError, message
from polhode.exact.elliptic import EXACT, circle, cosine_sine, read, start_clock
from polhode.exact.motion import positive, single, times
from polhode.scalar import Array, as_array

NOISE = Decimal("1e-150")
"""A difference from the separatrix's energy as small as this, relative, is none."""


class PendulumMotion(NamedTuple):
    """The angle (...) from the lowest position, rad, whole turns counted, and its rate (...), rad/s."""

    angle: np.ndarray
    rate: np.ndarray


def pendulum(angle: float, rate: float, t: Array, frequency: float) -> PendulumMotion:
    """Motion of a plane pendulum.                                                     Whittaker (1937) §44

        θ̈ = −f² sin θ,  κ = sin² ½θ + θ̇²/4f²
        κ < 1: sin ½θ = √κ sn v,  θ̇ = 2f √κ cn v,  v = f t + v₀,     m = κ      (swings)
        κ > 1: sin ½θ = sn v,     θ̇ = ±2f √κ dn v, v = f √κ t + v₀,  m = 1/κ    (turns; κ = 1: separatrix)

    The inputs are taken as exact, but for one: at rest, the double nearest to an odd multiple of π is upright.

    angle      θ at t = 0, from the lowest position, rad
    rate       θ̇ at t = 0, rad/s
    t          (...)  s, of either sign
    frequency  f > 0 of small swings, rad/s: f² = m g l/J about the pivot, g/l for a point mass
    ->         angle (...), rate (...)
    """
    where = "exact.pendulum"
    theta, speed = (float(single(where, n, x, "scalar")) for n, x in (("angle", angle), ("rate", rate)))
    f = positive(where, "frequency", frequency)
    t = times(where, t)
    sense = -1 if speed < 0 else 1
    with localcontext(EXACT):
        turns, c, s = _half_angle(theta)
        upright = speed == 0 and float((2 * turns + Decimal(1).copy_sign(s)) * circle()) == theta
        r = Decimal(abs(speed)) / (2 * Decimal(f))
        kappa, left = s * s + r * r, c * c - r * r  # κ and 1 − κ
        if kappa == 0 or upright:
            return PendulumMotion(np.full(t.shape, theta)[()], np.zeros(t.shape)[()])
        k = kappa.sqrt()
        swings = left > NOISE
        if swings:
            clock = start_clock(Decimal(f), kappa, left, sense * s / k, r / k)
        else:
            left = left if abs(left) > NOISE else Decimal(0)
            clock = start_clock(Decimal(f) * k, 1 / kappa, -left / kappa, sense * s, c)
    at = read(clock, t.reshape(-1))
    if swings:
        flip = np.where(at.half_periods % 2, -sense, sense)
        half, half_rate = np.arctan2(float(k) * flip * at.sn, at.dn), f * float(k) * flip * at.cn
    else:
        half, half_rate = sense * (pi * at.half_periods + np.arctan2(at.sn, at.cn)), sense * f * float(k) * at.dn
    whole, whole_rate = 2 * half + 2 * pi * turns, 2 * half_rate
    return PendulumMotion(whole.reshape(t.shape)[()], whole_rate.reshape(t.shape)[()])


def _half_angle(theta: float) -> tuple[int, Decimal, Decimal]:
    """Whole turns in an angle θ, and cos ≥ 0 and sin of half the rest."""
    turns = int((Decimal(theta) / (2 * circle())).to_integral_value())
    half = Decimal(theta) / 2 - turns * circle()
    return turns, *cosine_sine(half)


def pendulum_period(amplitude: Array, frequency: float) -> np.ndarray:
    """Time of a full swing, to and fro.

        T = 4 K(m)/f,  m = sin² ½θ₀                                                    Whittaker (1937) §44

    amplitude  (...)  θ₀ between 0 and π, rad; at π infinite
    frequency  f > 0 of small swings, rad/s
    ->         (...)  s
    """
    where = "exact.pendulum_period"
    theta = as_array(f"{where}, argument amplitude", amplitude, ())
    f = positive(where, "frequency", frequency)
    if theta.dtype.kind != "f" or np.any((theta < 0) | (theta > pi)):
        fix = "A pendulum that turns over has no amplitude."
        raise InputError(message(f"{where}, argument amplitude", "not one of a swing", str(theta), "0 … π", fix))
    return np.where(theta == pi, inf, 4 * ellipkm1(np.cos(theta / 2) ** 2) / f)[()]
