"""Graph → LLVM IR: one function for one state, one for a row of lanes, and all that they call.

A lane holds one state. Inputs and outputs are rows of doubles, one row per state; blocks of rows are
transposed in registers. All lane widths do the same operations, so they round alike.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

from polhode.errors import escaped
from polhode.kernel.backends.llvm import parts, routine_functions
from polhode.kernel.backends.llvm.arc_tangent import arc_tangent_text
from polhode.kernel.backends.llvm.driver import STREAM, driver_text, stream_text
from polhode.kernel.backends.llvm.function_text import LIBRARY, SINES, FunctionText, angles, table_of_constants
from polhode.kernel.graph import Graph
from polhode.kernel.operations import OPERATIONS
from polhode.kernel.routine import Routine, blocks, routines
from polhode.kernel.written_out import written_out

APART = 500
"""Operations of a routine that several kernels call from which on it is a module of its own, compiled once for all: a
module takes some 2 ms beside its operations, 500 of them 5 to 10 ms."""

BUSY = 6000
"""Operations of a routine that is a module of its own, in which its kernels spend most of their time, from which on it
is optimised before it is used. LLVM takes 0.5 s for the 12,600 of `talos`, quickly 0.1 s, but Python traces meanwhile,
for 0.6 s, what the run asks for next; and the run takes 0.8 s in place of 1.4. Default runs of smaller machines
(`arm-7` 1,000, `quadruped` 2,500) take less time than that costs."""

OWN = "own"
"""What a routine is called while its module is written, before a digest of that text names it."""


class SharedModule(NamedTuple):
    """A routine as a module of its own, with what it alone calls.

    name  of its function, less the number of lanes: it has a digest of the text
    uses  the modules of the shared routines that it calls, each once, with those that they use before them
    busy  whether it is optimised before it is used
    """

    name: str
    text: str
    uses: tuple["SharedModule", ...]
    busy: bool = False


class Modules(NamedTuple):
    """The texts of a kernel: its own module, and those of the shared routines that it calls."""

    own: str
    shared: tuple[SharedModule, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """All of them, its own first."""
        return (self.own, *(module.text for module in self.shared))


_shared: WeakKeyDictionary[Routine, dict[tuple, SharedModule]] = WeakKeyDictionary()
"""The modules of shared routines, by lanes and by how they are compiled, while the routines live."""


def kernel_text(
    graph: Graph,
    name: str,
    width: int,
    names: Mapping[Routine, str] | None = None,
    fast: bool = False,
    single: bool = True,
    table: dict[str, int] | None = None,
) -> str:
    """The function that takes `width` states: pointers and row strides in bytes, arguments then results.

    single  whether another function takes what is left of a batch; else this one has the last row as a last argument
    table   the places of constants that are to be read from memory; None: they stand where they are used
    """
    body = FunctionText(width, names, name, fast, table=table)
    ports = [*graph.inputs, *graph.outputs]
    if not single:
        body.fill_lanes("%last")
    if parts.is_one_call(graph):
        parts.one_call(body, graph)
    elif parts.is_large(graph):
        parts.kernel(body, graph)
    else:
        _compute_rows(body, graph)
    given = [f"ptr noalias %p{i}, i64 %s{i}" for i in range(len(ports))] + ["i64 %last"] * (not single)
    given += ["i1 %past"] * parts.goes_past(graph, width)
    return "\n".join(
        [
            *body.functions,
            f"define internal void @{name}({', '.join(given)}) noinline alignstack(64) {{",
            "entry:",
            *body.scratch,
            *body.lines,
            "  ret void",
            "}",
        ]
    )


def _compute_rows(body: FunctionText, graph: Graph) -> None:
    """The body of a kernel: rows transposed in registers, the operations, and back to rows."""
    values: dict[int, str] = {}
    turned = angles(graph.nodes)
    about = [not {*port.nodes}.isdisjoint(turned) for port in graph.inputs]
    for angular in (True, False):  # sines and cosines before other arguments are read
        for i, port in enumerate(graph.inputs):
            if about[i] == angular:
                values |= zip(port.nodes, body.load(port, f"%p{i}", f"%s{i}"), strict=True)
        body.sines_of(turned, values)
    parts.compute(body, graph, values)
    for i, port in enumerate(graph.outputs, len(graph.inputs)):
        body.store(port, f"%p{i}", f"%s{i}", [values[k] for k in port.nodes])


def sines_text(width: int, count: int) -> str:
    """The function of so many sines and cosines: numbers, then the sine and the cosine of each, in one memory."""
    body = FunctionText(width)
    numbers = [body.part("%memory", k) for k in range(count)]
    body.sines_cosines(numbers)
    for k, value in enumerate((value for x in numbers for value in body.sincos[x]), count):
        place = body.put(f"getelementptr {body.real}, ptr %memory, i64 {k}")
        body.lines.append(f"  store {body.real} {value}, ptr {place}, align {8 * width}")
    head = f"define internal void @sines{count}_{width}(ptr noalias %memory) noinline alignstack(64) {{"
    return "\n".join([head, "entry:", *body.scratch, *body.lines, "  ret void", "}"])


def huge_text(width: int) -> str:
    """The function that asks the C library for sines and cosines."""
    body = FunctionText(width)
    x = body.put(f"load {body.real}, ptr %x, align 64")
    for function, place in (("sin", "%s"), ("cos", "%c")):
        body.lines.append(f"  store {body.real} {body.lane_by_lane(function, [x])}, ptr {place}, align 64")
    head = f"define internal void @huge_{width}(ptr %x, ptr %s, ptr %c) noinline cold alignstack(64) {{"
    return "\n".join([head, "entry:", *body.lines, "  ret void", "}"])


def header(graph: Graph) -> str:
    """The comment above a module that is shown: what it computes, by which names, how. Not part of what is compiled."""
    return "".join(f"; {escaped(line)}\n" for line in (repr(graph), *graph.notes)) + "\n"


def module_text(
    graph: Graph, name: str, width: int, fast: bool = False, single: bool = True, quick: bool = False
) -> str:
    """The module of a graph itself: see `modules`."""
    return modules(graph, name, width, fast, single, quick).own


def modules(
    graph: Graph, name: str, width: int, fast: bool = False, single: bool = True, quick: bool = False
) -> Modules:
    """The modules of a kernel: declarations, kernels for one state and for `width` lanes, the driver; shared routines.

    fast    sums and products may be reassociated: other bits, also from one lane width to another
    single  whether there is a kernel for one state; without, there is less to compile (`CompiledAs`)
    quick   whether it is compiled at LLVM's quick level only, and so in the form which that takes least time for
    """
    widths = sorted({1, width} if single else {width})
    graphs = {w: graph if w == 1 else written_out(graph) for w in widths}
    abreast = _abreast(routines(graph), widths)
    shared = {w: _shared_modules([graphs[w]], w, fast, quick, abreast) for w in widths}
    lanes = _lanes(widths, abreast)
    tables = _tables(lanes, quick)
    own = _own_routines([graph], abreast)
    driver = driver_text(graph, name, width, single, parts.goes_past(graphs[width], width))
    kernels = []
    for w in widths:
        names = own | {routine: module.name for routine, module in shared[w].items()}
        kernels.append(kernel_text(graphs[w], f"{name}_{w}", w, names, fast, single, tables.get(w)))
    kernels += _routine_texts(own, shared, widths, fast, tables, abreast, kernels)
    kernels += [driver, *([stream_text()] if STREAM in driver else [])]
    used = dict.fromkeys(one for w in widths for module in shared[w].values() for one in (*module.uses, module))
    return Modules(_joined(kernels, lanes, bool(own), shared, tables), tuple(used))


def _tables(widths: Sequence[int], quick: bool) -> dict[int, dict[str, int]]:
    """Tables for the constants of several lanes, where they are read from memory."""
    return {w: {} for w in widths if quick and w > 1}


def _abreast(called: Iterable[Routine], widths: Sequence[int]) -> frozenset[Routine]:
    """Of routines, with what they call, those that code for one state calls with a lane for each pass of a loop: they
    are written beside that code, in as many lanes."""
    if 1 not in widths:
        return frozenset()
    return frozenset(inner for routine in called for inner in routine_functions.called_abreast(routine))


def _lanes(widths: Sequence[int], abreast: frozenset[Routine]) -> Sequence[int]:
    """The numbers of lanes of the functions of a module."""
    return sorted({*widths, routine_functions.ABREAST}) if abreast else widths


def _is_apart(routine: Routine, abreast: frozenset[Routine]) -> bool:
    """Whether a routine is a module of its own."""
    return routine.shared and routine not in abreast and _is_long(routine)


def _is_long(routine: Routine) -> bool:
    """Whether a routine is a module of its own for its size, with what is written beside it."""
    if routine.size >= APART:
        return True
    called = [inner for block in blocks(routine.body) for inner in routines(block.graph)]
    return routine.size + sum(inner.size for inner in _abreast([routine, *called], [1])) >= APART


def _called(graphs: Sequence[Graph], abreast: frozenset[Routine]) -> dict[Routine, None]:
    """The routines that graphs call, directly or through others, but for what modules of their own call."""
    found: dict[Routine, None] = {}
    for graph in graphs:
        for node in graph.nodes:
            if node.op == "call" and node.value not in found:
                if not _is_apart(node.value, abreast):
                    found |= _called([block.graph for block in blocks(node.value.body)], abreast)
                found[node.value] = None
    return found


def _own_routines(graphs: Sequence[Graph], abreast: frozenset[Routine]) -> dict[Routine, str]:
    """The routines that are written in the module of graphs, by name."""
    own = [routine for routine in _called(graphs, abreast) if not _is_apart(routine, abreast)]
    return {routine: f"routine{k}" for k, routine in enumerate(own)}


def _shared_modules(
    graphs: Sequence[Graph], width: int, fast: bool, quick: bool, abreast: frozenset[Routine]
) -> dict[Routine, SharedModule]:
    """The modules of the shared routines that graphs call."""
    apart = [routine for routine in _called(graphs, abreast) if _is_apart(routine, abreast)]
    return {routine: shared_module(routine, width, fast, quick) for routine in apart}


def shared_module(routine: Routine, width: int, fast: bool, quick: bool) -> SharedModule:
    """The module of a shared routine, for so many lanes; the same for all kernels that call it."""
    known, key = _shared.setdefault(routine, {}), (width, fast, quick and width > 1)
    if key not in known:
        known[key] = _new_shared_module(routine, width, fast, quick)
    return known[key]


def _new_shared_module(routine: Routine, width: int, fast: bool, quick: bool) -> SharedModule:
    graphs = [block.graph for block in blocks(routine.body)]
    abreast = _abreast([routine, *(inner for graph in graphs for inner in routines(graph))], [width])
    lanes = _lanes([width], abreast)
    others, tables = _shared_modules(graphs, width, fast, quick, abreast), _tables(lanes, quick)
    own = _own_routines(graphs, abreast) | {routine: OWN}
    texts = _routine_texts(own, {width: others}, [width], fast, tables, abreast)
    text = _joined(texts, lanes, True, {width: others}, tables).replace(
        f"define internal void @{OWN}_{width}(", f"define void @{OWN}_{width}("
    )
    name = f"shared_{hashlib.sha256(text.encode()).hexdigest()[:24]}"
    used = dict.fromkeys(one for module in others.values() for one in (*module.uses, module))
    busy = routine.busy and routine.size >= BUSY and width == 1
    return SharedModule(name, text.replace(f"@{OWN}_", f"@{name}_"), tuple(used), busy)


def _routine_texts(
    own: Mapping[Routine, str],
    shared: Mapping[int, Mapping[Routine, SharedModule]],
    widths: Sequence[int],
    fast: bool,
    tables: dict[int, dict[str, int]],
    abreast: frozenset[Routine],
    callers: Sequence[str] = (),
) -> list[str]:
    """The functions of routines that a module has itself, and their tables.

    callers  the kernels; of a routine that is called with a lane for each pass only the lanes that are called are there
    """
    found: list[str] = []
    for routine, title in reversed(list(own.items())):  # what calls before what is called
        for w in _lanes(widths, abreast) if routine in abreast else [1] if routine.one_state else widths:
            if routine in abreast and not any(f"@{title}_{w}(" in text for text in (*callers, *found)):
                continue
            names = {**own, **{other: module.name for other, module in shared.get(w, {}).items()}}
            body = FunctionText(w, names, f"{title}_{w}", fast, table=tables.get(w))
            text = routine_functions.routine_text(routine, names, body)
            found += [*body.functions, text]
    return found + [routine_functions.table_text(routine, title) for routine, title in own.items()]


def _joined(
    functions: Sequence[str],
    widths: Sequence[int],
    has_routines: bool,
    shared: Mapping[int, Mapping[Routine, SharedModule]],
    tables: Mapping[int, dict[str, int]],
) -> str:
    """A module of functions: what they call is declared, or written after them."""
    every = sorted({1, *widths, routine_functions.TOGETHER}) if has_routines else widths
    declarations = []
    for w in every:
        real, suffix = ("double", "f64") if w == 1 else (f"<{w} x double>", f"v{w}f64")
        for intrinsic, arity in (("sqrt", 1), ("fabs", 1), ("fma", 3)):
            declarations.append(f"declare {real} @llvm.{intrinsic}.{suffix}({', '.join([real] * arity)})")
        if w > 1:
            truth = f"<{w} x i1>"
            declarations.append(f"declare {real} @llvm.masked.load.{suffix}.p0(ptr, i32, {truth}, {real})")
            declarations.append(f"declare void @llvm.masked.store.{suffix}.p0({real}, ptr, i32, {truth})")
    for function in ("sin", "cos", *LIBRARY):
        declarations.append(f"declare double @{function}({', '.join(['double'] * OPERATIONS[function].arity)})")
    declarations.append("declare i32 @feclearexcept(i32)")
    declarations.append("declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
    declarations.append("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")
    declarations += [line for w in sorted({1, *widths}) if has_routines for line in routine_functions.declarations(w)]
    declarations.append("declare i64 @llvm.umin.i64(i64, i64)")
    for w, called in shared.items():
        for routine, module in called.items():
            declarations.append(routine_functions.declaration(routine, f"{module.name}_{w}"))
    texts = [*functions, *(table_of_constants(w, table) for w, table in tables.items() if table)]
    asked = [(w, n) for w in every for n in range(1, SINES + 1) if any(f"@sines{n}_{w}(" in text for text in texts)]
    texts += [sines_text(*each) for each in asked]
    texts += [huge_text(w) for w in every if any(f"@huge_{w}(" in text for text in texts)]
    texts += [arc_tangent_text(w) for w in every if any(f"@atan2_{w}(" in text for text in texts)]
    never = '!0 = !{!"branch_weights", i32 1, i32 100000}\n!1 = !{i32 1}\n'
    return "\n\n".join(["\n".join(dict.fromkeys(declarations)), *texts, never])
