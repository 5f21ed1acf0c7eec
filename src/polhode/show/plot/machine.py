"""Joint curves, phase portraits, reaction forces, and the multiplier of a form against its prediction."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.errors import message
from polhode.show.figure import COLOURS, new_figure, styled
from polhode.show.packing import thinned
from polhode.show.plot.paper import (
    HIGH,
    INK,
    MOST,
    WIDE,
    draw_curves,
    drawable,
    escaped,
    headed,
    legend,
    logarithmic,
    look,
    not_narrower,
    over_time,
    title,
)  # fmt: skip
from polhode.show.plot.source import Unfit, chosen, instants, model_of, opened, variable, where_of
from polhode.show.run_values import labels, values

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset

    from polhode.show.plot.source import Run

TOGETHER, ROWS, PORTRAITS = 6, 8, 9
"""Curves in a panel, rows of panels, portraits in a figure."""
NOTHING = 1e-9
"""A force or torque below this part of the largest is none: it has no panel."""
WHAT = {
    "rad": ("angle", "rad"), "rad/s": ("rate", "rad/s"), "N m": ("torque", "N m"), "m": ("position", "m"),
    "m/s": ("speed", "m/s"), "N": ("force", "N"), "1": ("quaternion", "1"),
}  # fmt: skip
"""What a unit measures in q, v and tau."""


@styled
def joints(run: "Run", names: Sequence[str] | str | None = None) -> "Figure":
    """Coordinates, velocities and, where inputs act, generalised forces of the joints over time.

    names  of joints; all where none are given, as far as they fit on a page
    """
    run = opened(run)
    time, rows = instants("joints", run), _rows(run, names)
    sides = list(dict.fromkeys(side for row in rows for side in row))
    shown = rows[:ROWS]
    size = (0.4 + 3.9 * len(sides), 0.5 + 2.0 * len(shown))
    figure, grid = new_figure(*size, nrows=len(shown), ncols=len(sides), sharex=True, squeeze=False)
    for r, row in enumerate(shown):
        for c, side in enumerate(sides):
            axes, columns = grid[r, c], row.get(side, [])
            draw_curves(axes, time, [(escaped(name), y, look(k)) for k, (name, _, y) in enumerate(columns)])
            over_time(axes, time, *_axis({unit for _, unit, _ in columns}), last=r == len(shown) - 1)
            if not columns:
                axes.axis("off")
            elif c == len(sides) - 1 or side == "q":
                axes.legend(fontsize=7, loc="best", handlelength=1.4, frameon=True, framealpha=0.8, edgecolor="none")
    figure = headed(figure, run, "Joints")
    if len(rows) > len(shown):
        figure.supxlabel(f"the first {len(shown)} of {len(rows)} groups of coordinates: choose with names", fontsize=8)
    return figure


def _axis(units: set[str]) -> tuple[str, str]:
    kinds = [WHAT.get(unit, ("value", unit)) for unit in sorted(units)]
    return " or ".join(dict.fromkeys(x[0] for x in kinds)), ", ".join(dict.fromkeys(x[1] for x in kinds))


Column = tuple[str, str, np.ndarray]


def _columns(run: "Dataset", side: str, units: str, names: Sequence[str] | None) -> list[Column]:
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
    found = {side: _columns(run, side, units, wanted) for side, units in sides.items()}
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


@styled
def phase(run: "Run", names: Sequence[str] | str | None = None) -> "Figure":
    """Phase portraits: the rate of each one-axis coordinate against the coordinate, start and way marked.

    names  of coordinates; the first nine where none are given
    """
    run = opened(run)
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
    dofs, units = labels(run, "dof"), {name: unit for name, unit, _ in _columns(run, "q", "coordinate_units", None)}
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


@styled
def reactions(
    run: "Run", model: Any = None, names: Sequence[str] | str | None = None, joints: bool | None = None
) -> "Figure":
    """Forces and torques over time: of the constraints, and of the joints of the tree.

    Of a constraint between two bodies on its body b, in the axes of its frame on body a; of a joint on its child, its
    drive included, in the axes of the joint's frame; of other constraints the multipliers of their rows.

    model   the run's model, where the run does not hold what is needed
    names   of constraints and joints; all where none are given
    joints  whether to draw what joints carry; None: of machines without constraints
    """
    run = opened(run)
    time = instants("reactions", run)
    wanted = [names] if isinstance(names, str) else names
    groups = reaction_curves(run, model, bool(wanted) if joints is None and wanted else joints)
    for name in wanted or ():
        if name not in groups:
            what, known = "no constraint or joint of this name", ", ".join(groups)
            raise Unfit(message(where_of("reactions", run), what, repr(name), known))
    groups = {name: rows for name, rows in groups.items() if wanted is None or name in wanted}
    largest = max((float(np.nanmax(abs(y), initial=0.0)) for rows in groups.values() for *_, y in rows), default=0.0)
    panels = [
        (name, unit)
        for name, rows in groups.items()
        for unit in dict.fromkeys(row[1] for row in rows)
        if any(np.nanmax(abs(y), initial=0.0) > NOTHING * largest for _, u, y in rows if u == unit)
    ]
    if not panels:
        raise Unfit(message(where_of("reactions", run), "nothing is carried", "zero forces", "forces"))
    shown = panels[:ROWS]
    height = max(0.4 + 1.9 * len(shown), HIGH + 0.4)
    figure, grid = new_figure(WIDE + 0.6, height, nrows=len(shown), sharex=True, squeeze=False)
    for axes, (name, unit) in zip(grid[:, 0], shown, strict=True):
        drawn = [(row, y) for row, u, y in groups[name] if u == unit]
        draw_curves(axes, time, [(row, y, look(k)) for k, (row, y) in enumerate(drawn)])
        what = {"N": "force", "N m": "torque"}.get(unit, "multiplier")
        over_time(axes, time, f"{what}, {escaped(name)}", unit, last=axes is grid[-1, 0])
        legend(axes)
    if len(panels) > len(shown):
        figure.supxlabel(f"the first {len(shown)} of {len(panels)} panels: choose with names", fontsize=8)
    return headed(figure, run, "Reactions")


Row = tuple[str, str, np.ndarray]


def reaction_curves(run: "Dataset", model: Any = None, joints: bool | None = None) -> dict[str, list[Row]]:
    """By constraint and joint: name, unit and values (time,) of each component."""
    found = _constraint_rows(run, model)
    if joints or (joints is None and not found):
        found |= _joint_rows(run, model)
    return found


def _constraint_rows(run: "Dataset", model: Any) -> dict[str, list[Row]]:
    """From the run where it holds them, else from its states by its model."""
    force, torque, lam = (values(run, name) for name in ("reaction_force", "reaction_torque", "multiplier"))
    if force is not None and torque is not None and lam is not None:
        units = [str(x) for x in run.coords["multiplier_units"].values]
        return _rows_of(labels(run, "connection"), force, torque) | _other_rows(
            labels(run, "constraint"), units, lam, labels(run, "connection")
        )
    system, state = _system(run, model)
    bound = system.conditions
    if bound is None:
        return {}
    from polhode.constrain.row_scales import ordered

    made = system.constraint_reactions(*state, t=instants("reactions", run))
    units = ["N" if kind == "length" else "N m" for c in ordered(bound.conditions) for kind in c.scales]
    found = _rows_of(system.connection_names, np.asarray(made.force), np.asarray(made.torque))
    return found | _other_rows(system.constraint_names, units, np.asarray(made.multipliers), system.connection_names)


def _joint_rows(run: "Dataset", model: Any) -> dict[str, list[Row]]:
    system, state = _system(run, model)
    made = system.joint_reactions(*state, t=instants("reactions", run))
    kept = [k for k, joint in enumerate(system.model.joints) if joint.type != "free"]
    if not kept:
        what = "nothing is carried"
        raise Unfit(message(where_of("reactions", run), what, "free bodies, no constraints", "joints or constraints"))
    names = [system.model.joints[k].name for k in kept]
    return _rows_of(names, np.asarray(made.force)[:, kept], np.asarray(made.torque)[:, kept])


def _system(run: "Dataset", model: Any) -> tuple[Any, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """The machine of a run, and its states and inputs."""
    from polhode.system.system import compile as compiled

    q, v, tau = variable("reactions", run, "q"), variable("reactions", run, "v"), values(run, "tau")
    return compiled(model_of("reactions", run, model)), (q, v, np.zeros_like(v) if tau is None else tau)


def _rows_of(names: Sequence[str], force: np.ndarray, torque: np.ndarray) -> dict[str, list[Row]]:
    """Forces and torques (time, names, 3) by name."""
    return {
        name: [(f"${symbol}_{x}$", unit, array[:, k, i]) for symbol, unit, array in parts for i, x in enumerate("xyz")]
        for k, name in enumerate(names)
        for parts in [(("F", "N", force), ("T", "N m", torque))]
    }


def _other_rows(
    rows: Sequence[str], units: Sequence[str], lam: np.ndarray, known: Sequence[str]
) -> dict[str, list[Row]]:
    """The multipliers of constraints that are not between two bodies."""
    found: dict[str, list[Row]] = {}
    for k, row in enumerate(rows):
        name, _, part = row.rpartition(".")
        if (name or row) not in known:
            found.setdefault(name or row, []).append((escaped(part), units[k], lam[:, k]))
    return found


@styled
def multipliers(run: "Run") -> "Figure":
    """The multiplier of ‖p‖ = 1 over time against its prediction, and their difference: of runs by a form."""
    run = opened(run)
    fix = "Run one body by a form that has a multiplier: ph.simulate(model, form='sherif-29', …)."
    found = variable("multipliers", run, "multiplier", fix)
    predicted = variable("multipliers", run, "multiplier_predicted", fix)
    time = instants("multipliers", run)
    figure, (top, low) = new_figure(WIDE + 1.0, 2 * HIGH + 0.2, nrows=2, sharex=True, height_ratios=[1.25, 1])
    dashed = {"color": COLOURS[1], "linestyle": (0, (4, 3)), "linewidth": 1.6}
    draw_curves(top, time, [("λ", found, {"color": COLOURS[0], "linewidth": 2.2}), ("predicted", predicted, dashed)])
    over_time(top, time, "multiplier λ", "J", last=False)
    not_narrower(top)
    legend(top)
    apart = abs(found - predicted)
    draw_curves(low, time, [("|λ − predicted|", np.where(apart > 0, apart, np.nan), {"color": INK, "linewidth": 1.0})])
    over_time(low, time, "|λ − predicted|", "J")
    if np.any(apart > 0):
        logarithmic(low)
    else:
        title(low, "no difference at any sample")
    form = run.attrs.get("form") or "a form"
    return headed(figure, run, f"Multiplier of ‖p‖ = 1 by {form}")
