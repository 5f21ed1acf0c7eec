"""What a hinge must carry: in a linkage at twice the speed, four times as much.

A four-bar linkage is a closed loop: crank, coupler and rocker hang on the ground by three hinges, and a fourth closes
them. That hinge is a constraint, and its multipliers are the force in it. Without gravity, and with nothing that
drives or brakes, the machine runs through the same configurations at any speed, only faster; accelerations, and with
them all forces, grow with the square of the speed. The force is largest near where crank and coupler stretch out:
there the rocker is turned round. The energy stays, so the crank itself does not run evenly. The closing hinge says
five things, of which two are independent in a plane: the others hold by themselves, and their multipliers are zero.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure

linkage = replace(ph.load("four-bar"), gravity=(0, 0, 0))
system = ph.compile(linkage)
start = ph.consistent_start(linkage)  # q and v that the loop allows
figure, (left, right) = new_figure(8.6, 3.3, ncols=2, width_ratios=[1.0, 1.2])
found = {}
for k, factor in enumerate((1, 2)):
    run = ph.simulate(linkage, start.q, factor * start.v, duration=2.0 / factor, samples=801, tolerance=1e-11)
    crank = run["q"].sel(coordinate="motor").values  # rad
    forces = system.constraint_forces(run["q"].values, run["v"].values, np.zeros((801, linkage.nv)))
    force = np.linalg.norm(forces.multipliers[:, :3], axis=1)  # N
    found[factor] = crank, force, forces
    turned = np.degrees(crank - crank[0])
    left.plot(run["time"], turned, color=COLOURS[k], label=("once the speed", "twice the speed")[k])
    right.plot(turned, force, color=COLOURS[k])
    top = int(np.argmax(force[:400]))
    right.text(turned[top] + 18, force[top], f"{force[top]:.0f} N", color=COLOURS[k], va="top")
left.set(xlabel="time (s)", ylabel="angle of the crank from its start (°)")
left.set_title("The crank", loc="left", fontsize=10)
left.legend(loc="lower right", fontsize=8)
right.set(xlabel="angle of the crank from its start (°)", ylabel="force in the closing hinge (N)")
right.set_title("The hinge", loc="left", fontsize=10)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

(slow, weak, _), (fast, strong, reactions) = found[1], found[2]
ratio = strong / weak
names = [
    name for name, x in zip(system.constraint_names, reactions.multipliers.T, strict=True) if np.any(abs(x) > 1e-9)
]
print(
    f"same angles to {np.max(abs(slow - fast)):.0e} rad; forces {ratio.min():.6f} to {ratio.max():.6f} times as large"
)
print(f"rows that carry something: {', '.join(names)}; rank {set(reactions.rank.astype(int).tolist())}")
assert np.max(abs(slow - fast)) < 1e-7
assert np.max(abs(ratio - 4)) < 1e-4
assert set(reactions.rank.astype(int).tolist()) == {2}
