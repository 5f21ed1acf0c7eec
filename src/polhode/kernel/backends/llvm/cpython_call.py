"""One state, little overhead: a built-in function around a compiled kernel.

The built-in looks at its arguments in machine code, written as LLVM text (`builtin_text.py`) for the shapes of one
kernel. Where they are just what the kernel takes (one row of doubles each, contiguous; results to be made, or given as
`out` and apart from all else) it runs the kernel; anything else goes to a Python callable, which checks, copies and
explains.

This file and `builtin_text.py` alone read how CPython and NumPy lay out their objects in memory: `usable` tries the
layout before any use of it. POLHODE_BUILTINS=0 in the environment switches it off: calls are then checked in Python,
with the same bits, at 3 µs more a call.
"""

import ctypes
import os
import struct
import sys
from collections.abc import Callable
from functools import cache
from inspect import signature
from typing import Any

import numpy as np

from polhode.kernel.backends.llvm.builtin_text import (
    ALIGNED_ROWS,
    AXES,
    BYTES_HEADER,
    CONTEXT,
    DATA,
    DIMENSIONS,
    FLAGS,
    HELD,
    ITEMS,
    KIND,
    SIZE,
    TYPE,
    WRITEABLE,
)

SWITCH = "POLHODE_BUILTINS"
"""The environment variable that switches built-ins off where it is "0"; read when a kernel would get one."""

METH_FASTCALL_KEYWORDS = 0x80 | 0x02
TP_NEW = 65
"""CPython's number of the slot that makes an object of a type."""
PYARRAY_RETURN, PYARRAY_NEW = 76, 93
"""The places of functions in NumPy's table: one gives a scalar for an array without axes, one makes an array."""


class Context(bytes):
    """A built-in's `self`: addresses, as CPython keeps the data of any bytes object.

    Addresses mean nothing in another process. Pickled it is its owner, whose method of the same name the built-in
    stands for: so a built-in is pickled as that method of the owner, as data, and is compiled again where it is used.
    """

    owner: Any
    entry: int
    """Address of the built-in's function."""

    def __reduce__(self) -> tuple:
        if self.owner is None:
            raise TypeError("a compiled kernel cannot be pickled: it is code of this process")
        return itself, (self.owner,)

    __reduce_ex__ = lambda self, protocol: self.__reduce__()  # noqa: E731


def itself(owner: Any) -> Any:
    """The owner of a built-in, as it was pickled."""
    return owner


OUT = sys.intern("out")
"""The one keyword that the built-in knows; a keyword written in a call is the very same object."""

LARGEST = 12
"""Arguments and results together that a built-in may have."""


class _Definition(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


@cache
def addresses() -> dict[str, int]:
    """The addresses of the objects and functions of CPython and NumPy that the built-in needs."""
    from numpy._core import _multiarray_umath  # type: ignore[attr-defined]

    python = ctypes.pythonapi
    pointer = python.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(pointer(_multiarray_umath._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))
    slot = python.PyType_GetSlot
    slot.restype, slot.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_int]
    functions = {
        "vectorcall": python.PyObject_Vectorcall,
        "pack": python.PyTuple_Pack,
        "hold": python.Py_IncRef,
        "release": python.Py_DecRef,
    }
    return {
        "array_type": id(np.ndarray),
        "float64": id(np.dtype(np.float64)),
        "out_name": id(OUT),
        "tuple_type": id(tuple),
        "new_array": int(table[PYARRAY_NEW] or 0),
        "as_scalar": int(table[PYARRAY_RETURN] or 0),
        "new_record": slot(tuple, TP_NEW),
        **{name: ctypes.cast(function, ctypes.c_void_p).value or 0 for name, function in functions.items()},
    }


def is_switched_on() -> bool:
    """Whether built-ins are wanted."""
    return os.environ.get(SWITCH) != "0"


@cache
def usable() -> bool:
    """Whether this interpreter lays its objects out as the built-in expects: tried, not assumed."""
    sample, names = np.arange(3.0), (OUT,)
    once, twice = [sample], [sample]
    several = [once, sample, twice, twice]
    at = id(sample)
    read = lambda place, kind: kind.from_address(place).value  # noqa: E731
    return (
        struct.calcsize("P") == 8
        and read(at + TYPE, ctypes.c_int64) == id(np.ndarray)
        and read(at + DATA, ctypes.c_int64) == sample.ctypes.data
        and read(at + AXES, ctypes.c_int32) == 1
        and read(read(at + DIMENSIONS, ctypes.c_int64), ctypes.c_int64) == 3
        and read(at + KIND, ctypes.c_int64) == id(np.dtype(np.float64))
        and read(at + FLAGS, ctypes.c_int32) & 0x501 == ALIGNED_ROWS | WRITEABLE
        and bytes.__basicsize__ == BYTES_HEADER + 1
        and read(id(names) + SIZE, ctypes.c_int64) == 1
        and read(id(names) + tuple.__basicsize__, ctypes.c_int64) == id(OUT)
        and read(read(id(several) + ITEMS, ctypes.c_int64) + 8, ctypes.c_int64) == at
        and read(id(once), ctypes.c_int32) == 2
        and read(id(twice), ctypes.c_int32) == 3
    )


def fits(facts: dict[str, Any]) -> bool:
    """Whether a kernel may have a built-in: rows and the time in, results of at most three axes out."""
    inputs, outputs = facts["inputs"], facts["outputs"]
    rows = bool(inputs) and all(len(shape) == 1 for shape in inputs[:-1]) and not inputs[-1]
    small = bool(outputs) and all(len(shape) <= 3 for shape in outputs) and len(inputs) + len(outputs) <= LARGEST
    return rows and small and usable()


def builtin(name: str, entry: int, facts: dict[str, Any], fallback: Callable, record: type, *kept: Any) -> Callable:
    """A built-in for one state.

    entry     address of the compiled `entry_text`
    facts     shapes of the inputs and outputs
    fallback  what takes all other calls
    record    a type of named tuples for several results
    kept      what must live as long as the built-in
    """
    plain = not record.__dictoffset__ and not record.__weakrefoffset__  # nothing but its items is left of a use
    results: list[Any] = [None] * HELD
    known = {**addresses(), "fallback": id(fallback), "record": id(record), "results": id(results) if plain else 0}
    lengths = [n for shape in facts["outputs"] for n in (*shape, 0, 0, 0)[:3]]
    values = [*(known[field] for field in CONTEXT), *lengths]
    context = Context(struct.pack(f"<{len(values)}q", *values))
    context.owner, context.entry = getattr(fallback, "__self__", None), entry
    return new_builtin(name, entry, context, fallback, (record, results, *kept))


class _Kept:
    """What lives as long as a built-in, which has it where others have the name of their module."""

    def __init__(self, *objects: Any) -> None:
        self.objects = objects


def new_builtin(name: str, entry: int, context: Context, fallback: Callable, kept: tuple) -> Callable:
    """A built-in function of CPython around machine code, documented as its fallback is.

    kept  what else lives as long as it
    """
    definition = _Definition(name.encode(), entry, METH_FASTCALL_KEYWORDS, _documentation(name, fallback).encode())
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]
    return make(ctypes.addressof(definition), context, _Kept(definition, fallback, *kept))


def _documentation(name: str, method: Callable) -> str:
    """The documentation of a method in the form that gives a built-in a signature, with no annotations."""
    try:
        plain = [p.replace(annotation=p.empty) for p in signature(method).parameters.values()]
    except ValueError:  # a built-in without one
        return ""
    return f"{name}({', '.join(map(str, plain))})\n--\n\n{method.__doc__ or ''}"
