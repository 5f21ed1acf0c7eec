"""Energies of a run over time."""

from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.show.figure import COLOURS, new_figure, styled
from polhode.show.plots.axes import HIGH, INK, WIDE, draw_curves, headed, legend, not_narrower, over_time
from polhode.show.plots.run_source import Run, instants, opened, variable
from polhode.show.run_values import values

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@styled
def energies(run: Run, model: Any = None) -> "Figure":
    """Kinetic, potential and total energy over time, and the work done on the machine where there is some.

    model  of the run: checked to be its own; it need not be given here
    """
    run = opened(run, model)
    kind = "energies"
    T, V = variable(kind, run, "kinetic_energy"), variable(kind, run, "potential_energy")
    time, work = instants(kind, run), values(run, "work")
    drawn: list[tuple[str, np.ndarray, dict[str, Any]]] = [("kinetic", T, {"color": COLOURS[0]})]
    if np.any(V):
        drawn += [("potential", V, {"color": COLOURS[1]}), ("total", T + V, {"color": INK, "linewidth": 1.8})]
    if work is not None and np.any(work):
        drawn.append(("work done on it", work, {"color": COLOURS[2], "linestyle": "--"}))
    figure, axes = new_figure(WIDE + 1.0, HIGH + 0.4)
    draw_curves(axes, time, drawn)
    over_time(axes, run, time, "energy", "J")
    not_narrower(axes)
    legend(axes)
    return headed(figure, run, "Energies")
