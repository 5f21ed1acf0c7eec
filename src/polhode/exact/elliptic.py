"""Elliptic functions of the time, for motions that are to be known to all their digits.

The constants of a motion come as `Decimal` of DIGITS digits, from inputs taken as exact: a difference
that decides on which side of a separatrix a body is then loses nothing. Periods, and the advance of
an angle in one period, are also found there, and whole periods and turns are taken off before
anything is rounded to doubles, so that a long time costs no digits either.
"""

from decimal import Context, Decimal, localcontext
from functools import lru_cache
from math import exp, frexp, inf, ldexp, pi, sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import elliprc, elliprf, elliprj

from polhode.errors import InputError, message
from polhode.scalar import Array, Vec, as_array

DIGITS = 300
"""Decimal digits of the constants of a motion."""

EXACT = Context(prec=DIGITS)
"""The arithmetic for them: `with localcontext(EXACT):`."""

ONE = Decimal(1)
HALF = ONE / 2
THETA_TERMS = 4
"""Terms of a theta series: the next is below 1e-19 of the first for every nome up to exp(−π)."""


def decimals(array: Array) -> Vec:
    """The numbers of a vector or matrix, exactly."""
    return Vec([Decimal(x) if isinstance(x, float) else decimals(x) for x in np.asarray(array).tolist()])


def floats(value: Vec) -> np.ndarray:
    """A vector or matrix of decimals, rounded."""
    return np.array(value, dtype=float)


@lru_cache
def circle() -> Decimal:
    """π to DIGITS digits, by the arithmetic-geometric mean.                 Brent (1976), Salamin (1976)"""
    with localcontext(EXACT):
        a, b, s, weight = ONE, HALF.sqrt(), ONE / 4, ONE
        while abs(a - b) > Decimal(10) ** (5 - DIGITS):
            a, b, change = (a + b) / 2, (a * b).sqrt(), (a - b) / 2
            s -= weight * change * change
            weight *= 2
        return (a + b) ** 2 / (4 * s)


def cosine_sine(x: Decimal) -> tuple[Decimal, Decimal]:
    """cos x and sin x from the series of exp ix."""
    parts, n, term = [Decimal(0)] * 4, 0, ONE
    while abs(term) > Decimal(10) ** (-DIGITS - 5):
        parts[n % 4] += term
        n += 1
        term *= x / n
    return parts[0] - parts[2], parts[1] - parts[3]


def complete(m1: Decimal, p: Decimal = ONE) -> Decimal:
    """The complete integral of the third kind, and with p = 1 the first, K.

        Π = ∫₀^{π/2} dx / ((cos² x + p sin² x) √(cos² x + m₁ sin² x))     Bulirsch (1969), cel with a = b = 1

    m1  1 − m > 0
    p   1 − n > 0
    """
    kc, p, em, e = m1.sqrt(), p.sqrt(), ONE, m1.sqrt()
    a, b = ONE, 1 / p
    while True:
        g = e / p
        a, b, p = a + b / p, 2 * (b + a * g), p + g
        last, em = em, em + kc
        if abs(last - kc) <= last * Decimal(10) ** (-DIGITS // 2):
            return circle() / 2 * (b + a * em) / (em * (em + p))
        kc = 2 * e.sqrt()
        e = kc * em


class Modulus(NamedTuple):
    """A parameter m = k², its complement 1 − m, and their complete integrals of the first kind."""

    m: float
    m1: float
    K: float
    Kc: float


def modulus(m: Decimal, m1: Decimal) -> Modulus:
    """The modulus of a parameter and its complement; K is infinite where that is zero."""
    K, Kc = (float(complete(x)) if x else inf for x in (m1, m))
    return Modulus(float(m), float(m1), K, Kc)


class Functions(NamedTuple):
    """Jacobi's functions sn, cn, dn."""

    sn: np.ndarray
    cn: np.ndarray
    dn: np.ndarray


def jacobi(u: Array, m: Array, m1: Array) -> Functions:
    """Jacobi's elliptic functions, each to a few units in its last digit.

    u   (...)  the argument
    m   the parameter k², 0 … 1
    m1  its complement 1 − m, given apart because near the separatrix m → 1 it cannot be found from m
    ->  sn (...), cn (...), dn (...)
    """
    u, m, m1 = (as_array(f"exact.jacobi, argument {n}", x, ()) for n, x in (("u", u), ("m", m), ("m1", m1)))
    if np.ndim(m) or np.ndim(m1) or any(x.dtype != float for x in (u, m, m1)):
        found = ", ".join(f"{x.dtype} of shape {x.shape}" for x in (u, m, m1))
        raise InputError(message("exact.jacobi", "wrong kinds of u, m, m1", found, "floats, m and m1 single ones"))
    m, m1 = float(m), float(m1)
    if not (m >= 0 and m1 >= 0 and abs(m + m1 - 1) <= 1e-15):
        found = f"m = {m!r}, m1 = {m1!r}"
        raise InputError(message("exact.jacobi", "not a parameter and its complement", found, "m + m1 = 1, none < 0"))
    with localcontext(EXACT):
        clock = start_clock(ONE, Decimal(m), Decimal(m1), Decimal(0), ONE)
    reading = read(clock, u.reshape(-1))
    flip = np.where(reading.half_periods % 2, -1.0, 1.0)
    sn, cn, dn = (x.reshape(u.shape)[()] for x in (flip * reading.sn, flip * reading.cn, reading.dn))
    return Functions(sn, cn, dn)


def _first_period(v: np.ndarray, k: Modulus) -> Functions:
    """sn, cn, dn for |v| ≤ K; beyond K/2 reflected, so that cn and dn keep their relative accuracy."""
    if k.m1 == 0:
        e = np.exp(-abs(v))
        sech = 2 * e / (1 + e * e)
        return Functions(np.tanh(v), sech, sech)
    size = abs(v)
    far = size > k.K / 2
    sn, cn, dn = _near_zero(np.where(far, k.K - size, size), k)
    kc = sqrt(k.m1)
    far_sn, far_cn, far_dn = cn / dn, kc * sn / dn, kc / dn
    return Functions(np.copysign(np.where(far, far_sn, sn), v), np.where(far, far_cn, cn), np.where(far, far_dn, dn))


def _near_zero(v: np.ndarray, k: Modulus) -> Functions:
    """sn, cn, dn for 0 ≤ v ≤ K/2 as quotients of theta series.        Whittaker and Watson (1927) §21.11, §22.11, §22.4

    For m > ½ those of the complementary modulus, at an imaginary argument: hyperbolic functions.
    In either case the nome is at most exp(−π) = 0.043.
    """
    near, far = (k.K, k.Kc) if k.m <= 0.5 else (k.Kc, k.K)
    sine, cosine = (np.sin, np.cos) if k.m <= 0.5 else (np.sinh, np.cosh)
    q, z = exp(-pi * far / near), pi / 2 * v / near
    s1 = s2 = s3 = s4 = np.zeros_like(z)
    zero2 = zero3 = zero4 = 0.0
    for n in reversed(range(THETA_TERMS if q > 1e-40 else 1)):
        sign, odd, even = (-1) ** n, q ** (n * (n + 1)), q ** (n * n) * (2 if n else 1)
        s1, s2 = s1 + sign * odd * sine((2 * n + 1) * z), s2 + odd * cosine((2 * n + 1) * z)
        s3, s4 = s3 + even * cosine(2 * n * z), s4 + sign * even * cosine(2 * n * z)
        zero2, zero3, zero4 = zero2 + odd, zero3 + even, zero4 + sign * even
    if k.m <= 0.5:
        return Functions(zero3 / zero2 * s1 / s4, zero4 / zero2 * s2 / s4, zero4 / zero3 * s3 / s4)
    return Functions(zero3 / zero4 * s1 / s2, zero2 / zero4 * s4 / s2, zero2 / zero3 * s3 / s2)


def turn_rate(rate: Decimal) -> tuple[float, float]:
    """A rate in turns per second, in two parts of which the first is the nearest double."""
    turns = rate / (2 * circle())
    return float(turns), float(turns - Decimal(float(turns)))


def even_angle(turns: tuple[float, float], t: np.ndarray) -> np.ndarray:
    """The angle, rad, less whole turns, after a time at an even `turn_rate`; the product is Dekker's, exact."""
    high, low = turns
    product = t * high
    _check_countable(product)
    t1, high1 = (134217729.0 * x - (134217729.0 * x - x) for x in (t, high))  # the first 26 bits
    t2, high2 = t - t1, high - high1
    error = ((t1 * high1 - product) + t1 * high2 + t2 * high1) + t2 * high2
    return 2 * pi * ((product - np.rint(product)) + (error + t * low))


def _check_countable(turns: np.ndarray) -> None:
    if np.any(abs(turns) > 2.0**53):
        found = f"{np.max(abs(turns)):.3g} turns or half periods"
        raise InputError(message("exact, argument t", "too far to tell the phase", found, "at most 2⁵³"))


class Clock(NamedTuple):
    """An elliptic argument v = λ t + v₀, told as a number of half periods T = 2K/λ and a rest."""

    k: Modulus
    rate: float
    start: float
    period: tuple[float, float]
    exact: tuple[Decimal, Decimal]  # λ, 1 − m
    at_start: Functions


class Reading(NamedTuple):
    """A clock at some times: half periods passed, the argument left over, and functions of that."""

    t: np.ndarray
    half_periods: np.ndarray
    v: np.ndarray
    sn: np.ndarray
    cn: np.ndarray
    dn: np.ndarray


def start_clock(rate: Decimal, m: Decimal, m1: Decimal, sn: Decimal, cn: Decimal) -> Clock:
    """The clock of rate λ > 0 and parameter m that shows sn and cn ≥ 0 at t = 0."""
    k = modulus(m, m1)
    dn = (m1 + m * cn * cn).sqrt()
    first = Functions(*(np.array([float(x)]) for x in (sn, cn, dn)))
    start = float(first.sn[0] * elliprf(first.cn[0] ** 2, first.dn[0] ** 2, 1.0))
    T = 2 * complete(m1) / rate if m1 else Decimal(0)
    fraction, exponent = frexp(float(T))
    high = ldexp(round(ldexp(fraction, 26)), exponent - 26)  # 26 bits: count × high is exact
    return Clock(k, float(rate), start, (high, float(T - Decimal(high))), (rate, m1), first)


def read(clock: Clock, t: np.ndarray) -> Reading:
    """The clock at times t (n,): whole half periods are taken off t before anything is rounded."""
    high, low = clock.period
    shift = clock.start / clock.rate
    count = np.rint((t + shift) / (high + low)) if clock.k.m1 else np.zeros_like(t)
    _check_countable(count)
    v = clock.rate * ((t - count * high) - count * low) + clock.start
    v = np.clip(v, -clock.k.K, clock.k.K)  # rounding must not carry it into the next half period
    return Reading(t, count.astype(np.int64), v, *_first_period(v, clock.k))


class Angle(NamedTuple):
    """An angle that grows evenly but for an integral of the third kind:

    its rate is κ + w/(cn² v + p sn² v), its value 0 at t = 0, and it gains 2π a with each half period.
    """

    advance: int  # with each half period, in 2⁻⁶⁴ turns
    rate: tuple[float, float]
    weight: float
    p: tuple[float, float]  # p, p − 1
    origin: float


def start_angle(clock: Clock, rate: Decimal, weight: Decimal, p: Decimal, turns: Decimal) -> Angle:
    """The angle with the rate κ + w/(cn² v + p sn² v), p > 0, and turns a added with each half period."""
    clock_rate, m1 = clock.exact
    even, uneven = _shares(m1, p)
    beyond = complete(m1, p) - even * complete(m1) if m1 else Decimal(0)  # in half of a half period
    advance = weight / clock_rate * beyond / circle() + turns
    scale, both = float(weight / clock_rate * uneven), (float(p), float(p - 1))
    origin = scale * float(third_kind(clock.at_start, clock.k, *both)[0])
    return Angle(int(advance * 2**64) % 2**64, turn_rate(rate + even * weight), scale, both, origin)


def read_angle(angle: Angle, clock: Clock, reading: Reading) -> np.ndarray:
    """The angle (n,), rad, less some whole turns: those of whole periods are dropped in integers, modulo 2⁶⁴."""
    turns = (reading.half_periods.astype(np.uint64) * np.uint64(angle.advance)).view(np.int64)
    within = angle.weight * third_kind(Functions(reading.sn, reading.cn, reading.dn), clock.k, *angle.p)
    return turns * (2 * pi / 2**64) + even_angle(angle.rate, reading.t) + (within - angle.origin)


def third_kind(at: Functions, k: Modulus, p: float, excess: float) -> np.ndarray:
    """The part F of an integral of the third kind, |v| ≤ K, whose terms are no larger than they must be.

        ∫₀^v dw/(cn² w + p sn² w) = v + ⅓ (1 − p) F,  F = sn³ R_J(cn², dn², 1, cn² + p sn²)       p ≤ 2
          = F = sn R_C(cn² dn², (cn² + p sn²)(1 + r sn²)) + ⅓ r sn³ R_J(cn², dn², 1, 1 + r sn²)    p > 2
          = v/p + h F/p,  F = atan(h sn)                                                          m = 1, p ≥ 1

    with r = m/(p − 1), h² = p − 1.                                         DLMF 19.25.14, 19.7.8, 19.6.12

    at         sn, cn, dn of v (n,)
    p, excess  p > 0 and p − 1
    """
    s, c2, d2 = at.sn, at.cn**2, at.dn**2
    s2 = s * s
    if k.m1 == 0:
        return np.arctan(sqrt(excess) * s)
    if p <= 2:
        return s * s2 * elliprj(c2, d2, 1.0, c2 + p * s2)
    r = k.m / excess
    circular = elliprc(c2 * d2, (c2 + p * s2) * (1 + r * s2))
    return s * circular + r / 3 * s * s2 * elliprj(c2, d2, 1.0, 1 + r * s2)


def _shares(m1: Decimal, p: Decimal) -> tuple[Decimal, Decimal]:
    """The factors of v and of F in `third_kind`."""
    if m1 == 0:
        return 1 / p, (p - 1).sqrt() / p
    return (ONE, (1 - p) / 3) if p <= 2 else (Decimal(0), ONE)
