"""Kernels of functions of a tree that take the numbers of a model as inputs: models of one structure share them."""

from collections.abc import Callable, Mapping
from typing import Any

from polhode.kernel import trace
from polhode.kernel.backends.llvm.compile import Kernel
from polhode.kernel.backends.llvm.hoisted_kernel import hoisted_kernel_for
from polhode.kernel.cache import key as cache_key
from polhode.model import Model
from polhode.scalar import Vec
from polhode.system.number_inputs import tree_inputs


def tree_kernel(
    model: Model,
    what: str,
    function: Callable[..., Any],
    shapes: Mapping[str, tuple[int, ...]],
    width: int | None = None,
    is_kept: bool = True,
    single: bool = True,
    later: bool = False,
) -> Kernel:
    """The kernel of a function of a tree and of further arguments, for the numbers of a model.

    what      its name: no two functions of a model have the same
    function  of a tree, then of the arguments by name, on generic scalars
    shapes    of these arguments
    width     lanes; None: those of this processor
    is_kept   whether it is found again by its name: not where kinds of users are in the model
    single    whether there is code of its own for one state, beside that of the lanes
    later     whether it is used before it is optimised, however small it is
    """
    inputs = tree_inputs(model)

    def on_numbers(*, numbers: Vec, **arguments: Any) -> Any:
        return function(inputs.tree(numbers), **arguments)

    name = cache_key(inputs.text, "number inputs", what) if is_kept else ""
    graph = lambda: trace(on_numbers, **shapes, numbers=inputs.values.shape)  # noqa: E731
    title = f"{model.name}: {what}"
    made = hoisted_kernel_for(name, graph, ["numbers"], title, width, single=single, later=later)
    return made.bound(inputs.values)
