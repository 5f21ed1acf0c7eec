"""Forces of the air on an aeroplane without engine: it finds a steady glide, and with its tail set straight, a dive.

Air pushes against a moving body with the square of its speed, and not alike in all directions: little along the
fuselage (c), much across the wing (d). A function of how the body moves says so, in its own axes, and `ph.BodyForce`
puts it where it acts: at the mass centre, and smaller at the tail. A tail set at an angle ε turns the body until the
wind blows along it, tan α = ε; then force and weight must be opposite and equal,

    V² = m g/√(c² cos² α + d² sin² α),   D = V² (c cos² α + d sin² α),   sin γ = D/(m g)

with the speed V and the slope γ of the glide. It ends there however it was thrown, after swings in which height and
speed change places. With ε = 0 it is a dart, which dives at √(m g/c) in the end, dropped as v = V tanh(g t/V).
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure

m, g, c, d, epsilon = 1.0, 9.81, 0.01, 1.0, -0.08  # kg, m/s², kg/m, kg/m, 1


def air(t, body, along, across, epsilon):
    """Force of the air on a wing that is set at an angle, N, in body axes."""
    x, y, z = body.velocity
    return -ph.length(body.velocity) * ph.Vec([along * x, across * y, across * (z - epsilon * x)])


wing, tail = {"along": c, "across": d, "epsilon": 0.0}, {"along": 0.0, "across": 0.15, "epsilon": epsilon}
glider = ph.Model(
    "glider",
    bodies=[ph.Body("glider", m, (0.03, 0.04, 0.06))],
    joints=[ph.Joint("air", "free", "world", "glider")],
    forces=[
        ph.BodyForce("wing", air, "glider", axes="body", numbers=wing),
        ph.BodyForce("tail", air, "glider", point=(-0.6, 0, 0), axes="body", numbers=tail),
    ],
)


def flight(epsilon, speed, duration, down=0.0):
    """A run with the tail at an angle, thrown level, or turned nose down by an angle, rad."""
    q, v = [0, 0, 0, np.cos(down / 2), 0, np.sin(down / 2), 0], [speed, 0, 0, 0, 0, 0]
    return ph.simulate(glider.with_numbers({"forces.tail.numbers.epsilon": epsilon}), q, v, duration, tolerance=1e-10)


alpha, fall = np.arctan(epsilon), np.sqrt(m * g / c)  # rad, m/s
V = np.sqrt(m * g / np.hypot(c * np.cos(alpha), d * np.sin(alpha)))  # m/s
gamma = np.arcsin(V**2 * (c * np.cos(alpha) ** 2 + d * np.sin(alpha) ** 2) / (m * g))  # rad
runs = {"glider": flight(epsilon, 20.0, 120.0), "dart": flight(0, 20.0, 40.0), "dropped": flight(0, 0, 40.0, np.pi / 2)}
figure, (left, middle, right) = new_figure(11.0, 3.6, ncols=3)
speeds, rests = {}, []
for (name, run), colour in zip(runs.items(), COLOURS, strict=False):
    t, at, T, U = (run[key].values for key in ("time", "q", "kinetic_energy", "potential_energy"))
    speeds[name] = np.linalg.norm(run["v"].values[:, :3], axis=1)
    rests.append(np.max(abs(T + U - T[0] - U[0] - run["work"].values)) / (np.max(T) + np.ptp(U)))
    left.plot(at[:, 0], at[:, 2], color=colour, lw=1.4, label=name)
    middle.plot(t, speeds[name], color=colour, lw=1.4)
    if name == "glider":
        slope = np.arcsin(-run["v"].values[-1, 2] / speeds[name][-1])
        for label, x, tint in (("kinetic", T, 0), ("of height", U, 2), ("work of the air", run["work"].values, 1)):
            right.plot(t, x - x[0], color=COLOURS[tint], lw=1.4, label=label)
left.set(xlabel="x (m)", ylabel="z (m)", xlim=(-20, 450), ylim=(-150, 30))
middle.hlines([V, fall], 0, 40, color="0.3", lw=0.9, ls="--")
middle.set(xlabel="time (s)", ylabel="speed (m/s)", xlim=(0, 40))
middle.set_title("Each finds its speed; closed forms dashed", loc="left", fontsize=10)
right.set(xlabel="time (s)", ylabel="energy since the start (J)", xlim=(0, 40), ylim=(-1000, 250))
right.set_title("The glider's account", loc="left", fontsize=10)
left.legend(frameon=False, fontsize=8.5)
right.legend(frameon=False, fontsize=8.5)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

ends = abs(speeds["glider"][-1] - V) / V, abs(slope - gamma), abs(speeds["dart"][-1] - fall) / fall
off = np.max(abs(speeds["dropped"] - fall * np.tanh(g * t / fall)))
print(f"glides at {V:.3f} m/s, {np.degrees(gamma):.2f}° down, dives at {fall:.3f} m/s; found to {max(ends):.0e}")
print(f"dropped: {off:.0e} m/s from tanh; energy that work does not explain: {max(rests):.0e} of its scale")
assert max(ends) < 1e-6
assert max(off, *rests) < 1e-8
