"""A graph as bytes: what another process compiles, without tracing it again.

Bytes are those of `pickle`, read back by nothing but the classes of graphs. They are kept where object code is, under
the same checks (`cache.py`).
"""

import io
import pickle
from typing import Any

from polhode.kernel.graph import Graph, Node, Port
from polhode.kernel.routine import Block, Cell, For, Index, Lookup, Routine, Switch, Variable, While

CLASSES = {
    one.__name__: one for one in (Graph, Port, Routine, Index, Variable, Lookup, Cell, Block, For, While, Switch)
}
"""The classes of what a graph consists of; nodes are plain tuples there, which takes half the time."""

BUILTINS = {"frozenset": frozenset}


def packed(graph: Graph) -> bytes:
    """The operations of a graph and of the routines that it calls, each routine once; no notes, no structure."""
    file = io.BytesIO()
    pickler = pickle.Pickler(file, pickle.HIGHEST_PROTOCOL)
    pickler.dispatch_table = {Graph: _graph_parts, Routine: _routine_parts}
    pickler.dump(graph)
    return file.getvalue()


def unpacked(data: bytes) -> Graph:
    """The graph that `packed` made bytes of; a ValueError where these are others."""
    try:
        found = _Unpickler(io.BytesIO(data)).load()
    except Exception as error:  # whatever damaged bytes lead to
        raise ValueError("no graph") from error
    if not isinstance(found, Graph):
        raise ValueError("no graph")
    return found


def _graph(name: str, inputs: tuple, outputs: tuple, nodes: tuple[tuple, ...]) -> Graph:
    return Graph(name, inputs, outputs, tuple(map(Node._make, nodes)), None)


def _graph_parts(graph: Graph) -> tuple[Any, tuple]:
    return _graph, (graph.name, graph.inputs, graph.outputs, tuple(map(tuple, graph.nodes)))


def _routine_parts(routine: Routine) -> tuple[Any, tuple]:
    """A routine without its derivative, which may be a function of anybody's and which no compiler reads."""
    own = routine.name, routine.inputs, routine.outputs, dict(routine.arrays), dict(routine.tables), dict(routine.whole)
    return Routine, (*own, routine.body, None, routine.unset, routine.shared, routine.busy)


class _Unpickler(pickle.Unpickler):
    """A reader that knows no other classes."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == (__name__, _graph.__name__):
            return _graph
        found = BUILTINS.get(name) if module == "builtins" else CLASSES.get(name)
        if found is None or found.__module__ != module:
            raise pickle.UnpicklingError(f"{module}.{name} is no part of a graph")
        return found
