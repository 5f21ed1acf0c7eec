"""Axes of plots over time: units on both, names of curves, no more points than can be seen."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.show.figure import COLOURS
from polhode.show.packing import thinned
from polhode.show.run_values import parting

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from xarray import Dataset

MOST = 3000
"""Points of the curves of one panel, each extreme among them: an SVG of them stays small."""
WIDE, HIGH = 6.3, 2.5
"""Inches of a panel over time: the width of a page of text."""
BOUND = 1e60
"""The largest value that is drawn."""
INK, QUIET, FAINT = "#1b1b1b", "#6d767d", "#b4bcc2"
PARTING = "parting"
"""The mark of lines across a panel, which have no values."""
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.6)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.2, 1.5)))
"""Strokes of curves beyond the colours there are, so that none look alike."""


def look(k: int) -> dict[str, Any]:
    """Colour and stroke of the k-th curve: the first ones differ in colour, later ones in stroke too."""
    return {"color": COLOURS[k % len(COLOURS)], "linestyle": DASHES[(k // len(COLOURS)) % len(DASHES)]}


def draw_curves(axes: "Axes", time: np.ndarray, curves: Sequence[tuple[str, np.ndarray, dict[str, Any]]]) -> None:
    """Curves over time, each with its name (escaped, where a model gave it) and its look."""
    if not curves:
        return
    within = [drawable(y) for _, y, _ in curves]
    shown = thinned(within, MOST)
    for (name, _, how), y in zip(curves, within, strict=True):
        axes.plot(time[shown], y[shown], label=name, **how)


def drawable(y: np.ndarray) -> np.ndarray:
    """Values that an axis can have; others, of a run that left all bounds, become gaps."""
    return np.where(abs(y) < BOUND, y, np.nan)


def over_time(axes: "Axes", run: "Dataset | None", time: np.ndarray, what: str, unit: str, last: bool = True) -> None:
    """Name both axes, and mark up to when the run is good; `last`: the lowest of several panels names the time."""
    axes.set_ylabel(f"{what} ({unit})" if unit else what)
    if last:
        axes.set_xlabel("time $t$ (s)")
    if time[-1] > time[0]:
        axes.set_xlim(time[0], time[-1])
    if run is not None:
        mark_parting(axes, run, QUIET)


def mark_parting(axes: "Axes", run: "Dataset", colour: str, whose: str = "") -> None:
    """A thin line where a run ceases to be good, or to be checked, if that is before its end.

    whose  the run, where there are several
    """
    if found := parting(run):
        label = f"{whose}: {found.words}" if whose else found.words
        axes.axvline(found.time, color=colour, linewidth=0.8, linestyle=(0, (6, 2, 1, 2)), label=label, gid=PARTING)


def legend(axes: "Axes", columns: int = 1) -> None:
    """The names of curves beside the panel, where they cover nothing."""
    handles, _ = axes.get_legend_handles_labels()
    if handles:
        axes.legend(loc="upper left", bbox_to_anchor=(1.005, 1.03), ncols=columns, borderaxespad=0.0)


def logarithmic(axes: "Axes", floor: float = 1e-18) -> None:
    """A logarithmic axis with whole decades at its ends; left as it is where nothing is above zero."""
    drawn = [np.asarray(line.get_ydata(), dtype=float) for line in axes.lines if line.get_gid() != PARTING]
    all_of = np.concatenate(drawn) if drawn else np.zeros(0)
    positive = all_of[np.isfinite(all_of) & (all_of > floor)]
    if len(positive):
        axes.set_yscale("log")
        low, high = np.floor(np.log10(positive.min())), np.ceil(np.log10(positive.max()))
        axes.set_ylim(10.0**low, 10.0 ** max(high, low + 1))


def not_narrower(axes: "Axes", part: float = 1e-3) -> None:
    """Let a constant look like one: the axis spans at least this part of the largest value."""
    low, high = axes.get_ylim()
    least = part * max(abs(low), abs(high))
    if high - low < least:
        axes.set_ylim((low + high - least) / 2, (low + high + least) / 2)


def escaped(text: Any) -> str:
    """A text from a model, with nothing that a legend would take for mathematics or hide."""
    plain = str(text).replace("$", r"\$")
    return f" {plain}" if plain.startswith("_") else plain


def bands(axes: Iterable["Axes"], time: np.ndarray, inside: np.ndarray, colour: str) -> list[tuple[float, float]]:
    """Shade the stretches of time in which something holds, and return them: (start, end) each, s."""
    edges = np.diff(np.concatenate([[0], np.asarray(inside, dtype=int), [0]]))
    middle = (time[1:] + time[:-1]) / 2
    grid = np.concatenate([[time[0]], middle, [time[-1]]])
    found = [
        (float(grid[a]), float(grid[b])) for a, b in zip(*(np.flatnonzero(edges == s) for s in (1, -1)), strict=True)
    ]
    for panel in axes:
        for start, end in found:
            panel.axvspan(start, end, color=colour, alpha=0.22, linewidth=0, zorder=0.5)
    return found


def title(figure_or_axes: Any, text: str) -> None:
    """The title of a panel, at its left."""
    figure_or_axes.set_title(escaped(text), loc="left")


def headed(figure: "Figure", run: Any, text: str) -> "Figure":
    """A figure with its title: what, and of which model."""
    name = str(run.attrs.get("model_name") or "")
    figure.suptitle(escaped(f"{text}: {name}" if name else text), x=0.01, ha="left", fontsize=10.5)
    return figure
