"""A ball that rolls on a turntable does not fly off: it goes round in circles, at two sevenths of the table's speed.

Put a ball on a turning table and push it. One would think that it spirals outwards. It describes a circle, anywhere on
the table, at the rate Ω k/(1 + k) with k = J/(m r²): two sevenths of the table's for a solid ball, two fifths for a
hollow one; it is the motion of a charge in a magnetic field, and the centre of the circle depends on the start alone.
A slight tilt makes the circles drift, not downhill but across, like the charge in crossed fields. The table is a body
on a hinge at a given angle, the ball a free body that rolls on the plane of the table without slipping.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure

r, Omega = 0.02, 2 * np.pi
solid = 2 / 5


def turntable(k, tilt=0.0):
    g = 9.81
    return ph.Model(
        "turntable",
        gravity=(g * np.sin(tilt), 0, -g * np.cos(tilt)),
        bodies=[ph.Body("table", 5.0, (0.1, 0.1, 0.2)), ph.Body("ball", 0.1, (k * 0.1 * r * r,) * 3)],
        joints=[ph.Joint("motor", "revolute", "world", "table"), ph.Joint("flight", "free", "world", "ball")],
        constraints=[
            ph.Constraint("drive", "prescribed", joint="motor", value=lambda t: Omega * t),
            ph.Constraint("floor", "rolling-sphere", body_a="table", body_b="ball", radius=r),
        ],
    )


def path(k, tilt=0.0, duration=7.0):
    """The centre of a ball that is set down 0.1 m from the middle, at rest; it rolls from the first instant on."""
    q = [0, 0.1, 0, r, 1, 0, 0, 0]
    spin = Omega * 0.1 / r  # its lowest point has the speed of the table below it: −r ω_x = v_y
    v = [Omega, 0, 0, 0, -spin, 0, 0]
    run = ph.simulate(turntable(k, tilt), q=q, v=v, duration=duration, samples=701, tolerance=1e-11, move_start=True)
    assert run.attrs["verdict"] == "good"
    return run["time"].values, run["q"].values[:, 1:3]


figure, (left, right) = new_figure(9.0, 4.4, ncols=2)
rates = {}
for label, k, colour in (("solid", solid, COLOURS[0]), ("hollow", 2 / 3, COLOURS[1])):
    t, xy = path(k)
    A = np.column_stack([2 * xy, np.ones(len(xy))])
    x0, y0, rest = np.linalg.lstsq(A, (xy**2).sum(axis=1), rcond=None)[0]  # the circle through them
    angle = np.unwrap(np.arctan2(xy[:, 1] - y0, xy[:, 0] - x0))
    rates[label] = np.polyfit(t, angle, 1)[0] / Omega, k / (1 + k), np.ptp(np.hypot(*(xy - [x0, y0]).T))
    left.plot(*xy.T, color=colour, lw=3 if label == "solid" else 1, label=f"{label} ball")
left.set(xlabel="x (m)", ylabel="y (m)", aspect="equal")
left.legend(frameon=False, loc="upper right", fontsize=8.5)
left.set_title("Circles on a level table", loc="left", fontsize=10)
t, xy = path(solid, tilt=np.radians(0.2), duration=14.0)
right.plot(*xy.T, color=COLOURS[2])
right.set(xlabel="x, downhill (m)", ylabel="y (m)", aspect="equal")
right.set_title("Tilted by 0.2 degrees it drifts across", loc="left", fontsize=10)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

for label, (rate, expected, off) in rates.items():
    print(f"{label} ball: {rate:.9f} of the table's rate, k/(1 + k) = {expected:.9f}; circle to {off:.0e} m")
    assert abs(abs(rate) - expected) < 1e-8
    assert off < 1e-9
drift = np.polyfit(t, xy, 1)[0]
assert abs(drift[1]) > 20 * abs(drift[0])
