"""The unit quaternion of a body over time, with continuous signs."""

from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.show.figure import COLOURS, new_figure, styled
from polhode.show.plots.axes import HIGH, WIDE, draw_curves, headed, legend, over_time
from polhode.show.plots.run_source import Run, body_of, instants, opened, variable

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@styled
def quaternions(run: Run, body: str | None = None, model: Any = None) -> "Figure":
    """The four components of a body's unit quaternion over time, with continuous signs: p and −p are one attitude.

    model  of the run: checked to be its own; it need not be given here
    """
    run = opened(run, model)
    place, name = body_of("quaternions", run, body)
    time, p = instants("quaternions", run), variable("quaternions", run, "quaternion")[:, place]
    drawn = continuous(p)
    figure, axes = new_figure(WIDE + 0.6, HIGH + 0.4)
    colours = (COLOURS[6], *COLOURS[:3])
    curves = [(f"${x}$", drawn[:, k], {"color": colours[k]}) for k, x in enumerate(("p_w", "p_x", "p_y", "p_z"))]
    draw_curves(axes, time, curves)
    over_time(axes, run, time, "unit quaternion, body → world", "1")
    axes.set_ylim(-1.06, 1.06)
    legend(axes)
    return headed(figure, run, f"Attitude of '{name}'")


def continuous(p: np.ndarray) -> np.ndarray:
    """Unit quaternions (n, 4) with the signs for which each is nearest to the one before; the first as it is."""
    dots = np.sum(p[1:] * p[:-1], axis=1)
    signs = np.cumprod(np.concatenate([[1.0], np.where(dots < 0, -1.0, 1.0)]))
    return p * signs[:, None]
