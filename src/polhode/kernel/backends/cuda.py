"""The cuda backend: a graph as CUDA C, compiled by CuPy, launched with one state a thread, on arrays of CuPy.

Every operation is written as in C (`c.TEXT`), in the order of the graph. The backend needs NumPy and CuPy alone. Arrays
stay on the GPU: those of NumPy are refused, not sent along. Numbers and lists are sent, and kept there. Results are
double, or single where all arrays given are.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache as once, lru_cache
from types import ModuleType
from typing import Any

import numpy as np

from polhode.errors import CompileError, InputError, message
from polhode.kernel import cache
from polhode.kernel.backends.base import Backend, Call, Computation, real_array
from polhode.kernel.backends.c import (
    REALS,
    TEXT as TEXT,
    Dialect,
    check,
    header,
    identifier,
    identifiers,
    routine_sources,
    statements,
)
from polhode.kernel.backends.python import PythonBackend
from polhode.kernel.backends.rolled_text import rolled
from polhode.kernel.graph import Graph
from polhode.kernel.routine import Block, For, Routine, Statement, Switch
from polhode.kernel.schedule import fused
from polhode.kernel.written_out import written_out
from polhode.scalar import Array

SYMBOL = "kernel"
"""The name of the compiled function."""

BLOCK = 128
"""Threads of a block."""
REAL: dict[str, np.dtype] = {"double": np.dtype(np.float64), "float": np.dtype(np.float32)}
"""The kinds of numbers in CUDA C, and as arrays hold them."""

INLINED = 10_000
"""Operations of a kernel, those of a routine counted at each call, above which calls stay calls. A step of DOP853 of
`bicycle` compiles in 67 s inlined and in 10 s called; one of RK4 of `arm-7` runs at 2.2e9 steps/s inlined and at 1.5e9
called (H200)."""

UNROLLED = 8
"""How often the body of a loop counts whose end is known: NVRTC unrolls such loops. A step of RK4 of ten four-bars,
with loops over 20 rows in its linear equations, compiles in 14 s inlined and in 3 s called."""

QUICK = ("--Ofast-compile=min", "--split-compile=0")
"""What halves the compile time of a kernel with calls, at -13 % to +17 % of its speed; and has its functions compiled
on all processors: on two, 6.4 s in place of 8.0 for a step of forty four-bars."""

QUICK_SINCE = (13, 0)
"""The version of NVRTC since which these options are known to be there."""

MACHINE_CODE = {"kind": "machine code of a GPU"}
"""What the cache of kernels says of such a file."""

DeviceRows = tuple[Any, int]
"""An array that holds one row for each state, and how many numbers lie between two rows; 0 where one serves all."""


@once
def cupy() -> ModuleType:
    """CuPy, where it is installed and sees a GPU; else a CompileError."""
    where, expected = "compile, target 'cuda'", "CuPy and a GPU of NVIDIA"
    fix = "Install it with: pip install 'polhode[cuda]'; or compile for this processor, with target=\"cpu\"."
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


CONSTANTS = """\
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fc00000)
#endif

"""
"""Constants that NVRTC, which has no <math.h>, does not know."""


CALLED = "static __device__ __noinline__"
"""What stands before a function that is not inlined."""

SINCOS = "sincos{f}({0}, &{1}, &{2});"
"""Sine and cosine, inlined."""

SINCOS_CALLED = "{{ const struct sine_cosine xa0 = sine_cosine({0}); {1} = xa0.s; {2} = xa0.c; }}"
"""The same by a call of SINE_COSINE, in kernels whose calls are not inlined: of `n-four-bar-40`, with 81 angles in each
of four routines, half of the text that NVRTC makes of a step is sines."""

SINE_COSINE = """\
struct sine_cosine {{ {real} s, c; }};
{function} struct sine_cosine sine_cosine({real} x)
{{
    struct sine_cosine p;
    sincos{f}(x, &p.s, &p.c);
    return p;
}}

"""
"""Sine and cosine as a function."""


def is_small(graph: Graph) -> bool:
    """Whether all calls of a graph may be inlined."""
    return _inlined(graph, {}) <= INLINED


def _inlined(graph: Graph, known: dict[Routine, int]) -> int:
    """The operations of a graph, those of a routine counted at each call, those of a loop as often as it may be
    unrolled."""
    called = [node.value for node in graph.nodes if node.op == "call"]
    for routine in called:
        if routine not in known:
            known[routine] = _unrolled(routine.body, known)
    return graph.operations.total() + sum(known[routine] for routine in called)


def _unrolled(body: Sequence[Statement], known: dict[Routine, int]) -> int:
    """The same of statements."""
    count = 0
    for statement in body:
        if isinstance(statement, Block):
            count += _inlined(statement.graph, known)
        elif isinstance(statement, Switch):
            count += sum(_unrolled(case, known) for _, case in statement.cases)
        else:
            is_known = isinstance(statement, For) and not statement.last.cells
            count += (UNROLLED if is_known else 1) * _unrolled(statement.body, known)
    return count


def cuda_source(graph: Graph, name: str, real: str = "double") -> str:
    """A graph as CUDA C: the kernel `name` for n states, and a device function `name_state` for one.

        name(n, array, step, array, step, …)      arguments, then results, in the order of the graph

    An array holds one row for each state, its last index running fastest, and `step` numbers from the start
    of a row to that of the next: 0 gives every state the same row. Launch it with n threads or more,
    in blocks of one dimension. Results may lie where arguments lay if their steps are equal. NVRTC
    keeps the fused operations as they are in the graph, and makes no others, with --fmad=false.

    graph  products are fused if they are in it (`schedule.fused`)
    name   of the kernel
    real   "double" or "float"
    """
    check(name, real)
    own = [name, state := f"{name}_state", "n", "i"]
    names = identifiers([port.name for port in (*graph.inputs, *graph.outputs)], own)
    steps = identifiers([f"{array}_step" for array in names], [*own, *names])
    kinds = [f"const {real}" if k < len(graph.inputs) else real for k in range(len(names))]
    arrays = [f"{kind} *{array}" for kind, array in zip(kinds, names, strict=True)]
    rows = ", ".join(f"{array} + i * {step}" for array, step in zip(names, steps, strict=True))
    small = is_small(graph)
    function, sincos = ("static __device__ void", SINCOS) if small else (f"{CALLED} void", SINCOS_CALLED)
    dialect = Dialect(real, function, "static __device__ const", sincos=sincos, rolled=not small)
    lines = statements(graph, names, dialect)
    body = "\n".join(f"    {line}" for line in (lines if small else rolled(list(lines))))
    functions = routine_sources(graph, dialect)
    constants = CONSTANTS if any(word in body + functions for word in ("INFINITY", "NAN")) else ""
    if "sine_cosine(" in body + functions:
        constants += SINE_COSINE.format(function=CALLED, real=real, f=REALS[real])
    strided = [f"{array}, long long {step}" for array, step in zip(arrays, steps, strict=True)]
    return f"""{header(graph, names, "One state per thread; a step is the length of a row, or 0.")}
{constants}{functions}static __device__ __forceinline__ void {state}({", ".join(arrays)})
{{
{body}
}}

extern "C" __global__ void {name}({", ".join(["long long n", *strided])})
{{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {{
        {state}({rows});
    }}
}}
"""


def module_of(text: str, options: tuple[str, ...]) -> Any:
    """CUDA C as a module of the current device: its machine code from disk, with the checks of the kernels' cache, or
    compiled now and kept there. Where NVRTC does not know the device, CuPy compiles for the nearest one that it knows.
    """
    xp = cupy()
    nvrtc, asked = xp.cuda.nvrtc, (*options, f"--gpu-architecture=sm_{xp.cuda.Device().compute_capability}")
    name = cache.key("cuda", repr(nvrtc.getVersion()), *asked, text)
    kept = cache.load(name)
    if kept is None or kept.facts != MACHINE_CODE:
        program = nvrtc.createProgram(text, f"{SYMBOL}.cu", (), ())
        try:
            nvrtc.compileProgram(program, asked)
            kept = cache.CachedKernel(MACHINE_CODE, nvrtc.getCUBIN(program))
        except nvrtc.NVRTCError:
            return xp.RawModule(code=text, options=options)
        finally:
            nvrtc.destroyProgram(program)
        cache.save(name, kept)
    module = xp.cuda.function.Module()
    module.load(kept.image)
    return module


class CudaKernel:
    """A graph as kernels on GPUs, compiled when first launched, for each device and kind of number."""

    def __init__(self, graph: Graph, name: str, fast: bool) -> None:
        self.graph, self.name = graph, identifier(name)  # a name of ours: a quantity, or a part of a run
        self._options = ("--std=c++17",) if fast else ("--std=c++17", "--fmad=false")
        self._functions: dict[tuple[int, str], Callable] = {}
        self._lock = threading.Lock()

    @property
    def source(self) -> str:
        """The generated CUDA C, in double."""
        return cuda_source(self.graph, self.name)

    def launch(self, real: str, n: int, rows: Sequence[DeviceRows]) -> None:
        """Compute n states: rows of the arguments, then of the results."""
        if not n:
            return
        given = (np.int64(n), *(x for array, step in rows for x in (array, np.int64(step))))
        self.compiled(real)((-(-n // BLOCK),), (BLOCK,), given)

    def compiled(self, real: str) -> Callable:
        """The kernel on the current device; of several devices of one kind the first compiles, the others wait."""
        place = cupy().cuda.runtime.getDevice(), real
        with self._lock:
            if place not in self._functions:
                quick = () if is_small(self.graph) or cupy().cuda.nvrtc.getVersion() < QUICK_SINCE else QUICK
                text = cuda_source(self.graph.anonymous(), SYMBOL, real)
                self._functions[place] = module_of(text, (*self._options, *quick)).get_function(SYMBOL)
            return self._functions[place]


class CudaBackend(Backend):
    """Kernels compiled by CuPy for the GPU, one for each computation, made when first called."""

    def __init__(self, fast: bool = False) -> None:
        cupy()
        self.fast = fast
        self.kernels: dict[tuple[str, ...], CudaKernel] = {}
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

    def constant(self, values: tuple[float, ...]) -> Any:
        """Numbers, as they are: they are sent once, and kept."""
        return values

    def evaluate(self, computation: Computation, call: Call) -> Any:
        """The result of a computation."""
        xp = cupy()
        there = [array for array in call.arrays.values() if isinstance(array, xp.ndarray)]
        real = "float" if there and all(array.dtype == np.float32 for array in there) else "double"
        if computation.is_empty:
            return self._constants(computation, call, real)
        kernel = self.kernel(computation, call)
        rows = [_rows(_sent(array, real), call.depths[known], call.batch) for known, array in call.arrays.items()]
        shapes = [(*call.batch, *port.shape) for port in kernel.graph.outputs]
        outs = _checked_outs(computation.key[0], call.out, shapes, REAL[real])
        results = [
            out if out is not None and _may_be_written(out, rows) else xp.empty(shape, REAL[real])
            for out, shape in zip(outs, shapes, strict=True)
        ]
        sizes = [len(port.nodes) for port in kernel.graph.outputs]
        kernel.launch(real, int(np.prod(call.batch)), [*rows, *zip(results, sizes, strict=True)])
        return computation.gathered(_handed_back(outs, results))

    def _constants(self, computation: Computation, call: Call, real: str) -> Any:
        """The result where there is nothing to launch."""
        own = {
            known: array.get() if isinstance(array, cupy().ndarray) else array for known, array in call.arrays.items()
        }
        found = PythonBackend().evaluate(computation, call._replace(arrays=own, out=None))
        results = [cupy().asarray(x, REAL[real]) for x in computation.parts(found)]
        outs = _checked_outs(computation.key[0], call.out, [r.shape for r in results], REAL[real])
        return computation.gathered(_handed_back(outs, results))

    def kernel(self, computation: Computation, call: Call) -> CudaKernel:
        """The kernel of a computation for the arguments of a call: from memory, or made now."""
        if computation.is_empty:
            raise computation.nothing_to_compile("a model in which nothing moves")
        place = (*computation.key, *call.names)
        with self._lock:
            if place not in self.kernels:
                graph = written_out(fused(replace(computation.graph(call.shapes), name=computation.title)))
                self.kernels[place] = CudaKernel(graph, computation.key[0], self.fast)
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


def _rows(array: Any, depth: int, batch: tuple[int, ...]) -> DeviceRows:
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


def _may_be_written(out: Any, rows: Sequence[DeviceRows]) -> bool:
    """Whether threads may write there while others still read."""
    return out.flags.c_contiguous and not any(cupy().may_share_memory(out, array) for array, _ in rows)


def _handed_back(outs: Sequence[Any], results: Sequence[Any]) -> list[Any]:
    """The results, or the arrays given for them."""
    for out, result in zip(outs, results, strict=True):
        if out is not None and out is not result:
            out[...] = result
    return [result if out is None else out for out, result in zip(outs, results, strict=True)]
