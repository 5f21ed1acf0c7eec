"""Coordinates, velocities and generalised forces of the joints over time."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.errors import message
from polhode.show.figure import new_figure, styled
from polhode.show.plots.axes import draw_curves, escaped, headed, legend, look, over_time
from polhode.show.plots.run_source import Run, Unfit, chosen, instants, opened, variable, where_of
from polhode.show.run_values import labels, values

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset

TOGETHER, ROWS = 6, 8
"""Curves in a panel, rows of panels in a figure."""
WHAT = {
    "rad": ("angle", "rad"), "rad/s": ("rate", "rad/s"), "N m": ("torque", "N m"), "m": ("position", "m"),
    "m/s": ("speed", "m/s"), "N": ("force", "N"), "1": ("quaternion", "1"),
}  # fmt: skip
"""What a unit measures in q, v and tau."""
Column = tuple[str, str, np.ndarray]


@styled
def joints(run: Run, names: Sequence[str] | str | None = None, model: Any = None) -> "Figure":
    """Coordinates, velocities and, where inputs act, generalised forces of the joints over time.

    names  of joints; all where none are given, as far as they fit on a page
    model  of the run: checked to be its own; it need not be given here
    """
    run = opened(run, model)
    time, rows = instants("joints", run), _rows(run, names)
    sides = list(dict.fromkeys(side for row in rows for side in row))
    shown = rows[:ROWS]
    size = (1.6 + 3.9 * len(sides), 0.5 + 2.0 * len(shown))
    figure, grid = new_figure(*size, nrows=len(shown), ncols=len(sides), sharex=True, squeeze=False)
    for r, row in enumerate(shown):
        for c, side in enumerate(sides):
            axes, columns = grid[r, c], row.get(side, [])
            draw_curves(axes, time, [(escaped(name), y, look(k)) for k, (name, _, y) in enumerate(columns)])
            over_time(axes, run, time, *_axis({unit for _, unit, _ in columns}), last=r == len(shown) - 1)
            if not columns:
                axes.axis("off")
            elif c == len(sides) - 1 or (side == "q" and not _same_names(columns, row.get(sides[-1], []))):
                legend(axes)
    figure = headed(figure, run, "Joints")
    if len(rows) > len(shown):
        figure.supxlabel(f"the first {len(shown)} of {len(rows)} groups of coordinates: choose with names", fontsize=8)
    return figure


def _same_names(columns: list[Column], others: list[Column]) -> bool:
    """Whether the curves of two panels have the same names, so that one legend does for both."""
    return [name for name, *_ in columns] == [name for name, *_ in others]


def _axis(units: set[str]) -> tuple[str, str]:
    kinds = [WHAT.get(unit, ("value", unit)) for unit in sorted(units)]
    return " or ".join(dict.fromkeys(x[0] for x in kinds)), ", ".join(dict.fromkeys(x[1] for x in kinds))


def columns_of(run: "Dataset", side: str, units: str, names: Sequence[str] | None) -> list[Column]:
    """Name, unit and values of the entries of q, v or tau that belong to these joints."""
    array, dim = values(run, side), "coordinate" if side == "q" else "dof"
    if array is None:
        return []
    known, unit = labels(run, dim), [str(x) for x in run.coords[units].values] if units in run.coords else []
    unit = unit or [str(run[side].attrs.get("units", ""))] * len(known)
    return [
        (name, unit[k], array[:, k])
        for k, name in enumerate(known)
        if names is None or name.split(".")[0] in names or name in names
    ]


def _rows(run: "Dataset", names: Sequence[str] | str | None) -> list[dict[str, list[Column]]]:
    """Groups of coordinates that share panels: a joint of several alone, of others a few of one unit together."""
    wanted = [names] if isinstance(names, str) else names
    if wanted is not None:
        known = {
            part for dim in ("coordinate", "dof") for name in labels(run, dim) for part in (name, name.split(".")[0])
        }
        for name in wanted:
            if name not in known:
                chosen("joints", run, "coordinate", [name])
    variable("joints", run, "q")
    sides = {"q": "coordinate_units", "v": "dof_units", "tau": "force_units"}
    found = {side: columns_of(run, side, units, wanted) for side, units in sides.items()}
    if not any(np.any(y) for _, _, y in found["tau"]):
        del found["tau"]
    groups: list[list[str]] = []
    kinds: dict[tuple[str, str], int] = {}
    joint_units = {name: unit for name, unit, _ in found["q"]}
    for name, unit in joint_units.items():
        joint = name.split(".")[0]
        kind = (joint if joint != name else "", unit)
        if kind not in kinds or (kind[0] == "" and len(groups[kinds[kind]]) >= TOGETHER):
            kinds[kind] = len(groups)
            groups.append([])
        groups[kinds[kind]].append(name)
    if not groups:
        raise Unfit(message(where_of("joints", run), "no coordinates", "none", "a joint that moves"))
    rows = [{side: _matching(columns, group, side, joint_units) for side, columns in found.items()} for group in groups]
    moving = [row for row in rows if any(np.any(y) for columns in row.values() for *_, y in columns)]
    return moving or rows  # a free body that never leaves the origin has no positions to show


def _matching(columns: list[Column], group: list[str], side: str, joint_units: dict[str, str]) -> list[Column]:
    """The columns of a side that belong to a group of coordinates."""
    if side == "q":
        return [column for column in columns if column[0] in group]
    joint, turning = group[0].split(".")[0], joint_units[group[0]] != "m"
    if joint == group[0]:
        return [column for column in columns if column[0] in group]
    own = [column for column in columns if column[0].split(".")[0] == joint and "." in column[0]]
    return [column for column in own if (column[1] in ("rad/s", "N m")) == turning]
