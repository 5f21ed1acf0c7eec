"""A graph from lists, numbers and names, as `graph_bytes.py` writes it, each entry checked.

Kinds, names and counts are checked, and that operands and routines stand before their use. Nothing is looked up by a
name from outside but in tables of what may stand there. Places in arrays that depend on loops are as little known here
as when they were traced.
"""

import struct
from collections.abc import Callable, Mapping, Sequence
from math import isfinite, prod
from typing import Any, NoReturn

from polhode.kernel.graph import Graph, Node, Port
from polhode.kernel.operations import TABLE
from polhode.kernel.routine import (
    Block,
    Cell,
    For,
    Index,
    Lookup,
    Routine,
    Statement,
    Switch,
    Variable,
    While,
    blocks,
)

MOST_NUMBERS = 2**24
"""Numbers of an array, or of all arrays of a routine: more than any machine of ours has in one."""

MOST_OPERATIONS = 2**24
"""Nodes of a graph with those of the routines that it calls, once for each call: whoever compiles it looks through so
many. Forty four-bars have 150,000."""

MOST_AXES = 8
"""Axes of an argument or a result; those of ours have 2 or 3."""

LARGEST_WHOLE = 2**31
"""Whole numbers are below it: places in arrays, entries of tables."""

LONGEST_NAME = 1000


def refuse(what: str) -> NoReturn:
    """A ValueError that says what is wrong."""
    raise ValueError(f"no graph: {what}")


def row_of(data: Any, length: int | None = None) -> list:
    """A list; of this length, if one is given."""
    if type(data) is not list or (length is not None and len(data) != length):
        refuse("not a list of the right length")
    return data


def _mapping(data: Any) -> dict[str, Any]:
    """Values by names that stand in generated text."""
    if type(data) is not dict:
        refuse("not a table")
    for name in data:
        _identifier(name)
    return data


def _title(data: Any) -> str:
    """A name that people read: a line of printable characters."""
    if type(data) is not str or len(data) > LONGEST_NAME or not data.isprintable():
        refuse("not a name")
    return data


def _identifier(data: Any) -> str:
    """A name that stands in generated text: letters, digits and underscores."""
    if not (_title(data).isascii() and data.isidentifier()):
        refuse("not an identifier")
    return data


def _known(data: Any, names: Mapping[str, Any] | frozenset[str]) -> str:
    if type(data) is not str or data not in names:
        refuse("an unknown name")
    return data


def _flag(data: Any) -> bool:
    if type(data) is not bool:
        refuse("neither true nor false")
    return data


def _whole(data: Any) -> int:
    if type(data) is not int or not -LARGEST_WHOLE < data < LARGEST_WHOLE:
        refuse("not a whole number of ours")
    return data


def _count(data: Any, most: int = MOST_NUMBERS) -> int:
    if type(data) is not int or not 0 <= data <= most:
        refuse("not a number of numbers")
    return data


def _places(data: Any, before: int) -> list[int]:
    """Whole numbers, not below 0 and below a bound."""
    found = row_of(data)
    if found and ({*map(type, found)} != {int} or min(found) < 0 or max(found) >= before):
        refuse("not places of nodes")
    return found


def _real(data: Any) -> float:
    """A number as `_number` writes it."""
    if type(data) is float and isfinite(data):
        return data
    if type(data) is not str or len(data) != 16 or not {*data} <= {*"0123456789abcdef"}:
        refuse("not a number")
    (found,) = struct.unpack(">d", bytes.fromhex(data))
    return refuse("a number as bits") if isfinite(found) else found


NUMBER, CONDITION, RESULTS, UNKNOWN = range(4)
"""What nodes are: the results of a call, of which only its parts know; not read so far."""

CONDITIONAL = {"and": [CONDITION] * 2, "or": [CONDITION] * 2, "not": [CONDITION], "select": [CONDITION, NUMBER, NUMBER]}

PLAIN = {
    row.name: (CONDITIONAL.get(row.name, [NUMBER] * row.arity), CONDITION if row.condition else NUMBER)
    for row in TABLE
    if row.arity
}
"""What operations without a value take and give."""


class GraphReader:
    """Reads routines, each after those that it calls, and then a graph that calls them."""

    def __init__(self) -> None:
        self.routines: list[Routine] = []
        self._sizes: dict[Routine, int] = {}

    def whole(self, data: Any) -> Graph:
        """A graph that is compiled: its inputs are in the order of the arguments; those of a block need not be."""
        found = self.graph(data)
        order = [k for port in found.inputs for k in port.nodes]
        if order != sorted(order):
            refuse("inputs in another order")
        self._size([found])
        return found

    def graph(self, data: Any) -> Graph:
        """A graph from its name, ports and columns."""
        name, inputs, outputs, operations, operands, values = row_of(data, 6)
        nodes, kinds = self._nodes(operations, operands, values)
        given, found = self._ports(inputs, kinds), self._ports(outputs, kinds)
        order = sorted(k for port in given for k in port.nodes)
        if order != list(range(len(order))) or order != [k for k, node in enumerate(nodes) if node.op == "input"]:
            refuse("inputs that are not the first nodes, each once")
        return Graph(_title(name), given, found, nodes, None)

    def _nodes(self, operations: Any, operands: Any, values: Any) -> tuple[tuple[Node, ...], list[int]]:
        """The nodes, and what they are."""
        if type(operations) is not str:
            refuse("no operations")
        names, given = operations.split(), iter(row_of(values))
        places = _places(operands, len(names))
        nodes: list[Node] = []
        kinds = [UNKNOWN] * len(names)
        at = 0
        for here, op in enumerate(names):
            value: Any = None
            if op in PLAIN:
                takes, gives = PLAIN[op]
            elif op in VALUED:
                value, takes, gives = VALUED[op](self, next(given, None))
            else:
                refuse("an unknown operation")
            own = places[at : at + len(takes)]
            at += len(takes)
            if [kinds[a] for a in own] != takes:
                refuse("too few operands, or of another kind, or that do not stand before their use")
            if op == "part" and value >= _results(nodes[own[0]].value):
                refuse("a part that there is not")
            nodes.append(tuple.__new__(Node, (op, tuple(own), value)))
            kinds[here] = gives
        if at != len(places) or [*given]:
            refuse("operands or values of no node")
        return tuple(nodes), kinds

    def _input(self, value: Any) -> tuple[Any, list[int], int]:
        """The label of an input, what that takes, and what it gives; the same of other nodes that have a value."""
        return _title(value), [], NUMBER

    def _constant(self, value: Any) -> tuple[Any, list[int], int]:
        return (value, [], CONDITION) if type(value) is bool else (_real(value), [], NUMBER)

    def _call(self, value: Any) -> tuple[Any, list[int], int]:
        routine = self.routines[_count(value, len(self.routines) - 1)]
        return routine, [NUMBER] * sum(n for _, n in routine.inputs), RESULTS

    def _part(self, value: Any) -> tuple[Any, list[int], int]:
        return _count(value), [RESULTS], NUMBER

    def _ports(self, data: Any, kinds: Sequence[int]) -> tuple[Port, ...]:
        found = []
        for port in row_of(data):
            name, shape, nodes, uniform = row_of(port, 4)
            lengths, places = tuple(map(_count, row_of(shape))), tuple(_places(nodes, len(kinds)))
            if len(lengths) > MOST_AXES or prod(lengths) != len(places) or any(kinds[k] != NUMBER for k in places):
                refuse("a port of another shape, or not of numbers")
            found.append(Port(_title(name), lengths, places, _flag(uniform)))
        return tuple(found)

    def add(self, data: Any) -> None:
        """Read a routine; those that it calls have been read."""
        name, inputs, outputs, arrays, tables, whole, unset, shared, busy, one_state, body = row_of(data, 11)
        lengths = {array: _count(n) for array, n in _mapping(arrays).items()}
        _count(sum(lengths.values()))
        numbers = {table: tuple(map(_real, row_of(row))) for table, row in _mapping(tables).items()}
        wholes = {table: tuple(map(_whole, row_of(row))) for table, row in _mapping(whole).items()}
        ends = _own(inputs, lengths), _own(outputs, lengths)
        statements = _BodyReader(self, lengths, numbers, wholes).body(body, frozenset())
        free = frozenset(_known(array, lengths) for array in row_of(unset))
        flags = _flag(shared), _flag(busy), _flag(one_state)
        routine = Routine(_title(name), *ends, lengths, numbers, wholes, statements, None, free, *flags)
        own = self._written_out(statements) if routine.one_state else 0
        self._sizes[routine] = max(own, self._size([block.graph for block in blocks(statements)]))
        self.routines.append(routine)

    def _written_out(self, body: Sequence[Statement]) -> int:
        """The nodes of statements, once for each pass of the loops around them."""
        total = 0
        for one in body:
            if isinstance(one, Block):
                total += 1 + self._size([one.graph])
            elif isinstance(one, For) and not (one.first.terms or one.last.terms):
                total += max(one.last.offset - one.first.offset, 0) * (1 + self._written_out(one.body))
            else:
                refuse("a loop for one state whose length is not known")
        return _count(total, MOST_OPERATIONS)

    def _size(self, graphs: Sequence[Graph]) -> int:
        """The nodes of graphs with those of the routines that they call, once for each call."""
        nodes = [node for graph in graphs for node in graph.nodes]
        return _count(len(nodes) + sum(self._sizes[node.value] for node in nodes if node.op == "call"), MOST_OPERATIONS)


def _results(routine: Routine) -> int:
    return sum(n for _, n in routine.outputs)


def _own(data: Any, arrays: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    """Some of the arrays of a routine, each once, with their lengths."""
    pairs = [row_of(pair, 2) for pair in row_of(data)]
    found = {_known(name, arrays): arrays[name] for name, _ in pairs}
    if [*map(list, found.items())] != pairs:
        refuse("arrays of another length, or twice")
    return tuple(found.items())


VALUED: dict[str, Callable[[GraphReader, Any], tuple[Any, list[int], int]]] = {
    "input": GraphReader._input,
    "constant": GraphReader._constant,
    "call": GraphReader._call,
    "part": GraphReader._part,
}
"""How values of nodes are read."""


class _BodyReader:
    """The statements of a routine: what may stand in them are its arrays and tables, and variables of loops around."""

    def __init__(
        self,
        reader: GraphReader,
        arrays: Mapping[str, int],
        tables: Mapping[str, tuple[float, ...]],
        whole: Mapping[str, tuple[int, ...]],
    ) -> None:
        self.reader, self.arrays, self.whole = reader, arrays, whole
        self.memory = {**arrays, **{name: len(row) for name, row in tables.items()}}

    def body(self, data: Any, variables: frozenset[str]) -> tuple[Statement, ...]:
        return tuple([self._statement(row_of(one), variables) for one in row_of(data)])

    def _statement(self, data: list, variables: frozenset[str]) -> Statement:
        kind = _known(data[0] if data else None, STATEMENTS)
        return STATEMENTS[kind](self, data, variables)

    def block(self, data: list, variables: frozenset[str]) -> Block:
        _, own, loads, stores = row_of(data, 4)
        graph = self.reader.graph(own)
        read = tuple([self._cell(cell, variables, self.memory) for cell in row_of(loads)])
        written = tuple([self._cell(cell, variables, self.arrays) for cell in row_of(stores)])
        ends = [sum(len(port.nodes) for port in ports) for ports in (graph.inputs, graph.outputs)]
        if ends != [len(read), len(written)]:
            refuse("a block with other cells than its graph has numbers")
        return Block(graph, read, written)

    def for_(self, data: list, variables: frozenset[str]) -> For:
        _, variable, first, last, down, together, body = row_of(data, 7)
        begin, end = self._index(row_of(first), variables), self._index(row_of(last), variables)
        inside = self.body(body, variables | {_identifier(variable)})
        return For(variable, begin, end, _flag(down), inside, _flag(together))

    def while_(self, data: list, variables: frozenset[str]) -> While:
        _, limit, go, body = row_of(data, 4)
        ends = self._index(row_of(limit), variables), self._cell(go, variables, self.arrays)
        return While(*ends, self.body(body, variables))

    def switch(self, data: list, variables: frozenset[str]) -> Switch:
        _, table, variable, cases = row_of(data, 4)
        pairs = [row_of(case, 2) for case in row_of(cases)]
        found = tuple((_whole(number), self.body(case, variables)) for number, case in pairs)
        if len({number for number, _ in found}) < len(found):
            refuse("two cases of one number")
        return Switch(Lookup(_known(table, self.whole), _known(variable, variables)), found)

    def _cell(self, data: Any, variables: frozenset[str], memory: Mapping[str, int]) -> Cell:
        """A cell; where its place does not depend on anything, it is one of the array's."""
        if not row_of(data):
            refuse("no cell")
        array, at = _known(data[0], memory), self._index(data[1:], variables)
        if not at.terms and not 0 <= at.offset < memory[array]:
            refuse("a cell outside its array")
        return Cell(array, at)

    def _index(self, data: list, variables: frozenset[str]) -> Index:
        if not data:
            refuse("no index")
        return Index(_whole(data[0]), tuple([self._term(term, variables) for term in data[1:]]))

    def _term(self, data: Any, variables: frozenset[str]) -> tuple[int, Variable | Lookup | Cell]:
        if len(row_of(data)) < 3:
            refuse("no term")
        stride, kind, *rest = data
        return _whole(stride), TERMS[_known(kind, TERMS)](self, rest, variables)

    def variable(self, data: list, variables: frozenset[str]) -> Variable:
        (name,) = row_of(data, 1)
        return Variable(_known(name, variables))

    def lookup(self, data: list, variables: frozenset[str]) -> Lookup:
        table, name = row_of(data, 2)
        return Lookup(_known(table, self.whole), _known(name, variables))

    def cell(self, data: list, variables: frozenset[str]) -> Cell:
        return self._cell(data, variables, self.arrays)


STATEMENTS: dict[str, Callable[[_BodyReader, list, frozenset[str]], Statement]] = {
    "block": _BodyReader.block,
    "for": _BodyReader.for_,
    "while": _BodyReader.while_,
    "switch": _BodyReader.switch,
}
"""How statements are read."""

TERMS: dict[str, Callable[[_BodyReader, list, frozenset[str]], Variable | Lookup | Cell]] = {
    "variable": _BodyReader.variable,
    "lookup": _BodyReader.lookup,
    "cell": _BodyReader.cell,
}
"""How terms of indices are read."""
