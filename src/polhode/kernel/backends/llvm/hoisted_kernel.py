"""Kernels that take numbers: one for what follows from the numbers alone, one that takes that and the states."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial

import numpy as np

from polhode.kernel.backends.llvm.compile import Kernel, kernel_for
from polhode.kernel.cache import key as cache_key
from polhode.kernel.graph import Graph
from polhode.kernel.hoist import Hoisted, hoisted
from polhode.kernel.lru_cache import LruCache


@dataclass(frozen=True)
class HoistedKernel:
    """The kernels of a graph of states and numbers, each made when first used.

    name     a digest of all the graph depends on; "" for kernels that are not kept
    make     gives the graph
    numbers  the names of its inputs that are numbers
    title    what the comments above the generated text say it is
    single   whether there is code of its own for one state, beside that of the lanes
    later    whether small kernels, too, are used before they are optimised
    """

    name: str
    make: Callable[[], Graph]
    numbers: Collection[str]
    title: str
    width: int | None = None
    fast: bool = False
    single: bool = True
    later: bool = False

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
        """What follows from the numbers (n,) alone: an argument of `main`. Those of the last numbers are at hand."""
        given = numbers.tobytes()
        known, found = self._last.get(0, (b"", None))
        if found is None or known != given:
            found = self._prelude(numbers)[0]
            self._last[0] = given, found
        return found

    def bound(self, numbers: np.ndarray) -> Kernel:
        """`main` with what follows from these numbers (n,) as its last argument: the time is not last."""
        return replace(self.main, bound=(self.kept(numbers),))

    @cached_property
    def _last(self) -> dict[int, tuple[bytes, np.ndarray | None]]:
        return {}

    def of_width(self, width: int | None) -> "HoistedKernel":
        """The same of other lanes; what does not depend on them is shared."""
        if width not in self._widths:
            self._widths[width] = other = replace(self, width=width)
            vars(other).update(_widths=self._widths, _parts=self._parts, _prelude=self._prelude, _last=self._last)
        return self._widths[width]

    @cached_property
    def _widths(self) -> dict[int | None, "HoistedKernel"]:
        return {self.width: self}

    def _kernel(self, part: str, make: Callable[[], Graph], width: int | None) -> Kernel:
        name = cache_key(self.name, part) if self.name else ""
        as_it_is, single, later = (lambda graph: graph), self.single, self.later
        return kernel_for(name, make, self.title, width, self.fast, schedule=as_it_is, single=single, later=later)

    @cached_property
    def _parts(self) -> Callable[[], Hoisted]:
        return cache(lambda: hoisted(self.make(), self.numbers))


_known: LruCache[HoistedKernel] = LruCache(256)
"""Kernels of numbers that stay in memory: one of a large machine takes about a megabyte."""


def hoisted_kernel_for(
    name: str,
    make: Callable[[], Graph],
    numbers: Collection[str],
    title: str,
    width: int | None = None,
    fast: bool = False,
    single: bool = True,
    later: bool = False,
) -> HoistedKernel:
    """The kernels of this name: those that are in memory, whatever model they were made for."""
    made = partial(HoistedKernel, name, make, numbers, title, width, fast, single, later)
    return _known.get((name, fast, single), made).of_width(width) if name else made()
