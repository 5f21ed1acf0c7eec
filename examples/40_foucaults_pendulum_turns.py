"""A pendulum's plane of swing turns with the Earth, at the sine of the latitude of its rate.

Foucault hung a ball of 28 kg on 67 m of wire in the Panthéon, and its swings moved round the floor in 32 hours: at the
pole it would take a day, at the equator for ever. On the turning Earth a moving body feels Coriolis's force, −2 m Ω ×
v, whose horizontal part turns a velocity to the right at Ω sin φ on the northern half. A day is long, so this Earth
turns in six minutes; the rest is Foucault's. The force is written as it stands in the book, as a function of how the
ball moves, and the machine is a ball joint with a wire. Small swings would turn at exactly Ω sin φ; those of finite
size, launched from rest in the turning room, open into the rosette that the figure shows.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure

l, g, m = 67.0, 9.81, 28.0
latitude, day = np.radians(48.85), 360.0
Omega = 2 * np.pi / day * np.array([np.cos(latitude), 0, np.sin(latitude)])  # x north, y west, z up


def coriolis(t, ball):
    return -2 * m * ph.cross(tuple(Omega), ball.velocity)


pendulum = ph.Model(
    "Foucault",
    bodies=[ph.Body("ball", m, (0.2, 0.2, 0.2), center=(0, 0, -l))],
    joints=[ph.Joint("wire", "spherical", "world", "ball", position=(0, 0, l))],
    forces=[ph.BodyForce("Coriolis", coriolis, "ball", point=(0, 0, -l))],
)
start = ph.quaternion.from_axis_angle((0, 1, 0), -3.0 / l)  # 3 m to the north
run = ph.simulate(pendulum, q=start, duration=day / np.sin(latitude) / 4, samples=6001, tolerance=1e-11)
x, y = ph.quaternion.rotate(run["q"].values, (0, 0, -l))[:, :2].T

# the plane of swing: the long axis of each swing, by the ends farthest out
r = np.hypot(x, y)
ends = np.flatnonzero((r[1:-1] > r[:-2]) & (r[1:-1] >= r[2:]) & (r[1:-1] > 2.5)) + 1
angle = np.unwrap(2 * np.arctan2(y[ends], x[ends])) / 2
angle -= np.pi * round(angle[0] / np.pi)  # either end of a swing will do
rate = np.polyfit(run["time"].values[ends], angle, 1)[0]
expected = -Omega[2]  # clockwise, seen from above

figure, (left, right) = new_figure(9.0, 4.2, ncols=2)
left.plot(-y, x, color=COLOURS[0], lw=0.5)
left.set(xlabel="east (m)", ylabel="north (m)", aspect="equal")
left.set_title("Seen from above", loc="left", fontsize=10)
right.plot(run["time"].values[ends], np.degrees(angle), ".", color=COLOURS[1], label="ends of swings")
right.plot(run["time"], np.degrees(expected * run["time"]), color="0.3", lw=0.8, label="−Ω sin φ t")
right.set(xlabel="time (s)", ylabel="plane of swing (degrees)")
right.legend(frameon=False)
right.set_title("It turns at the sine of the latitude", loc="left", fontsize=10)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

print(
    f"the plane turns by {np.degrees(rate):.5f} degrees a second, "
    f"Ω sin φ is {np.degrees(-expected):.5f}; {run.attrs['verdict']}"
)
assert abs(rate / expected - 1) < 2e-3
assert run.attrs["verdict"] == "good"
