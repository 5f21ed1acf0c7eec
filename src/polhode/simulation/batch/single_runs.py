"""Runs of a batch one by one, each as `simulate` follows it: of machines whose force elements have events.

Lanes do not stop for events of elements: what these change is worked out in Python, between two steps. Draws, starts,
outputs and measures are those of lanes.
"""

import threading
from dataclasses import replace

import numpy as np

from polhode.kernel.backends.llvm.in_place import BoundKernel
from polhode.kernel.work_threads import go_on
from polhode.model import Model
from polhode.model.other_numbers import other_numbers
from polhode.simulation import step_state
from polhode.simulation.batch.batch_records import FAILED, BatchSamples, SampleTimes
from polhode.simulation.batch.batch_run import BatchRun
from polhode.simulation.companion import companion_of
from polhode.simulation.compiled_run import CompiledRun
from polhode.simulation.events.element_events import element_events
from polhode.simulation.run_loop import RunLoop
from polhode.simulation.run_records import Event
from polhode.simulation.scenario import Scenario

LISTED = 4
"""Events that are named where runs say why they are taken one by one."""


def why_single(model: Model) -> str:
    """Why runs of a model are followed one by one: events of its force elements; "": they run side by side."""
    names = [f"'{event.name}'" for event in element_events(model)]
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return f"events of force elements, {', '.join(names[:LISTED])}{more}" if names else ""


class SingleRuns:
    """What a BatchRun computes, one run after the other; `run` gives what its own does.

    scenario  of the study: its method, options and duration
    """

    def __init__(self, batch: BatchRun, scenario: Scenario) -> None:
        self.batch, self.scenario = batch, scenario
        self._one = threading.Lock()  # they are Python for the most part, and share what is compiled
        self._compiled: dict[str, CompiledRun] = {}  # by role, where all runs have the same numbers

    def beside(self, other: BatchRun) -> "SingleRuns":
        """Who follows companions: times of samples say whose steps are asked for."""
        return self

    def run(self, q: np.ndarray, v: np.ndarray, p: np.ndarray, timing: SampleTimes, threads: int = 1) -> BatchSamples:
        """The samples of n runs from q (n, nq), v (n, nv) with numbers p (n, P)."""
        found = self.batch.empty(len(q), timing)
        for k in range(len(q)):
            go_on()
            with self._one:
                self._follow(self._scenario(q[k], v[k], p[k], timing), BatchSamples(*(x[k : k + 1] for x in found)))
        if self.batch.outputs:
            self._observe(p, timing, found)
        return found

    def _scenario(self, q: np.ndarray, v: np.ndarray, p: np.ndarray, timing: SampleTimes) -> Scenario:
        """One run as `simulate` would be asked for it."""
        batch = self.batch
        own = dict(zip(batch.names, p.tolist(), strict=True))
        numbers = {name: own[name] for name in batch.along.inputs}
        model = other_numbers(batch.model, numbers, "sweep") if numbers else batch.model
        spec = batch.run_spec(own)
        events = tuple(Event(c.name, c.function, c.direction, terminal=True) for c in spec.crossings)
        times = tuple(timing.times.tolist())
        options = self.scenario.options.changed(samples=times, every=None, verify=False, events=events)
        made = replace(self.scenario, model=model, q=q.copy(), v=v.copy(), tau=spec.tau, options=options, _known={})
        return companion_of(made)[0] if timing.is_companion else made

    def _follow(self, scenario: Scenario, found: BatchSamples) -> None:
        """One run, into arrays of one."""
        loop = RunLoop(scenario, warn=False, compiled=self._compiled.get(scenario.role))
        if not self.batch.names:
            self._compiled[scenario.role] = loop.compiled
        blocks = list(loop)
        ending, at = loop.ending, loop.position
        kept = 1 + at.sample  # without the state in which a run ended between two samples
        for array, name in ((found.q, "q"), (found.v, "v")):
            array[0, :kept] = np.concatenate([getattr(block, name) for block in blocks])[:kept]
        found.end[0], found.q_end[0], found.v_end[0], found.accepted[0] = at.t, at.q, at.v, ending.accepted
        if ending.status == "stopped":
            names = [event.name for event in scenario.options.events]
            found.status[0], found.event[0] = step_state.EVENT, names.index(ending.events[-1][1])
        elif ending.status == "failed":
            found.status[0], found.reason[0] = _fault(loop), ending.reason

    def _observe(self, p: np.ndarray, timing: SampleTimes, found: BatchSamples) -> None:
        """The outputs of all samples."""
        n, samples = found.q.shape[:2]
        states = [np.ascontiguousarray(x.reshape(n * samples, -1)) for x in (found.q, found.v)]
        given = [np.repeat(p, samples, axis=0)] if self.batch.names else []
        values = np.empty((n * samples, len(self.batch.outputs)))
        BoundKernel(self.batch.kernel("observed"), n * samples, [np.tile(timing.times, n), *states, *given], [values])()
        found.outputs[:] = values.reshape(found.outputs.shape)
        found.outputs[np.isnan(found.q).any(axis=2) | np.isnan(found.v).any(axis=2)] = np.nan


def _fault(loop: RunLoop) -> float:
    """The status of a run that failed, as in `step_state`."""
    packed = loop.position.packed
    status = step_state.GOING if packed is None else float(loop.compiled.field(packed, "status"))
    return status if status in (step_state.NOT_FINITE, step_state.TOO_SMALL) else FAILED
