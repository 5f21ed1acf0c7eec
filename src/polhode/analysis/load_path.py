"""Rest under loads that grow step by step: for machines with beams, whose stiff stretching bars the straight way.

At the start all generalised forces but the given ones are balanced; what balances them is taken away step by step.
Each step ends where Newton's method, without damping, has converged; one that does not is halved.
"""

from dataclasses import replace

import numpy as np

from polhode.analysis.solve import SteadyProblem, Trial, slope_of

CORRECTIONS = 12
"""The most of Newton's corrections in a step of the load; near a path four or five are enough."""

SMALLEST = 1.0 / 4096
"""The smallest part of the load that one step adds: below it a limit point is near, past which no rest exists."""

FEW = 5
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
        aim = tolerance if following == 1.0 else np.sqrt(tolerance)
        found, corrections = _corrected(free, free.trial(x.q, x.c, x.lam, tau, steps=x.steps), aim)
        if found is None:
            size /= 2
            continue
        x, part = found, following
        size *= 1.5 if corrections <= FEW else 1.0
    if part < 1.0:
        return replace(x, force=x.force + (1 - part) * missing)
    return x


def _corrected(problem: SteadyProblem, x: Trial, tolerance: float) -> tuple[Trial | None, int]:
    """The rest near a trial by Newton's method, and its corrections; None where it does not converge."""
    last = np.inf
    for k in range(CORRECTIONS):
        J, residuals = problem.slopes(x), x.residuals
        if not (np.all(np.isfinite(J)) and np.all(np.isfinite(residuals))):
            return None, k
        step = -np.linalg.lstsq(J, residuals, rcond=1e-15)[0]
        slope = slope_of(J, x)
        x = problem.stepped(x, step, slope)
        size = float(np.linalg.norm(step))
        if not np.isfinite(size) or (k > 2 and size > 10 * last):
            return None, k
        if problem.is_solved(x, tolerance) and size > last / 2:  # rounding is left
            return x, k
        last = size
    return (x, CORRECTIONS) if problem.is_solved(x, tolerance) else (None, CORRECTIONS)
