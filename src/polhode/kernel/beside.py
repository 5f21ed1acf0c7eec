"""What an iterator gives, made by a thread of its own while another one works.

beside = Beside(run, size=lambda block: block.nbytes)       # begins at once
…                                                           # other work
for block in beside:                                        # what is there, then what comes
    …
beside.end()

It gains where the iterator spends its time outside Python, with Python's lock released.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextvars import copy_context
from typing import Generic, TypeVar

T = TypeVar("T")

MOST_BYTES = 2**26
"""Bytes of what waits to be taken, above which the thread waits too."""


class Beside(Generic[T]):
    """What an iterator gives, in its order, made by a thread of its own; `end` has to be called at last.

    source  the iterator: nobody else goes on with it
    size    how many bytes of memory one of its things takes
    """

    def __init__(self, source: Iterable[T], size: Callable[[T], int] = lambda _: 0) -> None:
        self._source, self._size = source, size
        self._waiting, self._bytes = deque[T](), 0
        self._is_done, self._is_ended = False, False
        self._fault: BaseException | None = None
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=copy_context().run, args=(self._make,), name="polhode")
        self._thread.start()

    def _make(self) -> None:
        try:
            for found in self._source:
                with self._changed:
                    self._waiting.append(found)
                    self._bytes += self._size(found)
                    self._changed.notify_all()
                    self._changed.wait_for(lambda: self._is_ended or self._bytes <= MOST_BYTES)
                    if self._is_ended:
                        return
        except BaseException as fault:
            self._fault = fault
        finally:
            with self._changed:
                self._is_done = True
                self._changed.notify_all()

    def __iter__(self) -> Iterator[T]:
        """What is there and was not taken yet, then what comes; the exception that ended the iterator, if one did."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._is_done)
                if not self._waiting:
                    break
                found = self._waiting.popleft()
                self._bytes -= self._size(found)
                self._changed.notify_all()
            yield found
        if self._fault:
            raise self._fault

    def end(self) -> None:
        """Let the iterator make nothing more, and wait until its thread has ended: after the thing in hand."""
        with self._changed:
            self._is_ended = True
            self._changed.notify_all()
        self._thread.join()
