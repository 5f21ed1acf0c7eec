"""Many runs as fans: the quantiles of a variable over time."""

import json
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.errors import InputError, message
from polhode.scalar import shown as told
from polhode.show.figure import COLOURS, new_figure, styled
from polhode.show.plots.axes import HIGH, WIDE, drawable, escaped, headed, legend, over_time
from polhode.show.plots.run_source import chosen, instants, where_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset

PANELS = 6
LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
MOST_RUNS = 2000
"""Runs that quantiles are taken of, of more a random choice: the level of 5 % is then met to 0.5 % (one deviation)."""


@styled
def fan(runs: "Dataset", variables: str = "q", names: Sequence[str] | str | None = None) -> "Figure":
    """Quantiles of a variable of many runs over time: the median, and bands that hold 50 % and 90 % of the runs.

    runs       what `ph.sweep` returns
    variables  the variable, over run, time and perhaps one more dimension: "q", "v", or an output of the study
    names      of entries along its last dimension; the first six where none are given
    """
    time, entries = instants("fan", _checked(runs, variables)), _entries(runs, variables, names)
    count = runs.sizes["run"]
    some = runs[[variables]].isel(run=_some(count))
    panels = entries[:PANELS]
    size = (WIDE + 1.0, 0.4 + HIGH * 0.75 * len(panels))
    figure, grid = new_figure(*size, nrows=len(panels), sharex=True, squeeze=False)
    for axes, (name, place) in zip(grid[:, 0], panels, strict=True):
        low, under, middle, over, high = quantiles(some, variables, place)
        axes.fill_between(time, low, high, color=COLOURS[0], alpha=0.18, linewidth=0, label="5 % to 95 %")
        axes.fill_between(time, under, over, color=COLOURS[0], alpha=0.35, linewidth=0, label="25 % to 75 %")
        axes.plot(time, middle, color=COLOURS[0], label="median")
        over_time(axes, None, time, escaped(name), unit_of(runs, variables, place), name == panels[-1][0])
    legend(grid[0, 0])
    part = f"{some.sizes['run']:,} of {count:,}" if count > MOST_RUNS else f"{count:,}"
    return headed(figure, runs, f"{variables} of {part} runs")


def unit_of(runs: "Dataset", name: str, place: int | None) -> str:
    """The unit of an entry of a variable of a study; "" where it tells none."""
    known = json.loads(str(runs.attrs.get("units") or "{}")).get(name) or runs[name].attrs.get("units", "")
    return str(known if isinstance(known, str) or place is None else known[place])


def _some(count: int) -> np.ndarray:
    """Places of at most MOST_RUNS runs, the same each time; not every k-th, which a grid of samples would bias."""
    return np.sort(np.random.default_rng(0).permutation(count)[:MOST_RUNS])


def quantiles(runs: "Dataset", name: str, place: int | None) -> np.ndarray:
    """The LEVELS of an entry of a variable over time, (5, time); NaN, of runs that ended before, is left out."""
    array = runs[name].transpose("run", "time", ...)
    values = drawable(np.asarray(array.values if place is None else array.isel({array.dims[2]: place}).values, float))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # an instant that no run reached: a gap
        return np.asarray(np.nanquantile(values, LEVELS, axis=0))


def _checked(runs: Any, name: str) -> "Dataset":
    """The Dataset of a study that holds this variable over time, or an error."""
    fix = "One run is drawn by ph.plot.joints, ph.plot.energies, …"
    if "run" not in getattr(runs, "dims", ()) or not hasattr(runs, "data_vars"):
        found = f"a Dataset over {', '.join(map(str, runs.dims))}" if hasattr(runs, "data_vars") else told(runs)
        raise InputError(message("plot fan, argument runs", "not many runs", found, "what ph.sweep returns", fix))
    if not runs.sizes["run"]:
        raise InputError(message(where_of("fan", runs), "nothing to draw", "0 runs", "one or more"))
    known = [str(key) for key, x in runs.data_vars.items() if {"run", "time"} <= {*x.dims} and x.ndim <= 3]
    if name not in known:
        expected = f"one over run and time: {', '.join(known) or 'none is there'}"
        raise InputError(message(where_of("fan", runs), "no such variable", told(name), expected))
    return runs


def _entries(runs: "Dataset", name: str, names: Sequence[str] | str | None) -> list[tuple[str, int | None]]:
    """Names and places of the entries of a variable; place None where it is one number."""
    dims = [str(dim) for dim in runs[name].dims if dim not in ("run", "time")]
    if not dims:
        return [(name, None)]
    places, labels = chosen("fan", runs, dims[0], names), [str(x) for x in runs[dims[0]].values]
    if not places:
        raise InputError(message(where_of("fan", runs), "nothing to draw", f"no {dims[0]}", "one or more"))
    return [(labels[k], k) for k in places]
