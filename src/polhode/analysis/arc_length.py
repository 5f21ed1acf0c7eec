"""The path of rests under loads that grow, followed past limit points: snapping trusses, arches, over-centre springs.

    r(q, λ, μ) = (1 − μ) r₀ + μ r₁ = 0,   φ(q) = 0         r₀ without the loads, r₁ with all of them

followed by its own length, in which a step of the load counts as the displacement that it makes at first: at a limit
point the load stops growing, the way does not (Riks 1979; Crisfield 1981).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq

from polhode.analysis.buckling import LoadParts
from polhode.analysis.equations_at_state import equations_at_state
from polhode.analysis.steady import equilibrium
from polhode.constrain.constraint_policy import TOLERANCE
from polhode.errors import InputError, message
from polhode.linalg.rank import null_space
from polhode.model import Model, check_model
from polhode.scalar import real_number, shown

CORRECTIONS = 14
"""The most of Newton's corrections in a step; near a path four or five are enough, some more where beams are stiff."""

CLOSE = 1e-10
"""The last correction, relative to the way that the whole load makes at first: convergence is quadratic."""

FEW = 5
"""Corrections up to which the next step is longer."""

SHORTEST = 1e-9
"""The shortest step, relative to the first: below it the path cannot be followed."""

LONGEST = 8.0
"""The longest step, relative to the first."""

BENDS = 0.8
"""The least cosine of the angle between the ways of two steps: below it the step is taken again, half as long."""

TURNS = 0.3
"""The most a body turns in a step, rad, or any coordinate changes: one linear step of Newton's method is good for so
much."""

FALLS = 1e-9
"""A curvature of the potential below minus this part of the largest is negative: rounding does not count."""


class LimitPoint(NamedTuple):
    """A rest at which a load ceases to grow, or to fall: its factor, and the coordinates (nq,)."""

    factor: float
    q: np.ndarray


@dataclass(frozen=True, eq=False)
class LoadPath:
    """Rests along a path of loads.

    factors   (n,)       of the loads, from 0 on
    q         (n, nq)    the rests
    unstable  (n,)       how many directions the potential falls in: 0 where a rest is stable
    limits               the limit points on the way, located
    reached              whether the path came to the factor that was asked for
    """

    factors: np.ndarray
    q: np.ndarray
    unstable: np.ndarray
    limits: tuple[LimitPoint, ...]
    reached: bool


def load_path(
    model: Model,
    load: str | Sequence[str] | None = None,
    q: Any = None,
    *,
    to: float = 1.0,
    step: float = 0.05,
    points: int = 1000,
) -> LoadPath:
    """The rests of a machine as loads grow from nothing to a factor, past limit points: there the load falls.

    load    names of the forces that grow, as of `ph.buckling`; all loads unless given
    q       where to look for the rest without the loads; the model's start unless given
    to      the factor of the loads at which the path ends, the first time that it is met
    step    of the factor at first
    points  the most rests on the way

        >>> ends = (("left", -1), ("right", 1))
        >>> springs = [ph.Spring(n, "world", "a", (x, 0, 0), stiffness=1.0, rest=1.25**0.5) for n, x in ends]
        >>> rail = ph.Joint("rail", "prismatic", "world", "a", axis=(0, 0, 1), position=(0, 0, 0.5))
        >>> push = ph.Force("push", "a", force=(0, 0, -1))
        >>> model = ph.Model("truss", (0, 0, 0), [ph.Body("a", 1, (1, 1, 1))], [rail], [*springs, push])
        >>> found = ph.load_path(model, "push")
        >>> print(f"{found.limits[0].factor:.5f}, ends at {found.q[-1, 0]:.3f}")  # snaps through
        0.04291, ends at -1.913
    """
    where = "load_path"
    check_model(where, model)
    to, step = real_number(f"{where}, to", to, "a factor"), real_number(f"{where}, step", step, "above 0", 0.0)
    if isinstance(points, bool) or not isinstance(points, int) or points < 2:
        raise InputError(message(f"{where}, points", "not a count", shown(points), "2, 3, …"))
    if not to:
        raise InputError(message(f"{where}, to", "no load", "0", "a factor above or below 0"))
    parts = LoadParts(model, load)
    way = _Way(parts.base, model, where)
    return way.followed(way.start(equilibrium(parts.base, q).q), to, step * abs(to), points)


class _PathPoint(NamedTuple):
    """A rest on the path: coordinates, multipliers by natural sizes, the factor of the load."""

    q: np.ndarray
    lam: np.ndarray
    mu: float


class _Way:
    """The equations of a path, in a metric of displacements."""

    def __init__(self, base: Model, whole: Model, where: str) -> None:
        self.none, self.all, self.where = (
            equations_at_state(base),
            equations_at_state(whole),
            f"{where}, '{whole.name}'",
        )
        self.n, self.k, self.held = self.none.n, self.none.k, self.none.held
        self.rest, self.sizes, self.way = np.zeros(self.n), self.none.sizes, 1.0

    def start(self, q: np.ndarray) -> _PathPoint:
        """The rest without the loads; displacements are measured by what the whole load moves there."""
        x = _PathPoint(q, self.none.at(q, self.rest, self.rest).lam * self.sizes, 0.0)
        tangent = self.tangent(x, np.eye(self.n + self.k + 1)[-1])
        moved = float(np.linalg.norm(tangent[: self.n]) / abs(tangent[-1])) if tangent[-1] else 0.0
        self.way = moved or 1.0
        return x

    def metric(self, q: np.ndarray) -> np.ndarray:
        """K of the metric M = K Kᵀ."""
        M, found = self.none.mass_matrix(q), self.none.residuals(q, self.rest, self.rest, np.zeros(self.k), 0.0)
        return self.none.rows(M, found.A, found.phi).K

    def residuals(self, x: _PathPoint) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Forces (n,) and their slope by μ, φ by natural sizes, the rows A."""
        one, two = (
            equations.residuals(x.q, self.rest, self.rest, x.lam / self.sizes, 0.0)
            for equations in (self.none, self.all)
        )
        return (
            (1 - x.mu) * one.force + x.mu * two.force,
            two.force - one.force,
            one.phi / self.sizes[: self.held],
            one.A,
        )

    def stiffness(self, x: _PathPoint) -> tuple[np.ndarray, np.ndarray]:
        """The slopes of the forces and of φ, (n, n) and (held, n)."""
        one, two = (
            equations.slopes(x.q, self.rest, self.rest, x.lam / self.sizes, 0.0) for equations in (self.none, self.all)
        )
        K = (1 - x.mu) * one.force[:, : self.n] + x.mu * two.force[:, : self.n]
        return K, one.phi[:, : self.n] / self.sizes[: self.held, None]

    def system(self, x: _PathPoint) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """J (n + held, n + k + 1) of Kᵀδ, λ by sizes, and μ; the residuals; K of the metric."""
        K = self.metric(x.q)
        force, by_mu, phi, A = self.residuals(x)
        stiff, rows = self.stiffness(x)
        upper = np.hstack([np.linalg.solve(K, np.linalg.solve(K, stiff.T).T), -np.linalg.solve(K, A.T / self.sizes)])
        lower = np.hstack([np.linalg.solve(K, rows.T).T, np.zeros((self.held, self.k))])
        last = np.append(np.linalg.solve(K, by_mu), np.zeros(self.held))
        return np.hstack([np.vstack([upper, lower]), last[:, None]]), np.append(np.linalg.solve(K, force), phi), K

    def border(self, tangent: np.ndarray) -> np.ndarray:
        """The row that measures along a tangent: displacements by the way of the whole load, and the factor."""
        found = tangent.copy()
        found[: self.n] /= self.way**2
        found[self.n : -1] = 0.0
        return found

    def length(self, step: np.ndarray) -> float:
        """The length of a step of the unknowns."""
        return float(np.hypot(np.linalg.norm(step[: self.n]) / self.way, step[-1]))

    def tangent(self, x: _PathPoint, before: np.ndarray) -> np.ndarray:
        """The unit tangent of the path, onwards from that before."""
        J, _, _ = self.system(x)
        found = _solved(np.vstack([J, self.border(before)]), np.append(np.zeros(len(J)), 1.0))
        size = self.length(found)
        return found / size if size > 0 else before

    def moved(self, x: _PathPoint, step: np.ndarray, K: np.ndarray) -> _PathPoint:
        """The point after a step of the unknowns."""
        delta = np.linalg.solve(K.T, step[: self.n])
        return _PathPoint(self.none.moved(x.q, delta), x.lam + step[self.n : -1], x.mu + float(step[-1]))

    def corrected(self, x: _PathPoint, row: np.ndarray) -> tuple[_PathPoint | None, int]:
        """The rest near a point, across a row, and the corrections; None where Newton's method does not converge.

        Corrections are long and short in turns where beams are stiff: each is compared with the one before the last.
        """
        sizes = [np.inf, np.inf]
        for k in range(CORRECTIONS):
            J, r, K = self.system(x)
            if not (np.all(np.isfinite(J)) and np.all(np.isfinite(r))):
                return None, k
            step = _solved(np.vstack([J, row]), np.append(-r, 0.0))
            sizes.append(self.length(step))
            x = self.moved(x, step, K)
            if max(sizes[-2:]) <= CLOSE or (sizes[-1] <= CLOSE and sizes[-2] <= np.sqrt(CLOSE)):
                return x, k
            if not sizes[-1] < 4 * sizes[-3]:
                return None, k
        return None, CORRECTIONS

    def stepped(self, x: _PathPoint, tangent: np.ndarray, ds: float) -> tuple[_PathPoint | None, int]:
        """The point of the path a step further."""
        K = self.metric(x.q)
        turn = float(np.max(abs(np.linalg.solve(K.T, ds * tangent[: self.n])), initial=0.0))
        if turn > TURNS:
            return None, 0
        return self.corrected(self.moved(x, ds * tangent, K), self.border(tangent))

    def falls(self, x: _PathPoint) -> int:
        """The directions that constraints leave free in which the potential falls."""
        K = self.metric(x.q)
        stiff, rows = self.stiffness(x)
        free = null_space(np.linalg.solve(K, rows.T).T, TOLERANCE) if self.held else np.eye(self.n)
        H = free.T @ np.linalg.solve(K, np.linalg.solve(K, stiff.T).T) @ free
        values = np.linalg.eigvalsh((H + H.T) / 2)
        return int(np.sum(values < -FALLS * np.max(abs(values), initial=0.0)))

    def followed(self, x: _PathPoint, to: float, step: float, points: int) -> LoadPath:
        """The path from a rest on to a factor."""
        tangent = self.tangent(x, np.sign(to) * np.eye(self.n + self.k + 1)[-1])
        ds = first = step / max(abs(float(tangent[-1])), 1e-3)
        found, limits, reached = [x], list[LimitPoint](), False
        while len(found) < points and not reached:
            following, corrections = self.stepped(x, tangent, ds)
            if following is not None:
                ahead = self.tangent(following, tangent)
                if float(self.border(tangent) @ ahead) < BENDS:
                    following = None
            if following is None:
                ds /= 2
                if ds < SHORTEST * first:
                    what, fix = (
                        "the path cannot be followed",
                        "A path branches there, or an element ends: see its points.",
                    )
                    raise InputError(message(self.where, what, f"a factor {x.mu:.6g}", "a smooth path", fix))
                continue
            if ahead[-1] * tangent[-1] < 0:
                limits.append(self.limit(x, tangent, ds))
            if (x.mu - to) * (following.mu - to) <= 0:
                following = self._at(x, following, to)
                reached = True
            found.append(following)
            x, tangent = following, ahead
            ds = min(ds * (1.5 if corrections <= FEW else 1.0), LONGEST * first)
        counts = np.array([self.falls(point) for point in found])
        factors, places = np.array([point.mu for point in found]), np.array([point.q for point in found])
        return LoadPath(factors, places, counts, tuple(limits), reached)

    def _at(self, x: _PathPoint, following: _PathPoint, to: float) -> _PathPoint:
        """The rest at a factor between two points."""
        near = x if abs(x.mu - to) < abs(following.mu - to) else following
        unit = np.eye(self.n + self.k + 1)[-1]
        found, _ = self.corrected(near._replace(mu=to), unit)
        return following if found is None else found

    def limit(self, x: _PathPoint, tangent: np.ndarray, ds: float) -> LimitPoint:
        """The limit point on the step from a point: where the factor is largest, or smallest."""
        known = dict[float, _PathPoint]()

        def slope(s: float) -> float:
            at, _ = self.stepped(x, tangent, s)
            known[s] = x if at is None else at
            return float(self.tangent(known[s], tangent)[-1])

        root = float(brentq(slope, 0.0, ds, xtol=1e-10 * ds))
        at = known.get(root) or self.stepped(x, tangent, root)[0] or x
        return LimitPoint(at.mu, at.q)


def _solved(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The shortest solution."""
    return np.linalg.lstsq(A, b, rcond=1e-15)[0]
