"""The condition of a motion: how much small differences grow along it, measured by a run that begins beside it.

    max D(t)/D(s),  s ≤ t;      D: the distance of the two runs at a sample, as that of a run and its companion

What a step errs by grows as any small difference does: steps of one tolerance make a larger error where motions part
from each other, and it is no fault of theirs.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from polhode.result.error_estimate import Difference
from polhode.simulation.companion import Arrays, paired
from polhode.simulation.scenario import Scenario
from polhode.simulation.stepper import Stepper
from polhode.system.system import System

BESIDE = 1e-6
"""How far beside the run the others begin, rad or m, and in parts of 1 + each velocity, at least: small enough that
differences grow in proportion, large beside rounding."""

CLEAR = 10.0
"""How many times what all steps together may err by they begin beside it, at least: errors grow as distances do."""

SEEN = 2.0
"""The distance at a sample over the error there, from which it says something of growth."""

PROJECTIONS = 3
"""Projections of a start beside onto the constraints: each squares what is left, here of 1e-6."""

DIRECTIONS = 4
"""Runs beside the run, each in a direction of its own: one alone may lie where differences grow little."""


@dataclass(frozen=True)
class Neighbours:
    """Runs that begin beside a run.

    scenario, system  of the run
    make              the stepper of a scenario
    err               what all steps of the run may err by together, as far as their tolerance says
    directions        how many there are
    """

    scenario: Scenario
    system: System
    make: Callable[[Scenario], Stepper]
    err: float
    directions: int = DIRECTIONS

    def growth(self, parts: Callable[[], Iterable[Arrays]], error: np.ndarray) -> float:
        """How much small differences grow along the run, at least 1.

        parts  gives the samples of the run, in order of time
        error  that of the run at its samples
        """
        scenario, most = self.scenario, 1.0
        signs = np.random.default_rng(0).choice([-1.0, 1.0], (self.directions, 2, self.system.nv))
        for one in max(BESIDE, CLEAR * self.err) * signs:
            q, v = _beside(self.system, scenario.q, scenario.v, one)
            if np.all(np.isfinite(q)) and np.all(np.isfinite(v)):
                pairs = paired(parts(), self.make(replace(scenario, q=q, v=v)), len(error))
                most = max(most, _grown(Difference(scenario.model), pairs, error))
        return most


def _grown(difference: Difference, pairs: Iterable[tuple[Arrays, Arrays]], error: np.ndarray) -> float:
    """How much the distance of two runs grows, at least 1."""
    least, most, done = np.inf, 1.0, 0
    for a, b in pairs:
        apart, own = difference(a, b), error[done : done + len(a["time"])]
        done += len(apart)
        seen = (a["time"] == b["time"]) & (apart > SEEN * own) & np.isfinite(apart)
        lowest = np.minimum.accumulate(np.append(least, np.where(seen, apart, np.inf)))
        least = float(lowest[-1])
        most = max(most, float(np.max(apart[seen] / lowest[1:][seen], initial=1.0)))
    return most


def _beside(system: System, q: np.ndarray, v: np.ndarray, step: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A state beside a given one; step (2, nv): of the place, and of velocities in parts of 1 + each."""
    q, v = system.integrate(q, step[0]), v + step[1] * (1 + abs(v))
    for _ in range(PROJECTIONS if system.conditions else 0):
        q, v = system.project(q, v, t=0.0)[:2]
    return q, v
