"""Two pendulums with a weak spring between them hand their swing to each other, to and fro.

Start one; after a while it hangs still, and the other swings as wide as the first did; then it comes back. The machine
has two modes: both swing together, at ω₁, or against each other with the spring at work, at ω₂. One pendulum alone is
the sum of the two, and the swing has moved over after half the beat, π/(ω₂ − ω₁). Nothing is lost on the way: the
weaker the spring, the longer it takes, and it always goes over whole, as long as the pendulums are alike. If one is 5
% longer, only a part goes over. `ph.linearize` gives the two frequencies, the simulation the handing over.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure

l, m, g, k = 0.5, 1.0, 9.81, 0.4  # m, kg, m/s², N m/rad


def pair(second=l):
    return ph.Model(
        "pair",
        bodies=[
            ph.Body("one", m, (0, 0, 0), center=(0, 0, -l)),
            ph.Body("two", m, (0, 0, 0), center=(0, 0, -second)),
        ],
        joints=[ph.Joint(f"hinge {name}", "revolute", "world", name, axis=(0, 1, 0)) for name in ("one", "two")],
        forces=[ph.TorsionSpring("coupling", "one", "two", axis=(0, 1, 0), stiffness=k)],
    )


figure, axes = new_figure(9.0, 4.6, nrows=2, sharex=True)
whole = {}
for ax, second in zip(axes, (l, 1.05 * l), strict=True):
    model = pair(second)
    low, high = sorted({round(abs(x), 9) for x in ph.linearize(model, [0, 0]).eigenvalues().imag})
    beat = 2 * np.pi / (high - low)
    run = ph.simulate(model, q=[0.02, 0.0], duration=2 * beat, samples=4001, tolerance=1e-10)
    t, q = run["time"].values, run["q"].values
    whole[second] = beat, low, high, float((np.max(abs(q[:, 1])) / q[0, 0]) ** 2)
    for j, label in enumerate(("first", "second")):
        ax.plot(t, 1e3 * q[:, j] + 50 * j, color=COLOURS[j], lw=0.7, label=label)
    ax.set(ylabel="angle (mrad)", yticks=[])
    ax.set_title("alike" if second == l else "one is 5 % longer", loc="left", fontsize=10)
axes[0].legend(frameon=False, loc="center right", ncols=2, fontsize=8.5)
axes[1].set(xlabel="time (s)")
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

beat, low, high, part = whole[l]
print(f"ω₁ = {low:.6f}, ω₂ = {high:.6f} rad/s; the swing goes over in {beat / 2:.2f} s, {100 * part:.2f} % of it")
print(f"with one 5 % longer {100 * whole[1.05 * l][3]:.1f} %")
assert abs(low - np.sqrt(g / l)) < 1e-8
assert abs(high - np.sqrt(g / l + 2 * k / (m * l * l))) < 1e-8
assert abs(part - 1) < 1e-2
assert whole[1.05 * l][3] < 0.9
