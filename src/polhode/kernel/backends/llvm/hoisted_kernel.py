"""Kernels that take numbers: one for what follows from the numbers alone, one that takes that and the states."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np

from polhode.kernel.backends.llvm.compile import Kernel, kernel_for
from polhode.kernel.cache import key as cache_key
from polhode.kernel.graph import Graph
from polhode.kernel.hoist import Hoisted, hoisted


@dataclass(frozen=True)
class HoistedKernel:
    """The kernels of a graph of states and numbers, each made when first used.

    name     a digest of all the graph depends on; "" for kernels that are not kept
    make     gives the graph
    numbers  the names of its inputs that are numbers
    title    what the comments above the generated text say it is
    """

    name: str
    make: Callable[[], Graph]
    numbers: Collection[str]
    title: str
    width: int | None = None
    fast: bool = False

    @cached_property
    def main(self) -> Kernel:
        """The results, of states and `kept`."""
        return self._kernel("main", lambda: self._parts().main, self.width)

    @cached_property
    def whole(self) -> Kernel:
        """The results, of states and numbers that are those of each state: the same bits as by `kept` and `main`."""
        return self._kernel("whole", lambda: self._parts().whole, self.width)

    @cached_property
    def _prelude(self) -> Kernel:
        return self._kernel("numbers", lambda: self._parts().prelude, 1)

    def kept(self, numbers: np.ndarray) -> np.ndarray:
        """What follows from the numbers (n,) alone: an argument of `main`."""
        return self._prelude(numbers)[0]

    def widened(self, width: int) -> "HoistedKernel":
        """The same of more lanes; what does not depend on them is shared."""
        other = replace(self, width=width)
        vars(other).update({name: x for name, x in vars(self).items() if name in ("_parts", "_prelude")})
        return other

    def _kernel(self, part: str, make: Callable[[], Graph], width: int | None) -> Kernel:
        name = cache_key(self.name, part) if self.name else ""
        return kernel_for(name, make, self.title, width, self.fast, schedule=lambda graph: graph)

    @cached_property
    def _parts(self) -> Callable[[], Hoisted]:
        return cache(lambda: hoisted(self.make(), self.numbers))
