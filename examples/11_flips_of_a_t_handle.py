"""When does a T-handle turn over? Events find the flips; elliptic functions say when they are due.

Spun about its stem, the axis of its middle moment of inertia, a T-handle spins on as if nothing could happen,
turns over within a second, spins on the other way round, turns back, and so on for ever (Dzhanibekov saw
it in orbit in 1985; it is all in Euler's equations). A flip is the instant at which the spin ω₁ about the stem, in
body axes, passes through zero: an event of `simulate`, found by dense output within a step. Flips are half
a period 2K(m)/λ of Jacobi's functions apart (Whittaker 1937, §69), and K grows as a logarithm towards the
separatrix, m → 1: the better the spin is aimed along the stem, the longer the handle waits, (2 ln 10)/λ
for each digit; but it never waits for ever. The film shows one flip, seen from across the momentum.
"""

from pathlib import Path

import numpy as np
from scipy.special import ellipkm1

import polhode as ph
from polhode.quaternion import rotate
from polhode.show.figure import COLOURS, new_figure, save_figure

model = ph.load("t-handle")  # stem along x, bar along y
B, A, C = np.array(model.bodies[0].inertia)  # kg m², middle, least and largest moment
flip = ph.Event("flip", lambda t, q, v: v[3])


def flips(aim, duration):
    """A run with ω = (10, aim, aim) rad/s at the start, and the times of its flips, s."""
    run = ph.simulate(model, v=[0, 0, 0, 10.0, aim, aim], duration=duration, tolerance=1e-13, events=[flip])
    return run, run["event_time"].values


def due(aim):
    """Half a period: the time between two flips, s."""
    below = B * (B - A) * 100 + C * (C - A) * aim**2  # L² − 2TA
    middle = (A * (A - B) + C * (C - B)) * aim**2  # L² − 2TB, above 0
    m1 = (C - A) * middle / ((C - B) * below)  # 1 − m
    return 2 * ellipkm1(m1) / np.sqrt((C - B) * below / (A * B * C))


run, times = flips(0.01, 20.0)
t, q, omega = run["time"].values, run["q"].values, run["v"].values[:, 3:]
error = max(abs(np.diff(times) - due(0.01)))
exact = ph.exact.free_body([B, A, C], [10.0, 0.01, 0.01], times).omega[:, 0]
aims = 10.0 ** np.arange(-4, 1)  # rad/s
waits = np.array([np.diff(flips(aim, 2.2 * due(aim))[1])[0] for aim in aims])

figure, grid = new_figure(9.6, 4.8, nrows=2, ncols=2, height_ratios=[1.0, 2.4], width_ratios=[1.7, 1.0])
(film, unused), (left, right) = grid
unused.remove()
film.set_subplotspec(film.get_gridspec()[0, :])
parts = {COLOURS[0]: [[-0.011, -0.05, 0], [-0.011, 0.05, 0]], COLOURS[1]: [[-0.011, 0, 0], [0.049, 0, 0]]}  # m
for k, time in enumerate(times[1] + np.linspace(-0.6, 0.6, 11)):
    p = ph.exact.free_body([B, A, C], [10.0, 0.01, 0.01], time).p
    turned = {colour: rotate(p, ends) for colour, ends in parts.items()}
    for colour in sorted(turned, key=lambda colour: -np.sum(turned[colour][:, 1])):  # the far part first
        film.plot(0.125 * k + turned[colour][:, 0], turned[colour][:, 2], color=colour, lw=7, solid_capstyle="round")
    film.text(0.125 * k, -0.07, f"{time - times[1]:+.2f} s", ha="center", va="top", fontsize=8)
film.set(aspect="equal", ylim=(-0.09, 0.06))
film.axis("off")
for k in (0, 1, 2):
    left.plot(t, omega[:, k], color=COLOURS[(1, 0, 2)[k]], label=f"$\\omega_{k + 1}$", lw=1.3)
left.plot(times, 0 * times, "o", color="black", ms=5, mfc="white", label="flip", zorder=3)
left.set(xlabel="time (s)", ylabel="angular velocity, body axes (rad/s)")
left.set_title(f"Flips every {due(0.01):.4f} s", loc="left", fontsize=10)
left.legend(frameon=False, ncols=4, loc="lower right", bbox_to_anchor=(1.0, 0.98), fontsize=9)
fine = np.geomspace(3e-5, 4, 200)
right.semilogx(fine, due(fine), color="black", lw=1.2, label="2K(m)/λ")
right.semilogx(aims, waits, "o", color=COLOURS[1], ms=5, mfc="white", label="events")
right.set(xlabel="rates across the stem at the start (rad/s)", ylabel="time between flips (s)")
right.legend(frameon=False, fontsize=9)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

apart = max(abs(waits / due(aims) - 1))
print(f"{len(times)} flips in 20 s, {due(0.01):.6f} s apart to {error:.0e} s; all aims to {apart:.0e}, relative")
assert len(times) == 6
assert max(error, *abs(exact)) < 1e-8
assert apart < 1e-6
