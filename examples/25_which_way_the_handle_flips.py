"""Which way a T-handle turns over, and when: a picture of twelve thousand starts.

Spun about its middle axis a handle turns over again and again (Dzhanibekov). How soon is decided by the two small
rates that come with the spin: near the separatrix the time grows with the logarithm of their distance from it. On
the separatrix itself, two straight lines through the origin of this picture, the flip never comes: there the
disturbance lies along the direction that decays. Between the lines the polhode passes one end of the axis of least
inertia or the other, and the handle tips that way. Every pixel is a run, stopped in compiled code where the spin
first vanishes; the slope of the lines is known in closed form from the three moments of inertia.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure

SIDE, SPIN = 110, 10.0  # pixels; rad/s about x, the middle axis
handle = ph.load("t-handle")
A, B, C = (handle.numbers()[f"bodies.handle.inertia.{k}"] for k in range(3))
rates = np.linspace(-0.5, 0.5, SIDE)
runs = ph.sweep(
    handle, {"start.v.flight.omega_y": ph.Grid(rates), "start.v.flight.omega_z": ph.Grid(rates)},
    v=[0, 0, 0, SPIN, 0, 0], duration=6.0, step=2e-3, method="rk4", every=3000, keep=(),
    stop={"over": ph.Stop("v.flight.omega_x", -1)},
)  # fmt: skip

flipped = runs["status"].values.reshape(SIDE, SIDE) == 2
when = np.where(flipped, runs["end_time"].values.reshape(SIDE, SIDE), np.nan)
end = runs["v_end"].values.reshape(SIDE, SIDE, 6)
way = np.sign(end[:, :, 4])  # of ω_y where ω_x vanishes

# ẏ = (C − A) x z / B, ż = (A − B) x y / C: near the spin the decaying direction is y/z = −√(C (C − A) / (B (A − B)))
slope = -np.sqrt(C * (C - A) / (B * (A - B)))
y, z = np.meshgrid(rates, rates, indexing="ij")
side = np.sign(y - slope * z)  # of the line along which disturbances decay
agree = np.mean((way == way[side > 0][0] * side)[flipped])

figure, (left, right) = new_figure(8.6, 3.9, ncols=2)
box = (rates[0], rates[-1], rates[0], rates[-1])
drawn = left.imshow(when, origin="lower", extent=box, cmap="viridis", aspect="auto")
figure.colorbar(drawn, ax=left, label="time of the first flip (s)")
right.imshow(np.where(flipped, way, 0.0), origin="lower", extent=box, cmap="coolwarm", aspect="auto")
for axes in (left, right):
    axes.plot(rates, slope * rates, color=COLOURS[6], lw=1.2, ls="--")
    axes.set(xlabel="$\\omega_z$ at the start (rad/s)", ylabel="$\\omega_y$ at the start (rad/s)")
    axes.grid(visible=False)
    axes.set(xlim=(rates[0], rates[-1]), ylim=(rates[0], rates[-1]))
left.set_title("When", loc="left", fontsize=10)
right.set_title("Which way; dashed: the decaying direction", loc="left", fontsize=10)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)
print(f"{flipped.mean():.1%} of {SIDE**2} flipped within 6 s; {agree:.1%} the way that the line tells")

assert flipped.mean() > 0.9 and agree > 0.98  # noqa: PT018
