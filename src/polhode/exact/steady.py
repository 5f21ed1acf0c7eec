"""Steady motions of symmetric bodies: precession at a constant rate and a constant tilt."""

from math import cos, inf, sin, sqrt
from typing import NamedTuple

import numpy as np

from polhode.errors import InputError, message
from polhode.exact.motion import Motion, positive, single, single_inertia, times
from polhode.quaternion import exp, product
from polhode.scalar import Array

EPSILON = float(np.finfo(float).eps)


class FreePrecession(NamedTuple):
    """Rates of a free symmetric body, rad/s: of ω about the axis in the body, of the axis about L in space."""

    body: float
    space: float


class TopPrecession(NamedTuple):
    """The two rates φ̇, rad/s, at which a top can precess steadily; `fast` is infinite for a level axis."""

    slow: float
    fast: float


def steady_precession_free(transverse: float, axial: float, theta: float, spin: float) -> FreePrecession:
    """Rates of precession of a free symmetric body.

        in the body (C/A − 1) ω₃,  in space φ̇ = C ω₃/(A cos θ)

    transverse, axial  A, C: moments about the mass centre, kg m²
    theta              angle between the axis and the momentum, rad
    spin               ω₃: angular velocity along the axis, rad/s
    """
    where = "exact.steady_precession_free"
    A, C = positive(where, "transverse", transverse), positive(where, "axial", axial)
    single_inertia(where, "transverse, axial", [A, A, C])
    theta, spin = _number(where, "theta", theta), _number(where, "spin", spin)
    if abs(cos(theta)) <= EPSILON:
        fix = "With the axis across the momentum the spin is 0 and any rate L/A may be had."
        raise InputError(message(f"{where}, argument theta", "a right angle", f"{theta:g}", "less or more", fix))
    return FreePrecession((C - A) / A * spin, C * spin / (A * cos(theta)))


def steady_precession_top(transverse: float, axial: float, mgl: float, theta: float, spin: float) -> TopPrecession:
    """Rates of steady precession of Lagrange's top.

        A φ̇² cos θ − C ω₃ φ̇ + m g l = 0

    transverse, axial  A, C: moments about the fixed point, kg m²
    mgl                weight × distance of the mass centre from the fixed point, N m
    theta              angle of the axis from the vertical, rad
    spin               ω₃: the whole angular velocity along the axis, ψ̇ + φ̇ cos θ, rad/s
    """
    where = "exact.steady_precession_top"
    A, C, mgl = _top(where, transverse, axial, mgl)
    theta, spin = _number(where, "theta", theta), _number(where, "spin", spin)
    c = cos(theta) if abs(cos(theta)) > EPSILON else 0.0
    h = C * spin
    rest = h * h - 4 * A * mgl * c
    if abs(rest) <= 8 * EPSILON * h * h:
        rest = 0.0
    if rest < 0 or h == 0 == c:
        least = f"a spin of at least {sqrt(max(4 * A * mgl * c, 0)) / C:.9g} rad/s, and not 0 for a level axis"
        raise InputError(message(where, "too slow for a steady precession", f"{spin:g} rad/s", least))
    both = h + np.copysign(sqrt(rest), h)  # the larger of h ± √rest in size
    return TopPrecession(float(2 * mgl / both), float(both / (2 * A * c)) if c else inf)


def steady_top(
    transverse: float, axial: float, mgl: float, theta: float, spin: float, t: Array, fast: bool = False
) -> Motion:
    """Motion of Lagrange's top in steady precession, under gravity along −z, its axis the body's z.

        p(t) = exp(½ φ̇ t e₃)∘exp(½ θ e₁)∘exp(½ ψ̇ t e₃),  ψ̇ = ω₃ − φ̇ cos θ

    transverse, axial, mgl, theta, spin  as for `steady_precession_top`
    t     (...)  s
    fast  the fast precession instead of the slow one
    ->    p (..., 4), omega (..., 3)
    """
    where = "exact.steady_top"
    t = times(where, t)
    upright = _number(where, "theta", theta) == 0  # sleeping: no precession to be told from the spin
    rates = TopPrecession(0.0, 0.0) if upright else steady_precession_top(transverse, axial, mgl, theta, spin)
    _, theta, spin = _top(where, transverse, axial, mgl), float(theta), _number(where, "spin", spin)
    rate = rates.fast if fast else rates.slow
    if rate == inf:
        raise InputError(message(where, "no fast precession", "a level axis", "theta off π/2, or fast=False"))
    e1, e3 = np.eye(3)[0], np.eye(3)[2]
    psi = (spin - rate * cos(theta)) * t
    p = product(product(exp(rate / 2 * t[..., None] * e3), exp(theta / 2 * e1)), exp(psi[..., None] / 2 * e3))
    across = rate * sin(theta)
    omega = np.stack([across * np.sin(psi), across * np.cos(psi), np.full(t.shape, spin)], axis=-1)
    return Motion(p, omega)


def sleeping_top_rate(transverse: float, axial: float, mgl: float) -> float:
    """The spin ω₃ above which an upright top is stable, rad/s.

        C² ω₃² = 4 A m g l

    transverse, axial  A, C: moments about the fixed point, kg m²
    mgl                weight × distance of the mass centre from the fixed point, N m
    """
    A, C, mgl = _top("exact.sleeping_top_rate", transverse, axial, mgl)
    return 2 * sqrt(A * mgl) / C


def _top(where: str, transverse: float, axial: float, mgl: float) -> tuple[float, float, float]:
    """A, C and m g l, checked."""
    A, C = positive(where, "transverse", transverse), positive(where, "axial", axial)
    single_inertia(where, "transverse, axial", [A, A, C])
    return A, C, positive(where, "mgl", mgl)


def _number(where: str, name: str, value: Array) -> float:
    return float(single(where, name, value, "scalar"))
