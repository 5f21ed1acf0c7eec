"""The attitude of a body over time: quaternions with continuous signs, Euler angles with their lock, ω."""

import math
from typing import TYPE_CHECKING

import numpy as np

from polhode import euler
from polhode.errors import InputError, message
from polhode.show.figure import COLOURS, new_figure, styled
from polhode.show.plot.paper import HIGH, WIDE, bands, draw_curves, headed, legend, over_time
from polhode.show.plot.source import Unfit, body_of, instants, opened, variable, where_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset

    from polhode.show.plot.source import Run

LOCK_COLOUR = "#d55e00"
NEAR = 10.0
"""Degrees from gimbal lock within which the plot is shaded."""
GREEK = {"313": ("φ", "θ", "ψ"), "321": ("ψ", "θ", "φ"), "123": ("φ", "θ", "ψ"), "323": ("φ", "θ", "ψ")}
"""Usual names of the angles of some sequences; others are numbered."""


@styled
def quaternions(run: "Run", body: str | None = None) -> "Figure":
    """The four components of a body's unit quaternion over time, with continuous signs: p and −p are one attitude."""
    run = opened(run)
    place, name = body_of("quaternions", run, body)
    time, p = instants("quaternions", run), variable("quaternions", run, "quaternion")[:, place]
    drawn = continuous(p)
    figure, axes = new_figure(WIDE + 0.6, HIGH + 0.4)
    colours = (COLOURS[6], *COLOURS[:3])
    curves = [(f"${x}$", drawn[:, k], {"color": colours[k]}) for k, x in enumerate(("p_w", "p_x", "p_y", "p_z"))]
    draw_curves(axes, time, curves)
    over_time(axes, time, "unit quaternion, body → world", "1")
    axes.set_ylim(-1.06, 1.06)
    legend(axes)
    return headed(figure, run, f"Attitude of '{name}'")


def continuous(p: np.ndarray) -> np.ndarray:
    """Unit quaternions (n, 4) with the signs for which each is nearest to the one before; the first as it is."""
    dots = np.sum(p[1:] * p[:-1], axis=1)
    signs = np.cumprod(np.concatenate([[1.0], np.where(dots < 0, -1.0, 1.0)]))
    return p * signs[:, None]


@styled
def angles(
    run: "Run", sequence: str = "313", body: str | None = None, degrees: bool = True, near: float = NEAR
) -> "Figure":
    """The three angles of a sequence over time, without jumps of a turn; shaded where they are near gimbal lock.

    sequence  one of the twelve, as in ph.euler: "313", "extrinsic-321"
    near      degrees from lock within which the plot is shaded: there the outer angles tell little by themselves
    """
    run = opened(run)
    place, name = body_of("angles", run, body)
    time, found, distance = angle_curves(run, sequence, place)
    unit, scale = ("°", 180 / math.pi) if degrees else ("rad", 1.0)
    figure, grid = new_figure(WIDE, 1.55 * 3 + 0.5, nrows=3, sharex=True)
    names = GREEK.get(sequence.removeprefix("intrinsic-"), ("α₁", "α₂", "α₃"))
    for k, axes in enumerate(grid):
        draw_curves(axes, time, [(names[k], scale * found[:, k], {"color": COLOURS[k]})])
        about = "xyz"[int(sequence[-3 + k]) - 1]
        over_time(axes, time, f"{names[k]}, about ${about}$", unit, last=k == 2)
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


@styled
def rates(run: "Run", body: str | None = None, axes: str = "body") -> "Figure":
    """The angular velocity of a body over time, in its own axes or (axes="world") in the world's."""
    run = opened(run)
    if axes not in ("body", "world"):
        raise InputError(message("plot rates, argument axes", "no such choice", repr(axes), "'body' or 'world'"))
    place, name = body_of("rates", run, body)
    time, omega = instants("rates", run), variable("rates", run, f"omega_{axes}")[:, place]
    figure, panel = new_figure(WIDE + 0.6, HIGH + 0.4)
    draw_curves(panel, time, [(rf"$\omega_{x}$", omega[:, k], {"color": COLOURS[k]}) for k, x in enumerate("xyz")])
    over_time(panel, time, f"angular velocity, {axes} axes", "rad/s")
    legend(panel)
    return headed(figure, run, f"Angular velocity of '{name}'")
