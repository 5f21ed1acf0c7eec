"""Where can an arm set things down? In a ring, the same in every direction.

A robot of six joints is asked to hold its flange downwards over each of 14,641 points of a table. The answers of
`ph.inverse_kinematics` say which points it reaches, and how far away it stays from all others. Its first joint turns
everything about the vertical, all the way round, so that no direction differs from another: what is reached must be a
ring. The radii of that ring are found along one ray, by asking for ever closer points, and decide for all points of the
table.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure

arm, height = ph.load("arm-6"), 0.1  # m


def asked(x, y):
    """The answers for points of the table: the flange points down, and may turn about its axis."""
    places = np.stack(np.broadcast_arrays(x, y, height), axis=-1)
    return ph.inverse_kinematics(arm, {"flange": ph.Target(position=places, direction=(0, 0, -1))})


axis = np.linspace(-1.2, 1.2, 121)
x, y = np.meshgrid(axis, axis)
table = asked(x, y)
radius = np.hypot(x, y)

ray = np.linspace(0.0, 1.2, 241)
on_ray = asked(ray, 0.0)
first, last = np.flatnonzero(on_ray.reached)[[0, -1]]
ends = []
for inside, outside in ((ray[first], ray[max(first - 1, 0)]), (ray[last], ray[last + 1])):
    for _ in range(20):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if asked(middle, 0.0).reached else (inside, middle)
    ends.append(inside)
ring = (radius >= ends[0] - 1e-3) & (radius <= ends[1])
decided = (abs(radius - ends[0]) > 2e-3) & (abs(radius - ends[1]) > 2e-3)
wrong = np.count_nonzero((ring != table.reached) & decided)

figure, (left, right) = new_figure(9.6, 4.2, ncols=2, width_ratios=[1.1, 1.0])
shown = left.pcolormesh(x, y, 1e3 * table.distance[..., 0], cmap="viridis", shading="nearest", rasterized=True)
figure.colorbar(shown, ax=left, label="distance that is left (mm)")
angle = np.linspace(0, 2 * np.pi, 200)
for r in ends:
    left.plot(r * np.cos(angle), r * np.sin(angle), color="white", lw=1.0)
left.set(xlabel="x (m)", ylabel="y (m)", aspect="equal")
left.set_title("What is reached is a ring", loc="left", fontsize=10)
right.plot(ray, 1e3 * on_ray.distance[:, 0], color=COLOURS[0], label="distance (mm)")
right.plot(ray, np.rad2deg(on_ray.angle[:, 0]), color=COLOURS[1], label="angle (°)")
right.set(xlabel="distance from the axis of joint 1 (m)", ylabel="what is left")
right.legend(frameon=False, fontsize=8.5)
right.set_title("How far it stays away, and how it leans", loc="left", fontsize=10)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

print(
    f"{np.count_nonzero(table.reached)} of {table.reached.size} points reached: from {ends[0]:.4f} to {ends[1]:.4f} m"
)
print(f"points that the ring decides wrongly: {wrong}; restarts on average: {table.restarts[table.reached].mean():.2f}")
assert np.all(on_ray.reached[first : last + 1])
assert wrong == 0
