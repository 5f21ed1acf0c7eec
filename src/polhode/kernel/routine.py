"""Routines: loops over arrays, with straight-line graphs inside; what the scalar operations cannot say.

A routine takes numbers and gives numbers. In between it has arrays, loops, and blocks: graphs whose inputs
are read from arrays and whose outputs are written to them. A graph runs one through a `call` node;
`part` nodes are its results. `run` says what it means, in plain floats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from polhode.kernel.graph import Graph
from polhode.scalar.loops import Derivative


@dataclass(frozen=True)
class Index:
    """A place in an array: a whole number, plus multiples of loop variables, table entries and array cells."""

    offset: int = 0
    terms: tuple[tuple[int, Variable | Lookup | Cell], ...] = ()

    @staticmethod
    def of(value: Index | Variable | Lookup | Cell | int) -> Index:
        """Anything that counts, as an index."""
        if isinstance(value, Index):
            return value
        return Index(value) if isinstance(value, int) else Index(0, ((1, value),))

    def __add__(self, other: Any) -> Index:
        more = Index.of(other)
        return Index(self.offset + more.offset, self.terms + more.terms)

    __radd__ = __add__

    def __mul__(self, factor: int) -> Index:
        return Index(self.offset * factor, tuple((stride * factor, term) for stride, term in self.terms))

    __rmul__ = __mul__

    @property
    def cells(self) -> list[Cell]:
        """The array cells it depends on: what may differ from lane to lane."""
        return [term for _, term in self.terms if isinstance(term, Cell)]


class Variable(NamedTuple):
    """The variable of a loop."""

    name: str


class Lookup(NamedTuple):
    """An entry of a table of whole numbers, at a loop variable."""

    table: str
    variable: str


class Cell(NamedTuple):
    """A whole number in an array."""

    array: str
    at: Index


class Block(NamedTuple):
    """A graph between arrays: all its inputs are read, then its outputs are written, each in their order."""

    graph: Graph
    loads: tuple[Cell, ...]
    """Where the inputs come from; cells of tables are the port "c", those of arrays the port "x"."""
    stores: tuple[Cell, ...]


class For(NamedTuple):
    """A body for each value of a variable, from the first to before the last, or down from there."""

    variable: str
    first: Index
    last: Index
    down: bool
    body: tuple[Statement, ...]
    together: bool = False
    """Whether its passes know nothing of each other, so that several may be done at once."""


class While(NamedTuple):
    """A body, repeated while a cell is not 0 after it, at most as often as the limit says."""

    limit: Index
    go: Cell
    body: tuple[Statement, ...]


class Switch(NamedTuple):
    """The body whose number is the table's entry."""

    of: Lookup
    cases: tuple[tuple[int, tuple[Statement, ...]], ...]


Statement = Block | For | While | Switch


@dataclass(frozen=True, eq=False)
class Routine:
    """Loops over arrays, with graphs inside. Two are equal only if they are one."""

    name: str
    inputs: tuple[tuple[str, int], ...]
    """Arrays that hold the arguments at the start, and their lengths."""
    outputs: tuple[tuple[str, int], ...]
    """Arrays that hold the results at the end."""
    arrays: Mapping[str, int]
    """All arrays with their lengths, zero at the start but for those that are `unset`."""
    tables: Mapping[str, tuple[float, ...]]
    """Numbers known beforehand."""
    whole: Mapping[str, tuple[int, ...]]
    """Whole numbers known beforehand, for indices."""
    body: tuple[Statement, ...]
    rule: Derivative | None = field(default=None)
    """Its derivative, where one is known that is better than that of its steps."""
    unset: frozenset[str] = frozenset()
    """Arrays of which nothing is read that was not written: what they hold at the start does not matter."""
    shared: bool = False
    """Whether several graphs call it: where it is large, it is compiled once for all of them."""
    busy: bool = False
    """Whether these spend most of their time in it: where it is very large, it is optimised before it is used."""
    one_state: bool = False
    """Whether it is for code of one state alone, which does passes of its loops at once; lanes have it written out
    (`written_out`). It writes no results but those that are asked for."""

    def mapped(self, change: Callable[[Graph], Graph]) -> Routine:
        """The same with every graph changed."""
        return replace(self, body=_mapped(self.body, change))

    @cached_property
    def size(self) -> int:
        """The number of operations written in it (not how often they are done)."""
        return sum(block.graph.operations.total() for block in blocks(self.body))

    def __repr__(self) -> str:
        return f"{self.name}({sum(n for _, n in self.inputs)} -> {sum(n for _, n in self.outputs)})"


def blocks(body: Sequence[Statement]) -> Iterator[Block]:
    """All blocks of a body."""
    for statement in body:
        if isinstance(statement, Block):
            yield statement
        elif isinstance(statement, Switch):
            for _, case in statement.cases:
                yield from blocks(case)
        else:
            yield from blocks(statement.body)


def _mapped(body: Sequence[Statement], change: Callable[[Graph], Graph]) -> tuple[Statement, ...]:
    found: list[Statement] = []
    for statement in body:
        if isinstance(statement, Block):
            found.append(statement._replace(graph=change(statement.graph)))
        elif isinstance(statement, Switch):
            cases = tuple((number, _mapped(case, change)) for number, case in statement.cases)
            found.append(statement._replace(cases=cases))
        else:
            found.append(statement._replace(body=_mapped(statement.body, change)))
    return tuple(found)


def routines(graph: Graph) -> list[Routine]:
    """The routines that a graph calls, those they call themselves before them, each once."""
    found: dict[Routine, None] = {}
    for node in graph.nodes:
        if node.op == "call":
            for block in blocks(node.value.body):
                found.update(dict.fromkeys(routines(block.graph)))
            found[node.value] = None
    return list(found)


class _Run:
    """One run of a routine in plain floats."""

    def __init__(self, routine: Routine, on_graph: OnGraph) -> None:
        self.routine, self.on_graph = routine, on_graph
        self.arrays = {name: [0.0] * length for name, length in routine.arrays.items()}
        self.memory: dict[str, Sequence[float]] = {**routine.tables, **self.arrays}
        self.variables: dict[str, int] = {}

    def place(self, index: Index) -> int:
        return index.offset + sum(stride * self._term(term) for stride, term in index.terms)

    def _term(self, term: Variable | Lookup | Cell) -> int:
        if isinstance(term, Variable):
            return self.variables[term.name]
        if isinstance(term, Lookup):
            return self.routine.whole[term.table][self.variables[term.variable]]
        return int(self.arrays[term.array][self.place(term.at)])

    def do(self, body: Sequence[Statement]) -> None:
        for statement in body:
            if isinstance(statement, Block):
                self._block(statement)
            elif isinstance(statement, For):
                values = range(self.place(statement.first), self.place(statement.last))
                for value in reversed(values) if statement.down else values:
                    self.variables[statement.variable] = value
                    self.do(statement.body)
            elif isinstance(statement, Switch):
                chosen = self._term(statement.of)
                for number, case in statement.cases:
                    if number == chosen:
                        self.do(case)
            else:
                for _ in range(self.place(statement.limit)):
                    self.do(statement.body)
                    if not self.arrays[statement.go.array][self.place(statement.go.at)]:
                        break

    def _block(self, block: Block) -> None:
        x = [self.memory[array][self.place(index)] for array, index in block.loads]
        places = [(array, self.place(index)) for array, index in block.stores]
        for (array, place), value in zip(places, self.on_graph(block.graph, x), strict=True):
            self.arrays[array][place] = value


OnGraph = Callable[[Graph, list[float]], list[float]]
"""The values of all outputs of a graph, from those of all inputs."""


def run(routine: Routine, arguments: Sequence[float], on_graph: OnGraph) -> list[float]:
    """The results of a routine: what it means. `on_graph` evaluates the graph of a block."""
    given = iter(arguments)
    machine = _Run(routine, on_graph)
    for name, length in routine.inputs:
        machine.arrays[name][:] = [next(given) for _ in range(length)]
    machine.do(routine.body)
    return [x for name, _ in routine.outputs for x in machine.arrays[name]]
