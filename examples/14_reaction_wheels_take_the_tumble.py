"""Where the tumble goes: a spacecraft stopped by its reaction wheels, by a controller in Python every second.

No torque from outside: the angular momentum cannot be destroyed, only moved. Motors push the hub one way and
three wheels the other; when the hub stands still the wheels hold all of the momentum, in the direction that it
always had in space. The flight computer is a Python function called at its own period, ph.Sampled: from attitude
and rates a torque for each motor, at most 0.4 N m, held until the next call; between calls the run is
compiled. Its law is quaternion feedback, torque = −K sign(p₀) p − D ω, which turns the shorter way round. How
often it must be called only a sampled run can tell: designed in continuous time, with 0.2 rad/s and a damping
ratio of 0.8, it works at 1 s, rings at 5 s, and at 8 s it keeps up the tumble that it was to stop.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.quaternion import rotate
from polhode.show.figure import COLOURS, new_figure, save_figure

craft = ph.load("spacecraft")  # a hub, free, and three wheels on its axes
J, wheel, most = np.array([40.0, 45.0, 33.0]), 0.06, 0.4  # kg m², kg m², N m
K, D = 2 * 0.2**2 * J, 2 * 0.8 * 0.2 * J  # N m, N m s: 0.2 rad/s, damping 0.8
turned = [0.0, 0.0, 0.0, *np.array([1.0, 1.5, -2.0, 1.0]) / np.sqrt(8.25), 0.0, 0.0, 0.0]
tumbling = np.array([0.0, 0.0, 0.0, 0.06, -0.09, 0.05, 0.0, 0.0, 0.0])  # m/s, rad/s
tumbling[:3] -= ph.compile(craft).momentum(turned, tumbling).linear / 215.0  # kg; the mass centre at rest


def flight_computer(t, q, v):
    """Torques of the motors, from the hub's attitude and rates."""
    p, omega = q[3:7], v[3:6]
    wanted = -K * np.copysign(1.0, p[0]) * p[1:] - D * omega  # on the hub
    return np.concatenate([np.zeros(6), -np.clip(wanted, -most, most)])


def flight(period):
    """Four minutes with this period of the controller, s."""
    tau = ph.Sampled(flight_computer, period)
    return ph.simulate(craft, turned, tumbling, 240.0, tau, tolerance=1e-10, samples=2401)


def size(x):
    """Lengths of vectors."""
    return np.linalg.norm(x, axis=-1)


runs = {period: flight(period) for period in (1.0, 5.0, 8.0)}
run = runs[1.0]
t, p, v = run["time"].values, run["q"].values[:, 3:7], run["v"].values
total = run["angular_momentum"].values  # space axes, N m s
stored = rotate(p, wheel * v[:, 6:])  # in the spin of the wheels
attitudes = {period: run["q"].values[:, 3:7].T for period, run in runs.items()}
pointing = {period: 2 * np.arctan2(size(p[1:].T), abs(p[0])) for period, p in attitudes.items()}  # rad

figure, (left, middle, right) = new_figure(10.4, 3.5, ncols=3)
for k, axis in enumerate("xyz"):
    left.plot(t, v[:, 3 + k], color=COLOURS[k], lw=1.5, label=f"$\\omega_{axis}$")
    middle.plot(t, total[:, k] - stored[:, k], color=COLOURS[k], lw=1.5)
    middle.plot(t, stored[:, k], color=COLOURS[k], lw=1.5, ls="--")
    middle.plot(t, total[:, k], color=COLOURS[k], lw=0.9, ls=":")
left.set(xlabel="time (s)", ylabel="angular velocity of the hub (rad/s)", xlim=(0, 100))
left.set_title("The hub comes to rest", loc="left", fontsize=10)
left.legend(frameon=False, fontsize=9)
middle.set(xlabel="time (s)", ylabel="angular momentum, space axes (N m s)", xlim=(0, 100))
middle.set_title("Hub (solid), wheels (dashed), sum (dotted)", loc="left", fontsize=10)
for (period, angle), colour in zip(pointing.items(), (6, 5, 1), strict=True):
    right.semilogy(t, angle, color=COLOURS[colour], lw=1.4, label=f"every {period:g} s")
right.set(xlabel="time (s)", ylabel="angle to the target (rad)", ylim=(1e-9, 10))
right.set_title("Pointing, by the controller's period", loc="left", fontsize=10)
right.legend(frameon=False, fontsize=9, loc="lower left")
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

kept, rest = max(size(total - total[0])) / size(total[0]), size(total[-1] - stored[-1]) / size(total[0])
print(f"momentum {size(total[0]):.3f} N m s, kept to {kept:.0e}; at the end the hub holds {rest:.0e} of it")
print("angle after 4 min: " + ", ".join(f"every {k:g} s {angle[-1]:.0e} rad" for k, angle in pointing.items()))
assert kept < 1e-10
assert max(rest, size(v[-1, 3:6]), pointing[1.0][-1], pointing[5.0][-1]) < 1e-6
assert np.max(pointing[8.0][-600:]) > 0.2
