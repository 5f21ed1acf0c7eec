"""Write a routine as a Python function: loops that run once to be recorded, arrays that are read and written.

    with Recorder("sum") as r:
        x, total = r.input("x", n), r.output("total", 1)
        for i in r.range(n):
            total[0] = total[0] + x[i]
    (total,) = r.call(numbers)

What stands between the loops is traced into blocks. A symbol of an earlier block, or of the function
around the routine, may be used anywhere after it: it is carried through memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from itertools import count
from operator import add
from typing import Any, NamedTuple

from polhode.errors import CompileError, message
from polhode.kernel.graph import Graph, Port
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
)
from polhode.kernel.trace import BooleanSymbol, Builder, Symbol, current, number_node, scope
from polhode.scalar import Loops, is_zero, spans
from polhode.scalar.loops import Derivative

Place = Index | Variable | Lookup | Cell | int


class Memory:
    """An array, or a table, of the routine that is being recorded."""

    def __init__(self, recorder: Recorder, name: str, length: int) -> None:
        self.recorder, self.name, self.length = recorder, name, length

    def __len__(self) -> int:
        return self.length

    def cell(self, index: Place) -> Cell:
        """A cell whose value is a whole number, to be part of an index."""
        return Cell(self.name, Index.of(index))

    def __getitem__(self, index: Place) -> Symbol:
        return self.recorder.load(self.cell(index))

    def __setitem__(self, index: Place, value: Any) -> None:
        self.recorder.store(self.cell(index), value)


class RecordedTable(NamedTuple):
    """A table of whole numbers of the routine that is being recorded."""

    name: str

    def at(self, i: Index) -> Index:
        """The entry at a loop variable."""
        ((_, variable),) = i.terms
        assert isinstance(variable, Variable)
        assert i == Index.of(variable)
        return Index.of(Lookup(self.name, variable.name))


class BlockBuilder(Builder):
    """A block under construction: what it loads and stores."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__(recorder.name)
        self.recorder = recorder
        self.loads: dict[Cell, int] = {}
        self.stores: dict[Cell, int] = {}

    def capture(self, symbol: Symbol) -> int:
        """A number from before this block, read from memory."""
        origin = symbol.builder
        if symbol.node in origin.constants:
            return self.constant(origin.constants[symbol.node])
        recorder = self.recorder
        if isinstance(origin, BlockBuilder) and origin.recorder is recorder:
            return self.read(recorder.kept(origin, symbol.node))
        outside = symbol.node if origin is recorder.outer else recorder.outer.capture(symbol)
        return self.read(recorder.captured_cell(outside))

    def read(self, cell: Cell) -> int:
        """The node of a cell's value at the start of the block."""
        if cell not in self.loads:
            self.loads[cell] = self.input(cell.array)
        return self.loads[cell]

    def closed(self, recorder: Recorder) -> Block:
        """The block itself."""
        x = {cell: k for cell, k in self.loads.items() if cell.array not in recorder.tables}
        c = {cell: k for cell, k in self.loads.items() if cell.array in recorder.tables}
        order = [*x.values(), *c.values(), *(k for k, node in enumerate(self.nodes) if node[0] != "input")]
        place = dict(zip(order, range(len(order)), strict=True))
        nodes = [(op, tuple([place[a] for a in args]), value) for op, args, value in map(self.nodes.__getitem__, order)]
        inputs = [_port("x", [place[k] for k in x.values()]), _port("c", [place[k] for k in c.values()])]
        outputs = [_port("y", [place[k] for k in self.stores.values()])]
        return Block(Graph.pruned(self.name, inputs, outputs, nodes, 0), (*x, *c), tuple(self.stores))


def _checked(name: str) -> str:
    """The name of an array, which stands in generated text: letters, digits and underscores only."""
    if not (name.isascii() and name.isidentifier()):
        raise CompileError(message("routine", "not a name for an array", repr(name), "letters, digits, underscores"))
    return name


def _port(name: str, nodes: list[int]) -> Port:
    return Port(name, (len(nodes),), tuple(nodes))


class Recorder(Loops):
    """A routine under construction, inside the function that is being traced."""

    def __init__(self, name: str, outer: Builder | None = None) -> None:
        self.name, self.outer = name, outer or current()
        self.arrays: dict[str, int] = {}
        self.tables: dict[str, tuple[float, ...]] = {}
        self.whole: dict[str, tuple[int, ...]] = {}
        self._inputs: list[str] = []
        self._values: list[Any] = []
        self._outputs: list[str] = []
        self._given: dict[int, int] = {}
        self._kept: dict[tuple[int, int], Cell] = {}
        self._bodies: list[list[Any]] = [[]]
        self._block: BlockBuilder | None = None
        self._names = count()
        self._unset = ["kept"]

    def __enter__(self) -> Recorder:
        self._scope = scope(self)
        self._scope.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._scope.__exit__(*error)

    def current(self) -> BlockBuilder:
        """The block that is being recorded."""
        if self._block is None:
            self._block = BlockBuilder(self)
            self._bodies[-1].append(self._block)
        return self._block

    # memory

    def array(self, name: str, length: int, *, unset: bool = False) -> Memory:
        """An array of the routine's own, zero at the start unless unset; its name is made another where it is taken."""
        own = _checked(name)
        while own in self.arrays:
            own = f"{name}_{next(self._names)}"
        self.arrays[own] = length
        if unset:
            self._unset.append(own)
        return Memory(self, own, length)

    def input(self, name: str, length: int) -> Memory:
        """An array that holds arguments at the start."""
        memory = self.array(name, length)
        self._inputs.append(memory.name)
        return memory

    def output(self, name: str, length: int, *, unset: bool = False) -> Memory:
        """An array that holds results at the end, zero at the start unless unset."""
        memory = self.array(name, length, unset=unset)
        self._outputs.append(memory.name)
        return memory

    def both(self, name: str, length: int) -> Memory:
        """An array that holds arguments at the start and results at the end."""
        memory = self.output(name, length)
        self._inputs.append(memory.name)
        return memory

    def given(self, name: str, values: Sequence[Any], *, sparse: bool = False) -> Memory:
        """An array that holds these values at the start; sparse: structural zeros are not passed as arguments."""
        places = [i for i, x in enumerate(values) if not (sparse and is_zero(x))]
        self._values += [values[i] for i in places]
        if len(places) == len(values):
            return self.input(name, len(values))
        memory = self.array(name, len(values))
        passed, at = self.input(f"{name}_given", len(places)), self.lookup(f"{name}_at", places)
        for e in self.range(len(places)):
            memory[at.at(e)] = passed[e]
        return memory

    def table(self, name: str, values: Iterable[float]) -> Memory:
        """Numbers known beforehand; its name is made another where it is taken by others."""
        own, numbers = _checked(name), tuple(values)
        while self.tables.get(own, numbers) != numbers:
            own = f"{name}_{next(self._names)}"
        self.tables[own] = numbers
        return Memory(self, own, len(numbers))

    def lookup(self, name: str, values: Sequence[int]) -> RecordedTable:
        """Whole numbers known beforehand, at the variable of a loop: parts of indices, or cases."""
        self.whole[_checked(name)] = tuple(values)
        return RecordedTable(name)

    # control

    def range(self, first: Place, last: Place | None = None, *, down: bool = False) -> Iterator[Index]:
        """A loop; from 0 if one number is given, and from the other end if `down`."""
        start, stop = (Index(0), first) if last is None else (first, last)
        variable = Variable(f"i{next(self._names)}")
        body = self._begun()
        yield Index.of(variable)
        self._ended(For(variable.name, Index.of(start), Index.of(stop), down, body))  # type: ignore[arg-type]

    def together(self, first: Place, last: Place | None = None) -> Iterator[Index]:
        """A loop whose passes know nothing of each other."""
        yield from self.range(first, last)
        self._bodies[-1][-1] = self._bodies[-1][-1]._replace(together=True)

    def repeat(self, limit: Place, go: Cell) -> Iterator[None]:
        """A loop that repeats while a cell is not 0 after it, at most `limit` times."""
        body = self._begun()
        yield None
        self._ended(While(Index.of(limit), go, body))  # type: ignore[arg-type]

    def repeated(self, limit: int, go: Memory) -> Iterator[None]:
        """The same, by an array of one cell."""
        yield from self.repeat(limit, go.cell(0))

    def when(self, flag: Memory, results: Sequence[Memory]) -> Iterator[None]:
        """A loop of one pass, or none."""
        yield from self.repeat(flag.cell(0), self.array("again", 1).cell(0))

    def cases(self, of: Index, numbers: Sequence[int]) -> Iterator[int]:
        """The body for each number of a table's entry, one after the other; one of them will run."""
        ((_, entry),) = of.terms
        cases = []
        for number in numbers:
            body = self._begun()
            yield number
            self._close()
            self._bodies.pop()
            cases.append((number, body))
        self._bodies[-1].append(Switch(entry, tuple(cases)))  # type: ignore[arg-type]

    def _begun(self) -> list[Any]:
        self._close()
        self._bodies.append([])
        return self._bodies[-1]

    def _ended(self, statement: Any) -> None:
        self._close()
        self._bodies.pop()
        self._bodies[-1].append(statement)

    # rows of numbers

    def dot(self, out: Memory, x: Memory, i: Place, y: Memory, j: Place, n: int) -> None:
        """out[0] = Σ_m x[i + m] y[j + m], in groups of eight."""
        out[0] = 0.0
        for part in spans(self, n):
            out[0] = out[0] + reduce(add, [x[i + m] * y[j + m] for m in part])

    def add_scaled(self, x: Memory, i: Place, s: tuple[Memory, Place], y: Memory, j: Place, n: int) -> None:
        """x[i + m] += s y[j + m]; s: an array and the place in it."""
        for part in spans(self, n):
            for m in part:
                x[i + m] = x[i + m] + s[0][s[1]] * y[j + m]

    def subtract_scaled(self, x: Memory, i: Place, s: tuple[Memory, Place], y: Memory, j: Place, n: int) -> None:
        """x[i + m] −= s y[j + m]; s: an array and the place in it."""
        for part in spans(self, n):
            for m in part:
                x[i + m] = x[i + m] - s[0][s[1]] * y[j + m]

    # computed places

    def exchange(self, rows: int, p: Index, chosen: Memory, arrays: Sequence[tuple[Memory, int]]) -> None:
        """Row p and that whose number is chosen[0] change places: a cell is an index."""
        other = Index.of(chosen.cell(0))
        for array, width in arrays:
            for part in spans(self, width):
                for m in part:
                    first, second = array[p * width + m], array[other * width + m]
                    array[p * width + m] = second
                    array[other * width + m] = first

    def put(self, array: Memory, first: Place, length: int, places: Memory, p: Place, value: Any) -> None:
        """A value for the entry number places[p] of those that begin at `first`: a cell is an index."""
        array[Index.of(places.cell(p)) + first] = value

    # blocks

    def load(self, cell: Cell) -> Symbol:
        """The value of a cell at this point of the routine."""
        block = self._open(cell)
        if cell in block.stores:
            return Symbol(block, block.stores[cell])
        if any(_may_be(cell, other) for other in block.stores):
            self._close()
            block = self._open(cell)
        return Symbol(block, block.read(cell))

    def store(self, cell: Cell, value: Any) -> None:
        """A new value for a cell; of a condition 1 or 0."""
        block = self._open(cell)
        node = number_node(block, value.where(1.0, 0.0) if isinstance(value, BooleanSymbol) else value)
        if node is None:
            raise block.error("not a number", f"{type(value).__name__} for {cell.array}", "a scalar")
        block.stores.pop(cell, None)  # written in the order of the last writing
        block.stores[cell] = node

    def _open(self, cell: Cell) -> BlockBuilder:
        """The block that is being recorded; a new one where the cell's own place has changed in it."""
        if self._block and any(_may_be(inner, other) for inner in cell.at.cells for other in self._block.stores):
            self._close()
        return self.current()

    def _close(self) -> None:
        self._block = None

    def kept(self, origin: BlockBuilder, node: int) -> Cell:
        """The cell in which a number of an earlier block is kept."""
        key = (id(origin), node)
        if key not in self._kept:
            self._kept[key] = Cell("kept", Index(len(self._kept)))
            origin.stores[self._kept[key]] = node
        return self._kept[key]

    def captured_cell(self, node: int) -> Cell:
        """The cell in which a number of the function around is given."""
        return Cell("given", Index(self._given.setdefault(node, len(self._given))))

    # the end

    @property
    def captured(self) -> list[int]:
        """The nodes of the function around that it uses."""
        return list(self._given)

    def finished(
        self, rule: Derivative | None = None, shared: bool = False, busy: bool = False, one_state: bool = False
    ) -> Routine:
        """The routine.  shared, busy, one_state: as of `Routine`"""
        self._close()
        self.arrays |= {"given": len(self._given), "kept": len(self._kept)}
        inputs = [(name, self.arrays[name]) for name in (*self._inputs, "given")]
        outputs = [(name, self.arrays[name]) for name in self._outputs]
        body = self._closed(self._bodies[0])
        tables, unset = (self.tables, self.whole), frozenset(self._unset)
        flags = shared, busy, one_state
        return Routine(self.name, tuple(inputs), tuple(outputs), self.arrays, *tables, body, rule, unset, *flags)

    def call(self, arguments: Sequence[Any], rule: Derivative | None = None, one_state: bool = False) -> list[Symbol]:
        """The results of the routine in the function around it, for these arguments."""
        outer = self.outer
        nodes = [number_node(outer, x) for x in arguments]
        found = outer.call(self.finished(rule, one_state=one_state), [*nodes, *self._given])  # type: ignore[list-item]
        return [Symbol(outer, node) for node in found]

    def results(self, rule: Derivative | None = None, *, one_state: bool = False) -> list[Symbol]:
        """The results of the routine for the values that its arrays were given."""
        return self.call(self._values, rule, one_state)

    def _closed(self, body: list[Any]) -> tuple[Statement, ...]:
        found: list[Statement] = []
        for part in body:
            if isinstance(part, BlockBuilder):
                found.append(part.closed(self))
            elif isinstance(part, Switch):
                found.append(part._replace(cases=tuple((n, self._closed(case)) for n, case in part.cases)))  # type: ignore
            else:
                found.append(part._replace(body=self._closed(part.body)))
        return tuple(found)


def _may_be(a: Cell, b: Cell) -> bool:
    """Whether two cells may be one: not if they lie in two arrays, or a constant distance apart."""
    return a.array == b.array and (a.at.terms != b.at.terms or a.at.offset == b.at.offset)
