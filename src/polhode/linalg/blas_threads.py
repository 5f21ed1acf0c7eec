"""Threads of the BLAS library under NumPy: small matrices are worked on by one.

OpenBLAS lets all cores work on matrices of some 60 rows and more, and its threads wait for each other by turning in
circles. Where other work is on the cores, that is long: singular values of 80 rows (forty four-bars) took 556 ms in
place of 0.7 ms, those of 400 rows 2.5 s in place of 0.16 s (medians, two cores, a load of 8).
"""

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from typing import Any, TypeVar, cast

import numpy as np

SMALL = 400
"""Rows and columns up to which one thread works; above, seconds of work may be worth all cores where they are free."""

F = TypeVar("F", bound=Callable[..., Any])

_lock = threading.Lock()
_inside = [0, 0]  # how many are within `one_blas_thread` now; the threads when the first came


@cache
def _threads() -> tuple[Callable[[], int], Callable[[int], None]] | None:
    """Functions that tell and set the number of threads of NumPy's OpenBLAS; None: it has another library."""
    try:
        from numpy.linalg import _umath_linalg

        library = ctypes.CDLL(_umath_linalg.__file__)  # names are looked for in what it depends on, too
    except (ImportError, OSError, AttributeError):
        return None
    for prefix in ("scipy_", ""):
        for suffix in ("64_", ""):
            try:
                tell = getattr(library, f"{prefix}openblas_get_num_threads{suffix}")
                put = getattr(library, f"{prefix}openblas_set_num_threads{suffix}")
            except AttributeError:
                continue
            tell.restype, tell.argtypes = ctypes.c_int, ()
            put.restype, put.argtypes = None, (ctypes.c_int,)
            return tell, put
    return None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """A while in which OpenBLAS works with one thread, as if OPENBLAS_NUM_THREADS=1; afterwards with as many as before.

    The number is that of the whole process: linear algebra in other threads of Python has one, too, meanwhile.
    """
    functions = _threads()
    if functions is None:
        yield
        return
    tell, put = functions
    with _lock:
        if not _inside[0]:
            _inside[1] = tell()
            if _inside[1] > 1:
                put(1)
        _inside[0] += 1
    try:
        yield
    finally:
        with _lock:
            _inside[0] -= 1
            if not _inside[0] and _inside[1] > 1:
                put(_inside[1])


def small_by_one_thread(function: F) -> F:
    """A function whose first argument is a matrix (..., k, n), small ones worked on by one thread of BLAS."""

    @wraps(function)
    def wrapped(matrix: np.ndarray, *others: Any, **more: Any) -> Any:
        if max(np.shape(matrix)[-2:], default=0) > SMALL:
            return function(matrix, *others, **more)
        with one_blas_thread():
            return function(matrix, *others, **more)

    return cast("F", wrapped)


def threads() -> int | None:
    """Threads of NumPy's OpenBLAS now; None: it has another library."""
    functions = _threads()
    return functions[0]() if functions else None
