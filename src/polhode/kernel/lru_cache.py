"""A cache by name: where it is full, the entry that was asked for longest ago is forgotten."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class LruCache(Generic[T]):
    """Entries by name, at most so many, the least recently used forgotten first; several threads may ask."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._known: OrderedDict[Hashable, T] = OrderedDict()
        self._lock = threading.Lock()
        self._making: dict[Hashable, threading.Lock] = {}

    def get(self, name: Hashable, make: Callable[[], T]) -> T:
        """The entry of a name, made where it is not known; two threads that ask at once may both make it."""
        with self._lock:
            if name in self._known:
                self._known.move_to_end(name)
                return self._known[name]
        made = make()
        with self._lock:
            found = self._known.setdefault(name, made)
            while len(self._known) > self.most:
                self._known.popitem(last=False)
        return found

    def made_once(self, name: Hashable, make: Callable[[], T]) -> T:
        """The entry of a name, made where it is not known; of threads that ask at once one makes it, the others wait.

        make  must not ask for an entry itself
        """
        with self._lock:
            making = self._making.setdefault(name, threading.Lock())
        with making:
            try:
                return self.get(name, make)
            finally:
                with self._lock:
                    self._making.pop(name, None)

    def knows(self, name: Hashable) -> bool:
        """Whether there is an entry of this name."""
        with self._lock:
            return name in self._known

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._known.clear()
