"""A ladder that slides down leaves the wall before it reaches the floor: when its top has come down by a third.

Wall and floor are smooth. While both ends touch, the ladder's centre moves on a circle, and energy gives its speed.
The wall can only push; its force is m ẍ of the centre, which grows at first and then falls to zero where the top has
two thirds of its first height. From there on the ladder is free of the wall and keeps its speed away from it. The run
holds both ends by constraints, which can pull as well, and the multiplier of the wall says when they would: the sign
of a reaction is the physics of contact. The result does not depend on the length, the mass, or how the mass lies along
the ladder.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure


def ladder(length, inertia):
    """In the plane xz, its lower end on the floor z = 0, its upper end on the wall x = 0."""
    return ph.Model(
        "ladder",
        bodies=[ph.Body("ladder", 8.0, (inertia, inertia, 0))],
        joints=[ph.Joint("plane", "planar", "world", "ladder", orientation=(np.sqrt(0.5), np.sqrt(0.5), 0, 0))],
        constraints=[
            ph.Constraint("floor", "point-on-plane", body_b="ladder", position_b=(length / 2, 0, 0)),
            ph.Constraint("wall", "point-on-plane", body_b="ladder", position_b=(-length / 2, 0, 0), axis_a=(1, 0, 0)),
        ],
    )


figure, axes = new_figure(7.5, 4.0)
found = []
for label, length, share, colour in (
    ("uniform, 4 m", 4.0, 1 / 12, COLOURS[0]),
    ("mass in the middle, 4 m", 4.0, 0.01, COLOURS[1]),
    ("mass at its ends, 2 m", 2.0, 0.25, COLOURS[2]),
):
    model, lean = ladder(length, share * 8.0 * length**2), np.radians(75)
    middle = [length / 2 * np.cos(lean), length / 2 * np.sin(lean)]
    run = ph.simulate(model, q=[*middle, -lean], duration=1.1 * np.sqrt(length / 4), samples=2001, tolerance=1e-11)
    top = 2 * run["q"].values[:, 1] / (length * np.sin(lean))  # of its first height
    push = run["multiplier"].sel(constraint="wall.z").values / 9.81 / 8.0
    push = push * np.sign(push[1])
    k = int(np.argmax(push < 0))
    found.append(top[k - 1] + (top[k] - top[k - 1]) * push[k - 1] / (push[k - 1] - push[k]))
    axes.plot(top, push, color=colour, lw=5.0 - 2 * len(found) + 2, label=label)
axes.axhline(0, color="0.5", lw=0.6)
axes.axvline(2 / 3, color="0.5", lw=0.6)
axes.set(xlabel="height of the top over its first height", ylabel="push of the wall over the weight", xlim=(1, 0.2))
axes.legend(frameon=False)
axes.set_title("The wall lets go at two thirds", loc="left", fontsize=10)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

print("the wall's force is zero at", ", ".join(f"{height:.7f}" for height in found), "of the first height")
assert np.allclose(found, 2 / 3, atol=1e-5)
