"""The python backend: programs on floats and NumPy batches, with no kernels: what all other backends must equal."""

from typing import Any

import numpy as np

from polhode.kernel.backends.base import Backend, Call, Program, into, real_array
from polhode.kernel.evaluate import evaluate
from polhode.scalar import split, stack


class PythonBackend(Backend):
    """Programs as they are written, on numbers; by their graph where they are defined by one."""

    def __init__(self, fast: bool = False) -> None:
        self.kernels = {}

    array = staticmethod(real_array)

    def evaluate(self, program: Program, call: Call) -> Any:
        """The result of a program."""
        if program.on_numbers is None:
            graph = program.graph(call.shapes)
            found = program.parts(evaluate(graph, **dict(zip(call.names, call.arrays.values(), strict=True))))
        else:
            scalars = {known: split(array, call.depths[known]) for known, array in call.arrays.items()}
            found = [stack(part, call.batch) for part in program.parts(program.on_numbers(scalars, call.batch))]
        results = [
            np.zeros((*call.batch, *shape)) if 0 in shape else result  # an empty list of rows does not know its columns
            for shape, result in zip(program.results, found, strict=True)
        ]
        result = program.gathered(results)
        return result if call.out is None else into(program.key[0], call.out, result)

    def kernel(self, program: Program, call: Call) -> Any:
        """There is none."""
        raise program.nothing_to_compile("target 'python'")
