"""The segments of a run's time: between the changes of held forces, and a last, shorter step."""

import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.errors import InputError, message
from polhode.simulation.inputs import Sampled, Table, breaks, is_held_input
from polhode.simulation.option_table import RUN_SAMPLES
from polhode.simulation.run_options import sample_times
from polhode.simulation.run_records import Segment


def is_held(tau: Any, duration: float, step: float | None) -> bool:
    """Whether a run holds its forces between breaks: of a controller, or of a table whose times are step ends."""
    if isinstance(tau, Table) and tau.hold and step is not None:
        numbers = breaks(tau, duration) / step
        return bool(np.all(abs(numbers - np.round(numbers)) <= 1e-9 * np.maximum(numbers, 1)))
    return is_held_input(tau)


def controlled_segments(duration: float, tau: Any, times: np.ndarray | None) -> list[Segment]:
    """The segments of a run with steps under control; times: of its samples, evenly spaced unless given."""
    times = sample_times(RUN_SAMPLES, duration) if times is None else times
    found, begin = [], 0.0
    for end in (*breaks(tau, duration).tolist(), duration):
        first, last = np.searchsorted(times, [begin, end], "right")
        found.append(Segment(begin, end, end - begin, times[first:last], np.zeros(0)))
        begin = end
    return found


def equal_segments(duration: float, h: float, tau: Any, sampled: int | np.ndarray) -> list[Segment]:
    """The segments of a run with equal steps of size h; sampled: every so many steps, or at these times."""
    steps, rest = whole_steps(duration, h)
    if isinstance(tau, Sampled) and abs(tau.period / h - max(round(tau.period / h), 1)) > 1e-9 * tau.period / h:
        fix = "Make the period a multiple of the step."
        raise InputError(
            message("simulate, tau", "the period falls between steps", f"{tau.period:g} s", f"n × {h:g} s", fix)
        )
    held = breaks(tau, duration) if is_held(tau, duration, h) else np.zeros(0)
    calls = np.round(held / h).astype(int).tolist()
    ends = [k for k in calls if k < steps] + [steps] * (steps > 0)
    marks = sampled if isinstance(sampled, int) else step_numbers(sampled, h)
    found, first = [], 0
    for last in ends:
        end = duration if last == steps and not rest else None  # it is a sample itself
        found.append(_stretch(marks, h, first, last, end))
        first = last
    if rest:
        found.append(Segment(steps * h, duration, rest, np.array([duration]), np.ones(1), steps in calls))
    return found


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
            return self[key : key + 1 or None][0]
        start, stop, _ = key.indices(len(self))
        n = len(self.steps)
        inner = self.steps[start:stop]
        values = np.arange(inner.start, inner.stop, inner.step, dtype=float) * self.scale
        return np.append(values, self.last[max(start - n, 0) : max(stop - n, 0)])

    def searchsorted(self, value: float, side: str = "left", sorter: None = None) -> int:
        """As np.searchsorted, which calls this method."""
        return bisect_left(self, value) if side == "left" else bisect_right(self, value)
