"""Graph → C99: one function of one state, to be read, compiled anywhere and called by anything.

`TEXT` says how each operation is written; CUDA C (`emit_cuda.py`) is written by the same table.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from math import isinf, isnan

import numpy as np

from polhode.errors import InputError, message
from polhode.kernel.graph import Graph, Port

TEXT = {
    "add": "{} + {}",
    "sub": "{} - {}",
    "mul": "{} * {}",
    "div": "{} / {}",
    "neg": "-{}",
    "fma": "fma{f}({}, {}, {})",
    "abs": "fabs{f}({})",
    "sqrt": "sqrt{f}({})",
    "sin": "sin{f}({})",
    "cos": "cos{f}({})",
    "tan": "tan{f}({})",
    "asin": "asin{f}({})",
    "acos": "acos{f}({})",
    "atan2": "atan2{f}({}, {})",
    "exp": "exp{f}({})",
    "log": "log{f}({})",
    "less": "{} < {}",
    "less_equal": "{} <= {}",
    "and": "{} && {}",
    "or": "{} || {}",
    "not": "!{}",
    "select": "{} ? {} : {}",
}
"""Every operation that has operands, in C; `{f}` is the ending of functions of this kind of number."""

REALS = {"double": "", "float": "f"}
"""The kinds of numbers, and the ending of their constants and functions."""

WORDS = """
    alignas alignof and asm auto bitand bitor bool break case catch char class compl complex const const_cast constexpr
    continue decltype default delete do double dynamic_cast else enum explicit export extern false float for friend
    goto if imaginary inline int long mutable namespace new noexcept not nullptr operator or private protected public
    register reinterpret_cast restrict return short signed sizeof static static_assert static_cast struct switch
    template this thread_local throw true try typedef typeid typename typeof union unsigned using virtual void volatile
    wchar_t while xor linux unix main sincos sincosf blockDim blockIdx gridDim threadIdx warpSize
"""
"""Of C, C++ and CUDA."""

RESERVED = {
    *WORDS.split(),
    *(function + f for f in REALS.values() for text in TEXT.values() for function in re.findall(r"\w+(?={f})", text)),
}
"""What no argument may be called: words of the languages, and the functions that are called here."""

UNUSABLE = re.compile(r"([^a-zA-Z].*)?|x\d+|(M|FP|HUGE|MATH)_.*|INFINITY|NAN")
"""Nor this: what does not begin with a letter, the names of values x_k, and those that <math.h> defines."""


def identifier(name: str, taken: Iterable[str] = ()) -> str:
    """A legal name in C that is not taken: "wrench.hand.force" becomes wrench_hand_force."""
    text = re.sub(r"[^a-zA-Z0-9_]", "_", name)
    text = f"a_{text}" if UNUSABLE.fullmatch(text) else text
    while text in RESERVED or text in taken:
        text += "_"
    return text


def identifiers(names: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """Legal names in C, all different."""
    found: list[str] = []
    for name in names:
        found.append(identifier(name, [*taken, *found]))
    return found


def constant(value: float | bool, real: str = "double") -> str:
    """A number as C reads it back exactly; a condition as 1 or 0."""
    if isinstance(value, bool):
        return str(int(value))
    with np.errstate(all="ignore"):
        rounded = np.float32(value) if real == "float" else np.float64(value)
    if isnan(rounded):
        return f"({real})NAN"
    text = f"({real})INFINITY" if isinf(rounded) else f"{abs(rounded)!s}{REALS[real]}"
    return f"(-{text})" if np.signbit(rounded) else text


def header(graph: Graph, names: Sequence[str], *notes: str) -> str:
    """The comment on top: arguments, results, counts of operations, and which names had to change."""
    ports = [*graph.inputs, *graph.outputs]
    renamed = [f"{new} is {port.name}." for new, port in zip(names, ports, strict=True) if new != port.name]
    lines = [line.replace("*/", "* /").replace("/*", "/ *") for line in (repr(graph), *notes, *renamed)]
    return "\n * ".join(["/*", *"\n".join(lines).splitlines()]) + "\n */"


def check(name: str, real: str) -> None:
    """Raise an InputError for a function that C cannot name, or numbers that it does not have."""
    if real not in REALS:
        raise InputError(message(f"source of {name}", "no such kind of number", repr(real), " or ".join(REALS)))
    if identifier(name) != name:
        what, expected = "not a name for a function in C", f"letters and digits, as {identifier(name)}"
        raise InputError(message(f"source of {name!r}", what, repr(name), expected))


def statements(graph: Graph, names: Sequence[str], real: str, sincos: bool = False) -> Iterator[str]:
    """The lines of the body: every operation a value x_k of its own, in the order of the graph; then the results.

    names   of the arguments and results, in that order
    sincos  whether sine and cosine of one argument come from one call
    """
    inputs = list(zip(names, graph.inputs, strict=False))
    outputs = list(zip(names[len(inputs) :], graph.outputs, strict=True))
    value = {k: f"{name}[{i}]" for name, port in inputs for i, k in enumerate(port.nodes)}
    results = {k for port in graph.outputs for k in port.nodes}
    used = results.union(*(node.args for node in graph.nodes))
    pairs = _pairs(graph) if sincos else {}
    yield from (f"(void){name};" for name, port in inputs + outputs if used.isdisjoint(port.nodes))
    for k, node in enumerate(graph.nodes):
        if node.op == "constant":
            value[k] = constant(node.value, real)  # type: ignore[arg-type]
        elif k in pairs:
            value[k] = f"x{k}"
            if k == min(pairs[k]):
                s, c = pairs[k]
                yield f"{real} x{s}, x{c};"
                yield f"sincos{REALS[real]}({value[node.args[0]]}, &x{s}, &x{c});"
        elif node.args or k in results:  # an input that is a result is read before any result is written
            text = TEXT[node.op].format(*(value[a] for a in node.args), f=REALS[real]) if node.args else value[k]
            value[k] = f"x{k}"
            yield f"const {'int' if node.is_condition else real} x{k} = {text};"
    yield from (f"{name}[{i}] = {value[k]};" for name, port in outputs for i, k in enumerate(port.nodes))


def _pairs(graph: Graph) -> dict[int, tuple[int, int]]:
    """The places of sine and cosine of one argument, found at both."""
    place = {(node.op, node.args): k for k, node in enumerate(graph.nodes) if node.op in ("sin", "cos")}
    pairs = [(k, place["cos", args]) for (op, args), k in place.items() if op == "sin" and ("cos", args) in place]
    return {k: pair for pair in pairs for k in pair}


def c_source(graph: Graph, name: str, real: str = "double") -> str:
    """A graph as stand-alone C99: void name(arguments, results), each an array whose last index runs fastest.

    Arrays may share memory: everything is read before anything is written. A scalar is an array of one.
    Conditions among the results are 1 or 0. To get the bits of `evaluate` (but for the last one of sin,
    cos, …), the compiler must not fuse on its own: gcc -std=c99 or -ffp-contract=off.

    graph  products are fused if they are in it (`schedule.fused`)
    name   of the function
    real   "double" or "float"
    """
    check(name, real)
    names = identifiers([port.name for port in (*graph.inputs, *graph.outputs)], [name])
    parameters = [f"const {_parameter(port, n, real)}" for n, port in zip(names, graph.inputs, strict=False)]
    parameters += [_parameter(p, n, real) for n, p in zip(names[len(parameters) :], graph.outputs, strict=True)]
    body = "\n".join(f"    {line}" for line in statements(graph, names, real))
    head = f"{header(graph, names)}\n#include <math.h>\n"
    return f"{head}\nvoid {name}({', '.join(parameters) or 'void'})\n{{\n{body}\n}}\n"


def _parameter(port: Port, name: str, real: str) -> str:
    """How an array is declared, with its size where it has one."""
    return f"{real} {name}[{len(port.nodes)}]" if port.shape and port.nodes else f"{real} *{name}"
