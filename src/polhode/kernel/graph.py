"""The scalar graph: its node, its rules of simplification, and what a finished graph is.

A graph is a list of nodes in which operands stand before what uses them, so that every pass over it
is a loop. A node refers to others by their place in the list. What an operation computes is said in
`operations.py`, and nowhere else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from itertools import product
from typing import Any, NamedTuple

from polhode.kernel.operations import COMMUTATIVE, OPERATIONS, cost

SNAP = 1e-15
"""Asked for with `trace(function, SNAP, …)`: smaller constants are 0 where they meet a symbol in + − *.

They are what rounding leaves of a zero, as cos(π/2) = 6e-17, and nothing would fold with them. A
divisor, the operand of a comparison, of a function or of `where`, and a result are never snapped.
By default nothing is snapped: a small number may be meant.
"""

SNAPPED = {"add", "sub", "mul"}
"""The operations that snap a constant among their operands."""

RULES: list[tuple[tuple, Any]] = [  # exact in IEEE arithmetic, but for signed zeros, infinities and NaN
    (("add", "x", 0.0), "x"),
    (("add", "x", ("neg", "y")), ("sub", "x", "y")),
    (("sub", "x", 0.0), "x"),
    (("sub", 0.0, "x"), ("neg", "x")),
    (("sub", "x", "x"), 0.0),
    (("sub", "x", ("neg", "y")), ("add", "x", "y")),
    (("sub", ("neg", "x"), "y"), ("neg", ("add", "x", "y"))),
    (("mul", "x", 0.0), 0.0),
    (("mul", "x", 1.0), "x"),
    (("mul", "x", -1.0), ("neg", "x")),
    (("mul", "x", ("neg", "y")), ("neg", ("mul", "x", "y"))),
    (("div", 0.0, "x"), 0.0),
    (("div", "x", 1.0), "x"),
    (("div", "x", -1.0), ("neg", "x")),
    (("div", "x", 2.0), ("mul", "x", 0.5)),
    (("div", "x", 4.0), ("mul", "x", 0.25)),
    (("div", ("neg", "x"), "y"), ("neg", ("div", "x", "y"))),
    (("div", "x", ("neg", "y")), ("neg", ("div", "x", "y"))),
    (("neg", ("neg", "x")), "x"),
    (("neg", ("sub", "x", "y")), ("sub", "y", "x")),
    (("abs", ("neg", "x")), ("abs", "x")),
    (("abs", ("abs", "x")), ("abs", "x")),
    (("and", "x", True), "x"),
    (("and", "x", False), False),
    (("and", "x", "x"), "x"),
    (("or", "x", True), True),
    (("or", "x", False), "x"),
    (("or", "x", "x"), "x"),
    (("not", ("not", "x")), "x"),
    (("select", True, "x", "y"), "x"),
    (("select", False, "x", "y"), "y"),
    (("select", "x", "y", "y"), "y"),
    (("select", ("not", "x"), "y", "z"), ("select", "x", "z", "y")),
]
"""Patterns of a new operation, and the simpler form that replaces each. Letters stand for any node."""

_PARTS = [part for (_, *operands), _ in RULES for part in operands if not isinstance(part, str)]
RULE_OPERATIONS = {part[0] for part in _PARTS if isinstance(part, tuple)}
RULE_CONSTANTS = {part for part in _PARTS if not isinstance(part, tuple)}
"""The operations and constants that the rules look for among the operands of a new operation."""


@cache
def rules_for(op: str, tags: tuple, repeated: bool) -> list[tuple[tuple, Any]]:
    """The rules for operands of which these operations and constants are known: patterns of operands, results."""
    found = []
    for (name, *operands), result in RULES:
        orders = [operands, operands[::-1]] if name in COMMUTATIVE else [operands]
        for order in orders if name == op else []:
            letters = [part for part in order if isinstance(part, str)]
            heads = [part[0] if isinstance(part, tuple) else part for part in order]
            fit = all(isinstance(p, str) or h == tag for p, h, tag in zip(order, heads, tags, strict=True))
            if fit and (repeated or len({*letters}) == len(letters)):
                found.append((tuple(order), result))
    return found


class Node(NamedTuple):
    """One operation on earlier nodes; or a constant, or an input, which have no operands."""

    op: str
    """A name of `OPERATIONS`."""
    args: tuple[int, ...] = ()
    """The places of its operands, all before its own."""
    value: Any = None
    """The value of a constant; the label of an input, as in "q[3]"; of a call its Routine, of a part its number."""

    @property
    def is_condition(self) -> bool:
        """Whether it is true or false instead of a number."""
        return isinstance(self.value, bool) or (self.op in OPERATIONS and OPERATIONS[self.op].condition)


class Port(NamedTuple):
    """A named argument or result of a graph."""

    name: str
    shape: tuple[int, ...]
    nodes: tuple[int, ...]
    """The places of its components, the last index running fastest."""
    uniform: bool = False
    """Whether it is an argument that is the same for all states of a batch."""

    def __str__(self) -> str:
        return f"{self.name}[{','.join(map(str, self.shape))}]" if self.shape else self.name


def labels(name: str, shape: tuple[int, ...]) -> list[str]:
    """The names of the components of an array, as t, q[3], J[0,2]; the last index runs fastest."""
    places = product(*map(range, shape))
    return [f"{name}[{','.join(map(str, place))}]" for place in places] if shape else [name]


@dataclass(frozen=True, repr=False)
class Graph:
    """One algorithm as scalar operations: immutable, made by `trace`, shown whole by `print`.

    The first nodes are the inputs, all of them and in the order of the arguments; after them stand
    only nodes that some output needs, each after its operands.
    """

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    nodes: tuple[Node, ...]
    structure: Any = field(compare=False)
    """The result of the function, with the position of an output in the place of each array."""
    notes: tuple[str, ...] = field(default=(), compare=False)
    """Further lines for the head of generated text: the algorithm, the equations."""

    @classmethod
    def pruned(
        cls, name: str, inputs: Sequence[Port], outputs: Sequence[Port], nodes: Sequence[tuple], structure: Any
    ) -> Graph:
        """The graph of these outputs, without the nodes (given as tuples) that none of them needs."""
        needed = [op == "input" for op, _, _ in nodes]
        for port in outputs:
            for k in port.nodes:
                needed[k] = True
        for k in reversed(range(len(nodes))):
            if needed[k]:
                for a in nodes[k][1]:
                    needed[a] = True
        kept = [k for k, (op, _, _) in enumerate(nodes) if op == "input"]
        kept += [k for k, (op, _, _) in enumerate(nodes) if needed[k] and op != "input"]
        place = [-1] * len(nodes)
        for new, k in enumerate(kept):
            place[k] = new
        fields = [(op, tuple([place[a] for a in args]), value) for op, args, value in map(nodes.__getitem__, kept)]
        moved = map(partial(tuple.__new__, Node), fields)  # a third of the time of `Node(…)`

        def renumbered(ports: Sequence[Port]) -> tuple[Port, ...]:
            return tuple(port._replace(nodes=tuple(place[k] for k in port.nodes)) for port in ports)

        return cls(name, renumbered(inputs), renumbered(outputs), tuple(moved), structure)

    def anonymous(self) -> Graph:
        """The same operations under names made here: what compilers read holds no text from outside.

        Names of a graph and of its arguments may come from a file; they stand in what people read only, escaped.
        """

        def numbered(ports: Sequence[Port], name: str) -> tuple[Port, ...]:
            return tuple(port._replace(name=f"{name}{k}") for k, port in enumerate(ports))

        nodes = tuple(Node("input") if node.op == "input" else node for node in self.nodes)
        inputs, outputs = numbered(self.inputs, "in"), numbered(self.outputs, "out")
        return Graph("kernel", inputs, outputs, nodes, self.structure)

    @cached_property
    def weight(self) -> int:
        """About how many instructions it becomes."""
        return sum([cost(op) for op, args, _ in self.nodes if args])

    @property
    def operations(self) -> Counter[str]:
        """The number of nodes of each operation; inputs and constants are none."""
        return Counter(node.op for node in self.nodes if node.args and node.op != "part")

    def result(self, values: Sequence[Any]) -> Any:
        """The result of the traced function, when its arrays have these values."""
        return _filled(self.structure, values)

    def __repr__(self) -> str:
        """The first line of the text: arguments, results, counts."""
        counts = self.operations
        of_each = ", ".join(f"{counts[name]} {name}" for name in (*OPERATIONS, "call") if counts[name])
        arguments, results = (", ".join(map(str, ports)) for ports in (self.inputs, self.outputs))
        total = f"{counts.total()} operations" + (f" ({of_each})" if of_each else "")
        return f"{self.name}({arguments}) -> {results or 'nothing'}: {total}"

    def __str__(self) -> str:
        return "\n".join([repr(self), *self._lines()])

    def _lines(self) -> Iterator[str]:
        names: list[str] = []
        count = 0
        for node in self.nodes:
            if not node.args:
                names.append(str(node.value))
                continue
            operands = [names[a] for a in node.args]
            if node.op == "part":
                names.append(f"{operands[0]}[{node.value}]")
                continue
            names.append(f"v{count}")
            count += 1
            text = f"{node.value.name}({', '.join(operands)})" if node.op == "call" else _text(node, operands)
            yield f"  {names[-1]} = {text}"
        for port in self.outputs:
            for label, k in zip(labels(port.name, port.shape), port.nodes, strict=True):
                yield f"  {label} = {names[k]}"


def _text(node: Node, operands: Sequence[str]) -> str:
    return OPERATIONS[node.op].text.format(*operands)


def _filled(structure: Any, values: Sequence[Any]) -> Any:
    if structure is None:
        return None
    if isinstance(structure, dict):
        return {key: _filled(part, values) for key, part in structure.items()}
    if isinstance(structure, tuple):
        parts = [_filled(part, values) for part in structure]
        return type(structure)(*parts) if hasattr(structure, "_fields") else tuple(parts)
    return values[structure]
