"""Graph → C99: one function of one state, to be read, compiled anywhere and called by anything.

`TEXT` says how each operation is written; CUDA C (`cuda.py`) is written by the same table.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isinf, isnan
from typing import NamedTuple

import numpy as np

from polhode.errors import InputError, escaped, message
from polhode.kernel.backends.rolled_text import rolled
from polhode.kernel.graph import Graph, Port
from polhode.kernel.routine import (
    Block,
    Cell,
    For,
    Index,
    Lookup,
    Routine,
    Statement,
    Variable,
    While,
    routines,
)

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


class Dialect(NamedTuple):
    """How a target writes C.

    real      "double" or "float"
    function  what stands before the name of a function
    table     what stands before that of a table
    sincos    how sine and cosine of one argument come from one call; "": they do not
    text      operations that it writes in its own way
    rolled    whether lines that repeat are loops
    """

    real: str
    function: str = "static void"
    table: str = "static const"
    sincos: str = ""
    text: Mapping[str, str] = {}
    rolled: bool = False


WORDS = """
    alignas alignof and asm auto bitand bitor bool break case catch char class compl complex const const_cast constexpr
    continue decltype default delete do double dynamic_cast else enum explicit export extern false float for friend
    goto if imaginary inline int long mutable namespace new noexcept not nullptr operator or private protected public
    register reinterpret_cast restrict return short signed sizeof static static_assert static_cast struct switch
    template this thread_local throw true try typedef typeid typename typeof union unsigned using virtual void volatile
    wchar_t while xor linux unix main sincos sincosf sine_cosine blockDim blockIdx gridDim threadIdx warpSize
"""
"""Reserved words of C, C++ and CUDA."""

RESERVED = {
    *WORDS.split(),
    *(function + f for f in REALS.values() for text in TEXT.values() for function in re.findall(r"\w+(?={f})", text)),
}
"""Names that no argument may have: words of the languages, and the functions that are called here."""

UNUSABLE = re.compile(r"([^a-zA-Z].*)?|x[abcklr]?\d+|xc\d+_\d+|routine\d+.*|(M|FP|HUGE|MATH)_.*|INFINITY|NAN")
"""Nor this: what does not begin with a letter, the names of values and routines, and those that <math.h> defines."""


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
    return "\n * ".join(["/*", *map(escaped, (repr(graph), *graph.notes, *notes, *renamed))]) + "\n */"


def check(name: str, real: str) -> None:
    """Raise an InputError for a function that C cannot name, or numbers that it does not have."""
    if real not in REALS:
        raise InputError(message(f"source of {name}", "no such kind of number", repr(real), " or ".join(REALS)))
    if identifier(name) != name:
        what, expected = "not a name for a function in C", f"letters and digits, as {identifier(name)}"
        raise InputError(message(f"source of {name!r}", what, repr(name), expected))


def statements(graph: Graph, names: Sequence[str], dialect: Dialect) -> Iterator[str]:
    """The lines of the body: every operation a value x_k of its own, in the order of the graph; then the results.

    names  of the arguments and results, in that order
    """
    inputs = list(zip(names, graph.inputs, strict=False))
    outputs = list(zip(names[len(inputs) :], graph.outputs, strict=True))
    value = {k: f"{name}[{i}]" for name, port in inputs for i, k in enumerate(port.nodes)}
    results = {k for port in graph.outputs for k in port.nodes}
    used = results.union(*(node.args for node in graph.nodes))
    yield from (f"(void){name};" for name, port in inputs + outputs if used.isdisjoint(port.nodes))
    for k in results & value.keys():  # an input that is a result is read before any result is written
        yield f"const {dialect.real} x{k} = {value[k]};"
        value[k] = f"x{k}"
    yield from operations(graph, value, dialect, routine_names(graph))
    yield from (f"{name}[{i}] = {value[k]};" for name, port in outputs for i, k in enumerate(port.nodes))


def operations(graph: Graph, value: dict[int, str], dialect: Dialect, routines: Mapping[Routine, str]) -> Iterator[str]:
    """The lines of all operations; `value` holds the text of each input, and in the end that of every node."""
    real, texts, pairs = dialect.real, {**TEXT, **dialect.text}, _pairs(graph) if dialect.sincos else {}
    for k, node in enumerate(graph.nodes):
        given = [value[a] for a in node.args]
        if node.op == "constant":
            value[k] = constant(node.value, real)
        elif node.op == "call":
            value[k] = f"xb{k}"
            yield f"{real} xa{k}[{max(len(given), 1)}] = {{{', '.join(given) or '0'}}};"
            yield f"{real} xb{k}[{max(sum(n for _, n in node.value.outputs), 1)}];"
            yield f"{routines[node.value]}(xa{k}, xb{k});"
        elif node.op == "part":
            value[k] = f"{given[0]}[{node.value}]"
        elif k in pairs:
            value[k] = f"x{k}"
            if k == min(pairs[k]):
                s, c = pairs[k]
                yield f"{real} x{s}, x{c};"
                yield dialect.sincos.format(given[0], f"x{s}", f"x{c}", f=REALS[real])
        elif node.args:
            value[k] = f"x{k}"
            text = texts[node.op].format(*given, f=REALS[real])
            yield f"const {'int' if node.is_condition else real} x{k} = {text};"


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
    body = "\n".join(f"    {line}" for line in statements(graph, names, Dialect(real)))
    head = f"{header(graph, names)}\n#include <math.h>\n{routine_sources(graph, Dialect(real))}"
    return f"{head}\nvoid {name}({', '.join(parameters) or 'void'})\n{{\n{body}\n}}\n"


def _parameter(port: Port, name: str, real: str) -> str:
    """The declaration of an array, with its size where it has one."""
    return f"{real} {name}[{len(port.nodes)}]" if port.shape and port.nodes else f"{real} *{name}"


def routine_names(graph: Graph) -> dict[Routine, str]:
    """A name for every routine that a graph calls."""
    return {routine: f"routine{k}" for k, routine in enumerate(routines(graph))}


def routine_sources(graph: Graph, dialect: Dialect) -> str:
    """The routines of a graph as functions of memory in and memory out."""
    names = routine_names(graph)
    return "".join(f"\n{_routine_source(routine, names, dialect)}\n" for routine in names)


def _routine_source(routine: Routine, names: Mapping[Routine, str], dialect: Dialect) -> str:
    """One routine: its tables and its function.

    Arrays and tables that no line mentions are left out. One that is empty and mentioned, in a loop that is never
    entered, holds one number: C has no arrays of none.
    """
    name, real = names[routine], dialect.real
    body = list(_Loops(routine, name, names, dialect).lines(routine.body))
    body += [
        f"for (int k = 0; k < {n}; k++) out[{at} + k] = a_{array}[k];" for array, n, at in _places(routine.outputs)
    ]
    text = "\n".join(body)
    start = [f"{real} a_{array}[{max(n, 1)}] = {{0}};" for array, n in routine.arrays.items() if f"a_{array}[" in text]
    start += [
        f"for (int k = 0; k < {n}; k++) a_{array}[k] = in[{at} + k];"
        for array, n, at in _places(routine.inputs)
        if f"a_{array}[" in text
    ]
    start += ["(void)in;"] * ("in[" not in "".join(start)) + ["(void)out;"] * ("out[" not in text)
    kinds = {real: {table: [constant(v, real) for v in x] for table, x in routine.tables.items()}}
    kinds["int"] = {table: list(map(str, x)) for table, x in routine.whole.items()}
    tables = [
        f"{dialect.table} {kind} {name}_{table}[{max(len(x), 1)}] = {{{', '.join(x) or '0'}}};"
        for kind, found in kinds.items()
        for table, x in found.items()
        if f"{name}_{table}[" in text
    ]
    inside = "\n".join(f"    {line}" for line in [*start, *body])
    return "\n".join([*tables, f"{dialect.function} {name}(const {real} *in, {real} *out)", "{", inside, "}"])


def _places(ports: Sequence[tuple[str, int]]) -> Iterator[tuple[str, int, int]]:
    """Arrays that hold something, with their lengths and where they begin."""
    at = 0
    for array, n in ports:
        if n:
            yield array, n, at
        at += n


class _Loops:
    """The statements of a routine in C."""

    def __init__(self, routine: Routine, name: str, names: Mapping[Routine, str], dialect: Dialect) -> None:
        self.routine, self.name, self.names, self.dialect = routine, name, names, dialect

    def index(self, index: Index) -> str:
        """An index as a whole number."""
        terms = [self._term(term) if stride == 1 else f"{stride} * {self._term(term)}" for stride, term in index.terms]
        return " + ".join([*([str(index.offset)] if index.offset or not terms else []), *terms])

    def _term(self, term: Variable | Lookup | Cell) -> str:
        if isinstance(term, Variable):
            return term.name
        if isinstance(term, Lookup):
            return f"{self.name}_{term.table}[{term.variable}]"
        return f"(long long){self.cell(term)}"

    def cell(self, cell: Cell) -> str:
        """A cell of an array or of a table."""
        array = f"{self.name}_{cell.array}" if cell.array in self.routine.tables else f"a_{cell.array}"
        return f"{array}[{self.index(cell.at)}]"

    def lines(self, body: Sequence[Statement]) -> Iterator[str]:
        """The text of statements."""
        for statement in body:
            if isinstance(statement, Block):
                lines = self._block(statement)
                yield from self._braced("{", rolled(list(lines)) if self.dialect.rolled else lines)
            elif isinstance(statement, For):
                i, first, last = statement.variable, self.index(statement.first), self.index(statement.last)
                up = f"for (int {i} = {first}; {i} < {last}; {i}++) {{"
                down = f"for (int {i} = {last} - 1; {i} >= {first}; {i}--) {{"
                yield from self._braced(down if statement.down else up, self.lines(statement.body))
            elif isinstance(statement, While):
                inside = [*self.lines(statement.body), f"if ({self.cell(statement.go)} == 0) break;"]
                limit = self.index(statement.limit)
                yield from self._braced(f"for (long long most = {limit}, n = 0; n < most; n++) {{", inside)
            else:
                yield f"switch ({self._term(statement.of)}) {{"
                for number, case in statement.cases:
                    yield from self._braced(f"case {number}: {{", [*self.lines(case), "break;"])
                yield "}"

    @staticmethod
    def _braced(head: str, lines: Iterable[str]) -> Iterator[str]:
        yield head
        yield from (f"    {line}" for line in lines)
        yield "}"

    def _block(self, block: Block) -> Iterator[str]:
        graph, real = block.graph, self.dialect.real
        value = {k: f"x{k}" for k in range(len(block.loads))}
        results = [k for port in graph.outputs for k in port.nodes]
        used = {*results, *(a for node in graph.nodes for a in node.args)}
        yield from (f"const {real} x{k} = {self.cell(cell)};" for k, cell in enumerate(block.loads) if k in used)
        yield from operations(graph, value, self.dialect, self.names)
        moving = any(cell.at.cells for cell in block.stores)
        if moving:  # places first: a cell that is written may be part of one
            yield from (f"const long long to{n} = {self.index(cell.at)};" for n, cell in enumerate(block.stores))
        for n, (cell, k) in enumerate(zip(block.stores, results, strict=True)):
            yield f"{f'a_{cell.array}[to{n}]' if moving else self.cell(cell)} = {value[k]};"
