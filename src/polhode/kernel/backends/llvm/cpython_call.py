"""One state, little overhead: a built-in function around a compiled kernel.

The built-in looks at its arguments in machine code, written here as LLVM text for the shapes of one
kernel. Where they are just what the kernel takes (one row of doubles each, contiguous; results to be made,
or given as `out` and apart from all else) it runs the kernel; anything else goes to a Python callable,
which checks, copies and explains.

This file alone reads how CPython and NumPy lay out their objects in memory: `usable` tries the layout before any
use of it. POLHODE_BUILTINS=0 in the environment switches it off: calls are then checked in Python, with the same bits,
at 3 µs more a call.
"""

import ctypes
import math
import os
import struct
import sys
from collections.abc import Callable
from functools import cache
from inspect import signature
from typing import Any

import numpy as np

SWITCH = "POLHODE_BUILTINS"
"""The environment variable that switches built-ins off where it is "0"; read when a kernel would get one."""

METH_FASTCALL_KEYWORDS = 0x80 | 0x02
TP_NEW = 65
"""CPython's number of the slot that makes an object of a type."""
PYARRAY_RETURN, PYARRAY_NEW = 76, 93
"""The places of functions in NumPy's table: one gives a scalar for an array without axes, one makes an array."""
DOUBLE = 12
"""NumPy's number of float64."""
ALIGNED_ROWS, WRITEABLE = 0x101, 0x400
"""Flags of an array: aligned and C-contiguous; may be written."""
TYPE, SIZE, DATA, AXES, DIMENSIONS, KIND, FLAGS = 8, 16, 16, 24, 32, 56, 64
"""Offsets, in bytes: of the type in an object, of the size in a tuple, of the others in an array."""

BYTES_HEADER = 32
"""Offset of the data in a bytes object; the built-in's `self` is one, and holds its context."""

CONTEXT = (
    "array_type", "float64", "new_array", "as_scalar", "vectorcall", "fallback", "out_name", "tuple_type", "record",
    "pack", "new_record", "hold", "release",
)  # fmt: skip
"""The context: addresses of objects and functions, eight bytes each."""


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


class _Text:
    """The text of the built-in's function under construction."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.count = 0

    def put(self, text: str) -> str:
        """One instruction with a result."""
        self.count += 1
        self.lines.append(f"  %x{self.count} = {text}")
        return f"%x{self.count}"

    def do(self, text: str) -> None:
        """One instruction without a result."""
        self.lines.append(f"  {text}")

    def label(self, name: str) -> None:
        """Begin a block."""
        self.lines.append(f"{name}:")

    def at(self, base: str, offset: int) -> str:
        """An address, so many bytes on."""
        return self.put(f"getelementptr i8, ptr {base}, i64 {offset}") if offset else base

    def load(self, kind: str, base: str, offset: int = 0) -> str:
        """The value at an address."""
        return self.put(f"load {kind}, ptr {self.at(base, offset)}, align {4 if kind == 'i32' else 8}")

    def field(self, name: str) -> str:
        """A pointer of the context."""
        return self.load("ptr", "%self", BYTES_HEADER + 8 * CONTEXT.index(name))

    def all_of(self, *conditions: str) -> str:
        """Whether all conditions hold."""
        first, *others = conditions or ("true",)
        for other in others:
            first = self.put(f"and i1 {first}, {other}")
        return first

    def go_on_if(self, condition: str, block: str, otherwise: str = "slow") -> None:
        """Branch to a block, which begins here, or elsewhere."""
        self.do(f"br i1 {condition}, label %{block}, label %{otherwise}")
        self.label(block)

    def call(self, function: str, *given: str) -> str:
        """The pointer that a function of the context returns."""
        return self.put(f"call ptr {self.field(function)}({', '.join(given)})")

    def plain_array(self, a: str, shape: list[int], flags: int, name: str) -> str:
        """Go on where an object is an array of float64 of this shape with these flags; the address of its data."""
        kind = self.load("ptr", a, TYPE)
        self.go_on_if(self.put(f"icmp eq ptr {kind}, {self.field('array_type')}"), f"{name}.array")
        axes = self.load("i32", a, AXES)
        self.go_on_if(self.put(f"icmp eq i32 {axes}, {len(shape)}"), f"{name}.axes")
        dimensions = self.load("ptr", a, DIMENSIONS)
        lengths = (self.load("i64", dimensions, 8 * k) for k in range(len(shape)))
        fit = [self.put(f"icmp eq i64 {x}, {n}") for x, n in zip(lengths, shape, strict=True)]
        real = self.put(f"icmp eq ptr {self.load('ptr', a, KIND)}, {self.field('float64')}")
        have = self.put(f"and i32 {self.load('i32', a, FLAGS)}, {flags}")
        self.go_on_if(self.all_of(*fit, real, self.put(f"icmp eq i32 {have}, {flags}")), f"{name}.fits")
        return self.load("ptr", a, DATA)

    def apart(self, a: str, n: int, b: str, m: int) -> str:
        """Whether n doubles at a and m doubles at b share no memory."""
        before = self.put(f"icmp ule ptr {self.at(a, 8 * n)}, {b}")
        return self.put(f"or i1 {before}, {self.put(f'icmp ule ptr {self.at(b, 8 * m)}, {a}')}")


def entry_text(name: str, kernel: str, inputs: list[list[int]], outputs: list[list[int]]) -> str:
    """LLVM text of the built-in's function around the kernel for one state, of the same module.

    inputs   shapes, one axis each, but for the last: the time, taken as 0
    outputs  shapes; several results become a record, of the type in the context
    """
    text = _Text()
    lengths = [shape[0] for shape in inputs[:-1]]
    _look_at_keywords(text, len(lengths))
    objects = (text.load("ptr", "%args", 8 * k) for k in range(len(lengths)))
    rows = enumerate(zip(objects, lengths, strict=True))
    data = [text.plain_array(a, [n], ALIGNED_ROWS, f"in{k}") for k, (a, n) in rows]
    given = text.put("icmp eq ptr %given, null")
    text.do(f"br i1 {given}, label %new0, label %take")
    text.label("take")
    taken = _take(text, list(zip(data, lengths, strict=True)), outputs)
    made = _make(text, outputs)
    text.label("run")
    pairs = zip(made, taken, strict=True)
    results = [text.put(f"phi ptr [ {a}, %new{len(outputs)} ], [ {b}, %taken ]") for a, b in pairs]
    _run(text, kernel, data, results)
    _hand_back(text, results, outputs)
    text.label("slow")
    passed = f"ptr {text.field('fallback')}, ptr %args, i64 %nargs, ptr %kwnames"
    text.do(f"ret ptr {text.call('vectorcall', passed)}")
    head = f"define ptr @{name}(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {{"
    return "\n".join([head, *text.lines, "}", ""])


def _look_at_keywords(text: _Text, count: int) -> None:
    """Go on with %given: null, or what was given as `out`, the only keyword."""
    text.label("start")
    text.do("%time = alloca double, align 8")
    text.go_on_if(text.put(f"icmp eq i64 %nargs, {count}"), "positional")
    text.go_on_if(text.put("icmp ne ptr %kwnames, null"), "keywords", otherwise="rows")
    text.go_on_if(text.put(f"icmp eq i64 {text.load('i64', '%kwnames', SIZE)}, 1"), "keyword")
    word = text.load("ptr", "%kwnames", tuple.__basicsize__)
    value = text.load("ptr", "%args", 8 * count)
    text.go_on_if(text.put(f"icmp eq ptr {word}, {text.field('out_name')}"), "rows")
    text.do(f"%given = phi ptr [ null, %positional ], [ {value}, %keyword ]")


def _take(text: _Text, inputs: list[tuple[str, int]], outputs: list[list[int]]) -> list[str]:
    """Go on to run where arrays were given for all results, apart from each other and from all arguments."""
    items = ["%given"]
    if len(outputs) > 1:
        kind = text.load("ptr", "%given", TYPE)
        either = [text.put(f"icmp eq ptr {kind}, {text.field(known)}") for known in ("tuple_type", "record")]
        text.go_on_if(text.put(f"or i1 {either[0]}, {either[1]}"), "several")
        text.go_on_if(text.put(f"icmp eq i64 {text.load('i64', '%given', SIZE)}, {len(outputs)}"), "all")
        items = [text.load("ptr", "%given", tuple.__basicsize__ + 8 * k) for k in range(len(outputs))]
    held = list(inputs)
    for k, (item, shape) in enumerate(zip(items, outputs, strict=True)):
        place, size = text.plain_array(item, shape, ALIGNED_ROWS | WRITEABLE, f"out{k}"), math.prod(shape)
        text.go_on_if(text.all_of(*(text.apart(place, size, *other) for other in held)), f"out{k}.apart")
        held.append((place, size))
    text.do("br label %taken")
    text.label("taken")
    text.do("br label %run")
    return items


def _make(text: _Text, outputs: list[list[int]]) -> list[str]:
    """Go on to run with new arrays for all results; where one is refused, those before it go again."""
    made: list[str] = []
    for k, shape in enumerate(outputs):
        text.label(f"new{k}")
        sizes = f"ptr {text.at('%self', BYTES_HEADER + 8 * (len(CONTEXT) + 3 * k))}"
        given = f"ptr {text.field('array_type')}, i32 {len(shape)}, {sizes}, i32 {DOUBLE}"
        made.append(text.call("new_array", given, "ptr null, ptr null, i32 0, i32 0, ptr null"))
        none = text.put(f"icmp eq ptr {made[-1]}, null")
        text.do(f"br i1 {none}, label %drop{k}, label %new{k + 1}")
    text.label(f"new{len(outputs)}")
    text.do("br label %run")
    for k in range(len(outputs) - 1, 0, -1):
        text.label(f"drop{k}")
        _release(text, made[k - 1])
        text.do(f"br label %drop{k - 1}")
    text.label("drop0")
    text.do("ret ptr null")
    return made


def _run(text: _Text, kernel: str, data: list[str], results: list[str]) -> None:
    """Call the kernel for one state: places and steps, in the order of arguments and results."""
    text.do("store double 0.0, ptr %time, align 8")
    places = [*data, "%time", *(text.load("ptr", result, DATA) for result in results)]
    text.do(f"call void @{kernel}({', '.join(f'ptr {place}, i64 0' for place in places)})")


def _hand_back(text: _Text, results: list[str], outputs: list[list[int]]) -> None:
    """Return what was given, or the new result (results without axes as scalars), or a record of several."""
    fresh = text.put("icmp eq ptr %given, null")
    text.do(f"br i1 {fresh}, label %fresh, label %given.back")
    text.label("given.back")
    for result in results:
        text.do(f"call void {text.field('hold')}(ptr {result})")
    text.do("br label %pack")
    text.label("fresh")
    values = [r if shape else text.call("as_scalar", f"ptr {r}") for r, shape in zip(results, outputs, strict=True)]
    text.do("br label %pack")
    text.label("pack")
    pairs = zip(values, results, strict=True)
    items = [text.put(f"phi ptr [ {a}, %fresh ], [ {b}, %given.back ]") for a, b in pairs]
    if len(items) == 1:
        text.do(f"ret ptr {items[0]}")
        return
    _record(text, items)


def _record(text: _Text, items: list[str]) -> None:
    """Return a record of the items, made from a tuple of them as the type itself makes it."""
    whole = [text.put(f"icmp ne ptr {item}, null") for item in items]
    text.do(f"br i1 {text.all_of(*whole)}, label %whole, label %lost")
    text.label("lost")  # for want of memory; to release null is allowed
    _release(text, *items)
    text.do("ret ptr null")
    text.label("whole")
    plain = _packed(text, items, "plain")
    holder = _packed(text, [plain], "holder")
    found = text.call("new_record", f"ptr {text.field('record')}, ptr {holder}, ptr null")
    _release(text, holder)
    text.do(f"ret ptr {found}")


def _packed(text: _Text, items: list[str], block: str) -> str:
    """A tuple that holds the items alone."""
    given = ", ".join([f"i64 {len(items)}", *(f"ptr {item}" for item in items)])
    made = text.put(f"call ptr (i64, ...) {text.field('pack')}({given})")
    _release(text, *items)
    text.go_on_if(text.put(f"icmp ne ptr {made}, null"), block, otherwise="drop0")
    return made


def _release(text: _Text, *objects: str) -> None:
    for known in objects:
        text.do(f"call void {text.field('release')}(ptr {known})")


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
    known = {**addresses(), "fallback": id(fallback), "record": id(record)}
    lengths = [n for shape in facts["outputs"] for n in (*shape, 0, 0, 0)[:3]]
    values = [*(known[field] for field in CONTEXT), *lengths]
    context = Context(struct.pack(f"<{len(values)}q", *values))
    context.owner, context.entry = getattr(fallback, "__self__", None), entry
    return new_builtin(name, entry, context, fallback, (record, *kept))


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
