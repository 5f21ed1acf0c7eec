"""A skater who pulls in her arms spins faster, and the energy comes from her arms.

The angular momentum stays, the moment of inertia falls, so the spin grows in proportion. What is often left out: the
energy L²/(2 J) grows as well, and somebody has to pay. The arms are pulled inwards against what one calls the
centrifugal force; its work is the gain, to the last digit. The machine is a trunk on a hinge and two sliding masses
that follow a given motion by constraints; the account of energy of the run names them, and their work equals the
energy gained.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure

arm, out_, in_, m = 1.0, 0.9, 0.25, 4.0
trunk = 1.2  # kg m² about the vertical


def distance(t):
    """From out to in, smoothly, between 1 s and 2 s."""
    s = ph.minimum(ph.maximum(t - 1.0, 0.0), 1.0)
    return out_ + (in_ - out_) * s * s * s * (10 - 15 * s + 6 * s * s)


skater = ph.Model(
    "skater",
    bodies=[
        ph.Body("trunk", 50.0, (3.0, 3.0, trunk)),
        *(ph.Body(f"{side} hand", m, (0.001,) * 3) for side in ("left", "right")),
    ],
    joints=[
        ph.Joint("ice", "revolute", "world", "trunk"),
        ph.Joint("left arm", "prismatic", "trunk", "left hand", axis=(-1, 0, 0)),
        ph.Joint("right arm", "prismatic", "trunk", "right hand", axis=(1, 0, 0)),
    ],
    constraints=[
        ph.Constraint(f"{side} muscle", "prescribed", joint=f"{side} arm", value=distance) for side in ("left", "right")
    ],
)
run = ph.simulate(skater, q=[0, out_, out_], v=[3.0, 0, 0], duration=3.0, samples=601, tolerance=1e-11)
t, spin = run["time"].values, run["v"].sel(dof="ice").values
r = run["q"].sel(coordinate="left arm").values
J = trunk + 2 * m * r**2 + 2 * 0.001
L = J * spin
energy = run["total_energy"].values
drift = float(np.max(abs(energy - energy[0] - run["work"].values)))

figure, (left, right) = new_figure(9.5, 3.8, ncols=2)
left.plot(t, spin / 2 / np.pi, color=COLOURS[0])
left.set(xlabel="time (s)", ylabel="turns a second")
left.set_title(f"From {spin[0] / 2 / np.pi:.2f} to {spin[-1] / 2 / np.pi:.2f} turns a second", loc="left", fontsize=10)
right.plot(t, energy - energy[0], color=COLOURS[1], lw=3, label="energy gained")
right.plot(t, run["work"], color="0.1", lw=1, ls="--", label="work of the arms")
right.set(xlabel="time (s)", ylabel="J")
right.legend(frameon=False)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

gain = L[0] ** 2 / 2 * (1 / J[-1] - 1 / J[0])
print(
    f"spin × {spin[-1] / spin[0]:.6f}, inertia ÷ {J[0] / J[-1]:.6f}; "
    f"energy + {energy[-1] - energy[0]:.6f} J, L²/2J: {gain:.6f} J"
)
print(f"energy less work: {drift:.0e} J; angular momentum kept to {np.ptp(L) / L[0]:.0e}; {run.attrs['verdict']}")
assert abs(spin[-1] / spin[0] * J[-1] / J[0] - 1) < 1e-9
assert abs(energy[-1] - energy[0] - gain) < 1e-7
assert drift < 1e-7
