"""An arm weighs what it holds, and finds where its mass centre is, by moving it.

Motors know what torques they give. Torques are linear in masses, first moments and moments of inertia of the links, so
least squares find them from a motion that tells them apart: a Fourier series within the limits of all joints, of many
the one for which the regressor has the least condition number. Here a robot of six joints has a part in its gripper,
1.5 kg, off the axis of its flange; torques are measured with 1 % of noise. All links are known, the flange with what
it holds is not. What is found is a real body: its mass is positive, no moment of inertia exceeds the sum of the others.
It predicts the torques of another motion as well as the noise allows.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure

arm = ph.load("arm-6")
flange = arm.body("flange")
payload, place = 1.5, np.array([0.03, -0.02, 0.09])  # kg, m in the axes of the flange
mass = flange.mass + payload
center = (flange.mass * np.array(flange.center) + payload * place) / mass
spread = [(flange.mass, np.array(flange.center) - center), (payload, place - center)]
inertia = flange.inertia_matrix() + 0.002 * np.eye(3)
inertia = inertia + sum(m * (d @ d * np.eye(3) - np.outer(d, d)) for m, d in spread)
held = replace(flange, mass=mass, center=tuple(center), inertia=tuple(map(tuple, inertia)))
true = replace(arm, bodies=[held if body.name == "flange" else body for body in arm.bodies])
rng = np.random.default_rng(0)


def measured(motion, t):
    """The motion and the torques of the arm with its load, with noise, and how large that is."""
    q, v, vd = motion(t)
    tau = ph.compile(true).inverse_dynamics(q, v, vd)
    noise = 0.01 * np.sqrt(np.mean(tau**2, axis=0))
    return {"q": q, "v": v, "vd": vd, "tau": tau + noise * rng.standard_normal(tau.shape)}, noise


motion = ph.excitation(arm, speed=2.0, acceleration=8.0, trials=60)
data, _ = measured(motion, np.arange(0.0, 10.0, 0.01))
links = [body.name for body in arm.bodies if body.name != "flange"]
found = ph.identify(arm, data, fixed=links)
body = found.model.body("flange")
weighed = body.mass - flange.mass
at = (body.mass * np.array(body.center) - flange.mass * np.array(flange.center)) / weighed

t = np.arange(0.0, 7.0, 0.01)
apart, noise = measured(ph.excitation(arm, period=7.0, trials=2, seed=4), t)
state = apart["q"], apart["v"], apart["vd"]
left = {"empty": apart["tau"] - ph.compile(arm).inverse_dynamics(*state), "found": apart["tau"] - found.torque(*state)}
size = {name: np.sqrt(np.mean(x**2, axis=0)) / noise for name, x in left.items()}

figure, (first, second) = new_figure(9.6, 3.6, ncols=2)
first.plot(t, apart["tau"][:, 1], color="0.4", lw=1.0, label="measured")
first.plot(t, apart["tau"][:, 1] - left["empty"][:, 1], color=COLOURS[1], label="empty arm")
first.plot(t, apart["tau"][:, 1] - left["found"][:, 1], color=COLOURS[0], label="with what was found")
first.set(xlabel="time (s)", ylabel="torque of joint 2 (N m)")
first.legend(frameon=False, fontsize=8.5)
first.set_title("A motion that was not used", loc="left", fontsize=10)
number = np.arange(1, 7)
second.bar(number - 0.2, size["empty"], 0.4, color=COLOURS[1], label="empty arm")
second.bar(number + 0.2, size["found"], 0.4, color=COLOURS[0], label="with what was found")
second.axhline(1.0, color="0.4", lw=0.8)
second.set(xlabel="joint", ylabel="error over noise", yscale="log")
second.legend(frameon=False, fontsize=8.5)
second.set_title("Only noise is left", loc="left", fontsize=10)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

print(
    f"mass {weighed:.4f} kg, {1e3 * abs(weighed - payload):.1f} g off; place {1e3 * np.max(abs(at - place)):.2f} mm off"
)
print(f"error over noise, another motion: {size['empty'].max():.0f} before, {size['found'].max():.2f} after")
assert abs(weighed - payload) < 0.01
assert np.max(abs(at - place)) < 1e-3
assert np.all(size["found"] < 1.2)
