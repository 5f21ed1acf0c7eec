"""The segments of a run's time: between the changes of held forces, and shorter steps at breaks and at the end."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import InputError, message
from polhode.simulation.inputs import Sampled
from polhode.simulation.option_table import RUN_SAMPLES
from polhode.simulation.run_options import sample_times
from polhode.simulation.run_records import NONE, Segment

NEAR = 1e-12
"""A break this near to the end of an equal step, relative to its time, lies at it: rounding of n × h, not a choice."""

MOST_SPLITS = 20_000
"""Breaks within equal steps up to which every such step is split at them: each takes 0.3 ms in Python."""


def segments_of(
    duration: float,
    step: float | None,
    sampled: int | np.ndarray | None,
    held: np.ndarray = NONE,
    knots: np.ndarray = NONE,
    at_every_knot: bool = False,
) -> list[Segment]:
    """The segments of a run.

    step        of equal steps; None: steps under control
    sampled     every so many equal steps, or at these times; None: at times that are evenly spaced
    held        increasing times at which held forces change
    knots       increasing times at which a step ends besides
    at_every_knot  whether a segment ends at knots where equal steps end by themselves, too
    """
    if step is None:
        assert not isinstance(sampled, int)
        return controlled_segments(duration, sampled, held, knots)
    assert sampled is not None
    return equal_segments(duration, step, sampled, held, knots if at_every_knot else between_steps(knots, step))


def unsplit(times: np.ndarray, duration: float, step: float) -> int:
    """How many of the times lie within equal steps, where they are too many to end a step at each; else 0."""
    inner = len(between_steps(times, step))
    return inner if inner > min(duration / step, MOST_SPLITS) else 0


def unsplit_note(count: int, step: float) -> str:
    """A sentence on breaks that do not end equal steps, without its full stop."""
    return f"{count} knots lie within equal steps of {step:g} s, too many to end steps at them"


def controlled_segments(
    duration: float, times: np.ndarray | None, held: np.ndarray = NONE, knots: np.ndarray = NONE
) -> list[Segment]:
    """The segments of a run with steps under control.

    times  of its samples, evenly spaced unless given
    held   increasing times at which held forces change
    knots  increasing times at which a step ends besides
    """
    times = sample_times(RUN_SAMPLES, duration) if times is None else times
    found, begin = [], 0.0
    for end in (*held.tolist(), duration):
        first, last = np.searchsorted(times, [begin, end], "right")
        inner = knots[np.searchsorted(knots, begin, "right") : np.searchsorted(knots, end)]
        found.append(Segment(begin, end, end - begin, times[first:last], NONE, knots=inner))
        begin = end
    return found


def equal_segments(
    duration: float,
    h: float,
    sampled: int | np.ndarray,
    held: np.ndarray = NONE,
    knots: np.ndarray = NONE,
) -> list[Segment]:
    """The segments of a run with equal steps of size h; a step with a break inside is split there, all others stay.

    sampled  every so many steps, or at these times
    held     increasing times at which held forces change
    knots    increasing times at which a step ends besides
    """
    marks = sampled if isinstance(sampled, int) else step_numbers(sampled, h)
    made = _EqualSegments(duration, h, marks)
    splits = np.concatenate([held, knots])
    for k in np.argsort(splits, kind="stable").tolist():
        made.end_at(float(splits[k]), k < len(held))
    return made.finished()


def check_period(tau: Any, h: float) -> None:
    """Refuse a sampled controller that would be called between equal steps of size h."""
    if isinstance(tau, Sampled) and abs(tau.period / h - max(round(tau.period / h), 1)) > 1e-9 * tau.period / h:
        fix = "Make the period a multiple of the step."
        raise InputError(
            message("simulate, tau", "the period falls between steps", f"{tau.period:g} s", f"n × {h:g} s", fix)
        )


def between_steps(times: np.ndarray, h: float) -> np.ndarray:
    """Those of the times that are not ends of equal steps of size h."""
    if not len(times):
        return times
    numbers = times / h
    return times[abs(numbers - np.round(numbers)) > NEAR * np.maximum(numbers, 1)]


class _EqualSegments:
    """The segments of equal steps under construction, from one break to the next."""

    def __init__(self, duration: float, h: float, marks: int | np.ndarray) -> None:
        self.duration, self.h, self.marks = duration, h, marks
        self.steps, self.rest = whole_steps(duration, h)
        self.found: list[Segment] = []
        self.first, self.begin, self.asks = 0, 0.0, True  # whole steps so far, the time, whether held forces change

    def end_at(self, t: float, is_held: bool) -> None:
        """End a step at a time, which is not before that of the last call."""
        number = t / self.h
        k = round(number)
        if abs(number - k) <= NEAR * max(number, 1.0):
            self._whole(min(k, self.steps))
        else:
            self._whole(min(math.floor(number), self.steps))
            self._part(t)
        self.asks = self.asks or is_held

    def _whole(self, last: int) -> None:
        """Steps to the end of the step of this number, the remainder of a split one first."""
        if self.begin > self.first * self.h and last > self.first:
            self._remainder()
        if last > self.first:
            end = self.duration if last == self.steps and not self.rest else None  # it is a sample itself
            made = _stretch(self.marks, self.h, self.first, last, end)
            self._append(made)
            self.first = last

    def _remainder(self) -> None:
        """The rest of a step that was split."""
        last = self.first + 1
        ends = last > self.steps or (last == self.steps and not self.rest)
        end = self.duration if ends else last * self.h
        sampled = ends or (last % self.marks == 0 if isinstance(self.marks, int) else last in self.marks)
        self._part(end, np.array([end]) if sampled else NONE)
        self.first = last

    def _part(self, end: float, samples: np.ndarray = NONE) -> None:
        """One shorter step."""
        if end > self.begin:
            self._append(Segment(self.begin, end, end - self.begin, samples, np.ones(1)))

    def _append(self, segment: Segment) -> None:
        self.found.append(segment._replace(asks=self.asks))
        self.begin, self.asks = segment.end, False

    def finished(self) -> list[Segment]:
        """All segments, up to the end of the run."""
        self._whole(self.steps)
        if self.begin < self.duration and (self.rest or self.begin > self.first * self.h):
            self._remainder()
        return self.found


def whole_steps(duration: float, h: float) -> tuple[int, float]:
    """How many steps a duration has, and the time left over; a remainder of the size of rounding counts as 0."""
    ratio = duration / h
    near = round(ratio)
    if near and abs(ratio - near) <= max(1e-9, 4e-16 * ratio):
        return near, 0.0
    steps = math.floor(ratio)
    return steps, duration - steps * h


def step_numbers(times: np.ndarray, h: float) -> np.ndarray:
    """The numbers of the steps after which samples lie, or an error where one lies between steps."""
    numbers = times / h
    between = abs(numbers[:-1] - np.round(numbers[:-1])) > 1e-6
    if np.any(between):
        fix = "Choose times that are multiples of the step, or steps under control (step=None)."
        found = f"{times[:-1][between][0]:g} s"
        raise InputError(message("simulate, samples", "between equal steps", found, f"n × {h:g} s", fix))
    return np.unique(np.round(numbers))


def _stretch(marks: int | np.ndarray, h: float, first: int, last: int, end: float | None) -> Segment:
    """Equal steps from one number to another; `end` is the time there if the run ends with it."""
    samples: Any
    counts: Any
    if isinstance(marks, int):
        inner = range((first // marks + 1) * marks, last, marks)
        closing = (end,) if end is not None else (last * h,) if last % marks == 0 else ()
        samples = LazyRange(inner, h, closing)
        counts = LazyRange(range(inner.start - first, last - first, marks), 1.0, (float(last - first),))
    else:
        here = marks[(marks > first) & (marks < last)]
        closing = (end,) if end is not None else (last * h,) if last in marks else ()
        samples, counts = np.append(here * h, closing), np.append(here - first, last - first)
    return Segment(first * h, last * h if end is None else end, h, samples, counts)


class Stops:
    """The times in a segment at which controlled steps deliver a state: its samples, its knots, its end.

    times    (n,)  increasing
    sampled  (n,)  whether it is a sample
    ends     (n,)  the next time at which a step has to end: a knot, or the end of the segment
    are_samples    whether all of them are samples
    """

    def __init__(self, segment: Segment) -> None:
        samples, bounds = segment.samples[:], np.append(segment.knots, segment.end)
        places = np.searchsorted(samples, bounds)
        new = np.append(samples, np.nan)[places] != bounds  # not a sample
        self._new = places[new]
        self.sampled = np.ones(len(samples) + len(self._new), dtype=bool)
        self.sampled[self._new + np.arange(len(self._new))] = False
        self.times = np.empty(len(self.sampled))
        self.times[self.sampled], self.times[~self.sampled] = samples, bounds[new]
        self.are_samples = not len(self._new)
        self.ends = bounds[np.searchsorted(bounds, self.times)]

    def after(self, t: float, given: int) -> int:
        """The first that is still to come when the steps have reached a time and so many samples were delivered."""
        place = given if self.are_samples else given + int(self._new.searchsorted(given, "right"))
        return min(int(self.times.searchsorted(t, "right")), place)


class JoinedSegments(NamedTuple):
    """Segments of equal steps as one chain of step states, where nothing depends on time.

    counts   (n,)  steps up to each state
    sizes    (n,)  of these steps, s
    sampled  (n,)  whether the state is a sample
    times    of the samples, s
    """

    counts: np.ndarray
    sizes: np.ndarray
    sampled: np.ndarray
    times: np.ndarray

    @classmethod
    def of(cls, segments: Sequence[Segment]) -> "JoinedSegments":
        """The chain of some segments."""
        parts = [(segment, np.diff(segment.counts[:], prepend=0.0)) for segment in segments]
        return cls(
            np.concatenate([counts for _, counts in parts]),
            np.concatenate([np.full(len(counts), segment.h) for segment, counts in parts]),
            np.concatenate([np.arange(len(counts)) < len(segment.samples) for segment, counts in parts]),
            np.concatenate([segment.samples[:] for segment, _ in parts]),
        )


@dataclass(frozen=True)
class LazyRange:
    """Evenly spaced numbers, steps times a scale, and perhaps a last one, without the memory they would take.

    Slices are arrays, made on demand.
    """

    steps: range
    scale: float = 1.0
    last: tuple[float, ...] = ()

    def __len__(self) -> int:
        return len(self.steps) + len(self.last)

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, slice):
            at = range(len(self))[key]
            return float(self.steps[at]) * self.scale if at < len(self.steps) else self.last[at - len(self.steps)]
        start, stop, _ = key.indices(len(self))
        n = len(self.steps)
        inner = self.steps[start:stop]
        values = np.arange(inner.start, inner.stop, inner.step, dtype=float) * self.scale
        return np.append(values, self.last[max(start - n, 0) : max(stop - n, 0)])

    def searchsorted(self, value: float, side: str = "left", sorter: None = None) -> int:
        """As np.searchsorted, which calls this method."""
        find, n = (bisect_left, len(self)) if side == "left" else (bisect_right, len(self))
        near = int((value / self.scale - self.steps.start) / self.steps.step) if self.scale and len(self.steps) else 0
        low, high = min(max(near - 2, 0), n), min(max(near + 4, 0), n)
        if (low and not self[low - 1] < value) or (high < n and not self[high] > value):
            low, high = 0, n
        return find(self, value, low, high)
