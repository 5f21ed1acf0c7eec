"""Drift: how far a run departs from what it should conserve."""

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.errors import message
from polhode.result.symmetry import Conserved, conserved
from polhode.show.figure import new_figure, styled
from polhode.show.page import curves
from polhode.show.plots.axes import HIGH, QUIET, WIDE, draw_curves, headed, legend, logarithmic, look, over_time
from polhode.show.plots.run_source import Run, Unfit, instants, model_or_none, opened, where_of
from polhode.show.run_values import labels, values

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ZERO = 1e-17
"""Below this a drift is none: it is not drawn."""


@styled
def drift(run: Run, model: Any = None) -> "Figure":
    """The drift of what a run should conserve, on a logarithmic axis.

    Energy and the conserved momenta in parts of their scales, quaternions' length, residuals of constraints.

    model  the run's model, if the run does not hold it: it tells which momenta should stay
    """
    run = opened(run)
    time = instants("drift", run)
    strays = [(name, y) for name, y in drifts(run, model) if np.any(y[np.isfinite(y)] > ZERO)]
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
    over_time(axes, time, "drift", "relative, m, rad" if residuals(run) else "relative")
    logarithmic(axes)
    legend(axes)
    return headed(figure, run, "Drift (bold: the largest so far)")


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
