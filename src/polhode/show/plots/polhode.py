"""The polhode: the path of ω in the body, on the ellipsoid ω·Jω = 2T."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.show.figure import new_figure, styled
from polhode.show.plots.axes import FAINT, QUIET, headed
from polhode.show.plots.ellipsoid import Ellipsoid, SpaceAxes
from polhode.show.plots.rolling import BODY, smooth, turning_body
from polhode.show.plots.run_source import Run, opened
from polhode.show.scene.turning import distinct, family, level_curves
from polhode.show.vector.geometry import View

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@styled
def polhode(run: Run, model: Any = None, view: tuple[float, float] | None = None) -> "Figure":
    """The path of ω in the body, on the ellipsoid ω·Jω = 2T, among its neighbours; principal axes.

    view  azimuth and elevation of the viewer over the plane of the two smaller moments, degrees
    """
    run = opened(run)
    body = turning_body("polhode", run, model, free=False)
    _, own, _ = smooth(body)
    scale = math.sqrt(body.twice[0])
    path = own / np.sqrt(own**2 @ body.J)[:, None] * scale  # of a body under torque: at the energy of its start
    figure, axes = new_figure(4.6, 4.5)
    page = SpaceAxes(axes, View.of(*(view or _facing(path))))
    solid = Ellipsoid(np.diag(scale / np.sqrt(body.J)))
    page.solid(solid)
    for curve in family(body.J):
        page.curve(curve * scale / math.sqrt(body.J[0]), [solid], color=FAINT, linewidth=0.7)
    for curve in level_curves(body.J, body.J[1]) if distinct(body.J) else ():
        page.curve(curve * scale / math.sqrt(body.J[0]), [solid], color=QUIET, linewidth=0.9, linestyle=(0, (4, 2)))
    page.curve(path, [solid], behind=0.45, color=BODY, linewidth=2.0)
    page.point(path[0], solid, color=BODY)
    for k in range(3):
        page.axis(solid, k, rf"$\omega_{k + 1}$", 0.34 * scale / math.sqrt(body.J[0]))
    page.done()
    moments = ", ".join(f"{m:.4g}" for m in body.J)
    sizes = ", ".join(f"{scale / math.sqrt(m):.4g}" for m in body.J)
    page.names([(f"$J$ = {moments} kg m²", QUIET), (f"semi-axes $(2T/J)^{{1/2}}$ = {sizes} rad/s", QUIET)])
    return headed(figure, run, "Polhode" if body.free else "Path of ω, scaled to the energy at the start")


def _facing(path: np.ndarray) -> tuple[float, float]:
    """A view from the side on which the path is."""
    middle = path.mean(axis=0)
    signs = np.where(middle < -0.3 * abs(path).max(), -1.0, 1.0)
    x, y, z = np.array([0.62, 0.69, 0.37]) * signs
    return math.degrees(math.atan2(y, x)), math.degrees(math.atan2(z, math.hypot(x, y)))
