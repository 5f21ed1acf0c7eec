"""A propeller's blades stiffen as it turns, and multiples of its speed must not meet their frequencies.

A blade that turns is pulled outwards by its own mass, and a blade under tension is stiffer against flapping: Southwell
found ω² ≈ ω₀² + a Ω². A gust or the wake of a wing excites it once, twice, three times a turn, so one draws all
frequencies against the speed, and the lines of one, two, three oscillations a turn: where they cross, blades break. It
is Campbell's diagram. The centrifugal stiffening needs no switch here: beams of generalised strains with terms of
second order have it. `ph.campbell` finds the steady rotation at each speed and the modes about it, followed by their
shapes; flapping of a blade on a hub of no size is known to eight digits from a spectral method, and the dots in the
figure are these.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure

L, EI, mass = 0.8, 60.0, 0.9  # m, N m², kg/m
section = ph.Section(
    axial=4e6, torsion=40.0, bending_y=EI, bending_z=30 * EI, mass=mass, inertia_y=1e-6, inertia_z=4e-5
)
blades = [
    ph.Beam(f"blade {k}", section, start=("hub", (0, 0, 0)), end=(side * L, 0, 0), elements=4)
    for k, side in enumerate((1, -1))
]
propeller = ph.Model(
    "propeller",
    gravity=(0, 0, 0),
    bodies=[ph.Body("hub", 2.0, (0.01, 0.01, 0.02))],
    joints=[ph.Joint("shaft", "revolute", "world", "hub", axis=(0, 0, 1))],
    beams=blades,
)
unit = np.sqrt(EI / (mass * L**4))  # rad/s
speeds = unit * np.array([0.0, 2.0, 4.0, 7.0, 10.0, 12.0])
found = ph.campbell(propeller, speeds, modes=6)
flap = {2.0: (4.13731957,), 12.0: (13.1701505,)}  # of √(EI/ρA L⁴), rotating cantilever
figure, axes = new_figure(7.5, 4.6)
for order in (1, 2, 3, 4):
    axes.plot(speeds / unit, order * speeds / unit, color="0.8", lw=0.8)
    axes.text(12.1, min(order * 12, 39.5), f"{order}×", color="0.5", fontsize=8)
for k, path in enumerate(found.frequencies.T):
    axes.plot(speeds / unit, path / unit, color=COLOURS[k % 6], lw=1.4)
for eta, values in flap.items():
    axes.plot([eta], values, "o", color="0.1", mfc="white", ms=6)
for crossing in found.crossings((1, 2, 3, 4)):
    axes.plot(crossing.speed / unit, crossing.order * crossing.speed / unit, "x", color=COLOURS[1], ms=5)
axes.set(xlabel="speed, √(EI/ρAL⁴)", ylabel="frequency, √(EI/ρAL⁴)", xlim=(0, 12.6), ylim=(0, 40))
axes.set_title(
    "Modes of a propeller; circles: a blade alone, exactly; crosses: speeds to avoid", loc="left", fontsize=10
)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

errors = []
for eta, values in flap.items():
    row = found.frequencies[list(speeds).index(eta * unit)] / unit
    errors += [float(np.nanmin(abs(row - value)) / value) for value in values]
told = ", ".join(f"{error:.1e}" for error in errors)
print(f"flapping against the spectral solution: {told} with 4 elements a blade")
avoid = found.crossings((1, 2, 3, 4))
print(f"speeds to avoid: {len(avoid)}; the first at {avoid[0].speed:.1f} rad/s")
assert max(errors) < 2e-3
assert found.frequencies[-1, 0] > 2.5 * found.frequencies[0, 0]
