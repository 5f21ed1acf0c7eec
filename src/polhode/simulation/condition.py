"""The condition of a motion: how much small differences grow along it, measured by a run that begins beside it.

    max D(t)/D(s),  s ≤ t;      D: the distance of the two runs at a sample, as that of a run and its companion

What a step errs by grows as any small difference does: steps of one tolerance make a larger error where motions part
from each other, and it is no fault of theirs.
"""

import sys
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from polhode.result.error_estimate import Difference
from polhode.simulation.companion import Arrays, paired
from polhode.simulation.scenario import Scenario
from polhode.simulation.stepper import Stepper
from polhode.system.system import System

BESIDE = 1e-6
"""How far beside the run the other one begins, rad or m, and in parts of 1 + each velocity: small enough that
differences grow in proportion, large beside rounding."""

CLEAR = 10.0
"""How many times the error of the runs the two begin apart, at least."""

PROJECTIONS = 3
"""Projections of the start beside onto the constraints: each squares what is left, here of 1e-6."""


DIRECTIONS = 4
"""Runs beside the run, each in a direction of its own: one alone may lie where differences grow little."""


def growth(
    scenario: Scenario,
    system: System,
    make: Callable[[Scenario], Stepper],
    parts: Callable[[], Iterable[Arrays]],
    error: float,
    directions: int = DIRECTIONS,
) -> float:
    """How much a small difference grows along a run, at least 1.

    make   the stepper of a scenario
    parts  gives the samples of the run, in order of time
    error  that of the run: a distance below it says nothing
    """
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (directions, 2, system.nv))
    size, most = max(BESIDE, CLEAR * error), 1.0
    for one in signs:
        q, v = _beside(system, scenario.q, scenario.v, size * one)
        if np.all(np.isfinite(q)) and np.all(np.isfinite(v)):
            other = make(replace(scenario, q=q, v=v))
            most = max(most, _grown(Difference(scenario.model), paired(parts(), other, sys.maxsize), error))
    return most


def _grown(difference: Difference, pairs: Iterable[tuple[Arrays, Arrays]], error: float) -> float:
    """How much the distance of two runs grows, at least 1."""
    least, most = np.inf, 1.0
    for a, b in pairs:
        apart = difference(a, b)[a["time"] == b["time"]]
        lowest = np.minimum.accumulate(np.append(least, np.maximum(apart, error)))
        least, ratio = float(lowest[-1]), apart / lowest[1:]
        most = max(most, float(np.max(ratio[np.isfinite(ratio)], initial=1.0)))
    return most


def _beside(system: System, q: np.ndarray, v: np.ndarray, step: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A state beside a given one; step (2, nv): of the place, and of velocities in parts of 1 + each."""
    q, v = system.integrate(q, step[0]), v + step[1] * (1 + abs(v))
    for _ in range(PROJECTIONS if system.conditions else 0):
        q, v = system.project(q, v, t=0.0)[:2]
    return q, v
