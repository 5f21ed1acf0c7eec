"""Polhode, herpolhode and Poinsot's construction: a free body turns as its ellipsoid rolls on a plane.

Everything is drawn in the space of angular velocities, rad/s: the ellipsoid ω·Jω = 2T about the fixed centre O, the
invariable plane ω·L = 2T at the distance 2T/|L| from O, and the point in which they touch, the tip of ω.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import quaternion
from polhode.errors import InputError, message
from polhode.show.figure import COLOURS, new_figure, styled
from polhode.show.plot.ellipsoid import Ellipsoid, Page
from polhode.show.plot.paper import FAINT, INK, QUIET, headed
from polhode.show.plot.source import Unfit, instants, model_of, opened, where_of
from polhode.show.scene.turning import Turning, distinct, family, level_curves, plane, turning
from polhode.show.vector.geometry import View

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset

    from polhode.show.plot.source import Run

BODY, SPACE, MOMENTUM = COLOURS[1], COLOURS[0], COLOURS[2]
"""Colours of the polhode, the herpolhode and the angular momentum."""
FINE = 0.04
"""Angle between points of a drawn curve, rad."""


def turning_body(kind: str, run: "Dataset", model: Any, free: bool) -> Turning:
    """The body, or an error that says why there is none."""
    instants(kind, run)
    known = model_of(kind, run, model)
    found = turning(run, known)
    if found is None:
        what, expected = (
            f"{len(known.bodies)} bodies, joint {known.joints[0].type}",
            "one turning body, spherical or free",
        )
        raise Unfit(message(where_of(kind, run), "not one turning body", what, expected))
    if free and not found.free:
        seen = f"an angular momentum that changes by {found.change:.2g} of its length"
        raise Unfit(message(where_of(kind, run), "a torque acts on the body", seen, "a torque-free motion"))
    return found


def smooth(body: Turning) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times, ω in principal axes and ω in space of the drawn part, as closely spaced as a smooth curve needs.

    Between samples by cubics with the samples' own rates, Jω̇ = −ω × Jω + what torque the momentum tells of; the rate of
    ω is the same in space and in the body.
    """
    from scipy.interpolate import CubicHermiteSpline, CubicSpline

    time, omega = body.time[body.shown], body.in_space[body.shown]
    own = body.own[body.shown]
    angle = np.linalg.norm(np.diff(omega, axis=0), axis=1) / np.linalg.norm(omega, axis=1).max()
    pieces = np.clip(np.ceil(angle / FINE), 1, 24).astype(int)
    fine = np.append(
        np.concatenate([np.linspace(a, b, n, endpoint=False) for a, b, n in zip(time, time[1:], pieces, strict=False)]),
        time[-1],
    )
    if not body.free:
        return fine, CubicSpline(time, own)(fine), CubicSpline(time, omega)(fine)
    rate = np.cross(body.own * body.J, body.own)[body.shown] / body.J
    turned = np.asarray(quaternion.rotate(body.p[body.shown], rate @ body.axes.T))
    return fine, CubicHermiteSpline(time, own, rate)(fine), CubicHermiteSpline(time, omega, turned)(fine)


@styled
def polhode(run: "Run", model: Any = None, view: tuple[float, float] | None = None) -> "Figure":
    """The path of ω in the body, on the ellipsoid ω·Jω = 2T, among its neighbours; principal axes.

    view  azimuth and elevation of the viewer over the plane of the two smaller moments, degrees
    """
    run = opened(run)
    body = turning_body("polhode", run, model, free=False)
    _, own, _ = smooth(body)
    scale = math.sqrt(body.twice[0])
    path = own / np.sqrt(own**2 @ body.J)[:, None] * scale  # of a body under torque: at the energy of its start
    figure, axes = new_figure(4.6, 4.5)
    page = Page(axes, View.of(*(view or _facing(path))))
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


@styled
def herpolhode(run: "Run", model: Any = None) -> "Figure":
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


def herpolhode_curve(body: Turning) -> np.ndarray:
    """The tip of ω (n, 2) in the invariable plane, from the foot of its centre; the plane is seen from the tip of L."""
    return smooth(body)[2] @ plane(body.momentum[0]).T


def _arrow(axes: Any, path: np.ndarray) -> None:
    """The way of a path, at its first quarter turn."""
    k = min(len(path) - 2, max(1, len(path) // 12))
    how = {"arrowstyle": "-|>", "color": SPACE, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 12}
    axes.annotate("", path[k + 1], path[k], arrowprops=how)


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


def construction(body: Turning, at: float | None = None) -> Construction:
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
def poinsot(run: "Run", model: Any = None, at: float | None = None, elevation: float = 17.0) -> "Figure":
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
    page = Page(axes, view)
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
