"""Impacts as events that reset the state: a pendulum beside a wall hits it at the times of elliptic functions.

A rod hangs beside a wall and touches it when it hangs straight down. Lifted and let go, it swings down, hits
the wall and comes back with the part e of its speed: an event of `simulate` at θ = 0, with a reset of the
velocity. Of the energy e² is left, so that sin ½θ shrinks by e from one amplitude to the next, and the rod needs
half a period of its swing, up to the turn and back, for the next hit:

    t₁ = K(k₀²)/f,   tₙ₊₁ − tₙ = 2K(kₙ²)/f,   kₙ = eⁿ sin ½θ₀                    Whittaker (1937) §44

Each error of a hit, in time or in speed, is handed on to all later ones, so that the last times judge location,
reset and restart together. DOP853 is right to 1e-12 s after 22 hits. Equal steps of RK4, cut at the wall and
completed to their grid behind it, are right to 1e-6 s at 20 ms and converge. Unlike a bouncing ball's intervals,
which shrink as eⁿ and add up to a finite time, these tend to π/f: small swings all take the same time.
"""

from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.special import ellipk

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure

rod, e, lifted, duration = ph.load("pendulum"), 0.9, 2.9, 20.0  # model, 1, rad, s
wall = ph.Event("wall", lambda t, q, v: q[0], direction=-1, reset=lambda t, q, v: (q, -e * v))
body = rod.bodies[0]
arm = -body.center[2]  # m
f = np.sqrt(body.mass * 9.81 * arm / (body.inertia[1] + body.mass * arm**2))  # rad/s, of small swings
k = e ** np.arange(40) * np.sin(lifted / 2)
due = np.cumsum(2 * ellipk(k**2) / f) - ellipk(k[0] ** 2) / f  # s
due = due[due < duration]


def run_by(**options):
    """The run by a method."""
    return ph.simulate(rod, q=[lifted], v=[0.0], duration=duration, events=[wall], **options)


ways = {
    "RK4, 20 ms": {"method": "rk4", "step": 0.02},
    "RK4, 10 ms": {"method": "rk4", "step": 0.01},
    "RK4, 5 ms": {"method": "rk4", "step": 0.005},
    "DOP853, 1e-12": {"method": "dop853", "tolerance": 1e-12, "samples": 4001},
}
runs = {label: run_by(**options) for label, options in ways.items()}
hits = {label: run["event_time"].values for label, run in runs.items()}
errors = {label: np.maximum.accumulate(abs(times - due)) for label, times in hits.items()}
t, q, v = (runs["DOP853, 1e-12"][name].values.squeeze() for name in ("time", "q", "v"))

figure, (left, middle, right) = new_figure(10.4, 3.5, ncols=3, width_ratios=[1.45, 1.0, 1.0])
left.plot(t, q, color=COLOURS[0], lw=1.4)
left.plot(due, 0 * due, "o", color=COLOURS[1], ms=4, mfc="white", zorder=3, label="hits, closed form")
left.fill_between([0, duration], -0.25, 0, color="#e2e6e9", lw=0)
left.set(xlabel="time (s)", ylabel="angle from the wall (rad)", xlim=(0, duration), ylim=(-0.25, 3.1))
left.legend(frameon=False, fontsize=9)
left.set_title(f"A wall that leaves {e:g} of the speed", loc="left", fontsize=10)
rows = np.searchsorted(t, np.concatenate([[0], due, [duration + 1]]))
for a, b in pairwise(rows):
    middle.plot(q[a:b], v[a:b], color=COLOURS[0], lw=1.1)
speeds = 2 * f * k[: len(due)]  # of the hits
middle.vlines(0 * speeds, -speeds, e * speeds, color=COLOURS[1], lw=1.2)
middle.fill_betweenx([-8.5, 8.5], -0.25, 0, color="#e2e6e9", lw=0)
middle.set(xlabel="angle (rad)", ylabel="angular velocity (rad/s)", xlim=(-0.25, 3.1), ylim=(-8.5, 8.5))
middle.set_title("Phase plane, jumps at the wall", loc="left", fontsize=10)
for (label, error), colour in zip(errors.items(), (5, 1, 3, 0), strict=True):
    right.semilogy(np.arange(1, len(due) + 1), error + 1e-16, ".-", color=COLOURS[colour], lw=1.2, label=label)
right.set(
    xlabel="number of the hit", ylabel="largest error of a time so far (s)", ylim=(1e-16, 1e-2), xticks=[1, 8, 15, 22]
)
right.legend(frameon=False, fontsize=8.5, ncols=2, loc="upper center", columnspacing=1.0)
right.set_title("Against elliptic integrals", loc="left", fontsize=10)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

print(f"{len(due)} hits; largest errors " + ", ".join(f"{label}: {error[-1]:.0e} s" for label, error in errors.items()))
print(f"intervals from {due[1] - due[0]:.3f} to {due[-1] - due[-2]:.4f} s; π/f = {np.pi / f:.4f} s")
assert errors["DOP853, 1e-12"][-1] < 1e-11
assert errors["RK4, 20 ms"][-1] < 1e-5
assert errors["RK4, 5 ms"][-1] < errors["RK4, 20 ms"][-1] / 50
