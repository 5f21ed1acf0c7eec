"""Times before a run: where a function of time passes zero, and around where it changes abruptly."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from polhode.kernel.evaluate import evaluate
from polhode.kernel.graph import Graph
from polhode.kernel.intervals import bounds
from polhode.simulation.run_records import NONE

PIECES = 1024
"""Intervals that a run's time is divided into at first, to isolate zeros."""

FINEST = 1e-14
"""The part of the duration below which intervals are not divided further."""

MOST_INTERVALS = 200_000
"""Intervals that may hold a zero, above which zeros are no longer isolated but looked for at SAMPLES times: a function
that is zero over a while, or has that many zeros."""

SAMPLES = 20_000
"""Intervals between the times at which functions of time are sampled: twenty in the longest controlled step."""

WINDOW = 20
"""Samples within a longest step."""

ABRUPT = 30.0
"""A curvature of this many times the median one is an abrupt change: that of harmonics stays below 2, and a pulse as
long as some longest steps is missed by no method."""

FAINT = 1e-5
"""Part of a function's range below which changes of its slope from one sample to the next are not looked at."""

PIECES_TRIED = (16, 32, 80, 160, 400)
"""Numbers of equal pieces of a run, of which the fewest are sought that a function of time is smooth on."""

RESOLVED = 1e-3
"""What may be left of a function of time, and of its first two differences, in parts of their range, when a polynomial
of degree 4 is taken away on each piece: a step of that length sees all that the function does."""

MOST_ABRUPT = 0.3
"""The share of windows with abrupt changes above which none is marked: then the motion itself shortens the steps."""


def roots(graph: Graph, duration: float, state: dict[str, np.ndarray]) -> np.ndarray:
    """All times inside a run at which a graph g of time alone passes or touches zero, increasing.

    Intervals of time whose bounds of g hold zero are halved until they are as short as rounding allows; where too many
    are left, or g has an operation without bounds, sign changes between samples are taken.
    """
    exact = _shifted_time(graph)
    if exact is not None:
        return np.array([exact]) if 0 < exact < duration else NONE

    def value(t: np.ndarray) -> np.ndarray:
        return np.broadcast_to(evaluate(graph, t=t, **state)[..., 0], t.shape)

    edges = np.linspace(0.0, duration, PIECES + 1)
    low, high = edges[:-1], edges[1:]
    while len(low) and high[0] - low[0] > FINEST * duration:
        found = bounds(graph, low, high)
        if found is None or len(low) > MOST_INTERVALS:
            t = np.linspace(0.0, duration, SAMPLES + 1)
            sign = np.sign(value(t))
            change = np.flatnonzero(sign[1:] != sign[:-1])
            return _bisected(value, t[change], t[change + 1])
        held = (found[0].low <= 0) & (found[0].high >= 0)
        low, high = low[held], high[held]
        middle = (low + high) / 2
        low, high = np.stack([low, middle], 1).ravel(), np.stack([middle, high], 1).ravel()
    if not len(low):
        return NONE
    apart = np.flatnonzero(low[1:] - high[:-1] > FINEST * duration)  # neighbours hold one zero
    begin, end = low[np.append(0, apart + 1)], high[np.append(apart, len(low) - 1)]
    margin = FINEST * duration
    return _bisected(value, np.maximum(begin - margin, 0.0), np.minimum(end + margin, duration))


def _shifted_time(graph: Graph) -> float | None:
    """c where the graph is t − c or c − t; else None."""
    node = graph.nodes[graph.outputs[0].nodes[0]]
    if node.op == "input":
        return 0.0
    if node.op == "sub" and 0 in node.args:
        other = graph.nodes[node.args[1 - node.args.index(0)]]
        return float(other.value) if other.op == "constant" else None
    return None


def _bisected(value: Callable[[np.ndarray], np.ndarray], low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The first times (n,) in n intervals at which the sign of a function is no longer that at their beginning."""
    if not len(low):
        return NONE
    before, end = np.sign(value(low)), high
    passes = np.sign(value(high)) != before
    for _ in range(64):
        middle = (low + high) / 2
        same = np.sign(value(middle)) == before
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return np.unique(np.where(passes, high, end))  # a zero that is only touched: just after it


def abrupt_changes(
    function: Callable[[np.ndarray], np.ndarray], duration: float, known: np.ndarray = NONE
) -> np.ndarray:
    """Times inside a run around which a function of time bends much more than elsewhere, increasing.

    function  its values (n, k) at times (n,), the state frozen
    known     increasing times at which it may jump: steps end there, and a jump there counts for nothing
    """
    t = np.linspace(0.0, duration, SAMPLES + 1)
    with np.errstate(all="ignore"):
        f = np.broadcast_to(function(t), (len(t), np.shape(function(t[:2]))[-1]))
        size = np.ptp(f, axis=0)
        bends = abs(f[2:] - 2 * f[1:-1] + f[:-2]) / np.where(size > 0, size, 1.0)
    bend = np.max(np.where(np.isfinite(bends), bends, 0.0), axis=1, initial=0.0)
    bend[np.searchsorted(known, t[:-2]) < np.searchsorted(known, t[2:], "right")] = 0.0
    windows = np.append(bend, 0.0).reshape(-1, WINDOW).max(axis=1)
    marked = (windows > ABRUPT * np.median(windows)) & (windows > FAINT)
    if not marked.any() or marked.mean() > MOST_ABRUPT:
        return NONE
    marked |= np.append(marked[1:], False) | np.append(False, marked[:-1])
    k = np.flatnonzero(marked)[:, None] * WINDOW + np.arange(0, WINDOW + 1, WINDOW // 4)
    found = t[np.unique(k)]
    return found[(found > 0) & (found < duration)]


@lru_cache(maxsize=64)
def abrupt_changes_of(graph: Graph, duration: float, known: bytes, q: bytes, v: bytes) -> np.ndarray:
    """`abrupt_changes` of the values of a graph of (t, q, v), at a state that is frozen: found once.

    known, q, v  the bytes of floats
    """
    state = {name: np.frombuffer(x) for name, x in (("q", q), ("v", v))}
    found = abrupt_changes(lambda t: evaluate(graph, t=t, **state), duration, np.frombuffer(known))
    found = found.copy()
    found.flags.writeable = False
    return found


@lru_cache(maxsize=64)
def smooth_pieces(graph: Graph, duration: float, sizes: tuple[int, int]) -> int | None:
    """The fewest equal pieces of a run on which functions of time alone are smooth; None: more than those tried.

    graph  of (t, q, v), the state of which nothing depends on; sizes: of q and v

    First and second differences have to be smooth as well: moving constraints act by the second derivative.
    """
    t = np.linspace(0.0, duration, SAMPLES + 1)
    state = {name: np.zeros(size) for name, size in zip(("q", "v"), sizes, strict=True)}
    with np.errstate(all="ignore"):
        found = evaluate(graph, t=t, **state)
    f = np.broadcast_to(found, (len(t), found.shape[-1]))
    if not np.all(np.isfinite(f)):
        return None
    rounding = 64 * np.finfo(float).eps * np.max(abs(f), axis=0, initial=0.0)
    rows = [np.diff(f, k, axis=0) for k in range(3)]
    allowed = [RESOLVED * np.ptp(row, axis=0) + rounding for row in rows]
    for pieces in PIECES_TRIED:
        width = SAMPLES // pieces
        basis = np.linalg.qr(np.vander(np.linspace(-1, 1, width), 5))[0]
        within = [row[: (len(row) // width) * width].reshape(-1, width, row.shape[1]) for row in rows]
        left = [x - np.einsum("wk,pkf->pwf", basis, np.einsum("wk,pwf->pkf", basis, x)) for x in within]
        if all(np.all(abs(x) <= most) for x, most in zip(left, allowed, strict=True)):
            return pieces
    return None
