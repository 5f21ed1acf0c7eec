"""The error of a motion, estimated at every sample by a companion run that could have seen it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from polhode.errors import InputError, message
from polhode.model import Model, make_tree
from polhode.model.error_lengths import error_lengths
from polhode.result.labels import quaternion_slices


@dataclass(frozen=True)
class ErrorEstimate:
    """The estimated error of a motion at its samples.

    time    (n,)  s, the samples that were accompanied, from the first on
    values  (n,)  the errors, in parts of 1 + the largest value so far
    whole   whether every sample was accompanied
    how     the companion run in words, as "tolerance 1e-11"
    why     why not every sample was accompanied
    is_coarse  whether the companion has coarser steps than the run: then the errors are bounds from above
    """

    time: np.ndarray
    values: np.ndarray
    whole: bool
    how: str
    why: str = ""
    is_coarse: bool = False

    @cached_property
    def worst(self) -> float:
        """The largest estimate."""
        return float(np.max(self.values, initial=0.0))

    def good_until(self, threshold: float) -> float:
        """The time, s, of the first sample whose estimate passes a threshold; the last one's where none does."""
        if not self.worst <= threshold:
            return float(self.time[np.argmin(self.values <= threshold)])
        return float(self.time[-1]) if len(self.time) else math.nan


class Difference:
    """The distance of two runs of a model at the same times, sample by sample, given in parts in order of time.

    Each coordinate and velocity is measured in parts of 1 + its largest value so far, of the two at each sample the
    smaller: one that has left all bounds makes no error small. Quaternions p and −p are the same attitude. Ways for
    whose errors a force element declares a length below 1 m have it in the place of 1.
    """

    def __init__(self, model: Model) -> None:
        self.turns, self.sizes = quaternion_slices(model), (model.nq, model.nv)
        self.floor = np.ones((model.nq + model.nv, 1))
        for coordinate, _, length in error_lengths(make_tree(model)):
            self.floor[coordinate] = min(1.0, float(length))
        self.largest = np.zeros(model.nq + model.nv)
        """The largest values so far."""

    def __call__(self, run: Mapping[str, Any], companion: Mapping[str, Any]) -> np.ndarray:
        """The distance at each sample (n,); infinite where it is not a number."""
        nq, n = self.sizes[0], len(run["q"])
        both = np.empty((2, sum(self.sizes), n))  # samples last: sums and maxima over them are of neighbours
        for name, part in (("q", slice(nq)), ("v", slice(nq, None))):
            a, b = (np.asarray(one[name], dtype=float) for one in (run, companion))
            if a.shape != b.shape:
                raise InputError(message("error", f"{name} of two sizes", f"{a.shape}, {b.shape}", "the same times"))
            both[0, part], both[1, part] = a.T, b.T
        if not n:
            return np.zeros(0)
        worst, self.largest = self.distances(both[0], both[1], self.largest)
        return worst

    def distances(self, a: np.ndarray, b: np.ndarray, largest: Any = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """The distances (..., n) of runs at n samples, one or many pairs at once, and the largest values since.

        a, b     (..., nq + nv, n)  coordinates and velocities, samples last; quaternions of b are given the sign of a's
        largest  (..., nq + nv)     values before
        """
        with np.errstate(all="ignore"):
            for part in self.turns:
                opposite = np.einsum("...ij,...ij->...j", a[..., part, :], b[..., part, :]) < 0
                if opposite.any():
                    b[..., part, :] *= np.where(opposite, -1.0, 1.0)[..., None, :]
            apart = abs(a - b)
            size = np.minimum(abs(a), abs(b))
            np.maximum(size[..., 0], largest, out=size[..., 0])
            np.maximum.accumulate(size, axis=-1, out=size)
            apart /= self.floor + size
            worst = np.max(apart, axis=-2, initial=0.0)
        worst[np.isnan(worst)] = np.inf
        return worst, size[..., -1].copy()
