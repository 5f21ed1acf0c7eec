"""The cpu backend: kernels compiled by LLVM for this processor, one for each computation, made when first called."""

import threading
from collections.abc import Callable, Iterable
from functools import partial
from math import prod
from typing import Any

import numpy as np

from polhode.kernel.backends.base import FLOAT, Backend, Call, Computation, into, real_array
from polhode.kernel.backends.llvm.compile import TIME, Kernel, batch_kernel_for, kernel_for, lanes, single_call
from polhode.kernel.backends.llvm.hoisted_kernel import HoistedKernel, hoisted_kernel_for
from polhode.kernel.backends.llvm.named_call import named_call
from polhode.kernel.backends.llvm.result_memory import LARGE, new_array
from polhode.kernel.backends.llvm.threads import run_in_threads
from polhode.kernel.backends.llvm.two_tiers import SinglesFirst
from polhode.kernel.backends.python import PythonBackend
from polhode.kernel.cache import key as cache_key
from polhode.kernel.graph import Graph
from polhode.kernel.hoist import KEPT, NUMBERS, place_of_numbers
from polhode.kernel.lru_cache import LruCache

NOW = np.zeros(())
"""The time of a call that gives none."""

TRACED = 8
"""Graphs that stay in memory: a quantity that was asked for one state is often asked for many soon after."""


class LlvmBackend(Backend):
    """Machine code of this processor."""

    def __init__(self, fast: bool = False) -> None:
        self.lanes = lanes()  # says so now where there is no compiler
        self.fast = fast
        self.kernels: dict[tuple[str, ...], Kernel] = {}
        self.batches: dict[tuple[str, ...], SinglesFirst] = {}  # of runs: quantities for several states
        self.hoisted: dict[tuple[str, ...], HoistedKernel] = {}
        self._graphs: LruCache[Graph] = LruCache(TRACED)
        self._lock = threading.RLock()  # kernels are made ahead while one is made

    array = staticmethod(real_array)

    def quickly(self, computation: Computation, given: tuple, out: Any, threads: int, t: Any = None) -> Any:
        """The result, where the kernel is there and all arguments are arrays just as it takes them; else None."""
        kernel = self._plain(computation)
        if kernel is None:
            return None
        batch: tuple[int, ...] = ()
        t = NOW if t is None else np.array(t) if type(t) is float else t
        for array, shape in zip((*given, t), (*kernel.facts["inputs"][: len(given)], ()), strict=False):
            if type(array) is not np.ndarray or array.dtype is not FLOAT:
                return None
            flags, whole = array.flags, array.shape
            if not (flags.c_contiguous and flags.aligned):
                return None
            own = whole[: len(whole) - len(shape)]
            if whole[len(own) :] != tuple(shape) or (batch and own and own != batch):
                return None
            batch = batch or own
        if batch and (threads > 1 or self._too_narrow(kernel, batch)):
            return None  # in a run, `kernel` counts batches that go state by state
        if out is None and not _is_large(kernel, batch):
            found = kernel.ufunc(*given, t)
        else:
            shapes = [(*batch, *shape) for shape in kernel.facts["outputs"]]
            outs = [new_array(shape) for shape in shapes] if out is None else _as_given(out, shapes, given)
            if not outs:
                return None
            found = kernel.ufunc(*given, t, out=tuple(outs))
        return computation.record(*found) if computation.record else found

    def direct(self, computation: Computation, fallback: Callable) -> Callable | None:
        """A built-in for one state, which hands all other calls to `fallback`."""
        kernel = self._plain(computation)
        return single_call(kernel, computation.key[0], fallback, computation.record or tuple) if kernel else None

    def named(
        self, direct: Callable, before: int, names: tuple[str, ...], origin: np.ndarray | None, fallback: Callable
    ) -> Callable | None:
        """A built-in for calls that name what `direct` is of."""
        return named_call(fallback.__name__, direct, before, names, origin, fallback)

    def _plain(self, computation: Computation) -> Kernel | None:
        """The kernel for calls that give no more than they must, if it is there."""
        place = (*computation.key, *computation.arguments, TIME, *computation.numbers)
        return self.hoisted[place].main if place in self.hoisted else self.kernels.get(place)

    def kept(self, computation: Computation, numbers: np.ndarray) -> np.ndarray | None:
        """What follows from the numbers (n,) of a computation alone, for its `direct` built-in."""
        known = self.hoisted.get((*computation.key, *computation.arguments, TIME, *computation.numbers))
        return None if known is None else known.kept(numbers)

    def evaluate(self, computation: Computation, call: Call) -> Any:
        """The result of a computation."""
        if computation.is_empty:
            return PythonBackend().evaluate(computation, call)
        kernel, call = (
            self._divided(computation, call) if computation.numbers else (self.kernel(computation, call), call)
        )
        outputs = [tuple(shape) for shape in kernel.facts["outputs"]]
        arrays = [_rows(array, call.depths[known]) for known, array in call.arrays.items()]
        given = _as_given(call.out, [(*call.batch, *shape) for shape in outputs], arrays)
        result = computation.gathered(self._run(kernel, call, arrays, given))
        return result if given or call.out is None else into(computation.key[0], call.out, result)

    def _run(self, kernel: Kernel, call: Call, arrays: list[np.ndarray], given: list[np.ndarray]) -> list[Any]:
        """The results of a kernel, each with all batch axes, in the arrays given or in new ones."""
        if not given and (call.threads == 1 or not call.batch) and not _is_large(kernel, call.batch):
            return list(kernel(*arrays))
        outputs = [tuple(shape) for shape in kernel.facts["outputs"]]
        outs = given or [new_array((*call.batch, *shape)) for shape in outputs]
        depths = [*call.depths.values(), *map(len, outputs)]
        run_in_threads(kernel.ufunc, arrays, depths, outs, call.threads, kernel.facts["width"])
        return outs

    def _divided(self, computation: Computation, call: Call) -> tuple[Kernel, Call]:
        """The kernel of a call with numbers, and the call as that takes it: by what follows from them, or, where they
        differ from state to state, by the numbers themselves."""
        numbers = {a: array for a, array in call.arrays.items() if str(a) in computation.numbers}
        others = {a: array for a, array in call.arrays.items() if a not in numbers}
        of_states = any(array.ndim > call.depths[a] for a, array in numbers.items())
        hoisted = self._hoisted_kernel(computation, call)
        batch, shapes = call.batch if of_states else (), call.shapes
        rows = [np.broadcast_to(x, (*batch, *shapes[a])).reshape(*batch, -1) for a, x in numbers.items()]
        row = np.concatenate(rows, axis=-1) + 0.0  # −0.0 is 0.0
        kernel, name = (hoisted.whole, NUMBERS) if of_states else (hoisted.main, KEPT)
        arrays = [*others.items()]
        arrays.insert(place_of_numbers([*map(str, others)]), (name, row if of_states else hoisted.kept(row)))
        return kernel, call._replace(arrays=dict(arrays), depths={a: call.depths.get(a, 1) for a, _ in arrays})

    def _hoisted_kernel(self, computation: Computation, call: Call) -> HoistedKernel:
        """The kernels of a computation with numbers, for the arguments of a call."""
        place = (*computation.key, *call.names)
        with self._lock:
            found = self.hoisted.get(place)
            if found is None:
                name, make, width = self._asked(computation, call, place)
                single, title = not self.quick, computation.title
                found = hoisted_kernel_for(
                    name, make, computation.numbers, title, width, self.fast, single, later=self.quick
                )
            elif found.width == 1 and prod(call.batch) >= self.lanes:
                found = found.of_width(self.lanes)
            self.hoisted[place] = found
            return found

    def kernel(self, computation: Computation, call: Call) -> Kernel:
        """The kernel of a computation for the arguments of a call: from memory, from disk, or made now.

        One for single states is compiled first, one with lanes when there is a batch that fills them; in a run, when
        batches are asked for long.
        """
        if computation.is_empty:
            raise computation.nothing_to_compile("a model in which nothing moves")
        place = (*computation.key, *call.names)
        with self._lock:
            kernel = self.kernels.get(place)
            if place in self.batches and prod(call.batch) > 1:
                return self.batches[place].current
            if kernel is None or self._too_narrow(kernel, call.batch):
                name, make, width = self._asked(computation, call, place)
                if self.quick and width > 1 and not self.fast:
                    found = batch_kernel_for(name, make, computation.title, single=kernel)
                    if isinstance(found, SinglesFirst):
                        self.batches[place] = found
                        self.kernels.setdefault(place, found.kernel)
                        return found.current
                    self.kernels[place] = found
                    return found
                quick, single = self.quick and width == 1, not self.quick
                self.kernels[place] = kernel = kernel_for(
                    name, make, computation.title, width, self.fast, quick=quick, single=single, later=self.quick
                )
            return kernel

    def _asked(self, computation: Computation, call: Call, place: tuple) -> tuple[str, Callable[[], Graph], int]:
        """The name of a kernel on disk, what gives its graph, and its lanes."""
        shapes, text = call.shapes, computation.identity
        name = cache_key(text, repr(place), repr([*shapes.values()])) if text else ""
        traced = partial(self._graphs.get, (place, *shapes.values()), partial(computation.graph, shapes))
        wide = prod(call.batch) >= (2 if self.quick else self.lanes)  # in a run, large batches follow small ones
        return name, traced, self.lanes if wide else 1

    def _too_narrow(self, kernel: Kernel, batch: tuple[int, ...]) -> bool:
        """Whether a batch would fill more lanes than a kernel has."""
        return kernel.facts["width"] == 1 and prod(batch) >= self.lanes > 1


def _is_large(kernel: Kernel, batch: tuple[int, ...]) -> bool:
    """Whether the results of a batch are large enough for memory of former ones."""
    return bool(batch) and 8 * prod(batch) * kernel.largest >= LARGE


def _rows(array: np.ndarray, depth: int) -> np.ndarray:
    """The array, its own axes contiguous and aligned as kernels read them; batch axes may lie anyhow."""
    step, size = [], array.itemsize
    for length in reversed(array.shape[array.ndim - depth :]):
        step.append(size)
        size *= length
    if array.strides[array.ndim - depth :] == tuple(reversed(step)) and array.flags.aligned:
        return array
    return array.copy(order="C")


def _as_given(out: Any, shapes: list[tuple[int, ...]], arrays: Iterable[np.ndarray]) -> list[np.ndarray]:
    """The arrays given for the results, where kernels may write into them; else none."""
    outs = list(out) if isinstance(out, tuple) else [out]
    if len(outs) != len(shapes):
        return []
    for k, (array, shape) in enumerate(zip(outs, shapes, strict=True)):
        if type(array) is not np.ndarray or array.dtype is not FLOAT or array.shape != shape:
            return []
        if not array.flags.carray or any(np.may_share_memory(array, other) for other in (*arrays, *outs[:k])):
            return []
    return outs
