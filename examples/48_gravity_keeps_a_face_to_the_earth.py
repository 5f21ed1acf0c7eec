"""A long satellite swings about the vertical like a pendulum, by the pull that is stronger below than above.

Gravity weakens with height, so the lower end of a long body is pulled a little more than its upper end: the torque 3
μ/r⁵ r × J r turns the long axis towards the Earth. In a circular orbit of rate n the body librates about the vertical,
with the frequency n √(3 (B − A)/C) in the plane of the orbit, which the Moon has had time to damp, and many satellites
use instead of fuel. Force and torque are written as in the book, as one function of how the body lies and where it is.
Units are chosen so that μ and the radius of the orbit are 1; the figure shows a libration by 5 degrees over three
orbits, and one that turns over.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure

A, B, C = 1e-3, 4e-3, 4.5e-3  # C about the normal of the orbit, A along the vertical
n = 1.0


def gravity(t, body):
    """Force of a point Earth, and the torque of its gradient, world axes."""
    r = body.position
    distance = ph.length(r)
    own = body.R.T @ r
    torque = body.R @ ph.cross(own, (A * own[0], B * own[1], C * own[2]))
    return -r / distance**3, 3 / distance**5 * torque


satellite = ph.Model(
    "satellite",
    gravity=(0, 0, 0),
    bodies=[ph.Body("satellite", 1.0, (A, B, C))],
    joints=[ph.Joint("orbit", "free", "world", "satellite")],
    forces=[ph.BodyForce("Earth", gravity, "satellite")],
)
nu = n * np.sqrt(3 * (B - A) / C)
turns, figure_of = 3 * 2 * np.pi, {}
for label, swing in (("libration", np.radians(5)), ("tumbling", np.radians(5))):
    q = [1, 0, 0, *ph.quaternion.from_axis_angle((0, 0, 1), swing)]
    rate = n if label == "libration" else n + 1.02 * nu  # just more than it takes to turn over
    run = ph.simulate(satellite, q=q, v=[0, n, 0, 0, 0, rate], duration=turns, samples=1201, tolerance=1e-11)
    w, _, _, z = run["quaternion"].sel(body="satellite").values.T
    x, y, _ = run["position"].sel(body="satellite").values.T
    angle = np.unwrap(2 * np.arctan2(z, w), period=2 * np.pi) - np.unwrap(np.arctan2(y, x))
    figure_of[label] = run["time"].values, angle, run.attrs["verdict"]

figure, axes = new_figure(8.0, 4.0)
for (label, (t, angle, _)), colour in zip(figure_of.items(), COLOURS, strict=False):
    axes.plot(t / 2 / np.pi, np.degrees(angle), color=colour, label=label)
axes.set(xlabel="orbits", ylabel="long axis from the vertical (degrees)", ylim=(-60, 400))
axes.legend(frameon=False)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

t, angle, verdict = figure_of["libration"]
zero = np.flatnonzero((angle[:-1] > 0) & (angle[1:] <= 0))
at = t[zero] + (t[1] - t[0]) * angle[zero] / (angle[zero] - angle[zero + 1])
found = 2 * np.pi / np.diff(at).mean()
print(
    f"libration at {found:.5f} n, n √(3 (B − A)/C) = {nu:.5f} n; "
    f"amplitude {np.degrees(max(abs(angle))):.3f} degrees; {verdict}"
)
assert abs(found / nu - 1) < 2e-3
assert max(figure_of["tumbling"][1]) > np.pi
