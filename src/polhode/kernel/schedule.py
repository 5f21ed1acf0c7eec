"""From a graph as traced to one as machines run it: products and sums fused, operations in a good order.

Fusing is a choice made here, in the graph, so that every target and every lane width rounds alike.
"""

from collections import Counter
from weakref import WeakKeyDictionary

from polhode.kernel.graph import Graph, Node
from polhode.kernel.routine import Routine

_routines: WeakKeyDictionary[Routine, Routine] = WeakKeyDictionary()


def _fused_routine(routine: Routine) -> Routine:
    """A routine with all its graphs fused; the same one each time."""
    if routine not in _routines:
        _routines[routine] = routine.mapped(fused)
    return _routines[routine]


def fused(graph: Graph) -> Graph:
    """The same graph with a·b + c as one operation wherever the product serves that sum alone.

        a·b + c → fma(a, b, c),  a·b − c → fma(a, b, −c),  c − a·b → fma(−a, b, c)

    The result is rounded once instead of twice; its meaning is the same.
    """
    uses = Counter(a for node in graph.nodes for a in node.args)
    uses.update(k for port in graph.outputs for k in port.nodes)
    nodes: list[tuple] = []
    place: list[int] = []
    negated: dict[int, int] = {}

    def add(op: str, args: tuple[int, ...], value: object = None) -> int:
        nodes.append((op, args, value))
        return len(nodes) - 1

    def negative(k: int) -> int:
        if k not in negated:
            negated[k] = add("neg", (k,))
        return negated[k]

    def product(k: int) -> Node | None:
        node = graph.nodes[k]
        return node if node.op == "mul" and uses[k] == 1 else None

    for op, args, value in graph.nodes:
        moved = tuple(place[a] for a in args)
        value = _fused_routine(value) if op == "call" else value
        if op in ("add", "sub"):
            left, right = product(args[0]), product(args[1])
            if left:
                a, b = (place[x] for x in left.args)
                place.append(add("fma", (a, b, moved[1] if op == "add" else negative(moved[1]))))
                continue
            if right:
                a, b = (place[x] for x in right.args)
                place.append(add("fma", (a if op == "add" else negative(a), b, moved[0])))
                continue
        place.append(add(op, moved, value))
        if op == "neg":
            negated[moved[0]] = place[-1]
    ports = [[p._replace(nodes=tuple(place[k] for k in p.nodes)) for p in x] for x in (graph.inputs, graph.outputs)]
    return Graph.pruned(graph.name, ports[0], ports[1], nodes, graph.structure)
