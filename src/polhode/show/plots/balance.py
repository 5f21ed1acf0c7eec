"""The balance of energy of a run: what was stored, and who did which work."""

from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.errors import message
from polhode.show.figure import new_figure, styled
from polhode.show.plots.axes import HIGH, INK, QUIET, WIDE, draw_curves, headed, legend, look, not_narrower, over_time
from polhode.show.plots.run_source import Run, Unfit, instants, opened, variable, where_of
from polhode.show.run_values import labels, values

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@styled
def balance(run: Run, model: Any = None) -> "Figure":
    """Where energy went: the energy stored in a machine over time, the work of each source, and what these leave over.

    Work is done on the machine where it is positive; dampers and friction take energy out.
    model  of the run: checked to be its own; it need not be given here
    """
    run = opened(run, model)
    kind = "balance"
    work = values(run, "work_by_source")
    if work is None or work.ndim != 2 or not work.shape[1]:
        found = "no work is recorded: the energy stays, or the run was not verified"
        raise Unfit(message(where_of(kind, run), "nothing that does work", found, "dampers, inputs or other forces"))
    time, E = instants(kind, run), variable(kind, run, "total_energy")
    stored, rest = E - E[0], E - E[0] - np.sum(work, axis=1)
    drawn: list[tuple[str, np.ndarray, dict[str, Any]]] = [("stored energy", stored, {"color": INK, "linewidth": 1.8})]
    drawn += [(f"work of {name}", work[:, k], look(k)) for k, name in enumerate(labels(run, "work_source"))]
    largest = float(np.max(abs(rest[np.isfinite(rest)]), initial=0.0))
    drawn.append((f"left over, at most {largest:.2g} J", rest, {"color": QUIET, "linestyle": ":"}))
    figure, axes = new_figure(WIDE + 1.4, HIGH + 0.4)
    draw_curves(axes, time, drawn)
    over_time(axes, run, time, "since the start", "J")
    not_narrower(axes)
    legend(axes)
    return headed(figure, run, "Where energy went")
