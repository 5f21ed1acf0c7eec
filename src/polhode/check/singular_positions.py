"""Singular positions on the way of a machine: where its constraints lose rank, or turn without bound.

    B = D⁻¹A K⁻ᵀ,  M = K Kᵀ;      σ: the r-th singular value of B, r the rank elsewhere on the way

On a path through a singular position σ falls to zero and rises again, both nearly along lines: a lowest look is
examined where the lines of its neighbours meet below zero between looks. Between looks the path is interpolated by
cubics. Beyond the position the path may continue on several branches. Without an impulse velocities do not jump, so
the motion goes straight on, if it does not rest there and if the position fulfils the constraints: uᵀφ = 0 with the
left null vectors u of B. An error δ of the position enters uᵀφ as δ² only, since uᵀA = 0.
"""

import json
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from polhode.check.constraint_monitor import BLOCK
from polhode.constrain.row_scales import ordered
from polhode.linalg.rank import metric_factor, rank_of, scaled_rows
from polhode.model import make_tree
from polhode.result.labels import quaternion_slices
from polhode.result.verdict import LOOSE, NOTE, Check
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

ROUNDS, INNER = 7, 32
"""Rounds in which a position is located between looks, and points in each: a round narrows the interval 15 times."""

LEAST_TURN = 1e-9
"""Radians beside a jump, at least, within which the turning of rows is measured: rounding is far below."""

TAKING_PART = 0.01
"""The part of a row in a null vector, from which it is named."""

KEPT = 4
"""Looks that are kept for those that follow: two on either side of a lowest one."""

JUMPS = 20
"""Intervals of one block that are examined for jumps: more of them are noise around a singular position."""

MOST = 100
"""Singular positions of one run that are listed."""


SHOWN = 4
"""Positions, and rows of each, that the grade names."""

MEANING = {
    "straight": "the motion went straight on",
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
    """"straight": the motion went straight on; "open": its continuation is not certain; "corner": a row jumps."""


class Degenerate(NamedTuple):
    """A state at which constraints turn without bound: when, which, and radians per radian of the machine."""

    time: float
    constraints: tuple[str, ...]
    turning: float


class Looks(NamedTuple):
    """States of a machine, with their scaled rows."""

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    B: np.ndarray
    """(n, k, nv)"""
    singular: np.ndarray
    """(n, min(k, nv))  singular values of B, falling."""
    off: np.ndarray
    """(n)  largest violation of a position, in lengths of the machine or radians."""
    momentum: np.ndarray
    """(n, nv)  Kᵀv, whose square is twice the kinetic energy."""


class PathWatch:
    """Looks at a motion as it goes on, and finds the singular positions on its way."""

    def __init__(self, system: System) -> None:
        assert system.conditions is not None
        self.system, self.found = system, list[SingularPosition]()
        self.count = 0
        """Singular positions so far, with those that are not kept."""
        self.degenerate: Degenerate | None = None
        self.rank, self.usual = 0, 0.0
        """The largest rank so far; the largest σ so far."""
        self.conditions, self.scales = system.conditions.conditions, system.conditions.scales
        elements = make_tree(system.model).elements
        self.turning = [a for e in elements for a, linear in zip(e.v, e.kind.linear, strict=True) if not linear]
        """The velocities that are rates of turning."""
        self._per = np.full(system.nv, 1 / max(self.scales.units))
        self._per[self.turning] = 1.0
        self.pending: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
        """Times, q and v of the last looks, some of which await what follows."""
        self._examined = self._jumped = -np.inf

    @property
    def state(self) -> np.ndarray:
        """All that the watch carries from look to look, as one row of numbers: `restore` takes it back."""
        looks = np.zeros((0, 0)) if self.pending is None else np.column_stack(self.pending)
        return np.array([self.rank, self.usual, self._examined, self._jumped, self.count, *looks.ravel()])

    def restore(self, state: np.ndarray, found: Sequence[SingularPosition]) -> None:
        """Go on from a state, with the singular positions that were found before it."""
        model, self.found = self.system.model, list(found)
        self.rank, self.count = int(state[0]), int(state[4])
        self.usual, self._examined, self._jumped = map(float, state[1:4])
        looks = state[5:].reshape(-1, 1 + model.nq + model.nv)
        if len(looks):
            self.pending = looks[:, 0], looks[:, 1 : 1 + model.nq], looks[:, 1 + model.nq :]

    def pace(self, v: np.ndarray) -> np.ndarray:
        """The largest of velocities (n, nv), in radians or lengths of the machine per second."""
        return np.max(abs(v) * self._per, axis=1, initial=0.0)

    def restart(self) -> None:
        """Begin a new path, after a reset of the motion."""
        self.close()
        self.pending = None

    def close(self) -> None:
        """Examine the looks whose followers were awaited: none will come."""
        if self.pending is not None:
            self.see(*self.pending, last=True)

    def see(self, t: np.ndarray, q: np.ndarray, v: np.ndarray, last: bool = False) -> None:
        """Go on along the path to some states; last: no state follows."""
        k, nv = len(self.scales.sizes), self.system.nv
        most = max(BLOCK // (8 * (nv * nv + 2 * k * nv + k * k)), KEPT)
        for i in range(0, len(t), most):
            self._see(t[i : i + most], q[i : i + most], v[i : i + most], last and i + most >= len(t))

    def _see(self, t: np.ndarray, q: np.ndarray, v: np.ndarray, last: bool) -> None:
        if self.pending is not None:
            new = t > self.pending[0][-1]
            t, q, v = (np.concatenate([a, b[new]]) for a, b in zip(self.pending, (t, q, v), strict=True))
        try:
            at = self.looks(t, q, v)
        except np.linalg.LinAlgError:  # of a state beyond all bounds: the run ends by itself
            return
        t = at.t
        if not len(t) or self.degenerate:
            return
        self.pending = at.t[-KEPT:], at.q[-KEPT:], at.v[-KEPT:]
        tolerance = np.maximum(10 * at.off, self.system.rank_tolerance)
        self.rank = max(self.rank, int(np.max(rank_of(at.singular, np.minimum(tolerance, SINGULAR)))))
        if not self.rank:
            return
        sigma = at.singular[:, self.rank - 1]
        usual = np.maximum(np.maximum.accumulate(np.append(sigma[1:], sigma[-1])), max(self.usual, sigma[0]))
        self._jumps(at)
        for i in self._lowest(at, sigma / np.maximum(usual, TINY), last):
            if not self._is_settled:
                self._examine(at, usual[i], i)
        self.usual = float(usual[-1])
        if last or len(t) > 2:
            self._examined = max(self._examined, float(t[-1 if last else -3]))

    def looks(self, t: np.ndarray, q: np.ndarray, v: np.ndarray) -> Looks:
        """The scaled rows at those of some states that are finite, and whose rows are."""
        system, sizes = self.system, np.array(self.scales.sizes)
        A, M = system.constraint_rows(q, v, t=t).A, system.mass_matrix(q)
        good = np.isfinite(v).all(axis=1) & np.isfinite(A).all(axis=(1, 2)) & np.isfinite(M).all(axis=(1, 2))
        t, q, v, A, M = t[good], q[good], v[good], A[good], M[good]
        K = metric_factor(M, *((A, sizes) if self.scales.light else ()))
        B = scaled_rows(A, K, sizes)
        kept = np.any(B != 0, axis=(0, 2))
        values = np.linalg.svd(B[:, kept], compute_uv=False)
        singular = np.zeros((len(t), min(B.shape[1:])))
        singular[:, : values.shape[1]] = values
        phi = system.constraint_residuals(q, v, t=t).positions
        off = np.max(abs(phi) / np.array(self.scales.units)[: phi.shape[1]], axis=1, initial=0.0)
        return Looks(t, q, v, B, singular, off, np.einsum("nij,ni->nj", K, v))

    def _between(self, at: Looks, t: np.ndarray) -> Looks:
        """The path at times between looks, by cubics."""
        i = np.clip(np.searchsorted(at.t, t, "right") - 1, 0, len(at.t) - 2)
        first = slice(int(i[0]), int(i[-1]) + 2)
        rate = self.system.rate(at.q[first], at.v[first])
        h, j = (at.t[i + 1] - at.t[i])[:, None], i - i[0]
        x = (t - at.t[i])[:, None] / h
        q = (1 - x) ** 2 * ((1 + 2 * x) * at.q[i] + x * h * rate[j])
        q += x**2 * ((3 - 2 * x) * at.q[i + 1] + (x - 1) * h * rate[j + 1])
        for part in quaternion_slices(self.system.model):
            q[:, part] /= np.linalg.norm(q[:, part], axis=1, keepdims=True)
        return self.looks(t, q, (1 - x) * at.v[i] + x * at.v[i + 1])

    # where rank is lost

    def _lowest(self, at: Looks, ratio: np.ndarray, last: bool) -> list[int]:
        """Looks near which σ, in parts of its largest so far, may reach zero."""
        n, t = len(at.t), at.t
        reach, lowest = np.zeros(n), np.ones(n, dtype=bool)
        slope = np.diff(ratio) / np.diff(t)
        if n > 2:  # how far σ may fall on from each look, along the line of its neighbours
            reach[1:-1] = np.maximum(-slope[:-1] * np.diff(t)[1:], slope[1:] * np.diff(t)[:-1])
        lowest[1:] &= slope <= 0
        lowest[:-1] &= slope >= 0
        chosen = lowest & (ratio <= 1.5 * np.maximum(reach, 0.0) + _limit(at.off)) & (t > self._examined)
        if not last:  # until it is known what follows
            chosen[-2:] = False
        return np.flatnonzero(chosen).tolist()

    def _examine(self, at: Looks, usual: float, i: int) -> None:
        """Locate the lowest σ around a look, and keep it where it is singular."""
        best = self._located(at, usual, i)
        ratio, limit = (
            float(best.singular[0, self.rank - 1]) / usual,
            float(np.max(_limit(at.off[max(i - 1, 0) : i + 2]))),
        )
        if ratio > limit:
            return
        time = float(best.t[0])
        before = self.found[-1].time if self.found else -np.inf
        apart = at.singular[(at.t > before) & (at.t < time), self.rank - 1]
        if before > at.t[0] and not np.any(apart > SUSPECT * usual):
            return  # the same passage
        lost, u = self._lost(best, limit * usual)
        kind = "straight" if self._is_straight(at, best, u) else "open"
        self._keep(SingularPosition(time, ratio, lost, kind))

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

    def _located(self, at: Looks, usual: float, i: int) -> Looks:
        """The state with the lowest σ between the neighbours of a look."""
        best = Looks(*(part[i : i + 1] for part in at))
        low, high = (float(at.t[j]) for j in (max(i - 1, 0), min(i + 1, len(at.t) - 1)))
        for _ in range(ROUNDS):
            inner = self._between(at, np.linspace(low, high, INNER))
            if len(inner.t) < INNER:
                break
            values = inner.singular[:, self.rank - 1]
            k = int(np.argmin(values))
            if values[k] < best.singular[0, self.rank - 1]:
                best = Looks(*(part[k : k + 1] for part in inner))
            around = max(k - 1, 0), min(k + 1, INNER - 1)
            low, high = (float(inner.t[j]) for j in around)
            if values[k] > 3 * (max(values[j] for j in around) - values[k]) + SUSPECT * usual:
                break
        return best

    def _lost(self, best: Looks, small: float) -> tuple[tuple[str, ...], np.ndarray]:
        """Names of the rows that become dependent, and their null vectors u (k, m)."""
        U, s, _ = np.linalg.svd(best.B[0])
        kept = int(np.sum(s[: self.rank] > 2 * max(small, s[self.rank - 1])))
        u = U[:, kept : self.rank]
        return self._named(np.linalg.norm(u, axis=1) > TAKING_PART), u

    def _is_straight(self, at: Looks, best: Looks, u: np.ndarray) -> bool:
        """Whether the motion went straight on through a singular position."""
        phi = self.system.constraint_residuals(best.q, best.v, t=best.t).positions[0]
        off = np.zeros(len(u))
        off[: len(phi)] = phi / np.array(self.scales.units)[: len(phi)]
        before, after = (np.flatnonzero(side)[order] for side, order in (
            (at.t < best.t[0], slice(-2, None)), (at.t > best.t[0], slice(1, None, -1))
        ))  # fmt: skip
        if len(before) < 2 or len(after) < 2:
            return False
        ends = []
        for far, near in (before, after):
            slope = (at.momentum[near] - at.momentum[far]) / (at.t[near] - at.t[far])
            ends.append(at.momentum[near] + slope * (best.t[0] - at.t[near]))
        size = max(np.linalg.norm(end) for end in ends)
        around = slice(before[0], after[0] + 1)
        angle = float(np.max(self.pace(at.v[around])) * np.max(np.diff(at.t[around])))
        if angle > 1:  # these looks are too far apart to tell
            return False
        through = np.linalg.norm(u.T @ off) <= FULFILLED + (angle**4 / 384) ** 2
        return bool(through and np.linalg.norm(ends[1] - ends[0]) <= max(STRAIGHT, BEND * angle**2) * size)

    def lost(self, t: np.ndarray, q: np.ndarray, v: np.ndarray) -> SingularPosition | None:
        """The state among some that is nearly singular, if one is."""
        at = self.looks(t, q, v)
        if not self.rank or not len(at.t):
            return None
        sigma = at.singular[:, self.rank - 1]
        i = int(np.argmin(sigma))
        if sigma[i] > SUSPECT / 2 * self.usual:
            return None
        rows, _ = self._lost(Looks(*(part[i : i + 1] for part in at)), SINGULAR * self.usual)
        return SingularPosition(float(at.t[i]), float(sigma[i]) / self.usual, rows, "open")

    # where rows jump, or turn without bound

    def _jumps(self, at: Looks) -> None:
        """Find rows that jump between looks."""
        if len(at.t) < 2:
            return
        size = np.maximum(np.max(np.linalg.norm(at.B, axis=2), axis=0), SUSPECT)
        part = np.max(np.linalg.norm(np.diff(at.B, axis=0), axis=2) / size, axis=1)
        angle = np.maximum(self.pace(at.v)[1:], self.pace(at.v)[:-1]) * np.diff(at.t)
        jumps = (part > CORNER) & (part > 4 * angle) & (at.t[1:] > self._jumped)
        for i in np.flatnonzero(jumps)[:JUMPS]:
            self._jump(at, int(i))
            if self.degenerate:
                return
        self._jumped = float(at.t[-1])

    def _jump(self, at: Looks, i: int) -> None:
        """Narrow an interval down to the jump of a row."""
        low, high = float(at.t[i]), float(at.t[i + 1])
        narrow, rows = 1e-6 * (high - low), np.zeros(1)
        for _ in range(ROUNDS - 2):
            inner = self._between(at, np.linspace(low, high, INNER))
            if len(inner.t) < INNER:
                return
            changes = np.linalg.norm(np.diff(inner.B, axis=0), axis=2)
            k = int(np.argmax(np.max(changes, axis=1)))
            low, high, rows = float(inner.t[k]), float(inner.t[k + 1]), changes[k]
        aside = self._between(at, np.array([max(low - 10 * narrow, float(at.t[i]))]))
        if not len(aside.t):
            return
        turned = max(narrow * float(self.pace(aside.v)[0]), LEAST_TURN) / 10
        if self.is_degenerate(aside.t[0], aside.q[0], aside.v[0], turned) or np.max(rows) <= CORNER / 2:
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
        B = self.looks(np.full(n + 1, t), near, np.tile(v, (n + 1, 1))).B
        if len(B) <= n:
            return False
        turning = np.max(np.linalg.norm(B[1:] - B[0], axis=2), axis=0) / turned
        if np.max(turning) > ENDLESS:
            owners = [c.name for c in ordered(self.conditions) for _ in c.rows]
            names = dict.fromkeys(name for name, x in zip(owners, turning, strict=True) if x > ENDLESS)
            self.degenerate = Degenerate(float(t), tuple(names), float(np.max(turning)))
        return self.degenerate is not None


def text_of(found: Sequence[SingularPosition]) -> str:
    """Singular positions as a JSON list; times and ratios with the digits that interpolation gives."""
    rounded = [x._replace(time=float(f"{x.time:.7g}"), ratio=float(f"{x.ratio:.1g}")) for x in found]
    return json.dumps([x._replace(ratio=x.ratio if x.ratio >= LEAST else 0.0)._asdict() for x in rounded])


def read(text: str) -> list[SingularPosition]:
    """The singular positions of a JSON list."""
    return [SingularPosition(x["time"], x["ratio"], tuple(x["rows"]), x["kind"]) for x in json.loads(text)]


def position_checks(found: Sequence[SingularPosition], count: int) -> list[Check]:
    """The line of the grade about singular positions: loose where the motion did not go straight on for certain."""
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
