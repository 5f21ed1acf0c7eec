"""Poinsot's construction: the ellipsoid ω·Jω = 2T rolls on the invariable plane without slipping.

Everything is drawn in the space of angular velocities, rad/s: the ellipsoid about the fixed centre O, the plane
ω·L = 2T at the distance 2T/|L| from O, and the point in which they touch, the tip of ω.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import quaternion
from polhode.errors import InputError, message
from polhode.show.figure import new_figure, styled
from polhode.show.plots.axes import INK, QUIET, headed
from polhode.show.plots.ellipsoid import Ellipsoid, SpaceAxes
from polhode.show.plots.rolling import BODY, MOMENTUM, SPACE, smooth, turning_body
from polhode.show.plots.run_source import Run, opened
from polhode.show.scene.turning import TurningBody, level_curves, plane
from polhode.show.vector.geometry import View

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Construction:
    """Poinsot's construction at one instant, in world axes about the centre O, rad/s.

    time       s
    ellipsoid  the solid ω·Jω = 2T, turned with the body
    contact    (3,)    the tip of ω
    normal     (3,)    the direction of L
    distance   2T/|L|  from O to the plane
    polhode    (n, 3)  the whole polhode on the ellipsoid, as the body stands
    herpolhode (n, 3)  the path of the contact in the plane, over the drawn part of the run
    """

    time: float
    ellipsoid: Ellipsoid
    contact: np.ndarray
    normal: np.ndarray
    distance: float
    polhode: np.ndarray
    herpolhode: np.ndarray


def construction(body: TurningBody, at: float | None = None) -> Construction:
    """The construction at the sample nearest to an instant; None: where the contact is farthest from the foot of O."""
    if at is None:
        across = np.linalg.norm(body.in_space[body.shown] @ plane(body.momentum[0]).T, axis=1)
        k = int(body.shown[int(np.argmax(across))])
    else:
        k = int(np.argmin(abs(body.time - at)))
    turn = np.asarray(quaternion.rotation_matrix(body.p[k])) @ body.axes
    scale, L = math.sqrt(body.twice[k]), body.momentum[k]
    solid = Ellipsoid(turn @ np.diag(scale / np.sqrt(body.J)))
    D = float(np.sum((body.J * body.own[k]) ** 2) / body.twice[k])
    both = [
        curve * scale / math.sqrt(body.J[0]) for curve in level_curves(body.J, min(max(D, body.J[0]), body.J[2]), 240)
    ]
    near = min(both, key=lambda curve: float(np.min(np.linalg.norm(curve - body.own[k], axis=1))))
    normal = L / np.linalg.norm(L)
    distance = body.twice[k] / float(np.linalg.norm(L))
    return Construction(float(body.time[k]), solid, body.in_space[k], normal, distance, near @ turn.T, smooth(body)[2])


@styled
def poinsot(run: Run, model: Any = None, at: float | None = None, elevation: float = 17.0) -> "Figure":
    """Poinsot's construction: the ellipsoid ω·Jω = 2T rolls on the invariable plane without slipping.

    L points down; O stays, and the ellipsoid touches the plane at the tip of ω. Hidden lines are dashed.

    at         the instant drawn, s; None: when ω is farthest from L
    elevation  of the viewer above the plane, degrees
    """
    run = opened(run)
    if not 3 <= elevation <= 80:
        raise InputError(message("plot poinsot, argument elevation", "no such view", repr(elevation), "3 … 80 degrees"))
    body = turning_body("poinsot", run, model, free=True)
    drawn = construction(body, at)
    solid, n = drawn.ellipsoid, drawn.normal
    foot = drawn.distance * n
    radius = 1.12 * max(
        float(np.linalg.norm(drawn.herpolhode - foot, axis=1).max()),
        0.92 * float(np.linalg.norm(solid.A, axis=0).max()),
    )
    view = _upright(n, drawn.contact - foot, math.radians(elevation))
    figure, axes = new_figure(6.2, 4.6)
    page = SpaceAxes(axes, view)
    page.area(foot + radius * _square(view.axes[0], n))
    page.curve(drawn.herpolhode, [solid], behind=0.55, color=SPACE, linewidth=1.4)
    page.solid(solid, alpha=0.80)
    page.curve(drawn.herpolhode, [solid], behind=0.75, front=False, color=SPACE, linewidth=1.1)
    for k in range(3):
        page.ring(solid, k)
    page.curve(drawn.polhode, [solid], behind=0.8, color=BODY, linewidth=2.0)
    page.arrow(np.zeros(3), drawn.contact, r"$\omega$", INK)
    page.arrow(np.zeros(3), 1.45 * foot, "$L$", MOMENTUM)
    page.dot(np.zeros(3), "$O$", INK, (-9, 3))
    page.dot(drawn.contact, "", INK, (0, 0))
    page.done(0.03)
    size = float(np.linalg.norm(drawn.contact))
    text = f"$2T/|L|$ = {drawn.distance:.4g} rad/s, $|\\omega|$ = {size:.4g} rad/s, $t$ = {drawn.time:.4g} s"
    page.names([("polhode, on the ellipsoid", BODY), ("herpolhode, in the invariable plane", SPACE), (text, QUIET)])
    return headed(figure, run, "Poinsot's construction")


def _square(right: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Corners (4, 3) of a square in the plane, turned so that it is seen as one."""
    deep = np.cross(normal, right)
    turns = np.radians(20.0 + 90.0 * np.arange(4))
    return 1.5 * (np.cos(turns)[:, None] * right + np.sin(turns)[:, None] * deep)


def _upright(normal: np.ndarray, contact: np.ndarray, elevation: float) -> View:
    """A viewer above the plane on which the ellipsoid lies, L pointing down, with the contact to the right and near."""
    up = -normal
    flat = contact - (contact @ up) * up
    if np.linalg.norm(flat) < 1e-9 * max(float(np.linalg.norm(contact)), 1e-300) or not flat.any():
        flat = plane(normal)[0]
    flat = flat / np.linalg.norm(flat)
    side = np.cross(up, flat)
    level = math.cos(math.radians(55)) * flat - math.sin(math.radians(55)) * side
    toward = math.cos(elevation) * level + math.sin(elevation) * up
    right = np.cross(up, toward)
    right /= np.linalg.norm(right)
    return View(np.array([right, np.cross(toward, right), toward]))
