"""What a model is worth to a controller: a seven-axis arm under PD, computed torque, and no feedback at all.

A PD controller pulls each joint to its target as if the others were not there. Gravity pulls too, so that the
arm comes to rest beside it, and the joints disturb each other on the way. Computed torque asks the model: inverse
dynamics at the acceleration K (target − q) − D q̇ cancels inertia, Coriolis terms, gravity and friction, and
leaves q̈ = K (target − q) − D q̇ for every joint alike. With K = 100 s⁻², D = 20 s⁻¹ the answer to a step is
1 − (1 + 10t) exp(−10t), to the tolerance of the run, and along a path it does not err at all, while PD is off
by tenths of a radian. The third way replays torques from a table: inverse dynamics of the path at 200 or 1000
instants a second, straight lines between. It begins far better than PD; but without feedback the faults of the
lines, 25 times smaller at five times the rate, grow: an arm that points up is an inverted pendulum.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure

model = ph.load("arm-7")
arm, start = ph.compile(model), np.array(model.start.q)  # rad
reach = np.array([0.6, 0.4, -0.5, 0.5, 0.4, -0.6, 0.8])  # rad
goal, f, K, D = start + reach, np.pi, 100.0, 20.0  # rad, rad/s, s⁻², s⁻¹
M = np.diag(arm.mass_matrix(goal))  # kg m²: PD's gains in proportion


moves = list(zip(start, reach, strict=True))
path = {  # there and back in 2 s, on generic scalars: rad, rad/s, rad/s²
    "target": lambda t: [a + b * (1 - ph.cos(f * t)) / 2 for a, b in moves],
    "speed": lambda t: [b * f * ph.sin(f * t) / 2 for _, b in moves],
    "acceleration": lambda t: [b * f * f * ph.cos(f * t) / 2 for _, b in moves],
}


def table(interval):
    """The torques of the path, every `interval` seconds."""
    t = np.linspace(0.0, 2.0, round(2.0 / interval) + 1)
    return ph.Table(t, arm.inverse_dynamics(*(np.transpose(x(t)) for x in path.values())))


def joints(tau):
    """Times and joint angles of two seconds under an input."""
    run = ph.simulate(model, duration=2.0, tau=tau, tolerance=1e-10)
    return run["time"].values, run["q"].values


(t, stepped), (_, pulled) = joints(ph.ComputedTorque(K, D, goal)), joints(ph.PD(K * M, D * M, goal))
closed, wanted = 1 - (1 + 10 * t) * np.exp(-10 * t), np.transpose(path["target"](t))
inputs = {
    "PD": ph.PD(K * M, D * M, path["target"], path["speed"]),
    "table, every 5 ms": table(5e-3),
    "table, every 1 ms": table(1e-3),
    "computed torque": ph.ComputedTorque(K, D, **path),
}
errors = {label: np.max(abs(joints(tau)[1] - wanted), axis=1) for label, tau in inputs.items()}

figure, (left, middle, right) = new_figure(10.4, 3.5, ncols=3, width_ratios=[1.0, 1.0, 1.3])
for axes, q, title in ((left, pulled, "A step under PD"), (middle, stepped, "A step under computed torque")):
    for k in range(7):
        axes.plot(t, (q[:, k] - start[k]) / reach[k], color=COLOURS[k], lw=1.6, label=f"joint {k + 1}")
    axes.plot(t[::25], closed[::25], "o", color="black", ms=3, mfc="white", label="closed form")
    axes.set(xlabel="time (s)", ylabel="part of the way", xlim=(0, 1.5), ylim=(-0.05, 1.5))
    axes.set_title(title, loc="left", fontsize=10)
middle.legend(frameon=False, fontsize=8.5, loc="lower right")
for (label, error), colour in zip(errors.items(), (1, 0, 4, 2), strict=True):
    right.semilogy(t[1:], error[1:] + 1e-17, color=COLOURS[colour], lw=1.6)
    right.text(2.04, error[-1], label, color=COLOURS[colour], va="center", fontsize=9)
right.set(xlabel="time (s)", ylabel="largest error of a joint (rad)")
right.set_title("There and back along a path", loc="left", fontsize=10)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

law = np.max(abs((stepped - start) / reach - closed[:, None]))
ends = {label: error[-1] for label, error in errors.items()}
print(f"step: computed torque within {law:.0e} of its closed form, PD rests {max(abs(pulled[-1] - goal)):.2f} rad off")
print("path, after 2 s: " + ", ".join(f"{label} {error:.1e} rad" for label, error in ends.items()))
assert law < 1e-9
assert max(abs(pulled[-1] - goal)) > 0.1
assert max(errors["PD"]) > 0.1 > 1e8 * max(errors["computed torque"])
assert 20 < ends["table, every 5 ms"] / ends["table, every 1 ms"] < 30
