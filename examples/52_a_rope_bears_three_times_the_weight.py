"""A swing that is let go from the horizontal pulls three times its weight at the bottom, on any rope.

The tension of a pendulum's rod is m g cos θ + m v²/l, and energy gives v² = 2 g l (cos θ − cos θ₀): together m g (3
cos θ − 2 cos θ₀), whatever the length. From the horizontal that is three weights at the bottom; a full circle that
just keeps the rope taut at the top, started with v² = 5 g l, pulls six. A System knows what its joints bear: the
reactions of all samples of a run are one call. The hinge of a uniform rod bears less, 5/2 weights from the horizontal,
since its mass is not all at its end.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure

g = 9.81


def swing(l, uniform=False):
    inertia, centre = ((l * l / 12, l * l / 12, 0), l / 2) if uniform else ((0, 0, 0), l)
    return ph.Model(
        "swing",
        bodies=[ph.Body("bob", 1.0, inertia, center=(0, 0, -centre))],
        joints=[ph.Joint("hinge", "revolute", "world", "bob", axis=(0, 1, 0))],
    )


def pull(model, q, v, duration):
    """Angle, and the size of the force in the hinge over the weight."""
    run = ph.simulate(model, q=[q], v=[v], duration=duration, samples=1001, tolerance=1e-12)
    q, v = run["q"].values, run["v"].values
    force = ph.compile(model).joint_reactions(q, v, np.zeros_like(v)).force[:, 0]  # of all samples at once
    return q[:, 0], np.linalg.norm(force, axis=-1) / g


figure, axes = new_figure(7.5, 4.0)
worst = []
for l, colour in ((0.5, COLOURS[0]), (2.0, COLOURS[1])):
    theta, size = pull(swing(l), np.pi / 2, 0.0, 2.2 * np.sqrt(l / g))
    worst.append(np.max(abs(size - 3 * np.cos(theta))))
    axes.plot(np.degrees(theta), size, color=colour, lw=3.5 - 1.3 * l, label=f"rope of {l} m, from the horizontal")
theta, size = pull(swing(1.0), 0.0, np.sqrt(5 * g), 2.0)
worst.append(np.max(abs(size - (3 * np.cos(theta) + 3))))
axes.plot(np.degrees(theta) % 360 - 180, size, ".", ms=1, color=COLOURS[2], label="full circle, angle from the top")
theta, rod = pull(swing(1.0, uniform=True), np.pi / 2, 0.0, 1.2)
bottom = rod[np.argmin(abs(theta))]
axes.plot(np.degrees(theta), rod, color="0.4", ls="--", label="uniform rod")
axes.set(xlabel="angle (degrees)", ylabel="pull over weight")
axes.legend(frameon=False, fontsize=8.5)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

print(f"pull against 3 cos θ − 2 cos θ₀: {max(worst):.0e} weights; uniform rod at the bottom {bottom:.4f} weights")
assert max(worst) < 1e-9
assert abs(bottom - 2.5) < 1e-4
