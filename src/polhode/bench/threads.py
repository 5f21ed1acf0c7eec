"""Two threads against one on a large batch: the one race in which the clock on the wall counts."""

import time
from dataclasses import dataclass

import numpy as np

from polhode.bench.machines import machine, random_states
from polhode.bench.timing import Contestant, Timing, race
from polhode.errors import PolhodeError, message
from polhode.system.system import compile

MODEL, METHOD, THREADS = "arm-7", "forward_dynamics", 2


@dataclass(frozen=True)
class Threads:
    """One quantity of a batch on one thread and on several, into an array given: seconds per state on the wall."""

    model: str
    quantity: str
    states: int
    threads: int
    one: Timing
    several: Timing
    ratio: float
    ratio_median: float


def thread_times(states: int, seconds: float) -> Threads:
    """The race on so many states; both give the same bits."""
    system = compile(machine(MODEL), target="cpu")
    q, v, x = random_states(system.model, states)
    outs = np.empty_like(v), np.full_like(v, np.nan)
    names = {"system": system, "q": q, "v": v, "x": x, "one": outs[0], "several": outs[1]}
    texts = (
        f"system.{METHOD}(q, v, x, out=one, threads=1)",
        f"system.{METHOD}(q, v, x, out=several, threads={THREADS})",
    )
    contestants = [Contestant("polhode", text, text, names, states) for text in texts]
    one, several = race(contestants, seconds, time.perf_counter)
    if not np.array_equal(*outs):
        raise PolhodeError(message("bench, threads", "the results differ", f"{THREADS} threads", "the same bits"))
    ratios = one.least / several.least, one.median / several.median
    return Threads(MODEL, "forward", states, THREADS, one, several, *ratios)
