"""Step-size control by an error estimate; and SciPy's DOP853 for plain vectors, as a reference."""

from typing import Any, NamedTuple

import numpy as np

from polhode.errors import InputError, IntegrationError, message
from polhode.integrate.chart import raw
from polhode.integrate.integrals import advanced
from polhode.integrate.method import Machine, Method, MotionState, Rhs
from polhode.integrate.methods import ADAPTIVE
from polhode.scalar import Scalar, Vec, exp, log, maximum, minimum, sqrt, square, where

SAFETY = 0.9
"""The next step is this part of the one that would just meet the tolerance: fewer rejections for slightly more steps.

Hairer, Nørsett, Wanner (1993) §II.4 give 0.8 to 0.9.
"""

NOTHING = Vec()
"""The memory of methods that recall nothing."""

SHRINK, GROW = 0.2, 10.0
"""Bounds on the ratio of a step to the one before, those of DOPRI5 and of SciPy."""


class Controlled(NamedTuple):
    """A step that was tried: its end if accepted, else its beginning, the step size to try next, and the end itself."""

    accepted: Any
    t: Scalar
    q: Vec
    v: Vec
    h: Scalar
    error: Scalar
    end: MotionState
    integrals: Vec = Vec()
    memory: Vec = Vec()
    """Of the step that was tried, accepted or not"""


def error_norm(errors: tuple[Vec, ...], scale: Vec) -> Scalar:
    """Size of an error, 1 where it just meets the tolerance.        Hairer, Nørsett, Wanner (1993) (II.4.11), §II.5

    √(Σ (e/scale)²/n) of one estimate;  e₅²/√(n (e₅² + e₃²/100)) of two, by the sums of their squares e₅², e₃²
    """
    sizes = [square(Vec([e / s for e, s in zip(error, scale, strict=True)])) for error in errors]
    if len(sizes) == 1:
        return sqrt(sizes[0] / len(scale))
    both = sizes[0] + sizes[1] / 100
    return sizes[0] / sqrt(len(scale) * where(both > 0, both, 1.0))


ROUNDING = 1e-14
"""What errors of ways with a length of their own count at least by, in parts of the way itself: some tens of roundings,
below which no step comes."""


def tolerance_scale(machine: Machine, x: Vec, other: Vec, tolerance: Scalar) -> Vec:
    """tolerance (1 + |x|), or tolerance × length of ways and their velocities that count in parts of a length."""
    sizes = [maximum(abs(a), abs(b)) for a, b in zip(x, other, strict=True)]
    scale = [tolerance + tolerance * size for size in sizes]
    for coordinate, velocity, length in machine.error_lengths:
        for k in (coordinate, machine.nq + velocity):
            scale[k] = tolerance * length + ROUNDING * sizes[k]
    return Vec(scale)


def _estimator(method: Method) -> int:
    if method.error_order is None:
        fix = f"Take a fixed step, or an adaptive method: {', '.join(ADAPTIVE)}."
        found = f"'{method.name}', which estimates no error"
        raise InputError(message("step control", "the method cannot be controlled", found, "an embedded pair", fix))
    return method.error_order


def counted_errors(
    machine: Machine, t: Scalar, q: Vec, v: Vec, errors: tuple[Vec, ...], tolerance: Scalar
) -> tuple[Vec, ...]:
    """Errors of a state (t, q, v), as they count where a projection follows: those across the constraints leave only
    their squares, so √tolerance of them counts."""
    if not machine.tangent:
        return errors
    along = machine.tangent(t, q, v, list(errors))
    return tuple(a + sqrt(tolerance) * (e - a) for a, e in zip(along, errors, strict=True))


def controlled(
    method: Method,
    machine: Machine,
    t: Scalar,
    q: Vec,
    v: Vec,
    h: Scalar,
    tolerance: Scalar,
    grow: Scalar = GROW,
    memory: Vec = NOTHING,
) -> Controlled:
    """A step, accepted if its error is below 1 in units of tolerance (1 + |x|), and the step size to try next.

    Ways that count in parts of a length have tolerance × length in its place.

        h ← h min(grow, max(SHRINK, SAFETY error^(−1/(k + 1)))), k the order of the error estimate

    A step that is not a number is rejected.                          Hairer, Nørsett, Wanner (1993) (II.4.13)

    tolerance  relative and absolute
    grow       the largest growth; 1 after a rejected step, which keeps the step from growing at once
    memory     of an earlier step, for methods that recall it
    """
    power = -1 / (_estimator(method) + 1)
    carried = (memory,) if memory else ()
    end = advanced(method, machine._replace(tolerance=tolerance), t, q, v, h, *carried)
    errors = counted_errors(machine, t + h, end.q, end.v, end.errors, tolerance)
    error = error_norm(errors, tolerance_scale(machine, Vec((*q, *v)), Vec((*end.q, *end.v)), tolerance))
    accepted = error < 1
    factor = SAFETY * exp(power * log(maximum(error, 1e-100)))
    factor = where(accepted, minimum(grow, factor), maximum(SHRINK, factor))
    if end.growth is not None:
        factor = where(accepted, minimum(end.growth, factor), where(error > 1, factor, end.growth))
    return Controlled(
        accepted,
        where(accepted, t + h, t),
        where(accepted, end.q, q),
        where(accepted, end.v, v),
        factor * h,
        error,
        MotionState(end.q, end.v),
        end.integrals,
        end.memory or Vec(),
    )


def initial_step(method: Method, machine: Machine, t: Scalar, q: Vec, v: Vec, tolerance: Scalar) -> Scalar:
    """A first step from the sizes of x, ẋ and ẍ.                     Hairer, Nørsett, Wanner (1993) §II.4, p. 169"""
    order = _estimator(method)
    chart = raw(machine, q, v)
    x, f = chart.start, chart.rhs(t, chart.start)
    scale = tolerance_scale(machine, x, x, tolerance)

    def size(y: Vec) -> Scalar:
        return error_norm((y,), scale)

    d0, d1 = size(x), size(f)
    tiny = where(d0 < 1e-5, True, d1 < 1e-5)
    h0 = where(tiny, 1e-6, 0.01 * d0 / where(tiny, 1.0, d1))
    d2 = size(chart.rhs(t + h0, x + h0 * f) - f) / h0
    fastest = maximum(d1, d2)
    still = fastest <= 1e-15
    h1 = exp(log(0.01 / where(still, 1.0, fastest)) / (order + 1))
    return minimum(100 * h0, where(still, maximum(1e-6, h0 * 1e-3), h1))


def dop853(rhs: Rhs, x: Vec, times: np.ndarray, tolerance: float) -> np.ndarray:
    """The states at given times, by SciPy's DOP853.

    times      (n,)  increasing; the first is the time of x
    tolerance  relative and absolute, for each step
    ->         (n, len(x))
    """
    from scipy.integrate import solve_ivp

    def plain(t: float, y: np.ndarray) -> np.ndarray:
        return np.array(rhs(t, Vec(y.tolist())))

    span = (times[0], times[-1])
    found = solve_ivp(plain, span, np.array(x), "DOP853", t_eval=times, rtol=max(tolerance, 3e-14), atol=tolerance)
    if not found.success:
        raise IntegrationError(f"dop853 stopped at t = {found.t[-1] if len(found.t) else span[0]:.6g}: {found.message}")
    return found.y.T
