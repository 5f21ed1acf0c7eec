"""Six legs carry a plate, and the run says what each of them carries while it shakes.

A Stewart platform hangs together by loops: every leg stands on the ground by a universal joint and holds the plate by
a ball. Pushed to the side a little above its balance, the plate bounces on its springs. What the balls carry is the
force of the constraints, in the axes of the leg: its z component is the thrust of the leg, the others come from the
inertia and the weight of the leg itself. The six forces together are what Newton asks for: m (g + z̈). And in the
end, when the dampers have eaten the bounce, each leg carries a sixth of the weight, whatever path led there. The
conditions keep far from a singular configuration; the run says so.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.result.constrained import constrained
from polhode.show.figure import COLOURS, new_figure, save_figure

model = ph.load("stewart-platform")
push = [1.0, 0, 0, 2.0, 0, 0] + [0] * 18  # m/s and rad/s of the plate; the legs do not fit that yet
run = ph.simulate(model, v=push, duration=5.0, method="rk4", step=1e-3, every=4, move_start=True)
t, mass, g = run["time"].values, 20.0, 9.81


def turned(p, x):
    """x in world axes, from the axes of bodies with quaternions p."""
    return np.stack([np.asarray(ph.quaternion.rotate(a, b)) for a, b in zip(p, x, strict=True)])


legs = range(1, 7)
own = {k: run["reaction_force"].sel(connection=f"ball{k}").values for k in legs}  # on the plate, axes of the leg
world = {k: turned(run["quaternion"].sel(body=f"piston{k}").values, own[k]) for k in legs}
total = sum(world.values())

system = ph.compile(model)
q, v = run["q"].values, run["v"].values
height = system.acceleration(q, v, system.forward_dynamics(q, v, 0 * v), "platform").linear[:, 2]
newton = mass * (g + height)

figure, (left, right) = new_figure(10.0, 3.8, ncols=2)
for k, colour in zip(legs, COLOURS, strict=False):
    left.plot(t, own[k][:, 2], color=colour, lw=1.0, label=f"leg {k}")
left.axhline(0, color="0.7", lw=0.6)
left.set(xlabel="time (s)", ylabel="thrust (N)", xlim=(0, 2))
left.set_title("Thrust of each leg", loc="left", fontsize=10)
left.legend(frameon=False, fontsize=8, ncols=3)
right.plot(t, total[:, 2], color=COLOURS[0], label="six balls together")
right.plot(t, newton, color="0.1", lw=0.9, ls=":", label="m (g + z̈)")
right.axhline(mass * g, color="0.6", lw=0.7)
right.set(xlabel="time (s)", xlim=(0, 2), ylabel="vertical force on the plate (N)")
right.set_title("All together", loc="left", fontsize=10)
right.legend(frameon=False, fontsize=8)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

print(constrained(run))
print(f"forces of the balls against Newton: {np.max(abs(total[:, 2] - newton)):.1e} N")
shares = [float(world[k][-1, 2]) for k in legs]
print("at the end each leg carries", ", ".join(f"{share:.4f}" for share in shares), "N of", mass * g)
assert np.max(abs(total[:, 2] - newton)) < 1e-8 * mass * g
assert np.max(abs(np.array(shares) - mass * g / 6)) < 1e-2 * mass * g
