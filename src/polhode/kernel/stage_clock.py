"""Where the time to make kernels goes, stage by stage; nothing is counted unless somebody asks."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


class StageClock:
    """Seconds by stage, of one thread; the time of a stage inside another counts for the inner one alone."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}
        self.running: list[str] = []
        self.since = 0.0

    def note(self) -> None:
        """Count the time since the last change of stage."""
        now = time.perf_counter()
        if self.running:
            self.spent[self.running[-1]] = self.spent.get(self.running[-1], 0.0) + now - self.since
        self.since = now


_clocks: list[StageClock] = []
"""The clock that runs, if one does."""


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Count the time in a block under a name, where stages are counted."""
    if not _clocks:
        yield
        return
    clock = _clocks[-1]
    clock.note()
    clock.running.append(name)
    try:
        yield
    finally:
        clock.note()
        clock.running.pop()


@contextmanager
def stages_counted() -> Iterator[dict[str, float]]:
    """Count the stages of kernels that are made in a block: seconds by name."""
    _clocks.append(StageClock())
    try:
        yield _clocks[-1].spent
    finally:
        _clocks.pop()
