"""Curves through attitudes at given times, with angular velocity and acceleration."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from polhode.errors import InputError, message
from polhode.quaternion.algebra import conjugate, product
from polhode.quaternion.interpolation import squad, squad_controls
from polhode.quaternion.jacobians import (
    difference,
    right_jacobian,
    right_jacobian_inverse,
    rotation_vector_angular_acceleration,
    rotation_vector_angular_velocity,
)
from polhode.quaternion.powers import principal_log
from polhode.quaternion.rates import rotation_vector_rate
from polhode.quaternion.rotation import exp, relative, rotate
from polhode.quaternion.signs import checked_path, continuous_signs
from polhode.scalar import Array, Dual, Scalar, Vec, checked_real, derivative_along, on_arrays, one_of, shown, where

KINDS_OF_CURVE = ("cubic", "squad", "slerp")

ITERATIONS = 50
"""Newton steps for the angular velocities of a cubic curve at most; usually it takes about five."""


@dataclass(frozen=True, eq=False)
class AttitudeSpline:
    """A curve through attitudes at given times, `spline(t)`, with its angular velocity and acceleration.

    times           (n,)         s, increasing, n ≥ 2
    attitudes       (..., n, 4)  unit quaternions; each turns the shorter way to the next, signs go on from the first's
    kind            "cubic": the rotation vector from each attitude is a cubic in time, angular velocity and
                    acceleration are continuous (as SciPy's RotationSpline); "squad": angular velocity continuous at
                    equal times, a change of one attitude changes four spans; "slerp": at constant rate from each
                    attitude to the next
    start_velocity  (..., 3)     of a cubic curve: angular velocity at the first and the last time, body axes, rad/s;
    end_velocity                 None: the mean one of the first and of the last span

    Times of a call may have any shape (*T): results are (..., *T, 4) and (..., *T, 3), in body axes. Times outside are
    an error. A time that is a symbol, as in a user function of a model, chooses among all spans; the first and the last
    of them go on beyond the ends.

    >>> import polhode as ph
    >>> spline = ph.quaternion.AttitudeSpline([0, 1, 3], [[1, 0, 0, 0], [0.8, 0.6, 0, 0], [0, 0, 1, 0]])
    >>> spline([0.5, 2.0]).shape, spline.angular_velocity(0.5).shape
    ((2, 4), (3,))
    """

    times: Array
    attitudes: Array
    kind: Literal["cubic", "squad", "slerp"] = "cubic"
    start_velocity: Array | None = None
    end_velocity: Array | None = None

    def __post_init__(self) -> None:
        """Check everything."""
        where = "AttitudeSpline"
        one_of(f"{where}, kind", self.kind, KINDS_OF_CURVE, "no such curve")
        times = checked_real(f"{where}, times", self.times, "scalar").copy()
        path = checked_path(f"{where}, attitudes", self.attitudes)
        if times.ndim != 1 or len(times) < 2 or path.shape[-2] != len(times):
            found = f"times {times.shape}, attitudes {path.shape}"
            raise InputError(message(where, "sizes do not fit together", found, "(n,) and (..., n, 4), n ≥ 2"))
        if np.any(np.diff(times) <= 0):
            k = int(np.argmax(np.diff(times) <= 0))
            found = f"{times[k]:g} s, then {times[k + 1]:g} s"
            raise InputError(message(f"{where}, times", "not increasing", found, "each later than that before it"))
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "attitudes", continuous_signs(path))
        for name in ("start_velocity", "end_velocity"):
            self._keep_velocity(f"{where}, {name}", name)
        if self.kind == "cubic":
            _ = self._rates  # refuses what has no solution

    def _keep_velocity(self, where: str, name: str) -> None:
        value, batch = getattr(self, name), self.attitudes.shape[:-2]
        if value is None:
            return
        if self.kind != "cubic":
            raise InputError(message(where, f"has no meaning for kind '{self.kind}'", shown(value), "None"))
        omega = checked_real(where, value, "vector")
        if omega.shape not in ((3,), (*batch, 3)):
            raise InputError(message(where, "wrong shape", str(omega.shape), f"(3,) or {(*batch, 3)}"))
        object.__setattr__(self, name, np.broadcast_to(omega, (*batch, 3)).copy())

    @cached_property
    def _spans(self) -> np.ndarray:
        """Rotation vectors (..., n − 1, 3) from each attitude to the next, in its axes."""
        return difference(self.attitudes[..., :-1, :], self.attitudes[..., 1:, :])

    @cached_property
    def _rates(self) -> np.ndarray:
        """Angular velocities (..., n, 3) at the given times, of a cubic curve."""
        spans, h = self._spans, np.diff(self.times)[:, None]
        chords = spans / h
        first = chords[..., :1, :] if self.start_velocity is None else self.start_velocity[..., None, :]
        last = chords[..., -1:, :] if self.end_velocity is None else self.end_velocity[..., None, :]
        return np.concatenate([first, _inner_rates(spans, h, first, last), last], axis=-2)

    @cached_property
    def _pieces(self) -> np.ndarray:
        """The numbers (..., n − 1, 18) of each span: four vectors of four, when it starts, how long it lasts.

        The vectors are p, a, b, c of p∘exp(r/2), r = a τ + b τ² + c τ³ at τ seconds from its start, or the corners of
        a squad.
        """
        path, h = self.attitudes, np.diff(self.times)[:, None]
        if self.kind == "squad":
            controls = squad_controls(path)
            parts = [path[..., :-1, :], controls[..., :-1, :], controls[..., 1:, :], path[..., 1:, :]]
        else:
            parts = [path[..., :-1, :], *(np.pad(x, [(0, 0)] * (path.ndim - 1) + [(0, 1)]) for x in self._cubics)]
        whole = parts[0].shape[:-1]
        ends = (np.broadcast_to(x, whole)[..., None] for x in (self.times[:-1], h[:, 0]))
        return np.concatenate([*parts, *ends], axis=-1)

    @cached_property
    def _cubics(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        spans, h = self._spans, np.diff(self.times)[:, None]
        if self.kind == "slerp":
            return spans / h, np.zeros_like(spans), np.zeros_like(spans)
        start, end = self._rates[..., :-1, :], _turned(right_jacobian_inverse(spans), self._rates[..., 1:, :])
        return start, (3 * spans / h - 2 * start - end) / h, (start + end - 2 * spans / h) / h**2

    def __call__(self, t: Array) -> Array:
        """Attitudes (..., *T, 4) at times (*T), s."""
        return self._at(t, 0)

    def angular_velocity(self, t: Array) -> Array:
        """Angular velocities (..., *T, 3) at times (*T), body axes, rad/s."""
        return self._at(t, 1)

    def angular_acceleration(self, t: Array) -> Array:
        """Angular accelerations (..., *T, 3) at times (*T), body axes, rad/s²."""
        return self._at(t, 2)

    def _at(self, t: Array, order: int) -> Array:
        """The attitude, angular velocity or angular acceleration at a time."""
        if isinstance(t, Dual) or hasattr(t, "is_structural_zero"):
            piece = self._piece_of_symbol(t)
            parts: list[Any] = [Vec(piece[4 * k : 4 * k + 4]) for k in range(4)]
            start, duration = piece[16:]
        else:
            t, numbers = self._piece_of_number(t)
            parts, (start, duration) = np.split(numbers[..., :16], 4, axis=-1), np.moveaxis(numbers[..., 16:], -1, 0)
        motion = _squad_motion if self.kind == "squad" else _cubic_motion
        return motion(*parts, t - start, duration, order=order)

    def _piece_of_number(self, t: Array) -> tuple[np.ndarray, np.ndarray]:
        """Times (*T), checked, and the numbers (..., *T, 18) of the spans that they are in."""
        at = checked_real("AttitudeSpline, argument t", t, "scalar")
        outside = (at < self.times[0]) | (at > self.times[-1])
        if np.any(outside):
            expected = f"{self.times[0]:g} to {self.times[-1]:g} s"
            found = f"{np.atleast_1d(at)[np.atleast_1d(outside)][0]:g} s"
            raise InputError(message("AttitudeSpline, argument t", "outside the curve", found, expected))
        k = np.clip(np.searchsorted(self.times, at, side="right") - 1, 0, len(self.times) - 2)
        return at, self._pieces[..., k, :]

    def _piece_of_symbol(self, t: Scalar) -> Vec:
        """The numbers (18,) of the span that a time is in: of a symbol a choice among all."""
        if self.attitudes.ndim > 2:
            found, expected = f"attitudes {self.attitudes.shape}", "attitudes (n, 4)"
            raise InputError(message("AttitudeSpline, argument t", "one time for a batch of curves", found, expected))
        first, *others = (Vec(row) for row in self._pieces.tolist())
        for begin, piece in zip(self.times[1:-1].tolist(), others, strict=True):
            first = where(t >= begin, piece, first)
        return first


@on_arrays(p="unit quaternion", a="quaternion", b="quaternion", c="quaternion", tau="scalar", duration="scalar")
def _cubic_motion(p: Vec, a: Vec, b: Vec, c: Vec, tau: Scalar, duration: Scalar, order: int) -> Vec:
    """p∘exp(r/2) with r = a τ + b τ² + c τ³, or its angular velocity or acceleration; a, b, c: three of four places."""
    a, b, c = Vec(a[:3]), Vec(b[:3]), Vec(c[:3])
    r = tau * (a + tau * (b + tau * c))
    if order == 0:
        return product(p, exp(r / 2))
    rdot = a + tau * (2 * b + 3 * tau * c)
    if order == 1:
        return rotation_vector_angular_velocity(r, rdot)
    return rotation_vector_angular_acceleration(r, rdot, 2 * b + 6 * tau * c)


def _turned(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    return (A @ x[..., None])[..., 0]


def _inner_rates(spans: np.ndarray, h: np.ndarray, first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Angular velocities (..., n − 2, 3) at the inner times with which the angular acceleration is continuous.

        2/h₋ Jr(φ₋) ω₋ + 4 (1/h₋ + 1/h) ω + 2/h Jr⁻¹(φ) ω₊ = 6 φ₋/h₋² + 6 φ/h² − N(φ₋, Jr⁻¹(φ₋) ω)

    N(r, ṙ) = J̇r ṙ is quadratic in ω: Newton's method, each step a block tridiagonal system.
    """
    inner = spans.shape[-2] - 1
    if inner == 0:
        return np.zeros((*spans.shape[:-2], 0, 3))
    forth, back = right_jacobian(spans), right_jacobian_inverse(spans)
    before, after = h[:-1], h[1:]
    lower, upper = 2 * forth[..., :-1, :, :] / before[..., None], 2 * back[..., 1:, :, :] / after[..., None]
    middle = 4 * (1 / before + 1 / after)
    given = 6 * (spans[..., :-1, :] / before**2 + spans[..., 1:, :] / after**2)
    given[..., :1, :] -= _turned(lower[..., :1, :, :], first)
    given[..., -1:, :] -= _turned(upper[..., -1:, :, :], last)
    omega = (spans / h)[..., 1:, :].copy()
    scale = np.max(abs(spans / h), axis=(-1, -2), keepdims=True, initial=0.0)
    for _ in range(ITERATIONS):
        extra, slope = _quadratic(spans[..., :-1, :], back[..., :-1, :, :], omega)
        miss = given - extra - middle * omega
        miss[..., 1:, :] -= _turned(lower[..., 1:, :, :], omega[..., :-1, :])
        miss[..., :-1, :] -= _turned(upper[..., :-1, :, :], omega[..., 1:, :])
        diagonal = middle[..., None] * np.eye(3) + slope
        step = _block_tridiagonal(lower, diagonal, upper, miss)
        omega = omega + step
        if np.all(abs(step) <= 1e-14 * (scale + abs(omega))):
            return omega
    what, fix = "no curve with a continuous angular acceleration found", "Give more attitudes, or kind='squad'."
    found, expected = f"corrections of {np.max(abs(step)):.3g} rad/s after {ITERATIONS} steps", "convergence"
    raise InputError(message("AttitudeSpline", what, found, expected, fix))


def _quadratic(r: np.ndarray, back: np.ndarray, omega: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """N(r, Jr⁻¹ ω), a quadratic form in ω, and its derivative by ω: N(ω + e) − N(ω) − N(e) along each axis e."""

    def form(w: np.ndarray) -> np.ndarray:
        return rotation_vector_angular_acceleration(r, _turned(back, w), np.zeros(3))

    value = form(omega)
    columns = [form(omega + e) - value - form(np.broadcast_to(e, omega.shape)) for e in np.eye(3)]
    return value, np.stack(columns, axis=-1)


def _block_tridiagonal(lower: np.ndarray, diagonal: np.ndarray, upper: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The solution (..., n, 3) of a system of blocks (..., n, 3, 3), by elimination from the first row to the last."""
    n = b.shape[-2]
    D, x = [diagonal[..., 0, :, :]], [b[..., 0, :]]
    for k in range(1, n):
        ratio = lower[..., k, :, :] @ np.linalg.inv(D[-1])
        D.append(diagonal[..., k, :, :] - ratio @ upper[..., k - 1, :, :])
        x.append(b[..., k, :] - _turned(ratio, x[-1]))
    found: list[Any] = [_turned(np.linalg.inv(D[-1]), x[-1])]
    for k in reversed(range(n - 1)):
        found.append(_turned(np.linalg.inv(D[k]), x[k] - _turned(upper[..., k, :, :], found[-1])))
    return np.stack(found[::-1], axis=-2)


@on_arrays(
    p="unit quaternion", a="unit quaternion", b="unit quaternion", q="unit quaternion", tau="scalar", duration="scalar"
)
def _squad_motion(p: Vec, a: Vec, b: Vec, q: Vec, tau: Scalar, duration: Scalar, order: int) -> Vec:
    """A squad tau seconds from its start, or its angular velocity or acceleration.

    With u and v the slerps from p to q and from a to b, ρ the rotation vector from u to v and f = 2 s (1 − s), the
    curve is u∘exp(f ρ/2) and turns with A(f ρ)ᵀ ω_u + Jr(f ρ) (ḟ ρ + f ρ̇), in units of s.
    """
    if order == 0:
        return squad(p, a, b, q, tau / duration)
    omega_u, omega_v = (2 * principal_log(relative(start, end)) for start, end in ((p, q), (a, b)))

    def turning(t: Vec) -> Vec:
        s = t[0] / duration
        between = relative(product(p, exp(s / 2 * omega_u)), product(a, exp(s / 2 * omega_v)))
        rho = 2 * principal_log(between)
        rho_rate = rotation_vector_rate(rho, omega_v - rotate(conjugate(between), omega_u))
        f, f_rate = 2 * s * (1 - s), 2 - 4 * s
        bend = f * rho
        bending = rotation_vector_angular_velocity(bend, f_rate * rho + f * rho_rate)
        return (rotate(exp(-0.5 * bend), omega_u) + bending) / duration

    at = Vec((tau,))
    return turning(at) if order == 1 else derivative_along(turning, at, Vec((1.0 + 0.0 * tau,)))[1]
