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
from polhode.scalar import Array, Vec, checked_real, derivative_along, on_arrays, one_of, shown

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
    an error.

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
    def _coefficients(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """a, b, c of each span, r = a τ + b τ² + c τ³ at τ seconds from its start."""
        spans, h = self._spans, np.diff(self.times)[:, None]
        if self.kind == "slerp":
            return spans / h, np.zeros_like(spans), np.zeros_like(spans)
        start, end = self._rates[..., :-1, :], _turned(right_jacobian_inverse(spans), self._rates[..., 1:, :])
        return start, (3 * spans / h - 2 * start - end) / h, (start + end - 2 * spans / h) / h**2

    @cached_property
    def _controls(self) -> np.ndarray:
        return squad_controls(self.attitudes)

    def __call__(self, t: Array) -> np.ndarray:
        """Attitudes (..., *T, 4) at times (*T), s."""
        k, tau = self._place(t)
        if self.kind == "squad":
            return squad(*self._corners(k), tau / self._durations[k])
        return product(self.attitudes[..., k, :], exp(self._vector(k, tau, 0) / 2))

    def angular_velocity(self, t: Array) -> np.ndarray:
        """Angular velocities (..., *T, 3) at times (*T), body axes, rad/s."""
        k, tau = self._place(t)
        if self.kind == "squad":
            return _squad_rates(*self._corners(k), tau, self._durations[k])[..., 0, :]
        return rotation_vector_angular_velocity(self._vector(k, tau, 0), self._vector(k, tau, 1))

    def angular_acceleration(self, t: Array) -> np.ndarray:
        """Angular accelerations (..., *T, 3) at times (*T), body axes, rad/s²."""
        k, tau = self._place(t)
        if self.kind == "squad":
            return _squad_rates(*self._corners(k), tau, self._durations[k])[..., 1, :]
        return rotation_vector_angular_acceleration(*(self._vector(k, tau, order) for order in range(3)))

    @cached_property
    def _durations(self) -> np.ndarray:
        return np.diff(self.times)

    def _place(self, t: Array) -> tuple[np.ndarray, np.ndarray]:
        """The number of the span that each time is in, and the time from its start."""
        at = checked_real("AttitudeSpline, argument t", t, "scalar")
        outside = (at < self.times[0]) | (at > self.times[-1])
        if np.any(outside):
            expected = f"{self.times[0]:g} to {self.times[-1]:g} s"
            found = f"{np.atleast_1d(at)[np.atleast_1d(outside)][0]:g} s"
            raise InputError(message("AttitudeSpline, argument t", "outside the curve", found, expected))
        k = np.clip(np.searchsorted(self.times, at, side="right") - 1, 0, len(self.times) - 2)
        return k, at - self.times[k]

    def _vector(self, k: np.ndarray, tau: np.ndarray, order: int) -> np.ndarray:
        """The rotation vector from the start of the span, or its first or second time derivative."""
        a, b, c = (x[..., k, :] for x in self._coefficients)
        tau = tau[..., None]
        return (tau * (a + tau * (b + tau * c)), a + tau * (2 * b + 3 * tau * c), 2 * b + 6 * tau * c)[order]

    def _corners(self, k: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        p, a = self.attitudes, self._controls
        return p[..., k, :], a[..., k, :], a[..., k + 1, :], p[..., k + 1, :]


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
    fix = (
        "Give more attitudes between those far apart, velocities at the ends nearer to the mean ones, or kind='squad'."
    )
    raise InputError(
        message("AttitudeSpline", "no curve with a continuous angular acceleration found",
                f"a last correction of {np.max(abs(step)):.3g} rad/s", "convergence", fix)
    )  # fmt: skip


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


@on_arrays(p="unit quaternion", a="unit quaternion", b="unit quaternion", q="unit quaternion", tau="scalar", h="scalar")
def _squad_rates(p: Vec, a: Vec, b: Vec, q: Vec, tau: Any, h: Any) -> Vec:
    """Angular velocity and acceleration of a squad that takes h seconds, tau seconds from its start: rows of (2, 3).

    With u and v the slerps from p to q and from a to b, ρ the rotation vector from u to v and f = 2 s (1 − s), the
    curve is u∘exp(f ρ/2) and turns with A(f ρ)ᵀ ω_u + Jr(f ρ) (ḟ ρ + f ρ̇), in units of s.
    """
    omega_u, omega_v = (2 * principal_log(relative(start, end)) for start, end in ((p, q), (a, b)))

    def turning(t: Vec) -> Vec:
        s = t[0] / h
        between = relative(product(p, exp(s / 2 * omega_u)), product(a, exp(s / 2 * omega_v)))
        rho = 2 * principal_log(between)
        rho_rate = rotation_vector_rate(rho, omega_v - rotate(conjugate(between), omega_u))
        f, f_rate = 2 * s * (1 - s), 2 - 4 * s
        bend = f * rho
        bending = rotation_vector_angular_velocity(bend, f_rate * rho + f * rho_rate)
        return (rotate(exp(-0.5 * bend), omega_u) + bending) / h

    return Vec(derivative_along(turning, Vec((tau,)), Vec((1.0 + 0.0 * tau,))))
