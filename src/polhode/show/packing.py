"""Curves as the page gets them: thinned so that no extreme is lost, as base64 text, equal arrays once."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

COLOURS = 8
"""Colours of the page's palette; curve and body of one joint share theirs."""

MOST_SAMPLES, MOST_NUMBERS = 2000, 200_000
"""Samples of one curve on the page, and of all curves together."""


class PackedArrays:
    """Arrays of numbers as base64 text, equal ones once."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._places: dict[tuple[str, bytes], int] = {}

    def put(self, values: Any, double: bool = False) -> int:
        """The place of these numbers in the list; single precision unless `double`."""
        kind = "d" if double else "f"
        with np.errstate(over="ignore"):
            data = np.ascontiguousarray(values, dtype="<f8" if double else "<f4").tobytes()
        if (kind, data) not in self._places:
            self._places[kind, data] = len(self.texts)
            self.texts.append(kind + base64.b64encode(data).decode())
        return self._places[kind, data]


@dataclass(frozen=True)
class PlotCurve:
    """One curve: its name, its values over time, the number of its colour."""

    name: str
    values: np.ndarray
    colour: int


@dataclass(frozen=True)
class Plot:
    """Curves with one axis in common.

    axis     what the vertical axis shows, with its unit
    section  "balance" (energies, momenta), "joints", "constraints" or "run" (steps and errors)
    log      a logarithmic axis; values that are not above zero are left out
    """

    title: str
    axis: str
    curves: list[PlotCurve]
    section: str = "balance"
    log: bool = False
    note: str = ""
    empty: str = field(default="", compare=False)
    """What to say in place of a plot that has nothing to show."""
    marks: tuple[float, ...] = ()
    """Instants marked in this plot alone."""
    level: float | None = None
    """A value marked by a line across, in this plot."""
    unknown_from: float | None = None
    """The time from which on the curves are not known: shaded."""


def thinned(curves: Sequence[np.ndarray], most: int = MOST_SAMPLES) -> np.ndarray:
    """Indices of at most about `most` samples that keep the smallest and largest value of every stretch.

    curves  arrays over the same instants; the first and last instant stay, and so do the edges of gaps
    """
    n = len(curves[0])
    if n <= most:
        return np.arange(n)
    stretches = max(1, (most - 2) // (2 * len(curves)))
    edges = np.linspace(0, n, stretches + 1).astype(int)
    kept = {0, n - 1}
    for y in curves:
        good = np.isfinite(y)
        low, high = np.where(good, y, np.inf), np.where(good, y, -np.inf)
        for a, b in pairwise(edges):
            if good[a:b].any():
                kept |= {a + int(low[a:b].argmin()), a + int(high[a:b].argmax())}
        kept |= set(np.flatnonzero(np.diff(good))[:20].tolist())
    return np.array(sorted(kept))


def packed(plots: Sequence[Plot], time: np.ndarray, store: PackedArrays) -> list[dict[str, Any]]:
    """The plots as plain data for the page."""
    count = sum(len(plot.curves) for plot in plots)
    most = min(MOST_SAMPLES, max(MOST_NUMBERS // max(count, 1), 200))
    return [_packed(plot, time, store, most) for plot in plots]


def _packed(plot: Plot, time: np.ndarray, store: PackedArrays, most: int) -> dict[str, Any]:
    record: dict[str, Any] = {"title": plot.title, "axis": plot.axis, "log": plot.log, "series": []}
    shown = [_shown(curve.values, plot.log) for curve in plot.curves]
    if not any(np.isfinite(y).any() for y in shown):
        return record
    chosen = thinned(shown, most)
    record["x"] = store.put(time[chosen], double=True)
    for curve, y in zip(plot.curves, shown, strict=True):
        record["series"].append({"name": curve.name, "y": store.put(y[chosen]), "colour": curve.colour})
    found = {"marks": list(plot.marks), "level": plot.level, "unknownFrom": plot.unknown_from}
    record |= {name: value for name, value in found.items() if value not in (None, [])}
    return record


def _shown(y: np.ndarray, log: bool) -> np.ndarray:
    """Values a plot can show: others become gaps."""
    bound = 1e-30 if log else -3e38
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(y) & (y >= bound) & (abs(y) < 3e38), y, np.nan)
