"""A graph as a function again: its operations done on any scalars, symbols of another trace among them."""

from collections.abc import Callable
from typing import Any

from polhode.kernel.evaluate import called
from polhode.kernel.graph import Graph
from polhode.kernel.routine import Routine
from polhode.kernel.trace import Symbol, innermost, number_node
from polhode.scalar import Vec, acos, asin, atan2, cos, exp, log, sin, sqrt, tan, where

ON_SCALARS: dict[str, Callable] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "neg": lambda a: -a,
    "fma": lambda a, b, c: a * b + c,
    "abs": abs,
    "sqrt": sqrt,
    "sin": sin,
    "cos": cos,
    "tan": tan,
    "asin": asin,
    "acos": acos,
    "atan2": atan2,
    "exp": exp,
    "log": log,
    "less": lambda a, b: a < b,
    "less_equal": lambda a, b: a <= b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "not": lambda a: ~a,
    "select": where,
}
"""Each operation on generic scalars (an fma is rounded twice there)."""


def replay(graph: Graph, /, **given: Any) -> Any:
    """The result of a graph for arguments on generic scalars: Vec, nested Vec or scalars, by name."""
    values: list[Any] = [None] * len(graph.nodes)
    for port in graph.inputs:
        for k, value in zip(port.nodes, _flat(given[port.name]), strict=True):
            values[k] = value
    for k, node in enumerate(graph.nodes):
        if node.op == "constant":
            values[k] = node.value
        elif node.op == "call":
            values[k] = _called(node.value, [values[a] for a in node.args])
        elif node.op == "part":
            values[k] = values[node.args[0]][node.value]
        elif node.op != "input":
            values[k] = ON_SCALARS[node.op](*(values[a] for a in node.args))
    return graph.result([_shaped([values[k] for k in port.nodes], port.shape) for port in graph.outputs])


def _called(routine: Routine, given: list[Any]) -> list[Any]:
    """The results of a routine: symbols, if symbols are given, else numbers."""
    if not any(isinstance(x, Symbol) for x in given):
        return called(routine, given)
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
