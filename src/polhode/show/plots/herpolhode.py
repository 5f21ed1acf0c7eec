"""The herpolhode: the path of the tip of ω in the invariable plane."""

from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.show.figure import new_figure, styled
from polhode.show.plots.axes import INK, QUIET, headed
from polhode.show.plots.rolling import SPACE, smooth, turning_body
from polhode.show.plots.run_source import Run, opened
from polhode.show.scene.turning import TurningBody, plane

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@styled
def herpolhode(run: Run, model: Any = None) -> "Figure":
    """The path of the tip of ω in the invariable plane, between the two circles it touches, seen against L."""
    run = opened(run)
    body = turning_body("herpolhode", run, model, free=True)
    path = herpolhode_curve(body)
    radius = np.linalg.norm(path, axis=1)
    figure, axes = new_figure(4.4, 4.3)
    for r in sorted({round(float(r), 12) for r in (radius.min(), radius.max())}):
        if r > 1e-3 * radius.max():
            turn = np.linspace(0, 2 * np.pi, 241)
            axes.plot(r * np.cos(turn), r * np.sin(turn), color=QUIET, linewidth=0.8, linestyle=(0, (4, 2.5)))
    axes.plot(*path.T, color=SPACE, linewidth=1.3)
    axes.plot(*path[0], "o", color=SPACE, markersize=4.5)
    axes.plot(0, 0, "+", color=INK, markersize=7)
    paper = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.85}
    axes.annotate("foot of $O$", (0, 0), (6, 5), textcoords="offset points", fontsize=8, bbox=paper)
    _arrow(axes, path)
    axes.set(aspect="equal", xlabel="$\\omega$ along $e_1$ (rad/s)", ylabel="$\\omega$ along $e_2$ (rad/s)")
    return headed(figure, run, "Herpolhode")


def herpolhode_curve(body: TurningBody) -> np.ndarray:
    """The tip of ω (n, 2) in the invariable plane, from the foot of its centre; the plane is seen from the tip of L."""
    return smooth(body)[2] @ plane(body.momentum[0]).T


def _arrow(axes: Any, path: np.ndarray) -> None:
    """The way of a path, at its first quarter turn."""
    k = min(len(path) - 2, max(1, len(path) // 12))
    how = {"arrowstyle": "-|>", "color": SPACE, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 12}
    axes.annotate("", path[k + 1], path[k], arrowprops=how)
