"""Rows that follow each other: a kernel whose result is the argument of its next call, wholly in compiled code."""

import ctypes
from collections.abc import Sequence

import numpy as np

from polhode.kernel.build import Kernel

_LOOP = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
"""A ufunc's loop; ctypes lets other Python threads run meanwhile."""


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
    shapes = [*kernel.facts["inputs"], *kernel.facts["outputs"]]
    arrays = [rows[:n], *others, rows[apart:], *results]
    assert kernel.facts["width"] <= apart
    assert len(arrays) == len(shapes)
    for array, shape in zip(arrays, shapes, strict=True):
        assert array.dtype == np.float64
        assert array.flags.c_contiguous
        assert array.shape in (tuple(shape), (n, *shape))
    steps = [8 * int(np.prod(shape)) if a.ndim > len(shape) else 0 for a, shape in zip(arrays, shapes, strict=True)]
    pointers = (ctypes.c_void_p * len(arrays))(*(a.ctypes.data for a in arrays))
    strides = (ctypes.c_int64 * len(arrays))(*steps)
    count = ctypes.c_int64(n)
    _LOOP(kernel.loop)(pointers, ctypes.byref(count), strides, ctypes.byref(count))
