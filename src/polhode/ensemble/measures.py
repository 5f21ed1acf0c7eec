"""Measures: single numbers of each run, from its samples or from how it ended; and verdicts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.errors import InputError, message
from polhode.result.checks import LOOSE_FACTOR, condition_of, good_up_to

KINDS = ("final", "max", "min", "mean", "settle")

UNCHECKED, GOOD, LOOSE, FAILED = 0, 1, 2, 3
VERDICTS = {"unchecked": UNCHECKED, "good": GOOD, "loose": LOOSE, "failed": FAILED}
"""The verdict of a run."""

TOGETHER = 512
"""Runs whose energies are compared at once: they stay in the processor's cache."""


@dataclass(frozen=True)
class Measure:
    """One number of a run, from the samples of an output, a coordinate ("q.hinge") or a velocity ("v.hinge").

    kind    final, max, min, mean; settle: the time after which |x − target| stays within the band (NaN: never).
            Final, of a run that was stopped, is where it ended; of an output always its last sample
    """

    kind: str
    of: str
    target: float = 0.0
    band: float | None = None

    def __post_init__(self) -> None:
        """Check."""
        if self.kind not in KINDS:
            raise InputError(message("sweep, measure", "no such kind", repr(self.kind)[:60], ", ".join(KINDS)))
        for name in ("target", "band"):
            value = getattr(self, name)
            if value is None and name == "band":
                continue
            if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not np.isfinite(value):
                found = repr(value)[:60]
                raise InputError(message(f"sweep, measure '{self.kind}', {name}", "not a number", found, "finite"))
        if not isinstance(self.of, str):
            raise InputError(message("sweep, measure", "of no name", repr(self.of)[:60], "as 'q.hinge'"))
        if (self.kind == "settle") != (self.band is not None) or (self.band is not None and not self.band > 0):
            raise InputError(
                message(f"sweep, measure '{self.kind}'", "its band", repr(self.band), "above 0, for settle")
            )

    def __call__(self, time: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Its value for each run: x (n, T), NaN after the end of a run."""
        there = ~np.isnan(x)
        if self.kind == "settle":
            assert self.band is not None
            outside = there & (abs(x - self.target) > self.band)
            last = np.where(outside.any(axis=1), x.shape[1] - 1 - np.argmax(outside[:, ::-1], axis=1), -1)
            first = last + 1
            inside = (first < x.shape[1]) & there[:, -1]
            return np.where(inside, time[np.minimum(first, x.shape[1] - 1)], np.nan)
        if self.kind == "final":
            last = x.shape[1] - 1 - np.argmax(there[:, ::-1], axis=1)
            return np.take_along_axis(x, last[:, None], axis=1)[:, 0]
        some = there.any(axis=1)
        found = np.full(len(x), np.nan)
        reduce: Any = {"max": np.nanmax, "min": np.nanmin, "mean": np.nanmean}[self.kind]
        found[some] = reduce(x[some], axis=1)
        return found


def energy_drift(kinetic: np.ndarray, potential: np.ndarray) -> np.ndarray:
    """The drift (n,) of the energy of each run over its scale, as in `result.checks`; energies (n, T)."""
    found = np.empty(len(kinetic))
    for first in range(0, len(found), TOGETHER):
        few = slice(first, first + TOGETHER)
        found[few] = _drift(*(np.ascontiguousarray(x[few].T) for x in (kinetic, potential)))
    return found


def _drift(kinetic: np.ndarray, potential: np.ndarray) -> np.ndarray:
    """The drift (n,) of energies (T, n)."""
    total = kinetic + potential
    gaps = np.isnan(total)
    if gaps.any():
        total = np.where(gaps, total[0], total)
        kinetic, potential = (np.where(np.isnan(x), x[0], x) for x in (kinetic, potential))
    with np.errstate(all="ignore"):
        scale = kinetic.max(axis=0) + potential.max(axis=0) - potential.min(axis=0)
        drift = abs(total - total[0]).max(axis=0)
        return np.where(drift == 0, 0.0, drift / scale)


def verdicts(
    finished: np.ndarray, threshold: np.ndarray, error: np.ndarray, drift: np.ndarray | None = None
) -> np.ndarray:
    """The verdict of each run, as `result.checks` forms it; a run that broke off has failed.

    finished   (n,)  whether each run came to its end
    threshold  (n,)  the largest error of a good run
    error      (n,)  the estimated error; NaN: not estimated, the run is unchecked
    drift      (n,)  of the energy, which can only lower a verdict
    """
    unknown = np.isnan(error)
    found = np.where(unknown, UNCHECKED, _graded(np.where(unknown, 0.0, error), threshold))
    if drift is not None:
        worse = _graded(drift, threshold)
        found = np.where(worse > GOOD, np.maximum(found, worse), found)
    return np.where(finished, found, FAILED).astype(np.int8)


def _graded(value: np.ndarray, threshold: np.ndarray) -> np.ndarray:
    return np.where(value <= threshold, GOOD, np.where(value <= LOOSE_FACTOR * threshold, LOOSE, FAILED))


def thresholds(v: np.ndarray, accepted: np.ndarray, tolerance: float | None, accuracy: float | None) -> np.ndarray:
    """The largest error of a good run, of each of n runs: v (n, T, nv), their steps (n,)."""
    condition: Any = 1.0
    if tolerance is not None and accuracy is None:
        with np.errstate(all="ignore"):
            condition = condition_of(np.nanmax(abs(v), axis=(1, 2), initial=0.0))
    return np.broadcast_to(good_up_to(tolerance, accepted, condition, accuracy), len(accepted))


def named(measures: Mapping[str, Measure], series: Mapping[str, np.ndarray], time: np.ndarray) -> dict[str, np.ndarray]:
    """The values (n,) of all measures of some runs, by name."""
    return {name: measure(time, series[measure.of]) for name, measure in measures.items()}
