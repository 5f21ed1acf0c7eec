"""Blocks of step states of a run under constraints, looked at for singular positions on the way.

The rows of a block are step states at samples. Where the machine turns far from one to the next, or its velocity
changes much, there are looks between them: at the ends of steps and within them, where the motion within steps is
known; else that part is run again with more rows: the steps are the same, since rows do not change them.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from polhode.check.singular_positions import PathWatch, read, text_of
from polhode.scalar import lengths
from polhode.simulation import step_state
from polhode.simulation.compiled_run import CompiledRun
from polhode.simulation.run_records import Ending, Position
from polhode.simulation.within_steps.step_motions import StepMotions
from polhode.simulation.within_steps.step_rows import each_of, followed_steps

FAR = 0.5
"""Radians, or lengths of the machine, between two looks, at most: cubics are then off by FAR⁴/384, about 1e-4."""

STEPS = 100
"""Steps between two looks, at most: many small ones may go far and back."""

SWIFT, STILL = 0.5, 1e-3
"""The change of the velocity between two looks, in parts of it, at most, where they are STILL radians apart."""

FINER, LEVELS = 32, 2
"""Looks within an interval where the velocity changes too much and nothing is known between, and how often an interval
is refined."""

DEPTH = 6
"""How often an interval is divided where the motion within steps is known: into 4 parts or more each time."""

ALLOWED = (4, 2)
"""Looks between rows that each row and each step allow, beside those of `PathWatch.left`, at most. Near a singular
position samples within a step may be far off, and would ask for looks without end."""

MOST_PARTS = 10**6
"""Looks within one interval, at most."""

TINY = 1e-300
"""In the place of 0 in a quotient."""

AT_ONCE, MOST_AT_ONCE = 16, 64
"""Rows that are computed between two looks at whether steps became too many: at first, and while steps are few."""

AHEAD, LOOKS_AHEAD = 3.0, 32
"""Steps ahead of a fault within which a singular position is to blame, and looks at them."""


def _listed(names: Sequence[str]) -> str:
    """The first eight names."""
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return ", ".join(f"'{name}'" for name in names[:8]) + more


class States(NamedTuple):
    """States of a run: times (n,), q (n, nq), v (n, nv)."""

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray

    def part(self, which: Any) -> "States":
        """Some of them: a slice, their numbers, or whether they are."""
        t, q, v = self
        return States(t[which], q[which], v[which])


def _joined(parts: Sequence[States]) -> States:
    t, q, v = zip(*parts, strict=True)
    return States(np.concatenate(t), np.concatenate(q), np.concatenate(v))


class WatchedBlock(NamedTuple):
    """Step states, filled; of controlled steps the samples of table[1:], and the motion within steps where known."""

    table: np.ndarray
    samples: np.ndarray | None
    steps: StepMotions | None = None
    reached: int = 0
    """Samples that were, where the motion within steps is known."""


class OpenLooks(NamedTuple):
    """Looks, and whether each interval that begins at one may be divided."""

    at: States
    is_open: np.ndarray

    def with_more(self, more: States, divided: np.ndarray) -> "OpenLooks":
        """These and others between them; open are those intervals that were divided, by the number of their first."""
        whole = _joined([self.at, more])
        is_open, order = np.ones(len(whole.t), dtype=bool), whole.t.argsort(kind="stable")
        is_open[: len(self.at.t)] = False
        is_open[divided] = True
        return OpenLooks(whole.part(order), is_open[order])


class WatchedPath:
    """The path of a run under constraints, looked at while its blocks of step states are computed."""

    def __init__(self, compiled: CompiledRun, in_full: bool = True) -> None:
        """Watch the steps of a run; in_full: False for a companion, which is only kept from endless steps."""
        self.in_full = in_full
        self.compiled, self.path = compiled, PathWatch(compiled.driven.system, compiled.spec.tau is not None)
        self._last: States | None = None
        self.seen: Callable[[States], None] | None = None
        """Called with all looks, where something else is to be looked for."""
        self.is_recorded = False
        """Whether what the path carries on is put into the records of the run, for a checkpoint."""

    def run(self, table: np.ndarray, settings: Sequence[Any], level: np.ndarray | None) -> np.ndarray | None:
        """Fill the table as `CompiledRun.run` does, and look at it; rows beyond the end of the path say so."""
        block = self._filled(table, settings, level)
        states = block.samples
        with np.errstate(all="ignore"):  # of states beyond all bounds
            looks = self._looked(block, settings, level) if self.in_full else None
        t, status = self._times(table, settings), self.compiled.field(table, "status")
        is_handed_back = states is not None and status[-1] == step_state.GOING and (t[-1] < settings[0]).any()
        if is_handed_back and not self.path.degenerate:  # the first degenerate state is the one to be told
            self.path.is_degenerate(*(x[-1] for x in self._states(table[-1:], settings)))
        if self.path.end < np.inf:
            self._end(table, settings, looks)
        return states

    def _looked(self, block: "WatchedBlock", settings: Sequence[Any], level: np.ndarray | None) -> States:
        """The looks at a block, which the path has seen."""
        first = self._first(block.table, settings)
        if first is not self._last:
            self.path.restart()
        if block.steps:
            looks = self._looks_at_steps(first, block, settings)
        else:
            looks = self._looks(first, block, settings, level, LEVELS)
        self.path.see(*looks)
        if self.seen:
            self.seen(looks)
        self._last = looks.part(slice(-1, None))
        return looks

    def _end(self, table: np.ndarray, settings: Sequence[Any], looks: States | None) -> None:
        """End a block at its last look before the end of the path."""
        late = np.flatnonzero(self._times(table[1:], settings) > self.path.end)
        rows = table[int(late[0]) + 1 if len(late) else -1 :]
        if looks and len(late):
            i = max(int(np.searchsorted(looks.t, self.path.end)) - 1, 0)
            if self.compiled.spec.fixed:
                self.compiled.field(rows, "accepted")[:] = round((looks.t[i] - settings[2]) / settings[1])
            else:
                self.compiled.field(rows, "t")[:] = looks.t[i]
            for name in ("q", "v"):
                self.compiled.field(rows, name)[:] = getattr(looks, name)[i]
        self.compiled.field(rows, "status")[:] = step_state.DEGENERATE

    def _filled(self, table: np.ndarray, settings: Sequence[Any], level: np.ndarray | None) -> "WatchedBlock":
        """Fill the table some rows at a time, up to one that is handed back before its time."""
        compiled, n, found, i, count = self.compiled, len(table) - 1, list[np.ndarray](), 0, AT_ONCE
        if compiled.has_motions:
            return self._filled_by_steps(table, settings, level)
        settings = [np.asarray(x, dtype=float) for x in settings]
        while i < n:
            part = table[i : i + count + 1]
            given = [x[i : i + count] if x.ndim else x for x in settings]
            states = compiled.run(part, given, level)
            if states is not None:
                found.append(states)
            if not compiled.spec.fixed and compiled.field(part[-1], "t") < (
                given[0][-1] if given[0].ndim else given[0]
            ):
                table[i + len(part) :] = part[-1]
                if states is not None:
                    found.append(np.full((n - i - len(states), states.shape[1]), np.nan))
                break
            few = compiled.field(part[-1], "accepted") - compiled.field(part[0], "accepted") <= count
            i, count = i + count, min(2 * count, MOST_AT_ONCE) if few else AT_ONCE
        return WatchedBlock(table, np.concatenate(found) if found else None)

    def _filled_by_steps(self, table: np.ndarray, settings: Sequence[Any], level: np.ndarray | None) -> "WatchedBlock":
        """Fill the table, and keep the motion within all steps on the way."""
        compiled, targets = self.compiled, each_of(settings[0], len(table) - 1)
        rows = followed_steps(compiled, table, settings, level)
        steps = compiled.motions(rows, settings[1], level)
        new = table[1:]
        late = (compiled.field(new, "t") < targets) | (compiled.field(new, "status") != step_state.GOING)
        good = int(late.argmax()) if late.any() else len(targets)
        samples = steps.at(steps.of(targets[:good]), targets[:good])
        if good < len(targets):
            samples = np.concatenate([samples, np.full((len(targets) - good, samples.shape[1]), np.nan)])
        return WatchedBlock(table, samples, steps, good)

    def restore(self, position: Position, ending: Ending) -> None:
        """Go on from the records of a run that is resumed."""
        if position.watch is not None:
            self.path.restore(position.watch, read(ending.singular))
            self._last = States(*(part[-1:] for part in self.path.pending)) if self.path.pending else None

    def write_records(self, position: Position, ending: Ending) -> None:
        """Put what was found into the records of the run."""
        if self.is_recorded:
            position.watch = self.path.state
        if self.path.count != ending.singular_count:
            ending.singular, ending.singular_count = text_of(self.path.found), self.path.count
        ending.unseen = self.path.unseen

    def blame(self, at: Position, h: float) -> str:
        """Which constraints are singular at a state or within some steps h ahead of it; "" if none."""
        if jumps := [x for x in self.path.found if x.kind == "lost"]:
            fix = " (take a step of another size)" if self.compiled.spec.fixed else ""
            where = f"a singular position of the constraints, t = {jumps[0].time:.6g}, where {_listed(jumps[0].rows)}"
            return f"the energy jumped at {where} lose rank{fix}"
        if found := self.path.degenerate:
            rolls = any(c.kind.normal_row for c in self.compiled.model.constraints if c.name in found.constraints)
            what = "what rolls has fallen flat there, and its point of contact runs away" if rolls else "it degenerates"
            turning = f"its rows turn by {found.turning:.1g} rad per radian of the machine"
            return f"constraint {_listed(found.constraints)}: {what} ({turning}); the motion cannot be followed on"
        ahead = np.linspace(0.0, AHEAD * h, LOOKS_AHEAD)
        q = self.path.system.integrate(np.tile(at.q, (LOOKS_AHEAD, 1)), ahead[:, None] * at.v)
        lost = self.path.lost(at.t + ahead, q, np.tile(at.v, (LOOKS_AHEAD, 1)))
        if not lost:
            return ""
        policy = self.compiled.spec.policy.keeping
        fix = "" if policy == "project" else f"; constraints='{policy}' cannot pass it, constraints='project' can"
        return (
            f"a singular position of the constraints lies ahead, near t = {lost.time:.6g}: {_listed(lost.rows)} lose "
            f"rank (smallest singular value {lost.ratio:.1g} of its largest so far){fix}"
        )

    def _first(self, table: np.ndarray, settings: Sequence[Any]) -> States:
        """Where the first interval of a block begins: at the last look, unless the motion was reset since then."""
        begin = self._states(table[:1], settings)
        if self._last is None:
            return begin
        t = self._last.t[0]
        if self.compiled.spec.fixed:
            return self._last if t == begin.t[0] and np.array_equal(self._last.q, begin.q) else begin
        return self._last if self.compiled.field(table[0], "t0") <= t <= begin.t[0] else begin

    def _times(self, table: np.ndarray, settings: Sequence[Any]) -> np.ndarray:
        """The times of step states."""
        if not self.compiled.spec.fixed:
            return self.compiled.field(table, "t")
        _, h, origin = settings
        return origin + self.compiled.field(table, "accepted") * h

    def _states(self, table: np.ndarray, settings: Sequence[Any]) -> States:
        """The states of step states."""
        q, v = self.compiled.field(table, "q"), self.compiled.field(table, "v")
        return States(self._times(table, settings), q.copy(), v.copy())

    def _looks_at_steps(self, first: States, block: WatchedBlock, settings: Sequence[Any]) -> States:
        """The looks from the first on, close enough to each other; the motion within all steps is known."""
        (table, samples, steps, n), model = block, self.compiled.model
        assert steps
        assert samples is not None
        targets = each_of(settings[0], len(samples))[:n]
        found = [first, States(targets, samples[:n, : model.nq], samples[:n, model.nq : model.nq + model.nv])]
        if n < len(samples) and self.compiled.field(table[-1], "status") == step_state.GOING:  # handed back
            found.append(self._states(table[-1:], settings))
        at = _joined(found)
        later = at.t[1:] > at.t[:-1]
        if not later.all():
            new = np.diff(at.t, prepend=-np.inf) > 0
            at = at.part(new)
        passed = steps.ends.searchsorted(at.t)
        ends = passed[1:] - passed[:-1]
        allowed = ALLOWED[0] + ALLOWED[1] * ends
        before = self.path.left, self.path.unseen
        looks = self._divided(at, steps)
        if self.path.unseen == before[1]:
            self.path.left += int(allowed.sum())
            return looks
        self.path.left, self.path.unseen = before  # too few are left: one interval after the other
        looks_of = [at.part(slice(1))]
        for j in range(len(ends)):
            self.path.left += int(allowed[j])
            looks_of.append(self._divided(at.part(slice(j, j + 2)), steps).part(slice(1, None)))
        return _joined(looks_of)

    def _divided(self, at: States, steps: StepMotions) -> States:
        """Looks, and those between them that they need: at the ends of steps, then within steps."""
        looks = self._with_ends(OpenLooks(at, np.ones(len(at.t), dtype=bool)), steps)
        for most in (0.5, *[1.0] * (DEPTH - 1)):  # what is divided is divided into halves of what would do
            wide, parts = self._wide(looks, steps, most)
            if not len(wide):
                break
            looks = self._with_inner(looks, steps, wide, parts)
        return looks.at

    def _wide(self, looks: OpenLooks, steps: StepMotions, most: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
        """Which open intervals are to be divided, being longer than so much of what would do; into how many parts."""
        at, (which,) = looks.at, looks.is_open[:-1].nonzero()
        if len(which) < len(at.t) - 1:
            both = which.repeat(2)
            both[1::2] += 1
            at = at.part(both)
        passed = steps.ends.searchsorted(at.t)
        parts = self._measure(at, passed[1:] - passed[:-1])
        parts = parts if at is looks.at else parts[::2]
        wide = parts > most
        return which[wide], np.ceil(2 * np.minimum(parts[wide], MOST_PARTS)).astype(int)

    def _with_ends(self, looks: OpenLooks, steps: StepMotions) -> OpenLooks:
        """Looks, with ends of steps within intervals that are to be divided: as many as their parts are, about."""
        wide, _ = self._wide(looks, steps)
        if not len(wide):
            return OpenLooks(looks.at, np.zeros_like(looks.is_open))
        field = self.compiled.field
        ends = States(steps.ends, field(steps.rows, "q"), field(steps.rows, "v"))
        parts = self._measure(ends, np.ones(len(ends.t) - 1))
        divided: list[int] = []
        chosen = [np.zeros(0, dtype=int)]
        low, high = ends.t.searchsorted(looks.at.t, "right"), ends.t.searchsorted(looks.at.t)
        for j in wide.tolist():
            first, last = max(int(low[j]), 1), int(high[j + 1])
            passed = np.floor(np.add.accumulate(4 * parts[first - 1 : max(last, first) - 1]))
            new = passed > 0
            new[1:] = passed[1:] > passed[:-1]
            inner = first + new.nonzero()[0]
            if not len(inner) or self._may_look(len(inner) + 1):
                divided.append(j)
                chosen.append(inner)
        return looks.with_more(ends.part(np.concatenate(chosen)), np.array(divided, dtype=int))

    def _with_inner(self, looks: OpenLooks, steps: StepMotions, wide: np.ndarray, parts: np.ndarray) -> OpenLooks:
        """Looks, with others within wide intervals, divided into so many parts."""
        t, may = looks.at.t, np.array([self._may_look(n) for n in parts.tolist()])
        wide, parts = wide[may], parts[may]
        inner = parts - 1
        first, which = inner.cumsum() - inner, np.arange(len(wide)).repeat(inner)
        part = (np.arange(len(which)) - first[which] + 1) / parts[which]
        begin = t[wide]
        times = begin[which] + part * (t[wide + 1] - begin)[which]
        states, nq, n = steps.at(steps.of(times), times), self.compiled.model.nq, self.compiled.model.nv
        return looks.with_more(States(times, states[:, :nq], states[:, nq : nq + n]), wide)

    def _looks(
        self, first: States, block: WatchedBlock, settings: Sequence[Any], level: np.ndarray | None, levels: int
    ) -> States:
        """The looks from the first on, close enough to each other; parts of the run are run again for them."""
        compiled, nq, (table, samples, *_) = self.compiled, self.compiled.model.nq, block
        going = compiled.field(table[1:], "status") == step_state.GOING
        if samples is None:
            rows = self._states(table[1:], settings)
            n = int(np.argmin(going)) if not np.all(going) else len(going)
        else:
            times, targets = compiled.field(table[1:], "t"), np.array(np.broadcast_to(settings[0], len(samples)))
            rows, there = States(targets, samples[:, :nq], samples[:, nq : nq + compiled.model.nv]), times >= targets
            n = int(np.argmin(going & there)) if not np.all(going & there) else len(going)
            if n < len(going) and going[n]:  # handed back
                rows = _joined([rows.part(slice(n)), self._states(table[n + 1 : n + 2], settings)])
                n += 1
        at = _joined([first, rows.part(slice(n))])
        steps = np.diff(compiled.field(table[: n + 1], "accepted"))
        parts = self._parts(at, steps) if levels else np.ones(n)
        found: list[States] = []
        begin = allowed = 0
        for j in np.flatnonzero(parts > 1).tolist():
            if levels == LEVELS:
                self.path.left += ALLOWED[0] * (j + 1 - allowed) + ALLOWED[1] * int(np.sum(steps[allowed : j + 1]))
                allowed = j + 1
            count = int(min(parts[j], steps[j]) if compiled.spec.fixed else parts[j])
            if not self._may_look(count):
                continue
            found.append(at.part(slice(begin, j + 1)))
            low, high = (0.0, steps[j]) if samples is None else at.t[j : j + 2]
            ends, here = np.linspace(low, high, count + 1), at.part(slice(j, j + 1))
            more = self._looks_between(here, table[j], settings, j, ends, level, levels - 1)
            found.append(more.part(slice(1, None)))
            begin = j + 2
        if levels == LEVELS:
            self.path.left += ALLOWED[0] * (n - allowed) + ALLOWED[1] * int(np.sum(steps[allowed:]))
        at = _joined([*found, at.part(slice(begin, None))])
        new = np.diff(at.t, prepend=-np.inf) > 0
        return at if np.all(new) else at.part(new)

    def _may_look(self, count: int) -> bool:
        """Whether so many looks within an interval may be taken: then they are counted."""
        if count > self.path.left or count < 2:
            self.path.unseen += count > 1
            return False
        self.path.left -= count
        return True

    def _looks_between(
        self,
        first: States,
        row: np.ndarray,
        settings: Sequence[Any],
        j: int,
        ends: np.ndarray,
        level: np.ndarray | None,
        levels: int,
    ) -> States:
        """Looks within an interval between rows, from one on: its steps are taken again, with more rows."""
        compiled = self.compiled
        others = [x if np.ndim(x) == 0 else x[j] for x in settings[1:]]
        finer = [np.diff(np.round(ends)) if compiled.spec.fixed else ends[1:], *others]
        inner = np.empty((len(ends), compiled.width))
        inner[0] = row
        return self._looks(first, WatchedBlock(inner, compiled.run(inner, finer, level)), finer, level, levels)

    def _parts(self, at: States, steps: np.ndarray) -> np.ndarray:
        """Into how many parts the intervals between looks are to be divided."""
        turn, change = self._changes(at)
        parts = np.maximum(turn / FAR, steps / STEPS)
        parts = np.maximum(parts, np.where((turn > STILL) & (change > SWIFT), FINER, 0))
        return np.where(parts > 1, np.ceil(2 * np.minimum(parts, MOST_PARTS)), 1)

    def _measure(self, at: States, steps: np.ndarray) -> np.ndarray:
        """Intervals between looks in parts of what two looks may be apart."""
        turn, change = self._changes(at)
        return np.maximum(np.maximum(turn / FAR, steps / STEPS), np.where(turn > STILL, change / SWIFT, 0.0))

    def _changes(self, at: States) -> tuple[np.ndarray, np.ndarray]:
        """How far the machine turns between looks, radians or lengths; the change of its velocity, in parts of it."""
        rate, size = self.path.pace(at.v), lengths(at.v)
        change = lengths(at.v[1:] - at.v[:-1])
        turn = np.maximum(rate[1:], rate[:-1]) * (at.t[1:] - at.t[:-1])
        return turn, change / np.maximum(np.maximum(size[1:], size[:-1]), TINY)
