"""Bodies that no torque acts on."""

from decimal import Decimal, localcontext
from typing import NamedTuple

import numpy as np

from polhode.errors import InputError, message
from polhode.exact.elliptic import (
    DIGITS,
    EXACT,
    Angle,
    Clock,
    decimals,
    floats,
    read,
    read_angle,
    start_angle,
    start_clock,
)
from polhode.exact.motion import (
    Motion,
    constant_rate,
    positive,
    rotation,
    seen_from_body,
    single,
    single_inertia,
    times,
)
from polhode.quaternion import IDENTITY, conjugate, from_matrix, product, rotate, shortest_rotation
from polhode.scalar import Array, Vec, cross, dot, length, vec
from polhode.spatial import Z

NOISE = Decimal("1e-150")
"""A relative difference this small is none: permanent rotation, or exactly on the separatrix."""


def free_body(inertia: Array, omega: Array, t: Array, p: Array = IDENTITY) -> Motion:
    """Motion of any rigid body without torque.                                        Whittaker (1937) §69

        ω₁ = a₁ cn v,  ω₂ = ±a₂ sn v,  ω₃ = a₃ dn v,  v = λ t + v₀

    in principal axes, of which 3 is the one that the momentum circles, 2 the middle one. The attitude
    tilts the momentum L to a fixed direction and turns about that by 3-1-3 angles, φ + ψ:

        φ̇ = L (2T − J₃ ω₃²)/(L² − J₃² ω₃²),  tan ψ = J₁ ω₁/J₂ ω₂

    The inputs are taken as exact, so the result is right near and on the separatrix 2T J₂ = L².
    The sign of p is continuous.

    inertia  (3,) or (3, 3)  about the mass centre, body axes, kg m²
    omega    (3,)            at t = 0, body axes, rad/s
    t        (...)           s, of either sign
    p        (4,)            at t = 0
    ->       p (..., 4), omega (..., 3)
    """
    J = single_inertia("exact.free_body", "inertia", inertia)
    omega = single("exact.free_body", "omega", omega, "vector")
    p = single("exact.free_body", "p", p, "unit quaternion")
    t = times("exact.free_body", t)
    with localcontext(EXACT):
        body = _circling(J, omega)
    if body is None:
        return constant_rate(p, omega, t)
    reading = read(body.clock, t.reshape(-1))
    at = np.stack([reading.cn, reading.sn, reading.dn], axis=-1)
    flip = np.where(reading.half_periods % 2, -1.0, 1.0)[:, None] * [1, 1, 0] + [0, 0, 1]
    # ½ (φ + ψ), less its value at t = 0
    half = read_angle(body.half_turn, body.clock, reading) + (_psi(body.momentum * at) - _psi(body.start)) / 2
    tilt = shortest_rotation(body.momentum * at * flip, [*Z])  # its third component is above 0
    r = product(np.stack([np.cos(half), 0 * half, 0 * half, np.sin(half)], axis=-1), tilt)
    attitude = seen_from_body(p, from_matrix(body.axes), r, shortest_rotation(body.start, [*Z]))
    rates = (body.omega * at * flip) @ body.axes.T
    return Motion(attitude.reshape(*t.shape, 4), rates.reshape(*t.shape, 3))


class _Body(NamedTuple):
    """The constants of a free motion; vectors along the chosen principal axes."""

    axes: np.ndarray  # these axes: columns, in body axes
    clock: Clock
    half_turn: Angle  # ½ (φ + ψ), but for what ψ does within a half period
    omega: np.ndarray  # ω = omega · (cn, sn, dn)
    momentum: np.ndarray  # J ω/L = momentum · (cn, sn, dn)
    start: np.ndarray  # J ω/L at t = 0


def _psi(momentum: np.ndarray) -> np.ndarray:
    """ψ of a direction of the momentum in the half period around v = 0, less ¼ turn."""
    return -np.arctan2(momentum[..., 1], momentum[..., 0])


def _circling(inertia: np.ndarray, omega: np.ndarray) -> _Body | None:
    """The constants of the motion, or None where the axis of rotation stays where it is."""
    w = decimals(omega)
    J, axes = _principal(decimals(inertia))
    L = Vec([J_i * dot(e, w) for J_i, e in zip(J, axes, strict=True)])
    if length(cross(axes @ w, L)) <= NOISE * length(w) * length(L):
        return None
    (J1, J2, J3), axes = _ordered(J, axes, w)
    w1, w2, w3 = axes @ w
    # 2T J₃ − L², L² − 2T J₂, L² − 2T J₁
    above = J1 * (J3 - J1) * w1 * w1 + J2 * (J3 - J2) * w2 * w2
    middle = J1 * (J1 - J2) * w1 * w1 + J3 * (J3 - J2) * w3 * w3
    below = J2 * (J2 - J1) * w2 * w2 + J3 * (J3 - J1) * w3 * w3
    if abs(middle) <= NOISE * abs(below):
        middle = Decimal(0)
    rate = ((J3 - J2) * below / (J1 * J2 * J3)).sqrt()
    m = (J2 - J1) * above / ((J3 - J2) * below)
    m1 = (J3 - J1) * middle / ((J3 - J2) * below)
    sense = 1 if J3 > J1 else -1
    a1 = (above / (J1 * (J3 - J1))).sqrt()
    a2 = (above / (J2 * (J3 - J2))).sqrt() * sense
    a3 = (below / (J3 * (J3 - J1))).sqrt()
    clock = start_clock(rate, m, m1, w2 / a2, w1 / a1)
    p = J2 * (J3 - J1) / (J1 * (J3 - J2))
    half_turn = start_angle(clock, length(L) / (2 * J3), length(L) * (J3 - J1) / (2 * J1 * J3), p, Decimal(-sense) / 4)
    momenta = (vec(J1 * x1, J2 * x2, J3 * x3) / length(L) for x1, x2, x3 in ((a1, a2, a3), (w1, w2, w3)))
    return _Body(floats(axes.T), clock, half_turn, floats(vec(a1, a2, a3)), *map(floats, momenta))


def _principal(A: Vec) -> tuple[Vec, Vec]:
    """Principal moments of a symmetric matrix and, as rows, its right-handed axes, by Jacobi's rotations."""
    one, zero = Decimal(1), Decimal(0)
    axes = vec(vec(one, zero, zero), vec(zero, one, zero), vec(zero, zero, one))
    A = (A + A.T) / 2
    small = Decimal(10) ** (10 - DIGITS) * max(A[0][0], A[1][1], A[2][2])
    while max(abs(A[0][1]), abs(A[0][2]), abs(A[1][2])) > small:
        for i, j in ((0, 1), (0, 2), (1, 2)):
            if abs(A[i][j]) > small:
                cotangent = (A[j][j] - A[i][i]) / (2 * A[i][j])  # of twice the angle
                tangent = 1 / (abs(cotangent) + (cotangent * cotangent + 1).sqrt()).copy_sign(cotangent)
                c = 1 / (tangent * tangent + 1).sqrt()
                turn = [list(row) for row in ((one, zero, zero), (zero, one, zero), (zero, zero, one))]
                turn[i][i], turn[i][j], turn[j][i], turn[j][j] = c, -tangent * c, tangent * c, c
                R = Vec(map(Vec, turn))
                A, axes = R @ A @ R.T, R @ axes
    return vec(A[0][0], A[1][1], A[2][2]), axes


def _ordered(J: Vec, axes: Vec, w: Vec) -> tuple[Vec, Vec]:
    """Moments and right-handed axes, as rows, with the circled axis last and ω₁ ≥ 0, ω₃ > 0."""
    small, middle, large = sorted(range(3), key=lambda i: J[i])
    w_ = axes @ w
    beyond = sum((J[i] * (J[i] - J[middle]) * w_[i] * w_[i] for i in (small, large)), Decimal(0))  # L² − 2T J₂
    first, last = (small, large) if beyond >= 0 else (large, small)
    e1, e3 = (-axes[i] if w_[i] < 0 else axes[i] for i in (first, last))
    return vec(J[first], J[middle], J[last]), vec(e1, cross(e3, e1), e3)


def free_symmetric_body(
    transverse: float, axial: float, omega: Array, t: Array, p: Array = IDENTITY, axis: int = 2
) -> Motion:
    """Motion of a symmetric body without torque, in elementary functions.

        p(t) = p₀∘exp(½ t J ω₀/A)∘exp(½ t s e),  s = (1 − C/A) ω₃

    ω turns about the axis e with the rate −s in the body.           Kane, Likins, Levinson (1983) §3.1

    transverse, axial  A, C: moments about the mass centre, kg m²
    omega              (3,)   at t = 0, body axes, rad/s
    t                  (...)  s
    p                  (4,)   at t = 0
    axis               0, 1 or 2: which body axis is e
    ->                 p (..., 4), omega (..., 3)
    """
    where = "exact.free_symmetric_body"
    if axis not in (0, 1, 2):
        raise InputError(message(f"{where}, argument axis", "not a body axis", repr(axis), "0, 1 or 2"))
    A, C = positive(where, "transverse", transverse), positive(where, "axial", axial)
    e = np.eye(3)[axis]
    J = np.diag(single_inertia(where, "transverse, axial", np.where(e, C, A)))
    omega = single(where, "omega", omega, "vector")
    p = single(where, "p", p, "unit quaternion")
    t = times(where, t)
    with localcontext(EXACT):
        w, (A_, C_) = decimals(omega), decimals([A, C])
        h = Vec([J_i * w_i / A_ for J_i, w_i in zip(decimals(J), w, strict=True)])
        spun = rotation((A_ - C_) / A_ * w[axis] * decimals(e), t)
        attitude = product(product(p, rotation(h, t)), spun)
    return Motion(attitude, rotate(conjugate(spun), omega))
