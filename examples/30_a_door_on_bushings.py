"""A door on rubber bushings droops by what statics says, and swings as on hinges in the limit.

A door held by hinges has one freedom; held by two bushings it has six, of which five are stiff. A bushing pushes back
against every relative motion of two frames, by six stiffnesses and six dampings: here much in all directions, and
little about the vertical, so that it closes the door too. Let go at 60° and undeformed, the door falls by its sag,

    z = m g/(2 k),   lean = m g (w/2)/(2 k a² + 2 k_b),      droop of the far edge: z + w lean

rings, and swings shut like the damped oscillator J θ̈ + 2 d θ̇ + 2 c θ = 0 of a door on rigid hinges. Hinges are the
limit: ten times the stiffness leaves a tenth of the droop, and a tenth of the difference in the swing. What the
closing springs held, and the weight gave in falling, ends as heat in the rubber.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure

m, w, h, a = 25.0, 0.9, 2.0, 0.8  # kg; width, height, half the distance of the hinges, m
bend, close, brake, opened = 50.0, 5.0, 1.5, np.radians(60)  # N m/rad, N m/rad, N m s/rad, rad
J = m * w**2 / 3  # kg m², about the line of the hinges


def door(k):
    """The door on bushings of stiffness k, N/m; its origin on the line of the hinges."""
    c = 0.1 * np.sqrt(2 * k * m)  # N s/m
    law = {"stiffness": (k, k, k, bend, bend, close), "damping": (c, c, c, 1.0, 1.0, brake)}
    inertia = (m * h**2 / 12, m * (w**2 + h**2) / 12, m * w**2 / 12)
    places = {"upper": (0, 0, a), "lower": (0, 0, -a)}
    return ph.Model(
        "door",
        bodies=[ph.Body("door", m, inertia, center=(w / 2, 0, 0))],
        joints=[ph.Joint("air", "free", "world", "door")],
        forces=[ph.Bushing(name, "world", "door", at, at, **law) for name, at in places.items()],
    )


def droop(run):
    """How far the far edge is below where it was hung, m."""
    edge = ph.quaternion.rotate(run["quaternion"].sel(body="door").values, [w, 0.0, 0.0])
    return -(run["q"].values[:, 2] + np.asarray(edge)[:, 2])


sigma, omega = brake / J, np.sqrt(2 * close / J - (brake / J) ** 2)
figure, (left, middle, right) = new_figure(11.0, 3.6, ncols=3)
hung, apart, wrong, rests = [0, 0, 0, np.cos(opened / 2), 0, 0, np.sin(opened / 2)], [], [], []
for colour, k in zip(COLOURS, (1e4, 1e5, 1e6), strict=False):
    run = ph.simulate(door(k), hung, duration=20.0, tolerance=1e-10, samples=8001)
    t, angle = run["time"].values, 2 * np.arctan2(run["q"].values[:, 6], run["q"].values[:, 3])
    hinge = opened * np.exp(-sigma * t) * (np.cos(omega * t) + sigma / omega * np.sin(omega * t))
    apart.append(np.max(abs(angle - hinge)))
    statics = m * 9.81 * (1 / (2 * k) + w * (w / 2) / (2 * k * a**2 + 2 * bend))  # m
    wrong.append(abs(droop(run)[-1] / statics - 1))
    scale = run["kinetic_energy"].max() + np.ptp(run["potential_energy"].values)
    rests.append(float(abs(run["total_energy"] - run["total_energy"][0] - run["work"]).max() / scale))
    left.plot(t, np.degrees(angle), color=colour, lw=1.4)
    middle.semilogy(t, np.degrees(abs(angle - hinge)), color=colour, lw=1.0)
    right.semilogy(t, 1e3 * abs(droop(run)), color=colour, lw=1.0, label=f"{k / 1e3:g} N/mm")
    right.axhline(1e3 * statics, color=colour, lw=0.9, ls="--")
left.plot(t, np.degrees(hinge), color="0.1", lw=0.9, ls=":", label="rigid hinges")
left.set(xlabel="time (s)", ylabel="angle of the door (°)", xlim=(0, 15))
left.legend(frameon=False, fontsize=8.5)
middle.set(xlabel="time (s)", ylabel="difference (°)", xlim=(0, 15), ylim=(1e-5, 1))
right.set(xlabel="time (s)", ylabel="droop of the far edge (mm)", xlim=(0, 2), ylim=(1e-2, 1e3))
right.legend(frameon=False, fontsize=8, ncols=3, loc="upper center", columnspacing=0.8, handlelength=1.2)
titles = "It swings shut", "From a door on rigid hinges", "It droops and rings; statics dashed"
for axes, title in zip((left, middle, right), titles, strict=True):
    axes.set_title(title, loc="left", fontsize=10)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

print("droop against statics " + ", ".join(f"{x:.0e}" for x in wrong))
print("swing against hinges " + ", ".join(f"{x:.1e} rad" for x in apart))
print(f"energy that work does not explain, of its scale: {max(rests):.0e}")
assert max(wrong) < 1e-4
assert np.allclose(np.divide(apart[:-1], apart[1:]), 10, rtol=0.02)
assert max(rests) < 1e-8
