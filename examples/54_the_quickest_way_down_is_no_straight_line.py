"""The quickest way down is not the shortest: a bead on a cycloid beats one on a straight wire.

Johann Bernoulli asked in 1696 along which curve a bead comes down soonest, and had five answers, one of them unsigned,
from London. A straight wire is shortest, but the bead is slow at its beginning; a steep beginning gives speed early,
and the best bargain is the cycloid, steep as a wall at first, which may even dip below the goal and still be first.
Each wire is a constraint, a function of place; the beads start together from rest. Times are closed forms: √(R/g) θ
for the cycloid, √(2 (a² + b²)/(g b)) for the line; the arc of a circle, Galilei's guess, is in between.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure

from scipy.optimize import brentq  # isort: skip

a, b, g = 2.0, 1.0, 9.81  # across, and down, m
theta = brentq(lambda x: (x - np.sin(x)) / (1 - np.cos(x)) - a / b, 0.1, 2 * np.pi - 0.1)
R = b / (1 - np.cos(theta))


def bead(wire):
    """A bead that is at wire(s) = (x, z): a cart for x, a slider for z, and s, which weighs nothing."""
    return ph.Model(
        "bead",
        bodies=[ph.Body("cart", 1e-12, (0, 0, 0)), ph.Body("bead", 1.0, (0, 0, 0)), ph.Body("s", 1.0, (1e-12,) * 3)],
        joints=[
            ph.Joint("x", "prismatic", "world", "cart", axis=(1, 0, 0)),
            ph.Joint("z", "prismatic", "cart", "bead", axis=(0, 0, 1)),
            ph.Joint("s", "revolute", "world", "s"),
        ],
        constraints=[ph.Constraint(lambda t, q: (q[0] - wire(q[2])[0], q[1] - wire(q[2])[1]), rows=2, name="wire")],
    )


r = (a * a + b * b) / (2 * b)  # of the circle through both ends, level at its end
wires = {  # the wire, s at its beginning and at its end
    "cycloid": (lambda s: (R * (s - ph.sin(s)), -R * (1 - ph.cos(s))), 1e-3, theta),
    "circle": (lambda s: (a - r * ph.cos(s), r - b - r * ph.sin(s)), np.arcsin((r - b) / r), np.pi / 2),
    "line": (lambda s: (a * s, -b * s), 0.0, 1.0),
}
figure, (left, right) = new_figure(9.5, 3.6, ncols=2)
times = {}
for (label, (wire, first, last)), colour in zip(wires.items(), COLOURS, strict=False):
    goal = ph.Event("goal", lambda t, q, v, last=last: q[2] - last, terminal=True)
    start = [float(x) for x in (*wire(first), first)]
    lost = np.sqrt(R / g) * first if label == "cycloid" else 0.0  # begins a little below the cusp, at speed
    speed = np.sqrt(-2 * g * start[1]) if label == "cycloid" else 0.0
    rate = speed / (2 * R * np.sin(first / 2)) if speed else 0.0
    v = [R * (1 - np.cos(first)) * rate, -R * np.sin(first) * rate, rate] if rate else [0, 0, 0]
    run = ph.simulate(bead(wire), q=start, v=v, duration=2.0, events=[goal], samples=401, tolerance=1e-11)
    times[label] = float(run["event_time"][0]) + lost
    left.plot(run["q"][:, 0], run["q"][:, 1], color=colour, label=label)
    right.plot(run["time"] + lost, run["q"][:, 0], color=colour, label=f"{label}, {times[label]:.4f} s")
left.set(xlabel="x (m)", ylabel="z (m)", aspect="equal")
right.set(xlabel="time (s)", ylabel="x (m)")
right.legend(frameon=False)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

exact = {"cycloid": np.sqrt(R / g) * theta, "line": np.sqrt(2 * (a * a + b * b) / (g * b))}
for label, time in times.items():
    print(f"{label:8} {time:.9f} s", f"closed form {exact[label]:.9f} s" if label in exact else "")
assert all(abs(times[label] - time) < 1e-8 for label, time in exact.items())
assert times["cycloid"] < times["circle"] < times["line"]
