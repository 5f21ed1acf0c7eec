"""Phase portraits of one-axis coordinates."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.errors import message
from polhode.show.figure import COLOURS, new_figure, styled
from polhode.show.packing import thinned
from polhode.show.plots.axes import MOST, drawable, escaped, headed
from polhode.show.plots.joints import columns_of
from polhode.show.plots.run_source import Run, Unfit, chosen, instants, opened, variable, where_of
from polhode.show.run_values import labels

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset

PORTRAITS = 9
"""Portraits in a figure."""


@styled
def phase(run: Run, names: Sequence[str] | str | None = None, model: Any = None) -> "Figure":
    """Phase portraits: the rate of each one-axis coordinate against the coordinate, start and way marked.

    names  of coordinates; the first nine where none are given
    model  of the run: checked to be its own; it need not be given here
    """
    run = opened(run, model)
    found = portraits(run, names)
    columns = min(3, len(found))
    rows = -(-len(found) // columns)
    figure, grid = new_figure(0.5 + 3.1 * columns, 0.5 + 2.7 * rows, nrows=rows, ncols=columns, squeeze=False)
    for axes, (name, q, v, unit) in zip(grid.flat, found, strict=False):
        q, v = drawable(q), drawable(v)
        shown = thinned([q, v], MOST)
        axes.plot(q[shown], v[shown], color=COLOURS[0], linewidth=1.1)
        axes.plot(q[:1], v[:1], "o", color=COLOURS[1], markersize=4.5, zorder=3)
        _way(axes, q, v)
        axes.set_xlabel(f"{escaped(name)} ({unit})")
        axes.set_ylabel(f"its rate ({unit}/s)")
    for axes in list(grid.flat)[len(found) :]:
        axes.axis("off")
    return headed(figure, run, "Phase portraits")


def portraits(
    run: "Dataset", names: Sequence[str] | str | None = None
) -> list[tuple[str, np.ndarray, np.ndarray, str]]:
    """Name, coordinate, rate and unit of each one-axis coordinate."""
    q, v = variable("phase", run, "q"), variable("phase", run, "v")
    dofs, units = labels(run, "dof"), {name: unit for name, unit, _ in columns_of(run, "q", "coordinate_units", None)}
    instants("phase", run)
    known = labels(run, "coordinate")
    places = chosen("phase", run, "coordinate", names)
    found = [(known[k], q[:, k], v[:, dofs.index(known[k])], units[known[k]]) for k in places if known[k] in dofs]
    if not found:
        what = "no coordinate of one axis"
        raise Unfit(message(where_of("phase", run), what, ", ".join(known), "a revolute, prismatic or screw joint"))
    return found[:PORTRAITS] if names is None else found


def _way(axes: Any, q: np.ndarray, v: np.ndarray) -> None:
    """An arrowhead on the curve, at the first third of its way."""
    if not (np.isfinite(q) & np.isfinite(v)).any():
        return
    scale = np.array([(np.nanmax(x) - np.nanmin(x)) or 1.0 for x in (q, v)])
    steps = np.linalg.norm(np.diff(np.column_stack([q, v]), axis=0) / scale, axis=1)
    way = np.concatenate([[0.0], np.cumsum(np.nan_to_num(steps))])
    if not way[-1] > 0:
        return
    a = int(np.searchsorted(way, min(way[-1] / 3, 0.6)))
    b = int(np.searchsorted(way, way[a] + 0.02))
    if a < b < len(q):
        how = {"arrowstyle": "-|>", "color": COLOURS[0], "shrinkA": 0, "shrinkB": 0, "mutation_scale": 11}
        axes.annotate("", (q[b], v[b]), (q[a], v[a]), arrowprops=how)
