"""Euler angles of a body over time, shaded near gimbal lock."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import euler
from polhode.errors import message
from polhode.show.figure import COLOURS, new_figure, styled
from polhode.show.plots.axes import WIDE, bands, draw_curves, headed, legend, over_time
from polhode.show.plots.run_source import Run, Unfit, body_of, instants, opened, variable, where_of
from polhode.show.run_values import parting

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset

LOCK_COLOUR = "#d55e00"
NEAR = 10.0
"""Degrees from gimbal lock within which the plot is shaded."""
GREEK = {"313": ("φ", "θ", "ψ"), "321": ("ψ", "θ", "φ"), "123": ("φ", "θ", "ψ"), "323": ("φ", "θ", "ψ")}
"""Usual names of the angles of some sequences; others are numbered."""


@styled
def angles(
    run: Run,
    sequence: str = "313",
    body: str | None = None,
    degrees: bool = True,
    near: float = NEAR,
    model: Any = None,
) -> "Figure":
    """The three angles of a sequence over time, without jumps of a turn; shaded where they are near gimbal lock.

    sequence  one of the twelve, as in ph.euler: "313", "extrinsic-321"
    near      degrees from lock within which the plot is shaded: there the outer angles tell little by themselves
    model  of the run: checked to be its own; it need not be given here
    """
    run = opened(run, model)
    place, name = body_of("angles", run, body)
    time, found, distance = angle_curves(run, sequence, place)
    unit, scale = ("°", 180 / math.pi) if degrees else ("rad", 1.0)
    figure, grid = new_figure(WIDE, 1.55 * 3 + 0.5, nrows=3, sharex=True)
    names = GREEK.get(sequence.removeprefix("intrinsic-"), ("α₁", "α₂", "α₃"))
    for k, axes in enumerate(grid):
        draw_curves(axes, time, [(names[k], scale * found[:, k], {"color": COLOURS[k]})])
        about = "xyz"[int(sequence[-3 + k]) - 1]
        over_time(axes, run, time, f"{names[k]}, about ${about}$", unit, last=k == 2)
    if parting(run):
        legend(grid[0])
    shaded = bands(grid, time, distance < math.radians(near), LOCK_COLOUR)
    if shaded:
        text = f"shaded: within {near:g}° of gimbal lock, nearest {math.degrees(np.nanmin(distance)):.3g}°"
        grid[0].set_title(text, loc="right", color=LOCK_COLOUR, fontsize=8)
    return headed(figure, run, f"Angles {sequence} of '{name}'")


def angle_curves(run: "Dataset", sequence: str, place: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times, angles (n, 3) without jumps of a turn, and the distance from gimbal lock (n,), rad.

    At lock itself the outer angles are not determined, and NaN. Samples without a unit quaternion are left out.
    """
    time, p = instants("angles", run), variable("angles", run, "quaternion")[:, place]
    length = np.linalg.norm(p, axis=1)
    good = np.isfinite(length) & (abs(length - 1) < 0.1)
    if good.sum() < 2:
        raise Unfit(message(where_of("angles", run), "no attitudes", f"{good.sum()} unit quaternions", "two or more"))
    found, locked = euler.from_quaternion(sequence, p[good] / length[good, None], at_lock="flag")
    distance = np.asarray(euler.lock_distance(sequence, found))
    for k in (0, 2):
        found[~locked, k] = np.unwrap(found[~locked, k])
        found[locked, k] = np.nan
    return time[good], found, distance
