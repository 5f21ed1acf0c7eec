"""Graph → LLVM IR: one function for one state, one for a row of lanes, and the loop over a batch.

A lane holds one state. Inputs and outputs are rows of doubles, one row per state; blocks of rows are
transposed in registers. All lane widths do the same operations, so they round alike.
"""

from collections.abc import Mapping

from polhode.errors import escaped
from polhode.kernel.backends.llvm import parts, routine_functions
from polhode.kernel.backends.llvm.function_text import LIBRARY, FunctionText, angles
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
) -> str:
    """The function that takes `width` states: pointers and row strides in bytes, arguments then results.

    single  whether another function takes what is left of a batch; else this one has the last row as a last argument
    """
    body = FunctionText(width, names, name, fast)
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


def huge_text(width: int) -> str:
    """The function that asks the C library for sines and cosines."""
    body = FunctionText(width)
    x = body.put(f"load {body.real}, ptr %x, align 64")
    for function, place in (("sin", "%s"), ("cos", "%c")):
        body.lines.append(f"  store {body.real} {body.lane_by_lane(function, [x])}, ptr {place}, align 64")
    head = f"define internal void @huge_{width}(ptr %x, ptr %s, ptr %c) noinline cold alignstack(64) {{"
    return "\n".join([head, "entry:", *body.lines, "  ret void", "}"])


def driver_text(graph: Graph, name: str, width: int, single: bool) -> str:
    """The loop over a batch, with the signature of a NumPy ufunc loop: (args, dimensions, steps, data).

    single  whether there is a function for one state; else what is left of a batch fills some of the lanes
    """
    count = len(graph.inputs) + len(graph.outputs)
    lines = [f"define void @{name}(ptr %args, ptr %dims, ptr %steps, ptr %data) {{", "entry:"]
    lines.append("  %n = load i64, ptr %dims, align 8")
    for i in range(count):
        lines += [
            f"  %a{i} = getelementptr ptr, ptr %args, i64 {i}",
            f"  %p{i} = load ptr, ptr %a{i}, align 8",
            f"  %b{i} = getelementptr i64, ptr %steps, i64 {i}",
            f"  %s{i} = load i64, ptr %b{i}, align 8",
        ]

    def call(states: int, at: str, last: str) -> list[str]:
        text = []
        for i in range(count):
            text += [
                f"  %o{i}{at} = mul i64 %s{i}, %i{at}",
                f"  %q{i}{at} = getelementptr i8, ptr %p{i}, i64 %o{i}{at}",
            ]
        given = [f"ptr %q{i}{at}, i64 %s{i}" for i in range(count)] + [f"i64 {last}"] * (not single)
        return [*text, f"  call void @{name}_{states}({', '.join(given)})"]

    one_by_one = [
        "  br label %one",
        "one:",
        "  %ir = phi i64 [ %whole, %rest ], [ %jr, %onebody ]",
        "  %morer = icmp slt i64 %ir, %n",
        "  br i1 %morer, label %onebody, label %done",
        "onebody:",
        *call(1, "r", ""),
        "  %jr = add i64 %ir, 1",
        "  br label %one",
    ]
    together = [
        "  %left = sub i64 %n, %whole",
        "  %morer = icmp sgt i64 %left, 0",
        "  br i1 %morer, label %some, label %done",
        "some:",
        "  %ir = sub i64 %n, %left",
        "  %last = sub i64 %left, 1",
        *call(width, "r", "%last"),
        "  br label %done",
    ]

    lines += [
        f"  %blocks = sdiv i64 %n, {width}",
        f"  %whole = mul i64 %blocks, {width if width > 1 else 0}",
        "  br label %wide",
        "wide:",
        "  %iw = phi i64 [ 0, %entry ], [ %jw, %widebody ]",
        "  %morew = icmp slt i64 %iw, %whole",
        "  br i1 %morew, label %widebody, label %rest",
        "widebody:",
        *call(width, "w", str(width - 1)),
        f"  %jw = add i64 %iw, {width}",
        "  br label %wide",
        "rest:",
        *(one_by_one if single else together),
        "done:",  # NumPy gives no data and looks at the processor's flags: what unused branches set is no warning
        "  %alone = icmp ne ptr %data, null",
        "  br i1 %alone, label %out, label %clear",
        "clear:",
        "  %cleared = call i32 @feclearexcept(i32 63)",
        "  br label %out",
        "out:",
        "  ret void",
        "}",
    ]
    return "\n".join(lines)


def header(graph: Graph) -> str:
    """The comment above a module that is shown: what it computes, by which names, how. Not part of what is compiled."""
    return "".join(f"; {escaped(line)}\n" for line in (repr(graph), *graph.notes)) + "\n"


def module_text(graph: Graph, name: str, width: int, fast: bool = False, single: bool = True) -> str:
    """The whole module: declarations, kernels for one state and for `width` lanes, the driver.

    fast    sums and products may be reassociated: other bits, also from one lane width to another
    single  whether there is a kernel for one state; without, there is less to compile (`CompiledAs`)
    """
    widths = sorted({1, width} if single else {width})
    names = {routine: f"routine{k}" for k, routine in enumerate(routines(graph))}
    every = sorted({1, *widths, routine_functions.TOGETHER}) if names else widths
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
    declarations += [line for w in sorted({1, *widths}) if names for line in routine_functions.declarations(w)]
    declarations.append("declare i64 @llvm.umin.i64(i64, i64)")
    kernels = [kernel_text(graph, f"{name}_{w}", w, names, fast, single) for w in widths]
    for routine, title in names.items():
        for body in [FunctionText(w, names, f"{title}_{w}", fast) for w in widths]:
            text = routine_functions.routine_text(routine, names, body)
            kernels += [*body.functions, text]
    kernels += [routine_functions.table_text(routine, names[routine]) for routine in names]
    kernels += [huge_text(w) for w in every if any(f"@huge_{w}(" in text for text in kernels)]
    driver = driver_text(graph, name, width, single)
    never = '!0 = !{!"branch_weights", i32 1, i32 100000}\n'
    return "\n\n".join(["\n".join(dict.fromkeys(declarations)), *kernels, driver, never])
