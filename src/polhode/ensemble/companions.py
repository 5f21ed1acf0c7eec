"""Companions of some runs of a study: the estimated error of a share of them, drawn by the seed.

Which runs are accompanied depends on the seed and on a run's number alone, whoever computes it, in whatever order.
Lanes step on where a run by itself would restart or look closer; what an estimate cannot see there is told, and lowers
the verdict.
"""

from typing import Any

import numpy as np

from polhode.check.singular_positions import PathWatch
from polhode.ensemble.design import Design
from polhode.ensemble.measures import GOOD, LOOSE, UNCHECKED
from polhode.errors import InputError, message
from polhode.model import Model
from polhode.result.error_estimate import Difference
from polhode.scalar import is_real, shown
from polhode.simulation.batch.batch_records import BatchSamples
from polhode.simulation.batch.batch_run import BatchRun
from polhode.simulation.companion import FACTOR
from polhode.simulation.extinguished import TINY, UNRESOLVED, Modes, Sample
from polhode.simulation.within_steps.watched_path import FAR, STILL

SHARE = 0.01
"""The share of runs that are accompanied, unless a study says otherwise."""

NO, YES, CONDITIONS, UNWATCHED, SINGULAR, DAMPED = range(6)
ACCOMPANIED = {
    "no": NO,
    "yes": YES,
    "conditions": CONDITIONS,
    "unwatched": UNWATCHED,
    "singular": SINGULAR,
    "damped": DAMPED,
}
"""Whether a run was accompanied, and what the estimated error then leaves open."""

TOLD = {
    "no": "not accompanied: unchecked, unless the energy says that the run is worse",
    "yes": "accompanied by a run of other steps",
    "conditions": "accompanied, but conditions of the state, or of numbers that are drawn, do not end the steps of a "
    "sweep: not called good (ph.simulate ends steps there)",
    "unwatched": "accompanied, but samples lie too far apart to see singular positions of the constraints (take more "
    "times), or numbers of the constraints are drawn: not called good",
    "singular": "accompanied, and passed a singular position of the constraints, beyond which the motion is not "
    "certain: loose at best",
    "damped": "accompanied, but the method damps oscillations that its steps do not resolve, and whether there are any "
    "that last is not known: not called good (gauss2 and gauss3 damp nothing; ph.simulate looks for them)",
}
"""ACCOMPANIED in words."""

THROWN = 0.2
"""The part of a velocity by which its change between two samples may differ from those beside it, at most: along
smooth motions of FAR between samples it is about FAR³, and where one is thrown onto another branch about 1."""

DAMPED_SAMPLES = 3
"""Samples of a run about which oscillations are looked for: its first, its last, one between."""

LEAVES_ROWS = ("damping", "stiffness", "rest", "armature")
"""Numbers of joints that do not enter the rows of constraints; nor do those of bodies, forces and gravity."""

COMPANION = 0x636F6D70
"""What makes the numbers by which runs are chosen independent of those that a study draws."""

TOGETHER = 2**18
"""Numbers of runs that are compared at a time: 2 MB of each of a few arrays."""


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
    difference, worst = Difference(model), np.zeros(len(runs.q))
    several = max(1, TOGETHER // max(1, runs.q[:1].size + runs.v[:1].size))
    for first in range(0, len(worst), several):
        few = slice(first, first + several)
        there = ~np.isnan(runs.q[few]).any(axis=2) & ~np.isnan(companions.q[few]).any(axis=2)
        states = (np.concatenate([x.q[few], x.v[few]], axis=2) for x in (runs, companions))
        a, b = (np.ascontiguousarray(np.where(there[..., None], x, 0.0).swapaxes(1, 2)) for x in states)
        worst[few] = np.max(difference.distances(a, b)[0], axis=1, initial=0.0)
    late = abs(runs.end - companions.end) / (1 + runs.end)
    return np.where(runs.status == companions.status, FACTOR * np.fmax(worst, late), np.inf)


def lowered(verdict: np.ndarray, how: np.ndarray) -> np.ndarray:
    """Verdicts (n,), lowered where an estimated error leaves something open; how (n,): as in ACCOMPANIED."""
    is_open, good = (how == CONDITIONS) | (how == UNWATCHED) | (how == DAMPED), verdict == GOOD
    return np.where(good & is_open, UNCHECKED, np.where(good & (how == SINGULAR), LOOSE, verdict)).astype(verdict.dtype)


class SampleWatch:
    """Looks at the samples of accompanied runs, for singular positions of constraints."""

    def __init__(self, batch: BatchRun) -> None:
        self.batch = batch
        self.knows_rows = not any(enters_rows(batch.model, path) for path in batch.along.places)
        """Whether the rows of the constraints are those of the model in every run."""

    def found(self, time: np.ndarray, runs: BatchSamples) -> np.ndarray:
        """YES, UNWATCHED or SINGULAR for each of n runs."""
        if not self.batch.compiled.constrained or not self.batch.nv:
            return np.full(len(runs.q), YES)
        if not self.knows_rows:
            return np.full(len(runs.q), UNWATCHED)
        return np.array([self._one(time, q, v) for q, v in zip(runs.q, runs.v, strict=True)], dtype=int)

    def _one(self, time: np.ndarray, q: np.ndarray, v: np.ndarray) -> int:
        there = np.isfinite(q).all(axis=1) & np.isfinite(v).all(axis=1)
        t, q, v = time[there], q[there], v[there]
        path = PathWatch(self.batch.compiled.driven.system)
        path.see(t, q, v, last=True)
        if path.degenerate or any(position.kind != "straight" for position in path.found):
            return SINGULAR
        pace = path.pace(v)
        turned = np.maximum(pace[1:], pace[:-1]) * np.diff(t)
        is_far = (turned > FAR) | ((turned > STILL) & _bends(v))
        return UNWATCHED if path.unseen or np.any(is_far) else YES


class DampingWatch:
    """Looks for oscillations that a method damps and its steps do not resolve, about samples of runs."""

    def __init__(self, batch: BatchRun, h: float) -> None:
        self.driven, self.damps = batch.compiled.driven, batch.spec.run.method.damps
        self.h = h if batch.fixed else None
        """The size of equal steps, s; of controlled ones it is taken from their number."""
        self.knows_numbers = not batch.along.places and self.driven.tau is None

    def found(self, time: np.ndarray, runs: BatchSamples) -> np.ndarray:
        """Whether each of n runs may have lost one."""
        if not self.damps or not self.knows_numbers:
            return np.full(len(runs.q), self.damps)
        h = np.full(len(runs.q), self.h) if self.h else runs.end / np.maximum(runs.accepted, 1)
        found = [self._one(time, *run) for run in zip(runs.q, runs.v, UNRESOLVED / np.maximum(h, TINY), strict=True)]
        return np.array(found, dtype=bool)

    def _one(self, time: np.ndarray, q: np.ndarray, v: np.ndarray, slowest: float) -> bool:
        there = np.flatnonzero(np.isfinite(q).all(axis=1) & np.isfinite(v).all(axis=1))
        chosen = there[np.unique(np.linspace(0, len(there) - 1, DAMPED_SAMPLES).astype(int))] if len(there) else there
        samples = (Sample(float(time[k]), q[k], v[k], None) for k in chosen)
        return any(len(Modes(self.driven, sample, slowest).values) for sample in samples)


def _bends(v: np.ndarray) -> np.ndarray:
    """Between which samples a velocity (T, nv) changes otherwise than beside them, as where the motion is thrown."""
    change, size = np.diff(v, axis=0), np.linalg.norm(v, axis=1)
    beside = np.concatenate([change[1:2], change, change[-2:-1]])
    usual = (beside[2:] + beside[:-2]) / 2 if len(change) > 1 else 0.0
    return np.linalg.norm(change - usual, axis=1) > THROWN * np.maximum(size[1:], size[:-1])


def enters_rows(model: Model, path: str) -> bool:
    """Whether a number of a model may enter the rows of its constraints; path: as "joints.hinge.position.0"."""
    for joint in model.joints:
        own = f"joints.{joint.name}."
        if path.startswith(own) and path[len(own) :].split(".", maxsplit=1)[0] in LEAVES_ROWS:
            return False
    return not path.startswith(("bodies.", "forces.", "gravity"))
