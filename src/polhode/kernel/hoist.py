"""Numbers apart from states: what follows from numbers alone is computed once, and kept for many calls.

A graph whose inputs are states and numbers is divided into a prelude, every node that depends on numbers alone, and
the rest, which reads the values that cross from one to the other. Products and sums are fused before, never across
that frontier: the two parts one after the other give the bits of the whole.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from polhode.kernel.graph import Graph, Node, Port, labels
from polhode.kernel.schedule import fused

NUMBERS, KEPT, TIME = "numbers", "kept", "t"
"""The input that holds all numbers; the values that follow from them; the input that stays last where it is last."""


class Hoisted(NamedTuple):
    """A graph and its two parts, products fused."""

    whole: Graph
    """All of it; the numbers are one input, `NUMBERS`, in their order."""
    prelude: Graph
    """NUMBERS → KEPT"""
    main: Graph
    """The other inputs and KEPT, the same for all states of a batch → the results."""


def hoisted(graph: Graph, numbers: Collection[str]) -> Hoisted:
    """A graph, divided.  numbers: the names of the inputs that are numbers"""
    packed = _packed(graph, numbers)
    whole = fused(packed, _of_numbers_alone(packed))
    prelude, main = _divided(whole)
    return Hoisted(whole, prelude, main)


def _of_numbers_alone(graph: Graph) -> list[bool]:
    """For each node whether it depends on numbers alone; constants do."""
    port = next(port for port in graph.inputs if port.name == NUMBERS)
    given, found = {*port.nodes}, list[bool]()
    for k, node in enumerate(graph.nodes):
        known = k in given or node.op == "constant"
        found.append(known or (bool(node.args) and all(found[a] for a in node.args)))
    return found


def _packed(graph: Graph, numbers: Collection[str]) -> Graph:
    """The graph with all its numbers in one input, before the time where that is last, else behind all others."""
    others = [port for port in graph.inputs if port.name not in numbers]
    nodes = tuple(k for port in graph.inputs if port.name in numbers for k in port.nodes)
    return _with_inputs(graph, _before_time(others, Port(NUMBERS, (len(nodes),), nodes)))


def place_of_numbers(others: Sequence[str]) -> int:
    """Where numbers, or what follows from them, stand among the other inputs, by name."""
    return len(others) - 1 if others and others[-1] == TIME else len(others)


def _before_time(ports: Sequence[Port], port: Port) -> list[Port]:
    at = place_of_numbers([each.name for each in ports])
    return [*ports[:at], port, *ports[at:]]


def _with_inputs(graph: Graph, inputs: Sequence[Port]) -> Graph:
    """The graph with its inputs in another order, or divided otherwise."""
    first = [k for port in inputs for k in port.nodes]
    order = [*first, *(k for k, node in enumerate(graph.nodes) if node.op != "input")]
    assert len(order) == len(graph.nodes)
    place = dict(zip(order, range(len(order)), strict=True))
    names = [label for port in inputs for label in labels(port.name, port.shape)]
    moved = [Node("input", (), name) for name in names]
    moved += [
        n._replace(args=tuple(place[a] for a in n.args)) for n in map(graph.nodes.__getitem__, order[len(names) :])
    ]

    def renumbered(ports: Sequence[Port]) -> tuple[Port, ...]:
        return tuple(port._replace(nodes=tuple(place[k] for k in port.nodes)) for port in ports)

    return replace(graph, inputs=renumbered(inputs), outputs=renumbered(graph.outputs), nodes=tuple(moved))


def _divided(graph: Graph) -> tuple[Graph, Graph]:
    """The prelude and the rest."""
    alone = _of_numbers_alone(graph)
    needed = dict.fromkeys(k for port in graph.outputs for k in port.nodes)
    needed |= dict.fromkeys(a for k, node in enumerate(graph.nodes) if not alone[k] for a in node.args)
    crossing = [k for k in sorted(needed) if alone[k] and graph.nodes[k].op != "constant"]
    return _prelude(graph, alone, crossing), _rest(graph, alone, crossing)


class _Nodes:
    """Nodes of a graph, copied to another."""

    def __init__(self, graph: Graph) -> None:
        self.graph, self.nodes, self.place = graph, list[tuple[Any, ...]](), dict[int, int]()

    def add(self, op: str, *args: int, value: Any = None) -> int:
        self.nodes.append((op, args, value))
        return len(self.nodes) - 1

    def copy(self, k: int) -> None:
        op, args, value = self.graph.nodes[k]
        self.place[k] = self.add(op, *(self.place[a] for a in args), value=value)

    def port(self, port: Port) -> Port:
        return port._replace(nodes=tuple(self.place[k] for k in port.nodes))


def _prelude(graph: Graph, alone: Sequence[bool], crossing: Sequence[int]) -> Graph:
    """The values that cross, of the numbers; conditions as 1 or 0."""
    found = _Nodes(graph)
    for k, yes in enumerate(alone):
        if yes:
            found.copy(k)
    one, zero = found.add("constant", value=1.0), found.add("constant", value=0.0)
    kept = []
    for k in crossing:
        is_condition = graph.nodes[k].is_condition
        kept.append(found.add("select", found.place[k], one, zero) if is_condition else found.place[k])
    numbers = next(port for port in graph.inputs if port.name == NUMBERS)
    outputs = [Port(KEPT, (len(kept) or 1,), tuple(kept) or (zero,))]  # one at least: no array is empty
    return Graph.pruned(f"{graph.name}: numbers", [found.port(numbers)], outputs, found.nodes, 0)


def _rest(graph: Graph, alone: Sequence[bool], crossing: Sequence[int]) -> Graph:
    """The results, of the other inputs and the values that crossed."""
    found = _Nodes(graph)
    size = len(crossing) or 1
    kept = Port(KEPT, (size,), tuple(range(-size, 0)), uniform=True)
    ports = _before_time([port for port in graph.inputs if port.name != NUMBERS], kept)
    for port in ports:
        for k, label in zip(port.nodes, labels(port.name, port.shape), strict=True):
            found.place[k] = found.add("input", value=label)
    crossed = [found.place[k] for k in kept.nodes]
    for k, place in zip(crossing, crossed, strict=False):
        half = found.add("constant", value=0.5) if graph.nodes[k].is_condition else 0
        found.place[k] = found.add("less", half, place) if graph.nodes[k].is_condition else place
    for k, node in enumerate(graph.nodes):
        if k not in found.place and (not alone[k] or node.op == "constant"):
            found.copy(k)
    inputs, outputs = [found.port(port) for port in ports], [found.port(port) for port in graph.outputs]
    return replace(Graph.pruned(graph.name, inputs, outputs, found.nodes, graph.structure), notes=graph.notes)
