"""The text of a built-in's function: what it asks of its arguments, and what it hands back.

New results are as often as not those of a former call: the last few are held in a list, and one that nobody else
holds any more is filled again (`_look_for_free`). To make arrays and a record of them takes 60 to 200 ns, as long as
the kernel of a small machine. Nobody can tell but by what counts references: `ndarray.resize` refuses such an array
unless it is told not to look (`refcheck=False`), and a weak reference lives until the next calls.

Offsets in objects of CPython and NumPy stand here; `cpython_call.usable` tries them before any use.
"""

import math

import numpy as np

DOUBLE = 12
"""NumPy's number of float64."""
ALIGNED_ROWS, WRITEABLE = 0x101, 0x400
"""Flags of an array: aligned and C-contiguous; may be written."""
TYPE, SIZE, DATA, AXES, DIMENSIONS, KIND, FLAGS = 8, 16, 16, 24, 32, 56, 64
"""Offsets, in bytes: of the type in an object, of the size in a tuple, of the others in an array."""
ITEMS = 24
"""Offset of the address of a list's items in the list. The number of references to an object stands at its start."""

BYTES_HEADER = 32
"""Offset of the data in a bytes object; the built-in's `self` is one, and holds its context."""

CONTEXT = (
    "array_type", "float64", "new_array", "as_scalar", "vectorcall", "fallback", "out_name", "tuple_type", "record",
    "pack", "new_record", "hold", "release", "results",
)  # fmt: skip
"""The context: addresses of objects and functions, eight bytes each."""


HELD = 6
"""Results of former calls that are held to be filled again: whoever writes a step of four stages in Python has four of
them and asks for the fifth. More would be longer to look through where all are in use, 1 ns each."""

SMALL = 2**20
"""Bytes of the results of one call up to which they are held: six of them are the most that a kernel keeps from others.
To make one of half a megabyte takes 35 µs, with its pages, where its numbers take 20 (Γ of 38 velocities)."""


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

    def plain_array(self, a: str, shape: list[int], flags: int, name: str, otherwise: str = "slow") -> str:
        """Go on where an object is an array of float64 of this shape with these flags; the address of its data."""
        kind = self.load("ptr", a, TYPE)
        self.go_on_if(self.put(f"icmp eq ptr {kind}, {self.field('array_type')}"), f"{name}.array", otherwise)
        axes = self.load("i32", a, AXES)
        self.go_on_if(self.put(f"icmp eq i32 {axes}, {len(shape)}"), f"{name}.axes", otherwise)
        dimensions = self.load("ptr", a, DIMENSIONS)
        lengths = (self.load("i64", dimensions, 8 * k) for k in range(len(shape)))
        fit = [self.put(f"icmp eq i64 {x}, {n}") for x, n in zip(lengths, shape, strict=True)]
        real = self.put(f"icmp eq ptr {self.load('ptr', a, KIND)}, {self.field('float64')}")
        have = self.put(f"and i32 {self.load('i32', a, FLAGS)}, {flags}")
        self.go_on_if(self.all_of(*fit, real, self.put(f"icmp eq i32 {have}, {flags}")), f"{name}.fits", otherwise)
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
    text.do(f"br i1 {given}, label %look, label %take")
    text.label("take")
    taken = _take(text, list(zip(data, lengths, strict=True)), outputs)
    text.label("look")
    again = _look_for_free(text, outputs) if are_held(outputs) else []
    text.do("br label %new0")
    made = _make(text, outputs)
    text.label("run")
    ways = [(made, f"new{len(outputs)}"), (taken, "taken"), (again, "again")][: 3 if again else 2]
    results = [
        text.put("phi ptr " + ", ".join(f"[ {found[k]}, %{block} ]" for found, block in ways))
        for k in range(len(outputs))
    ]
    if again:
        former = text.put(f"phi ptr [ null, %new{len(outputs)} ], [ null, %taken ], [ %held, %again ]")
    _run(text, kernel, data, results)
    if again:
        text.go_on_if(text.put(f"icmp ne ptr {former}, null"), "filled", otherwise="hand")
        text.do(f"ret ptr {former}")
        text.label("hand")
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


def are_held(outputs: list[list[int]]) -> bool:
    """Whether results of these shapes are held to be filled again: arrays, all of them, and small."""
    return all(outputs) and 8 * sum(map(math.prod, outputs)) <= SMALL


def _look_for_free(text: _Text, outputs: list[list[int]]) -> list[str]:
    """Go on to run with the arrays of %held, the first result of former calls that nobody else holds, as it was made;
    or here, if there is none."""
    results = text.field("results")
    text.go_on_if(text.put(f"icmp ne ptr {results}, null"), "places", otherwise="none.free")
    items = text.load("ptr", results, ITEMS)
    text.do("br label %place")
    text.label("place")
    text.do("%place.number = phi i64 [ 0, %places ], [ %place.next, %in.use ]")
    at = text.put(f"getelementptr ptr, ptr {items}, i64 %place.number")
    text.do(f"%held = load ptr, ptr {at}, align 8")
    _go_on_if_free(text, "%held", "held")
    arrays = ["%held"]
    if len(outputs) > 1:
        arrays = [text.load("ptr", "%held", tuple.__basicsize__ + 8 * k) for k in range(len(outputs))]
    for k, (array, shape) in enumerate(zip(arrays, outputs, strict=True)):
        if len(outputs) > 1:
            _go_on_if_free(text, array, f"held{k}")
        text.plain_array(array, shape, ALIGNED_ROWS | WRITEABLE, f"held{k}", otherwise="in.use")
        watched = text.load("ptr", array, np.ndarray.__weakrefoffset__)
        text.go_on_if(text.put(f"icmp eq ptr {watched}, null"), f"held{k}.unwatched", otherwise="in.use")
    text.do(f"call void {text.field('hold')}(ptr %held)")
    text.do("br label %again")
    text.label("again")
    text.do("br label %run")
    text.label("in.use")
    text.do("%place.next = add i64 %place.number, 1")
    more = text.put(f"icmp ult i64 %place.next, {HELD}")
    text.do(f"br i1 {more}, label %place, label %none.free")
    text.label("none.free")
    return arrays


def _go_on_if_free(text: _Text, known: str, name: str) -> None:
    """Go on where an object has one reference; else to the next place."""
    count = text.load("i32", known)
    text.go_on_if(text.put(f"icmp eq i32 {count}, 1"), f"{name}.free", otherwise="in.use")


def _hold_result(text: _Text, result: str) -> None:
    """Put a new result first in the list of those that are held; what is last there goes."""
    results = text.field("results")
    text.go_on_if(text.put(f"icmp ne ptr {results}, null"), "hold", otherwise="done")
    text.do(f"call void {text.field('hold')}(ptr {result})")
    items = text.load("ptr", results, ITEMS)
    held = [text.load("ptr", items, 8 * k) for k in range(HELD)]
    for k, value in enumerate((result, *held[:-1])):
        text.do(f"store ptr {value}, ptr {text.at(items, 8 * k)}, align 8")
    _release(text, held[-1])
    text.do("br label %done")
    text.label("done")
    text.do(f"ret ptr {result}")


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
    found = items[0] if len(items) == 1 else _record(text, items)
    if are_held(outputs):
        made = text.put(f"icmp ne ptr {found}, null")
        text.go_on_if(text.all_of(fresh, made), "new", otherwise="back")
        _hold_result(text, found)
        text.label("back")
    text.do(f"ret ptr {found}")


def _record(text: _Text, items: list[str]) -> str:
    """A record of the items, made from a tuple of them as the type itself makes it; null for want of memory."""
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
    return found


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
