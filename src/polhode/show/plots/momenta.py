"""Linear and angular momentum of a run over time."""

from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.show.figure import COLOURS, new_figure, styled
from polhode.show.plots.axes import HIGH, INK, WIDE, draw_curves, headed, legend, over_time
from polhode.show.plots.run_source import Run, instants, opened, variable

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@styled
def momenta(run: Run, model: Any = None) -> "Figure":
    """Linear momentum, and angular momentum about the world's origin, in world axes over time.

    model  of the run: checked to be its own; it need not be given here
    """
    run = opened(run, model)
    kind = "momenta"
    parts = [
        ("linear", "p", "kg m/s", variable(kind, run, "linear_momentum")),
        ("angular", "L", "kg m²/s", variable(kind, run, "angular_momentum")),
    ]
    parts = [part for part in parts if np.any(part[3])] or parts[1:]
    time = instants(kind, run)
    figure, grid = new_figure(WIDE + 1.0, HIGH * len(parts) + 0.4, nrows=len(parts), sharex=True, squeeze=False)
    for axes, (name, symbol, unit, array) in zip(grid[:, 0], parts, strict=True):
        drawn = [(f"${symbol}_{x}$", array[:, k], {"color": COLOURS[k]}) for k, x in enumerate("xyz")]
        size = {"color": INK, "linestyle": "--", "linewidth": 1.0}
        draw_curves(axes, time, [*drawn, (f"$|{symbol}|$", np.linalg.norm(array, axis=1), size)])
        over_time(axes, run, time, f"{name} momentum", unit, last=axes is grid[-1, 0])
        legend(axes)
    return headed(figure, run, "Momenta, world axes")
