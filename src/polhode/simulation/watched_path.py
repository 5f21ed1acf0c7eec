"""Blocks of step states of a run under constraints, looked at for singular positions on the way.

The rows of a block are step states at samples. Where the machine turns far from one to the next, or its velocity
changes much, that part is run again with more rows: the steps are the same, since rows do not change them.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from polhode.check.singular_positions import PathWatch, read, text_of
from polhode.simulation import step_state
from polhode.simulation.compiled_run import CompiledRun
from polhode.simulation.run_records import Ending, Position
from polhode.simulation.step_motions import StepMotions

FAR = 0.5
"""Radians, or lengths of the machine, between two looks, at most: cubics are then off by FAR⁴/384, about 1e-4."""

STEPS = 100
"""Steps between two looks, at most: many small ones may go far and back."""

SWIFT, STILL = 0.5, 1e-3
"""The change of the velocity between two looks, in parts of it, at most, where they are STILL radians apart."""

FINER, LEVELS = 32, 2
"""Looks within an interval where the velocity changes too much, and how often an interval is refined."""

ALLOWED = (4, 2)
"""Looks between rows that each row and each step allow, beside those of `PathWatch.left`, at most. Near a singular
position samples within a step may be far off, and would ask for looks without end."""

MOST_PARTS = 10**6
"""Looks within one interval, at most."""

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

    def part(self, which: slice) -> "States":
        """Some of them."""
        return States(*(array[which] for array in self))


def _joined(parts: Sequence[States]) -> States:
    return States(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


class WatchedBlock(NamedTuple):
    """Step states, filled; of controlled steps the samples of table[1:], and the motion within them where known."""

    table: np.ndarray
    samples: np.ndarray | None
    motions: StepMotions | None = None


class WatchedPath:
    """The path of a run under constraints, looked at while its blocks of step states are computed."""

    def __init__(self, compiled: CompiledRun, in_full: bool = True) -> None:
        """Watch the steps of a run; in_full: False for a companion, which is only kept from endless steps."""
        self.in_full = in_full
        self.compiled, self.path = compiled, PathWatch(compiled.driven.system)
        self._last: States | None = None
        self.seen: Callable[[States], None] | None = None
        """Called with all looks, where something else is to be looked for."""

    def run(self, table: np.ndarray, settings: Sequence[Any], level: np.ndarray | None) -> np.ndarray | None:
        """Fill the table as `CompiledRun.run` does, and look at it; rows beyond a degenerate state say so."""
        block = self._filled(table, settings, level)
        states = block.samples
        with np.errstate(all="ignore"):  # of states beyond all bounds
            looks = self._looked(block, settings, level) if self.in_full else None
        t, status = self._times(table, settings), self.compiled.field(table, "status")
        if states is not None and status[-1] == step_state.GOING and t[-1] < np.max(settings[0]):  # handed back
            self.path.is_degenerate(*(x[-1] for x in self._states(table[-1:], settings)))
        if self.path.degenerate:
            self._end(table, settings, looks)
        return states

    def _looked(self, block: "WatchedBlock", settings: Sequence[Any], level: np.ndarray | None) -> States:
        """The looks at a block, which the path has seen."""
        first = self._first(block.table, settings)
        if first is not self._last:
            self.path.restart()
        looks = self._looks(first, block, settings, level, LEVELS)
        self.path.see(*looks)
        if self.seen:
            self.seen(looks)
        self._last = looks.part(slice(-1, None))
        return looks

    def _end(self, table: np.ndarray, settings: Sequence[Any], looks: States | None) -> None:
        """End a block at its last look before a degenerate state."""
        assert self.path.degenerate
        late = np.flatnonzero(self._times(table[1:], settings) > self.path.degenerate.time)
        rows = table[int(late[0]) + 1 if len(late) else -1 :]
        if looks and len(late):
            i = max(int(np.searchsorted(looks.t, self.path.degenerate.time)) - 1, 0)
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
        settings = [np.asarray(x, dtype=float) for x in settings]
        while i < n:
            part = table[i : i + count + 1]
            given = [x[i : i + count] if x.ndim else x for x in settings]
            states = None
            if compiled.has_motions:
                compiled.advance(part, given, level)
            else:
                states = compiled.run(part, given, level)
            if states is not None:
                found.append(states)
            if not compiled.spec.fixed and compiled.field(part[-1], "t") < (
                given[0][-1] if given[0].ndim else given[0]
            ):
                table[i + len(part) :] = part[-1]
                if states is not None:
                    found.append(np.full((n - i - len(states), states.shape[1]), np.nan))
                n = i + len(part) - 1
                break
            few = compiled.field(part[-1], "accepted") - compiled.field(part[0], "accepted") <= count
            i, count = i + count, min(2 * count, MOST_AT_ONCE) if few else AT_ONCE
        if compiled.has_motions:
            return self._with_motions(table, settings, level, n)
        return WatchedBlock(table, np.concatenate(found) if found else None)

    def _with_motions(
        self, table: np.ndarray, settings: Sequence[Any], level: np.ndarray | None, n: int | None = None
    ) -> "WatchedBlock":
        """A block of controlled steps with the motion within them, and the samples of its first n rows."""
        motions = self.compiled.motions(table, settings[1], level)
        return WatchedBlock(table, self.compiled.samples_of(motions, table, settings[0], n), motions)

    def restore(self, position: Position, ending: Ending) -> None:
        """Go on from the records of a run that is resumed."""
        if position.watch is not None:
            self.path.restore(position.watch, read(ending.singular))
            self._last = States(*(part[-1:] for part in self.path.pending)) if self.path.pending else None

    def write_records(self, position: Position, ending: Ending) -> None:
        """Put what was found into the records of the run."""
        position.watch = self.path.state
        if self.path.count != ending.singular_count:
            ending.singular, ending.singular_count = text_of(self.path.found), self.path.count
        ending.unseen = self.path.unseen

    def blame(self, at: Position, h: float) -> str:
        """Which constraints are singular at a state or within some steps h ahead of it; "" if none."""
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
        q, v = (self.compiled.field(table, name).copy() for name in ("q", "v"))
        return States(self._times(table, settings), q, v)

    def _looks(
        self, first: States, block: WatchedBlock, settings: Sequence[Any], level: np.ndarray | None, levels: int
    ) -> States:
        """The looks from the first on, close enough to each other."""
        compiled, nq, (table, samples, motions) = self.compiled, self.compiled.model.nq, block
        going = compiled.field(table[1:], "status") == step_state.GOING
        if samples is None:
            rows = self._states(table[1:], settings)
        else:
            targets = np.array(np.broadcast_to(settings[0], len(samples)))
            rows, going = (
                States(targets, samples[:, :nq], samples[:, nq : nq + self.compiled.model.nv]),
                going & (compiled.field(table[1:], "t") >= targets),
            )
        n = int(np.argmin(going)) if not np.all(going) else len(going)
        at = _joined([first, rows.part(slice(n))])
        steps = np.diff(compiled.field(table[: n + 1], "accepted"))
        parts = self._parts(at, steps) if levels else np.ones(n)
        found, begin, allowed = list[States](), 0, 0
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
            if motions and compiled.field(table[j + 1], "t0") <= compiled.field(table[j], "t"):
                more = self._looks_within(here, motions, j, ends[1:], levels - 1)
            else:
                more = self._looks_between(here, table[j], settings, j, ends, level, levels - 1)
            found.append(more.part(slice(1, None)))
            begin = j + 2
        if levels == LEVELS:
            self.path.left += ALLOWED[0] * (n - allowed) + ALLOWED[1] * int(np.sum(steps[allowed:]))
        at = _joined([*found, at.part(slice(begin, None))])
        new = np.diff(at.t, prepend=-np.inf) > 0
        return at if np.all(new) else States(*(array[new] for array in at))

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
        if compiled.has_motions:
            compiled.advance(inner, finer, level)
            return self._looks(first, self._with_motions(inner, finer, level), finer, level, levels)
        return self._looks(first, WatchedBlock(inner, compiled.run(inner, finer, level)), finer, level, levels)

    def _looks_within(self, first: States, motions: StepMotions, j: int, times: np.ndarray, levels: int) -> States:
        """Looks within an interval whose motion is known: it lies in the last steps of two rows, j and the next."""
        nq, n = self.compiled.model.nq, self.compiled.model.nq + self.compiled.model.nv
        states = motions.at(j + (times > motions.ends[j]), times)
        at = _joined([first, States(times, states[:, :nq], states[:, nq:n])])
        parts = self._parts(at, np.zeros(len(times))) if levels else np.ones(len(times))
        found, begin = list[States](), 0
        for i in np.flatnonzero(parts > 1).tolist():
            if self._may_look(int(parts[i])):
                finer = np.linspace(at.t[i], at.t[i + 1], int(parts[i]) + 1)[1:]
                more = self._looks_within(at.part(slice(i, i + 1)), motions, j, finer, levels - 1)
                found += [at.part(slice(begin, i + 1)), more.part(slice(1, None))]
                begin = i + 2
        return _joined([*found, at.part(slice(begin, None))]) if found else at

    def _parts(self, at: States, steps: np.ndarray) -> np.ndarray:
        """Into how many parts the intervals between looks are to be divided."""
        rate, size = self.path.pace(at.v), np.linalg.norm(at.v, axis=1)
        turn = np.maximum(rate[1:], rate[:-1]) * np.diff(at.t)
        parts = np.maximum(turn / FAR, steps / STEPS)
        change = np.linalg.norm(np.diff(at.v, axis=0), axis=1)
        swift = (turn > STILL) & (change > SWIFT * np.maximum(size[1:], size[:-1]))
        parts = np.maximum(parts, np.where(swift, FINER, 0))
        return np.where(parts > 1, np.ceil(2 * np.minimum(parts, MOST_PARTS)), 1)
