"""Two or more runs side by side: a variable of each, and how far they are from the first."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.errors import InputError, message
from polhode.quaternion import angle_between
from polhode.show.figure import new_figure, styled
from polhode.show.plots.axes import (
    DASHES,
    HIGH,
    WIDE,
    draw_curves,
    escaped,
    legend,
    logarithmic,
    look,
    mark_parting,
    over_time,
)
from polhode.show.plots.run_source import Unfit, chosen, instants, opened, variable, where_of
from polhode.show.run_values import labels, times

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset

PANELS = 6
COMMON = 1e-9
"""Instants closer than this part of the duration are the same."""


@styled
def compare(
    runs: Mapping[str, Any] | Sequence[Any], variables: str = "q", names: Sequence[str] | str | None = None
) -> "Figure":
    """One variable of two or more runs over time, and the distance of each from the first, logarithmic.

    runs      by name, or in order: then named by method and tolerance or step
    variables the variable: "q", "v", "total_energy", "position", "quaternion", …
    names     of entries along its last dimension; the first six where none are given
    """
    found = named(runs)
    first = next(iter(found.values()))
    columns = _columns(first, variables, names)
    shown = columns[:PANELS]
    apart = differences(found, variables, [place for _, place, _ in columns])
    rows = len(shown) + 1
    figure, grid = new_figure(
        WIDE + 1.5, 0.5 + (1.45 * len(shown)) + HIGH * 0.9, nrows=rows, sharex=True, squeeze=False
    )
    time = instants("compare", first)
    for axes, (name, place, unit) in zip(grid[:, 0], shown, strict=False):
        for k, (label, run) in enumerate(found.items()):
            y = variable("compare", run, variables).reshape(run.sizes["time"], -1)[:, place]
            how = {"color": look(k)["color"], "linestyle": DASHES[k % len(DASHES)], "linewidth": 2.2 if k == 0 else 1.5}
            draw_curves(axes, times(run), [(escaped(label), y, how)])
        over_time(axes, None, time, escaped(name), unit, last=False)
    for axes in grid[:, 0]:
        for k, (label, run) in enumerate(found.items()):
            mark_parting(axes, run, look(k)["color"], escaped(label))
    legend(grid[0, 0])
    low = grid[-1, 0]
    for k, (label, (instant, distance)) in enumerate(apart.items(), start=1):
        draw_curves(
            low, instant, [(escaped(label), np.where(distance > 0, distance, np.nan), {**look(k), "linewidth": 1.2})]
        )
    unit = "rad" if _is_attitude(variables) else ", ".join(dict.fromkeys(unit for *_, unit in columns))
    over_time(low, None, time, "distance from the first", unit)
    logarithmic(low)
    figure.suptitle(
        escaped(f"{variables} of {len(found)} runs: {first.attrs.get('model_name', '')}"),
        x=0.01,
        ha="left",
        fontsize=10.5,
    )
    return figure


def _is_attitude(name: str) -> bool:
    return name == "quaternion"


def named(runs: Mapping[str, Any] | Sequence[Any]) -> "dict[str, Dataset]":
    """Runs by name, each name once."""
    if isinstance(runs, Mapping):
        found = {str(name): opened(run) for name, run in runs.items()}
    elif isinstance(runs, (list, tuple)):
        found = {}
        for run in map(opened, runs):
            attrs = run.attrs
            detail = f"tolerance {float(attrs['tolerance']):g}" if attrs.get("tolerance") else ""
            detail = detail or (f"h = {float(attrs['step']):g} s" if attrs.get("step") else "")
            base = ", ".join(part for part in (str(attrs.get("form") or attrs.get("method") or "run"), detail) if part)
            twice = sum(name == base or name.startswith(f"{base} (") for name in found)
            found[f"{base} ({twice + 1})" if twice else base] = run
    else:
        raise InputError(
            message("plot compare, argument runs", "not runs", type(runs).__name__, "a list or a dict of runs")
        )
    if len(found) < 2:
        raise InputError(
            message("plot compare, argument runs", "nothing to compare", f"{len(found)} runs", "two or more")
        )
    return found


def _columns(run: "Dataset", name: str, names: Sequence[str] | str | None) -> list[tuple[str, int, str]]:
    """Name, place and unit of the entries of a variable."""
    array = variable("compare", run, name)
    dims = [str(dim) for dim in run[name].dims if dim != "time"]
    if not dims:
        return [(name.replace("_", " "), 0, str(run[name].attrs.get("units", "")))]
    parts = [labels(run, dim) for dim in dims]
    all_names = [".".join(entry) for entry in product(*parts)]
    each = run.coords.get({"q": "coordinate_units", "v": "dof_units", "tau": "force_units"}.get(name, ""))
    unit = str(run[name].attrs.get("units", ""))
    units = [str(x) for x in each.values] if each is not None else [unit] * len(all_names)
    if names is None:
        places = list(range(array.reshape(len(array), -1).shape[1]))
    elif len(dims) == 1:
        places = chosen("compare", run, dims[0], names)
    else:
        wanted = [names] if isinstance(names, str) else list(names)
        unknown = [x for x in wanted if x not in all_names]
        if unknown:
            raise InputError(
                message(where_of("compare", run), "no such entry", repr(unknown[0]), ", ".join(all_names[:12]))
            )
        places = [all_names.index(x) for x in wanted]
    return [(all_names[k], k, units[k]) for k in places]


def differences(
    runs: "Mapping[str, Dataset]", name: str, places: Sequence[int]
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Of each run but the first: common instants, and the largest difference of these entries from the first.

    Attitudes differ by the angle between them: p and −p are one. Where the samples of two runs have fewer than two
    instants in common, the other run is interpolated by cubics.
    """
    (_, first), *others = runs.items()
    t0, y0 = times(first), variable("compare", first, name)
    found = {}
    for label, run in others:
        t, y = times(run), variable("compare", run, name)
        if y.shape[1:] != y0.shape[1:]:
            raise Unfit(message(where_of("compare", run), "not the same machine", str(y.shape[1:]), str(y0.shape[1:])))
        instant, a, b = _common(t0, y0, t, y)
        if _is_attitude(name):
            unit = [z / np.linalg.norm(z, axis=-1, keepdims=True) for z in (a, b)]
            found[label] = instant, np.asarray(angle_between(*unit)).reshape(len(instant), -1).max(axis=1)
        else:
            apart = abs(a - b).reshape(len(instant), -1)[:, list(places)]
            found[label] = instant, apart.max(axis=1)
    return found


def _common(t0: np.ndarray, y0: np.ndarray, t: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Instants in common and the values of both there."""
    near = np.clip(np.searchsorted(t, t0), 1, len(t) - 1)
    near = np.where(abs(t[near - 1] - t0) < abs(t[near] - t0), near - 1, near)
    same = abs(t[near] - t0) <= COMMON * max(t0[-1] - t0[0], 1e-300)
    if same.sum() >= 2:
        return t0[same], y0[same], y[near[same]]
    from scipy.interpolate import CubicSpline

    inside = (t0 >= t[0]) & (t0 <= t[-1])
    step = np.concatenate([[True], np.diff(t) > 0])
    return t0[inside], y0[inside], CubicSpline(t[step], y[step])(t0[inside])
