"""A run once more, step by step: what derivatives of a motion are made of."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from polhode.errors import InputError, message
from polhode.kernel import trace
from polhode.kernel.backends.llvm.compile import Kernel, kernel_for
from polhode.kernel.backends.llvm.in_place import chained
from polhode.kernel.cache import key as cache_key
from polhode.scalar import Scalar, Vec, minimum, shaped
from polhode.simulation import step_state
from polhode.simulation.compiled_run import CompiledRun
from polhode.simulation.inputs import Sampled
from polhode.simulation.run_loop import LOOKS, Event, Segment

FEW = 64
"""Steps of the first block of a segment under control: how many there will be is not known."""

MOST = 4096
"""Steps of one block."""


class Course(NamedTuple):
    """A run that is to be differentiated: its engine (without events), its stretches, its start."""

    engine: CompiledRun
    segments: Sequence[Segment]
    q: np.ndarray
    v: np.ndarray
    tolerance: float
    longest: float
    """No step under control is longer."""


def course(
    engine: CompiledRun, segments: Sequence[Segment], q: np.ndarray, v: np.ndarray, tolerance: float,
    events: Sequence[Event], where: str,
) -> Course:  # fmt: skip
    """The course of a run, or an error that says why it has no derivative."""
    for event in events:
        if event.reset:
            fix = "Leave the reset out, or end the run there (terminal=True)."
            raise InputError(message(where, "the motion jumps", f"a reset at event '{event.name}'", "none", fix))
    if events:
        engine = CompiledRun(replace(engine.plan, crossings=()), warn=False)
    sampled = ["tau, a Sampled controller, is a function in Python"] if isinstance(engine.plan.tau, Sampled) else []
    for reason in (*sampled, *engine.in_python):
        fix = "Write it on generic scalars: polhode.sin, polhode.where, …"
        raise InputError(message(where, "no derivative of a function in Python", reason, "compiled inputs", fix))
    return Course(engine, segments, q, v, tolerance, segments[-1].end / LOOKS if events else step_state.LONGEST)


class Place(NamedTuple):
    """Where steps begin: the segment they belong to, the row there, how many they are, the forces that are held."""

    segment: Segment
    row: np.ndarray
    many: int
    level: np.ndarray | None


class Steps(NamedTuple):
    """Steps that follow one another: times (n,), sizes (n,), states x = (q, v, memory) where they begin (n, …)."""

    place: Place
    t: np.ndarray
    h: np.ndarray
    x: np.ndarray
    end: np.ndarray
    """The state after the last."""
    row: np.ndarray
    whole: bool
    """Whether all of them could be taken."""


class Stepper:
    """A run again, step by step, in blocks; from where a block begins it can be run once more."""

    def __init__(self, course: Course, most: int = 2**30) -> None:
        self.course, self.engine, self.most = course, course.engine, max(1, min(most, MOST))
        self.memory = self.engine.plan.fixed and self.engine.like.memory is not None

    def __iter__(self) -> Iterator[Steps]:
        """All steps of the run, or those before a fault."""
        engine, x = self.engine, np.concatenate([self.course.q, self.course.v])
        fixed, h, level = engine.plan.fixed, 0.0, None
        for segment in self.course.segments:
            if engine.plan.held and segment.asks:
                level = self._level(segment)
            row = self._start(segment, x, h, level)
            left, many = int(segment.counts[-1]) if fixed else self.most, self.most if fixed else FEW
            while left:
                steps = self.again(Place(segment, row, min(left, many, self.most), level))
                if len(steps.t):
                    yield steps
                if not steps.whole:
                    return
                x, row, many = steps.end, steps.row, 4 * many
                if fixed:
                    left -= len(steps.t)
                elif float(engine.field(row, "t")) >= segment.end:
                    left = 0
            h = 0.0 if fixed else float(engine.field(row, "h"))

    def _level(self, segment: Segment) -> np.ndarray:
        """The forces that are held from the begin of a segment on: those of a table, which ask for no state."""
        assert self.engine.law
        q, v = Vec(self.course.q.tolist()), Vec(self.course.v.tolist())
        return np.array(self.engine.law(segment.begin, q, v), dtype=float)

    def _start(self, segment: Segment, x: np.ndarray, h: float, level: np.ndarray | None) -> np.ndarray:
        """The row where a segment begins.  h: the step to try, 0 if not known"""
        engine, nq, n = self.engine, self.engine.model.nq, self.engine.model.nq + self.engine.model.nv
        q, v = x[:nq], x[nq:n]
        if engine.plan.fixed:
            return engine.start(segment.begin, q, v, segment.h, level)
        h = h or engine.first_step(segment.begin, q, v, self.course.tolerance, level)
        return engine.start(segment.begin, q, v, min(h, segment.end - segment.begin, self.course.longest), level)

    def again(self, place: Place) -> Steps:
        """The steps from a place on."""
        engine, segment = self.engine, place.segment
        table = np.empty((place.many + 1, engine.width))
        table[0] = place.row
        field = lambda name: engine.field(table, name)  # noqa: E731
        if engine.plan.fixed:
            engine.run(table, [1.0, segment.h, segment.begin], place.level)
            n = int(np.sum(field("status")[1:] == step_state.GOING))
            t, h = segment.begin + field("taken") * segment.h, np.full(place.many, segment.h)
        else:
            settings = [np.array(x) for x in (self.course.tolerance, segment.end, self.course.longest)]
            chained(self._one_step, table, [*settings, *held(place.level)])
            t, h = field("t"), field("h0")[1:]
            n = int(np.sum(np.diff(t) > 0))
        whole = bool(np.all(field("status") == step_state.GOING))
        x = np.concatenate([field(name) for name in ("q", "v", *["memory"] * self.memory)], axis=1)
        return Steps(place._replace(many=n), t[:n], h[:n], x[:n], x[n], table[n], whole)

    @cached_property
    def _one_step(self) -> Kernel:
        """The row after one accepted step; at the end the row stays."""
        engine = self.engine

        def one_step(row: Vec, tolerance: Scalar, end: Scalar, longest: Scalar, level: Vec | None = None) -> Vec:
            t = shaped(engine.like, iter(row)).t
            beyond = minimum(t + (4e-16 * abs(t) + 1e-300), end)
            return step_state.adaptive_row(engine.setup(level), engine.like, row, beyond, tolerance, end, longest)[0]

        shapes: dict[str, tuple[int, ...]] = {"row": (engine.width,), "tolerance": (), "end": (), "longest": ()}
        shapes |= {"level": (engine.model.nv,)} if engine.plan.held else {}
        make = lambda: trace(one_step, **shapes)  # noqa: E731
        title = f"{engine.model.name}: one step of {engine.plan.method.name}"
        return kernel_for(kept_as(engine, "one step"), make, title, 1)


def held(level: np.ndarray | None) -> list[np.ndarray]:
    """Forces that are held, as a further argument of a kernel, if there are any."""
    return [] if level is None else [level]


def kept_as(engine: CompiledRun, *more: str) -> str:
    """The name that a kernel of an engine is kept under; "": it is not."""
    return cache_key(engine._key, *more) if engine._key else ""
