"""Reaction forces and torques of constraints and joints over time."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import polhode  # its lazy table: most plots need no compiler
from polhode.dynamics.constraints import in_row_order
from polhode.errors import message
from polhode.show.figure import new_figure, styled
from polhode.show.plots.axes import HIGH, WIDE, draw_curves, escaped, headed, legend, look, over_time
from polhode.show.plots.run_source import Run, Unfit, instants, model_of, opened, variable, where_of
from polhode.show.run_values import labels, values

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset

ROWS = 8
"""Rows of panels in a figure."""
NOTHING = 1e-9
"""A force or torque below this part of the largest is none: it has no panel."""
Row = tuple[str, str, np.ndarray]


@styled
def reactions(
    run: Run, model: Any = None, names: Sequence[str] | str | None = None, joints: bool | None = None
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
        over_time(axes, run, time, f"{what}, {escaped(name)}", unit, last=axes is grid[-1, 0])
        legend(axes)
    if len(panels) > len(shown):
        figure.supxlabel(f"the first {len(shown)} of {len(panels)} panels: choose with names", fontsize=8)
    return headed(figure, run, "Reactions")


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
    constrained = system.conditions
    if constrained is None:
        return {}
    made = system.constraint_reactions(*state, t=instants("reactions", run))
    units = ["N" if kind == "length" else "N m" for c in in_row_order(constrained.conditions) for kind in c.scales]
    found = _rows_of(system.connection_names, np.asarray(made.force), np.asarray(made.torque))
    return found | _other_rows(system.constraint_names, units, np.asarray(made.multipliers), system.connection_names)


def _joint_rows(run: "Dataset", model: Any) -> dict[str, list[Row]]:
    system, state = _system(run, model)
    made = system.joint_reactions(*state, t=instants("reactions", run))
    kept = [k for k, joint in enumerate(system.model.joints) if not joint.kind.floats]
    if not kept:
        what = "nothing is carried"
        raise Unfit(message(where_of("reactions", run), what, "free bodies, no constraints", "joints or constraints"))
    names = [system.model.joints[k].name for k in kept]
    return _rows_of(names, np.asarray(made.force)[:, kept], np.asarray(made.torque)[:, kept])


def _system(run: "Dataset", model: Any) -> tuple[Any, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """The machine of a run, and its states and inputs."""
    q, v, tau = variable("reactions", run, "q"), variable("reactions", run, "v"), values(run, "tau")
    return polhode.compile(model_of("reactions", run, model)), (q, v, np.zeros_like(v) if tau is None else tau)


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
