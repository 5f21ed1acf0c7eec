"""Pieces of work for several threads, which stop together: at the first fault, or at Ctrl-C.

The threads are those of `concurrent.futures`, one task for each, and the pieces wait in one queue: a task for each
piece would cost 20 µs to 60 µs of the interpreter's time (decision 019).
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TypeVar

Piece = TypeVar("Piece")


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Stopped(BaseException):
    """Another thread has ended the work that this one takes part in."""


_asked = threading.local()
"""For each thread, a function that tells whether the work it takes part in was ended."""


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
    outside, ended, left = getattr(_asked, "ended", _never), threading.Event(), deque(pieces)

    def work() -> None:
        before, _asked.ended = getattr(_asked, "ended", _never), lambda: ended.is_set() or outside()
        try:
            while not ended.is_set():
                try:
                    piece = left.popleft()
                except IndexError:
                    return
                do(piece)
        finally:
            _asked.ended = before

    count = min(threads, len(pieces))
    if count <= 1:
        work()
        return
    with ThreadPoolExecutor(count, thread_name_prefix="polhode") as pool:
        try:
            for future in as_completed([pool.submit(work) for _ in range(count)]):
                future.result()
        except BaseException:
            ended.set()
            raise
