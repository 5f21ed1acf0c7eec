"""Python's garbage collection, paused: a trace makes millions of tuples, none of them in a cycle.

To look through them all, again and again, takes a fifth of the time to make a kernel.
"""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_inside: list[bool] = []
"""For each block that is under way, in any thread, whether collection was on before it."""


@contextmanager
def collection_paused() -> Iterator[None]:
    """Collect no cycles in a block; where several are under way, until the last of them ends."""
    with _lock:
        _inside.append(gc.isenabled())
        gc.disable()
    try:
        yield
    finally:
        with _lock:
            before = _inside.pop(0)
            if _inside:
                _inside[0] = _inside[0] or before
            elif before:
                gc.enable()
