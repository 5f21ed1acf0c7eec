"""Switches within blocks of step states: compiled code passes them, Python keeps a log of them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from polhode.kernel.backends.llvm.compile import Kernel
from polhode.kernel.backends.llvm.in_place import BoundKernel, RowChain
from polhode.simulation.events.switch_log import PassedSwitch, SwitchLog
from polhode.simulation.events.switch_passage import LEFT, PASSED, TOLD
from polhode.simulation.step_state import EVENT

AT_SWITCH = 64
"""Units in the last place of the time up to which a sample before a switch has the state at the switch: the last stages
of a step that ends nearer to it may lie beyond it, where forces are others."""

Places = Mapping[str, int | slice]
"""Where in a step state its fields lie."""


class SwitchPassages:
    """The kernel of `switch_passage.passage`, for the rows of one block."""

    def __init__(self, kernel: Kernel, places: Places, settings: Sequence[np.ndarray], least: float) -> None:
        """Bind what the rows of a block share.

        settings  tolerance, end of the run or, for each row, of its segment, longest step; the forces that are held
        least     of `passage`
        """
        tolerance, self._ends, longest, *held = settings
        self._end = np.empty(())
        self._status, self._largest, *self._motion = _places_of(places, "status", "largest", "t", "t0", "h", "h0")
        self._row, self._found = np.empty(kernel.rows[0][0]), np.empty((1, *kernel.facts["outputs"][0]))
        arguments = [self._row, tolerance, self._end, longest, np.array(least), *held]
        self._bound = BoundKernel(kernel, 1, arguments, [self._found])
        self._after = self._found[0, TOLD:]

    def follow(self, chain: RowChain, n: int, log: SwitchLog) -> int:
        """Pass the switch in the last step of row n of a chain, and those after it, and fill the rows between; the last
        row that is filled."""
        rows, status = chain.rows, self._status
        while rows.item(n, status) == EVENT and (met := self._met(rows[n], n)):
            if not log.may_pass(met, self._after.item(self._largest)):
                break
            log.block.append(met)
            n = chain.fill_again(n, self._after)
        return n

    def _met(self, row: np.ndarray, n: int) -> PassedSwitch | None:
        """The switch in the last step of row n, which `_after` has passed or goes back for; None: it is left there."""
        self._row[:] = row
        self._end[()] = self._ends if self._ends.ndim == 0 else self._ends[n - 1]
        self._bound.fill()
        became, k, g = self._found[0, :TOLD].tolist()
        if became == LEFT:
            return None
        t, t0, h, h0 = map(self._after.item, self._motion)
        is_beyond = became == PASSED
        return PassedSwitch(n, int(k), t, t0 + h0 - t0 if is_beyond else h, g, is_beyond)


def _places_of(places: Places, *names: str) -> list[int]:
    """Where in a step state some of its numbers lie."""
    found: list[Any] = [places[name] for name in names]
    return found


def put_samples_at_switches(
    samples: np.ndarray, times: np.ndarray, table: np.ndarray, places: Places, passed: Sequence[PassedSwitch]
) -> None:
    """Put the state at a switch into the samples right before it.

    samples  q, v and work at times (n,), of table[1:]
    """
    ends = np.array([switch.t for switch in passed if switch.is_beyond])
    firsts, lasts = times.searchsorted(ends - AT_SWITCH * np.spacing(ends), "right"), times.searchsorted(ends)
    for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True):
        for i in range(first, last):
            samples[i] = np.concatenate([table[i + 1][places[name]] for name in ("q", "v", "work")])
