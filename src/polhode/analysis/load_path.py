"""Rest under loads that grow step by step: for machines with beams, whose stiff stretching bars the straight way.

At the start all generalised forces but the given ones are balanced; what balances them is taken away step by step.
Each step ends where Newton's method, without damping, has converged; one that does not is halved.
"""

from dataclasses import replace

import numpy as np

from polhode.analysis.solve import SINGULAR, SteadyProblem, Trial, slope_of

CORRECTIONS = 20
"""The most of Newton's corrections in a step of the load; near a path six or seven are enough."""

GROWN = 4.0
"""A correction so many times as long as the one before the last goes astray."""

ON_THE_WAY = 1e-5
"""Tolerance of rests on the way: they are only starts of the next."""

SMALL = 1e-2
"""The last two corrections are at most this part of the tolerance, of 1 + the largest coordinate: convergence is
quadratic, so what is left is below rounding."""

SMALLEST = 1.0 / 4096
"""The smallest part of the load that one step adds: below it a limit point is near, past which no rest exists."""

FEW = 8
"""Corrections up to which the next step of the load is half as long again."""


def rest_under_load(problem: SteadyProblem, start: Trial, tolerance: float, steps: int) -> Trial:
    """The rest that is reached from a start as the load grows from nothing to its whole, or the last one on the way.

    steps  of the load, at first
    """
    free = replace(problem, longest=np.inf)
    missing, part, size = start.force, 0.0, 1.0 / steps
    x = start
    while part < 1.0 and size >= SMALLEST:
        following = min(1.0, part + size)
        tau = start.tau + (1 - following) * missing
        aim = tolerance if following == 1.0 else max(tolerance, ON_THE_WAY)
        found, corrections = _corrected(free, free.trial(x.q, x.c, x.lam, tau, steps=x.steps), aim)
        if found is None:
            size /= 2
            continue
        x, part = found, following
        size *= 1.5 if corrections <= FEW else 1.0
    if part < 1.0:
        return replace(x, force=x.force + (1 - part) * missing)
    return x


def _step(J: np.ndarray, residuals: np.ndarray, forces: int, places: int) -> np.ndarray:
    """Newton's step of least size, constraints that are redundant included.

    J is [H −Aᵀ; A 0] with a stiffness H of any size h: rows and columns are scaled to [H/h −Aᵀ; A 0], so that singular
    values that are small for a large h are told from those that are zero.

    forces  residuals that are forces; the others are of constraints
    places  unknowns that are places and rates; the others are forces
    """
    h = max(1.0, float(np.linalg.norm(J[:forces, :places], 2))) ** 0.5
    rows = np.where(np.arange(J.shape[0]) < forces, 1 / h, h)
    columns = np.where(np.arange(J.shape[1]) < places, 1 / h, h)
    return -columns * np.linalg.lstsq(rows[:, None] * J * columns, rows * residuals, rcond=SINGULAR)[0]


def _corrected(problem: SteadyProblem, x: Trial, tolerance: float) -> tuple[Trial | None, int]:
    """The rest near a trial by Newton's method, and its corrections; None where it does not converge.

    Steps are long and short in turns: one bends the beam, the next takes back the stretching that this made. So each is
    compared with the one before the last.
    """
    sizes = [np.inf, np.inf]
    for k in range(CORRECTIONS):
        J, residuals = problem.slopes(x), x.residuals
        if not (np.all(np.isfinite(J)) and np.all(np.isfinite(residuals))):
            return None, k
        step = _step(J, residuals, len(x.M), len(x.M) + len(x.c))
        following = problem.stepped(x, step, slope_of(J, x))
        sizes.append(float(np.max(abs(problem.moved_by(x, step)))))
        small = SMALL * tolerance * (1 + float(np.max(abs(x.q))))
        if problem.is_solved(following, tolerance) and max(sizes[-2:]) <= small:
            return following, k
        if not sizes[-1] < max(GROWN * sizes[-3], small):
            return None, k
        x = following
    return None, CORRECTIONS
