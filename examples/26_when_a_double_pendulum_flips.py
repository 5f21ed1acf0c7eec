"""When the lower rod of a double pendulum first turns over the top: a map of forty thousand starts.

Let go at rest with any two angles, a double pendulum either swings for ever or sooner or later throws its lower rod
over. Where it has not the energy it never does: gravity draws a boundary that can be written down, E ≥ E of the
lower rod upright with the upper one hanging. Beyond the boundary the time of the first flip makes a fractal, seen
since the 1990s: neighbouring starts differ by seconds, and islands of starts that keep swinging remain. Each pixel
is a run with RK4 in a lane of its own, stopped where the rod passes the top. The same study with a million starts
is one command, `polhode sweep`, and fits in two gigabytes: nothing but a few numbers of each run is kept.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.show.figure import new_figure, save_figure

SIDE, DURATION = 200, 10.0
pendulum = ph.load("double-pendulum")
angles = (np.arange(SIDE) + 0.5) * 2 * np.pi / SIDE - np.pi
runs = ph.sweep(
    pendulum, {"start.q.hinge": ph.Grid(angles), "lower": ph.Grid(angles)}, v=[0, 0],
    derived={"start.q.elbow": lambda own: own["lower"] - own["start.q.hinge"]},
    duration=DURATION, step=0.004, method="rk4", every=2500, keep=(),
    stop={"over": ph.Stop("cos((q.hinge + q.elbow)/2)")},
)  # fmt: skip

flipped = runs["status"].values.reshape(SIDE, SIDE) == 2
when = np.where(flipped, runs["end_time"].values.reshape(SIDE, SIDE), np.nan)

# energy of a start at rest, against that of the lower rod upright on the hanging upper one
system = ph.compile(pendulum)
states = runs["sample"].values[:, [0, 2]]
start = system.energy(states, np.zeros_like(states)).potential.reshape(SIDE, SIDE)
needed = float(system.energy([0.0, np.pi], [0.0, 0.0]).potential)
impossible = start < needed
drift = float(np.nanmax(np.where(runs["status"].values == 1, runs["energy_drift"].values, np.nan)))

figure, axes = new_figure(5.6, 4.6)
box = (-180, 180, -180, 180)
drawn = axes.imshow(np.log10(when.T), origin="lower", extent=box, cmap="magma_r", aspect="equal")
figure.colorbar(drawn, ax=axes, label="log₁₀ of the time of the first flip (s)")
axes.contour(np.degrees(angles), np.degrees(angles), start.T, levels=[needed], colors="tab:blue", linewidths=1.2)
axes.grid(visible=False)
axes.set(xlabel="upper rod (°)", ylabel="lower rod (°)")
axes.set_title("White: no flip; within the blue line none is possible", loc="left", fontsize=9)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)
print(f"{flipped.mean():.1%} of {SIDE**2} starts flip within {DURATION:g} s; energy of the others kept to {drift:.1e}")

assert not flipped[impossible].any() and 0.4 < flipped[~impossible].mean() < 1  # noqa: PT018
