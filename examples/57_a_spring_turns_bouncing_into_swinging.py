"""A ball on a spring that only bounces begins to swing, if the spring is tuned to twice the pendulum.

Hang a ball on a spring and let it bounce straight up and down. If the bounce has twice the frequency of the swing, the
slightest tilt grows: each bounce shortens and lengthens the pendulum twice a swing, as a child pumps, until nearly all
the energy swings; then it comes back. Witt and Gorelik told Mandelstam of it in 1933, and it is the simplest case of
what Fermi resonance is in molecules. With m g = k (l − l₀), 2:1 means k l = 4 m g. A spring that is not tuned leaves
the tilt as small as it was. The ball moves in a plane by a joint with two directions, and the spring is a force
between two points.
"""

from pathlib import Path

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure

m, g, l = 1.0, 9.81, 1.0  # hanging length


def ball(ratio):
    """k l/(m g) = ratio²: the bounce has this many times the frequency of the swing."""
    k = ratio**2 * m * g / l
    return ph.Model(
        "spring pendulum",
        bodies=[ph.Body("cart", 1e-12, (0, 0, 0)), ph.Body("ball", m, (0, 0, 0))],
        joints=[
            ph.Joint("x", "prismatic", "world", "cart", axis=(1, 0, 0)),
            ph.Joint("z", "prismatic", "cart", "ball", axis=(0, 0, 1)),
        ],
        forces=[ph.Spring("spring", "world", "ball", stiffness=k, rest=l - m * g / k)],
    )


figure, axes = new_figure(9.0, 4.8, nrows=2, sharex=True)
widest = {}
for ax, ratio in zip(axes, (2.0, 2.6), strict=True):
    run = ph.simulate(ball(ratio), q=[1e-3, -l - 0.06], duration=120.0, samples=6001, tolerance=1e-11)
    x, z = run["q"].values.T
    widest[ratio] = max(abs(x)), run.attrs["verdict"]
    ax.plot(run["time"], 100 * (z + l), color=COLOURS[0], lw=0.5, label="bounce")
    ax.plot(run["time"], 100 * x, color=COLOURS[1], lw=0.7, label="swing")
    ax.set(ylabel="cm")
    ax.set_title(f"bounce at {ratio} times the swing", loc="left", fontsize=10)
axes[0].legend(frameon=False, loc="upper right", ncols=2)
axes[1].set(xlabel="time (s)")
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

# if all energy of the bounce, k z²/2 = 2 m g z²/l, swung, m g x²/(2 l) would be as much: x = 2 z
print(
    f"tuned: the swing grows from 1 mm to {100 * widest[2.0][0]:.2f} cm, at most {200 * 0.06:.0f} cm; {widest[2.0][1]}"
)
print(f"not tuned: at most {1e3 * widest[2.6][0]:.2f} mm; {widest[2.6][1]}")
assert 0.9 < widest[2.0][0] / (2 * 0.06) < 1.02
assert widest[2.6][0] < 2e-3
