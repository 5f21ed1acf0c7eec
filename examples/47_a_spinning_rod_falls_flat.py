"""A satellite that spins about its long axis ends up tumbling end over end, if anything in it rubs.

Explorer 1 was a pencil, spun about its length like a bullet. Within hours it turned over and spun about a transverse
axis instead. A rigid body may spin about its smallest moment for ever; but four whip antennas bent a little at every
turn, and what bends gets warm. The angular momentum h cannot leave, the energy can, and for a given h the least energy
is h²/(2 I_max): the flat spin. The machine is a rod with two small pendulums in place of the antennas, on hinges with
springs and dampers. The account of energy says that what the spin loses is what the dampers took, to the last digit.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure

long_, across = 0.6, 2.0  # kg m²
sides = (("left", -1), ("right", 1))
mast = {"stiffness": 0.4, "damping": 0.15}
satellite = ph.Model(
    "Explorer",
    gravity=(0, 0, 0),
    bodies=[
        ph.Body("hull", 14.0, (across, across, long_)),
        *(ph.Body(name, 0.25, (1e-3, 1e-3, 1e-4), center=(side * 0.5, 0, 0)) for name, side in sides),
    ],
    joints=[
        ph.Joint("space", "free", "world", "hull"),
        *(ph.Joint(f"root {name}", "revolute", "hull", name, axis=(0, 1, 0), position=(side * 0.1, 0, 0.5), **mast)
          for name, side in sides),
    ],
)  # fmt: skip
spin = np.array([0.0, 0.02, 5.0])
run = ph.simulate(satellite, v=[0, 0, 0, *spin, 0, 0], duration=400.0, samples=4001, tolerance=1e-9)
t = run["time"].values
omega = run["omega_body"].sel(body="hull").values
h = np.linalg.norm(run["angular_momentum"].values, axis=1)
nutation = np.degrees(np.arctan2(np.hypot(omega[:, 0], omega[:, 1]), abs(omega[:, 2])))
energy = run["total_energy"].values
drift = float(np.max(abs(energy - energy[0] - run["work"].values)) / energy[0])

figure, (left, right) = new_figure(9.5, 3.8, ncols=2)
left.plot(t, nutation, color=COLOURS[0])
left.set(xlabel="time (s)", ylabel="ω from the long axis (degrees)", ylim=(0, 95))
left.set_title("It lies down", loc="left", fontsize=10)
right.plot(t, energy, color=COLOURS[1], label="energy")
right.plot(t, energy[0] + run["work"], color="0.1", lw=0.8, ls=":", label="start less what dampers took")
right.axhline(h[0] ** 2 / 2 / (across + 0.2), color="0.6", lw=0.8)
right.set(xlabel="time (s)", ylabel="energy (J)")
right.legend(frameon=False)
right.set_title("Momentum stays, energy goes", loc="left", fontsize=10)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

print(
    f"ω is {nutation[0]:.1f} degrees from the long axis at first and {nutation[-200:].mean():.1f} at last; "
    f"{run.attrs['verdict']}"
)
print(
    f"energy {energy[0]:.3f} → {energy[-1]:.3f} J, unexplained {drift:.0e}; "
    f"angular momentum kept to {np.ptp(h) / h[0]:.0e}"
)
assert nutation[0] < 1
assert nutation[-200:].mean() > 80
assert drift < 1e-7
assert np.ptp(h) / h[0] < 1e-8
