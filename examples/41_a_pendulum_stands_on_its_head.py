"""A pendulum whose pivot shakes fast enough stands on its head, and swings about the top.

Kapitza shook the pivot of a rod up and down, a few millimetres at a hundred hertz, and the rod stood upright: pushed
aside, it came back. The fast motion averages to an effective potential in which the top is a hollow where

    a² ω² > 2 g l      and small swings about the top have the frequency      ν² = a² ω²/(2 l²) − g/l

for a point mass on a rod of length l, pivot z = a cos ω t. The machine is a slider that follows this motion by a
constraint, and a pendulum on it. Slowly shaken it falls; shaken faster it swings about the top with the frequency
above, up to terms of the order of a/l, which a shorter stroke makes small.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure

l, g, a = 0.5, 9.81, 0.01
critical = np.sqrt(2 * g * l) / a  # rad/s


def shaken(omega):
    return ph.Model(
        "Kapitza",
        bodies=[ph.Body("slider", 1.0, (1e-3, 1e-3, 1e-3)), ph.Body("bob", 0.1, (0, 0, 0), center=(0, 0, l))],
        joints=[
            ph.Joint("guide", "prismatic", "world", "slider", axis=(0, 0, 1)),
            ph.Joint("pivot", "revolute", "slider", "bob", axis=(0, 1, 0)),
        ],
        constraints=[ph.Constraint("shaker", "prescribed", joint="guide", value=lambda t: a * ph.cos(omega * t))],
    )


figure, axes = new_figure(8.0, 3.8)
found = {}
for factor, colour in ((0.9, COLOURS[1]), (2.0, COLOURS[0])):
    omega = factor * critical
    run = ph.simulate(shaken(omega), q=[a, 0.1], duration=3.0, samples=3001, tolerance=1e-9, events=[])
    t, tilt = run["time"].values, run["q"].values[:, 1]
    found[factor] = t, tilt, run.attrs["verdict"]
    axes.plot(t, np.degrees(tilt), color=colour, lw=0.9, label=f"shaken at {omega / 2 / np.pi:.0f} Hz")
axes.set(xlabel="time (s)", ylabel="angle from upright (degrees)", ylim=(-40, 190))
axes.legend(frameon=False)
axes.set_title(f"Pivot shaken by ±{1e3 * a:.0f} mm; critical: {critical / 2 / np.pi:.0f} Hz", loc="left", fontsize=10)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

t, tilt, verdict = found[2.0]
down = np.flatnonzero((tilt[:-1] > 0) & (tilt[1:] <= 0))
period = np.diff(t[down])[0] if len(down) > 1 else 2 * (t[np.flatnonzero(tilt[:-1] * tilt[1:] <= 0)[1]] - t[down[0]])
nu = np.sqrt((a * 2 * critical) ** 2 / (2 * l * l) - g / l)
print(f"above: swings about the top every {period:.3f} s, 2π/ν = {2 * np.pi / nu:.3f} s; {verdict}")
print(f"below: falls, to {np.degrees(max(abs(found[0.9][1]))):.0f} degrees")
assert max(abs(tilt)) < 0.15
assert abs(period * nu / (2 * np.pi) - 1) < 0.03
assert max(abs(found[0.9][1])) > 2.5
