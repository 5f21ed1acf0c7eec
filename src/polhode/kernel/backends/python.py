"""The python backend: computations on floats and NumPy batches, with no kernels: what all other backends must equal."""

from typing import Any

import numpy as np

from polhode.kernel.backends.base import Backend, Call, Computation, into, real_array
from polhode.kernel.evaluate import evaluate
from polhode.scalar import split, stack


class PythonBackend(Backend):
    """Computations as they are written, on numbers; by their graph where they are defined by one."""

    def __init__(self, fast: bool = False) -> None:
        self.kernels = {}

    array = staticmethod(real_array)

    def evaluate(self, computation: Computation, call: Call) -> Any:
        """The result of a computation."""
        if computation.on_numbers is None:
            graph = computation.graph(call.shapes)
            found = computation.parts(evaluate(graph, **dict(zip(call.names, call.arrays.values(), strict=True))))
        else:
            scalars = {known: split(array, call.depths[known]) for known, array in call.arrays.items()}
            found = [stack(part, call.batch) for part in computation.parts(computation.on_numbers(scalars, call.batch))]
        results = [
            np.zeros((*call.batch, *shape)) if 0 in shape else result  # an empty list of rows does not know its columns
            for shape, result in zip(computation.results, found, strict=True)
        ]
        result = computation.gathered(results)
        return result if call.out is None else into(computation.key[0], call.out, result)

    def kernel(self, computation: Computation, call: Call) -> Any:
        """There is none."""
        raise computation.nothing_to_compile("target 'python'")
