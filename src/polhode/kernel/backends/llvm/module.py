"""Graph → LLVM IR: one function for one state, one for a row of lanes, and all that they call.

A lane holds one state. Inputs and outputs are rows of doubles, one row per state; blocks of rows are
transposed in registers. All lane widths do the same operations, so they round alike.
"""

from collections.abc import Mapping

from polhode.errors import escaped
from polhode.kernel.backends.llvm import parts, routine_functions
from polhode.kernel.backends.llvm.driver import STREAM, driver_text, stream_text
from polhode.kernel.backends.llvm.function_text import LIBRARY, SINES, FunctionText, angles, table_of_constants
from polhode.kernel.graph import Graph
from polhode.kernel.operations import OPERATIONS
from polhode.kernel.routine import Routine, routines


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
    """The whole module: declarations, kernels for one state and for `width` lanes, the driver.

    fast    sums and products may be reassociated: other bits, also from one lane width to another
    single  whether there is a kernel for one state; without, there is less to compile (`CompiledAs`)
    quick   whether it is compiled at LLVM's quick level only, and so in the form which that takes least time for
    """
    widths = sorted({1, width} if single else {width})
    names = {routine: f"routine{k}" for k, routine in enumerate(routines(graph))}
    abreast = (
        {called for routine in names for called in routine_functions.called_abreast(routine)} if 1 in widths else set()
    )
    lanes = sorted({*widths, routine_functions.ABREAST}) if abreast else widths
    every = sorted({1, *lanes, routine_functions.TOGETHER}) if names else widths
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
    declarations += [line for w in sorted({1, *lanes}) if names for line in routine_functions.declarations(w)]
    declarations.append("declare i64 @llvm.umin.i64(i64, i64)")
    tables: dict[int, dict[str, int]] = {w: {} for w in lanes if quick and w > 1}
    kernels = [kernel_text(graph, f"{name}_{w}", w, names, fast, single, tables.get(w)) for w in widths]
    for routine, title in names.items():
        own = lanes if routine in abreast else widths
        for body in [FunctionText(w, names, f"{title}_{w}", fast, table=tables.get(w)) for w in own]:
            text = routine_functions.routine_text(routine, names, body)
            kernels += [*body.functions, text]
    kernels += [table_of_constants(w, table) for w, table in tables.items() if table]
    kernels += [routine_functions.table_text(routine, names[routine]) for routine in names]
    called = [(w, n) for w in every for n in range(1, SINES + 1) if any(f"@sines{n}_{w}(" in text for text in kernels)]
    kernels += [sines_text(*each) for each in called]
    kernels += [huge_text(w) for w in every if any(f"@huge_{w}(" in text for text in kernels)]
    driver = driver_text(graph, name, width, single, parts.goes_past(graph, width))
    kernels += [stream_text()] if STREAM in driver else []
    never = '!0 = !{!"branch_weights", i32 1, i32 100000}\n!1 = !{i32 1}\n'
    return "\n\n".join(["\n".join(dict.fromkeys(declarations)), *kernels, driver, never])
