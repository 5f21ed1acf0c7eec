"""Routines for code of one state, written out where states lie in lanes: the same operations, and so the same bits."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from polhode.kernel.graph import Graph
from polhode.kernel.routine import run


def written_out(graph: Graph) -> Graph:
    """The graph with all calls of such routines as operations, none of them twice; products are fused already."""
    if not any(node.op == "call" and node.value.one_state for node in graph.nodes):
        return graph
    nodes: list[tuple] = []
    known: dict[tuple, int] = {}
    place: list[Any] = []

    def add(op: str, args: tuple[int, ...], value: Any) -> int:
        key = (op, args, type(value), str(value) if isinstance(value, float) else value)  # 0.0 is not −0.0
        if op == "input" or key not in known:
            nodes.append((op, args, value))
            known[key] = len(nodes) - 1
        return known[key]

    def of_block(block: Graph, given: Sequence[Any]) -> list[int]:
        found = [number(x) for x in given]
        for op, args, value in block.nodes[len(found) :]:
            found.append(add(op, tuple([found[a] for a in args]), value))
        return [found[k] for port in block.outputs for k in port.nodes]

    def number(x: int | float) -> int:
        """A node; a number that an array held at the start is a constant."""
        return add("constant", (), x) if isinstance(x, float) else x

    for op, args, value in graph.nodes:
        if op == "call" and value.one_state:
            place.append(run(value, [place[a] for a in args], of_block))  # type: ignore[arg-type]
        elif op == "part" and isinstance(place[args[0]], list):
            place.append(number(place[args[0]][value]))
        else:
            place.append(add(op, tuple([place[a] for a in args]), value))
    inputs, outputs = (
        [p._replace(nodes=tuple(place[k] for k in p.nodes)) for p in x] for x in (graph.inputs, graph.outputs)
    )
    return replace(Graph.pruned(graph.name, inputs, outputs, nodes, graph.structure), notes=graph.notes)
