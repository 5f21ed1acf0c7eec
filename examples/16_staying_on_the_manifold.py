"""What keeps a closed loop closed: nothing, Baumgarte's springs, multipliers in the step, or projection.

The equations of motion know the loop of a four-bar only by its second derivative, A v̇ = b. An integrator that
solves them so lets the loop open: its errors of velocity add up to a gap that grows and grows. Baumgarte's
stabilisation makes the gap fade like a damped spring, and leaves what the last fraction of a second brought. Where the
multipliers are unknowns of each step, positions are held to rounding: the generalised-α method (index 3) leaves the
velocities off by h², the equations of Gear, Gupta and Leimkuhler (index 2) hold both. Projection after each step, in
the metric of the mass matrix, does the same for any method, and is what `simulate` does unless told otherwise.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure

model = ph.load("four-bar")
ways = {
    "none": {"constraints": "none"},
    "baumgarte": {"constraints": "baumgarte", "baumgarte": (10, 10)},  # 1/s
    "index-3": {"constraints": "index-3", "method": "generalized-alpha", "step": 2e-3},  # s
    "ggl": {"constraints": "ggl", "method": "radau2", "step": 2e-3},
    "project": {"constraints": "project"},
}
gaps, rates, drifts = {}, {}, {}
for label, options in ways.items():
    run = ph.simulate(model, duration=20.0, tolerance=1e-6, samples=401, **options)
    gaps[label] = np.nanmax(abs(run["constraint_residual"].values), axis=1)  # m, rad
    rates[label] = np.max(abs(run["constraint_rate"].values), axis=1)  # m/s, rad/s
    energy = run["total_energy"].values
    drifts[label] = abs(energy[-1] - energy[0])
t = run["time"].values

figure, (left, right) = new_figure(10.0, 3.8, ncols=2)
for axes, values, title in (
    (left, gaps, "Gap of the loop (m)"),
    (right, rates, "Rate of the gap (m/s)"),
):
    for (label, value), colour in zip(values.items(), COLOURS, strict=False):
        axes.semilogy(t[1:], np.maximum(value[1:], 1e-18), color=colour, lw=1.2, label=label)
    axes.set(xlabel="time (s)", ylim=(1e-18, 1e-1))
    axes.set_title(title, loc="left", fontsize=10)
right.legend(frameon=False, fontsize=8.5, ncols=3, loc="center")
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

late = slice(200, None)
for label in ways:
    worst = max(gaps[label][late]), max(rates[label][late])
    print(f"{label:10} gap {worst[0]:.0e} m, its rate {worst[1]:.0e} m/s, energy off by {drifts[label]:.0e} J")
assert max(gaps["none"][late]) > 30 * max(gaps["baumgarte"][late])
assert max(gaps["baumgarte"][late]) > 1e3 * max(gaps["index-3"][late])
assert max(rates["index-3"]) > 1e6 * max(rates["ggl"])
assert max(*gaps["ggl"], *gaps["project"], *rates["ggl"], *rates["project"]) < 1e-12
