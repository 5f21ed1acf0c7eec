"""A run from its start to its end: step states in blocks, samples, events and faults.

Compiled code fills blocks of step states; between blocks Python reads the clock, locates events and checks for Ctrl-C.
"""

import math
import time
from collections.abc import Generator, Iterator
from typing import Any, NamedTuple

import numpy as np

from polhode.dynamics.power import EVENTS
from polhode.errors import InputError, ModelError, message, told, warn_caller
from polhode.integrate.adaptive import SAFETY, SHRINK
from polhode.integrate.constrained import CONSTRAINED_METHODS
from polhode.integrate.method import Method
from polhode.integrate.methods import method_named
from polhode.result.dataset import Extra
from polhode.simulation import step_state
from polhode.simulation.compiled_run import CompiledRun, RunSpec, compiled_run_of
from polhode.simulation.events.element_events import RunElementEvent, TakenEvent
from polhode.simulation.events.event_location import EventHit, PlaceInStep, StepEvents, reset_state, slope
from polhode.simulation.events.switch_log import CHATTER, SwitchLog
from polhode.simulation.events.switch_passage import NEARLY, SHORTEST
from polhode.simulation.events.switches_in_blocks import AT_SWITCH
from polhode.simulation.inputs import Sampled, acts_on_discrete
from polhode.simulation.run_options import RunOptions
from polhode.simulation.run_records import NONE, Ending, Event, Position, Samples, Segment
from polhode.simulation.scenario import Scenario
from polhode.simulation.step_times.segments import JoinedSegments
from polhode.simulation.within_steps.watched_path import WatchedPath

BLOCK_SECONDS = 0.2
"""Seconds that compiled code may run between checks of the clock and for Ctrl-C: the longest wait after Ctrl-C."""

AFTER_EVENT, MORE = 64, 4
"""Step states of the block after an event under constraints: so many at least, so many times those before the event;
blocks without one grow as much. Those beyond the next event are copied for nothing; without constraints a block ends at
an event."""

MOST_STATES = 4096
"""Step states of one block at most: its table stays within a few megabytes."""

FIRST_BLOCK = 0.1
"""The part of a usual block that the first of a repeated run has, by the pace of the run before: that began elsewhere,
and its steps may have been longer."""

PACE = 100_000
"""Steps from whose pace the steps of the whole run are estimated."""

MOST_EVENTS = 1_000_000
"""Events after which a run ends as failed: each is kept in memory."""

CALLS = 5
"""Calls of a sampled controller that are kept, to find out whether it keeps a state of its own."""

IDLE = 10
"""Resets one after the other while no time passes, beyond the number of events, after which a run ends."""

SLOWER = 4.0
"""The pace of a run over that of its companion, about."""

CORNER = 1e-4
"""The violation of a constraint just beyond a switch of its function, above which that is a corner and not a bend: far
above what a projected step leaves, far below the speed of a machine."""

MOMENT = 1e-14
"""The part of the duration in which a start that lies on a surface leaves it."""

LEAST = 1e-300
"""Where an event has just reset the motion its function is zero; it counts as this much on the side it goes to."""


def method_of(options: RunOptions) -> Method:
    """The method of the options of a model; policies that solve for multipliers have methods of their own."""
    assert options.method is not None
    own = CONSTRAINED_METHODS.get(options.policy.keeping)
    return own[options.method] if own else method_named(options.method)


def spec_of(scenario: Scenario) -> RunSpec:
    """The specification of the compiled code that follows a scenario."""
    options, method = scenario.options, method_of(scenario.options)
    crossings = tuple(step_state.Crossing(event.function, event.direction, event.name) for event in options.events)
    start = scenario.q, scenario.v
    return RunSpec(
        scenario.model, method, options.fixed, scenario.tau, crossings, options.norm, start, scenario.held,
        options.policy, scenario.switching.solved, scenario.switching if scenario.switching.surfaces else None,
        scenario.work_sources,
    )  # fmt: skip


def _steps_of(scenario: Scenario, warn: bool) -> CompiledRun:
    """The compiled steps of a scenario; those of runs that are repeated are kept."""
    repeated = scenario.repeated
    if repeated and repeated.compiled:
        return repeated.compiled
    spec = spec_of(scenario)
    found = compiled_run_of(spec, warn)
    if repeated and not (spec.switching and spec.switching.traced):
        repeated.compiled = found
    return found


class SampledStates(NamedTuple):
    """The states of samples: q (n, nq), v (n, nv), and the work by source (n, sources); None: it is not integrated."""

    q: np.ndarray
    v: np.ndarray
    work: np.ndarray | None


class RunLoop:
    """One run by a method of ours: iterate over it for blocks of samples; `ending` then says how it ended."""

    def __init__(
        self,
        scenario: Scenario,
        warn: bool = True,
        first: "RunLoop | None" = None,
        compiled: CompiledRun | None = None,
    ) -> None:
        """Prepare the run of a scenario.

        warn      whether to warn of what makes it slow or inexact
        first     the run of which this is the companion: where the method is the same, its compiled steps serve again;
                  singular positions are looked for in the first run alone
        compiled  steps of another run of the same machine, inputs, method and events, which serve again
        """
        options, segments = scenario.options, scenario.segments
        self.segments, self.tolerance, self.max_steps = segments, options.tolerance, options.max_steps
        same = first if first and first.compiled.spec.method.name == scenario.method else None
        known = same.compiled if same else compiled
        self.compiled: CompiledRun = known or _steps_of(scenario, warn)
        self.driven = self.compiled.driven
        self.events: tuple[Event | RunElementEvent, ...] = (*options.events, *self.compiled.element_events)
        switching = self.compiled.spec.switching
        self.watches_events = bool(self.events) or (switching is not None and any(switching.contacts))
        self.policy = options.policy
        if first is None:
            self.driven.check_forces(scenario.q, scenario.v, hidden=True)
        watch = self.driven.has_changing_rows and scenario.model.nv and not (first and options.fixed)
        self.watched = WatchedPath(self.compiled, first is None) if watch else None
        """Looks for singular positions of constraints; in a companion for steps without end alone."""
        for text in self.driven.unloaded(scenario.q, scenario.v) if warn else ():
            warn_caller(f"simulate: {text}.")
        if scenario.unsplit and warn:
            warn_caller(f"simulate: {scenario.notes[-1]}.")
        self.ending = Ending()
        sources = self.compiled.spec.work
        none = np.zeros(len(sources)) if sources else None
        self.position = Position(0.0, scenario.q.copy(), scenario.v.copy(), work=none)
        repeated = None if self.watched or options.fixed else scenario.repeated
        self._paced: Any = repeated or self.compiled  # who keeps the pace for the next run
        pace = self.compiled.pace if self.watched else 0.0  # watched, Ctrl-C is seen within blocks too
        pace = FIRST_BLOCK * repeated.pace if repeated else pace
        self.is_paced = self._paced.pace > 0
        """Whether a run before this one, by the same steps, told how long they take."""
        self._rate: float = same._rate / SLOWER if same else pace  # step states a second
        self._is_trial = bool(repeated and pace)  # the next block is longer than that of a run without a pace
        self._most = step_state.at_once(scenario.model.nv)  # equal steps of one step state; as many as the clock allows
        self._longest, self._stops = scenario.longest, scenario.stops
        self._is_companion = scenario.role != "run"  # steps to and from switches differ from those of the run
        self._earlier = scenario.steps_before
        self._joined = scenario.joined if first and self._may_join(scenario) else None
        self._sampled = scenario.samples_before
        self._room = np.empty((0, 0))  # for the step states of a block
        self._few = MOST_STATES  # step states of a block at most, since events are so many of them apart
        self._pace = (0, self.position.t)  # steps, and the time, when the pace was last judged
        self._switches = SwitchLog(SHORTEST * segments[-1].end / PACE)
        self._next = 0.0  # the step that the last segment would have tried
        self.taken: list[TakenEvent] | None = None
        """The events of elements so far, where someone asks for them."""
        self.first_switch: tuple[float, str] | None = None
        """When a user function first switched with the state, s, and its name: it may have jumped."""
        self.controller_calls: list[tuple[float, np.ndarray, np.ndarray, np.ndarray]] = []
        """The first calls of a sampled controller: t, q, v and its forces."""

    def _may_join(self, scenario: Scenario) -> bool:
        """Whether all segments of the run may be followed as one block: short, with equal steps that see no time."""
        spec = self.compiled.spec
        plain = spec.fixed and not spec.method.start and not self.compiled.in_python and scenario.is_autonomous
        return plain and not spec.switching and 0 < self._earlier[-1] <= min(self._most, self.max_steps)

    @property
    def norm_policy(self) -> str:
        """What keeps quaternions at unit length: the method itself, the norm policy, or nothing."""
        spec = self.compiled.spec
        return "Lie group" if spec.method.on_group else spec.norm

    def extras(self, q: np.ndarray, v: np.ndarray) -> dict[str, Extra]:
        """No further variables."""
        return {}

    @property
    def seconds_left(self) -> float:
        """How long the rest of the run takes, about, by the pace of the last block or run; 0: not known."""
        left, pace = self._sampled[-1] - self.position.sample, self._paced.pace
        return left / pace if pace else 0.0

    @property
    def can_resume(self) -> bool:
        """Whether a run may be resumed from its position: it follows the last sample, and no event is pending."""
        packed = self.position.packed
        return packed is not None and float(self.compiled.field(packed, "status")) == step_state.GOING

    def __iter__(self) -> Iterator[Samples]:
        """Blocks of samples from the position on; a new run begins with its start."""
        at = self.position
        if self.watched:
            self.watched.restore(at, self.ending)
        if not at.sample and not at.segment and at.packed is None:
            if self.compiled.spec.held:
                self._evaluate_held(self.segments[0])
            self._begin_elements()
            yield self.start()
        if not self.compiled.model.nv:
            yield from self._motionless()
            return
        yield from self._at_once(self._joined) if self._joined else ()
        while at.segment < len(self.segments) and self.ending.status == "finished":
            segment = self.segments[at.segment]
            if at.packed is None:
                if at.segment and segment.asks and self.compiled.spec.held:
                    self._evaluate_held(segment)
                    if self.ending.status != "finished":
                        yield from self._final_sample(np.nan)
                        return
                if not at.segment:
                    self._leave_surfaces()
                at.packed = self._packed_start(segment, at.t, at.q, at.v, self._next)
            yield from self._equal(segment) if self.compiled.spec.fixed else self._controlled(segment)
            if self.ending.status == "finished":
                if not self.compiled.spec.fixed:
                    self._next = self.compiled.number(at.packed, "h")
                at.segment, at.packed, at.t = at.segment + 1, None, segment.end
        self.compiled.keep_room(self._room)
        self._room = self._room[:0]
        if self.watched:
            self._close_path(self.watched)

    def _close_path(self, watched: WatchedPath) -> None:
        """Look at the end of the path, which may end before the run."""
        watched.path.close()
        watched.write_records(self.position, self.ending)
        if self.ending.status == "finished" and watched.path.end < np.inf:
            self._fail(watched.blame(self.position, 0.0))

    def one_step(self, t: float, level: np.ndarray | None) -> None:
        """Follow one equal step from time t, events of elements included; `ending` says whether it came to its end.

        level  the forces held over it
        """
        at, segment = self.position, self.segments[0]._replace(begin=t, end=t + self.segments[0].h)
        at.t, at.level = t, level
        if self._begin_elements():
            at.packed = self._packed_start(segment, t, at.q, at.v)
            for _ in self._equal(segment):
                pass

    def _leave_surfaces(self) -> None:
        """Move a start that lies on a surface off it, by a moment of its motion: it must be on one side."""
        at, spec, nq = self.position, self.compiled.spec, self.compiled.model.nq
        if spec.switching and 0.0 in self.compiled.surfaces(at.t, at.q, at.v):
            h = MOMENT * self.segments[-1].end
            later = self.compiled.moment_later(at.t, at.q, at.v, h, at.level)
            at.q, at.v = later[1 : 1 + nq], later[1 + nq : 1 + nq + len(at.v)]

    def start(self) -> Samples:
        """The first sample."""
        at = self.position
        return self._samples(np.array([at.t]), self._state_here(), np.array([np.nan]))

    def _state_here(self) -> "SampledStates":
        """The state at the position, as a block of one."""
        at = self.position
        return SampledStates(at.q[None].copy(), at.v[None].copy(), None if at.work is None else at.work[None].copy())

    def _motionless(self) -> Iterator[Samples]:
        """The samples of a model in which no joint moves."""
        at = self.position
        for segment in self.segments[at.segment :]:
            times = segment.samples[:]
            n, at.t, at.segment = len(times), segment.end, at.segment + 1
            still = self._state_here()
            work = None if still.work is None else np.tile(still.work, (n, 1))
            states = SampledStates(np.tile(still.q, (n, 1)), np.tile(still.v, (n, 1)), work)
            yield from self._deliver(times, states, np.full(n, np.nan))

    def _evaluate_held(self, segment: Segment) -> None:
        """Evaluate the forces that are held from now on: those of a sampled controller, or of a table."""
        at, tau, nv = self.position, self.compiled.spec.tau, self.compiled.model.nv
        function: Any = tau.function if isinstance(tau, Sampled) else self.compiled.law
        name = f"controller '{getattr(function, '__name__', type(function).__name__)}'"
        found, wrong, cause = np.zeros(nv), "", None
        try:
            t = segment.begin if isinstance(tau, Sampled) else segment.middle
            found = np.array(function(t, at.q.copy(), at.v.copy()), dtype=float)
            if found.shape != (nv,) or not np.all(np.isfinite(found)):
                wrong = f"gave {str(found.tolist())[:80]}, not {nv} finite numbers"
            elif bad := acts_on_discrete(self.compiled.model, found):
                wrong = f"acts on {bad}"
        except Exception as error:
            wrong, cause = told(error), error
        if not wrong:
            at.level = found
            if len(self.controller_calls) < CALLS:
                self.controller_calls.append((segment.begin, at.q.copy(), at.v.copy(), found))
        elif not at.segment:
            where, expected = f"simulate, {name} at t = 0", f"{nv} finite numbers"
            raise InputError(message(where, "wrong result", wrong, expected)) from cause
        else:
            self._fail(f"{name} {wrong}")

    def _packed_start(
        self, segment: Segment, t: float, q: np.ndarray, v: np.ndarray, h: float = 0.0, hit: EventHit | None = None
    ) -> np.ndarray:
        """The first step state of a run from a state; step counts are kept.

        h    the step to try, 0 if not known
        hit  an event or switch that lies there
        """
        compiled, level = self.compiled, self.position.level
        if compiled.spec.fixed:
            return compiled.start(t, q, v, segment.h, level, work=self.position.work)
        h = h or compiled.first_step(t, q, v, self.tolerance, level)
        g = self._values_of(hit) if hit else None
        h = min(h, segment.end - t, self._longest)
        return self._counted(compiled.start(t, q, v, h, level, g, self.position.work))

    def _counted(self, packed: np.ndarray) -> np.ndarray:
        """A step state with the counts of the run so far."""
        ending = self.ending
        if ending.accepted or ending.rejected:  # else they are those of a new step state
            for name in ("accepted", "rejected", "smallest", "largest"):
                if (value := getattr(ending, name)) != np.inf:
                    self.compiled.put(packed, name, value)
        return packed

    def _values_of(self, hit: EventHit) -> np.ndarray | None:
        """All functions of events and surfaces where a switch lies; None where a reset may have changed them."""
        return hit.values if self._is_switch(hit) else None

    # blocks of step states

    def _table(self, n: int, most: int) -> np.ndarray:
        """n step states, of which the first is that of the position; block after block they lie in the same memory.

        most  step states of the segment
        """
        if n > len(self._room):
            self._room = self.compiled.room(max(n, 1 + min(most, MOST_STATES)))
        table = self._room[:n]
        table[0] = self.position.packed
        return table

    def _block(self, left: int) -> int:
        """Step states of the next block: as many as fit into BLOCK_SECONDS."""
        return max(1, min(left, self._few, int(self._rate * BLOCK_SECONDS)))

    def _block_of(self, segment: Segment, first: int, accepted: float) -> int:
        """Step states of the next block of equal steps: those of the first are counted, since its pace is not known."""
        if self._rate or self.compiled.in_python:
            return self._block(len(segment.counts) - first)
        few = segment.counts[first : first + MOST_STATES]
        return max(1, int(np.searchsorted(few, accepted + self._most, "right")))

    def _run(self, table: np.ndarray, settings: list[Any]) -> np.ndarray | None:
        """Fill a table of step states as `CompiledRun.run_to_event` does, or `WatchedPath.run` under constraints; its
        pace is measured."""
        begin, level = time.perf_counter(), self.position.level
        if self.watched:
            found = self.watched.run(table, settings, level)
            self.watched.write_records(self.position, self.ending)
        else:
            self._switches.block.clear()  # of a block that was interrupted
            found = self.compiled.run_to_event(table, settings, level, self._switches)
        filled = len(table) - 1 if found is None else len(found)
        self._paced.pace = self._rate = filled / max(time.perf_counter() - begin, 1e-6)
        return found

    def _controlled(self, segment: Segment) -> Iterator[Samples]:
        """Steps under control of their error, samples by shorter steps."""
        at, compiled, nq = self.position, self.compiled, self.compiled.model.nq
        stops = self._stops(at.segment)
        while (done := stops.after(at.t, self._delivered())) < len(stops.times):
            few = slice(done, done + self._block(len(stops.times) - done))
            table = self._table(few.stop - done + 1, len(stops.times))
            states = self._run(table, [stops.times[few], self.tolerance, stops.ends[few], self._longest])
            assert states is not None
            few = slice(done, done + len(states))
            table, targets, sampled = table[: len(states) + 1], stops.times[few], stops.sampled[few]
            if self._was_too_long(table):
                continue
            self._end_before_wild(table[1:], states, targets)
            status, good = compiled.field(table, "status")[1:], len(targets)
            if status.item(-1) != step_state.GOING or self._steps_in(table) >= step_state.at_once(compiled.model.nv):
                short = np.flatnonzero((status != step_state.GOING) | (compiled.field(table, "t")[1:] < targets))
                good = int(short[0]) if len(short) else good
            last = min(good + 1, len(targets))
            at.packed = table[last].copy()
            self._read_progress()
            self._note_passed(last)
            if good < len(targets) and status[good] == step_state.GOING:  # the step state was handed back early
                self._rate = 0.0  # one step state at a time: those after it would be computed for nothing
            if self.watched:
                reached = good if good < len(targets) else self._few
                self._few = min(max(AFTER_EVENT, MORE * reached), MOST_STATES)
            kept = slice(good) if stops.are_samples or sampled[:good].all() else np.flatnonzero(sampled[:good])
            found, sizes, n = states[kept], compiled.field(table, "h0")[1:][kept], nq + compiled.model.nv
            here = SampledStates(found[:, :nq], found[:, nq:n], found[:, n:] if compiled.spec.work else None)
            yield from self._deliver(targets[kept], here, sizes)
            if good < len(targets) and status[good] == step_state.EVENT:
                yield from self._handle_events(segment, segment.samples[self._delivered() :])
            elif good < len(targets) and status[good] != step_state.GOING:
                yield from self._end_by_fault(segment, float(status[good]))
            self._check_work()
            if self.ending.status != "finished":
                return

    def _end_before_wild(self, rows: np.ndarray, states: np.ndarray, targets: np.ndarray) -> None:
        """End a block before the first step within which a sample is no state: not finite, or beyond all bounds."""
        nq, field = self.compiled.model.nq, self.compiled.field
        states = states[:, : nq + self.compiled.model.nv]
        if abs(states).max(initial=0.0) < step_state.LARGEST:
            return
        due = (field(rows, "status") == step_state.GOING) & (field(rows, "t") >= targets)
        wild = due & ~(abs(states).max(axis=1) < step_state.LARGEST)
        if wild.any():
            late = rows[int(wild.argmax()) :]
            before = field(late[0], "before")
            ended = (
                ("t", field(late[0], "t0")),
                ("q", before[:nq]),
                ("v", before[nq:]),
                ("status", step_state.NOT_FINITE),
            )
            for name, value in (*ended, ("work", field(late[0], "work_before"))):
                field(late, name)[:] = value

    def _was_too_long(self, table: np.ndarray) -> bool:
        """Whether the first block of a repeated run is to be repeated with one step state, as that of a first run has:
        where steps are so many that their limits may end the run, both end at the same state."""
        is_trial, self._is_trial = self._is_trial, False
        if is_trial and len(table) > 2 and self._tried(table[-1]) >= min(self.max_steps, PACE):
            self._rate = 0.0
            return True
        return False

    def _steps_in(self, table: np.ndarray) -> float:
        """Steps tried within a block: too few of them hand no step state back early."""
        return self._tried(table[-1]) - self._tried(table[0])

    def _tried(self, packed: np.ndarray) -> float:
        """Steps that were tried up to a step state."""
        return self.compiled.number(packed, "accepted") + self.compiled.number(packed, "rejected")

    def _check_work(self) -> None:
        """End a run with more steps or events than its limits allow, or that would have at its present pace."""
        ending, at = self.ending, self.position
        count = ending.accepted + ending.rejected
        if at.t >= self.segments[-1].end:
            return
        if ending.status == "finished" and count > self.max_steps:
            self._fail(f"{count} steps were tried; max_steps={self.max_steps:g} allows no more")
        since, begun = self._pace
        if ending.status == "finished" and count - since >= PACE and not self.compiled.spec.fixed:
            left = self.segments[-1].end - at.t
            wanted = (count - since) * left / max(at.t - begun, 1e-300)
            if count + wanted > self.max_steps:
                more = f"{count + wanted:.2g} steps at the pace of the last {PACE}"
                self._fail(f"the run would take {more}; max_steps={self.max_steps:g} allows no more")
            self._pace = count, at.t
        if ending.status == "finished" and len(ending.events) > MOST_EVENTS:
            self._fail(f"more than {MOST_EVENTS} events")

    def _accepted(self) -> float:
        """Equal steps of this segment so far."""
        assert self.position.packed is not None
        return self.compiled.number(self.position.packed, "accepted")

    def _delivered(self) -> int:
        """Samples of the present segment that were delivered."""
        return self.position.sample - self._sampled[self.position.segment]

    def _equal(self, segment: Segment) -> Iterator[Samples]:
        """Equal steps, samples at the end of some of them."""
        at, compiled = self.position, self.compiled
        assert at.packed is not None
        while (accepted := self._accepted()) < segment.counts[-1]:
            first = int(segment.counts.searchsorted(accepted, "right"))
            goals = segment.counts[first : first + self._block_of(segment, first, accepted)]
            if piece := goals[0] - accepted > self._most:
                goals = np.array([accepted + self._most])
            table = self._table(len(goals) + 1, len(segment.counts))
            counts = goals - accepted
            counts[1:] -= counts[:-1].copy()
            self._run(table, [counts, segment.h, segment.begin])
            if piece:
                self._most = max(1, int(self._most * min(BLOCK_SECONDS * self._rate, 10.0)))
            status, good = compiled.field(table, "status")[1:], len(goals)
            if status.item(-1) != step_state.GOING:  # nothing follows a step state that is not going
                good = int(np.argmax(status != step_state.GOING))
            at.packed = table[min(good + 1, len(goals))].copy()
            self._read_progress(segment)
            kept = 0 if piece else min(good, len(segment.samples) - first)
            states = self._states(table[1 : kept + 1])
            yield from self._deliver(segment.samples[first : first + kept], states, np.full(kept, segment.h))
            if good < len(goals) and status[good] == step_state.EVENT:
                yield from self._handle_events(segment, NONE)
                here = segment.samples[first + good : first + good + 1]
                if self._accepted() == goals[good] and not piece and self.ending.status == "finished":
                    yield from self._deliver(here, self._state_here(), np.array([segment.h]))
            elif good < len(goals):
                yield from self._end_by_fault(segment, float(status[good]))
            self._check_work()
            if self.ending.status != "finished":
                return

    def _at_once(self, joined: JoinedSegments) -> Iterator[Samples]:
        """A whole run as one block of joined segments; none where a step fails: they follow one by one."""
        at, compiled, ending = self.position, self.compiled, self.ending
        table = np.empty((len(joined.counts) + 1, compiled.width))
        table[0] = compiled.start(at.t, at.q, at.v, float(joined.sizes[0]))
        compiled.run(table, [joined.counts, joined.sizes, at.t])
        if np.any(compiled.field(table, "status") != step_state.GOING):
            return
        self._read_state(table[-1])
        at.t, at.segment = self.segments[-1].end, len(self.segments)
        ending.accepted = self._earlier[-1]
        ending.smallest, ending.largest = float(joined.sizes.min()), float(joined.sizes.max())
        rows = joined.sampled
        yield from self._deliver(joined.times, self._states(table[1:][rows]), joined.sizes[rows])

    def _states(self, table: np.ndarray) -> "SampledStates":
        """The states of step states."""
        q, v, work = (self.compiled.field(table, name).copy() for name in ("q", "v", "work"))
        return SampledStates(q, v, work if self.compiled.spec.work else None)

    def _deliver(self, times: np.ndarray, states: "SampledStates", sizes: np.ndarray) -> Iterator[Samples]:
        """A block of samples that were asked for, counted; nothing where there are none."""
        if len(times):
            self.position.sample += len(times)
            yield self._samples(times, states, sizes[: len(times)])

    def _samples(self, times: np.ndarray, states: "SampledStates", sizes: np.ndarray) -> Samples:
        """A block of samples, with the forces that are held."""
        level = self.position.level
        held = None if level is None else np.tile(level, (len(times), 1))
        self.position.until = float(times[-1])
        return Samples(np.array(times), states.q, states.v, np.array(sizes), held, states.work)

    def _read_progress(self, segment: Segment | None = None) -> None:
        """Copy time, state and counts from the step state to `position` and `ending`.  segment: of equal steps"""
        at, compiled, ending = self.position, self.compiled, self.ending
        assert at.packed is not None
        self._read_state(at.packed)
        if segment:
            accepted = int(compiled.number(at.packed, "accepted"))
            at.t = _grid(segment, accepted)
            ending.accepted = accepted + self._earlier[at.segment]
            ending.smallest, ending.largest = min(ending.smallest, segment.h), max(ending.largest, segment.h)
            return
        number, packed = compiled.number, at.packed
        at.t = number(packed, "t")
        ending.accepted, ending.rejected = int(number(packed, "accepted")), int(number(packed, "rejected"))
        ending.smallest, ending.largest = number(packed, "smallest"), number(packed, "largest")

    def _read_state(self, packed: np.ndarray) -> None:
        """Copy the state of a step state to `position`."""
        at, compiled = self.position, self.compiled
        at.q, at.v = compiled.field(packed, "q").copy(), compiled.field(packed, "v").copy()
        if at.work is not None:
            at.work = compiled.field(packed, "work").copy()

    # events

    def _note_passed(self, last: int) -> None:
        """Note the switches that steps passed on their way, up to a row of the block."""
        if not self._switches.block:
            return
        met = [one for one in self._switches.block if one.row <= last]
        self._switches.block.clear()
        for one in met:
            if one.is_beyond:
                self._note_switch(one.k, one.t, one.g)
            self._switches.chatters(one.k, one.t, 0.0)

    def _note_switch(self, k: int, t: float, g: float) -> None:
        """Note a switch of surface k, and the contact that begins or ends there; g: its function just beyond it."""
        switching = self.compiled.spec.switching
        assert switching
        name = switching.surfaces[k]
        if name in switching.jumps:
            self.first_switch = self.first_switch or (t, name)
        else:
            self.ending.contacts += 1
            if element := switching.contacts[k]:
                self.ending.events.append((t, f"{element}.{'touches' if g > 0 else 'leaves'}"))

    def _handle_events(self, segment: Segment, pending: np.ndarray) -> Iterator[Samples]:
        """All events of the last step, one after the other, and the samples before one that changes the motion."""
        at = self.position
        assert at.packed is not None
        within = self._events_of(segment, at.packed)
        if self._go_back_for_shorter(segment, within):
            return
        hit = yield from self._record_events(within, pending)
        if hit is None:
            self.compiled.field(at.packed[None], "status")[:] = step_state.GOING
        elif self.compiled.spec.fixed:
            yield from self._back_to_grid(segment, hit)
        elif self._apply_event(hit):
            h = 0.0
            if self._is_switch(hit):  # the step size stays, and a step that was rejected as a whole counts up to here
                reached, h, tried = (float(self.compiled.field(at.packed, name)) for name in ("t", "h", "h0"))
                self.ending.accepted += reached == within.begin
                h = max(h, tried)
            at.packed = self._on_its_side(self._packed_start(segment, at.t, at.q, at.v, h, hit), hit)
        if hit is not None and self.ending.status != "finished":
            yield from self._final_sample(hit.t - hit.begin)

    def _events_of(self, step: Segment, packed: np.ndarray) -> StepEvents:
        return StepEvents(self.compiled, step, packed, self.position.level, self.tolerance, self._is_companion)

    def _is_switch(self, hit: EventHit) -> bool:
        """Whether it is a switch of a function, not an event."""
        return hit.k >= len(self.events)

    def _go_back_for_shorter(self, segment: Segment, within: StepEvents) -> bool:
        """Go back for a shorter step, where one up to the first switch errs more than the tolerance allows; True if so.

        Stages at the end of that step may lie beyond the switch: then one that ends a little before it sees one side.
        """
        at, ending, spec = self.position, self.ending, self.compiled.spec
        if spec.switching is None or spec.fixed or not within.switch:
            return False
        part, order = within.switch.low, spec.method.error_order or 1
        if part * within.h <= SHORTEST * max(within.begin, self.segments[-1].end / PACE) or within.error(part) < 1:
            return False
        part *= NEARLY
        if not (error := within.error(part)) < 1:
            part *= max(SHRINK, SAFETY * error ** (-1 / (order + 1))) if np.isfinite(error) else SHRINK
        if float(self.compiled.field(within.packed, "t")) > within.begin:
            ending.accepted, ending.rejected = ending.accepted - 1, ending.rejected + 1
        place = within.at(0.0)
        self._move_to(place)
        packed = self.compiled.start(at.t, at.q, at.v, part * within.h, at.level, place.g.copy(), at.work)
        at.packed = self._counted(packed)
        self._fail_if_chattering(within.switch.k, at.t, part * within.h)
        return True

    def _record_events(self, within: StepEvents, due: np.ndarray) -> Generator[Samples, None, EventHit | None]:
        """Record the events of a step up to the first that changes the motion, and give the samples due before it."""
        for hit in within.hits():
            if not self._is_switch(hit):
                event = self.events[hit.k]
                self.ending.events.append((hit.t, event.name))
                if not event.terminal and not event.reset:
                    continue
            yield from self._samples_before(within, hit, due[(due > hit.begin) & (due < hit.t)])
            return hit
        return None

    def _samples_before(self, within: StepEvents, hit: EventHit, times: np.ndarray) -> Iterator[Samples]:
        """The samples (n,) of a step before an event or a switch in it; those right before a switch are at it."""
        if not len(times):
            return
        found = within.places((times - hit.begin) / hit.h)
        if self._is_switch(hit):
            there = times > hit.t - AT_SWITCH * math.ulp(hit.t)
            if there.any():
                found.q[there], found.v[there], found.work[there] = hit.q, hit.v, hit.work
        work = None if self.position.work is None else found.work.copy()
        states = SampledStates(found.q.copy(), found.v.copy(), work)
        yield from self._deliver(times, states, np.full(len(times), hit.h))

    def _move_to(self, place: "EventHit | PlaceInStep") -> None:
        """Go to a place within the last step."""
        at = self.position
        at.t, at.q, at.v = float(place.t), place.q.copy(), place.v.copy()
        if at.work is not None:
            at.work = place.work.copy()

    def _apply_event(self, hit: EventHit) -> bool:
        """Apply an event or a switch: its reset, or its end of the run; True if the run continues."""
        if self._is_switch(hit):
            self._note_switch(hit.k - len(self.events), hit.t, hit.g)
            self._move_to(hit)
            return not self._fail_at_corner(hit) and not self._fail_if_chattering(hit.k, hit.t, hit.h, hit.chatters)
        at, event = self.position, self.events[hit.k]
        self._move_to(hit)
        if event.terminal:
            self.ending.status, self.ending.reason = "stopped", f"event '{event.name}' at t = {hit.t:.6g}"
            return False
        at.idle = 0 if hit.t > at.reset_at + step_state.SMALLEST * max(hit.t, 1e-6) else at.idle + 1
        at.reset_at = hit.t
        if at.idle > IDLE + len(self.events):
            fix = "bring the machine to rest there, or make the event terminal"
            fix = "bring it to rest there: a larger rest_speed" if isinstance(event, RunElementEvent) else fix
            self._fail(f"event '{event.name}' resets the motion again and again while no time passes ({fix})")
            return False
        if isinstance(event, RunElementEvent):
            number = hit.k - len(self.events) + len(self.compiled.element_events)
            before = at.q, at.v
            names, fault = self.compiled.element_jumps(at.level, self.taken).follow(at, number)
            self._add_jump_work(*before)
            return self._follow_elements(names[1:], fault)
        if slope(self.compiled, hit, at) * hit.side > 0:  # touched, or lost in rounding: it leaves by itself
            return True
        try:
            before = at.q, at.v
            at.q, at.v = reset_state(self.compiled, event, hit)
            self._add_jump_work(*before)
            return self._begin_elements()
        except InputError as error:
            self._fail(f"reset of event '{event.name}' {error}")
        except ModelError as error:  # an element refuses the state
            self._fail(f"after the reset of event '{event.name}', {' '.join(str(error).split())}")
        return False

    def _begin_elements(self) -> bool:
        """Let elements settle their own states where a motion begins; True if the run continues."""
        if not self.compiled.element_events:
            return True
        before = self.position.q, self.position.v
        found = self.compiled.element_jumps(self.position.level, self.taken).begin(self.position)
        self._add_jump_work(*before)
        return self._follow_elements(*found)

    def _follow_elements(self, names: list[str], fault: str) -> bool:
        """Record events of elements that took place now; True if the run continues."""
        self.ending.events += [(self.position.t, name) for name in names]
        if fault:
            self._fail(fault)
        return not fault

    def _add_jump_work(self, q: np.ndarray, v: np.ndarray) -> None:
        """Add the energy that a jump from another state brought to the work of events."""
        at, system, sources = self.position, self.driven.system, self.compiled.spec.work
        if at.work is not None and EVENTS in sources:
            before, after = (sum(map(float, system.energy(*state))) for state in ((q, v), (at.q, at.v)))
            at.work[sources.index(EVENTS)] += after - before

    def _fail_at_corner(self, hit: EventHit) -> bool:
        """End the run at a corner of a constraint, beyond which its velocity does not meet it; True if so."""
        switching = self.compiled.spec.switching
        assert switching
        name = switching.surfaces[hit.k - len(self.events)]
        if not name.startswith("constraint "):
            return False
        missed = self.driven.violations(np.array([hit.t]), hit.q[None], hit.v[None]).relative
        off = float(np.max(abs(missed), initial=0.0))
        if off > CORNER:
            self._fail(f"{name} has a corner: the velocity would have to jump by about {off:.3g} (round it off)")
        return off > CORNER

    def _fail_if_chattering(self, k: int, t: float, h: float, surely: bool = False) -> bool:
        """End a run that passes, or nearly passes, a surface again and again, as if it slid along it; True if so."""
        usual = max(h, self.ending.largest)
        if not self._switches.chatters(k, t, usual) and not surely:
            return False
        assert self.compiled.spec.switching
        name = self.compiled.spec.switching.surfaces[k - len(self.events)]
        fix = "take a smooth law, as v/√(v² + ε²) in place of the sign of v"
        self._fail(f"chattering: {name} switches more than {CHATTER} times within {usual:.3g} s, a step ({fix})")
        return True

    def _back_to_grid(self, segment: Segment, hit: EventHit | None) -> Iterator[Samples]:
        """Equal steps: after a reset a shorter one back to their grid, or up to the next reset."""
        at, compiled = self.position, self.compiled
        accepted = self._accepted()
        end, packed = _grid(segment, accepted), None
        while hit is not None:
            if not self._apply_event(hit):
                return
            h = end - at.t
            if h <= 1e-12 * segment.h:
                begun = compiled.start(end, at.q, at.v, segment.h, at.level, self._values_of(hit), at.work)
                packed = self._on_its_side(begun, hit)
                break
            count = 1 + self._is_companion
            h /= count
            table, step = np.empty((2, compiled.width)), Segment(at.t, end, h, NONE, np.ones(1))
            begun = compiled.start(at.t, at.q, at.v, h, at.level, self._values_of(hit), at.work)
            table[0] = self._on_its_side(begun, hit)
            compiled.run(table, [float(count), h, at.t], at.level)
            self._read_state(table[1])
            status, hit = float(compiled.field(table[1], "status")), None
            if status == step_state.EVENT:
                hit = yield from self._record_events(self._events_of(step, table[1]), NONE)
            elif status != step_state.GOING:
                yield from self._end_by_fault(step, status)
                return
        again = packed if packed is not None else compiled.start(end, at.q, at.v, segment.h, at.level, work=at.work)
        at.packed = again
        compiled.field(at.packed[None], "accepted")[:] = accepted
        self._read_progress(segment)

    def _on_its_side(self, packed: np.ndarray, hit: EventHit) -> np.ndarray:
        """A step state that starts at an event, the event's function on the side that it goes to."""
        if self._is_switch(hit) or isinstance(self.events[hit.k], RunElementEvent):
            return packed
        g = self.compiled.field(packed[None], "g")[0]
        if abs(g[hit.k]) <= abs(hit.g):  # else the reset moved the machine away
            g[hit.k] = LEAST * np.sign(slope(self.compiled, hit, self.position))
        return packed

    # faults

    def _end_by_fault(self, step: Segment, status: float) -> Iterator[Samples]:
        """End the run, as the status of a step state demands."""
        at, compiled = self.position, self.compiled
        assert at.packed is not None
        if status == step_state.STOPPED:
            compiled.field(at.packed[None], "status")[:] = step_state.GOING
            raise KeyboardInterrupt
        if not self.ending.accepted:
            self.driven.check_forces(at.q, at.v)
        sizes = [step.h / 2, step.h]
        if not compiled.spec.fixed:
            h, longest = (max(float(compiled.field(at.packed, name)), 1e-300) for name in ("h", "h0"))
            sizes = np.geomspace(h, max(h, longest), 40).tolist()
        blame = compiled.raised or compiled.blame(at.t, at.q, at.v, sizes, at.level)
        if self.watched and (not blame or status == step_state.DEGENERATE):
            blame = self.watched.blame(at, max(sizes))
        smallest = f"the step became too small ({step_state.SMALLEST:g} of the time): the motion cannot be followed on"
        finite = "the state is no longer finite, or beyond all bounds"
        self._fail(blame or (smallest if status == step_state.TOO_SMALL else finite))
        yield from self._final_sample(sizes[-1])

    def _fail(self, why: str) -> None:
        """End the run as failed, here."""
        self.ending.status, self.ending.reason = "failed", f"at t = {self.position.t:.9g}: {why}"

    def reached(self) -> Iterator[Samples]:
        """The state where a run was interrupted, if it lies beyond the last sample."""
        at, compiled = self.position, self.compiled
        if self.can_resume and at.packed is not None:
            self._read_progress(self.segments[at.segment] if compiled.spec.fixed else None)
            yield from self._final_sample(
                self.segments[at.segment].h if compiled.spec.fixed else float(compiled.field(at.packed, "h0"))
            )

    def _final_sample(self, size: float) -> Iterator[Samples]:
        """The state in which a run ended before its time, if it lies beyond the last sample."""
        at = self.position
        if at.t > self.position.until:
            yield self._samples(np.array([at.t]), self._state_here(), np.array([size]))


def _grid(segment: Segment, accepted: float) -> float:
    """The time after a number of equal steps."""
    return segment.end if accepted == segment.counts[-1] else segment.begin + accepted * segment.h
