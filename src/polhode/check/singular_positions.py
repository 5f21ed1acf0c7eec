"""Singular positions on the way of a machine: where its constraints lose rank, or turn without bound.

    B = D⁻¹A K⁻ᵀ,  M = K Kᵀ;      σ: the r-th singular value of B, r the rank elsewhere on the way

On a path through a singular position σ falls to zero and rises again, and so does a pivot of the elimination of the
rows, which costs little: both nearly along lines. A lowest look of a pivot is examined where the lines of its
neighbours meet below zero between looks; σ decides. Between looks the path is interpolated by cubics. Beyond the
position the path may continue on several branches. Without an impulse velocities do not jump, so the motion goes
straight on, if it does not rest there and if the position fulfils the constraints: uᵀφ = 0 with the left null vectors
u of B. An error δ of the position enters uᵀφ as δ² only, since uᵀA = 0.
"""

import json
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from polhode.check.constraint_monitor import BLOCK, idle_rows
from polhode.check.diagnosis import metric_of
from polhode.dynamics.constraints import in_row_order
from polhode.linalg.rank import left_decomposed_rows, rank_of, scaled_rows, singular_values
from polhode.model import make_tree
from polhode.result.labels import quaternion_slices
from polhode.result.symmetry import conserved
from polhode.result.verdict import LOOSE, NOTE, Check
from polhode.scalar import lengths
from polhode.system.shared import once_per_system
from polhode.system.system import System

SINGULAR = 1e-3
"""A smallest singular value, in parts of its largest on the way, up to which a position counts as singular. Cubics
between looks half a radian apart are off by about 1e-4."""

SUSPECT = 0.1
"""The same, above which no position counts as singular, and one passage is told from the next."""

PER_VIOLATION = 10.0
"""Where positions violate constraints by ε, paths part from the singular position by about √ε: a lowest σ up to the
root of so many times ε counts as singular too."""

FULFILLED = 1e-12
"""The part uᵀφ of a violation, in lengths of the machine or radians, up to which a path leads through a singular
position and not past it; more is allowed for by the square of what cubics between looks are off by."""

STRAIGHT, BEND = 0.02, 3.0
"""The jump of the velocity, in parts of it, up to which a motion went straight on: a fixed part, or so many times the
square of the angle between looks, what smooth motions differ from a line by."""

CORNER = 0.2
"""The change of a row between looks, in parts of the row, from which it is examined for a jump."""

ENDLESS = 1e4
"""Radians by which a row turns per radian of the machine, from which its constraint counts as degenerate: a disk that
rolls has 1/sin of the angle between its plane and the ground, here 0.006°."""

ROUNDS, INNER = 5, 32
"""Rounds in which a position is located between looks, and points in each: a round narrows the interval 15 times."""

LEAST_TURN = 1e-9
"""Radians beside a jump, at least, within which the turning of rows is measured: rounding is far below."""

TAKING_PART = 0.01
"""The part of a row in a null vector, from which it is named."""

KEPT = 4
"""Looks that are kept for those that follow: two on either side of a lowest one."""

LOOKS = 2000
"""Looks between samples that every path may take; `watched_path` allows more as samples and steps come."""

STARTS = 64
"""Starts of runs of one machine at which rows are known."""

SINGLE = 8
"""Numbers at the head of a state."""

PROBES = 2
"""Random velocities whose rates stand for whole rows: a jump that is across both is not seen."""

STRONGER = 1.25
"""How much larger the smallest pivot must be than before for its state to be compared with: each costs an SVD."""

JUMPS = 20
"""Intervals of one block that are examined for jumps: more of them are noise around a singular position."""

MOST = 100
"""Singular positions of one run that are listed."""


SHOWN = 4
"""Positions, and rows of each, that the grade names."""

LOST = 0.05
"""The jump of the energy at a singular position, in parts of the kinetic energy there, above which the motion is lost:
far above what steps of a tolerance that is of use err by."""

MEANING = {
    "straight": "the motion went straight on",
    "lost": "the energy jumped, and the motion with it",
    "open": "which branch the motion takes from there is not certain",
    "corner": "a corner, where the motion has no unique continuation",
}
"""What the kinds of singular positions mean."""

LEAST = 1e-5
"""A ratio that counts as 0: cubics tell no less."""

TINY = 1e-300
"""In the place of 0 in a quotient."""


def _limit(off: np.ndarray) -> np.ndarray:
    """σ, in parts of its largest so far, up to which positions with violations (n,) count as singular."""
    return np.minimum(np.maximum(SINGULAR, np.sqrt(PER_VIOLATION * off)), SUSPECT)


class SingularPosition(NamedTuple):
    """A singular position that a motion passed."""

    time: float
    ratio: float
    """Smallest singular value there, in parts of its largest on the way."""
    rows: tuple[str, ...]
    """The rows that become dependent, or that jump."""
    kind: str
    """"straight": the motion went straight on; "open": its continuation is not certain; "lost": its energy jumped;
    "corner": a row jumps."""


class Degenerate(NamedTuple):
    """A state at which constraints turn without bound: when, which, and radians per radian of the machine."""

    time: float
    constraints: tuple[str, ...]
    turning: float


States = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Times (n), q (n, nq) and v (n, nv)."""


class Looks(NamedTuple):
    """States of a machine, with what is known of their rows at little cost."""

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    pivots: np.ndarray
    """(n, k)  of `System.constraint_pivots`: one of them passes through 0 where rank is lost."""
    rates: np.ndarray
    """(n, k, PROBES)  rates of the rows by random velocities, in natural sizes: they jump where rows jump."""
    off: np.ndarray
    """(n)  largest violation of a position, in lengths of the machine or radians."""

    def part(self, which: slice) -> "Looks":
        """Some of them."""
        return Looks(*[array[which] for array in self])


class FirstRows(NamedTuple):
    """The rows at the first look of a path.

    t, q      its time and q (nq)
    natural   (k)  lengths of A's rows, in the units of the probes, over those of B's
    singular  (m)  singular values of B
    """

    t: float
    q: np.ndarray
    natural: np.ndarray
    singular: np.ndarray


class Cubics:
    """A path between looks: positions by cubics of their values and rates, velocities along lines."""

    def __init__(
        self, t: np.ndarray, q: np.ndarray, v: np.ndarray, rate: np.ndarray, quaternions: Sequence[slice]
    ) -> None:
        self.t, self.v, self.quaternions = t, v, quaternions
        h = np.diff(t)[:, None]
        way, first, second = np.diff(q, axis=0), h * rate[:-1], h * rate[1:]
        self._powers = q[:-1], first, 3 * way - 2 * first - second, first + second - 2 * way

    def _places(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The intervals of times, and the parts of them that are gone (n, 1)."""
        i = np.clip(np.searchsorted(self.t, t, "right") - 1, 0, len(self.t) - 2)
        return i, ((t - self.t[i]) / (self.t[i + 1] - self.t[i]))[:, None]

    def positions(self, t: np.ndarray) -> np.ndarray:
        """(n, nq)"""
        i, x = self._places(t)
        *lower, q = (power[i] for power in self._powers)
        for power in reversed(lower):
            q *= x
            q += power
        for part in self.quaternions:
            q[:, part] /= np.linalg.norm(q[:, part], axis=1, keepdims=True)
        return q

    def velocities(self, t: np.ndarray) -> np.ndarray:
        """(n, nv)"""
        i, x = self._places(t)
        return (1 - x) * self.v[i] + x * self.v[i + 1]


@once_per_system
def _turning(system: System) -> list[int]:
    """The velocities that are rates of turning."""
    elements = make_tree(system.model).elements
    return [a for e in elements for a, linear in zip(e.v, e.kind.linear, strict=True) if not linear]


@once_per_system
def _probes(system: System) -> tuple[np.ndarray, np.ndarray]:
    """Velocities per radian, or per length of the machine (nv); random velocities of that size (PROBES, nv)."""
    assert system.conditions is not None
    per = np.full(system.nv, 1 / max(system.conditions.scales.units))
    per[_turning(system)] = 1.0
    return per, np.random.default_rng(0).choice((-1.0, 1.0), (PROBES, system.nv)) / per


@once_per_system
def _known_starts(system: System) -> dict[tuple[float, bytes], FirstRows]:
    """The rows at the starts of the last runs, by time and q: run after run begins at the same."""
    return {}


def _first_rows(system: System, t: np.ndarray, q: np.ndarray) -> FirstRows:
    """The rows at the first look of a path: t (1), q (1, nq)."""
    assert system.conditions is not None
    known, key = _known_starts(system), (float(t[0]), q.tobytes())
    found = known.get(key)
    if found is None:
        A = system.constraint_rows(q, np.zeros((1, system.nv)), t=t).A
        B = scaled_rows(A, metric_of(system, q, A), np.array(system.conditions.scales.sizes))
        natural = _natural(np.linalg.norm(A[0] / _probes(system)[0], axis=1), np.linalg.norm(B[0], axis=1))
        found = FirstRows(float(t[0]), q[0].copy(), natural, singular_values(B)[0])
        if len(known) >= STARTS:
            known.clear()
        known[key] = found
    return found


def _natural(size: np.ndarray, length: np.ndarray) -> np.ndarray:
    """(k)  The lengths of A's rows over those of B's; of rows of zeros the median of the others."""
    known = (length > 0) & (size > 0)
    found = np.where(known, size / np.where(known, length, 1.0), 0.0)
    if np.all(known):
        return found
    return np.where(known, found, np.median(found[known]) if np.any(known) else 1.0)


def _ratios(pivots: np.ndarray, largest: np.ndarray) -> np.ndarray:
    """(n, k)  Pivots in parts of their largest so far, which only grows; 1 for rows that are always dependent."""
    if largest[0].all():
        return pivots / largest
    found = pivots / np.where(largest > 0, largest, 1.0)
    found[:, largest[-1] == 0] = 1.0
    return found


class PathWatch:
    """Looks at a motion as it goes on, and finds the singular positions on its way."""

    def __init__(self, system: System, is_driven: bool = True) -> None:
        """Watch a motion; is_driven: whether inputs act, so that its energy may change by them."""
        assert system.conditions is not None
        self.system, self.found, self._is_driven = system, list[SingularPosition](), is_driven
        self.count = 0
        """Singular positions so far, with those that are not kept."""
        self.degenerate: Degenerate | None = None
        self.left, self.unseen = LOOKS, 0
        """Looks between samples that may still be taken; intervals that were wanted closer, when none was left."""
        self.rank = 0
        """The largest rank so far."""
        self._usual = 0.0
        self._untold: list[tuple[States, np.ndarray]] = []
        """Looks whose σ is still to be taken into `usual`, and their violations."""
        self.conditions, self.scales = system.conditions.conditions, system.conditions.scales
        self.turning = _turning(system)
        """The velocities that are rates of turning."""
        self._per, self._probes = _probes(system)
        k = len(self.scales.sizes)
        self._units = np.array(self.scales.units)
        self._largest = np.zeros(k)
        """The largest of each pivot so far."""
        self._strongest = 0.0
        """The smallest pivot of the look whose σ was computed last for `usual`."""
        self._sizes = np.zeros(k)
        """The rates of the rows by the probes, of rows as long as their natural size; 0 until they are known."""
        self.pending: States | None = None
        """Times, q and v of the last looks, some of which await what follows."""
        self._known: Looks | None = None
        """These looks, where they are known and need not be taken again."""
        self._examined = self._jumped = -np.inf
        self._first: FirstRows | None = None
        """The rows at the first look, which `usual` begins with too."""

    @property
    def usual(self) -> float:
        """The largest σ so far, of the states whose pivots were largest: found when it is asked for, as most paths stay
        far from where that matters, and each takes as long as ten steps."""
        untold, self._untold = self._untold, []
        for at, off in untold:
            for singular, missed in zip(singular_values(self._scaled(*at)[0]), off.tolist(), strict=True):
                self._take(singular, missed)
        return self._usual

    @property
    def state(self) -> np.ndarray:
        """All that the watch carries from look to look, as one row of numbers: `restore` takes it back."""
        looks = np.zeros((0, 0)) if self.pending is None else np.column_stack(self.pending)
        single = (
            self.rank,
            self.usual,
            self._examined,
            self._jumped,
            self.count,
            self._strongest,
            self.left,
            self.unseen,
        )
        return np.concatenate([np.array(single, dtype=float), self._largest, self._sizes, looks.ravel()])

    def is_state(self, state: object) -> bool:
        """Whether something has the shape of a state, and counts that may be."""
        if not isinstance(state, np.ndarray) or state.ndim != 1:
            return False
        looks = len(state) - SINGLE - 2 * len(self._sizes)
        if state.dtype != np.float64 or looks < 0 or looks % (1 + self.system.model.nq + self.system.nv):
            return False
        rank, *counts = state[[0, 4, 6, 7]]
        return bool(0 <= rank <= min(len(self._sizes), self.system.nv) and all(0 <= x < 2**53 for x in counts))

    def restore(self, state: np.ndarray, found: Sequence[SingularPosition]) -> None:
        """Go on from a state, with the singular positions that were found before it."""
        model, k, self.found = self.system.model, len(self._sizes), list(found)
        self.rank, self.count, self.left, self.unseen = (int(state[i]) for i in (0, 4, 6, 7))
        self._usual, self._examined, self._jumped, self._strongest = map(float, state[[1, 2, 3, 5]])
        self._untold.clear()
        self._largest, self._sizes = state[SINGLE : SINGLE + k].copy(), state[SINGLE + k : SINGLE + 2 * k].copy()
        looks = state[SINGLE + 2 * k :].reshape(-1, 1 + model.nq + model.nv)
        self._known = None
        if len(looks):
            self.pending = looks[:, 0], looks[:, 1 : 1 + model.nq], looks[:, 1 + model.nq :]

    def pace(self, v: np.ndarray) -> np.ndarray:
        """The largest of velocities (n, nv), in radians or lengths of the machine per second."""
        along = abs(v)
        along *= self._per
        found: np.ndarray = np.maximum.reduce(along.T.copy(), axis=0, initial=0.0)
        return found

    def restart(self) -> None:
        """Begin a new path, after a reset of the motion."""
        self.close()
        self.pending = self._known = None

    def close(self) -> None:
        """Examine the looks whose followers were awaited: none will come."""
        if self.pending is not None:
            self.see(*self.pending, last=True)

    def see(self, t: np.ndarray, q: np.ndarray, v: np.ndarray, last: bool = False) -> None:
        """Go on along the path to some states; last: no state follows."""
        most = max(BLOCK // (8 * (2 + PROBES) * len(self._sizes)), KEPT)
        for i in range(0, len(t), most):
            self._see(t[i : i + most], q[i : i + most], v[i : i + most], last and i + most >= len(t))

    def _see(self, t: np.ndarray, q: np.ndarray, v: np.ndarray, last: bool) -> None:
        before = self._known
        if self.pending is not None:
            new = t > self.pending[0][-1]
            if not new.all():
                t, q, v = (x[new] for x in (t, q, v))
            if before is None:
                t, q, v = (np.concatenate([a, b]) for a, b in zip(self.pending, (t, q, v), strict=True))
        if before is None:
            at = self.looks(t, q, v)
        elif len(t):
            at = Looks(*(np.concatenate([a, b]) for a, b in zip(before, self.looks(t, q, v), strict=True)))
        else:
            at = before
        if not len(at.t) or self.degenerate:
            return
        self._known = at.part(slice(-KEPT, None))
        self.pending = self._known[:3]
        if at is not before:
            self._compare(at)
        if not self.rank:
            return
        if at is not before:
            self._jumps(at)
        largest = np.maximum(np.maximum.accumulate(at.pivots, axis=0), self._largest)
        ratio = _ratios(at.pivots, largest)
        self._examine(at, ratio, largest[-1], self._lowest(at, ratio, last))
        self._largest = largest[-1]
        if last or len(at.t) > 2:
            self._examined = max(self._examined, float(at.t[-1 if last else -3]))

    def _compare(self, at: Looks) -> None:
        """Keep rank and σ of the looks whose smallest pivot is well above those before."""
        pivots = at.pivots.T.copy()  # along the looks, as minima and sums like it
        weakest = np.minimum.reduce(pivots, axis=0, initial=np.inf)
        counts = np.full(len(weakest), len(pivots))
        if not weakest.min(initial=np.inf) > 0 or not len(pivots):
            alive = pivots > 0
            weakest = np.minimum.reduce(np.where(alive, pivots, np.inf), axis=0, initial=np.inf)
            counts = np.add.reduce(alive, axis=0, dtype=int)
            weakest[counts == 0] = -np.inf
        known: dict[int, np.ndarray] = {}
        begin = 0
        while True:  # the next that is better than all before it
            more, stronger = counts[begin:] > self.rank, weakest[begin:] > STRONGER * self._strongest
            better = (more | stronger).nonzero()[0]
            if not len(better):
                return
            i = begin + int(better[0])
            which = [begin + j for j in self._stronger(weakest[begin:])] if self.rank else [i]
            if self._has_all_rows and not more.any():  # the rank stays, and σ is asked for when it matters
                self._untold.append(((at.t[which], at.q[which], at.v[which]), at.off[which]))
                self._strongest = float(weakest[which[-1]])
                return
            if i not in known:  # with those that may follow, once there is a rank
                known |= self._singular_values(at, sorted({i, *which}))
            self._strongest = float(weakest[i])
            self._take(known[i], float(at.off[i]))
            begin = i + 1

    @property
    def _has_all_rows(self) -> bool:
        """Whether the rank so far is that of all rows that do not hold by themselves."""
        return self.rank > 0 and self.rank == len(self._sizes) - len(idle_rows(self.system))

    def _stronger(self, weakest: np.ndarray) -> list[int]:
        """The looks whose smallest pivot is well above all before it, one after the other."""
        found: list[int] = []
        least = STRONGER * self._strongest
        for i, x in enumerate(np.maximum.accumulate(weakest).tolist()):
            if x > least:
                found.append(i)
                least = STRONGER * x
        return found

    def _singular_values(self, at: Looks, which: list[int]) -> dict[int, np.ndarray]:
        """The singular values of B at some looks, by their numbers."""
        if not which:
            return {}
        known, found = self._first, dict[int, np.ndarray]()
        if known and at.t[which[0]] == known.t and np.array_equal(at.q[which[0]], known.q):
            found[which[0]], which = known.singular, which[1:]
        if which:
            values = singular_values(self._scaled(*(x[which] for x in at[:3]))[0])
            found |= zip(which, values, strict=True)
        return found

    def _take(self, singular: np.ndarray, off: float) -> None:
        """Let the rank and σ of one look count: its singular values (m) and its violation."""
        tolerance = min(max(10 * off, self.system.rank_tolerance), SINGULAR)
        rank = int(rank_of(singular, tolerance))
        if rank > self.rank:
            self.rank, self._usual = rank, 0.0
        if rank:
            self._usual = max(self._usual, float(singular[self.rank - 1]))

    def looks(self, t: np.ndarray, q: np.ndarray, v: np.ndarray) -> Looks:
        """Those of some states that are finite, and whose rows are."""
        pivots, (phi, rates) = self.system.constraint_pivots(q, t=t), self._positions_and_rates(t, q)
        off = np.maximum.reduce((abs(phi) / self._units[: phi.shape[1]]).T.copy(), axis=0, initial=0.0)
        finite = [np.isfinite(x) for x in (v, pivots, rates)]
        if not all(yes.all() for yes in finite):
            good = np.all([yes.reshape(len(t), -1).all(axis=1) for yes in finite], axis=0)
            t, q, v, pivots, rates, off = (x[good] for x in (t, q, v, pivots, rates, off))
        return Looks(t, q, v, pivots, rates, off)

    def _rates(self, t: np.ndarray, q: np.ndarray) -> np.ndarray:
        """(n, k, PROBES)  of `Looks.rates`."""
        return self._positions_and_rates(t, q)[1]

    def _positions_and_rates(self, t: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """φ (n, m) of the rows that have positions, and `Looks.rates`."""
        residuals = [self.system.constraint_residuals(q, z, t=t) for z in self._probes]
        if not self._sizes.any() and len(t) and all(np.isfinite(rates[0]).all() for _, rates in residuals):
            self._first = _first_rows(self.system, t[:1], q[:1])
            self._sizes = self._first.natural
        sizes, found = np.where(self._sizes > 0, self._sizes, 1.0), np.empty((*residuals[0].rates.shape, PROBES))
        for i, (_, rates) in enumerate(residuals):
            np.divide(rates, sizes, out=found[:, :, i])
        return residuals[0].positions, found

    def _scaled(self, t: np.ndarray, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """B (n, k, nv) and K (n, nv, nv) of some states."""
        A = self.system.constraint_rows(q, v, t=t).A
        K = metric_of(self.system, q, A)
        return scaled_rows(A, K, np.array(self.scales.sizes)), K

    def _momenta(self, at: Looks, which: np.ndarray) -> np.ndarray:
        """(m, nv)  Kᵀv of some looks, whose squares are twice the kinetic energy."""
        t, q, v = (x[which] for x in at[:3])
        rows = self.system.constraint_rows(q, v, t=t).A if self.scales.singular_mass else np.zeros(0)
        return np.einsum("nij,ni->nj", metric_of(self.system, q, rows), v)

    def _between(self, at: Looks) -> "Cubics":
        """The path between looks, by cubics."""
        return Cubics(at.t, at.q, at.v, self.system.rate(at.q, at.v), quaternion_slices(self.system.model))

    # where rank is lost

    def _lowest(self, at: Looks, ratio: np.ndarray, last: bool) -> list[int]:
        """Looks near which a pivot may reach zero; ratio (n, k): pivots in parts of their largest so far."""
        t, h = at.t, (at.t[1:] - at.t[:-1])[:, None]
        slope, reach = (ratio[1:] - ratio[:-1]) / h, np.zeros(ratio.shape)
        if len(t) > 2:  # how far it may fall on from each look, along the line of its neighbours
            np.maximum(-slope[:-1] * h[1:], slope[1:] * h[:-1], out=reach[1:-1])
        np.maximum(reach, 0.0, out=reach)
        reach *= 1.5
        reach += _limit(at.off)[:, None]
        near = ratio <= reach
        if not near.any():
            return []
        near[1:] &= slope <= 0
        near[:-1] &= slope >= 0
        chosen = np.any(near, axis=1) & (t > self._examined)
        if not last:  # until it is known what follows
            chosen[-2:] = False
        return np.flatnonzero(chosen).tolist()

    def _examine(self, at: Looks, ratio: np.ndarray, largest: np.ndarray, which: list[int]) -> None:
        """Locate the lowest pivots around some looks, and keep those whose positions are singular.

        ratio    (n, k)  pivots in parts of their largest so far
        largest  (k)  of each pivot up to the last look
        """
        located = {} if self._is_settled else self._located(at, largest, which)
        lowest = np.min(ratio, axis=1) if located else ratio
        for i, best in located.items():
            if self._is_settled:
                return
            usual, (U, singular) = max(self.usual, TINY), left_decomposed_rows(self._scaled(*best)[0][0])
            part = float(singular[self.rank - 1]) / usual
            limit = float(np.max(_limit(at.off[max(i - 1, 0) : i + 2])))
            if part > limit:
                continue
            time = float(best[0][0])
            before = self.found[-1].time if self.found else -np.inf
            apart = lowest[(at.t > before) & (at.t < time)]
            if before > at.t[0] and not np.any(apart > SUSPECT):
                continue  # the same passage
            u = self._lost(U, singular, limit * self.usual)
            kind = "straight" if self._is_straight(at, best, u) else "open"
            kind = "lost" if kind == "open" and self._loses_energy(at, time) else kind
            self._keep(SingularPosition(time, part, self._taking_part(u), kind))

    def _keep(self, position: SingularPosition) -> None:
        self.count += 1
        if len(self.found) < MOST:
            self.found.append(position)
        elif position.kind != "straight" and not self._is_settled:
            self.found[-1] = position

    @property
    def _is_settled(self) -> bool:
        """Whether the list is full, and what else is found would change no verdict."""
        return len(self.found) >= MOST and any(x.kind != "straight" for x in self.found)

    def _named(self, chosen: np.ndarray) -> tuple[str, ...]:
        return tuple(name for name, yes in zip(self.system.constraint_names, chosen, strict=True) if yes)

    def _located(self, at: Looks, largest: np.ndarray, which: list[int]) -> dict[int, States]:
        """The states with the lowest pivot between the neighbours of some looks, by their numbers; none where it is far
        from zero.

        largest  (k)  of each pivot so far
        """
        if not which:
            return {}
        i, alive, path, parts = np.array(which), largest > 0, self._between(at), np.linspace(0.0, 1.0, INNER)

        def lowest(pivots: np.ndarray) -> np.ndarray:
            return np.min(pivots[:, alive] / largest[alive], axis=1)

        best, least, near = at.t[i], lowest(at.pivots[i]), np.ones(len(i), dtype=bool)
        low, high, going = at.t[np.maximum(i - 1, 0)], at.t[np.minimum(i + 1, len(at.t) - 1)], np.arange(len(i))
        for _ in range(ROUNDS):
            t = low[going, None] + (high - low)[going, None] * parts
            values = lowest(self.system.constraint_pivots(path.positions(t.ravel()), t=t.ravel())).reshape(t.shape)
            finite = np.all(np.isfinite(values), axis=1)
            going, t, values = going[finite], t[finite], values[finite]
            if not len(going):
                break
            k, each = np.argmin(values, axis=1), np.arange(len(going))
            sides = [(each, np.maximum(k - 1, 0)), (each, np.minimum(k + 1, INNER - 1))]
            lower = values[each, k] < least[going]
            best[going[lower]], least[going[lower]] = t[each, k][lower], values[each, k][lower]
            low[going], high[going] = (t[side] for side in sides)
            above = np.maximum(*(values[side] for side in sides)) - values[each, k]
            near[going] = values[each, k] <= 3 * above + SUSPECT
            going = going[near[going]]
            if not len(going):
                break
        q, v = path.positions(best), path.velocities(best)
        there = best == at.t[i]
        q[there], v[there] = at.q[i[there]], at.v[i[there]]
        return {j: (best[n : n + 1], q[n : n + 1], v[n : n + 1]) for n, j in enumerate(which) if near[n]}

    def _lost(self, U: np.ndarray, singular: np.ndarray, small: float) -> np.ndarray:
        """(k, m)  The left null vectors of rows that become dependent, from the singular vectors of a state."""
        kept = int(np.sum(singular[: self.rank] > 2 * max(small, singular[self.rank - 1])))
        return U[:, kept : self.rank]

    def _taking_part(self, u: np.ndarray) -> tuple[str, ...]:
        """The names of the rows in null vectors."""
        return self._named(np.linalg.norm(u, axis=1) > TAKING_PART)

    def _is_straight(self, at: Looks, best: States, u: np.ndarray) -> bool:
        """Whether the motion went straight on through a singular position."""
        time = best[0][0]
        phi = self.system.constraint_residuals(best[1], best[2], t=best[0]).positions[0]
        off = np.zeros(len(u))
        off[: len(phi)] = phi / np.array(self.scales.units)[: len(phi)]
        before, after = (np.flatnonzero(side)[order] for side, order in (
            (at.t < time, slice(-2, None)), (at.t > time, slice(1, None, -1))
        ))  # fmt: skip
        if len(before) < 2 or len(after) < 2:
            return False
        ends, momenta = [], self._momenta(at, np.array([*before, *after]))
        for (far, near), (first, second) in zip((before, after), (momenta[:2], momenta[2:]), strict=True):
            ends.append(second + (second - first) / (at.t[near] - at.t[far]) * (time - at.t[near]))
        size = max(np.linalg.norm(end) for end in ends)
        around = slice(before[0], after[0] + 1)
        angle = float(np.max(self.pace(at.v[around])) * np.max(np.diff(at.t[around])))
        if angle > 1:  # these looks are too far apart to tell
            return False
        through = np.linalg.norm(u.T @ off) <= FULFILLED + (angle**4 / 384) ** 2
        return bool(through and np.linalg.norm(ends[1] - ends[0]) <= max(STRAIGHT, BEND * angle**2) * size)

    @cached_property
    def _keeps_energy(self) -> bool:
        """Whether nothing changes the energy of the machine."""
        return not self._is_driven and conserved(self.system.model).energy

    def _loses_energy(self, at: Looks, time: float) -> bool:
        """Whether the energy, which the machine should keep, jumps between the looks on either side of a time."""
        before, after = np.flatnonzero(at.t < time)[-1:], np.flatnonzero(at.t > time)[:1]
        if not (len(before) and len(after) and self._keeps_energy):
            return False
        kinetic, potential = self.system.energy(*(x[[*before, *after]] for x in (at.q, at.v)))
        return bool(abs(np.diff(kinetic + potential)[0]) > LOST * np.max(kinetic))

    @property
    def end(self) -> float:
        """When the motion can be followed no more, if it has come to that: inf otherwise."""
        lost = [x.time for x in self.found if x.kind == "lost"]
        return min([*lost, self.degenerate.time if self.degenerate else np.inf])

    def lost(self, t: np.ndarray, q: np.ndarray, v: np.ndarray) -> SingularPosition | None:
        """The state among some that is nearly singular, if one is."""
        at = self.looks(t, q, v)
        if not self.rank or not len(at.t):
            return None
        usual = self.usual
        found = [left_decomposed_rows(B) for B in self._scaled(at.t, at.q, at.v)[0]]
        sigma = np.array([singular[self.rank - 1] for _, singular in found])
        i = int(np.argmin(sigma))
        if sigma[i] > SUSPECT / 2 * usual:
            return None
        names = self._taking_part(self._lost(*found[i], SINGULAR * usual))
        return SingularPosition(float(at.t[i]), float(sigma[i]) / usual, names, "open")

    # where rows jump, or turn without bound

    def _jumps(self, at: Looks) -> None:
        """Find rows that jump between looks."""
        if len(at.t) < 2:
            return
        change = at.rates[1:] - at.rates[:-1]
        most, least = np.maximum.reduce(abs(change), axis=0), np.maximum.reduce(abs(at.rates), axis=0)
        if (PROBES * most <= CORNER * np.maximum(least, SUSPECT)).all():  # no row changes by so much, by far
            self._jumped = float(at.t[-1])
            return
        size = np.maximum(np.max(lengths(at.rates), axis=0), SUSPECT)
        turned = lengths(change) / size
        part, pace = np.max(turned.T.copy(), axis=0), self.pace(at.v)
        angle = np.maximum(pace[1:], pace[:-1]) * (at.t[1:] - at.t[:-1])
        jumps = (part > CORNER) & (part > 4 * angle) & (at.t[1:] > self._jumped)
        for i in np.flatnonzero(jumps)[:JUMPS]:
            self._jump(at, int(i))
            if self.degenerate:
                return
        self._jumped = float(at.t[-1])

    def _jump(self, at: Looks, i: int) -> None:
        """Narrow an interval down to the jump of a row."""
        low, high = float(at.t[i]), float(at.t[i + 1])
        narrow, rows, path = 1e-6 * (high - low), np.zeros(1), self._between(at.part(slice(i, i + 2)))
        for _ in range(ROUNDS):
            t = np.linspace(low, high, INNER)
            rates = self._rates(t, path.positions(t))
            if not np.all(np.isfinite(rates)):
                return
            changes = np.linalg.norm(np.diff(rates, axis=0), axis=2)
            k = int(np.argmax(np.max(changes, axis=1)))
            low, high, rows = float(t[k]), float(t[k + 1]), changes[k]
        aside = np.array([max(low - 10 * narrow, float(at.t[i]))])
        q, v = path.positions(aside), path.velocities(aside)
        turned = max(narrow * float(self.pace(v)[0]), LEAST_TURN) / 10
        if self.is_degenerate(float(aside[0]), q[0], v[0], turned) or np.max(rows) <= CORNER / 2:
            return
        self._keep(SingularPosition(low, 1.0, self._named(rows > CORNER / 4), "corner"))

    def is_degenerate(self, t: float, q: np.ndarray, v: np.ndarray, turned: float = 1e-7) -> bool:
        """Whether rows turn without bound at a state; `degenerate` then says which.

        turned  radians by which every coordinate is moved
        """
        n = len(self.turning)
        if not n or not (np.all(np.isfinite(q)) and np.all(np.isfinite(v))):
            return False
        moves = np.zeros((n + 1, len(v)))
        moves[range(1, n + 1), self.turning] = turned
        near = self.system.integrate(np.tile(q, (n + 1, 1)), moves)
        rates = self._rates(np.full(n + 1, t), near)
        if not np.all(np.isfinite(rates)):
            return False
        turning = np.max(np.linalg.norm(rates[1:] - rates[0], axis=2), axis=0) / turned
        if np.max(turning) > ENDLESS:
            owners = [c.name for c in in_row_order(self.conditions) for _ in c.rows]
            names = dict.fromkeys(name for name, x in zip(owners, turning, strict=True) if x > ENDLESS)
            self.degenerate = Degenerate(float(t), tuple(names), float(np.max(turning)))
        return self.degenerate is not None


def text_of(found: Sequence[SingularPosition]) -> str:
    """Singular positions as a JSON list; times and ratios with the digits that interpolation gives."""
    rounded = [x._replace(time=float(f"{x.time:.7g}"), ratio=float(f"{x.ratio:.1g}")) for x in found]
    return json.dumps([x._replace(ratio=x.ratio if x.ratio >= LEAST else 0.0)._asdict() for x in rounded])


def read(text: str) -> list[SingularPosition]:
    """The singular positions of a JSON list."""
    found = json.loads(text) if text != "[]" else []
    return [SingularPosition(x["time"], x["ratio"], tuple(x["rows"]), x["kind"]) for x in found]


def position_checks(found: Sequence[SingularPosition], count: int, unseen: int) -> list[Check]:
    """The lines of the grade about singular positions: loose where the motion did not go straight on for certain.

    unseen  intervals that were not looked at closely
    """
    note = "intervals between samples were looked at less closely than singular positions ask for: one may be missed"
    unsure = [Check("intervals not looked into", float(unseen), None, None, "1", NOTE, note)] if unseen else []
    return [*_position_check(found, count), *unsure]


def _position_check(found: Sequence[SingularPosition], count: int) -> list[Check]:
    if not count:
        return []
    unsure = [x for x in found if x.kind != "straight"]
    shown = [
        f"t = {x.time:.6g} s ({', '.join(x.rows[:SHOWN])}{' …' if len(x.rows) > SHOWN else ''}: {MEANING[x.kind]})"
        for x in (unsure or found)[:SHOWN]
    ]
    more = len(unsure or found) - len(shown) + count - len(found)
    note = f"constraints lose rank, or jump, at {'; '.join(shown)}{f'; and {more} more' if more else ''}"
    return [Check("singular positions", float(count), None, None, "1", LOOSE if unsure else NOTE, note)]
