"""Drift: how far a run is estimated to be wrong, and departs from what it should conserve."""

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.errors import message
from polhode.result.symmetry import Conserved, conserved
from polhode.show.figure import new_figure, styled
from polhode.show.page import curves
from polhode.show.plots.axes import (
    FAINT,
    HIGH,
    INK,
    QUIET,
    WIDE,
    draw_curves,
    headed,
    legend,
    logarithmic,
    look,
    over_time,
)
from polhode.show.plots.run_source import Run, Unfit, instants, model_or_none, opened, where_of
from polhode.show.run_values import error_threshold, labels, values

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ZERO = 1e-17
"""Below this a drift is none: it is not drawn."""


@styled
def drift(run: Run, model: Any = None) -> "Figure":
    """The estimated error of a run and the drift of what it should conserve, on a logarithmic axis.

    The error in parts of 1 + the largest value so far, with the threshold up to which a run is good; energy and the
    conserved momenta in parts of their scales; quaternions' length; residuals of constraints.

    model  the run's model, if the run does not hold it: it tells which momenta should stay
    """
    run = opened(run)
    time = instants("drift", run)
    error = values(run, "error_estimate")
    known = [*([] if error is None else [("error of the motion, estimated", error)]), *drifts(run, model)]
    strays = [(name, y) for name, y in known if np.any(y[np.isfinite(y)] > ZERO)]
    if not strays:
        found = "none of energy, momenta, quaternions and constraints strays, or is known to stay"
        raise Unfit(message(where_of("drift", run), "nothing that strays", found, "something that should stay"))
    figure, axes = new_figure(WIDE + 1.9, HIGH + 0.6)
    for k, (name, y) in enumerate(strays):
        strayed = np.where(y > ZERO, y, np.nan)
        draw_curves(axes, time, [("_at each sample", strayed, {**look(k), "linewidth": 0.6, "alpha": 0.4})])
        draw_curves(axes, time, [(name, np.fmax.accumulate(strayed), {**look(k), "linewidth": 1.5})])
    if run.attrs.get("tolerance"):
        how = {"color": QUIET, "linewidth": 0.9, "linestyle": ":"}
        axes.axhline(float(run.attrs["tolerance"]), label="tolerance of a step", **how)
    if error is not None:
        _mark_error(axes, run, time, error)
    over_time(axes, run, time, "drift", "relative, m, rad" if residuals(run) else "relative")
    logarithmic(axes)
    legend(axes)
    return headed(figure, run, "Error and drift (bold: the largest so far)")


def _mark_error(axes: "Axes", run: Any, time: np.ndarray, error: np.ndarray) -> None:
    """The threshold of the estimated error as a line, and the part of the run without an estimate in grey."""
    if (threshold := error_threshold(run)) is not None:
        axes.axhline(threshold, label=f"good up to {threshold:.2g}", color=INK, linewidth=0.9, linestyle="--")
    if np.isnan(error[-1]):
        last = time[np.flatnonzero(~np.isnan(error))[-1]] if not np.all(np.isnan(error)) else time[0]
        axes.axvspan(last, time[-1], color=FAINT, alpha=0.3, linewidth=0, zorder=0.5, label="error not estimated")


def drifts(run: Any, model: Any = None) -> list[tuple[str, np.ndarray]]:
    """Magnitudes of all that should stay zero, by name: each (time,)."""
    known = model_or_none(run, model)
    kept = conserved(known, curves.driven(run, known)) if known else Conserved(energy=_energy_graded(run))
    plots = [*curves.energies(run, kept), *curves.momenta(run, kept)]
    found = [(curve.name, curve.values) for plot in plots if plot.log for curve in plot.curves]
    norm = values(run, "norm_error")
    found += [("‖p‖ − 1 of quaternions", abs(norm))] if norm is not None and np.any(norm) else []
    return found + residuals(run)


def residuals(run: Any) -> list[tuple[str, np.ndarray]]:
    """Constraint violations (time,): the largest row of positions, and of rates."""
    found = []
    for name, text in (("constraint_residual", "constraints, positions"), ("constraint_rate", "constraints, rates")):
        array = values(run, name)
        if array is not None and labels(run, "constraint"):
            found.append((text, np.nanmax(abs(np.nan_to_num(array)), axis=1)))
    return found


def _energy_graded(run: Any) -> bool:
    """Whether the run was graded by its energy: then it should stay."""
    try:
        checks = json.loads(str(run.attrs.get("grade") or "[]"))
    except ValueError:
        return False
    return any(isinstance(check, dict) and check.get("name") == "energy drift" for check in checks)
