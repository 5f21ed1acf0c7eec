"""Pieces of work for several threads: each has its own queue, and takes from another's end when its own is empty."""

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Piece = TypeVar("Piece")


def in_threads(do: Callable[[Piece], None], pieces: Sequence[Piece], threads: int) -> None:
    """Do every piece once; the first exception of a piece is raised when all threads have stopped.

    do  spends its time where the interpreter's lock is free: in compiled code, in files
    """
    count = max(1, min(threads, len(pieces)))
    queues = [deque(pieces[k * len(pieces) // count : (k + 1) * len(pieces) // count]) for k in range(count)]
    faults: list[BaseException] = []

    def work(own: int) -> None:
        while not faults and (taken := _taken(queues, own)):
            try:
                do(taken[0])
            except BaseException as fault:
                faults.append(fault)

    if count == 1:
        work(0)
    else:
        with ThreadPoolExecutor(count - 1, thread_name_prefix="polhode") as pool:
            waiting = [pool.submit(work, k) for k in range(1, count)]
            work(0)
            for future in waiting:
                future.result()
    if faults:
        raise faults[0]


def _taken(queues: Sequence[deque[Piece]], own: int) -> list[Piece]:
    """The next piece of one's own queue, else the last of the longest other; none where all are empty."""
    while True:
        try:
            return [queues[own].popleft()]
        except IndexError:
            longest = max(queues, key=len)
        try:
            return [longest.pop()]
        except IndexError:
            if not any(queues):
                return []
