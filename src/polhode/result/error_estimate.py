"""The error of a motion, estimated at every sample by a companion run that could have seen it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.errors import InputError, message
from polhode.model import Model
from polhode.result.labels import quaternion_slices


@dataclass(frozen=True)
class ErrorEstimate:
    """The estimated error of a motion at its samples.

    time    (n,)  s, the samples that were accompanied, from the first on
    values  (n,)  the errors, in parts of 1 + the largest value so far
    whole   whether every sample was accompanied
    how     the companion run in words, as "tolerance 1e-11"
    why     why not every sample was accompanied
    """

    time: np.ndarray
    values: np.ndarray
    whole: bool
    how: str
    why: str = ""

    @property
    def worst(self) -> float:
        """The largest estimate."""
        return float(np.max(self.values, initial=0.0))

    def good_until(self, threshold: float) -> float:
        """The time, s, of the first sample whose estimate passes a threshold; the last one's where none does."""
        above = np.flatnonzero(~(self.values <= threshold))
        if len(above):
            return float(self.time[above[0]])
        return float(self.time[-1]) if len(self.time) else math.nan


class Difference:
    """The distance of two runs of a model at the same times, sample by sample, given in parts in order of time.

    Each coordinate and velocity is measured in parts of 1 + its largest value so far (in the run where that is
    smaller). Quaternions p and −p are the same attitude.
    """

    def __init__(self, model: Model) -> None:
        self.turns = quaternion_slices(model)
        self.size = {"q": (np.zeros(model.nq), np.zeros(model.nq)), "v": (np.zeros(model.nv), np.zeros(model.nv))}

    def __call__(self, run: Mapping[str, Any], companion: Mapping[str, Any]) -> np.ndarray:
        """The distance at each sample (n,); infinite where it is not a number."""
        worst = np.zeros(len(run["q"]))
        with np.errstate(all="ignore"):
            for name, earlier in self.size.items():
                a, b = (np.array(one[name], dtype=float) for one in (run, companion))
                if a.shape != b.shape:
                    raise InputError(
                        message("error", f"{name} of two sizes", f"{a.shape}, {b.shape}", "the same times")
                    )
                for part in self.turns if name == "q" else []:
                    b[..., part] *= np.where(np.sum(a[..., part] * b[..., part], axis=-1, keepdims=True) < 0, -1, 1)
                sizes = [
                    np.maximum.accumulate(np.vstack([before[None], abs(x)]), axis=0)[1:]
                    for before, x in zip(earlier, (a, b), strict=True)
                ]
                if len(a):
                    self.size[name] = (sizes[0][-1], sizes[1][-1])
                apart = abs(a - b) / (1 + np.minimum(*sizes))
                worst = np.maximum(worst, np.max(apart, axis=-1, initial=0.0))
        return np.where(np.isnan(worst), np.inf, worst)
