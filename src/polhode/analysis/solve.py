"""Newton's method for steady motions and rests, and descent to a stable rest.

    M v̇ + bias − Aᵀλ − τ = 0,   φ = 0,   r = 0,    v = Σ c ζ(q),   v̇ = −G v,   G = Σ c G

in the unknowns q, c, λ and, if asked, some of τ; steps are measured by the mass matrix.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from polhode.analysis import symmetry
from polhode.analysis.equations_at_state import EquationsAtState
from polhode.analysis.names import Observable
from polhode.analysis.symmetry import Symmetry
from polhode.constrain.constraint_policy import TOLERANCE
from polhode.dynamics import energy, kinematics
from polhode.linalg.rank import column_spaces, null_space
from polhode.scalar import Vec

ROUNDING = 1e-14
"""The smallest tolerance, some 50 ε: residuals below it are rounding of the forces themselves."""

NEWTON_STEPS, DESCENT_STEPS = 100, 500
"""Bounds on the work. Newton's method ends in about 10 steps where it converges, in some tens where it is damped first;
descent gains linearly and is slowest near a flat minimum."""

HALVINGS = 8
"""How often a Newton step is halved, to 1/128 of it; where that is too long, damped steps turn as well as shorten."""

SINGULAR = 1e-13
"""Singular values of the Jacobian, relative to the largest, that count as zero: its entries are exact derivatives,
wrong by rounding alone, and some hundred roundings (500 ε) meet in one."""

INDEPENDENT = 1e-9
"""Singular values of fields of symmetries, relative to the largest, that count as zero: fields are of size 1 and exact
but for rounding and for constraints that hold to 1e-13 (`equations_at_state.SETTLED`); 1e-9 is far above both."""

LONGEST = 0.3
"""The longest step, rad or m: a linear model of a rotation by δ is wrong by δ²/2, 5 % at this length. Shorter steps are
safer and take more of them."""

NEAR = LONGEST
"""Distance from a start, rad or m, up to which an unstable rest is returned without a search for a stable one: one
step."""

VELOCITY_TIME = 0.05
"""s: in the length of a step, a change of velocity counts as the distance it makes in this time. Steps are as short as
may be, so that a short time changes velocities rather than positions, and a start keeps its place."""

STALLED = 60
"""Steps of the descent without 1 % less residual, after which the potential has no minimum within reach: a brake grown
four-fold each time takes 27 of them from a step of full length to below rounding (4⁻²⁷ < ε); this is twice that."""

ENERGY_ALONG = 0.01
"""The part of the kinetic energy that must be along symmetries for a start to be near a steady motion. Below it, what
moves is a disturbance, and the rest or the motion nearest to the start is sought instead."""

KICK, KICKS = 1e-2, 10
"""How far a machine is pushed off an unstable rest, rad or m, and how often: far beyond rounding and tolerance, far
below LONGEST; each push leaves one rest, and descent meets few of them in a row."""

FIRST_DAMPING, LEAST_DAMPING, MOST_DAMPING = 1e-4, 1e-8, 1e8
"""Levenberg's damping, relative to the largest singular value: at the first nearly Newton's step; at the last a step
shorter by 1e-8 than the gradient, where nothing more is gained in double precision."""


@dataclass(frozen=True, eq=False)
class Trial:
    """Values of the unknowns, and the residuals of the equations there."""

    q: np.ndarray
    c: np.ndarray
    lam: np.ndarray
    tau: np.ndarray
    v: np.ndarray
    G: np.ndarray
    K: np.ndarray
    M: np.ndarray
    force: np.ndarray
    rows: np.ndarray
    steps: int = 0
    slope: float = 0.0
    """The largest change of an acceleration per radian or metre, at the trial before."""

    @property
    def residuals(self) -> np.ndarray:
        """All residuals: forces in the metric, constraints by their sizes, quantities held."""
        return np.append(np.linalg.solve(self.K, self.force), self.rows)

    @property
    def left(self) -> np.ndarray:
        """(n,)  the accelerations that are left."""
        return np.linalg.solve(self.K.T, np.linalg.solve(self.K, self.force))

    @property
    def residual(self) -> float:
        """The largest of them."""
        return float(np.max(abs(self.left)))


@dataclass(frozen=True, eq=False)
class SteadyProblem:
    """Steady motions and rests as roots: find q, c, λ and some of τ."""

    equations: EquationsAtState
    symmetries: tuple[Symmetry, ...]
    tau: np.ndarray
    inputs: tuple[int, ...]
    held: tuple[tuple[Observable, float], ...] = ()
    longest: float = LONGEST
    """The longest step, rad or m."""

    def begin(self, q: np.ndarray, v: np.ndarray) -> Trial:
        """The trial at a state: of v what runs along the symmetries, as far as the constraints admit it."""
        c = symmetry.along(self.equations, [*self.symmetries], q, v).rates
        trial = self.trial(q, c, np.zeros(self.equations.k), self.tau)
        now, weights = self.equations.at(q, trial.v, self.tau), self.weights(trial)
        free = null_space(now.A / self.equations.sizes[:, None] @ self.fields(q) / weights, INDEPENDENT)
        c = free @ (free.T @ (weights * c)) / weights
        return self.trial(q, c, now.lam, self.tau)

    def as_fast(self, q: np.ndarray, v: np.ndarray) -> tuple[tuple[Observable, float], ...]:
        """The kinetic energy of what runs along the symmetries, kept where nothing else is: else rest is nearest."""
        tree, x = self.equations.tree, self.begin(q, v)
        T, whole = (float(energy.energy(tree, Vec(q.tolist()), Vec(u.tolist())).kinetic) for u in (x.v, v))
        function = lambda q, v: energy.energy(tree, q, v).kinetic / T  # noqa: E731
        return ((Observable("kinetic energy", function=function), 1.0),) if ENERGY_ALONG * whole < T else ()

    def trial(self, q: np.ndarray, c: np.ndarray, lam: np.ndarray, tau: np.ndarray, **kept: Any) -> Trial:
        """The trial at some values of the unknowns."""
        equations, n = self.equations, self.equations.n
        v = self.fields(q) @ c
        G = sum((x * s.generator for x, s in zip(c, self.symmetries, strict=True)), np.zeros((n, n)))
        M, left = equations.mass_matrix(q), equations.residuals(q, v, -G @ v, lam, 0.0)
        K = equations.rows(M, left.A, left.phi).K
        phi, r = left.phi / equations.sizes[: equations.held], left.r / equations.sizes
        held = np.array([known.value(q, v) - value for known, value in self.held])
        rows = np.concatenate([phi, r, held])
        return Trial(q, c, lam, tau, v, G, K, M, left.force - tau, rows, **kept)

    def slopes(self, x: Trial) -> np.ndarray:
        """Derivatives of all residuals by Kᵀδ, the rates c by their weights, λ by natural sizes, τ of the inputs.

        ∂v = (ad_v − G) δ + Σ ζ δc,   ∂v̇ = −G ∂v − Σ G v δc
        """
        equations, n, Z = self.equations, self.equations.n, self.fields(x.q)
        slopes = equations.slopes(x.q, x.v, -x.G @ x.v, x.lam, 0.0)
        turned = np.array([s.generator @ x.v for s in self.symmetries]).reshape(-1, n).T
        delta = np.hstack([np.eye(n), np.zeros((n, len(x.c)))])
        on_v = np.hstack([equations.ad(x.v) - x.G, Z])
        on_vd = -x.G @ on_v - np.hstack([np.zeros((n, n)), turned])
        held = [known.slopes(equations, x.q, x.v) for known, _ in self.held]
        on = np.vstack([delta, on_v])
        force = slopes.force @ on + x.M @ on_vd
        below = np.vstack(
            [
                slopes.phi @ on / equations.sizes[: equations.held, None],
                slopes.r @ on / equations.sizes[:, None],
                np.array([np.concatenate(pair) @ on for pair in held]).reshape(-1, on.shape[1]),
            ]
        )
        pushing = np.hstack([-slopes.r[:, n:].T / equations.sizes, -np.eye(n)[:, list(self.inputs)]])
        found = np.block([[force, pushing], [below, np.zeros((len(below), pushing.shape[1]))]])
        found[:n] = np.linalg.solve(x.K, found[:n])
        found[:, :n] = np.linalg.solve(x.K, found[:, :n].T).T
        found[:, n : n + len(x.c)] /= self.weights(x)
        # what does not matter stays where it is
        idle, _ = column_spaces(x.K.T @ Z @ null_space(slopes.phi[:, :n] @ Z, INDEPENDENT), INDEPENDENT)
        found[:, :n] -= (found[:, :n] @ idle) @ idle.T
        return found

    def fields(self, q: np.ndarray) -> np.ndarray:
        """(n, s)  the fields of the symmetries."""
        return symmetry.fields(self.equations, [*self.symmetries], q)

    def weights(self, x: Trial) -> np.ndarray:
        """What a change of each rate c counts against a change of place, in the metric."""
        return VELOCITY_TIME * np.maximum(np.linalg.norm(x.K.T @ self.fields(x.q), axis=0), 1e-300)

    def stepped(self, x: Trial, step: np.ndarray, slope: float) -> Trial:
        """The trial after a step, shortened to the longest."""
        n, s, k = self.equations.n, len(x.c), self.equations.k
        delta, part = self.moved_by(x, step), self._part(x, step)
        c, lam, tau = (
            x.c + part * step[n : n + s] / self.weights(x),
            x.lam + part * step[n + s : n + s + k] / self.equations.sizes,
            x.tau,
        )
        if self.inputs:
            tau = tau.copy()
            tau[list(self.inputs)] += part * step[n + s + k :]
        return self.trial(self.equations.moved(x.q, delta), c, lam, tau, steps=x.steps + 1, slope=slope)

    def _part(self, x: Trial, step: np.ndarray) -> float:
        """The part of a step that is within the longest."""
        return min(
            1.0, self.longest / max(float(np.max(abs(np.linalg.solve(x.K.T, step[: self.equations.n])))), 1e-300)
        )

    def moved_by(self, x: Trial, step: np.ndarray) -> np.ndarray:
        """The change of place, along the velocities."""
        return self._part(x, step) * np.linalg.solve(x.K.T, step[: self.equations.n])

    def newton(self, x: Trial, tolerance: float) -> Trial:
        """The trial after minimum-norm Newton steps while the step after each is shorter, else damped ones.

        Ends where nothing is gained. Steps are compared, not residuals (natural monotonicity), so that stiff springs
        do not hold it back.                                                                      Deuflhard §4.4
        """
        damping, x, n = FIRST_DAMPING, replace(x, slope=0.0), self.equations.n
        weight = np.ones(len(x.residuals))  # forces as the ways they make
        for k in range(0 if self.is_solved(x, ROUNDING) else NEWTON_STEPS):
            J, residuals = self.slopes(x), x.residuals
            if not (np.all(np.isfinite(residuals)) and np.all(np.isfinite(J))):
                break
            if k == 0:
                weight[:n] = 1 / max(1.0, float(np.linalg.norm(J[:n, : n + len(x.c)], 2)))
            parts, slope = np.linalg.svd(weight[:, None] * J, full_matrices=False), slope_of(J, x)
            x = replace(x, slope=slope)
            better = self._shorter(x, parts, weight, slope)
            if better is None:
                better, damping = self._damped(x, parts, weight, slope, damping)
            if better is None:
                break
            gained = np.linalg.norm(weight * better.residuals) < 0.5 * np.linalg.norm(weight * residuals)
            x = better
            if self.is_solved(x, tolerance if not gained else ROUNDING):
                break
        return x

    def _shorter(self, x: Trial, parts: tuple, weight: np.ndarray, slope: float) -> Trial | None:
        """A Newton step, or a part λ of it, after which the next with the same slopes is shorter by (1 − λ/4).

        The restricted monotonicity test of Deuflhard's NLEQ-ERR.
        """
        step = _solved(parts, weight * x.residuals)
        for halvings in range(HALVINGS):
            part = 0.5**halvings
            following = self.stepped(x, part * step, slope)
            after = _solved(parts, weight * following.residuals)
            if np.linalg.norm(after) <= (1 - part / 4) * np.linalg.norm(step):
                return following
        return None

    def _damped(
        self, x: Trial, parts: tuple, weight: np.ndarray, slope: float, damping: float
    ) -> tuple[Trial | None, float]:
        """A step with Levenberg's damping that makes the residual smaller, and the damping for the next."""
        while damping < MOST_DAMPING:
            following = self.stepped(x, _solved(parts, weight * x.residuals, damping), slope)
            if np.linalg.norm(weight * following.residuals) < np.linalg.norm(weight * x.residuals):
                return following, max(0.1 * damping, LEAST_DAMPING)
            damping *= 10
        return None, damping

    def downhill(self, x: Trial, tolerance: float) -> Trial:
        """A stable rest by descent; an unstable one is left along the direction of most negative curvature."""
        for _ in range(KICKS):
            x = self._flat(x, tolerance)
            Q, curvature = _curvatures(self.equations, self.slopes(x), self.equations.n)
            if not (self.is_solved(x, tolerance) and _falls(curvature)):
                break
            way = np.linalg.solve(x.K.T, Q[:, 0])
            kicked = self.equations.moved(x.q, KICK * way / np.max(abs(way)))
            x = self.trial(kicked, x.c, x.lam, x.tau, steps=x.steps)
        return x

    def _flat(self, x: Trial, tolerance: float) -> Trial:
        """The trial after descent of the potential, or along forces that have none, to where they vanish.

        (|H| + b M) δ = τ − bias + Aᵀλ with a brake b; |H| has the curvatures of H without their signs. The brake eases
        where a step gains 3/4 of what the quadratic model promises, and grows below 1/4.  Nocedal, Wright (2006) §4.1
        """
        n, brake, best, since = self.equations.n, np.inf, np.inf, 0
        for _ in range(DESCENT_STEPS):
            best, since = (x.residual, 0) if x.residual < 0.99 * best else (best, since + 1)
            if since > STALLED:  # it falls for ever
                break
            J, residuals = self.slopes(x), x.residuals
            if not (np.all(np.isfinite(J)) and np.all(np.isfinite(residuals))) or self.is_solved(x, ROUNDING):
                break
            if brake == np.inf:
                brake = float(np.linalg.norm(residuals[:n])) / LONGEST
            Q, curvature = _curvatures(self.equations, J, n)
            upward = Q * np.where(curvature < 0, -2 * curvature, 0.0) @ Q.T
            braked = J.copy()
            braked[:n, :n] += upward + brake * np.eye(n)
            step = -np.linalg.lstsq(braked, residuals, rcond=1e-12)[0]
            following = self.stepped(x, step, slope_of(J, x))
            y = x.K.T @ self.moved_by(x, step)
            hoped = -(residuals[:n] @ y + y @ J[:n, :n] @ y / 2)
            gained = -(residuals[:n] @ y + np.linalg.solve(x.K, following.force) @ y) / 2
            if self.is_solved(x, tolerance) and not following.residual < x.residual:
                break
            if gained > 0 or self.is_solved(following, tolerance):
                x, ratio = following, gained / hoped if hoped > 0 else 0.0
                brake *= 0.2 if ratio > 0.75 else 1.0 if ratio > 0.25 else 2.0
            else:
                brake = 4 * max(brake, 1e-6 * slope_of(J, x))
        return x

    def is_solved(self, x: Trial, tolerance: float) -> bool:
        """Whether the accelerations vanish, and the constraints hold."""
        rows = float(np.max(abs(x.rows), initial=0.0))
        return x.residual <= tolerance * (1 + x.slope) and rows <= tolerance

    def is_near(self, x: Trial, q: np.ndarray, tolerance: float) -> bool:
        """Whether a rest was found near a start, or a stable one."""
        if not self.is_solved(x, tolerance):
            return False
        tree = self.equations.tree
        way = np.array(kinematics.difference(tree, Vec(q.tolist()), Vec(x.q.tolist())), dtype=float)
        return bool(np.max(abs(way)) <= NEAR) or not _falls(
            _curvatures(self.equations, self.slopes(x), self.equations.n)[1]
        )


def slope_of(J: np.ndarray, x: Trial) -> float:
    """The largest change of an acceleration per radian or metre."""
    n = len(x.M)
    return float(np.max(abs(np.linalg.solve(x.K.T, J[:n, :n]) @ x.K.T)))


def _solved(parts: tuple, residuals: np.ndarray, damping: float = 0.0) -> np.ndarray:
    """The minimum-norm step that cancels the residuals, from the singular value decomposition of the slopes."""
    U, s, Vt = parts
    kept = s > SINGULAR * s[0] if s[0] > 0 else s > 0
    gain = np.where(kept, s / np.where(kept, s * s + (damping * s[0]) ** 2, 1.0), 0.0)
    return -Vt.T @ (gain * (U.T @ residuals))


def _falls(curvature: np.ndarray) -> bool:
    """Whether the potential falls somewhere; rounding does not count."""
    return bool(curvature.size) and bool(curvature[0] < -1e-9 * np.max(abs(curvature)))


def _curvatures(equations: EquationsAtState, J: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Directions (n, m) that the constraints leave free, in the metric, and the potential's curvature along each."""
    free = null_space(J[n : n + equations.held, :n], TOLERANCE)
    H = free.T @ J[:n, :n] @ free
    values, vectors = np.linalg.eigh((H + H.T) / 2)
    return free @ vectors, values
