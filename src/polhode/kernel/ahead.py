"""Kernels made ahead: while LLVM compiles one, what Python does for the next.

LLVM works outside Python, in a thread that the main one waits for (`interrupt.py`). Whoever knows which kernels it will
ask for says so:

    with made_ahead(lambda: run.steps, lambda: run.samples):
        …                          # asks for kernels, in any order, and uses them

While the main thread waits, it makes the next of these, up to where LLVM has the word again, and so on. Where kernels
come from disk nothing is waited for, and nothing is made that is not asked for.
"""

import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

SWITCH_INTERVAL = 1e-4
"""Seconds after which Python's lock is handed to the thread of LLVM, which takes it for a moment between two of its
calls: with Python's own 5 ms it would wait longer than it works."""

_makers: deque[Callable[[], Any]] = deque()
"""What is to be made, by the main thread."""

_begun: list[str] = []
"""The names of the kernels that the main thread is making: each but the first while LLVM compiles the one before."""

_ahead: list[None] = []
"""One for each kernel that is being made ahead."""


class BegunError(Exception):
    """A kernel is asked for ahead that is being made, or that has no name to tell."""


@contextmanager
def made_ahead(*makers: Callable[[], Any]) -> Iterator[None]:
    """A block that will ask for kernels.

    makers  functions that ask for one each and change nothing else; where one fails, whoever asks in earnest is told
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = [*_makers]
    _makers.extend(makers)
    try:
        yield
    finally:
        _makers.clear()
        _makers.extend(before)


@contextmanager
def begun(name: str) -> Iterator[None]:
    """A block that makes the kernel of a name; a BegunError where that is under way, or where one without is ahead."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    if name in _begun if name else _ahead:
        raise BegunError
    _begun.append(name)
    try:
        yield
    finally:
        _begun.pop()


def make_next() -> bool:
    """Make the next kernel of the list, in the main thread; False where none is left."""
    if not _makers:
        return False
    maker, usual = _makers.popleft(), sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_INTERVAL)
    _ahead.append(None)
    try:
        with suppress(Exception):
            maker()
    finally:
        _ahead.pop()
        sys.setswitchinterval(usual)
    return True
