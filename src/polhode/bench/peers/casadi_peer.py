"""CasADi, which has no dynamics of its own: it gets our graph, operation by operation, as an SX expression.

What differs is only how it runs: by CasADi's virtual machine, or as CasADi's C code through gcc. Calls go through
`Function.buffer()`, the fastest way from Python: arguments and results are bound beforehand, and a call passes nothing.
"""

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from polhode.bench.peers.registry import Arrays
from polhode.bench.quantities import QUANTITIES
from polhode.bench.timing import Contestant
from polhode.kernel import Graph, replay
from polhode.kernel.written_out import written_out
from polhode.model import Model
from polhode.scalar import Vec, flat
from polhode.system.system import System

ca = import_module("casadi")
FLAGS = ("-O3", "-march=native", "-shared", "-fPIC")
MOST_OPERATIONS = 25_000
"""The most operations of a graph given to CasADi: with more, gcc takes minutes, the virtual machine milliseconds."""
MOST_RESULTS = 2_000
"""The most results of a function compiled by gcc, which takes long over many."""


class CasadiPeer:
    """Our graphs in CasADi: `made` makes of a CasADi function the one that is called, or None."""

    def __init__(self, model: Model, name: str, made: Callable[[Any], Any]) -> None:
        self.name, self._made, self.system = name, made, System(model)
        self._functions: dict[str, Any] = {}

    def one(self, quantity: str, state: Arrays) -> Contestant | None:
        """One call at one state."""
        return self._contestant(quantity, state, 1)

    def batch(self, quantity: str, states: Arrays) -> Contestant | None:
        """Many states, by CasADi's map on one thread."""
        return self._contestant(quantity, states, len(states[0]))

    def result(self, quantity: str, state: Arrays) -> list[np.ndarray]:
        """The results at one state."""
        bound = _bound(self.function(quantity), self._given(quantity, state), 1)
        bound.trigger()
        shapes = QUANTITIES[quantity].shapes(self.system)
        return [result.reshape(shape) for result, shape in zip(bound.results, shapes, strict=True)]

    def _contestant(self, quantity: str, states: Arrays, count: int) -> Contestant | None:
        function = self.function(quantity)
        if function is None:
            return None
        bound = _bound(function if count == 1 else function.map(count), self._given(quantity, states), count)
        call = "Function, bound" if count == 1 else "map, bound"
        return Contestant(self.name, call, "trigger()", {"trigger": bound.trigger, "bound": bound}, count)

    def _given(self, quantity: str, states: Arrays) -> list[np.ndarray]:
        return [np.ascontiguousarray(rows) for rows in states[: QUANTITIES[quantity].arguments]]

    def function(self, quantity: str) -> Any:
        """The CasADi function of a quantity, made once; None for a large graph, or one with loops, which SX has not.

        Loops of our code for one state, which does their passes at once, are written out, as in our code for batches.
        """
        if quantity not in self._functions:
            about = QUANTITIES[quantity]
            graph = written_out(self.system._kernel("bench", about.method, *about.words(self.system.model)).graph)
            fits = "call" not in graph.operations and graph.operations.total() <= MOST_OPERATIONS
            self._functions[quantity] = self._made(_function(graph)) if fits else None
        return self._functions[quantity]


def on_virtual_machine(model: Model) -> CasadiPeer:
    """The peer that interprets."""
    return CasadiPeer(model, "CasADi", lambda function: function)


def through_gcc(model: Model) -> CasadiPeer:
    """The peer that generates C, compiled by gcc for this processor."""
    if not shutil.which("gcc"):
        raise ImportError("gcc")
    return CasadiPeer(model, "CasADi + gcc", _compiled)


def _compiled(function: Any) -> Any:
    """The same function from a library of its own; None where gcc would take minutes."""
    if function.numel_out() > MOST_RESULTS:
        return None
    with tempfile.TemporaryDirectory(prefix="polhode-bench-") as folder:
        generator = ca.CodeGenerator("code.c")
        generator.add(function)
        generator.generate(f"{folder}/")
        code, library = f"{folder}/code.c", f"{folder}/code.so"
        subprocess.run(["gcc", *FLAGS, "-o", library, code], check=True, capture_output=True)
        return ca.external(function.name(), library)  # loaded: its file may go


def _function(graph: Graph) -> Any:
    """A graph as a CasADi function of its arguments, without the time, on which our machines do not depend."""
    given = {port.name: ca.SX.sym(port.name, len(port.nodes)) for port in graph.inputs if port.name != "t"}
    scalars = {name: Vec(ca.vertsplit(symbols)) for name, symbols in given.items()}
    found = replay(graph, **scalars, t=0.0)
    results = found if len(graph.outputs) > 1 else [found]
    columns = [ca.densify(ca.vertcat(*flat(result))) for result in results]
    return ca.Function("quantity", list(given.values()), columns)


class BufferedCall(NamedTuple):
    """A function with its arguments and results in place."""

    trigger: Any
    """The call, without arguments."""
    results: list[np.ndarray]
    """What it fills: for each result a row of each state."""
    kept: tuple
    """What it points to."""


def _bound(function: Any, given: list[np.ndarray], count: int) -> BufferedCall:
    buffer, trigger = function.buffer()
    results = [np.zeros((count, function.numel_out(k) // count)) for k in range(function.n_out())]
    for k, array in enumerate(given):
        buffer.set_arg(k, array.data)
    for k, array in enumerate(results):
        buffer.set_res(k, array.data)
    return BufferedCall(trigger, results, (buffer, given))
