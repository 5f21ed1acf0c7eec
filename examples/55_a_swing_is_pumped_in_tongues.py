"""A swing whose length changes twice a period grows without a push, inside tongues on the map of frequencies.

Children pump a swing by standing up and crouching. Small swings then obey Mathieu's equation, ẍ + (δ + 2 ε cos 2t) x =
0, with δ the square of the frequency and 2 ε the strength of the pumping. There is no force on the swing, so rest
remains a solution; yet near δ = 1, 4, 9 … it is lost to any disturbance. The borders of the tongues are Mathieu's
characteristic values, known since 1868. Here 14,400 swings are run side by side, each with its own δ and ε, a joint
with a torque that depends on time and on these two numbers, and those that have grown after 32 periods are coloured.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure

from scipy.special import mathieu_a, mathieu_b  # isort: skip

swing = ph.Model(
    "swing",
    gravity=(0, 0, 0),
    bodies=[ph.Body("seat", 1.0, (1.0, 1.0, 1.0))],
    joints=[ph.Joint("hinge", "revolute", "world", "seat", axis=(0, 1, 0))],
)
n = 120
delta, epsilon = np.linspace(0.05, 5.0, n), np.linspace(0.02, 2.0, n)


def pumped(t, q, v, numbers):
    return [-(numbers["delta"] - 2 * numbers["epsilon"] * ph.cos(2 * t)) * q[0]]


runs = ph.sweep(
    swing,
    {"delta": ph.Grid(delta.tolist()), "epsilon": ph.Grid(epsilon.tolist())},
    q=[1e-6], tau=pumped, duration=64 * np.pi, step=np.pi / 100, method="rk4", accompanied=0, keep=["q"], every=25,
)  # fmt: skip
values = runs["sample"].sel(parameter=["delta", "epsilon"]).values
size = np.log10(np.nanmax(abs(runs["q"].values[:, :, 0]), axis=1) / 1e-6)

# inside the first tongues, away from their borders by a little: between b1 and a1, and between b2 and a2
d, e = values.T
tongue = np.zeros(len(d), bool)
certain = np.ones(len(d), bool)
for low, high in ((mathieu_b(1, e), mathieu_a(1, e)), (mathieu_b(2, e), mathieu_a(2, e))):
    tongue |= (d > low) & (d < high)
    certain &= (abs(d - low) > 0.1) & (abs(d - high) > 0.1)
below = d < mathieu_a(0, e)  # too weak a spring: it falls
certain &= (abs(d - mathieu_a(0, e)) > 0.1) & (d < 4.8)
right = (size > 2) == (tongue | below)

figure, axes = new_figure(8.0, 4.6)
picture = axes.tripcolor(d, e, np.clip(size, 0, 8), cmap="cividis", shading="gouraud")
figure.colorbar(picture, label="growth, powers of ten")
line = np.linspace(0, 2, 200)
for border in (mathieu_a(0, line), mathieu_b(1, line), mathieu_a(1, line), mathieu_b(2, line), mathieu_a(2, line)):
    axes.plot(border, line, color=COLOURS[1], lw=1.2)
axes.set(xlabel="δ, square of the frequency", ylabel="ε, strength of the pumping", xlim=(0.05, 5), ylim=(0.02, 2))
axes.set_title("14,400 swings, and Mathieu's borders", loc="left", fontsize=10)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

share = float(np.mean(right[certain]))
print(
    f"{certain.sum():,} of {len(d):,} swings lie 0.1 or more from a border; {100 * share:.2f} % are on the right side"
)
assert share > 0.999
