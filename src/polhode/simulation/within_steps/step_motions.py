"""States within the steps of a run under control of its error: by one polynomial a step, as exact as the step.

Several samples lie in most steps: the polynomial takes about the work of two of them by shorter steps, and each sample
then little more than its projection. Where its error estimate is too large, samples are shorter steps.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

AT_ONCE = 128
"""Samples whose polynomials are copied side by side: they stay in the cache (some hundred numbers each)."""


LARGEST = 0.3
"""The error estimate of a polynomial, in units of the tolerance, up to which samples take it. The errors of samples
against runs to 1e-13 are then those of shorter steps (six bundled machines, tolerances 1e-4 to 1e-11: root mean
squares within 4 %, largest ones within 1 % but for 1.4 times in one run to 1e-4). With 0.03 four steps in ten would
have shorter ones, with 0.3 few have."""


class WithinSteps(NamedTuple):
    """What finds states within steps, of rows of step states; all compiled.

    motions  of rows: polynomials, their error estimates last
    states   of polynomials and times
    shorter  of rows and times, by shorter steps
    lanes    rows whose polynomials are found side by side
    """

    motions: Callable[[np.ndarray], np.ndarray]
    states: Callable[[np.ndarray, np.ndarray], np.ndarray]
    shorter: Callable[[np.ndarray, np.ndarray], np.ndarray]
    lanes: int = 1


class StepMotions:
    """The motion within the last steps of rows of step states; rows of one step share its polynomial."""

    def __init__(
        self, rows: np.ndarray, begins: np.ndarray, ends: np.ndarray, states: np.ndarray, within: WithinSteps
    ) -> None:
        """Prepare the steps of rows.

        begins, ends  (n,)  times of the last steps
        states        (n, size)  at their ends
        """
        self.rows, self.ends, self._states, self._within = rows, ends, states, within
        new = np.empty(len(rows), dtype=bool)
        new[:1], new[1:] = True, begins[1:] != begins[:-1]
        self._firsts, self._step = new.nonzero()[0], new.cumsum() - 1
        self._is_known = np.zeros(len(self._firsts), dtype=bool)

    def _motions_of(self, steps: np.ndarray) -> np.ndarray:
        """The polynomials of all steps, of which some (m,) are asked for: those that were not before are found."""
        unknown = ~self._is_known
        new = np.zeros(len(self._firsts), dtype=bool)
        new[steps] = True
        new &= unknown
        if new.any():
            spare = -int(np.count_nonzero(new)) % self._within.lanes
            if spare:  # other steps in lanes that would be idle
                new[(unknown & ~new).nonzero()[0][:spare]] = True
            found = self._within.motions(self.rows[self._firsts[new]])
            if len(found) == len(new):
                self._motions = found
            else:
                if not self._is_known.any():
                    self._motions = np.empty((len(new), found.shape[1]))
                self._motions[new] = found
            self._is_known |= new
        return self._motions

    def of(self, times: np.ndarray) -> np.ndarray:
        """(m,)  The rows, of steps one after the other, in whose last steps times lie."""
        return np.minimum(self.ends.searchsorted(times), len(self.ends) - 1)

    def at(self, which: np.ndarray, times: np.ndarray) -> np.ndarray:
        """(m, size)  The states at times within the last steps of some rows."""
        found = self._states[which]
        (inside,) = (self.ends[which] != times).nonzero()
        if not len(inside):
            return found
        rows, times = which[inside], times[inside]
        steps = self._step[rows]
        motions = self._motions_of(steps)
        good = motions[steps, -1] <= LARGEST
        (fine,) = good.nonzero()
        for i in range(0, len(fine), AT_ONCE):
            few = fine[i : i + AT_ONCE]
            found[inside[few]] = self._within.states(motions[steps[few]], times[few])
        if len(fine) < len(steps):
            (others,) = (~good).nonzero()
            found[inside[others]] = self._within.shorter(self.rows[rows[others]], times[others])
        return found
