"""A graph as a function again: its operations done on any scalars, symbols of another trace among them."""

from typing import Any

from polhode.kernel.evaluate import called
from polhode.kernel.graph import Graph
from polhode.kernel.operations import MEANING
from polhode.kernel.routine import Routine, run
from polhode.kernel.trace import Symbol, innermost, number_node
from polhode.scalar import Dual, Vec


def replay(graph: Graph, /, **given: Any) -> Any:
    """The result of a graph for arguments on generic scalars: Vec, nested Vec or scalars, by name."""
    values: list[Any] = [None] * len(graph.nodes)
    for port in graph.inputs:
        for k, value in zip(port.nodes, _flat(given[port.name]), strict=True):
            values[k] = value
    _fill(graph, values)
    return graph.result([_shaped([values[k] for k in port.nodes], port.shape) for port in graph.outputs])


def _fill(graph: Graph, values: list[Any]) -> None:
    """Give all nodes but the inputs, which have theirs, their values."""
    for k, node in enumerate(graph.nodes):
        if node.op == "constant":
            values[k] = node.value
        elif node.op == "call":
            values[k] = _called(node.value, [values[a] for a in node.args])
        elif node.op == "part":
            values[k] = values[node.args[0]][node.value]
        elif node.op != "input":
            values[k] = MEANING[node.op](*(values[a] for a in node.args))


def _block(graph: Graph, inputs: list[Any]) -> list[Any]:
    """All outputs of the graph of a block."""
    values = [*inputs, *[None] * (len(graph.nodes) - len(inputs))]
    _fill(graph, values)
    return [values[k] for port in graph.outputs for k in port.nodes]


def _called(routine: Routine, given: list[Any]) -> list[Any]:
    """The results of a routine: symbols, if symbols are given, numbers with derivatives for such, else numbers."""
    if not any(isinstance(x, Symbol) for x in given):
        return run(routine, given, _block) if any(isinstance(x, Dual) for x in given) else called(routine, given)
    builder = innermost(*given)
    nodes = [number_node(builder, x) for x in given]
    return [Symbol(builder, k) for k in builder.call(routine, nodes)]  # type: ignore[arg-type]


def _flat(value: Any) -> list:
    return [x for part in value for x in _flat(part)] if isinstance(value, Vec) else [value]


def _shaped(values: list, shape: tuple[int, ...]) -> Any:
    if not shape:
        return values[0]
    size = len(values) // shape[0] if shape[0] else 0
    return Vec([_shaped(values[k * size : (k + 1) * size], shape[1:]) for k in range(shape[0])])
