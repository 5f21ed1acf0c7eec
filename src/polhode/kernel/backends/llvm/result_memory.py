"""Memory of large results: new arrays in pages that were used before.

The system fills every page that it gives a process with zeros, and takes it back when the array goes: for large
results that takes twice as long as computing them. Here the pages of an array that is gone wait for the next one. They
are marked as free meanwhile (MADV_FREE): where memory is short the system takes them, so they are lost to nobody.
"""

import math
import mmap
import weakref
from collections import deque
from typing import Any

import numpy as np

LARGE = 2**24
"""Bytes of an array from which on its memory is kept: what is smaller, malloc keeps itself."""

KEPT = 2**28
"""Bytes that wait at most; the pages that have waited longest go first."""

NONE = -1
"""No advice: the system does not know it."""

PAGE = 2**21
"""Bytes of a large page, of which the memory of an array has a whole number: it takes the place of 512 small ones."""

FREE, HUGE = (int(getattr(mmap, f"MADV_{word}", NONE)) for word in ("FREE", "HUGEPAGE"))
"""Advice that the system takes."""

_waiting: deque[mmap.mmap] = deque()
"""Memory that no array uses. Arrays go in any thread and at any moment, so nothing is done with it but put and take."""

_used: dict[int, tuple[Any, mmap.mmap]] = {}
"""For each array that is there, by its id, the reference that tells of its end, and its memory."""


def new_array(shape: tuple[int, ...]) -> np.ndarray:
    """A new array of float64, contents not set; a large one in memory of a former one, if there is some."""
    size = 8 * math.prod(shape)
    if size < LARGE or FREE == NONE or not hasattr(mmap, "MAP_PRIVATE"):
        return np.empty(shape)
    memory = _taken(size) or _fresh(-(-size // PAGE) * PAGE)
    array: np.ndarray = np.ndarray(shape, buffer=memory)  # whatever looks at its memory holds the array itself
    place = id(array)
    _used[place] = weakref.ref(array, lambda _: _put(place)), memory
    return array


def _taken(size: int) -> mmap.mmap | None:
    """Memory that waits and has so many bytes, and not half as many again."""
    for _ in range(len(_waiting)):
        try:
            memory = _waiting.popleft()
        except IndexError:  # another thread was quicker
            return None
        if size <= len(memory) <= size + size // 2:
            return memory
        _waiting.append(memory)
    return None


def _fresh(size: int) -> mmap.mmap:
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if HUGE != NONE:
        memory.madvise(HUGE)
    return memory


def _put(place: int) -> None:
    """Let the memory of an array that is gone wait."""
    _, memory = _used.pop(place)
    try:
        memory.madvise(FREE)
    except OSError:  # a system that does not know it
        return
    _waiting.append(memory)
    while sum(map(len, [*_waiting])) > KEPT:
        _waiting.popleft()
