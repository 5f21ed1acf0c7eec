"""How much work a study is, counted before anything is computed."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from polhode.ensemble.on_disk.seal import MOST_RUNS
from polhode.ensemble.study import STUDY_SAMPLES, Study
from polhode.errors import InputError, message
from polhode.simulation.option_table import DURATION
from polhode.simulation.run_options import RunOptions
from polhode.simulation.work_limits import quotient

MOST_STEPS = 2**53
"""Equal steps of one run at most, whatever `max_steps` says: beyond, doubles cannot tell their times apart."""

CHUNK_BYTES = 64 * 2**20
"""Approximate bytes of the arrays of one chunk of runs."""

MOST_TOGETHER = 65536
"""Runs of a chunk at most, unless `chunk` is given."""


class Work(NamedTuple):
    """The work of a study.

    steps    of one run; NaN where they are under control
    samples  of one run
    bytes    that are kept of all runs
    memory   bytes that are held at a time, about
    """

    runs: float
    steps: float
    samples: float
    bytes: float
    memory: float

    def __str__(self) -> str:
        steps = "steps under control" if math.isnan(self.steps) else f"{_count(self.runs * self.steps)} steps in all"
        return (
            f"{_count(self.runs)} runs, {steps}, {_count(self.samples)} samples of each run, "
            f"{_count(self.bytes)} bytes kept, {_count(self.memory)} bytes of memory"
        )


def work_of(study: Study, chunk: int | None, threads: int, kept_here: bool) -> Work:
    """The work of a study, counted from its numbers alone; wrong numbers are reported elsewhere.

    chunk      runs of a chunk; None: as many as seems best
    kept_here  whether all results stay in memory
    """
    model, runs = study.model, float(study.runs)
    if study.runs > MOST_RUNS:
        raise InputError(
            message("sweep, runs", "more than any study has", _count(runs), f"at most 2^40, {MOST_RUNS:.3g}")
        )
    start, options = model.start.duration if model.start else None, study.run_options
    duration = options.duration or _positive(start if start is not None else DURATION)
    steps = quotient(duration, options.step) if options.step is not None else math.nan
    if steps > MOST_STEPS:
        found = f"{duration:g} s in steps of {options.step!r} s: {_count(steps)} steps"
        raise InputError(message("sweep, step", "too small", found, f"at most 2^53 steps, {MOST_STEPS:.3g}"))
    samples = _samples(options, steps)
    held = model.nq + model.nv + len(study.outputs) + 2
    kept = _kept(study) + len(study.outputs)
    numbers = sum(getattr(x, "width", 1) * (1 + key.count(",")) for key, x in study.samples.items())
    each = 8 * (samples * kept + model.nq + model.nv + len(study.measures) + len(study.derived) + numbers + 6)
    one = 8 * samples * held
    together = float(chunk or max(1.0, min(CHUNK_BYTES // one, MOST_TOGETHER)))
    together = min(together, runs)
    at_work = min(threads, math.ceil(runs / together))
    memory = 2 * at_work * together * one + (2 * runs * each if kept_here else 0.0)
    if study.design == "latin":
        memory += 16 * runs * numbers
    return Work(runs, steps, samples, runs * each, memory)


def _samples(options: RunOptions, steps: float) -> float:
    """Samples of one run."""
    times = options.samples
    if times is not None:
        return len(times) + 2.0 if isinstance(times, Sequence) else max(float(times), 2.0)
    if math.isnan(steps):
        return STUDY_SAMPLES
    return min(steps, STUDY_SAMPLES) + 1 if options.every is None else math.floor(steps / options.every) + 2.0


def _kept(study: Study) -> float:
    """Upper bound on the numbers that are kept of the state at a sample."""
    model, keep = study.model, study.keep
    return float(("q" in keep) * model.nq + ("v" in keep) * model.nv + sum("." in str(name) for name in keep))


def _positive(value: Any) -> float:
    """The number, if it is above 0; else 1."""
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        return 1.0
    return found if 0 < found < math.inf else 1.0


def _count(x: float) -> str:
    return f"{x:,.0f}" if x < 1e7 else f"{x:.3g}"
