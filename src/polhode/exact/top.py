"""Lagrange's top: a symmetric body with a fixed point on its axis, under gravity."""

from decimal import Decimal, localcontext
from typing import NamedTuple

import numpy as np

from polhode.errors import InputError, message
from polhode.exact.elliptic import (
    DIGITS,
    EXACT,
    HALF,
    Angle,
    Clock,
    Reading,
    decimals,
    floats,
    read,
    read_angle,
    start_angle,
    start_clock,
)
from polhode.exact.free import free_body
from polhode.exact.motion import Motion, positive, seen_from_body, single, single_inertia, times
from polhode.quaternion import from_matrix, rotation_matrix
from polhode.scalar import Array, Vec, cross, dot, length, square, vec

SYMMETRY_TOLERANCE = 1e-9
"""How far, relative to its largest entry, an inertia may be from symmetry about the axis."""

NOISE = Decimal("1e-90")
"""Cosines of the tilt that differ by less are equal: triple roots of the cubic are known little better."""

VERTICAL = Decimal("1e-55")
"""Where the axis starts this near to a vertical that it passes through, its plane is known from ω."""

ZERO, ONE = Decimal(0), Decimal(1)


def heavy_top(
    mass: float, inertia: Array, center: Array, p: Array, omega: Array, t: Array, gravity: Array = (0.0, 0.0, -9.81)
) -> Motion:
    """Motion of Lagrange's top: fixed at the origin of the body frame, symmetric about its mass centre's direction.

        u = cos θ = u₁ + (u₂ − u₁) sn² v,  v = λ t + v₀,  λ² = ½ m g l (u₃ − u₁)/A     Whittaker (1937) §71

    with the roots u₁ ≤ u ≤ u₂ ≤ 1 ≤ u₃ of u̇² = (α − βu)(1 − u²) − (b − a u)², where β = 2 m g l/A,
    a = C ω₃/A, b = L_z/A. The attitude is made of the Cayley–Klein parameters

        cos ½θ exp ½i(φ + ψ),  sin ½θ exp ½i(φ − ψ),   φ̇ ± ψ̇ = ±(ω₃ − a) + (b ± a)/(1 ± u)

    each with its own integral of the third kind: smooth where the axis passes the vertical, at
    whatever distance, and through it. The inputs are taken as exact, and the sign of p is continuous.

    mass     kg
    inertia  (3,) or (3, 3)  about the mass centre, body axes, kg m²
    center   (3,)            mass centre, body axes, m; its direction is the axis of symmetry
    p        (4,)            at t = 0
    omega    (3,)            at t = 0, body axes, rad/s
    t        (...)           s, of either sign
    gravity  (3,)            space axes, m/s²; zero leaves a free body with a fixed point
    ->       p (..., 4), omega (..., 3)
    """
    where = "exact.heavy_top"
    mass = positive(where, "mass", mass)
    J = single_inertia(where, "inertia", inertia)
    center, gravity = single(where, "center", center, "vector"), single(where, "gravity", gravity, "vector")
    p, omega = single(where, "p", p, "unit quaternion"), single(where, "omega", omega, "vector")
    t = times(where, t)
    _check_symmetry(where, J, center)
    with localcontext(EXACT):
        top = _top(Decimal(mass), *map(decimals, (J, center, p, omega, gravity)))
    if top is None:
        return free_body(J + mass * (center @ center * np.eye(3) - np.outer(center, center)), omega, t, p)
    reading = read(top.clock, t.reshape(-1))
    low, high = (_read_arm(arm, top.clock, reading) for arm in (top.low, top.high))
    # ω₁ + i ω₂ = 2 (z̄₁ ż₂ − z₂ conj ż₁); the common turn of both parts cancels
    across = 2 * (np.conj(low.z) * high.rate - high.z * np.conj(low.rate))
    r = np.stack([low.z.real, high.z.real, high.z.imag, low.z.imag], axis=-1)
    attitude = seen_from_body(p, from_matrix(top.axes), r, top.start)
    rates = np.stack([across.real, across.imag, np.full_like(across.real, top.spin)], axis=-1) @ top.axes.T
    return Motion(attitude.reshape(*t.shape, 4), rates.reshape(*t.shape, 3))


def _check_symmetry(where: str, J: np.ndarray, center: np.ndarray) -> None:
    """Ask that the inertia be unchanged by turning about the direction of the mass centre."""
    if not np.any(center):
        return
    k = center / np.max(abs(center))
    k = k / np.linalg.norm(k)
    C = k @ J @ k
    ideal = (np.trace(J) - C) / 2 * (np.eye(3) - np.outer(k, k)) + C * np.outer(k, k)
    defect = np.max(abs(J - ideal)) / np.max(abs(J))
    if defect > SYMMETRY_TOLERANCE:
        raise InputError(
            message(
                f"{where}, argument inertia",
                "not symmetric about the axis through the fixed point and the mass centre",
                f"a relative difference of {defect:.3g}",
                f"at most {SYMMETRY_TOLERANCE:g}",
                "Only the symmetric (Lagrange) top has this closed form.",
            )
        )


class _Arm(NamedTuple):
    """One Cayley–Klein parameter: z = ρ exp(i angle), ρ² = ½ (least + span f²), f = sn or cn.

    Where `least` is zero the axis passes through the vertical, and ρ = √(½ span) f changes sign.
    """

    least: float
    span: float
    rises: bool  # f = sn
    turn: float  # b ± a
    angle: Angle


class _Parameter(NamedTuple):
    """A Cayley–Klein parameter and its rate, less the part of ½ (ω₃ − a) t."""

    z: np.ndarray
    rate: np.ndarray


class _Top(NamedTuple):
    """The constants of a top's motion."""

    axes: np.ndarray  # columns, in body axes; the third is the axis of symmetry
    spin: float
    clock: Clock
    low: _Arm  # cos ½θ, least at the lowest point
    high: _Arm  # sin ½θ, least at the highest point
    start: np.ndarray  # attitude of the axes at t = 0, in a frame with φ + ψ = φ − ψ = 0


def _read_arm(arm: _Arm, clock: Clock, reading: Reading) -> _Parameter:
    """The parameter at the times of a reading."""
    f, rate = (reading.sn, reading.cn) if arm.rises else (reading.cn, -reading.sn)
    rate = clock.rate * rate * reading.dn
    if arm.least == 0:
        rho, rho_rate, across = np.sqrt(arm.span / 2) * f, np.sqrt(arm.span / 2) * rate, 0.0
    else:
        rho = np.sqrt((arm.least + arm.span * f * f) / 2)
        rho_rate, across = arm.span * f * rate / (2 * rho), arm.turn / (4 * rho)
    direction = np.exp(1j * read_angle(arm.angle, clock, reading))
    return _Parameter(rho * direction, (rho_rate + 1j * across) * direction)


def _top(mass: Decimal, J: Vec, center: Vec, p: Vec, w: Vec, gravity: Vec) -> _Top | None:
    """The constants of the motion, or None where gravity has no part in it."""
    arm = length(center)
    if arm * length(gravity) == 0:
        return None
    k = center / arm
    C = dot(k, J @ k)
    A = (J[0][0] + J[1][1] + J[2][2] - C) / 2 + mass * arm * arm
    gamma = rotation_matrix(p).T @ (-gravity / length(gravity))
    gamma = gamma / length(gamma)
    u, w3 = dot(gamma, k), dot(w, k)
    across, sideways = gamma - u * k, w - w3 * k
    climb = dot(cross(gamma, w), k)  # u̇
    beta = 2 * mass * length(gravity) * arm / A
    a = C * w3 / A
    b = a * u + dot(sideways, across)
    alpha = square(sideways) + beta * u
    if beta < NOISE * (alpha + a * a):
        return None
    low, span, high, gap = _turning_points(alpha, beta, a, b)
    sn2 = _ratio(1 + u - low, span)
    if span == 0 or (gap == 0 and sn2 == 1):  # steady, stable or not
        low, span, high, gap, sn2, rate = _snap(1 + u), ZERO, _snap(1 - u), ONE, ZERO, ONE
    else:
        rate = (beta * (span + gap)).sqrt() / 2
    through = (low == 0 and 1 + u < VERTICAL) or (high == 0 and 1 - u < VERTICAL)
    sn = sn2.sqrt().copy_sign(ONE if through else climb)
    clock = start_clock(rate, span / (span + gap), gap / (span + gap), sn, (1 - sn2).sqrt())
    sign = -1 if low == 0 and sn < 0 else 1
    start = [sign * (max(1 + u, ZERO) / 2).sqrt(), (max(1 - u, ZERO) / 2).sqrt()]
    return _Top(
        floats(_axes(k, across, sideways, through, sign)).T,
        float(w3),
        clock,
        _arm(clock, (w3 - a) / 2, low, span, True, a + b),
        _arm(clock, (a - w3) / 2, high, span, False, b - a),
        np.array([*map(float, start), 0.0, 0.0]),
    )


def _arm(clock: Clock, rate: Decimal, least: Decimal, span: Decimal, rises: bool, turn: Decimal) -> _Arm:
    """The Cayley–Klein parameter whose angle has this rate + ½ turn/(2ρ²)."""
    first, last = (least, least + span) if rises else (least + span, least)  # 2ρ² at v = 0 and K
    if least == 0:
        angle = start_angle(clock, rate, ZERO, ONE, HALF if span else ZERO)
    else:
        angle = start_angle(clock, rate, turn / (2 * first), last / first, ZERO)
    return _Arm(float(least), float(span), rises, float(turn), angle)


def _axes(k: Vec, across: Vec, sideways: Vec, through: bool, sign: int) -> Vec:
    """Right-handed axes, as rows, k the third, in which the start has φ + ψ = φ − ψ = 0.

    The vertical is then along ±(the second axis); where there is none, ω along −(the first).
    """
    rows = vec(vec(ZERO, k[2], -k[1]), vec(-k[2], ZERO, k[0]), vec(k[1], -k[0], ZERO))  # any, for want of both
    e2 = sign * across if not through else cross(sideways, k) if length(sideways) else max(rows, key=square)
    e2 = e2 / length(e2)
    return vec(cross(e2, k), e2, k)


def _turning_points(alpha: Decimal, beta: Decimal, a: Decimal, b: Decimal) -> tuple[Decimal, Decimal, Decimal, Decimal]:
    """1 + u₁, u₂ − u₁, 1 − u₂ and u₃ − u₂ for the roots of (α − βu)(1 − u²) − (b − a u)²."""
    c2, c1, c0 = -(alpha + a * a) / beta, (2 * a * b - beta) / beta, (alpha - b * b) / beta
    u3, step = 2 - c2, ONE  # at or beyond the largest root: Newton's method comes down to it
    while step > Decimal(10) ** (5 - DIGITS) * abs(u3):
        value, slope = ((u3 + c2) * u3 + c1) * u3 + c0, (3 * u3 + 2 * c2) * u3 + c1
        step = value / slope if slope > 0 else ZERO
        u3 -= max(step, ZERO)
    middle, product = -(c2 + u3) / 2, c1 + u3 * (u3 + c2)
    half = max(middle * middle - product, ZERO).sqrt()
    u1, u2 = middle - half, middle + half
    return _snap(1 + u1), _snap(2 * half), _snap(1 - u2), _snap(u3 - u2)


def _snap(difference: Decimal) -> Decimal:
    """A difference of cosines, or zero if it is only noise."""
    return difference if difference > NOISE else ZERO


def _ratio(part: Decimal, whole: Decimal) -> Decimal:
    """part/whole within 0 … 1."""
    return min(max(part / whole, ZERO), ONE) if whole else ZERO
