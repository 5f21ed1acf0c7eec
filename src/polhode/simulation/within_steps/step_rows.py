"""Rows of the steps of a run under control of its error, one for each accepted step: where it is between samples, too.

Samples do not change steps, so the step states at samples are among these rows, and the motion within each is known.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from polhode.simulation import step_state
from polhode.simulation.compiled_run import CompiledRun

AT_ONCE, MOST_AT_ONCE = 16, 256
"""Steps that compiled code tries in one call: the fewest that are worth one, and the most between checks for Ctrl-C."""

MOST_BYTES = 2**25
"""Of rows, after which they are handed back before their time."""


def followed_steps(
    compiled: CompiledRun, table: np.ndarray, settings: Sequence[Any], level: np.ndarray | None
) -> np.ndarray:
    """Fill table[1:] as `CompiledRun.advance` does; all rows on the way, the first of the table before them.

    The last row may be one that was handed back, or that an event or a fault ended.
    """
    targets, ends = each_of(settings[0], len(table) - 1), each_of(settings[2], len(table) - 1)
    tried, is_last = _Tried(compiled, table[0], targets), np.ones(len(ends), dtype=bool)
    np.not_equal(ends[1:], ends[:-1], out=is_last[:-1])
    (lasts,) = is_last.nonzero()
    for target, end in zip(targets[lasts].tolist(), ends[lasts].tolist(), strict=True):
        given = [target, settings[1], end, settings[3]]
        while (count := tried.next(target)) > 0:
            compiled.advance(tried.room(count), given, level, limit=1)
    rows = tried.accepted()
    compiled.keep_room(tried.rows)
    there = compiled.field(rows, "t").searchsorted(targets)
    rows.take(there, axis=0, out=table[1:], mode="clip")
    return rows


def each_of(setting: Any, n: int) -> np.ndarray:
    """A setting of n rows, each its own (n,)."""
    found: np.ndarray = setting if np.shape(setting) == (n,) else np.broadcast_to(setting, n)
    return found


class _Tried:
    """Rows after each step that was tried, one after the other; the steps are counted from one target to the next."""

    def __init__(self, compiled: CompiledRun, first: np.ndarray, targets: np.ndarray) -> None:
        self.compiled, self.targets = compiled, targets
        self.rows, self.n = compiled.room(1 + MOST_AT_ONCE), 1
        """Rows, of which the first n are filled; those that no step was tried for are copies of the last."""
        self.rows[0] = first
        self.begin = 0
        """The row at which the last target was passed."""
        self.most = max(MOST_BYTES // (8 * compiled.width), MOST_AT_ONCE)

    def next(self, target: float) -> int:
        """Steps to try in the next call; 0 where the target is reached, or the last row is to be handed back."""
        compiled, now = self.compiled, self.rows[self.n - 1]
        number, first = compiled.number, self.rows[0]
        accepted = number(now, "accepted") - number(first, "accepted")
        self.n = 1 + int(accepted + (number(now, "rejected") - number(first, "rejected")))
        left = target - number(now, "t")
        if not left > 0 or number(now, "status") != step_state.GOING:
            return 0
        many = step_state.at_once(compiled.model.nv)
        if self.n - 1 - self.begin > many - MOST_AT_ONCE:
            passed = self.targets.searchsorted(compiled.field(self.rows[self.begin : self.n], "t"), "right")
            self.begin += int(passed.searchsorted(passed[-1]))
        wanted = max(left / number(now, "h") + 1, AT_ONCE) if self.n > 1 else AT_ONCE  # the first step is far shorter
        return int(min(wanted, MOST_AT_ONCE, many - (self.n - 1 - self.begin), self.most - self.n))

    def room(self, count: int) -> np.ndarray:
        """The last row, and room for so many more, which will be filled."""
        if self.n + count > len(self.rows):
            more = np.empty((2 * len(self.rows) + count, self.rows.shape[1]))
            more[: self.n] = self.rows[: self.n]
            self.rows = more
        part = self.rows[self.n - 1 : self.n + count]
        self.n += count
        return part

    def accepted(self) -> np.ndarray:
        """Copies of the rows after accepted steps, from the first on; and of the last one, if that is none of them."""
        rows = self.rows[: self.n]
        done = self.compiled.field(rows, "accepted")
        kept = np.ones(self.n, dtype=bool)
        np.greater(done[1:], done[:-1], out=kept[1:])
        if not kept[-1]:
            kept[-1] = (rows[-1] != rows[int(kept.nonzero()[0][-1])]).any()
        return rows[kept]
