"""Switches that steps of a run passed: those of the present block, and the last times of each surface."""

from collections import deque
from typing import NamedTuple

CHATTER = 100
"""Switches of one surface within one step's time, after which a run ends as chattering."""

MOST_PASSED = 64
"""Switches that steps of one block pass at most: between blocks the run is checked against its limits."""


class PassedSwitch(NamedTuple):
    """A switch that compiled code met.

    row        of the block, in whose last steps it lies
    k          number of the surface
    t, h       where it lies, and the size of its step, s; of a step that is tried again, where that begins
    g          its function just beyond it
    is_beyond  whether it was passed; False: its step is to be tried again, shorter
    """

    row: int
    k: int
    t: float
    h: float
    g: float
    is_beyond: bool


class SwitchLog:
    """The switches of a run so far; least: a step up to a switch that is no longer, s, is taken whatever its error."""

    def __init__(self, least: float) -> None:
        self.least = least
        self.block: list[PassedSwitch] = []
        """Those of the present block, whose rows may yet be dropped."""
        self._recent: dict[int, deque[float]] = {}

    def may_pass(self, met: PassedSwitch, largest: float) -> bool:
        """Whether a switch may be passed without a look at the run: it does not chatter.  largest: step so far, s"""
        return len(self.block) < MOST_PASSED and not self._is_often(met.k, met.t, max(met.h, largest))

    def chatters(self, k: int, t: float, usual: float) -> bool:
        """Add a switch, or a step tried again for one; whether there were too many within a usual step."""
        found = self._is_often(k, t, usual)
        self._recent.setdefault(k, deque(maxlen=CHATTER)).append(t)
        return found

    def _is_often(self, k: int, t: float, usual: float) -> bool:
        recent = self._recent.get(k, ())
        if len(recent) + len(self.block) < CHATTER:
            return False
        times = [*recent, *(one.t for one in self.block if one.k == k)]
        return len(times) >= CHATTER and t - times[-CHATTER] < usual
