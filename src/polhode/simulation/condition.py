"""The condition of a motion: how much small differences grow along it, measured by a run that begins beside it.

    max D(t)/D(s),  s ≤ t;      D: the distance of the two runs at a sample, as that of a run and its companion

What a step errs by grows as any small difference does: steps of one tolerance make a larger error where motions part
from each other, and it is no fault of theirs.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from polhode.errors import InputError, ModelError
from polhode.model import make_tree
from polhode.result.error_estimate import Difference, ErrorEstimate
from polhode.simulation.companion import COMPARED, Arrays, paired
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

MORE_STEPS, FEW_STEPS = 4, 1000
"""Steps of a run beside, over those of the run, and besides: stiff parts that a start beside has strained would need
any number. What it shows up to there counts."""

SAMPLES = 101
"""Samples at which distances are looked at, at most: samples within a step cost as much as the step."""


@dataclass(frozen=True)
class Neighbours:
    """Runs that begin beside a run.

    scenario, system  of the run
    make              the stepper of a scenario
    err               what all steps of the run may err by together, as far as their tolerance says
    steps             that the run took; one beside it ends after MORE_STEPS times as many
    directions        how many there are
    """

    scenario: Scenario
    system: System
    make: Callable[[Scenario], Stepper]
    err: float
    steps: int
    directions: int = DIRECTIONS

    def growth(self, parts: Iterable[Arrays], error: ErrorEstimate) -> float:
        """How much small differences grow along the run, at least 1.

        parts  the samples of the run, in order of time
        error  that of the run at its samples
        """
        chosen = np.unique(np.linspace(0, len(error.time) - 1, SAMPLES).astype(int))
        samples, most = _chosen(parts, chosen), 1.0
        most_steps = min(self.scenario.options.max_steps, MORE_STEPS * self.steps + FEW_STEPS)
        options = replace(self.scenario.options, samples=samples["time"], max_steps=most_steps)
        scenario = replace(self.scenario, options=options)
        signs = np.random.default_rng(0).choice([-1.0, 1.0], (self.directions, 2, self.system.nv))
        for one in max(BESIDE, CLEAR * self.err) * signs:
            q, v = _beside(self.system, scenario.q, scenario.v, one)
            if np.all(np.isfinite(q)) and np.all(np.isfinite(v)):
                with suppress(InputError, ModelError):  # a start that a force element refuses says nothing
                    for a, b in paired([samples], self.make(replace(scenario, q=q, v=v)), len(chosen)):
                        same = np.flatnonzero(a["time"] == b["time"])
                        apart = Difference(scenario.model)(a, b)
                        most = max(most, _grown(apart[same], error.values[chosen[same]]))
        return most


def _chosen(parts: Iterable[Arrays], chosen: np.ndarray) -> dict[str, np.ndarray]:
    """Some of the samples of a run, by their numbers, ascending."""
    done, found = 0, list[Arrays]()
    for part in parts:
        n = len(part["time"])
        here = chosen[(chosen >= done) & (chosen < done + n)] - done
        found.append({name: part[name][here] for name in COMPARED})
        done += n
    return {name: np.concatenate([part[name] for part in found]) for name in COMPARED}


def _grown(apart: np.ndarray, error: np.ndarray) -> float:
    """How much the distance (n,) of two runs grows, at least 1; error: of the first."""
    apart = apart[(apart > SEEN * error) & np.isfinite(apart)]
    return float(np.max(apart / np.minimum.accumulate(apart), initial=1.0))


def _beside(system: System, q: np.ndarray, v: np.ndarray, step: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A state beside a given one, with its modes.

    step  (2, nv)  of the place, and of velocities in parts of 1 + each
    """
    step = step.copy()
    step[:, list(make_tree(system.model).discrete_places)] = 0.0
    q, v = system.integrate(q, step[0]), v + step[1] * (1 + abs(v))
    for _ in range(PROJECTIONS if system.conditions else 0):
        q, v = system.project_step(q, v, t=0.0)[:2]
    return q, v
