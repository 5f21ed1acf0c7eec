"""Kernels on arrays that stay in place: bound once and called again and again, or each row from the row before it.

Other Python threads run meanwhile.
"""

import ctypes
from collections.abc import Callable, Sequence
from functools import lru_cache, partial

import numpy as np

from polhode.kernel.backends.llvm.compile import Kernel

_LOOP = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
"""A ufunc's loop; ctypes releases the interpreter's lock meanwhile."""


_loop = lru_cache(maxsize=256)(_LOOP)
"""The loop at an address."""


class BoundKernel:
    """A kernel, its arguments and its results: a call computes all rows."""

    def __init__(self, kernel: Kernel, n: int, arguments: Sequence[np.ndarray], results: Sequence[np.ndarray]) -> None:
        """Bind n states.

        arguments  (n, *shape) each, or (*shape): the same for all; C-contiguous doubles
        results    (n, *shape) each, apart from the arguments
        """
        self._arrays = [*arguments, *kernel.bound, *results]
        steps, places = [], []
        for array, (shape, size) in zip(self._arrays, kernel.rows, strict=True):
            assert array.dtype == np.float64 and array.flags.c_contiguous  # noqa: PT018 - one test: it runs in each call
            if array.shape == shape:
                steps.append(0)
            else:
                assert array.shape == (n, *shape)
                steps.append(8 * size)
            places.append(array.__array_interface__["data"][0])
        self._kernel = kernel
        self._pointers = (ctypes.c_void_p * len(steps))(*places)
        self._strides = (ctypes.c_int64 * len(steps))(*steps)
        count = ctypes.byref(ctypes.c_int64(n))
        self.fill: Callable[[], None] = partial(_loop(kernel.loop), self._pointers, count, self._strides, count)
        """Fills the results from what the arguments hold now."""

    def __call__(self) -> None:
        """Fill the results from what the arguments hold now."""
        self.fill()


def chained(
    kernel: Kernel, rows: np.ndarray, others: Sequence[np.ndarray], results: Sequence[np.ndarray] = (), apart: int = 1
) -> None:
    """Fill rows[1:], each from the row before it: rows[i + 1], … = kernel(rows[i], *others[i]).

    kernel   of one lane; its first argument and its first result are a row
    rows     (n + 1, m)  C-contiguous doubles; the first is given
    others   the further arguments: one row each (*shape), the same for all, or n rows (n, *shape)
    results  (n, *shape) for each further result
    apart    so many chains side by side: rows (n + apart, m), row i + apart from row i; no fewer than lanes
    """
    n = len(rows) - apart
    assert kernel.facts["width"] <= apart
    BoundKernel(kernel, n, [rows[:n], *others], [rows[apart:], *results])()
