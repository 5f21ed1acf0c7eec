"""A ball on a cable, thrown too slowly for a full circle, leaves it, flies a parabola, and is caught again.

A cable pulls and never pushes. From the lowest point with a speed v₀² between 2 g l and 5 g l the ball rises above the
middle, and where its weight alone would bend its path more than the circle the cable goes slack, at the angle α from
the highest point; the circle and the parabola that touches it there meet once more, at 3α on the other side:

    cos α = (v₀²/(g l) − 2)/3,      for a cable that does not stretch

From there it is a thrown stone until the way to the pin is as long as the cable, which then takes away the speed along
itself within milliseconds, with a hundred times the weight. The cable is a stiff spring with only="pull" and a
damper that never pushes; steps of the run end where it goes slack and where it is taut again. The parabolas are exact
to rounding, the angles in the limit of a stiff cable, and the account of energy shows the loss at each catch.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure

m, l, g = 0.5, 1.0, 9.81  # kg, m, m/s²
stiffness, damping, start = 2e5, 60.0, np.sqrt(4.0 * g * l)  # N/m, N s/m, m/s
model = ph.Model(
    "ball on a cable",
    bodies=[ph.Body("ball", m, (1e-3, 1e-3, 1e-3))],
    joints=[ph.Joint("air", "free", "world", "ball")],
    forces=[ph.Spring("cable", "world", "ball", stiffness=stiffness, damping=damping, rest=l, only="pull")],
)
hanging = [0, 0, -l - m * (g + start**2 / l) / stiffness, 1, 0, 0, 0]  # stretched as in its circle
run = ph.simulate(model, hanging, [start, 0, 0, 0, 0, 0], duration=4.0, tolerance=1e-10, samples=16001)
t, x, z = run["time"].values, run["q"].values[:, 0], run["q"].values[:, 2]
vx, vz = run["v"].values[:, 0], run["v"].values[:, 2]
long = np.hypot(x, z)
slack = long < l
begins, ends = (np.flatnonzero(np.diff(slack.astype(int)) == sign) + 1 for sign in (1, -1))
flights = [slice(a, b) for a, b in zip(begins, ends, strict=False)]


def off_parabola(flight):
    """How far a flight is from the parabola of its first sample, m."""
    a, s = flight.start, t[flight] - t[flight.start]
    return np.max(np.hypot(x[flight] - x[a] - vx[a] * s, z[flight] - z[a] - vz[a] * s + g * s**2 / 2))


alpha = np.degrees(np.arccos((start**2 / (g * l) - 2) / 3))
leaves, caught = (np.degrees(np.arctan2(x[k], z[k])) for k in (begins[0], ends[0]))
worst = max(off_parabola(flight) for flight in flights)
E = run["total_energy"] - run["total_energy"][0]
scale = run["kinetic_energy"].max() + np.ptp(run["potential_energy"].values)
rest = float(abs(E - run["work"]).max() / scale)

figure, (left, middle, right) = new_figure(11.0, 3.9, ncols=3)
around = np.linspace(0, 2 * np.pi, 400)
left.plot(l * np.cos(around), l * np.sin(around), color="0.75", lw=0.8, ls="--")
left.plot(np.where(slack, np.nan, x), z, color=COLOURS[0], lw=1.6)
left.plot(np.where(slack, x, np.nan), z, color=COLOURS[1], lw=1.6)
for flight in flights:
    for axes in (middle, right):
        axes.axvspan(t[flight][0], t[flight][-1], color=COLOURS[1], alpha=0.15, lw=0)
left.plot(0, 0, "o", color="0.2", ms=4)
left.set(xlabel="x (m)", ylabel="z (m)", aspect="equal")
pull = np.where(slack, 0.0, np.maximum(stiffness * (long - l) + damping * (x * vx + z * vz) / long, 0.0))
middle.semilogy(t, pull / (m * g), color=COLOURS[0], lw=1.1)
middle.set(xlabel="time (s)", ylabel="pull of the cable, in weights of the ball", ylim=(0.1, 1e3))
right.plot(t, E, color="0.15", lw=2.6, alpha=0.35, label="stored energy")
right.plot(t, run["work_by_source"].sel(work_source="cable"), color=COLOURS[0], lw=1.2, label="work of the cable")
right.set(xlabel="time (s)", ylabel="energy since the start (J)")
right.legend(frameon=False, fontsize=8.5)
left.set_title("On the cable (blue), slack (orange)", loc="left", fontsize=10)
middle.set_title("Each catch is a blow", loc="left", fontsize=10)
right.set_title("and costs energy", loc="left", fontsize=10)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

print(f"leaves {leaves:.2f}° from the top ({alpha:.2f}°), caught at {caught:.2f}° ({-3 * alpha:.2f}°)")
print(f"{len(flights)} flights, parabolas to {worst:.0e} m; energy that work does not explain: {rest:.0e} of its scale")
assert abs(leaves - alpha) < 0.1
assert abs(caught + 3 * alpha) < 0.3
assert max(worst, rest) < 1e-8
