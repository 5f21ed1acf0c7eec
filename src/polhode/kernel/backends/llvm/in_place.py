"""Kernels on arrays that stay in place: bound once and called again and again, or each row from the row before it.

Other Python threads run meanwhile.
"""

import ctypes
from collections.abc import Callable, Sequence
from functools import cache, cached_property, lru_cache, partial
from typing import Any

import numpy as np

from polhode.kernel.backends.base import FLOAT
from polhode.kernel.backends.llvm.compile import Kernel

_LOOP = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
"""A ufunc's loop; ctypes releases the interpreter's lock meanwhile."""


AT_ONCE = 64
"""Rows that a `RowChain` fills between two looks at them: a look takes as long as 20 rows of `arm-7` that are copies
of the one before, which those beyond the last are."""

_loop = lru_cache(maxsize=256)(_LOOP)
"""The loop at an address."""


@cache
def _tables(n: int) -> tuple[Any, Any]:
    """The types of tables of n pointers and n strides: ctypes would make new ones for every call."""
    return ctypes.c_void_p * n, ctypes.c_int64 * n


def _address(array: Any) -> int:
    """The address of an array of doubles that is C-contiguous: by its buffer, in a fifth of the time, where it may be
    written."""
    if array.size and array.flags.writeable:
        return ctypes.addressof(ctypes.c_double.from_buffer(array))
    found: int = array.__array_interface__["data"][0]
    return found


class BoundKernel:
    """A kernel, its arguments and its results: a call computes all rows."""

    def __init__(
        self, kernel: Kernel, n: int, arguments: Sequence[np.ndarray | float], results: Sequence[np.ndarray]
    ) -> None:
        """Bind n states.

        arguments  (n, *shape) each, or (*shape) or a float: the same for all; C-contiguous doubles
        results    (n, *shape) each, apart from the arguments
        """
        numbers = np.array([x for x in arguments if isinstance(x, float)])
        self._arrays = [*arguments, *kernel.bound, *results, numbers]  # as long as their addresses are in use
        steps: list[int] = []
        places: list[int] = []
        number = _address(numbers) if numbers.size else 0
        for array, (shape, size) in zip(self._arrays[:-1], kernel.rows, strict=True):
            if isinstance(array, float):
                steps.append(0)
                places.append(number)
                number += 8
                continue
            assert array.dtype == FLOAT and array.flags.c_contiguous  # noqa: PT018 - one test: it runs in each call
            if array.shape == shape:
                steps.append(0)
            else:
                assert array.shape == (n, *shape)
                steps.append(8 * size)
            places.append(_address(array))
        self._kernel = kernel  # whose code goes when nobody has it any more
        self._places, self._steps, self._loop = places, steps, _loop(kernel.loop)
        pointers, strides = _tables(len(steps))
        self._strides, count = strides(*steps), ctypes.byref(ctypes.c_int64(n))
        self.fill: Callable[[], None] = partial(self._loop, pointers(*places), count, self._strides, count)
        """Fills the results from what the arguments hold now."""

    @cached_property
    def fill_some(self) -> Callable[..., None]:
        """Fills the results of n states from one on, by its number: fill_some(first, n, other=None), in one thread at a
        time; other: in place of the first argument, of one."""
        pointers, number = _tables(len(self._steps))[0](*self._places), ctypes.c_int64()
        known = zip(self._places, self._steps, strict=True)
        moving = [(k, place, step) for k, (place, step) in enumerate(known) if step or not k]
        loop, strides, count = self._loop, self._strides, ctypes.byref(number)

        def fill(first: int, n: int, other: np.ndarray | None = None) -> None:
            for k, place, step in moving:
                pointers[k] = place + first * step
            if other is not None:
                pointers[0] = _address(other)
            number.value = n
            loop(pointers, count, strides, count)

        return fill

    def __call__(self) -> None:
        """Fill the results from what the arguments hold now."""
        self.fill()


def chained(
    kernel: Kernel,
    rows: np.ndarray,
    others: Sequence[np.ndarray | float],
    results: Sequence[np.ndarray] = (),
    apart: int = 1,
) -> None:
    """Fill rows[1:], each from the row before it: rows[i + 1], … = kernel(rows[i], *others[i]).

    kernel   of one lane; its first argument and its first result are a row
    rows     (n + 1, m)  C-contiguous doubles; the first is given
    others   the further arguments: one row each (*shape), or a float, the same for all, or n rows (n, *shape)
    results  (n, *shape) for each further result
    apart    so many chains side by side: rows (n + apart, m), row i + apart from row i; no fewer than lanes
    """
    n = len(rows) - apart
    assert kernel.facts["width"] <= apart
    BoundKernel(kernel, n, [rows[:n], *others], [rows[apart:], *results])()


class KeptChain:
    """`chained`, again and again: what was bound for the rows and arguments of the call before serves the next one.

    Arrays that are bound stay in memory until others are.
    """

    def __init__(self, kernel: Kernel, most: float) -> None:
        """most: bytes of rows that stay bound."""
        self._kernel, self._most = kernel, most
        self._kept: list[tuple[tuple, BoundKernel]] = []  # one at most, while no call uses it

    def __call__(self, rows: np.ndarray, others: Sequence[np.ndarray | float]) -> None:
        """Fill rows[1:], as `chained` does."""
        where = len(rows), *[x if isinstance(x, float) else (_address(x), x.shape) for x in (rows, *others)]
        try:
            known, bound = self._kept.pop()
        except IndexError:
            known, bound = (), None
        if bound is None or known != where:
            bound = BoundKernel(self._kernel, len(rows) - 1, [rows[:-1], *others], [rows[1:]])
        bound.fill()
        if rows.nbytes <= self._most and not self._kept:
            self._kept.append((where, bound))


class RowChain:
    """Rows that are filled as `chained` does, in parts: up to one whose number at a place is another than a value."""

    def __init__(
        self, kernel: Kernel, rows: np.ndarray, others: Sequence[np.ndarray], place: int, value: float
    ) -> None:
        self.rows, self._place, self._value = rows, place, value
        self._bound = BoundKernel(kernel, len(rows) - 1, [rows[:-1], *others], [rows[1:]])

    def fill_from(self, first: int) -> int:
        """Fill the rows after one, up to the first whose number is another; the last that is filled.

        Rows beyond it, up to AT_ONCE, may be filled too.
        """
        rows, n = self.rows, len(self.rows) - 1
        for i in range(first, n, AT_ONCE):
            last = min(i + AT_ONCE, n)
            self._bound.fill_some(i, last - i)
            if rows.item(last, self._place) != self._value:
                return i + 1 + int((rows[i + 1 : last + 1, self._place] != self._value).argmax())
        return n

    def fill_again(self, i: int, row: np.ndarray) -> int:
        """Fill row i once more, from another than the row before it, then those after it, as `fill_from` does."""
        self._bound.fill_some(i - 1, 1, row)
        return self.fill_from(i) if self.rows.item(i, self._place) == self._value else i
