"""A coin that rolls upright falls below a certain speed, and above it wobbles forever.

A disk stands on its edge like a pencil on its tip. When it rolls, a small lean turns its path towards the side it
leans to, as a bicycle without a rider; fast enough, the turn catches the fall. With moments A across and C along its
axle and the spin ω, small leans obey λ² = (m g r − C (C + m r²) ω²/A)/(A + m r²): for a thin disk the critical speed is
v² = g r/3, less than walking pace for a plate. It is not a matter of friction: the constraint is exact, nothing is
lost, and the wobble never dies. The two conditions of rolling are of velocities; what they forbid is told by name.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure

m, r, g = 1.0, 0.3, 9.81
A, C = m * r * r / 4, m * r * r / 2
disk = ph.Model(
    "coin",
    bodies=[ph.Body("coin", m, (A, A, C))],
    joints=[ph.Joint("flight", "free", "world", "coin")],
    constraints=[ph.Constraint("ground", "rolling-disk", body_b="coin", radius=r)],
)
critical = np.sqrt(g * r / 3)  # m/s


def upright(speed, lean_rate=0.0):
    """Rolling along −x with the axle along −y, and falling a little."""
    tilt = [np.cos(np.pi / 4), np.sin(np.pi / 4), 0, 0]
    return [0, 0, r, *tilt], [-speed, -r * lean_rate, 0, lean_rate, 0, speed / r]


def lean(run):
    """How far the axle is above the horizontal, rad."""
    w, x, y, z = run["quaternion"].sel(body="coin").values.T
    return np.arcsin(np.clip(w * w - x * x - y * y + z * z, -1, 1))


figure, axes = new_figure(7.5, 3.8)
rates = {}
for label, speed, colour in (("slower", 0.9, COLOURS[1]), ("faster", 1.3, COLOURS[0])):
    start = ph.consistent_start(disk, *upright(speed * critical, 1e-3))
    run = ph.simulate(disk, start.q, start.v, duration=1.5, samples=301, tolerance=1e-11)
    t, angle = run["time"].values, lean(run)
    squared = (m * g * r - C * (C + m * r * r) * (speed * critical / r) ** 2 / A) / (A + m * r * r)
    rate = np.sqrt(abs(squared))
    expected = 1e-3 * (np.sinh(rate * t) if squared > 0 else np.sin(rate * t)) / rate
    rates[label] = np.max(abs(abs(angle) - abs(expected))) / np.max(abs(expected))
    what = "falls at the rate" if squared > 0 else "wobbles at the rate"
    print(f"{speed:.1f} × {critical:.4f} m/s: {what} {rate:.4f} 1/s; small motions are off by {rates[label]:.1e}")
    axes.plot(t, 1e3 * abs(angle), color=colour, label=f"{speed} × critical speed")
    axes.plot(t, 1e3 * abs(expected), color="0.2", lw=0.8, ls=":")
axes.set(xlabel="time (s)", ylabel="lean (mrad)", yscale="log", ylim=(1e-2, 1e2))
axes.legend(frameon=False)
axes.set_title("Upright coin, pushed by 1 mrad/s; dotted: linear theory", loc="left", fontsize=10)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

growth = [max((ph.linearize(disk, *upright(k * critical)).eigenvalues() ** 2).real) for k in (1 - 1e-6, 1 + 1e-6)]
print(f"largest λ² just below and above the critical speed: {growth[0]:.2e}, {growth[1]:.2e} 1/s²")
assert growth[0] > 1e-6 > abs(growth[1])
assert max(rates.values()) < 1e-3
