"""The value of a graph on plain doubles, by the meaning of its operations: what all backends are tested against.

Elementwise on NumPy arrays, so that a graph also runs on a batch.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from polhode import scalar
from polhode.errors import InputError, message
from polhode.kernel.graph import Graph, Node, Port
from polhode.kernel.operations import MEANING
from polhode.kernel.routine import Routine, run
from polhode.scalar import Array


def evaluate(graph: Graph, /, **values: Array) -> Any:
    """The result of a graph for given arguments, in the structure that the traced function returns.

    values  by name; each (..., *shape) with any leading batch axes, which broadcast
    ->      arrays (..., *shape) in the place of Vec; floats, or arrays (...) for a batch, in the place of scalars
    """
    arrays = _arrays(graph, values)
    batches = {port.name: a.shape[: a.ndim - len(port.shape)] for port, a in zip(graph.inputs, arrays, strict=True)}
    batch = scalar.batch_shape(f"evaluate {graph.name}", batches)
    found: list[Any] = []
    for port, array in zip(graph.inputs, arrays, strict=True):
        flat = array.reshape(*batches[port.name], len(port.nodes))
        found.extend(scalar.split(flat, 1))
    with np.errstate(all="ignore"):
        for node in graph.nodes[len(found) :]:
            found.append(_meaning(node, [found[a] for a in node.args]))
    return graph.result([_array(port, [found[k] for k in port.nodes], batch) for port in graph.outputs])


def _meaning(node: Node, operands: list[Any]) -> Any:
    """The value of one node, from those of its operands."""
    if node.op == "call":
        return called(node.value, operands)
    if node.op == "part":
        return operands[0][node.value]
    return MEANING[node.op](*operands) if node.args else node.value


def called(routine: Routine, operands: Sequence[Any]) -> list[Any]:
    """The results of a routine on floats; on arrays one state after the other."""
    batch = np.broadcast_shapes(*map(np.shape, operands))
    if not batch:
        return run(routine, [float(x) for x in operands], _block)
    rows = np.array([np.broadcast_to(x, batch) for x in operands]).reshape(len(operands), -1).T
    found = np.array([run(routine, row, _block) for row in rows.tolist()])
    return list(found.T.reshape(-1, *batch))


def _block(graph: Graph, inputs: list[float]) -> list[float]:
    """All outputs of the graph of a block."""
    found: list[Any] = [*inputs]
    for node in graph.nodes[len(found) :]:
        found.append(_meaning(node, [found[a] for a in node.args]))
    return [float(found[k]) for port in graph.outputs for k in port.nodes]


def _arrays(graph: Graph, values: dict[str, Array]) -> list[np.ndarray]:
    """The arguments as arrays of doubles, in the order of the graph, or an InputError."""
    where = f"evaluate {graph.name}"
    names = [port.name for port in graph.inputs]
    if {*names} != {*values}:
        found = ", ".join(values) or "none"
        raise InputError(message(where, "other arguments than the graph has", found, ", ".join(names) or "none"))
    arrays = []
    for port in graph.inputs:
        place, value = f"{where}, argument {port.name}", values[port.name]
        shape = ", ".join(["...", *map(str, port.shape)])
        try:
            array = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            raise InputError(message(place, "not numbers", repr(value)[:80], f"numbers of shape ({shape})")) from None
        if array.ndim < len(port.shape) or array.shape[array.ndim - len(port.shape) :] != port.shape:
            raise InputError(message(place, "wrong shape", str(array.shape), f"({shape})"))
        arrays.append(array)
    return arrays


def _array(port: Port, values: list[Any], batch: tuple[int, ...]) -> Any:
    """The components of one result, stacked behind the batch axes."""
    if not port.shape and not batch:
        return values[0]
    columns = np.array([np.broadcast_to(x, batch) for x in values]).reshape(len(values), *batch)
    return np.moveaxis(columns, 0, -1).reshape(*batch, *port.shape)
