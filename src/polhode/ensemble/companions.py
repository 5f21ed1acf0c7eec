"""Companions of some runs of a study: the estimated error of a share of them, drawn by the seed.

Which runs are accompanied depends on the seed and on a run's number alone, whoever computes it, in whatever order.
"""

from typing import Any

import numpy as np

from polhode.ensemble.design import Design
from polhode.errors import InputError, message
from polhode.model import Model
from polhode.result.error_estimate import Difference
from polhode.scalar import is_real, shown
from polhode.simulation.batch.batch_records import BatchSamples
from polhode.simulation.companion import FACTOR

SHARE = 0.01
"""The share of runs that are accompanied, unless a study says otherwise."""

COMPANION = 0x636F6D70
"""What makes the numbers by which runs are chosen independent of those that a study draws."""


def check_share(value: Any) -> float:
    """A share from 0 to 1, or an InputError."""
    if not is_real(value) or not 0 <= value <= 1:
        raise InputError(message("sweep, accompanied", "not a share", shown(value), "a number from 0 to 1"))
    return float(value)


def accompanied(seed: int, share: float, first: int, last: int) -> np.ndarray:
    """The runs of first … last − 1 that are accompanied, counted from first; run 0 always is, unless the share is 0."""
    own = int(np.random.SeedSequence([seed, COMPANION]).generate_state(1, np.uint64)[0] >> np.uint64(1))
    drawn = Design("random", own, last, 1).uniforms(first, last)[:, 0] < share
    drawn[:1] |= first == 0 and share > 0
    return np.flatnonzero(drawn)


def errors(model: Model, runs: BatchSamples, companions: BatchSamples) -> np.ndarray:
    """The estimated error of each run (n,), the largest of its samples; infinite where the two ended differently."""
    found = np.empty(len(runs.q))
    for k in range(len(found)):
        there = ~np.isnan(runs.q[k]).any(axis=1) & ~np.isnan(companions.q[k]).any(axis=1)
        one, other = ({"q": x.q[k][there], "v": x.v[k][there]} for x in (runs, companions))
        late = abs(runs.end[k] - companions.end[k]) / (1 + runs.end[k])
        same = runs.status[k] == companions.status[k]
        found[k] = FACTOR * max(np.max(Difference(model)(one, other), initial=0.0), late) if same else np.inf
    return found
