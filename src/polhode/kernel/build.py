"""Source → callable: LLVM compiles a graph for this machine, NumPy broadcasts it over batches."""

import ctypes
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from typing import Any

import numpy as np

from polhode.errors import CompileError
from polhode.kernel.emit_llvm import module_text
from polhode.kernel.graph import Graph
from polhode.kernel.schedule import fused

_numbers = count()  # every kernel has a name of its own in the just-in-time linker

UFUNC_FROM_SIGNATURE = 31
"""The place of PyUFunc_FromFuncAndDataAndSignature in NumPy's table of C functions."""


@dataclass(frozen=True)
class Kernel:
    """A compiled graph: call it with arrays in the order of its inputs, with any leading batch axes."""

    graph: Graph
    source: str
    width: int
    ufunc: Any
    _kept: tuple = field(repr=False, compare=False)

    def __call__(self, *arrays: Any, out: Any = None) -> Any:
        """The results: one array, or a tuple of them."""
        return self.ufunc(*arrays, out=out) if out is not None else self.ufunc(*arrays)


@cache
def _machine() -> Any:
    """LLVM's target machine for this processor."""
    try:
        import llvmlite.binding as llvm
    except ImportError:
        raise CompileError("compiled kernels need llvmlite.\n  Install it with: pip install 'polhode[cpu]'") from None
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=2,
        reloc="pic",
        codemodel="small",
        jit=True,
    )


def lanes() -> int:
    """How many states this processor takes at once: 8 with AVX-512, 4 with AVX2, else 2."""
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features()
    if features.get("avx512f"):
        return 8
    return 4 if features.get("avx2") and features.get("fma") else 2


@cache
def _jit() -> Any:
    import llvmlite.binding as llvm

    return llvm.create_lljit_compiler(_machine())


def build(graph: Graph, width: int | None = None) -> Kernel:
    """The kernel of a graph: products fused, compiled for `width` lanes (this processor's own unless given)."""
    import llvmlite.binding as llvm

    machine = _machine()
    scheduled = fused(graph)
    width = lanes() if width is None else width
    name = f"kernel_{next(_numbers)}"
    source = module_text(scheduled, name, width)
    try:
        module = llvm.parse_assembly(source)
        module.verify()
        image = machine.emit_object(module)
    except RuntimeError as error:
        raise CompileError(f"LLVM refused the kernel of {graph.name}: {error}") from error
    library = llvm.JITLibraryBuilder().add_object_img(image).add_current_process().export_symbol(name)
    tracker = library.link(_jit(), name)
    ufunc, kept = _ufunc(scheduled, tracker[name])
    return Kernel(scheduled, source, width, ufunc, (tracker, *kept))


def _ufunc(graph: Graph, address: int) -> tuple[Any, tuple]:
    """A NumPy gufunc around the compiled loop, and what must stay alive with it."""
    from numpy._core import _multiarray_umath  # type: ignore[attr-defined]

    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(pointer(_multiarray_umath._UFUNC_API, None), ctypes.POINTER(ctypes.c_void_p))
    n, total = len(graph.inputs), len(graph.inputs) + len(graph.outputs)
    make = ctypes.PYFUNCTYPE(
        ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, *[ctypes.c_int] * 4,
        ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p,
    )(table[UFUNC_FROM_SIGNATURE])  # fmt: skip
    functions, data = (ctypes.c_void_p * 1)(address), (ctypes.c_void_p * 1)(None)
    types = (ctypes.c_char * total)(*[bytes([np.dtype(float).num])] * total)
    cores = [f"({','.join(map(str, port.shape))})" for port in (*graph.inputs, *graph.outputs)]
    signature = f"{','.join(cores[:n])}->{','.join(cores[n:])}".encode()
    title = graph.name.encode()
    ufunc = make(functions, data, types, 1, n, total - n, -1, title, b"", 0, signature)
    return ufunc, (functions, data, types, signature, title)
