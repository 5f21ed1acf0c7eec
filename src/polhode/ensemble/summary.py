"""The summary of many runs: means, quantiles, extremes, failures, and the errors of these estimates.

Runs are read some at a time; no array above ROOM is ever whole in memory, however many runs there are. Runs that were
refused, quarantined or did not end well count as failures, and their samples as far as they go.
"""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polhode.ensemble.companions import ACCOMPANIED, TOLD
from polhode.ensemble.measures import VERDICTS
from polhode.ensemble.on_disk.store import open_study
from polhode.ensemble.study_runner import STATUS

if TYPE_CHECKING:
    import xarray as xr

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)

TOGETHER = 4096
"""Runs whose moments are taken at a time."""

ROOM = 128 * 2**20
"""Bytes that are read at a time, and that the columns of one pass for quantiles may take. Zarr takes some milliseconds
for a read, however small: read in parts of `TOGETHER` runs, three times each, a study of 32,768 runs of a free body
took 0.4 s for what takes 0.05 s at once."""

PASSES = 16
"""Passes over the runs for the quantiles of one array; where more would be needed, fewer runs are read."""

SURE = 1.959963984540054
"""Standard deviations to each side that hold 95 % of a normal distribution."""

BINS = 40
"""Parts of a histogram."""

LISTED = 20
"""Runs, of each kind, whose numbers are listed."""

PLAIN = ("end_time", "energy_drift", "error_estimate")
"""Numbers of every run that are summed up beside its measures."""


class RunningMoments(NamedTuple):
    """Count, mean, sum of squared deviations and extremes of each column; NaN is left out."""

    counts: np.ndarray
    mean: np.ndarray
    squares: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @staticmethod
    def of(x: np.ndarray) -> "RunningMoments":
        """The moments of rows (n, columns)."""
        there = ~np.isnan(x)
        if there.all():
            mean = x.sum(axis=0) / max(len(x), 1)
            squares = ((x - mean) ** 2).sum(axis=0)
            return RunningMoments(np.full(x.shape[1], float(len(x))), mean, squares, x.min(axis=0), x.max(axis=0))
        count = there.sum(axis=0).astype(float)
        filled = np.where(there, x, 0.0)
        mean = filled.sum(axis=0) / np.maximum(count, 1)
        squares = (np.where(there, x - mean, 0.0) ** 2).sum(axis=0)
        low, high = (f(np.where(there, x, fill), axis=0) for f, fill in ((np.min, np.inf), (np.max, -np.inf)))
        return RunningMoments(count, mean, squares, low, high)

    def __and__(self, other: "RunningMoments") -> "RunningMoments":
        """The moments of both sets of rows.    Chan, Golub, LeVeque (1983)"""
        count = self.counts + other.counts
        apart, safe = other.mean - self.mean, np.maximum(count, 1)
        mean = self.mean + apart * other.counts / safe
        squares = self.squares + other.squares + apart**2 * self.counts * other.counts / safe
        return RunningMoments(count, mean, squares, np.minimum(self.low, other.low), np.maximum(self.high, other.high))

    @property
    def deviation(self) -> np.ndarray:
        """The standard deviation of the rows."""
        return np.sqrt(self.squares / np.where(self.counts > 1, self.counts - 1, np.nan))


def summary(study: "xr.Dataset | str | Path", quantiles: tuple[float, ...] = QUANTILES) -> "xr.Dataset":
    """The summary of a study, in a Dataset or in its folder.

    q, v, outputs      X_mean, X_deviation, X_low, X_high, X_quantile over time
    measures           X_mean, X_deviation, X_error (of the mean, one standard deviation), X_low, X_high, X_quantile,
                       X_histogram (counts of runs in equal parts from X_low to X_high)
    convergence        X_so_far, X_so_far_error: the mean and its error after 2, 4, 8, … runs
    attrs              failure_fraction with its bounds (Wilson, 95 %), counts by status and by verdict, the number of
                       runs whose error was estimated (runs_accompanied), which those are (accompanied), reasons
    """
    import xarray as xr

    data = open_study(study) if isinstance(study, (str, Path)) else study
    names = [*data.attrs["measures"], *(name for name in PLAIN if name in data)]
    series = [name for name in ("q", "v", *data.attrs["outputs"]) if name in data]
    found: dict[str, Any] = {}
    notes: dict[str, Any] = {}
    points = _points(data.sizes["run"])
    for name in (*series, *names):
        array = _at_hand(data[name])
        axes, sizes = array.dims[1:], array.shape[1:]
        moments, steps = _moments(array, points if name in names else [])
        shaped = {"mean": moments.mean, "deviation": moments.deviation, "low": moments.low, "high": moments.high}
        none = moments.counts == 0
        for what, values in shaped.items():
            found[f"{name}_{what}"] = (axes, np.where(none, np.nan, values).reshape(sizes))
        values, looked_at = _quantiles(array, quantiles)
        found[f"{name}_quantile"] = (("quantile", *axes), values.reshape(len(quantiles), *sizes))
        if looked_at < data.sizes["run"]:
            notes[f"{name}_quantile_runs"] = looked_at
        if name in names:
            found[f"{name}_error"] = ((), (moments.deviation / np.sqrt(np.maximum(moments.counts, 1)))[0])
            found[f"{name}_count"] = ((), moments.counts[0])
            found[f"{name}_histogram"] = (("bin",), _histogram(array, moments.low[0], moments.high[0]))
            so_far = np.array([[m.mean[0], (m.deviation / np.sqrt(np.maximum(m.counts, 1)))[0]] for m in steps])
            found[f"{name}_so_far"] = (("so_far",), so_far[:, 0])
            found[f"{name}_so_far_error"] = (("so_far",), so_far[:, 1])
    coordinates = {"quantile": list(quantiles), "so_far": points}
    coordinates |= {name: data[name].values for name in ("time", "coordinate", "dof") if name in data.coords}
    kept = (
        "title", "model_name", "runs", "seed", "study", "study_text", "identity", "measures", "outputs", "reasons",
        "single_runs", "units",
    )  # fmt: skip
    attrs = {name: data.attrs[name] for name in kept if name in data.attrs}
    return xr.Dataset(found, coordinates, attrs | _failures(data) | notes)


def _histogram(array: "xr.DataArray", low: float, high: float) -> np.ndarray:
    """How many runs lie in each of BINS equal parts between the extremes; NaN is left out."""
    counts = np.zeros(BINS)
    if low < high < np.inf and low > -np.inf:
        for part in _parts(array):
            counts += np.histogram(part[np.isfinite(part)], BINS, (low, high))[0]
    return counts


def wilson(failed: int, count: int) -> tuple[float, float]:
    """The 95 % bounds of a fraction.    Wilson (1927)"""
    if not count:
        return 0.0, 1.0
    p, z = failed / count, SURE
    middle = p + z * z / (2 * count)
    half = z * math.sqrt(p * (1 - p) / count + z * z / (4 * count * count))
    return max(0.0, (middle - half) / (1 + z * z / count)), min(1.0, (middle + half) / (1 + z * z / count))


def _failures(data: "xr.Dataset") -> dict[str, Any]:
    """How runs ended, and the fraction that did not end well."""
    counts = np.zeros(max(STATUS.values()) + 1, dtype=int)
    for part in _parts(data["status"]):
        counts += np.bincount(part.astype(int), minlength=len(counts))
    done = int(counts.sum() - counts[STATUS["pending"]])
    failed = int(counts[STATUS["stopped"] + 1 :].sum())
    low, high = wilson(failed, done)
    by = {name: int(counts[code]) for name, code in STATUS.items() if counts[code]}
    return {
        "runs_done": done, "runs_failed": failed, "failure_fraction": failed / done if done else math.nan,
        "failure_low": low, "failure_high": high, "status": json.dumps(by), **_verdicts(data),
    }  # fmt: skip


def _verdicts(data: "xr.Dataset") -> dict[str, Any]:
    """How good the runs are, and of which the error was estimated; nothing for a study of an older version."""
    if "error_estimate" not in data:
        return {"verdicts": "{}", "runs_accompanied": 0, "accompanied": "{}"}
    counts, known = np.zeros(len(VERDICTS), dtype=int), 0
    for verdict, error in zip(_parts(data["verdict"]), _parts(data["error_estimate"]), strict=True):
        counts += np.bincount(verdict.astype(int), minlength=len(counts))
        known += int(np.sum(~np.isnan(error)))
    by = {name: int(counts[code]) for name, code in VERDICTS.items() if counts[code]}
    return {"verdicts": json.dumps(by), "runs_accompanied": known, "accompanied": json.dumps(_accompanied(data))}


def _accompanied(data: "xr.Dataset") -> dict[str, Any]:
    """Whether runs were accompanied, by the keys of ACCOMPANIED: how many, the numbers of the first, a sentence."""
    found: dict[str, Any] = {}
    begin = 0
    for part in _parts(data["accompanied"]) if "accompanied" in data else ():
        for name, code in ACCOMPANIED.items():
            runs = np.flatnonzero(part == code)
            if len(runs):
                one = found.setdefault(name, {"runs": 0, "first": [], "told": TOLD[name]})
                one["runs"] += len(runs)
                one["first"] = [*one["first"], *(begin + runs[:LISTED]).tolist()][:LISTED]
        begin += len(part)
    return {name: found[name] for name in ACCOMPANIED if name in found}


def _points(runs: int) -> list[int]:
    """Numbers of runs after which estimates are shown: 2, 4, 8, …, all."""
    found = [2**k for k in range(1, 63) if 2**k < runs]
    return [*found, runs]


def _at_hand(array: "xr.DataArray") -> "xr.DataArray":
    """An array that is read several times, in memory if there is room; the study's own stays where it is."""
    return array.copy(data=array[: array.sizes["run"]].values) if array.nbytes <= ROOM else array


def _parts(array: "xr.DataArray") -> Iterator[np.ndarray]:
    """The runs, TOGETHER of them at a time."""
    runs = array.sizes["run"]
    several = max(1, ROOM // max(1, TOGETHER * array.nbytes // max(runs, 1))) * TOGETHER
    for begin in range(0, runs, several):
        read = np.asarray(array[begin : begin + several].values)
        for first in range(0, len(read), TOGETHER):
            yield read[first : first + TOGETHER]


def _moments(array: "xr.DataArray", points: list[int]) -> tuple[RunningMoments, list[RunningMoments]]:
    """The moments of all runs; and of the first so many, for each point."""
    total: RunningMoments | None = None
    steps: list[RunningMoments] = []
    left, first = list(points), 0
    for part in _parts(array):
        rows = part.reshape(len(part), -1)
        begin = 0
        while left and left[0] <= first + len(rows):
            stop = left.pop(0) - first
            total = _joined(total, rows[begin:stop])
            assert total is not None
            steps.append(total)
            begin = stop
        total = _joined(total, rows[begin:])
        first += len(rows)
    assert total is not None
    return total, steps


def _joined(total: RunningMoments | None, rows: np.ndarray) -> RunningMoments | None:
    if not len(rows):
        return total
    return RunningMoments.of(rows) if total is None else total & RunningMoments.of(rows)


def _quantiles(array: "xr.DataArray", quantiles: tuple[float, ...]) -> tuple[np.ndarray, int]:
    """Quantiles (quantiles, columns), some columns in a pass; and how many runs were read."""
    runs, columns = array.sizes["run"], int(np.prod(array.shape[1:], dtype=int))
    looked_at = min(runs, max(1, PASSES * ROOM // (8 * columns)))
    wide = max(1, min(columns, ROOM // (8 * looked_at)))
    found = np.full((len(quantiles), columns), np.nan)
    for first in range(0, columns, wide):
        kept = np.empty((min(wide, columns - first), looked_at))  # the runs of a column side by side
        at = 0
        for part in _parts(array[:looked_at]):
            kept[:, at : at + len(part)] = part.reshape(len(part), -1)[:, first : first + wide].T
            at += len(part)
        gaps = np.isnan(kept)
        if not gaps.any():
            found[:, first : first + wide] = np.quantile(kept, quantiles, axis=1, overwrite_input=True)
            continue
        some = ~gaps.all(axis=1)
        found[:, first : first + wide][:, some] = np.nanquantile(kept[some], quantiles, axis=1)
    return found, looked_at
