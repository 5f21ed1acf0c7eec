"""Batches of runs on a GPU: one run a thread, the steps between two samples in one launch, states and samples there.

The graphs are those of `BatchRun`, as CUDA C, launched as those of quantities are (`kernel/backends/cuda.py`). Only
samples, and how runs ended, come back; events are placed within their last step by this processor. Several GPUs take
batches from one queue, each when it has done its last.
"""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from queue import LifoQueue
from typing import Any

import numpy as np

from polhode.kernel.backends.cuda import REAL, CudaKernel, DeviceRows, cupy
from polhode.kernel.lru_cache import LruCache
from polhode.kernel.schedule import fused
from polhode.simulation import step_state
from polhode.simulation.batch.batch_records import BatchSamples, BatchStretch, SampleTimes
from polhode.simulation.batch.batch_run import MOST_STEPS, BatchLoop, BatchRun

SHARE = 0.4
"""Share of a device's free memory that one batch may take: slices of it are copied meanwhile, and others use it too."""

LARGEST = 2**22
"""Runs of a batch, at most: some 16 times the threads that a large device holds, so that none of it waits."""

RECENT: LruCache[CudaKernel] = LruCache(64)
"""Kernels of the last sweeps, by what made them: another sweep of the same machine traces nothing."""

KIND = {"double": "double", "single": "float"}


class GpuBatchRun:
    """A BatchRun on a GPU: `run` gives what its own does, in double or in single.

    number  of the device among those that CUDA shows; None: the current one
    """

    def __init__(self, batch: BatchRun, precision: str = "double", number: int | None = None) -> None:
        """Raises a CompileError where there is no GPU."""
        self.xp = cupy()
        self.batch, self.precision, self.real = batch, precision, KIND[precision]
        self.number = self.xp.cuda.runtime.getDevice() if number is None else number
        properties = self.xp.cuda.runtime.getDeviceProperties(self.number)
        self.name = f"cuda {properties['name'].decode()}, {precision}"
        self._kernels: dict[str, CudaKernel] = {}
        self._others: dict[BatchRun, GpuBatchRun] = {}
        self._one = threading.Lock()

    def beside(self, other: BatchRun) -> "GpuBatchRun":
        """A batch on the same device, always in double: rounding of single is an error that companions have to see."""
        if other is self.batch and self.precision == "double":
            return self
        if other not in self._others:
            self._others[other] = GpuBatchRun(other, number=self.number)
        return self._others[other]

    def sharing(self, number: int) -> "GpuBatchRun":
        """The same batch on another device, which has the kernels of this one."""
        other = GpuBatchRun(self.batch, self.precision, number)
        other._kernels = self._kernels
        return other

    def kernel(self, part: str) -> CudaKernel:
        """One function of a run (its first state, steps, outputs) as a kernel of this device."""
        if part not in self._kernels:
            key = self.batch.compact.key(part)
            self._kernels.setdefault(part, RECENT.get(key, partial(self._made, part)) if key else self._made(part))
        return self._kernels[part]

    def _compile(self) -> None:
        """Compile the kernels of a run side by side: each while the next is traced."""
        batch = self.batch
        asked = {"first": True, "advance": True, "again": batch.has_memory, "observed": bool(batch.outputs)}
        missing = [part for part, needed in asked.items() if needed and part not in self._kernels]
        with ThreadPoolExecutor(max(len(missing), 1)) as others:
            for done in [others.submit(self._compiled, self.kernel(part)) for part in missing]:
                done.result()

    def _compiled(self, kernel: CudaKernel) -> None:
        with self.xp.cuda.Device(self.number):
            kernel.compiled(self.real)

    def _made(self, part: str) -> CudaKernel:
        return CudaKernel(fused(self.batch.compact.graph(part)), part, fast=False)

    def most_runs(self, timing: SampleTimes) -> int:
        """How many runs fit into the device's memory at a time."""
        batch, size = self.batch, REAL[self.real].itemsize
        state = batch.nq + batch.nv
        sampled = len(timing.times) * (state + 1 + len(batch.outputs))
        with self.xp.cuda.Device(self.number):
            free = self.xp.cuda.runtime.memGetInfo()[0]
        return int(min(max(SHARE * free // (size * (2 * batch.compiled.width + 3 * state + sampled)), 64), LARGEST))

    def run(self, q: np.ndarray, v: np.ndarray, p: np.ndarray, timing: SampleTimes, threads: int = 1) -> BatchSamples:
        """As `BatchRun.run`; one caller at a time has the device, others prepare and write meanwhile."""
        found = self.batch.empty(len(q), timing, fill=False)
        if len(q):
            self._compile()
        most = self.most_runs(timing)
        with self._one, self.xp.cuda.Device(self.number):
            for first in range(0, len(q), most):
                few = slice(first, first + most)
                part = BatchSamples(*(array[few] for array in found))
                _Launch(self, p[few], timing, part).run(q[few], v[few])
        return found


class GpuBatchRuns:
    """A BatchRun on several GPUs: each call of `run` is served by the next device that is free.

    numbers  of the devices; one that is named twice serves two calls in turns
    """

    def __init__(self, first: GpuBatchRun, numbers: Sequence[int]) -> None:
        self.each = [first.sharing(number) for number in numbers]
        names = list(dict.fromkeys(gpu.name for gpu in self.each))
        self.name = f"{len(self.each)} × {names[0]}" if len(names) == 1 else " + ".join(names)
        self._free: LifoQueue[GpuBatchRun] = LifoQueue()
        for gpu in self.each:
            self._free.put(gpu)
        self._others: dict[BatchRun, GpuBatchRuns] = {}

    def beside(self, other: BatchRun) -> "GpuBatchRuns":
        """A batch on the same devices, in double."""
        if other not in self._others:
            numbers = [gpu.number for gpu in self.each]
            self._others.setdefault(other, GpuBatchRuns(self.each[0].beside(other), numbers))
        return self._others[other]

    def most_runs(self, timing: SampleTimes) -> int:
        """How many runs fit into the memory of every device at a time."""
        return min(gpu.most_runs(timing) for gpu in self.each)

    def run(self, q: np.ndarray, v: np.ndarray, p: np.ndarray, timing: SampleTimes, threads: int = 1) -> BatchSamples:
        """As `BatchRun.run`; callers beyond the number of devices wait."""
        gpu = self._free.get()
        try:
            return gpu.run(q, v, p, timing, threads)
        finally:
            self._free.put(gpu)


class _Launch:
    """One batch of runs on the device."""

    def __init__(self, gpu: GpuBatchRun, p: np.ndarray, timing: SampleTimes, found: BatchSamples) -> None:
        self.gpu, self.batch, self.xp, self.timing, self.found = gpu, gpu.batch, gpu.xp, timing, found
        self.n, self.p, self.kind = len(p), p, REAL[gpu.real]
        batch, samples = gpu.batch, len(timing.times)
        self.given = [(self._sent(p), len(batch.names))] if batch.names else []
        self.tables = [self.xp.empty((self.n, batch.compiled.width), self.kind) for _ in range(2)]
        self.width = batch.nq + batch.nv
        self.q, self.v = (self.xp.empty((self.n, samples, size), self.kind) for size in (batch.nq, batch.nv))
        self.marks = self.xp.empty((self.n, samples), self.kind)
        self.seen = self.xp.empty((self.n, samples, max(len(batch.outputs), 1)), self.kind)

    def _sent(self, array: np.ndarray) -> Any:
        return self.xp.asarray(np.ascontiguousarray(array)).astype(self.kind, copy=False)

    def _number(self, value: float) -> DeviceRows:
        return self._sent(np.array([value])), 0

    def _launch(self, part: str, arguments: list[DeviceRows], results: list[DeviceRows]) -> None:
        self.gpu.kernel(part).launch(self.gpu.real, self.n, [*arguments, *results])

    def run(self, q: np.ndarray, v: np.ndarray) -> None:
        batch, timing, stretches = self.batch, self.timing, self.batch.stretches(self.timing)
        runs = BatchLoop(batch, self.p, timing, self.found)
        state = self.xp.empty((self.n, self.width), self.kind)
        q_there, v_there = self._sent(q), self._sent(v)
        state[:, : batch.nq], state[:, batch.nq :] = q_there, v_there
        first, width = self._number(runs.first_step(stretches[0])), batch.compiled.width
        start = [(q_there, batch.nq), (v_there, batch.nv), *self.given, first, self._number(timing.tolerance)]
        self._launch("first", start, [(self.tables[0], width)])
        self._keep(0, state)
        for stretch in stretches:
            if stretch.is_new:
                self._begin_segment(runs, stretch)
            if batch.fixed:
                numbers = [self._number(x) for x in stretch.settings]
                self._launch("advance", [(self.tables[0], width), *self.given, *numbers], [(self.tables[1], width)])
                self.tables.reverse()
                table = self.tables[0]
                state[:, : batch.nq], state[:, batch.nq :] = self._field("q", table), self._field("v", table)
            else:
                self._controlled(stretch, state)
            if stretch.sample:
                self._keep(stretch.sample, state)
        self._fetch(runs)

    def _begin_segment(self, runs: BatchLoop, stretch: BatchStretch) -> None:
        """Begin another segment of equal steps, as `BatchLoop` does."""
        batch, (table, fresh) = self.batch, self.tables
        status, accepted = (self._field(name, table).get() for name in ("status", "accepted"))
        going = self.xp.asarray(runs.going_on(status, accepted, stretch))
        fresh[:] = table
        if batch.has_memory:
            q, v = (self.xp.ascontiguousarray(self._field(name, table)) for name in ("q", "v"))
            settings = [self._number(stretch.settings[k]) for k in (2, 1)]
            given = [(q, batch.nq), (v, batch.nv), *self.given, *settings]
            self._launch("again", given, [(fresh, batch.compiled.width)])
        else:
            self._field("accepted", fresh)[:] = self._sent(np.zeros(self.n))
        table[going] = fresh[going]

    def _field(self, name: str, table: Any) -> Any:
        return self.batch.compiled.field(table, name)

    def _controlled(self, stretch: BatchStretch, state: Any) -> None:
        width, target = self.batch.compiled.width, stretch.time
        numbers = [self._number(x) for x in stretch.settings]
        for _ in range(-(-MOST_STEPS // self.batch.at_once)):
            results = [(self.tables[1], width), (state, self.width)]
            self._launch("advance", [(self.tables[0], width), *self.given, *numbers], results)
            self.tables.reverse()
            status, t = (self._field(name, self.tables[0]).get() for name in ("status", "t"))
            if not np.any((status == step_state.GOING) & (t < self.kind.type(target))):
                return

    def _keep(self, sample: int, state: Any) -> None:
        """A sample, and whether the run was still going, or had reached its time; masked when it comes back."""
        batch, table = self.batch, self.tables[0]
        self.q[:, sample], self.v[:, sample] = state[:, : batch.nq], state[:, batch.nq :]
        self.marks[:, sample] = self._field("status" if batch.fixed else "t", table)
        if batch.outputs:
            values = self.xp.empty((self.n, len(batch.outputs)), self.kind)
            q, v = (self.xp.ascontiguousarray(x) for x in (state[:, : batch.nq], state[:, batch.nq :]))
            given = [self._number(float(self.timing.times[sample])), (q, batch.nq), (v, batch.nv), *self.given]
            self._launch("observed", given, [(values, len(batch.outputs))])
            self.seen[:, sample] = values

    def _fetch(self, runs: BatchLoop) -> None:
        """Bring back the samples, NaN after the end of a run, and how each run ended."""
        batch, found, table = self.batch, self.found, self.tables[0]
        if batch.fixed:
            there = self.marks == step_state.GOING
        else:
            there = self.marks >= self._sent(self.timing.times)
            left = (self._field("status", table) == step_state.GOING) & ~there[:, -1]
            self._field("status", table)[left] = step_state.TOO_SMALL
        there[:, 0] = True
        gone = None if bool(there.all()) else ~there.get()
        pairs = [(found.q, self.q), (found.v, self.v), *([(found.outputs, self.seen)] if batch.outputs else [])]
        for array, samples in pairs:
            _fetched(samples, array)
            if gone is not None:
                array[gone] = np.nan
        runs.close(_DeviceStates(self))


class _DeviceStates:
    """Step states of runs that have ended, on the device."""

    def __init__(self, launch: _Launch) -> None:
        self.launch, self.table = launch, launch.tables[0]

    def copy(self, name: str, out: np.ndarray) -> None:
        _fetched(self.launch.xp.ascontiguousarray(self.launch._field(name, self.table)), out)

    def rows(self, at: np.ndarray) -> np.ndarray:
        return self.table[self.launch.xp.asarray(at)].get().astype(np.float64)


def _fetched(there: Any, out: np.ndarray) -> None:
    """Bring an array into one of this processor, made double on the device."""
    there = there.astype(out.dtype, copy=False)
    if out.flags.c_contiguous:
        there.get(out=out)
    else:
        out[...] = there.get()
