"""LLVM on this processor: its target machines, its just-in-time linker, and how many states it takes at once."""

import sys
import threading
from functools import cache
from typing import Any

import numpy as np

from polhode.errors import CompileError, message

FULL, QUICK = 2, 0
"""LLVM's levels of code generation: the usual one; one that takes an eighth of the time and gives slower code.
Results have the same bits: both compute the operations of the graph."""

LINKS_IN_ONE_PIECE = sys.platform.startswith("linux")
"""Whether a kernel lies in memory in one piece, by LLVM's newer linker. The older one asks for code and constants
apart; where the memory of a process has holes, as beside CUDA, they came to lie more than 2 GB apart, and LLVM ended
the process. On macOS LLVM chooses itself; on Windows the newer one is not complete."""

_once = threading.RLock()
"""Held while the compiler and the linker are made: a second linker would take its kernels along when it goes."""


def machine(level: int = FULL) -> Any:
    """LLVM's target machine for this processor; level: how much it improves its code."""
    with _once:
        return _new_machine(level)


def linker() -> Any:
    """The just-in-time linker of all kernels."""
    with _once:
        return _new_linker()


@cache
def _new_machine(level: int) -> Any:
    try:
        import llvmlite.binding as llvm
    except ImportError:
        fix = "Install it with: pip install 'polhode[cpu]'. Without it, target='python' computes the same, slowly."
        raise CompileError(message("compile, target 'cpu'", "no compiler", "no llvmlite", "llvmlite", fix)) from None
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=level,
        reloc="pic",
        codemodel="small",
        jit=True,
    )


@cache
def _new_linker() -> Any:
    import llvmlite.binding as llvm

    return llvm.create_lljit_compiler(machine(), use_jit_link=LINKS_IN_ONE_PIECE)


def lanes() -> int:
    """The number of states that this processor takes at once: 8 with AVX-512, 4 with AVX2, else 2."""
    machine()
    return _lanes()


@cache
def _lanes() -> int:
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features()
    if features.get("avx512f"):
        return 8
    return 4 if features.get("avx2") and features.get("fma") else 2


@cache
def processor_identity() -> str:
    """The processor, the compiler and the interpreter that object code is for."""
    import llvmlite
    import llvmlite.binding as llvm

    machine = (llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten(), llvm.get_default_triple())
    return "|".join((*machine, llvmlite.__version__, np.__version__, sys.version))
