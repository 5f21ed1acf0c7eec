"""The steps of a run, replayed in blocks: derivatives of a motion are those of its steps."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from polhode.errors import InputError, message
from polhode.kernel.backends.llvm.compile import Kernel
from polhode.kernel.backends.llvm.in_place import chained
from polhode.kernel.cache import key as cache_key
from polhode.model.forces.refused import refuse_events
from polhode.scalar import Scalar, Vec, minimum, shaped
from polhode.simulation import step_state
from polhode.simulation.compiled_run import CompiledRun
from polhode.simulation.derivatives.jumps import JumpSource
from polhode.simulation.events.element_events import TakenEvent
from polhode.simulation.inputs import Sampled
from polhode.simulation.run_loop import RunLoop
from polhode.simulation.run_records import NONE, Segment
from polhode.simulation.scenario import Scenario

NEAR_GRID = 1e-12
"""A time this near to the end of an equal step, relative to the step, is at its end."""

FEW = 64
"""Steps of the first block of a segment under control, each next four times as long: their number is not known."""

MOST = 4096
"""Steps of one block at most: a backward sweep holds the states of one block."""

LEFT_OUT = "derivatives leave out that the time of the switch moves, and are wrong from there on if a force jumps"
"""What derivatives of a run do not see."""


class ReplayedRun(NamedTuple):
    """A run that is to be differentiated: its compiled form (without events), its segments, its start."""

    compiled: CompiledRun
    segments: Sequence[Segment]
    q: np.ndarray
    v: np.ndarray
    tolerance: float
    longest: float
    """The longest controlled step, s."""
    jumps: JumpSource | None = None
    """Events of force elements, at each of which a segment begins; None: there are none."""


def replayed(compiled: CompiledRun, scenario: Scenario, where: str) -> ReplayedRun:
    """The run to be replayed, or an error that says why it has no derivative."""
    events, segments = scenario.options.events, scenario.segments
    for event in events:
        if event.reset:
            fix = "Leave the reset out, or end the run there (terminal=True)."
            raise InputError(message(where, "the motion jumps", f"a reset at event '{event.name}'", "none", fix))
    if compiled.constrained:
        fix = "Take an element without events, as method='regularised' of friction."
        refuse_events(where, scenario.model.forces, "the motion jumps, under constraints", fix)
    first = compiled
    if compiled.is_watching:
        spec = replace(compiled.spec, crossings=(), switching=None, watches_elements=False)
        compiled = CompiledRun(spec, warn=False)
    sampled = ["tau, a Sampled controller, is a function in Python"] if isinstance(compiled.spec.tau, Sampled) else []
    for reason in (*sampled, *compiled.in_python):
        fix = "Write it on generic scalars: polhode.sin, polhode.where, …"
        raise InputError(message(where, "no derivative of a function in Python", reason, "compiled inputs", fix))
    segments, v, jumps = [part for segment in segments for part in _between_knots(segment)], scenario.v, None
    if first.element_events:
        v, taken = _taken(first, scenario)
        segments, jumps_at = _between_jumps(segments, taken)
        jumps = JumpSource(jumps_at, (segments[0].begin, scenario.q, v), compiled.law)
    return ReplayedRun(compiled, segments, scenario.q, v, scenario.options.tolerance, scenario.longest, jumps)


def _taken(compiled: CompiledRun, scenario: Scenario) -> tuple[np.ndarray, list[TakenEvent]]:
    """The velocities that a run begins with, its modes in order, and its events of force elements: it is followed."""
    loop = RunLoop(scenario, warn=False, compiled=compiled)
    loop.taken = []
    blocks = iter(loop)
    begun = next(blocks).v[0]
    for _ in blocks:
        pass
    return begun, loop.taken


def _between_jumps(
    segments: Sequence[Segment], taken: Sequence[TakenEvent]
) -> tuple[list[Segment], dict[int, Sequence[TakenEvent]]]:
    """Segments that begin anew where events of elements took place, and these by the number of the segment."""
    found, at = list[Segment](), dict[int, Sequence[TakenEvent]]()
    times = {t: [event for event in taken if event.t == t] for t in dict.fromkeys(event.t for event in taken)}
    for segment in segments:
        begin = segment.begin
        for t in (*(t for t in times if segment.begin <= t < segment.end), segment.end):
            found += _part(segment, begin, t)
            if t < segment.end:
                at[len(found)] = [*at.get(len(found), ()), *times[t]]
            begin = t
    return found, at


def _part(segment: Segment, begin: float, end: float) -> list[Segment]:
    """What lies between two times of a segment; of equal steps those of its grid, and shorter ones at both ends."""
    if not len(segment.counts):
        return [segment._replace(begin=begin, end=end)] if end > begin else []
    near, h = NEAR_GRID * segment.h, segment.h
    first, last = math.ceil((begin - segment.begin) / h - NEAR_GRID), math.floor((end - segment.begin) / h + NEAR_GRID)
    edges = [(begin, end, 1)]
    if first <= last:
        low, high = (segment.end if k == segment.counts[-1] else segment.begin + k * h for k in (first, last))
        edges = [(begin, low, 1), (low, high, last - first), (high, end, 1)]
    return [
        segment._replace(begin=a, end=b, h=h if count > 1 else b - a, counts=np.array([float(count)]))
        for a, b, count in edges
        if b - a > near
    ]


def _between_knots(segment: Segment) -> Iterator[Segment]:
    """A segment in parts from one knot to the next; their samples are not needed."""
    begin = segment.begin
    for k, end in enumerate((*segment.knots.tolist(), segment.end)):
        yield segment._replace(begin=begin, end=end, knots=NONE, asks=segment.asks and not k)
        begin = end


class BlockStart(NamedTuple):
    """Where a block of steps begins: its segment, the step state there, how many steps, the forces that are held, the
    number of the segment."""

    segment: Segment
    packed: np.ndarray
    many: int
    level: np.ndarray | None
    number: int


class StepBlock(NamedTuple):
    """Steps that follow one another: times (n,), sizes (n,), states x = (q, v, memory) where they begin (n, …)."""

    start: BlockStart
    t: np.ndarray
    h: np.ndarray
    x: np.ndarray
    end: np.ndarray
    """The state after the last."""
    packed: np.ndarray
    whole: bool
    """Whether all of them were accepted."""


class Replay:
    """The steps of a run in blocks; from its start a block can be replayed once more."""

    def __init__(self, replayed: ReplayedRun, most: int = 2**30) -> None:
        self.replayed, self.compiled, self.most = replayed, replayed.compiled, max(1, min(most, MOST))
        self.memory = bool(self.compiled.like.memory)

    def __iter__(self) -> Iterator[StepBlock]:
        """All steps of the run, or those before a fault."""
        compiled, x = self.compiled, np.concatenate([self.replayed.q, self.replayed.v])
        fixed, h, level = compiled.spec.fixed, 0.0, None
        for number, segment in enumerate(self.replayed.segments):
            if self.replayed.jumps and number in self.replayed.jumps.taken:
                last = self.replayed.jumps.taken[number][-1]
                x, h = np.concatenate([last.q, last.after]), 0.0
            if compiled.spec.held and segment.asks:
                level = self._level(segment)
            packed = self._start(segment, x, h, level)
            left, many = int(segment.counts[-1]) if fixed else self.most, self.most if fixed else FEW
            while left:
                steps = self.again(BlockStart(segment, packed, min(left, many, self.most), level, number))
                if len(steps.t):
                    yield steps
                if not steps.whole:
                    return
                x, packed, many = steps.end, steps.packed, 4 * many
                if fixed:
                    left -= len(steps.t)
                elif float(compiled.field(packed, "t")) >= segment.end:
                    left = 0
            h = 0.0 if fixed else float(compiled.field(packed, "h"))

    def _level(self, segment: Segment) -> np.ndarray:
        """The forces that are held from the start of a segment on: those of a table, which depend on no state."""
        assert self.compiled.law
        q, v = Vec(self.replayed.q.tolist()), Vec(self.replayed.v.tolist())
        return np.array(self.compiled.law(segment.middle, q, v), dtype=float)

    def _start(self, segment: Segment, x: np.ndarray, h: float, level: np.ndarray | None) -> np.ndarray:
        """The step state where a segment begins.  h: the step to try, 0 if not known"""
        compiled, nq, n = self.compiled, self.compiled.model.nq, self.compiled.model.nq + self.compiled.model.nv
        q, v = x[:nq], x[nq:n]
        if compiled.spec.fixed:
            return compiled.start(segment.begin, q, v, segment.h, level)
        h = h or compiled.first_step(segment.begin, q, v, self.replayed.tolerance, level)
        return compiled.start(segment.begin, q, v, min(h, segment.end - segment.begin, self.replayed.longest), level)

    def again(self, start: BlockStart) -> StepBlock:
        """The steps of one block, from its start."""
        compiled, segment = self.compiled, start.segment
        table = np.empty((start.many + 1, compiled.width))
        table[0] = start.packed
        field = lambda name: compiled.field(table, name)  # noqa: E731
        if compiled.spec.fixed:
            compiled.run(table, [1.0, segment.h, segment.begin], start.level)
            n = int(np.sum(field("status")[1:] == step_state.GOING))
            t, h = segment.begin + field("accepted") * segment.h, np.full(start.many, segment.h)
        else:
            settings = [np.array(x) for x in (self.replayed.tolerance, segment.end, self.replayed.longest)]
            chained(self._one_step, table, [*settings, *held(start.level)])
            t, h = field("t"), field("h0")[1:]
            n = int(np.sum(np.diff(t) > 0))
        whole = bool(np.all(field("status") == step_state.GOING))
        x = np.concatenate([field(name) for name in ("q", "v", *["memory"] * self.memory)], axis=1)
        return StepBlock(start._replace(many=n), t[:n], h[:n], x[:n], x[n], table[n], whole)

    @cached_property
    def _one_step(self) -> Kernel:
        """The step state after one accepted step; at the end the step state stays."""
        compiled = self.compiled

        def one_step(
            run: CompiledRun, packed: Vec, tolerance: Scalar, end: Scalar, longest: Scalar, level: Vec | None = None
        ) -> Vec:
            t = shaped(run.like, iter(packed)).t
            beyond = minimum(t + (4e-16 * abs(t) + 1e-300), end)
            return step_state.controlled_steps(run.setup(level), run.like, packed, beyond, tolerance, end, longest)

        shapes: dict[str, tuple[int, ...]] = {"packed": (compiled.width,), "tolerance": (), "end": (), "longest": ()}
        shapes |= {"level": (compiled.model.nv,)} if compiled.spec.held else {}
        title = f"one step of {compiled.spec.method.name}"
        return compiled.kernel_of(lambda run: partial(one_step, run), shapes, title, ["one step"])


def held(level: np.ndarray | None) -> list[np.ndarray]:
    """Forces that are held, as a further argument of a kernel, if there are any."""
    return [] if level is None else [level]


def kept_as(compiled: CompiledRun, *more: str) -> str:
    """The name that a kernel of a compiled run is kept under; "": it is not."""
    return cache_key(compiled.key, *more) if compiled.key else ""
