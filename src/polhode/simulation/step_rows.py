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
    targets, ends = (np.broadcast_to(settings[i], len(table) - 1) for i in (0, 2))
    found, now = [table[:1]], table[0]
    lasts = np.flatnonzero(np.append(ends[1:] != ends[:-1], True))
    reached = _tried(compiled, now)
    """Steps tried up to the row at which the last target was passed."""
    left = max(MOST_BYTES // (8 * compiled.width), MOST_AT_ONCE)
    for target, end in zip(targets[lasts].tolist(), ends[lasts].tolist(), strict=True):
        given = [target, settings[1], end, settings[3]]
        while compiled.field(now, "t") < target and compiled.field(now, "status") == step_state.GOING:
            most = min(step_state.at_once(compiled.model.nv) - int(_tried(compiled, now) - reached), left)
            if most <= 0:
                break
            wanted = (target - compiled.field(now, "t")) / compiled.field(now, "h") + 1
            part = np.empty((1 + int(min(max(wanted, AT_ONCE), MOST_AT_ONCE, most)), compiled.width))
            part[0] = now
            compiled.advance(part, given, level, limit=1)
            new = 1 + np.flatnonzero(np.diff(compiled.field(part, "accepted")) > 0)
            passed = np.diff(np.searchsorted(targets, compiled.field(part[[0, *new]], "t"), "right")) > 0
            if np.any(passed):
                reached = _tried(compiled, part[new[np.flatnonzero(passed)[-1]]])
            found.append(part[new])
            now, left = part[-1], left - len(new)
    if not np.array_equal(found[-1][-1:], now[None], equal_nan=True):  # rejected steps after the last accepted one
        found.append(now[None])
    rows = np.concatenate(found)
    there = np.searchsorted(compiled.field(rows, "t"), targets)
    rows.take(np.minimum(there, len(rows) - 1), axis=0, out=table[1:])
    return rows


def _tried(compiled: CompiledRun, row: np.ndarray) -> float:
    """Steps tried up to a step state, accepted or not."""
    return float(compiled.field(row, "accepted") + compiled.field(row, "rejected"))
