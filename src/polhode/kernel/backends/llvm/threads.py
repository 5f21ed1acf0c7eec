"""One kernel, several threads: a batch in blocks along its longest axis, the same bits as in one piece."""

import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np

SMALLEST = 256
"""States that a block has at least: fewer, of 0.1 µs to 1 µs each, are done before a thread has woken up."""


def run_in_threads(
    ufunc: Any,
    arrays: Sequence[np.ndarray],
    depths: Sequence[int],
    outs: Sequence[np.ndarray],
    threads: int,
    lanes: int,
) -> None:
    """Fill the results of a gufunc, whose loop holds no interpreter lock, by up to `threads` threads.

    arrays  the arguments, with any leading batch axes
    depths  how many of the last axes of each argument, then of each result, are its own
    outs    the results, with all batch axes; apart from each other and from the arguments
    lanes   blocks hold a multiple of so many states, but for the last
    """
    batch = outs[0].shape[: outs[0].ndim - depths[len(arrays)]]
    blocks = block_bounds(batch, threads, lanes)
    if len(blocks) < 2:
        ufunc(*arrays, out=tuple(outs))
        return
    axis = len(batch) - int(np.argmax(batch))  # counted from the end of the batch axes
    pairs = list(zip((*arrays, *outs), depths, strict=True))

    def fill(block: slice) -> None:
        parts = [_part(array, array.ndim - depth - axis, block) for array, depth in pairs]
        ufunc(*parts[: len(arrays)], out=tuple(parts[len(arrays) :]))

    waiting = [_pool(os.getpid(), threads - 1).submit(fill, block) for block in blocks[1:]]
    try:
        fill(blocks[0])
    finally:
        for future in waiting:
            future.result()


def block_bounds(batch: tuple[int, ...], threads: int, lanes: int) -> list[slice]:
    """Blocks of the longest batch axis, no more than threads."""
    length = max((1, *batch))
    count = max(1, min(threads, length, math.prod(batch) // SMALLEST))
    step = -(-length // (count * lanes)) * lanes
    return [slice(first, first + step) for first in range(0, length, step)]


def _part(array: np.ndarray, axis: int, block: slice) -> np.ndarray:
    """A block of an array that has the axis; else, or where its one entry serves all, the array."""
    if axis < 0 or array.shape[axis] == 1:
        return array
    return array[(slice(None),) * axis + (block,)]


@cache
def _pool(process: int, workers: int) -> ThreadPoolExecutor:
    """Threads that wait for blocks; a forked process has none of its parent's."""
    return ThreadPoolExecutor(workers, thread_name_prefix="polhode")
