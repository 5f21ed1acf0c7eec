"""A Campbell diagram: frequencies of a rotating machine against its speed, and the multiples of the speed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from polhode.analysis.campbell import Campbell
from polhode.errors import InputError, message
from polhode.scalar import shown
from polhode.show.figure import COLOURS, new_figure, styled
from polhode.show.plots.axes import INK, QUIET

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GROWS = 1e-6
"""Damping below minus this is drawn as growing: far above the rounding of eigenvalues."""


@styled
def campbell(found: Campbell, orders: Sequence[float] = (1, 2, 3, 4), title: str | None = None) -> "Figure":
    """Frequencies against the speed of the shaft, with the lines of so many oscillations a turn, and where they cross.

    found   what `ph.campbell` returns, of two or more speeds
    orders  oscillations a turn of the lines
    """
    if not isinstance(found, Campbell) or len(found.speeds) < 2:
        what = f"{len(found.speeds)} speed" if isinstance(found, Campbell) else shown(found)
        raise InputError(message("plot campbell", "nothing to draw", what, "a Campbell of two or more speeds"))
    x, w = found.speeds, found.frequencies
    top = 1.05 * float(np.nanmax(w, initial=0.0))
    figure, axes = new_figure(6.3, 3.9)
    for order in orders:
        axes.plot(x, order * x, color=QUIET, linewidth=0.8, zorder=1)
        end = float(x[-1]) if order * x[-1] <= top else top / order
        axes.text(end, order * end, f" {order:g}×", color=QUIET, fontsize=8, va="bottom", ha="right")
    for k, path in enumerate(w.T):
        axes.plot(x, path, color=COLOURS[k % len(COLOURS)], linewidth=1.6)
        growing = found.damping[:, k] < -GROWS
        if growing.any():
            axes.plot(x[growing], path[growing], "x", color=INK, markersize=5)
    for speed, order, _ in found.crossings(orders):
        axes.plot(speed, order * speed, "o", color=INK, markersize=3.5, zorder=3)
    axes.set(xlabel=f"speed of {found.shaft} (rad/s)", ylabel="frequency (rad/s)", xlim=(x[0], x[-1]), ylim=(0, top))
    figure.suptitle(title or f"Campbell diagram: {found.model}", x=0.01, ha="left", fontsize=10.5)
    return figure
