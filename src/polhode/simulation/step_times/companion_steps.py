"""The steps of a companion: one rule for a run by itself and for runs side by side.

Equal steps become shorter by a factor between 2 and 4, and end, between two samples, at none of the given ones.
Controlled steps have a hundredth of the tolerance, another longest step, and end once more between any two times at
which they have to.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from polhode.result.checks import GOOD_CAP
from polhode.simulation.run_options import TIGHTEST
from polhode.simulation.run_records import NONE, Segment
from polhode.simulation.step_times.segments import LazyRange, between_steps, segments_of

LOOKS = 1618.0
"""The duration over the longest controlled step of a companion: not a multiple of that of the run, `scenario.LOOKS`."""

FLOOR = 1e-12
"""The tolerance of a run below which a hundredth of it drowns in rounding."""

TIGHTER = 100.0
"""The tolerance of a run over that of its companion."""

FEW_KNOTS = 100
"""Knots at the ends of equal steps up to which a segment of the companion ends at each, which takes time in Python;
beyond, each of the run's steps is divided."""

TIGHTEST_CONSTRAINED = 1e-13
"""The smallest tolerance of a companion under constraints: near a singular position rounding of the constraints grows
beyond a smaller one, and steps become too small. A run at FLOOR errs by ten times that."""

UNALIGNED = 0.382
"""The part of the time from one end that a step must have to the next at which the steps of a companion end besides:
the golden section, far from all simple fractions."""

COARSER = 2
"""Equal steps of a run in one of its coarse companion; where their number is odd, somewhat more."""

GOLDEN = 16
"""How often equal steps of a companion are in the golden section, where a force may be periodic in time."""


def companion_tolerance(tolerance: float, accuracy: float | None, constrained: bool = False) -> float:
    """The tolerance of the companion of a run: a hundredth of the run's, and of the error up to which it is good."""
    good = GOOD_CAP if accuracy is None else accuracy
    return max(min(tolerance, good) / TIGHTER, TIGHTEST_CONSTRAINED if constrained else TIGHTEST)


def companion_segments(
    duration: float,
    step: float | None,
    sampled: int | np.ndarray | None,
    held: np.ndarray,
    knots: np.ndarray,
    is_timed: bool = False,
    has_memory: bool = False,
) -> list[Segment]:
    """The segments of the companion of a run, whose own are `segments_of` the same arguments.

    is_timed    whether forces may be periodic in time
    has_memory  whether steps carry on what a break makes worthless: then they begin anew at every knot
    """
    if step is None:
        return _unaligned(segments_of(duration, step, sampled, held, knots))
    many = not has_memory and len(knots) - len(between_steps(knots, step)) > FEW_KNOTS
    own = segments_of(duration, step, sampled, held, knots, at_every_knot=not many)
    return [_divided(part, 1, factor + 1) for part, factor in _halves(own)] if many else _shorter(own, is_timed)


def coarser_segments(segments: Sequence[Segment]) -> list[Segment]:
    """Segments with half as many equal steps between samples, or one less; none where that would be no step."""
    sizes = [_between_samples(segment) for segment in segments]
    if min(sizes) < COARSER:
        return []
    return [_divided(segment, e, e // COARSER) for segment, e in zip(segments, sizes, strict=True)]


def _halves(segments: Sequence[Segment]) -> Iterator[tuple[Segment, int]]:
    """Segments, one cut in two around the middle of the run, each with the factor of its half: 2, or 3."""
    half = segments[-1].end / 2
    for segment in segments:
        inside = segment.begin < half < segment.end
        for part in _cut(segment, int(np.searchsorted(segment.samples, half, "right"))) if inside else [segment]:
            yield part, 2 if part.begin < half else 3


def _unaligned(segments: Sequence[Segment]) -> list[Segment]:
    """Segments with more knots: no controlled step begins and ends where one of the given ones has to.

    Else a run whose steps all lie between two breaks, or before its first sample, would be compared with itself.
    """
    first = next(segment.samples[0] for segment in segments if len(segment.samples))
    ends = np.unique(np.concatenate([[0.0, first], *([*segment.knots, segment.end] for segment in segments)]))
    more, found = ends[:-1] + UNALIGNED * np.diff(ends), list[Segment]()
    for segment in segments:
        inner = slice(*np.searchsorted(more, [segment.begin, segment.end]))
        found.append(segment._replace(knots=np.union1d(segment.knots, more[inner])))
    return found


def _shorter(segments: Sequence[Segment], is_timed: bool) -> list[Segment]:
    """Segments with 2e + 1 equal steps in place of e, where e divides the steps between samples; 3e + 1 in the second
    half of the run; once at the start, and GOLDEN times where forces may be periodic in time, steps in the golden
    section up to the next sample.

    Between two samples none of them ends where one of the given steps does: what those do not see, these may. What
    repeats itself with every given step, and with every one of a half too, does not with those in the golden section.
    """
    made, end, golden = list[Segment](), segments[-1].end, GOLDEN if is_timed else 1
    due = [end * k / golden for k in range(golden)]
    for part, factor in _halves(segments):
        rest = [part]
        while rest and due and due[0] < rest[0].end:
            *before, later = _cut(rest[0], int(np.searchsorted(rest[0].samples, due[0], "right")))
            one, *rest = _cut(later, 1)
            made += [*(_finer(x, factor) for x in before), *_golden(one)]
            due = [t for t in due if t >= one.end]
        made += [_finer(x, factor) for x in rest]
    return made


def _cut(segment: Segment, k: int) -> list[Segment]:
    """A segment of equal steps as two, the first with k samples; whole where one of them would have no steps."""
    samples, counts = segment.samples, segment.counts
    if not 0 < k < len(counts):
        return [segment]
    at, steps = float(samples[k - 1]), float(counts[k - 1])
    first = segment._replace(end=at, samples=_sliced(samples, 0, k), counts=_sliced(counts, 0, k))
    later = _sliced(samples, k, len(samples)), _sliced(counts, k, len(counts), steps)
    return [first, segment._replace(begin=at, samples=later[0], counts=later[1], asks=False)]


def _sliced(values: Any, start: int, stop: int, less: float = 0.0) -> Any:
    """Some of the samples or counts of a segment, less a number."""
    if not isinstance(values, LazyRange):
        return values[start:stop] - less
    n, low = len(values.steps), int(less)
    inner = values.steps[start:stop]
    last = values.last[max(start - n, 0) : max(stop - n, 0)]
    return LazyRange(
        range(inner.start - low, inner.stop - low, inner.step), values.scale, tuple(x - less for x in last)
    )


def _golden(segment: Segment) -> list[Segment]:
    """A segment up to one sample in two parts, each with the steps of `_finer` or one more."""
    steps = 2 * round(float(segment.counts[-1])) + 1
    size = segment.end - segment.begin
    counts = [math.ceil(part * steps) for part in (UNALIGNED, 1 - UNALIGNED)]
    middle = segment.begin + UNALIGNED * size
    first = Segment(
        segment.begin, middle, UNALIGNED * size / counts[0], NONE, np.array([float(counts[0])]), segment.asks
    )
    h = (segment.end - middle) / counts[1]
    return [first, Segment(middle, segment.end, h, segment.samples, np.array([float(counts[1])]), asks=False)]


def _finer(segment: Segment, factor: int) -> Segment:
    """A segment with factor × e + 1 steps in place of e, the largest number that divides the steps between samples."""
    between = _between_samples(segment)
    return _divided(segment, between, factor * between + 1)


def _between_samples(segment: Segment) -> int:
    """The largest number that divides the steps up to every sample of a segment, and to its end."""
    counts: Any = segment.counts
    if isinstance(counts, LazyRange):
        step = counts.steps.step if len(counts.steps) > 1 else 0
        return math.gcd(*counts.steps[:1], step, *map(int, counts.last))
    return math.gcd(*(round(n) for n in counts))


def _divided(segment: Segment, between: int, many: int) -> Segment:
    """A segment with so many equal steps in place of so many of its own, which divide those between its samples."""
    counts: Any = segment.counts
    if isinstance(counts, LazyRange):
        first, step = (n // between * many for n in (counts.steps.start, counts.steps.step))
        steps = range(first, first + len(counts.steps) * step, step)
        counts = LazyRange(steps, 1.0, tuple(n / between * many for n in counts.last))
    else:
        counts = np.round(counts / between) * many
    return segment._replace(h=segment.h * between / many, counts=counts)
