"""One state, little overhead: a built-in function around a compiled loop.

The built-in looks at its arguments in machine code. Where they are just what the kernel takes (one row
of doubles each, contiguous) it makes the result and runs the kernel; anything else, keywords among it,
goes to a Python callable, which checks, copies and explains.
"""

import ctypes
import struct
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

METH_FASTCALL_KEYWORDS = 0x80 | 0x02
PYARRAY_NEW = 93
"""The place of PyArray_New in NumPy's table of C functions."""

BYTES_HEADER = 32
"""Where the data of a bytes object begin; the built-in's `self` is one, and holds its context."""

CONTEXT = ("loop", "inputs", "array_type", "descr", "new", "fallback", "vectorcall", "zero", "axes", "d0", "d1", "d2")
"""The context: addresses and sizes, eight bytes each; after these the length of each input."""

ENTRY = """
define ptr @entry(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {
start:
  %argv = alloca [16 x ptr], align 16
  %steps = alloca [16 x i64], align 16
  %one = alloca i64, align 8
  %ctx = getelementptr i8, ptr %self, i64 HEADER
FIELDS
  %plain = icmp eq ptr %kwnames, null
  %fit = icmp eq i64 %nargs, %inputs
  %go = and i1 %plain, %fit
  br i1 %go, label %loop, label %slow
loop:
  %i = phi i64 [ 0, %start ], [ %j, %next ]
  %more = icmp slt i64 %i, %inputs
  br i1 %more, label %look, label %make
look:
  %pa = getelementptr ptr, ptr %args, i64 %i
  %a = load ptr, ptr %pa, align 8
  %ptype = getelementptr i8, ptr %a, i64 8
  %type = load i64, ptr %ptype, align 8
  %isarray = icmp eq i64 %type, %array_type
  br i1 %isarray, label %array, label %slow
array:
  %pnd = getelementptr i8, ptr %a, i64 24
  %nd = load i32, ptr %pnd, align 4
  %isrow = icmp eq i32 %nd, 1
  br i1 %isrow, label %row, label %slow
row:
  %pdims = getelementptr i8, ptr %a, i64 32
  %dims = load ptr, ptr %pdims, align 8
  %length = load i64, ptr %dims, align 8
  %place = add i64 %i, COUNT
  %plen = getelementptr i64, ptr %ctx, i64 %place
  %wanted = load i64, ptr %plen, align 8
  %islong = icmp eq i64 %length, %wanted
  %pdescr = getelementptr i8, ptr %a, i64 56
  %kind = load i64, ptr %pdescr, align 8
  %isreal = icmp eq i64 %kind, %descr
  %pflags = getelementptr i8, ptr %a, i64 64
  %flags = load i32, ptr %pflags, align 4
  %both = and i32 %flags, 257
  %isplain = icmp eq i32 %both, 257
  %two = and i1 %islong, %isreal
  %three = and i1 %two, %isplain
  br i1 %three, label %next, label %slow
next:
  %pdata = getelementptr i8, ptr %a, i64 16
  %data = load ptr, ptr %pdata, align 8
  %slot = getelementptr ptr, ptr %argv, i64 %i
  store ptr %data, ptr %slot, align 8
  %step = getelementptr i64, ptr %steps, i64 %i
  store i64 0, ptr %step, align 8
  %j = add i64 %i, 1
  br label %loop
make:
  %pd = getelementptr i64, ptr %ctx, i64 9
  %nax = trunc i64 %axes to i32
  %newp = inttoptr i64 %new to ptr
  %typep = inttoptr i64 %array_type to ptr
  %result = call ptr %newp(ptr %typep, i32 %nax, ptr %pd, i32 12, ptr null, ptr null, i32 0, i32 0, ptr null)
  %none = icmp eq ptr %result, null
  br i1 %none, label %failed, label %run
run:
  %zerop = getelementptr i64, ptr %ctx, i64 7
  %tslot = getelementptr ptr, ptr %argv, i64 %inputs
  store ptr %zerop, ptr %tslot, align 8
  %tstep = getelementptr i64, ptr %steps, i64 %inputs
  store i64 0, ptr %tstep, align 8
  %last = add i64 %inputs, 1
  %prdata = getelementptr i8, ptr %result, i64 16
  %rdata = load ptr, ptr %prdata, align 8
  %rslot = getelementptr ptr, ptr %argv, i64 %last
  store ptr %rdata, ptr %rslot, align 8
  %rstep = getelementptr i64, ptr %steps, i64 %last
  store i64 0, ptr %rstep, align 8
  store i64 1, ptr %one, align 8
  %loopp = inttoptr i64 %loop.address to ptr
  call void %loopp(ptr %argv, ptr %one, ptr %steps, ptr %one)
  ret ptr %result
failed:
  ret ptr null
slow:
  %vectorcallp = inttoptr i64 %vectorcall to ptr
  %fallbackp = inttoptr i64 %fallback to ptr
  %answer = call ptr %vectorcallp(ptr %fallbackp, ptr %args, i64 %nargs, ptr %kwnames)
  ret ptr %answer
}
"""


def entry_text() -> str:
    """LLVM text of the built-in's machine code, one for all kernels."""
    fields = []
    for k, name in enumerate(CONTEXT):
        value = "loop.address" if name == "loop" else name
        fields += [
            f"  %at.{name} = getelementptr i64, ptr %ctx, i64 {k}",
            f"  %{value} = load i64, ptr %at.{name}, align 8",
        ]
    text = ENTRY.replace("FIELDS", "\n".join(fields)).replace("COUNT", str(len(CONTEXT)))
    return text.replace("HEADER", str(BYTES_HEADER))


class _Definition(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


@cache
def _addresses() -> dict[str, int]:
    """Where CPython and NumPy keep what the built-in needs."""
    from numpy._core import _multiarray_umath  # type: ignore[attr-defined]

    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(pointer(_multiarray_umath._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))
    vectorcall = ctypes.cast(ctypes.pythonapi.PyObject_Vectorcall, ctypes.c_void_p).value
    return {
        "array_type": id(np.ndarray),
        "descr": id(np.dtype(np.float64)),
        "new": int(table[PYARRAY_NEW] or 0),
        "vectorcall": int(vectorcall or 0),
    }


def usable() -> bool:
    """Whether this interpreter lays its objects out as the built-in expects: tried, not assumed."""
    sample = np.arange(3.0)
    at = id(sample)
    read = lambda offset, kind: kind.from_address(at + offset).value  # noqa: E731
    return (
        read(8, ctypes.c_int64) == id(np.ndarray)
        and read(16, ctypes.c_int64) == sample.ctypes.data
        and read(24, ctypes.c_int32) == 1
        and read(56, ctypes.c_int64) == id(np.dtype(np.float64))
        and read(64, ctypes.c_int32) & 257 == 257
        and bytes.__basicsize__ == BYTES_HEADER + 1
    )


def builtin(name: str, entry: int, loop: int, facts: dict[str, Any], fallback: Callable, *kept: Any) -> Callable:
    """A built-in for one state.

    entry     address of the compiled `entry_text`
    loop      address of the kernel's loop; its last input is the time, taken as 0
    facts     shapes of its inputs and of its one output
    fallback  what takes all other calls
    kept      what must live as long as the built-in, which holds it where others hold their module
    """
    lengths = [shape[0] for shape in facts["inputs"][:-1]]
    shape = (*facts["outputs"][0], 0, 0, 0)[:3]
    known = {**_addresses(), "loop": loop, "inputs": len(lengths), "fallback": id(fallback), "zero": 0}
    known |= {"axes": len(facts["outputs"][0]), "d0": shape[0], "d1": shape[1], "d2": shape[2]}
    values = [known[field] for field in CONTEXT] + lengths
    context = struct.pack(f"<{len(values)}q", *values)
    definition = _Definition(name.encode(), entry, METH_FASTCALL_KEYWORDS, b"")
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]
    return make(ctypes.addressof(definition), context, (definition, fallback, *kept))
