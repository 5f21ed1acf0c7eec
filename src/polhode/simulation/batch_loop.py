"""Runs side by side on their way: sampled, ended where they fail or where an event lies."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from polhode.errors import InputError, message
from polhode.kernel.backends.llvm.in_place import BoundKernel
from polhode.kernel.work_threads import go_on
from polhode.simulation import step_state
from polhode.simulation.event_location import located
from polhode.simulation.run_loop import LOOKS

if TYPE_CHECKING:
    from polhode.simulation.batch_run import BatchRun

MOST_STEPS = 10_000_000
"""Steps that are tried within one sample, before a run counts as stuck."""


@dataclass(frozen=True)
class SampleTimes:
    """When runs are sampled, and how they step.

    counts     (S,)  steps between samples, for equal steps of size h
    times      (S + 1,)  of the samples, the first 0
    tolerance  of steps under control
    """

    times: np.ndarray
    counts: np.ndarray
    h: float
    tolerance: float

    @property
    def end(self) -> float:
        """Of every run."""
        return float(self.times[-1])

    def beginning(self, steps: float = 100.0) -> "SampleTimes":
        """The first so many steps, or with steps under control so many thousandths of the time."""
        if self.h:
            count = min(steps, float(np.sum(self.counts)))
            return replace(self, times=np.array([0.0, count * self.h]), counts=np.array([count]))
        return replace(self, times=np.array([0.0, self.end * min(1.0, steps / 1000)]), counts=np.ones(1))


class BatchSamples(NamedTuple):
    """Runs side by side, sampled: n runs, S + 1 samples; NaN after the end of a run.

    status  (n,)  as in `step_state`
    end     (n,)  the time each run reached;  q_end, v_end the state there
    event   (n,)  the number of the event that ended it, −1: none
    accepted  (n,)  steps
    """

    q: np.ndarray
    v: np.ndarray
    outputs: np.ndarray
    status: np.ndarray
    end: np.ndarray
    q_end: np.ndarray
    v_end: np.ndarray
    event: np.ndarray
    accepted: np.ndarray


class BatchLoop:
    """Some runs on their way: two tables of step states, one computed from the other in turn."""

    def __init__(self, batch: "BatchRun", p: np.ndarray, timing: SampleTimes, found: BatchSamples) -> None:
        self.batch, self.timing, self.found, compiled = batch, timing, found, batch.compiled
        self.n = n = len(found.q)
        self.given = [np.ascontiguousarray(p)] if batch.names else []
        self.tables = [np.empty((n, compiled.width)) for _ in range(2)]
        self.now = 0
        self.settings = [np.zeros(()) for _ in range(3 if batch.fixed else 4)]
        self.state = [] if batch.fixed else [np.empty((n, batch.nq + batch.nv))]

    @cached_property
    def steps(self) -> list[BoundKernel]:
        """From one table to the other, and back."""
        advance, given = self.batch.kernels["advance"], [*self.given, *self.settings]
        return [
            BoundKernel(advance, self.n, [self.tables[k], *given], [self.tables[1 - k], *self.state]) for k in range(2)
        ]

    @cached_property
    def observe(self) -> tuple[list[np.ndarray], BoundKernel]:
        """Room for time, q, v and outputs; and what fills the last from the others."""
        batch, n = self.batch, self.n
        room = [np.zeros(()), *(np.empty((n, size)) for size in (batch.nq, batch.nv, len(batch.outputs)))]
        return room, BoundKernel(batch.kernels["observed"], n, [*room[:3], *self.given], [room[3]])

    @property
    def table(self) -> np.ndarray:
        """The step states as they are now."""
        return self.tables[self.now]

    def start(self, q: np.ndarray, v: np.ndarray) -> None:
        """The first step states, and the first sample."""
        batch, timing = self.batch, self.timing
        q, v = np.ascontiguousarray(q), np.ascontiguousarray(v)
        h = np.array(timing.h if batch.fixed else min(timing.end, self.longest))
        BoundKernel(batch.kernels["first"], self.n, [q, v, *self.given, h, np.array(timing.tolerance)], [self.table])()
        self._keep(0, q, v, np.ones(self.n, dtype=bool))

    @property
    def longest(self) -> float:
        """No step under control is longer, lest events are stepped over."""
        return self.timing.end / LOOKS if self.batch.spec.run.crossings else step_state.LONGEST

    def advance(self, sample: int) -> bool:
        """On to the next sample; False when no run is left."""
        timing, batch, field = self.timing, self.batch, self.batch.compiled.field
        if batch.fixed:
            left_over, self.settings[1][...] = int(timing.counts[sample]), timing.h
            while left_over:
                few = min(left_over, batch.at_once)
                self.settings[0][...] = few
                self._step()
                left_over -= few
            there = field(self.table, "status") == step_state.GOING
            q, v = field(self.table, "q"), field(self.table, "v")
        else:
            target = float(timing.times[sample + 1])
            for place, value in zip(self.settings, (target, timing.tolerance, timing.end, self.longest), strict=True):
                place[...] = value
            for _ in range(-(-MOST_STEPS // batch.at_once)):
                self._step()
                left = (field(self.table, "status") == step_state.GOING) & (field(self.table, "t") < target)
                if not left.any():
                    break
            else:
                field(self.table, "status")[left] = step_state.TOO_SMALL
            there = field(self.table, "t") >= target
            q, v = self.state[0][:, : batch.nq], self.state[0][:, batch.nq :]
        self._keep(sample + 1, q, v, there)
        return bool(there.any())

    def _step(self) -> None:
        go_on()
        self.steps[self.now]()
        self.now = 1 - self.now

    def _keep(self, sample: int, q: np.ndarray, v: np.ndarray, there: np.ndarray) -> None:
        batch, found, t = self.batch, self.found, self.timing.times[sample]
        everyone = bool(there.all())
        if batch.outputs:
            (at, own_q, own_v, values), look = self.observe
            at[...], own_q[:], own_v[:] = t, q, v
            look()
            found.outputs[there if not everyone else slice(None), sample] = values if everyone else values[there]
        if everyone:
            found.q[:, sample], found.v[:, sample] = q, v
        else:
            found.q[there, sample], found.v[there, sample] = q[there], v[there]

    def close(self) -> None:
        """How each run ended; no sample lies after its end."""
        field, table, found, timing = self.batch.compiled.field, self.table, self.found, self.timing
        found.status[:], found.accepted[:] = field(table, "status"), field(table, "accepted")
        end = found.accepted * timing.h if self.batch.fixed else field(table, "t")
        found.end[:] = np.where(found.status == step_state.GOING, timing.end, end)
        found.q_end[:], found.v_end[:] = field(table, "q"), field(table, "v")
        at = np.flatnonzero(found.status == step_state.EVENT)
        if len(at):
            found.event[at], found.end[at], found.q_end[at], found.v_end[at] = self._events(at)
            after = np.zeros((self.n, len(timing.times)), dtype=bool)
            after[at] = timing.times > found.end[at, None]
            for array in (found.q, found.v, found.outputs):
                array[after] = np.nan

    def _events(self, at: np.ndarray) -> tuple[np.ndarray, ...]:
        """Which event ended each of these runs first in its last step, and its time and state."""
        batch, n = self.batch, len(at)
        nq, nv, crossings = batch.nq, batch.nv, batch.compiled.spec.crossings
        table = np.ascontiguousarray(self.table[at])
        before, after = (batch.compiled.field(table, name) for name in ("g_before", "g"))
        theta, found = np.ones(n), np.empty((n, 1 + nq + nv + len(crossings)))
        given = [np.ascontiguousarray(x[at]) for x in self.given]
        look = BoundKernel(batch.kernels["inside"], n, [table, *given, theta, np.array(self.timing.h)], [found])

        def value(k: int, part: np.ndarray) -> np.ndarray:
            theta[:] = part
            look()
            return found[:, 1 + nq + nv + k]

        best, which = np.full(n, 2.0), np.full(n, -1)
        for k, crossing in enumerate(crossings):
            part = located(crossing, before[:, k], partial(value, k), np.ones(n))
            first = step_state.crossed((crossing,), (before[:, k],), (after[:, k],)) & (part < best)
            best, which = np.where(first, part, best), np.where(first, k, which)
        theta[:] = best
        look()
        return which, found[:, 0].copy(), found[:, 1 : 1 + nq].copy(), found[:, 1 + nq : 1 + nq + nv]


def equal_steps(duration: float, h: float, every: int) -> SampleTimes:
    """Samples after every so many equal steps, and at the end."""
    steps = round(duration / h)
    if not steps or abs(duration / h - steps) > 1e-9 * max(steps, 1):
        near = max(steps, 1) * h
        fix = f"Take {near:.12g} s, or a step of {duration / max(steps, 1):.12g} s."
        raise InputError(
            message("sweep, duration", "not a whole number of steps", f"{duration:g} s", f"n × {h:g} s", fix)
        )
    numbers = [*np.arange(0, steps, every).tolist(), steps]
    times = np.array(numbers) * h
    times[-1] = duration
    return SampleTimes(times, np.diff(numbers).astype(float), h, 0.0)


def controlled_steps(times: Sequence[float], tolerance: float) -> SampleTimes:
    """Samples at times, the first of them 0, with steps under control of a tolerance."""
    given = np.array(times, dtype=float)
    return SampleTimes(given, np.ones(len(given) - 1), 0.0, tolerance)
