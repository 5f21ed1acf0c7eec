"""What play does: a pendulum takes a wheel along through a gap, the wheel runs against its stops, and both lose.

A pendulum and a wheel turn about one line. A pin of the pendulum has play in the wheel: within the gap neither feels
the other, at its ends they push each other. The wheel has no weight to turn it, so between contacts it runs evenly,
and its speed over time is a staircase; two stops turn it back. All contacts here are compliant, with the law of Hunt
and Crossley, k δ (1 + c δ̇), which never pulls. Whatever k and the masses are, what comes at u leaves at e u, where

    c u − ln(1 + c u) = −c e u − ln(1 − c e u)

so that slow contacts lose little, and nothing leaves faster than 1/c. At the stops the wheel is alone and obeys this
to the accuracy of the run; in the play the weight of the pendulum acts too, in the milliseconds that they touch.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure


def closed_form(u):
    """c u − ln(1 + c u), the same of the speed of approach and of minus the speed of departure."""
    return c * u - np.log1p(c * u)


gap, stop, c = 0.3, 0.5, 0.15  # rad, rad, s/rad
law = {"stiffness": 1e5, "dissipation": c}  # N m/rad, s/rad
about_y = {"type": "revolute", "parent": "world", "axis": (0, 1, 0)}
model = ph.Model(
    "rattle",
    bodies=[ph.Body("rod", 1.0, (0.02, 0.02, 0.0), center=(0, 0, -0.5)), ph.Body("wheel", 2.0, (0.1, 0.2, 0.1))],
    joints=[ph.Joint("hinge", child="rod", **about_y), ph.Joint("axle", child="wheel", **about_y)],
    forces=[ph.Backlash("play", "hinge", "axle", gap=gap, **law), ph.JointStop("stops", "axle", -stop, stop, **law)],
)
run = ph.simulate(model, [0.0, 0.0], [8.0, 0.0], duration=4.0, tolerance=1e-10, samples=16001)
t, q, v = run["time"].values, run["q"].values, run["v"].values
depth = {"play": abs(q[:, 0] - q[:, 1]) - gap / 2, "stops": abs(q[:, 1]) - stop}
speed = {"play": abs(v[:, 0] - v[:, 1]), "stops": abs(v[:, 1])}
touching = (depth["play"] > 0) | (depth["stops"] > 0)
begins, ends = (np.flatnonzero(np.diff(touching.astype(int)) == sign) for sign in (1, -1))
hits = {"play": [], "stops": []}
for a, b in zip(begins, ends + 1, strict=False):  # the last sample before a contact, the first after it
    kinds = [name for name in depth if np.any(depth[name][a:b] > 0)]
    if len(kinds) == 1:
        hits[kinds[0]].append(speed[kinds[0]][[a, b]])
off = [abs(closed_form(came) - closed_form(-went)) for came, went in hits["stops"]]
T, U, W = (run[key].values for key in ("kinetic_energy", "potential_energy", "work"))
rest = np.max(abs(T + U - T[0] - U[0] - W)) / (np.max(T) + np.ptp(U))

figure, (left, middle, right) = new_figure(11.0, 3.6, ncols=3, width_ratios=[1.3, 1.2, 1.0])
left.fill_between(t, q[:, 1] - gap / 2, q[:, 1] + gap / 2, color=COLOURS[4], alpha=0.3, lw=0, label="its play")
left.plot(t, q[:, 1], color=COLOURS[0], lw=1.3, label="wheel")
left.plot(t, q[:, 0], color=COLOURS[1], lw=1.3, label="pendulum")
left.hlines([-stop, stop], 0, 4, color="0.3", lw=0.9, ls="--")
left.set(xlabel="time (s)", ylabel="angle (rad)", ylim=(-0.8, 1.05), xlim=(0, 4))
left.legend(frameon=False, fontsize=8.5, ncols=3, loc="upper right")
middle.plot(t, v[:, 0], color=COLOURS[1], lw=1.0)
middle.plot(t, v[:, 1], color=COLOURS[0], lw=1.3)
middle.set(xlabel="time (s)", ylabel="angular velocity (rad/s)", xlim=(0, 4))
u, w = np.linspace(0, 9, 9001), np.linspace(0.05, 0.69 / c, 400)  # rad/s
right.plot(u := np.interp(closed_form(-w), closed_form(u), u), w / u, color="0.3", lw=1.0, label="closed form")
for (name, found), colour in zip(hits.items(), (COLOURS[1], COLOURS[0]), strict=True):
    u, w = np.transpose(found)
    right.plot(u, w / u, "o", color=colour, ms=5, mfc="white", label=f"{len(u)} contacts, {name}")
right.set(xlabel="speed of approach (rad/s)", ylabel="coefficient of restitution", xlim=(0, 9), ylim=(0.4, 1.02))
right.legend(frameon=False, fontsize=8.5)
left.set_title("Stops dashed", loc="left", fontsize=10)
middle.set_title("The wheel runs in steps", loc="left", fontsize=10)
right.set_title("Hunt and Crossley's contact", loc="left", fontsize=10)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

taken = zip(run["work_source"].values, run["work_by_source"].values[-1], strict=True)
print("; ".join(f"{name}: {len(hits[name])} contacts, work {work:.3f} J" for name, work in taken))
print(f"stops against the closed form: {max(off):.0e}; energy that work does not explain: {rest:.0e} of its scale")
assert (len(hits["stops"]), run.attrs["verdict"]) == (5, "good")
assert max(*off, rest) < 1e-8
