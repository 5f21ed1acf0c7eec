"""A pluck runs along a chain of masses, and every instant of it is the sum of a few modes.

Eight equal masses on a rail, with equal springs between them and to walls at both ends, are the atoms of a crystal in
one dimension. Pulled at one end and let go, the chain carries the pluck to the other wall and back, ever more ragged:
its modes are sines along the chain, and their frequencies are not multiples of one,

    ω_k = 2 √(k/m) sin(k π/(2 (n + 1))),      shape sin(j k π/(n + 1)),      decay b ω_k²/(2 k)

There is a highest one, 2 √(k/m): what is faster does not travel in it. Each spring has a damper b beside it, so that
the matrix of damping is b/k times that of stiffness, modes stay apart, and die the sooner the faster they are: in
the end the lowest alone is left. `ph.linearize` finds these numbers from the machine, and the run follows their
sum over 20 s. The account of energy names each of the nine dampers.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure

n, m, k, b, spacing = 8, 0.5, 200.0, 0.4, 0.1  # 1, kg, N/m, N s/m, m
number = np.arange(1, n + 1)
masses = [f"mass{j}" for j in number]
ends = ["world", *masses, "world"]
law, wall = {"stiffness": k, "damping": b, "rest": spacing}, (spacing * (n + 1), 0, 0)
chain = ph.Model(
    "chain",
    gravity=(0, 0, 0),
    bodies=[ph.Body(mass, m, (1e-4, 1e-4, 1e-4)) for mass in masses],
    joints=[
        ph.Joint(f"rail{j}", "prismatic", "world", mass, axis=(1, 0, 0), position=(spacing * j, 0, 0))
        for j, mass in zip(number, masses, strict=True)
    ],
    forces=[
        ph.Spring(f"spring{j}", ends[j], ends[j + 1], point_b=wall if j == n else (0, 0, 0), **law)
        for j in range(n + 1)
    ],
)
omega = 2 * np.sqrt(k / m) * np.sin(number * np.pi / (2 * (n + 1)))  # rad/s
sigma = b * omega**2 / (2 * k)  # 1/s
damped = np.sqrt(omega**2 - sigma**2)
shapes = np.sin(np.outer(number, number) * np.pi / (n + 1)) * np.sqrt(2 / (n + 1))  # symmetric, its own inverse

plucked = np.array([0.04] + [0.0] * (n - 1))  # m
run = ph.simulate(chain, plucked, duration=20.0, tolerance=1e-10, samples=4001)
t, q = run["time"].values, run["q"].values
s = t[:, None]
parts = (shapes @ plucked) * np.exp(-sigma * s) * (np.cos(damped * s) + sigma / damped * np.sin(damped * s))
error = np.max(abs(q - parts @ shapes))
values = ph.linearize(chain, np.zeros(n)).eigenvalues()
values = sorted(values[values.imag > 0], key=np.imag)
off = np.max(abs(values + sigma - 1j * damped) / omega)
scale = run["kinetic_energy"].max() + np.ptp(run["potential_energy"].values)
rest = float(abs(run["total_energy"] - run["total_energy"][0] - run["work"]).max() / scale)

figure, (left, middle, right) = new_figure(11.0, 3.6, ncols=3, width_ratios=[1.3, 0.9, 1.1])
for j in range(n):
    left.plot(t, j + 1 + 25 * q[:, j], color=COLOURS[0], lw=1.0)
left.set(xlabel="time (s)", ylabel="mass, and its displacement (25 times)", xlim=(0, 4), yticks=number)
left.set_title("The pluck runs to and fro", loc="left", fontsize=10)
along = np.linspace(0, n + 1, 200)
middle.plot(along, 2 * np.sqrt(k / m) * np.sin(along * np.pi / (2 * (n + 1))), color="0.4", lw=1.0, label="closed form")
middle.plot(number, np.abs(values), "o", color=COLOURS[1], ms=5, mfc="white", label="ph.linearize")
middle.set(xlabel="number of the mode", ylabel="frequency (rad/s)", xlim=(0, n + 1), ylim=(0, 44))
middle.legend(frameon=False, fontsize=8.5, loc="lower right")
middle.set_title("There is a highest frequency", loc="left", fontsize=10)
for i, colour in zip((0, 1, 3, 7), COLOURS, strict=False):
    right.semilogy(t, 1e3 * abs(q @ shapes[i]), color=colour, lw=0.6, alpha=0.7)
    right.semilogy(t, 1e3 * shapes[i] @ plucked * np.exp(-sigma[i] * t), color=colour, label=f"mode {i + 1}")
right.set(xlabel="time (s)", ylabel="part of a mode (mm)", xlim=(0, 20), ylim=(1e-3, 1e3))
right.legend(frameon=False, fontsize=8.5, ncols=2)
right.set_title("Fast modes die first", loc="left", fontsize=10)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

print(f"run against the sum of its modes: {error:.0e} m; eigenvalues against the closed form: {off:.0e}")
print(f"energy that work does not explain: {rest:.0e} of its scale")
assert max(error, off) < 1e-9
assert rest < 1e-8
