"""A graph as bytes: what another process compiles, without tracing it again.

Bytes are JSON: names, numbers and lists, nothing that is executed. A graph is a few columns, a statement or a term of
an index a list that says its kind, a routine a row of a table, after those that it calls. What is read is checked
(`graph_reader.py`). Bytes are kept where object code is, under the same checks (`cache.py`).
"""

import json
import operator
import struct
from collections.abc import Sequence
from itertools import chain
from math import isfinite
from typing import Any

from polhode.kernel.graph import Graph, Port
from polhode.kernel.graph_reader import GraphReader, refuse, row_of
from polhode.kernel.routine import Block, Cell, For, Index, Lookup, Routine, Statement, Variable, While

FORMAT = "polhode graph 2"

MOST_BYTES = 2**25
"""Bytes of a graph that are read at all: those of a million operations; forty four-bars have 0.5 MB."""


def packed(graph: Graph) -> bytes:
    """The operations of a graph and of the routines that it calls, each routine once; no notes, no structure."""
    writer = _Writer()
    own = writer.graph(graph)
    encoder = json.JSONEncoder(check_circular=False, allow_nan=False, separators=(",", ":"), default=_plain)
    return encoder.encode([FORMAT, writer.routines, own]).encode("ascii")


def _plain(number: Any) -> Any:
    """A whole number of NumPy as one of Python: nothing else is left that JSON does not know."""
    return operator.index(number)


class _Writer:
    """The table of routines under construction."""

    def __init__(self) -> None:
        self.routines: list[list] = []
        self._numbers: dict[Routine, int] = {}

    def graph(self, graph: Graph) -> list:
        """Its name and ports; of all nodes the operations, the operands, and the values of those that have one."""
        nodes = graph.nodes
        operations, operands = [node[0] for node in nodes], [node[1] for node in nodes]
        values = [self._value(op, value) for op, _, value in nodes if value is not None]
        ports = [_ports(graph.inputs), _ports(graph.outputs)]
        return [graph.name, *ports, " ".join(operations), list(chain.from_iterable(operands)), values]

    def _value(self, op: str, value: Any) -> Any:
        if op == "call":
            return self._routine(value)
        return _number(value) if op == "constant" else value

    def _routine(self, routine: Routine) -> int:
        """Its number in the table.

        It is written without its derivative, which may be a function of anybody's and which no compiler reads.
        """
        if routine not in self._numbers:
            body = self._body(routine.body)
            tables = {name: [*map(_number, values)] for name, values in routine.tables.items()}
            memory = dict(routine.arrays), tables, dict(routine.whole), sorted(routine.unset)
            flags = routine.shared, routine.busy, routine.one_state
            self._numbers[routine] = len(self.routines)
            self.routines.append([routine.name, routine.inputs, routine.outputs, *memory, *flags, body])
        return self._numbers[routine]

    def _body(self, body: Sequence[Statement]) -> list:
        return [self._statement(statement) for statement in body]

    def _statement(self, one: Statement) -> list:
        if isinstance(one, Block):
            cells = [[_cell(cell) for cell in row] for row in (one.loads, one.stores)]
            return ["block", self.graph(one.graph), *cells]
        if isinstance(one, For):
            ends = _index(one.first), _index(one.last)
            return ["for", one.variable, *ends, one.down, one.together, self._body(one.body)]
        if isinstance(one, While):
            return ["while", _index(one.limit), _cell(one.go), self._body(one.body)]
        return ["switch", *one.of, [(number, self._body(case)) for number, case in one.cases]]


def _ports(ports: Sequence[Port]) -> list[tuple]:
    return [(port.name, port.shape, port.nodes, port.uniform) for port in ports]


def _number(value: Any) -> Any:
    """A number, or the bits of one that JSON has none for: a NaN has a sign; a condition."""
    if type(value) is bool:
        return value
    return float(value) if isfinite(value) else struct.pack(">d", value).hex()


def _cell(cell: Cell) -> list:
    return [cell.array, *_index(cell.at)]


def _index(index: Index) -> list:
    return [index.offset, *[_term(*term) for term in index.terms]] if index.terms else [index.offset]


def _term(stride: int, term: Variable | Lookup | Cell) -> list:
    if isinstance(term, Variable):
        return [stride, "variable", *term]
    return [stride, "lookup", *term] if isinstance(term, Lookup) else [stride, "cell", *_cell(term)]


def unpacked(data: bytes) -> Graph:
    """The graph that `packed` made bytes of; a ValueError where these are others."""
    if len(data) > MOST_BYTES:
        refuse("too many bytes")
    try:
        kind, routines, graph = row_of(_parsed(data), 3)
        if kind != FORMAT:
            refuse("another format")
        reader = GraphReader()
        for routine in row_of(routines):
            reader.add(routine)
        return reader.whole(graph)
    except RecursionError as error:
        raise ValueError("no graph: lists too deep in each other") from error


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data.decode("ascii"), parse_constant=refuse)
    except ValueError as error:
        raise ValueError("no graph: no JSON of ours") from error
