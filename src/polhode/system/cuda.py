"""`target="cuda"`: kernels on a GPU, one state a thread, for arrays of CuPy.

It needs NumPy and CuPy alone. Arrays stay on the GPU: those of NumPy are refused, not sent along. Numbers
and lists are sent, and kept there. Results are double, or single where all arrays given are.
"""

import threading
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from types import ModuleType
from typing import Any

import numpy as np

from polhode.errors import CompileError, InputError, message
from polhode.kernel import Graph
from polhode.kernel.backends.c import identifier
from polhode.kernel.backends.cuda import cuda_source
from polhode.kernel.backends.llvm.compile import SYMBOL
from polhode.kernel.schedule import fused
from polhode.model import Model
from polhode.scalar import Array
from polhode.system.algorithms import Graphs, Quantity
from polhode.system.calls import Call, real_array
from polhode.system.targets import RECORDS, Key, PythonTarget

BLOCK = 128
"""Threads of a block."""
REAL: dict[str, np.dtype] = {"double": np.dtype(np.float64), "float": np.dtype(np.float32)}
"""The kinds of numbers in CUDA C, and as arrays hold them."""


@cache
def cupy() -> ModuleType:
    """CuPy, where it is installed and sees a GPU; else a CompileError."""
    where, expected = "compile, target 'cuda'", "CuPy and a GPU of NVIDIA"
    fix = 'Install it with: pip install cupy-cuda12x; or compile for this processor, with target="cpu".'
    try:
        import cupy as found
    except ImportError:
        raise CompileError(message(where, "no CuPy", "no package of that name", expected, fix)) from None
    try:
        count, why = found.cuda.runtime.getDeviceCount(), "0 GPUs"
    except RuntimeError as error:  # no driver
        count, why = 0, str(error)
    if not count:
        raise CompileError(message(where, "no GPU", why, expected, fix))
    return found


class CudaKernel:
    """A graph as kernels on GPUs, compiled when first launched, for each device and kind of number."""

    def __init__(self, graph: Graph, name: str, fast: bool) -> None:
        self.graph, self.name = graph, identifier(name)  # a name of ours: a quantity, or a part of a run
        self._options = ("--std=c++17",) if fast else ("--std=c++17", "--fmad=false")
        self._functions: dict[tuple[int, str], Callable] = {}

    @property
    def source(self) -> str:
        """The generated CUDA C, in double."""
        return cuda_source(self.graph, self.name)

    def launch(self, real: str, n: int, arrays: Sequence[Any], steps: Sequence[int]) -> None:
        """Compute n states: arrays of arguments and results, and the steps from row to row in each."""
        if not n:
            return
        device = cupy().cuda.runtime.getDevice()
        if (device, real) not in self._functions:
            module = cupy().RawModule(code=cuda_source(self.graph.anonymous(), SYMBOL, real), options=self._options)
            self._functions[device, real] = module.get_function(SYMBOL)
        pairs = zip(arrays, map(np.int64, steps), strict=True)
        given = (np.int64(n), *(x for pair in pairs for x in pair))
        self._functions[device, real]((-(-n // BLOCK),), (BLOCK,), given)


class CudaTarget:
    """Kernels compiled by CuPy for the GPU, one for each quantity, made when first called."""

    def __init__(self, model: Model, fast: bool = False, way: str = "") -> None:
        cupy()
        self.model, self.fast = model, fast
        self.kernels: dict[tuple, CudaKernel] = {}
        self._graphs = Graphs(model, way)
        self._lock = threading.Lock()

    def array(self, where: str, value: Array, shape: tuple[int, ...]) -> Any:
        """An array of CuPy as it is, single or double; numbers and lists as an array of NumPy, yet to be sent."""
        xp = cupy()
        if not isinstance(value, xp.ndarray):
            if isinstance(value, np.ndarray):
                fix = 'Send it first: cupy.asarray(…); or compile for this processor, with target="cpu".'
                raise InputError(message(where, "not on the GPU", "an array of NumPy", "one of CuPy", fix))
            return real_array(where, value, shape)
        if value.dtype.kind not in "biuf":
            raise InputError(message(where, "not real numbers", str(value.dtype), "real numbers"))
        if value.ndim < len(shape) or value.shape[value.ndim - len(shape) :] != shape:
            axes = ", ".join(["...", *map(str, shape)])
            raise InputError(message(where, "wrong shape", str(value.shape), f"({axes})"))
        return value if value.dtype == np.float32 else value.astype(np.float64, copy=False)

    def quickly(self, key: Key, given: dict[str, Any], out: Any, threads: int) -> Any:
        """All calls are checked."""
        return None

    def direct(self, key: Key, names: Sequence[str], fallback: Callable) -> Callable | None:
        """A GPU is no place for one state."""
        return None

    def evaluate(self, key: Key, quantity: Quantity, call: Call) -> Any:
        """The result of a quantity."""
        xp = cupy()
        there = [array for array in call.arrays.values() if isinstance(array, xp.ndarray)]
        real = "float" if there and all(array.dtype == np.float32 for array in there) else "double"
        if self.model.nv == 0:
            return self._constants(key, quantity, call, real)
        kernel = self.kernel(key, quantity, call)
        rows = [_rows(_sent(array, real), call.depths[name], call.batch) for name, array in call.arrays.items()]
        arrays, steps = [array for array, _ in rows], [step for _, step in rows]
        shapes = [(*call.batch, *port.shape) for port in kernel.graph.outputs]
        outs = _checked_outs(key[0], call.out, shapes, REAL[real])
        results = [
            out if out is not None and _may_be_written(out, arrays) else xp.empty(shape, REAL[real])
            for out, shape in zip(outs, shapes, strict=True)
        ]
        sizes = [len(port.nodes) for port in kernel.graph.outputs]
        kernel.launch(real, int(np.prod(call.batch)), [*arrays, *results], [*steps, *sizes])
        return _handed_back(key[0], outs, results)

    def _constants(self, key: Key, quantity: Quantity, call: Call, real: str) -> Any:
        """The result for a model in which nothing moves: there is nothing to launch."""
        own = {name: array.get() if isinstance(array, cupy().ndarray) else array for name, array in call.arrays.items()}
        found = PythonTarget(self.model).evaluate(key, quantity, call._replace(arrays=own, out=None))
        results = [cupy().asarray(x, REAL[real]) for x in (found if key[0] in RECORDS else [found])]
        return _handed_back(key[0], _checked_outs(key[0], call.out, [r.shape for r in results], REAL[real]), results)

    def kernel(self, key: Key, quantity: Quantity, call: Call) -> CudaKernel:
        """The kernel of a quantity for the arguments of a call: from memory, or made now."""
        place = (*key, *call.arrays)
        with self._lock:
            if place not in self.kernels:
                graph = self._graphs.graph(key[0], quantity, call.outline)
                self.kernels[place] = CudaKernel(fused(graph), key[0], self.fast)
            return self.kernels[place]


def _sent(array: Any, real: str) -> Any:
    """The array on the GPU, of this kind of number."""
    if isinstance(array, cupy().ndarray):
        return array.astype(REAL[real], copy=False)
    values = array.astype(REAL[real])
    return _constant(cupy().cuda.runtime.getDevice(), values.dtype.str, values.shape, values.tobytes())


@lru_cache(maxsize=256)
def _constant(device: int, kind: str, shape: tuple[int, ...], values: bytes) -> Any:
    """Numbers that a call wrote out, sent once: kernels only read them."""
    return cupy().asarray(np.frombuffer(values, kind).reshape(shape))


def _rows(array: Any, depth: int, batch: tuple[int, ...]) -> tuple[Any, int]:
    """The array as rows, one for each state of the flat batch, and the step between them; 0 where one serves all."""
    xp, own = cupy(), array.shape[array.ndim - depth :]
    size = int(np.prod(own))
    if array.size == size:
        return xp.ascontiguousarray(array), 0
    return xp.ascontiguousarray(xp.broadcast_to(array, (*batch, *own))), size


def _checked_outs(name: str, out: Any, shapes: Sequence[tuple[int, ...]], dtype: np.dtype) -> list[Any]:
    """The arrays given for the results, None for each where none are; an InputError where they do not fit."""
    if out is None:
        return [None] * len(shapes)
    outs, where = (list(out) if isinstance(out, tuple) else [out]), f"{name}, argument out"
    if len(outs) != len(shapes):
        raise InputError(message(where, "not as many arrays", str(len(outs)), f"{len(shapes)} arrays, as a tuple"))
    for array, shape in zip(outs, shapes, strict=True):
        if not isinstance(array, cupy().ndarray) or array.shape != shape or array.dtype != dtype:
            found = f"{type(array).__module__}.{type(array).__name__} of shape {getattr(array, 'shape', '()')}"
            raise InputError(message(where, "does not fit", found, f"a {dtype} array of CuPy of shape {shape}"))
    return outs


def _may_be_written(out: Any, arrays: Sequence[Any]) -> bool:
    """Whether threads may write there while others still read."""
    return out.flags.c_contiguous and not any(cupy().may_share_memory(out, array) for array in arrays)


def _handed_back(name: str, outs: Sequence[Any], results: Sequence[Any]) -> Any:
    """The results, or the arrays given for them, as a record where there are several."""
    for out, result in zip(outs, results, strict=True):
        if out is not None and out is not result:
            out[...] = result
    found = [result if out is None else out for out, result in zip(outs, results, strict=True)]
    return RECORDS[name](*found) if name in RECORDS else found[0]
