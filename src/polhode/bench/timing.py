"""Fair times on a shared machine: contestants take turns, and the best of each counts.

Samples are processor time of this process, all threads together: on the clock on the wall, a long sample (a batch in
a slow library) is interrupted by other programs in every turn and a short one in few, which favours the faster side.
Only where threads are the question does the clock on the wall count.
"""

import gc
import os
import statistics
import time
import timeit
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from polhode.kernel.backends.llvm.two_tiers import FIRST, SWITCH

SAMPLE = 2e-3
"""Seconds that one sample should take at least; a sample is as many calls as that needs."""
LONG = 0.1
"""Seconds that are no mere interruption."""
FEWEST = 10
"""Turns that each contestant gets at least, unless said otherwise."""


OPTIMISED = {SWITCH: FIRST}
"""The environment of races: kernels as they are after a second of use."""


@contextmanager
def in_environment(**values: str) -> Iterator[None]:
    """Variables of the environment, for a while."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            os.environ.update({} if value is None else {name: value})


@dataclass(frozen=True)
class Contestant:
    """A statement to be timed.

    who     who computes
    call    what is called, as a reader would write it
    text    the statement, as Python text, on `names`
    states  how many states one run of it treats
    """

    who: str
    call: str
    text: str
    names: dict[str, Any]
    states: int = 1


@dataclass(frozen=True)
class Timing:
    """Seconds per state (or per whatever one run of a statement treats): the least and the median of the samples."""

    least: float
    median: float
    samples: int


def race(
    contestants: Sequence[Contestant],
    seconds: float,
    clock: Callable[[], float] = time.process_time,
    fewest: int = FEWEST,
) -> list[Timing]:
    """Time all contestants in turn, one sample each, again and again until the seconds are over.

    Each runs once before, untimed: a call that compiles would pass for a long one, one of which fills a sample.

    fewest  turns that each gets at least
    """
    timers = [timeit.Timer(c.text, timer=clock, globals=c.names) for c in contestants]
    for timer in timers:
        timer.timeit(1)
    counts = [_calls(timeit.Timer(c.text, globals=c.names)) for c in contestants]
    samples: list[list[float]] = [[] for _ in timers]
    collecting = gc.isenabled()
    gc.disable()
    try:
        end = time.perf_counter() + seconds
        while len(samples[-1]) < fewest or time.perf_counter() < end:
            for timer, count, contestant, found in zip(timers, counts, contestants, samples, strict=True):
                found.append(timer.timeit(count) / count / contestant.states)
    finally:
        if collecting:
            gc.enable()
    return [Timing(min(found), statistics.median(found), len(found)) for found in samples]


def _calls(timer: timeit.Timer) -> int:
    """How many calls fill a sample."""
    count = 1
    while (spent := _spent(timer, count)) < SAMPLE:
        count = max(2 * count, min(10 * count, round(1.2 * SAMPLE * count / max(spent, 1e-9))))
    return count


def _spent(timer: timeit.Timer, count: int) -> float:
    """Seconds of so many calls: the least of three, lest an interruption passes for a slow call."""
    first = timer.timeit(count)
    return first if first > LONG else min(first, *timer.repeat(2, count))
