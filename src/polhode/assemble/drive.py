"""A run from its start to its end: rows in blocks, samples, events and faults.

Compiled code fills blocks of rows; between blocks Python looks at the clock, at events and at its user.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from polhode.assemble import rows
from polhode.assemble.engine import Engine
from polhode.assemble.inputs import Sampled
from polhode.errors import InputError, message

BLOCK_SECONDS = 0.2
"""How long compiled code may run before the clock is looked at."""

MOST_ROWS = 4096
"""Rows of one block."""

HALVINGS = 60
"""Of a step, to find an event in it."""


@dataclass(frozen=True)
class Event:
    """Something to watch for: the zero of a function of (t, q, v).

    function   on generic scalars, as polhode.sin; a number
    direction  1: only where it grows, −1: only where it falls, 0: both
    terminal   whether the run ends there
    reset      (t, q, v) -> (q, v) after it, on arrays; None: the motion goes on as it is
    """

    name: str
    function: Callable[..., Any]
    direction: int = 0
    terminal: bool = False
    reset: Callable[..., Any] | None = None

    def __post_init__(self) -> None:
        """Check the direction."""
        if self.direction not in (-1, 0, 1):
            raise InputError(message(f"event '{self.name}'", "no such direction", repr(self.direction), "-1, 0 or 1"))


@dataclass
class Ending:
    """How a run ended, and what it counted."""

    status: str = "finished"
    reason: str = ""
    taken: int = 0
    refused: int = 0
    smallest: float = np.inf
    largest: float = 0.0
    events: list[tuple[float, str]] = field(default_factory=list)


class Samples(NamedTuple):
    """A block of samples: times (n,), q (n, nq), v (n, nv), and the steps that led there (n,)."""

    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    step_size: np.ndarray
    level: np.ndarray | None = None
    """Forces that a sampled controller held (n, nv)."""


@dataclass
class Position:
    """Where a run stands: what a checkpoint needs to go on from here, to the last bit."""

    t: float
    q: np.ndarray
    v: np.ndarray
    row: np.ndarray | None = None
    """None: at the start of a segment."""
    sample: int = 0
    """The number of the last sample given away."""
    segment: int = 0
    level: np.ndarray | None = None
    """Forces that a sampled controller holds."""


class Segment(NamedTuple):
    """A stretch of a run without a break: from one time to another, with steps of one size (or smaller)."""

    begin: float
    end: float
    h: float
    samples: np.ndarray
    """The times of the samples in it, those at its begin left out."""
    counts: np.ndarray
    """Equal steps: how many lead to each sample, and to the end (last)."""


class Drive:
    """One run: iterate over it for blocks of samples; `ending` then says how it ended."""

    def __init__(self, engine: Engine, segments: list[Segment], tolerance: float, events: tuple[Event, ...]) -> None:
        self.engine, self.segments, self.tolerance, self.events = engine, segments, tolerance, events
        self.ending = Ending()
        self.position = Position(0.0, np.zeros(0), np.zeros(0))
        self._rate = 0.0  # rows a second

    def __iter__(self) -> Iterator[Samples]:
        """Blocks of samples from the position on; a new run begins with its start."""
        at = self.position
        if not at.sample and not at.segment and at.row is None:
            if isinstance(self.engine.plan.tau, Sampled):
                self._enter(self.segments[0])
            yield self._samples(np.array([at.t]), at.q[None], at.v[None], np.array([np.nan]))
        while at.segment < len(self.segments) and self.ending.status == "finished":
            segment = self.segments[at.segment]
            if at.row is None:
                self._enter(segment)
            yield from self._equal(segment) if self.engine.plan.fixed else self._controlled(segment)
            if self.ending.status == "finished":
                at.segment, at.row, at.t = at.segment + 1, None, segment.end

    def _enter(self, segment: Segment) -> None:
        """Ask a sampled controller for its forces, and make the first row."""
        at, tau = self.position, self.engine.plan.tau
        if isinstance(tau, Sampled):
            found = np.asarray(tau.function(segment.begin, at.q.copy(), at.v.copy()), dtype=float)
            if found.shape != (self.engine.model.nv,) or not np.all(np.isfinite(found)):
                where, expected = f"controller at t = {segment.begin:g}", f"{self.engine.model.nv} finite numbers"
                raise InputError(message(where, "wrong result", repr(found)[:80], expected))
            at.level = found
        at.row = self._new_row(segment, at.t, at.q, at.v)

    def _new_row(self, segment: Segment, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The first row of a run from a state; what was counted goes on."""
        engine, level = self.engine, self.position.level
        if engine.plan.fixed:
            return engine.start(t, q, v, segment.h, level)
        h = engine.first_step(t, q, v, self.tolerance, level)
        row = engine.start(t, q, v, min(h, segment.h), level)
        for name in ("taken", "refused", "smallest", "largest"):
            if getattr(self.ending, name) not in (np.inf,):
                engine.field(row[None], name)[:] = getattr(self.ending, name)
        return row

    # blocks of rows

    def _block(self, left: int) -> int:
        """How many rows to ask for: as many as the clock allows."""
        return max(1, min(left, MOST_ROWS, int(self._rate * BLOCK_SECONDS)))

    def _run(self, table: np.ndarray, settings: list[Any]) -> np.ndarray | None:
        begin = time.perf_counter()
        found = self.engine.run(table, settings, self.position.level)
        self._rate = (len(table) - 1) / max(time.perf_counter() - begin, 1e-6)
        return found

    def _controlled(self, segment: Segment) -> Iterator[Samples]:
        """Steps under control of their error, samples by dense output."""
        at, engine, nq = self.position, self.engine, self.engine.model.nq
        done = (
            0 if at.t == segment.begin else int(np.searchsorted(segment.samples, self._last_sample(segment), "right"))
        )
        while done < len(segment.samples) or at.t < segment.end:
            targets = segment.samples[done : done + self._block(len(segment.samples) - done)]
            targets = targets if len(targets) else np.array([segment.end])
            table = np.empty((len(targets) + 1, engine.width))
            table[0] = at.row
            states = self._run(table, [targets, self.tolerance, segment.end])
            assert states is not None
            t, status = engine.field(table, "t")[1:], engine.field(table, "status")[1:]
            short = np.flatnonzero((status != rows.GOING) | (t < targets))
            good = int(short[0]) if len(short) else len(targets)
            at.row = table[min(good + 1, len(targets))].copy()
            self._note()
            kept = min(good, len(segment.samples) - done)
            yield from self._given(
                targets[:kept], states[:kept, :nq], states[:kept, nq:], engine.field(table, "h0")[1:]
            )
            done += kept
            if good < len(targets) and status[good] == rows.EVENT:
                before = self.position.sample
                yield from self._at_events(segment, segment.samples[done:])
                done += self.position.sample - before
            elif good < len(targets) and status[good] != rows.GOING:
                self._fail(float(status[good]))
            if self.ending.status != "finished":
                return

    def _last_sample(self, segment: Segment) -> float:
        """The time up to which samples of a segment were given away before it was interrupted."""
        given = self.position.sample - sum(len(s.samples) for s in self.segments[: self.position.segment])
        return float(segment.samples[given - 1]) if given > 0 else segment.begin

    def _equal(self, segment: Segment) -> Iterator[Samples]:
        """Equal steps, samples at the end of some of them."""
        at, engine = self.position, self.engine
        assert at.row is not None
        while (taken := float(engine.field(at.row, "taken"))) < segment.counts[-1]:
            first = int(np.searchsorted(segment.counts, taken, "right"))
            goals = segment.counts[first : first + self._block(len(segment.counts) - first)]
            table = np.empty((len(goals) + 1, engine.width))
            table[0] = at.row
            self._run(table, [np.diff(goals, prepend=taken), segment.h, segment.begin])
            status = engine.field(table, "status")[1:]
            short = np.flatnonzero(status != rows.GOING)
            good = int(short[0]) if len(short) else len(goals)
            at.row = table[min(good + 1, len(goals))].copy()
            self._note(segment)
            kept = min(good, len(segment.samples) - first)
            q, v = engine.field(table, "q")[1 : kept + 1], engine.field(table, "v")[1 : kept + 1]
            yield from self._given(segment.samples[first : first + kept], q, v, np.full(kept, segment.h))
            if good < len(goals) and status[good] == rows.EVENT:
                yield from self._at_events(segment, np.zeros(0))
                taken = float(engine.field(at.row, "taken"))
                if taken in segment.counts[: len(segment.samples)] and self.ending.status == "finished":
                    yield from self._given(np.array([at.t]), at.q[None], at.v[None], np.array([segment.h]))
            elif good < len(goals):
                self._fail(float(status[good]))
            if self.ending.status != "finished":
                return

    def _given(self, times: np.ndarray, q: np.ndarray, v: np.ndarray, sizes: np.ndarray) -> Iterator[Samples]:
        if len(times):
            self.position.sample += len(times)
            yield self._samples(times, q, v, sizes[: len(times)])

    def _samples(self, times: np.ndarray, q: np.ndarray, v: np.ndarray, sizes: np.ndarray) -> Samples:
        level = self.position.level
        held = None if level is None else np.tile(level, (len(times), 1))
        return Samples(np.array(times), q.copy(), v.copy(), np.array(sizes), held)

    def _note(self, segment: Segment | None = None) -> None:
        """Read time, state and counts off the row."""
        at, engine, ending = self.position, self.engine, self.ending
        assert at.row is not None
        at.q, at.v = engine.field(at.row, "q").copy(), engine.field(at.row, "v").copy()
        if segment:
            taken = int(engine.field(at.row, "taken"))
            at.t = segment.end if taken == segment.counts[-1] else segment.begin + taken * segment.h
            ending.taken = taken + sum(int(s.counts[-1]) for s in self.segments[: at.segment])
            ending.smallest, ending.largest = min(ending.smallest, segment.h), max(ending.largest, segment.h)
            return
        at.t = float(engine.field(at.row, "t"))
        ending.taken, ending.refused = (int(engine.field(at.row, name)) for name in ("taken", "refused"))
        ending.smallest, ending.largest = (float(engine.field(at.row, name)) for name in ("smallest", "largest"))

    # what happens on the way

    def _inside(self, segment: Segment, theta: float) -> np.ndarray:
        at = self.position
        assert at.row is not None
        settings = (segment.h, segment.begin) if self.engine.plan.fixed else ()
        return self.engine.inside(at.row, theta, settings, at.level)

    def _at_events(self, segment: Segment, pending: np.ndarray) -> Iterator[Samples]:
        """All events of the last step, one after the other, and the samples before one that changes the motion."""
        at, nq, nv = self.position, self.engine.model.nq, self.engine.model.nv
        assert at.row is not None
        begin, end = (float(self._inside(segment, theta)[0]) for theta in (0.0, 1.0))
        for theta, k in sorted(self._crossings(segment)):
            event, found = self.events[k], self._inside(segment, theta)
            t, q, v = float(found[0]), found[1 : 1 + nq], found[1 + nq : 1 + nq + nv]
            self.ending.events.append((t, event.name))
            if not event.terminal and not event.reset:
                continue
            for sample in pending[(pending > begin) & (pending < t)]:
                state = self._inside(segment, (sample - begin) / (end - begin))[1 : 1 + nq + nv]
                yield from self._given(np.array([sample]), state[None, :nq], state[None, nq:], np.array([end - begin]))
            if event.terminal:
                self.ending.status, self.ending.reason = "stopped", f"event '{event.name}' at t = {t:.6g}"
                at.t, at.q, at.v = t, q, v
                yield self._samples(np.array([t]), q[None], v[None], np.array([t - begin]))
            else:
                self._reset(segment, event, t, q, v, theta)
            return
        self.engine.field(at.row[None], "status")[:] = rows.GOING

    def _crossings(self, segment: Segment) -> Iterator[tuple[float, int]]:
        """Where in the last step which functions cross zero, by halving it."""
        first = 1 + self.engine.model.nq + self.engine.model.nv
        g0, g1 = self._inside(segment, 0.0)[first:], self._inside(segment, 1.0)[first:]
        for k, event in enumerate(self.events):
            crossing = (rows.Crossing(event.function, event.direction),)
            if not rows.crossed(crossing, g0[k : k + 1].tolist(), g1[k : k + 1].tolist()):
                continue
            low, high = 0.0, 1.0
            for _ in range(HALVINGS):
                middle = (low + high) / 2
                g = self._inside(segment, middle)[first + k]
                low, high = (middle, high) if (g < 0) == (g0[k] < 0) and g != 0 else (low, middle)
            yield high, k

    def _reset(self, segment: Segment, event: Event, t: float, q: np.ndarray, v: np.ndarray, theta: float) -> None:
        """Go on from where an event puts the machine; with equal steps by a shorter one back to their grid."""
        at, engine = self.position, self.engine
        assert event.reset
        assert at.row is not None
        q, v = (np.asarray(x, dtype=float) for x in event.reset(t, q.copy(), v.copy()))
        if q.shape != at.q.shape or v.shape != at.v.shape or not np.all(np.isfinite([*q, *v])):
            expected = f"finite q ({len(at.q)},) and v ({len(at.v)},)"
            raise InputError(message(f"event '{event.name}', reset", "wrong result", f"{q.shape}, {v.shape}", expected))
        at.t, at.q, at.v = t, q, v
        if not engine.plan.fixed:
            at.row = self._new_row(segment, t, q, v)
            return
        taken, rest = float(engine.field(at.row, "taken")), (1 - theta) * segment.h
        if rest > 1e-12 * segment.h:
            table = np.empty((2, engine.width))
            table[0] = engine.start(t, q, v, rest, at.level)
            engine.run(table, [1, rest, t], at.level)
            q, v = engine.field(table[1], "q"), engine.field(table[1], "v")
        at.row = engine.start(segment.begin + taken * segment.h, q, v, segment.h, at.level)
        engine.field(at.row[None], "taken")[:] = taken
        self._note(segment)

    def _fail(self, status: float) -> None:
        """End the run by a fault."""
        at, ending = self.position, self.ending
        ending.status = "failed"
        smallest = f"the step became too small ({rows.SMALLEST:g} of the time): the motion cannot be followed on"
        finite = "the state is no longer finite, or beyond all bounds"
        ending.reason = f"at t = {at.t:.9g}: {smallest if status == rows.TOO_SMALL else finite}"
