"""How good a run is: its estimated error against a threshold that follows from tolerance, steps and condition.

print(grade(run, tolerance=1e-9, steps=Steps(1200, 14), error=estimate, conserved=Conserved(angular=AXES)))

Each step may err by the tolerance, and errors of all steps may add up: an error is `good` up to condition × steps ×
tolerance (and never above GOOD_CAP), `loose` up to LOOSE_FACTOR times that, else `failed`. Equal steps promise no
tolerance: there the accuracy that was asked for is the threshold. Without an estimate a run is `unchecked`. Drifts of
conserved quantities and violations of constraints can only lower a verdict.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from polhode.model import Model, plain
from polhode.model.per_model_cache import once_each
from polhode.result.error_estimate import ErrorEstimate
from polhode.result.labels import coordinate_names, coordinate_units
from polhode.result.symmetry import AXES, Conserved
from polhode.result.verdict import ERROR, FAILED, GOOD, LOOSE, NOTE, UNCHECKED, Check, Grade, overall
from polhode.scalar import UNIT_TOLERANCE, Array, lengths

GOOD_CAP, LOOSE_FACTOR = 1e-4, 100.0
"""No controlled run that errs by more than GOOD_CAP of its scale is good; none beyond LOOSE_FACTOR times its threshold
is even loose."""

FIXED_STEP_GOOD = 1e-6
"""The error up to which a run of equal steps, which promises no tolerance, is good unless `accuracy` says another."""

SHRUNK = 0.5
"""A drift that is this much smaller in the companion run, or less, comes from the error of the steps, which is judged
by itself; one that stays has another cause."""

SLOWEST = 1e-6
"""The largest speed, m/s or rad/s, below which a motion counts as rest when its condition is taken from it."""

TOGETHER = 4096
"""Samples up to which the extremes of all numbers are found at once, from one copy of them: a call of NumPy takes as
long as a thousand samples."""

EPS = float(np.finfo(float).eps)


class Steps(NamedTuple):
    """The steps of a run: how many were accepted and rejected, and the sizes of accepted ones in seconds."""

    accepted: int
    rejected: int = 0
    smallest: float = math.nan
    median: float = math.nan
    largest: float = math.nan

    @classmethod
    def of(cls, sizes: Array, rejected: int = 0) -> "Steps":
        """The steps of a run, from the size of every accepted one (n,), s."""
        sizes = np.asarray(sizes, dtype=float)
        if not len(sizes):
            return cls(0, rejected)
        return cls(len(sizes), rejected, float(sizes.min()), float(np.median(sizes)), float(sizes.max()))


@dataclass(frozen=True)
class Residual:
    """Something that should be zero, such as a constraint or a multiplier less its predicted value.

    values  (n, ...)
    scale   what counts as large: the residual is judged in parts of it
    """

    values: Array
    scale: float = 1.0
    note: str = ""


class Range(NamedTuple):
    """The first, lowest and highest value of an array over time, entry by entry; NaN if any was NaN.

    first, low, high  of the shape of a sample
    size              the largest absolute value
    """

    first: Any
    low: Any
    high: Any
    size: float

    @classmethod
    def of(cls, first: Any, low: Any, high: Any) -> "Range":
        """The range of an array, from its first, lowest and highest values."""
        return cls(first, low, high, _largest(low, high))

    @property
    def drift(self) -> float:
        """The largest distance from the first value."""
        if type(self.first) is float:
            return _largest(self.low - self.first, self.high - self.first)
        with np.errstate(all="ignore"):
            return _largest(self.low - self.first, self.high - self.first)

    def with_later(self, later: "Range") -> "Range":
        """The range of this part of a run and a later one."""
        return Range.of(self.first, np.minimum(self.low, later.low), np.maximum(self.high, later.high))


def _largest(low: Any, high: Any) -> float:
    """The largest absolute value of two numbers, or of two arrays; NaN if any is NaN."""
    if type(low) is float:
        a, b = abs(low), abs(high)
        return math.nan if math.isnan(a) or math.isnan(b) else max(a, b)
    return float(np.maximum.reduce(np.maximum(abs(low), abs(high)), axis=None, initial=0.0))


def grade(
    run: Any,
    tolerance: float | None = None,
    conserved: Conserved | None = None,
    steps: Steps | None = None,
    model: Model | None = None,
    residuals: Mapping[str, Residual] | None = None,
    error: ErrorEstimate | None = None,
    condition: float | None = None,
    status: str = "finished",
    reason: str = "",
    accuracy: float | None = None,
    companion: Callable[[], Any] | None = None,
    unchecked: str = "",
    further: Sequence[Check] = (),
    errors: Mapping[str, ErrorEstimate] | None = None,
    growth: Callable[[], float] | None = None,
    remarks: Callable[[], Sequence[Check]] = list,
) -> Grade:
    """The grade of a run.

    run        a Dataset, arrays by the names of a Dataset, or an iterable of such parts in order of time
    tolerance  of each step, relative and absolute; None: fixed steps
    conserved  what should stay; None: the energy
    steps      how many; None: as many as there are samples
    model      for its joints' limits; None: not checked
    residuals  what should be zero, by name
    error      the estimated error at every sample; None: the run is unchecked, or worse
    condition  how much the motion magnifies errors, at least 1; None: 1 + 1/max|v|, since the tolerance is absolute too
    accuracy   the threshold for good; None: as above for controlled steps, FIXED_STEP_GOOD for equal ones
    companion  gives the companion run, as `run`: a drift that shrinks with its steps is no fault of its own; not asked
               for where the run has failed by its error already
    unchecked  why there is no estimate
    further    checks that were made elsewhere
    errors     estimated errors of what else the run gives, by name
    growth     measures how much small differences grow along the run: a condition that is asked for where the error
               is above the threshold of the other, and could be loose
    remarks    gives lines that judge nothing, when all parts of the run have been looked at
    """
    kept = conserved or Conserved()
    ranges, samples = _ranges(run, kept)
    accepted = steps.accepted if steps else max(samples - 1, 1)
    if condition is None:
        condition = condition_of(ranges["v"].size) if "v" in ranges else 1.0
    bound = _Bound.of(tolerance, max(accepted, 1), condition if condition >= 1 else 1.0, accuracy)
    if (
        growth
        and error
        and error.whole
        and bound.is_by_condition
        and bound.good < error.worst <= LOOSE_FACTOR * GOOD_CAP
    ):
        bound = _Bound.of(tolerance, bound.steps, max(bound.condition, growth()), accuracy, is_measured=True)
    drifts = _drift_checks(ranges, kept, bound)
    drifted = any(check.verdict in (LOOSE, FAILED) for check in drifts)
    if companion and error and error.whole and drifted and error.worst <= LOOSE_FACTOR * bound.good:
        other = _drift_checks(_ranges(companion(), kept)[0], kept, bound)
        drifts = [_explained(*pair, error.is_coarse) for pair in zip(drifts, other, strict=True)]
    others = [
        *drifts,
        *(bound.check(f"residual, {name}", *_worst(r), r.note) for name, r in (residuals or {}).items()),
        *_norm_checks(ranges, bound),
        *further,
    ]
    checks = [
        *_end_checks(ranges, status, reason),
        *_error_checks(error, bound, unchecked),
        *(one for name, x in (errors or {}).items() for one in _error_checks(x, bound, unchecked, f"error of {name}")),
        *others,
        *_step_notes(steps),
        *_limit_notes(ranges, model),
        *remarks(),
    ]
    unseen = error is not None and error.worst <= bound.good and any(x.verdict in (LOOSE, FAILED) for x in others)
    until = math.nan if error is None or unseen else error.good_until(bound.good)
    return Grade(overall(checks), tuple(checks), bound.basis(), until)


def _error_checks(error: ErrorEstimate | None, bound: "_Bound", unchecked: str, name: str = ERROR) -> list[Check]:
    """The estimated error against the bounds; where samples are without an estimate, a line that says so."""
    unit = "of 1 + the largest value so far"
    if error is None:
        return [Check(name, None, bound.good, None, unit, UNCHECKED, f"not estimated: {unchecked or 'verify=False'}")]
    how = f"at most, by a companion run, {error.how}" if error.is_coarse else f"by a companion run, {error.how}"
    found = bound.check(name, error.worst, unit, how)
    until = error.good_until(bound.good)
    if not error.worst <= bound.good:
        found = found._replace(note=f"{found.note}; good until t = {until:.6g}")
    if error.whole:
        return [found]
    reached = error.time[-1] if len(error.time) else 0.0
    note = f"not estimated after t = {reached:.6g}: {error.why}"
    return [found, Check(f"{name}, later", None, bound.good, None, unit, UNCHECKED, note)]


def _drift_checks(ranges: Mapping[str, Range], kept: Conserved, bound: "_Bound") -> list[Check]:
    return [*_energy_checks(ranges, kept, bound), *_momentum_checks(ranges, kept, bound)]


def _explained(check: Check, other: Check, is_coarse: bool) -> Check:
    """A drift that shrinks with the steps is good: the error of the motion speaks for it."""
    if check.value is None or other.value is None:
        return check
    small, large = (check.value, other.value) if is_coarse else (other.value, check.value)
    if not small <= SHRUNK * large:
        return check
    note = f"of the steps: {other.value:.2g} in the companion run; see the error of the motion"
    return check._replace(verdict=GOOD, note=f"{note}; {check.note}")


def condition_of(fastest: Any) -> Any:
    """How much a motion of this largest speed magnifies errors: the tolerance is absolute too; also of arrays."""
    return 1 + 1 / (max(fastest, SLOWEST) if type(fastest) is float else np.maximum(fastest, SLOWEST))


def good_up_to(tolerance: float | None, steps: Any, condition: Any, accuracy: float | None = None) -> Any:
    """The largest error of a good run, in parts of its scale; steps, condition: numbers, or arrays of many runs.

    tolerance  None: equal steps
    """
    if accuracy is not None:
        return accuracy
    if tolerance is None:
        return FIXED_STEP_GOOD
    is_one = isinstance(condition, float) and isinstance(steps, int)
    least, most = (min, max) if is_one else (np.minimum, np.maximum)
    return least(condition * most(steps, 1) * (tolerance + EPS), GOOD_CAP)


class _Bound(NamedTuple):
    """How far a run of this tolerance, number of steps and condition may drift."""

    tolerance: float | None
    steps: int
    condition: float
    accuracy: float | None
    is_measured: bool
    """Whether the condition is what small differences were seen to grow by."""
    good: float
    """The largest error of a good run, in parts of its scale."""

    @classmethod
    def of(
        cls, tolerance: float | None, steps: int, condition: float, accuracy: float | None, *, is_measured: bool = False
    ) -> "_Bound":
        """The bound for such a run."""
        good = float(good_up_to(tolerance, steps, condition, accuracy))
        return cls(tolerance, steps, condition, accuracy, is_measured, good)

    @property
    def is_by_condition(self) -> bool:
        """Whether the threshold depends on the condition."""
        return self.accuracy is None and self.tolerance is not None

    def check(
        self, name: str, value: float, unit: str, note: str = "", rounding: float = 0.0, cap: float = 1.0
    ) -> Check:
        """A value against the bounds; `rounding` is what no method can avoid, `cap` a stricter bound for good."""
        threshold = min(self.good, cap) + rounding
        limit = LOOSE_FACTOR * min(self.good, cap) + rounding
        verdict = GOOD if value <= threshold else LOOSE if value <= limit else FAILED  # NaN has failed
        return Check(name, value, threshold, limit, unit, verdict, note)

    def basis(self) -> str:
        """Where the thresholds come from, for the reader of a table."""
        rest = f"loose up to {LOOSE_FACTOR:g} times that; else failed (plus what rounding allows)."
        if self.accuracy is not None:
            return f"Good up to the accuracy that was asked for, {self.accuracy:g} of the scale; {rest}"
        if self.tolerance is None:
            return f"Equal steps promise no tolerance: good up to {FIXED_STEP_GOOD:g} of the scale; {rest}"
        how = " (so much did small differences grow)" if self.is_measured else ""
        return (
            f"Good up to condition {self.condition:.3g}{how} × steps {self.steps} × tolerance {self.tolerance:g}, "
            f"at most {GOOD_CAP:g}; {rest}"
        )


def _ranges(run: Any, kept: Conserved) -> tuple[dict[str, Range], int]:
    """The range of everything that is judged, over all parts of a run, and the number of samples."""
    parts: Iterable = [run] if hasattr(run, "keys") else run
    total: dict[str, Range] = {}
    samples = 0
    for part in parts:
        for name, here in _ranges_of(_judged(part, kept)).items():
            total[name] = total[name].with_later(here) if name in total else here
        samples += len(part["time"]) if "time" in part else 0
    return total, samples


def _ranges_of(arrays: Mapping[str, np.ndarray]) -> dict[str, Range]:
    """The ranges of arrays (n, ...); none of those without samples."""
    columns = _columns(tuple([values.shape for values in arrays.values()]))
    if columns is None:
        given = {name: values for name, values in arrays.items() if len(values)}
        return {name: Range.of(values[0], *_extremes(np.moveaxis(values, 0, -1))) for name, values in given.items()}
    whole = np.empty((columns.numbers, columns.samples))
    for values, (part, shape) in zip(arrays.values(), columns.places, strict=True):
        whole[part] = values.T if len(shape) < 2 else values.reshape(columns.samples, -1).T
    first, (low, high) = whole[:, 0].copy(), _extremes(whole)
    sizes = np.maximum.reduceat(np.maximum(abs(low), abs(high)), columns.begins).tolist()
    found: dict[str, Range] = {}
    for name, (part, shape), size in zip(arrays, columns.places, sizes, strict=True):
        if len(shape) > 1:
            found[name] = Range(first[part].reshape(shape), low[part].reshape(shape), high[part].reshape(shape), size)
        elif shape:
            found[name] = Range(first[part], low[part], high[part], size)
        else:
            found[name] = Range(first.item(part), low.item(part), high.item(part), size)
    return found


class _Columns(NamedTuple):
    """Where the numbers of arrays (n, ...) lie, side by side.

    samples  n
    numbers  how many there are of all arrays at one sample
    begins   where those of each array begin
    places   of each array where its numbers are, and of which shape they are
    """

    samples: int
    numbers: int
    begins: np.ndarray
    places: list[tuple[Any, tuple[int, ...]]]


@lru_cache(maxsize=64)
def _columns(shapes: tuple[tuple[int, ...], ...]) -> _Columns | None:
    """The columns of arrays of these shapes; None where their ranges are not found at once."""
    counts = {shape[0] for shape in shapes}
    if len(counts) != 1 or max(counts) > TOGETHER or 0 in map(math.prod, shapes):
        return None
    ends = list(accumulate(math.prod(shape[1:]) for shape in shapes))
    begins = [0, *ends[:-1]]
    places = [
        (slice(begin, end) if shape[1:] else begin, shape[1:])
        for begin, end, shape in zip(begins, ends, shapes, strict=True)
    ]
    return _Columns(counts.pop(), ends[-1], np.array(begins), places)


def _extremes(along: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The lowest and the highest of the last axis, the samples of each number side by side, as minima like it."""
    along = np.ascontiguousarray(along)
    return np.minimum.reduce(along, axis=-1), np.maximum.reduce(along, axis=-1)


def needs_energies(kept: Conserved, part: Any) -> bool:
    """Whether a grade looks at energies and momenta of samples; else all that is told of them is that they are not
    kept."""
    return bool(kept.energy or kept.linear or kept.angular) or "work" in part


def _judged(part: Any, kept: Conserved) -> dict[str, np.ndarray]:
    """The arrays of one part from which the checks are made."""
    found = {name: np.asarray(part[name], dtype=float) for name in ("q", "v", "norm_error") if name in part}
    if needs_energies(kept, part):
        with np.errstate(all="ignore"):  # a run that failed may hold anything
            found |= _judged_energies(part, kept)
    return found


def _judged_energies(part: Any, kept: Conserved) -> dict[str, np.ndarray]:
    """Those of energies and momenta."""
    names = ("kinetic_energy", "potential_energy", "total_energy")
    found = {name: np.asarray(part[name], dtype=float) for name in names if name in part}
    if "total_energy" not in found and "kinetic_energy" in found and "potential_energy" in found:
        found["total_energy"] = found["kinetic_energy"] + found["potential_energy"]
    if (kept.energy or "work" in part) and "strain_energy" in part and "potential_energy" in found:
        found["strain_energy"] = np.add.reduce(np.asarray(part["strain_energy"], dtype=float), axis=1)
        found["other_potential"] = found["potential_energy"] - found["strain_energy"]
    if "work" in part and "total_energy" in found:
        found["balance"] = found["total_energy"] - np.asarray(part["work"], dtype=float)
        sources = part["work_by_source"] if "work_by_source" in part else part["work"]
        found["work"] = np.sum(np.atleast_2d(abs(np.asarray(sources, dtype=float)).T), axis=0)
    for kind, directions in (("linear", kept.linear), ("angular", kept.angular)):
        if directions and f"{kind}_momentum" in part:
            momentum = np.asarray(part[f"{kind}_momentum"], dtype=float)
            found[kind] = momentum @ _axes(tuple(map(tuple, directions))).T
            found[f"{kind} size"] = lengths(momentum)
    return found


def _energy_checks(ranges: Mapping[str, Range], kept: Conserved, bound: _Bound) -> list[Check]:
    if "total_energy" not in ranges and kept.energy:
        return []
    unit, note = "of the energy scale", "scale: most kinetic energy plus the range of the potential energy"
    if "strain_energy" in ranges:
        note = "scale: most kinetic energy, most strain energy and the range of the other potential energy"
    name, balanced = "energy drift", "balance" in ranges and (not kept.energy or ranges["work"].high > 0)
    if balanced:
        who = f"done ({kept.because})" if kept.because else "done"
        name, note = "energy drift, less work", f"what the work {who} does not explain; {note} plus all work"
    elif not kept.energy:
        return [Check("energy drift", None, None, None, "", NOTE, f"not conserved by this model ({kept.because})")]
    energy = ranges["balance" if balanced else "total_energy"]
    scale, size = _energy_scale(ranges, energy)
    if balanced:
        scale, size = scale + float(ranges["work"].high), size + float(ranges["work"].high)
    scale = max(scale, kept.mass * bound.good * bound.good / 2)  # of speeds that count as none: a machine that rests
    if not scale > 0:  # at rest, or NaN
        return [bound.check(name, 0.0 if energy.drift == 0 else math.nan, unit, note)]
    return [bound.check(name, energy.drift / scale, unit, note, rounding=16 * EPS * size / scale)]


def _energy_scale(ranges: Mapping[str, Range], energy: Range) -> tuple[float, float]:
    """The natural scale of a run's energy, and the size of the numbers it is the difference of."""
    if {"kinetic_energy", "potential_energy"} <= ranges.keys():
        T, V = ranges["kinetic_energy"], ranges["potential_energy"]
        if "strain_energy" in ranges:  # like the kinetic energy it has a natural zero
            U, V = ranges["strain_energy"], ranges["other_potential"]
            return float(T.high + U.high + (V.high - V.low)), float(T.size + U.size + V.size)
        return float(T.high + (V.high - V.low)), float(T.size + V.size)
    return energy.size, energy.size


def _momentum_checks(ranges: Mapping[str, Range], kept: Conserved, bound: _Bound) -> list[Check]:
    T = float(ranges["kinetic_energy"].high) if "kinetic_energy" in ranges else 0.0
    bulk = math.sqrt(max(2 * kept.mass * T, 0.0))  # |P| ≤ √(2mT)
    checks = []
    for kind, scale, unit in (("linear", bulk, "kg m/s"), ("angular", bulk * kept.length, "kg m2/s")):
        if kind not in ranges:
            continue
        size = max(ranges[f"{kind} size"].size, scale)
        drift = ranges[kind].drift
        value = drift / size if size > 0 else drift
        directions = kept.linear if kind == "linear" else kept.angular
        note = f"scale: {size:.3g} {unit}; conserved along {_directions(tuple(map(tuple, directions)))}"
        checks.append(bound.check(f"{kind} momentum drift", value, "of the momentum scale", note, rounding=16 * EPS))
    return checks


def _norm_checks(ranges: Mapping[str, Range], bound: _Bound) -> list[Check]:
    if "norm_error" not in ranges:
        return []
    note = "largest distance from 1; says nothing about the accuracy of the motion"
    return [
        bound.check("quaternion length", ranges["norm_error"].size, "1", note, rounding=16 * EPS, cap=UNIT_TOLERANCE)
    ]


def _end_checks(ranges: Mapping[str, Range], status: str, reason: str) -> list[Check]:
    """The checks that make a run fail whatever its drifts are."""
    checks = []
    if status != "finished":
        verdict = {"failed": FAILED, "interrupted": UNCHECKED}.get(status, NOTE)
        checks.append(
            Check("end of the run", None, None, None, "", verdict, f"{status}: {reason}" if reason else status)
        )
    bad = sorted(name for name in ("q", "v") if name in ranges and not math.isfinite(ranges[name].size))
    if bad:
        checks.append(Check("finite", None, None, None, "", FAILED, f"{' and '.join(bad)} hold NaN or infinity"))
    return checks


def _step_notes(steps: Steps | None) -> list[Check]:
    if steps is None:
        return []
    note = f"{steps.rejected} more rejected" if steps.rejected else "none rejected"
    if math.isfinite(steps.median):
        note += f"; sizes {steps.smallest:.3g} to {steps.largest:.3g} s, median {steps.median:.3g} s"
    return [Check("steps", float(steps.accepted), None, None, "1", NOTE, note)]


def _limit_notes(ranges: Mapping[str, Range], model: Model | None) -> list[Check]:
    """Each coordinate that left the limits of its joint, and how far."""
    if model is None or "q" not in ranges:
        return []
    notes: list[Check] = []
    if (limits := _limits_of(model)) is None:
        return notes
    lower, upper = limits
    beyond = np.maximum(lower - ranges["q"].low, ranges["q"].high - upper)
    if not (beyond > 0).any():
        return notes
    for (name, unit, how), past in zip(_coordinates_of(model), beyond.tolist(), strict=True):
        if past > 0:
            note = f"{name} went {past:.3g} {unit} {how} of its joint"
            notes.append(Check("joint limit", past, None, None, unit, NOTE, note))
    return notes


@once_each
def _coordinates_of(model: Model) -> list[tuple[str, str, str]]:
    """The name and the unit of every coordinate, and what lies at the end of its way."""
    stopped = {joint for force in model.forces for joint, _ in force.stops}
    ends = ["into the stop" if joint.name in stopped else "beyond the limit" for joint in model.joints]
    joints = [end for joint, end in zip(model.joints, ends, strict=True) for _ in range(joint.nq)]
    return list(zip(coordinate_names(model), coordinate_units(model), joints, strict=True))


@once_each
def _limits_of(model: Model) -> tuple[np.ndarray, np.ndarray] | None:
    """The lower and the upper limit of every coordinate; None where no coordinate has one."""
    lower, upper = np.array(_limits(model, "lower")), np.array(_limits(model, "upper"))
    return (lower, upper) if (lower > -np.inf).any() or (upper < np.inf).any() else None


def _limits(model: Model, end: str) -> list[float]:
    """The limit of every coordinate; a quaternion has none."""
    free = -math.inf if end == "lower" else math.inf
    found: list[float] = []
    for joint in model.joints:
        value: Any = plain(getattr(joint, end))
        each = value if isinstance(value, tuple) else (value,) * joint.nq
        found += each if len(each) == joint.nq == joint.nv else (free,) * joint.nq
    return found


def _worst(residual: Residual) -> tuple[float, str]:
    values = abs(np.asarray(residual.values, dtype=float))
    return float(np.maximum.reduce(values, axis=None, initial=0.0)) / residual.scale, f"of {residual.scale:.3g}"


@lru_cache(maxsize=64)
def _axes(directions: tuple[tuple[float, ...], ...]) -> np.ndarray:
    return np.array(directions, dtype=float)


@lru_cache(maxsize=64)
def _directions(directions: tuple[tuple[float, ...], ...]) -> str:
    if directions == AXES:
        return "all directions"
    return ", ".join("(" + ", ".join(f"{x:.3g}" for x in d) + ")" for d in directions)
