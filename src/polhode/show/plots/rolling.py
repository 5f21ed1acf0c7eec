"""The one turning body of a run, for the polhode, the herpolhode and Poinsot's construction."""

from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import quaternion
from polhode.errors import message
from polhode.show.figure import COLOURS
from polhode.show.plots.run_source import Unfit, instants, model_of, where_of
from polhode.show.scene.turning import TurningBody, turning

if TYPE_CHECKING:
    from xarray import Dataset

BODY, SPACE, MOMENTUM = COLOURS[1], COLOURS[0], COLOURS[2]
"""Colours of the polhode, the herpolhode and the angular momentum."""
FINE = 0.04
"""Angle between points of a drawn curve, rad."""


def turning_body(kind: str, run: "Dataset", model: Any, free: bool) -> TurningBody:
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


def smooth(body: TurningBody) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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
