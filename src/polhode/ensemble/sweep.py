"""`sweep`: a study, drawn, run, graded and kept; in memory or in a store, here or on a cluster."""

import math
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from polhode.ensemble.cluster import client_of, run_on_cluster
from polhode.ensemble.devices import Device, device_named
from polhode.ensemble.in_memory import joined
from polhode.ensemble.on_disk.results import write_results
from polhode.ensemble.on_disk.store import StudyStore, written
from polhode.ensemble.option_table import ONE_RUN, STUDY_RUN_OPTIONS, SWEEP_OPTIONS
from polhode.ensemble.progress import Lines, News, Progress
from polhode.ensemble.study import STUDY_DEFAULTS, Study, study as make_study
from polhode.ensemble.study_runner import STATUS, RunBlock, StudyRunner, failing_runs, runner_of
from polhode.ensemble.sweep_options import SweepKeywords, SweepOptions
from polhode.ensemble.work import CHUNK_BYTES, MOST_TOGETHER, work_of
from polhode.errors import InputError, message, warn_caller
from polhode.kernel.work_threads import in_threads
from polhode.model import Model
from polhode.simulation.option_table import check_keywords, takes_options

if TYPE_CHECKING:
    import xarray as xr

SECONDS = {"here": 0.5, "cluster": 2.0}
"""Seconds that one chunk of runs should take: short enough to lose little, long enough to hide what a chunk costs."""

ON_GPU = 16
"""A chunk on a GPU may have so many times the bytes of one on a processor: it computes more runs at a time."""

PROBE = 1e-3
"""Seconds that a few runs are tried for, to tell what one costs: enough for a factor of two in the size of chunks."""

SINGLE = 16
"""Runs of a chunk that are followed one by one, of some tenths of a second each, unless `chunk` is given."""

LEAST = 0.15
"""Seconds that a chunk of runs that take equally long should take at least, where there is one for each thread: the
interpreter spends 1.5 ms on each, one at a time."""

FEWEST = 64
"""Fewest runs of a chunk, unless they are large; chunks are multiples of it, as wide as batches."""


@takes_options(SWEEP_OPTIONS | STUDY_RUN_OPTIONS, SweepKeywords, STUDY_DEFAULTS)
def sweep(
    model: Model | Study,
    samples: Mapping[str, Any] | None = None,
    *,
    progress: Progress | bool | None = None,
    **options: Unpack[SweepKeywords],
) -> "xr.Dataset":
    """A model run many times, its numbers drawn anew for each run: a Dataset over (run, time, …).

    model          a Model; or a whole `Study`, then without samples and its options
    samples        by name what is drawn: ph.Normal, Uniform, LogUniform, Rotations, Listed, Grid, or frozen
                   distributions of scipy.stats; names are paths ("bodies.arm.mass"), "start.q.hinge", "start.v.hinge",
                   "tau.hinge"
    {options}
    progress       a function of `News`, called now and then; True: lines on stderr
    runs, seed, …  see `Study`

    Options of each run, from duration to move_start, mean what they mean in `simulate`; `times` are its `samples`.
    Refused is what runs side by side cannot do: form, verify, sensitivities, a method of SUNDIALS, an event that does
    not end the run. A run whose start violates constraints has the status "refused".
    """
    check_keywords("sweep", (*SweepKeywords.__annotations__, *ONE_RUN), options)
    own: dict[str, Any] = {name: value for name, value in options.items() if name in SWEEP_OPTIONS}
    others: dict[str, Any] = {name: value for name, value in options.items() if name not in own}
    if isinstance(model, Study):
        if samples is not None or others:
            raise InputError(message("sweep", "a Study and more", str(samples or others)[:60], "the Study alone"))
        study = model
    else:
        study = make_study(model, samples or {}, **others)
    return SweepJob(study, SweepOptions(**own), _reporter(progress)).run()


def _reporter(progress: Any) -> Progress | None:
    if progress is True:
        return Lines()
    return progress or None


class SweepJob:
    """One study being run: here or on a cluster, kept in memory or in a store."""

    def __init__(self, study: Study, options: SweepOptions, progress: Progress | None = None) -> None:
        """Count the work and find who does it, before anything is computed."""
        self.study, self.progress = study, progress
        self.out = Path(options.out) if options.out is not None else None
        self.resume, self.force, self.threads, self.chunk, self.report = (
            options.resume, options.force, options.thread_count, options.chunk, options.report,
        )  # fmt: skip
        options.check_work(work_of(study, self.chunk and int(self.chunk), self.threads, self.out is None))
        self.runner = runner_of(study)
        if note := self.runner.unsplit:
            warn_caller(f"sweep: {note}.")
        self.client = None
        self.device: Device | None = None
        if options.scheduler is not None:
            self.client, self._borrowed = client_of(options.scheduler), not isinstance(options.scheduler, str)
        else:
            self.device = device_named(options.device, options.precision, self.runner)
            if self.device.note:
                warn_caller(f"sweep: {self.device.note}")
        self.begun = time.monotonic()
        self.done = self.failed = 0
        self._telling = threading.Lock()

    def run(self) -> "xr.Dataset":
        """The Dataset of the study, after all pending runs."""
        if self.out is None:
            return self._in_memory()
        store: StudyStore | None = None
        try:
            if self.resume:
                store = StudyStore.resume(self.out, self.runner)
            else:
                store = StudyStore.create(self.out, self.runner, self._size(), self.force)
            pending = store.pending(self.threads)
            for number in set(range(store.chunks)) - set(pending):
                self._count(store.receipt(number, check=False) or {}, "before")
            if self.client is not None:
                run_on_cluster(self.client, self.study, store, pending, self._count)
            else:
                self._here(store, pending)
        except OSError as fault:
            raise written(f"sweep, out '{self.out}'", fault, self.out) from fault
        finally:
            if store is not None:
                store.release()
            if self.client is not None and not self._borrowed:
                self.client.close()
        dataset = store.dataset()
        if self.report:
            write_results(dataset, self.out)
        return dataset

    def _size(self) -> int:
        """The number of runs of a chunk."""
        if self.chunk is not None:
            return min(int(self.chunk), self.study.runs)
        if self.runner.single:
            return min(SINGLE, self.study.runs)
        batch, samples = self.runner.batch, len(self.runner.timing.times)
        held = 8 * samples * (batch.nq + batch.nv + len(batch.outputs))  # of one run under way, kept or not
        seconds = SECONDS["cluster" if self.client is not None else "here"]
        if self.device is not None and self.device.most_runs:
            count = min(self.device.most_runs, ON_GPU * CHUNK_BYTES / self._bytes, self.study.runs / self.device.count)
        else:
            cost = max(_cost(self.runner), 1e-9)
            count = min(seconds / cost, MOST_TOGETHER, CHUNK_BYTES / self._bytes)
            if self.client is None:
                count = self._part_of_a_thread(cost, seconds, count)
        most = self.study.runs if self.device is not None and self.device.most_runs else max(1, CHUNK_BYTES // held)
        return int(min(max(FEWEST * round(count / FEWEST), FEWEST), most, self.study.runs))

    def _part_of_a_thread(self, cost: float, seconds: float, count: float) -> float:
        """Runs of a chunk, at most `count`: some of those of a thread; or all of a short study, shared by all threads.

        cost, seconds  of one run, and of a chunk at most
        """
        runs, is_quick = self.study.runs, self.runner.batch.is_quick
        share = runs / self.threads
        if is_quick and self.threads == 1:
            return min(count, runs)
        if (
            is_quick
            and self.out is None
            and share * cost <= seconds
            and runs <= min(MOST_TOGETHER, CHUNK_BYTES / self._bytes)
        ):
            return runs
        return min(count, _part(share, share * cost) if is_quick else share / 4)

    @property
    def _bytes(self) -> int:
        """Bytes of the results of one run."""
        return sum(8 * int(np.prod(array.sizes)) for array in self.runner.arrays.values())

    def _here(self, store: StudyStore, pending: Sequence[int]) -> None:
        """Run chunks in threads of this process; several threads share a chunk where chunks are few."""
        outer = min(self._together, max(len(pending), 1))
        inner = max(1, self.threads // outer)

        def do(number: int) -> None:
            begin = time.monotonic()
            block = run_or_quarantine(self.runner, *store.bounds(number), inner, self.device)
            receipt = store.write(number, block, {"seconds": time.monotonic() - begin, "device": self._name})
            self._count(receipt, self._name)

        in_threads(do, pending, outer)

    @property
    def _together(self) -> int:
        """Chunks that are computed at a time: on each GPU two, one being written."""
        return 2 * self.device.count if self.device is not None and self.device.most_runs else self.threads

    @property
    def _name(self) -> str:
        return self.device.name if self.device else "cpu"

    def _count(self, receipt: Mapping[str, Any], who: str) -> None:
        """Count a finished chunk, and report it."""
        status = receipt["status"]
        with self._telling:
            self.done += receipt["last"] - receipt["first"]
            self.failed += sum(count for name, count in status.items() if STATUS[name] > STATUS["stopped"])
            if self.progress:
                self.progress(News(self.done, self.study.runs, self.failed, who, time.monotonic() - self.begun))

    def _in_memory(self) -> "xr.Dataset":
        size = self._size()
        bounds = [(k, min(k + size, self.study.runs)) for k in range(0, self.study.runs, size)]
        found: dict[int, RunBlock] = {}
        outer = min(self._together, len(bounds))
        inner = max(1, self.threads // outer)

        def do(pair: tuple[int, int]) -> None:
            block = run_or_quarantine(self.runner, *pair, inner, self.device)
            found[pair[0]] = block
            status = block.arrays["status"]
            counts = {name: int(np.sum(status == code)) for name, code in STATUS.items()}
            self._count({"first": pair[0], "last": pair[1], "status": counts}, self._name)

        in_threads(do, bounds, outer)
        return joined(self.runner, [found[first] for first, _ in bounds])


def _part(runs: float, seconds: float) -> float:
    """Runs of a chunk of those of one thread, which take equally long: a quarter, or more where that takes no time."""
    chunks = min(max(seconds // LEAST, 1), 4)
    return runs / 4 if chunks == 4 else FEWEST * math.ceil(runs / chunks / FEWEST)


def run_or_quarantine(
    runner: StudyRunner, first: int, last: int, threads: int = 1, device: Device | None = None
) -> RunBlock:
    """Runs first … last − 1; those that raise an error are found by halving, and left out with the reason."""
    batch = device.batch if device else None
    try:
        return runner.run(first, last, threads, batch)
    except (MemoryError, OSError):
        raise
    except Exception as fault:
        runner.run(first, last, threads, batch, skip=dict.fromkeys(range(first, last), ""))  # else no run is to blame

        def attempt(a: int, b: int) -> Exception | None:
            try:
                runner.run(a, b, threads, batch)
            except (MemoryError, OSError):
                raise
            except Exception as inner:
                return inner
            return None

        bad = failing_runs(attempt, first, last, fault)
        return runner.run(first, last, threads, batch, skip=bad)


def _cost(runner: StudyRunner) -> float:
    """Approximate seconds of one run, measured on a few runs for a short while, by the processor's time."""
    n = min(FEWEST, runner.study.runs)
    q, v, p = runner.starts(0, n)
    runner.batch.kernels  # noqa: B018 - compiled before the clock runs
    steps, seconds, part = 100.0, 0.0, 0.0
    while seconds < PROBE and part < 1:
        short = runner.timing.beginning(steps)
        part, steps = short.end / runner.timing.end, 4 * steps
        begin = time.thread_time()
        runner.batch.run(q, v, p, short)
        seconds = time.thread_time() - begin
    return seconds / n / part
