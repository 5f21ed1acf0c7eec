"""The multiplier of ‖p‖ = 1 against its prediction, of a run by a published form."""

from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.show.figure import COLOURS, new_figure, styled
from polhode.show.plots.axes import (
    HIGH,
    INK,
    WIDE,
    draw_curves,
    headed,
    legend,
    logarithmic,
    not_narrower,
    over_time,
    title,
)
from polhode.show.plots.run_source import Run, instants, opened, variable

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@styled
def multipliers(run: Run, model: Any = None) -> "Figure":
    """The multiplier of ‖p‖ = 1 over time against its prediction, and their difference: of runs by a form.

    model  of the run: checked to be its own; it need not be given here
    """
    run = opened(run, model)
    fix = "Run one body by a form that has a multiplier: ph.simulate(model, form='sherif-29', …)."
    found = variable("multipliers", run, "multiplier", fix)
    predicted = variable("multipliers", run, "multiplier_predicted", fix)
    time = instants("multipliers", run)
    figure, (top, low) = new_figure(WIDE + 1.0, 2 * HIGH + 0.2, nrows=2, sharex=True, height_ratios=[1.25, 1])
    dashed = {"color": COLOURS[1], "linestyle": (0, (4, 3)), "linewidth": 1.6}
    draw_curves(top, time, [("λ", found, {"color": COLOURS[0], "linewidth": 2.2}), ("predicted", predicted, dashed)])
    over_time(top, run, time, "multiplier λ", "J", last=False)
    not_narrower(top)
    legend(top)
    apart = abs(found - predicted)
    draw_curves(low, time, [("|λ − predicted|", np.where(apart > 0, apart, np.nan), {"color": INK, "linewidth": 1.0})])
    over_time(low, run, time, "|λ − predicted|", "J")
    if np.any(apart > 0):
        logarithmic(low)
    else:
        title(low, "no difference at any sample")
    form = run.attrs.get("form") or "a form"
    return headed(figure, run, f"Multiplier of ‖p‖ = 1 by {form}")
