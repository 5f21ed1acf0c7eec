"""Pieces of work for several threads: each has its own queue, and takes from another's end when its own is empty."""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Piece = TypeVar("Piece")


class Stopped(BaseException):
    """Another thread has ended the work that this one takes part in."""


_asked = threading.local()
"""Of each thread: what tells whether the work it takes part in was ended."""


def go_on() -> None:
    """Raise Stopped where another thread, by Ctrl-C or a fault, has ended the work; long pieces ask this often."""
    if getattr(_asked, "ended", _never)():
        raise Stopped


def _never() -> bool:
    return False


def in_threads(do: Callable[[Piece], None], pieces: Sequence[Piece], threads: int) -> None:
    """Do every piece once; the first exception (Ctrl-C among them) is raised when all threads have stopped.

    do  spends its time where the interpreter's lock is free: in compiled code, in files; it asks `go_on` often
    """
    outside = getattr(_asked, "ended", _never)
    count = max(1, min(threads, len(pieces)))
    queues = [deque(pieces[k * len(pieces) // count : (k + 1) * len(pieces) // count]) for k in range(count)]
    faults: list[BaseException] = []

    def work(own: int) -> None:
        before, _asked.ended = getattr(_asked, "ended", _never), lambda: bool(faults) or outside()
        try:
            while not faults and (taken := _taken(queues, own)):
                do(taken[0])
        except BaseException as fault:
            faults.append(fault)
        finally:
            _asked.ended = before

    if count == 1:
        work(0)
    else:
        with ThreadPoolExecutor(count - 1, thread_name_prefix="polhode") as pool:
            waiting = [pool.submit(work, k) for k in range(1, count)]
            work(0)
            try:
                for future in waiting:
                    future.result()
            except BaseException as fault:  # Ctrl-C while others work
                faults.append(fault)
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
