"""A fishing rod that bends throws its lure faster than a stiff one, moved by the same hand.

The hand swings the grip forward and stops. On a stiff rod the lure has at most the speed of the grip times the length.
A rod that bends lags behind while the hand speeds up, stores work, and gives it back as it straightens, just when the
hand slows down: its tip overtakes the line of the grip, and the lure is faster though the hand was not. How much
depends on timing: the swing has to last about as long as half a period of the loaded rod. The rod is a beam of six
elements that may bend as far as it likes, with a little damping; the stiff one is the same beam with all strains held
by constraints. The hand is a joint that follows a given angle; weight is left out, which a cast hardly feels.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure

length, lure, swing, n = 2.4, 0.02, 0.45, 6  # m, kg, s
section = ph.Section(2e5, 5.0, 6.0, 6.0, mass=0.05, inertia_y=1e-6, inertia_z=1e-6)
back = np.radians(-70)


def hand(t):
    """By 90°, as smoothly as can be."""
    s = ph.minimum(ph.maximum(t / swing, 0.0), 1.0)
    return np.radians(90) * s * s * s * (10 - 15 * s + 6 * s * s)


def cast(**more):
    """The run of a cast with a rod that begins 70° behind the vertical."""
    end = (length * np.sin(back), 0, length * np.cos(back))
    model = ph.Model(
        "rod",
        gravity=(0, 0, 0),
        bodies=[ph.Body("grip", 0.3, (1e-3, 1e-3, 1e-3)), ph.Body("lure", lure, (1e-6, 1e-6, 1e-6))],
        joints=[
            ph.Joint("hand", "revolute", "world", "grip", axis=(0, 1, 0)),
            ph.Joint("knot", "fixed", f"rod-{n}", "lure"),
        ],
        beams=[ph.Beam("rod", section, start=("grip", (0, 0, 0)), end=end, elements=n, up=(0, 1, 0), **more)],
        constraints=[ph.Constraint("arm", "prescribed", joint="hand", value=hand)],
    )
    return ph.simulate(model, duration=0.8, samples=161, tolerance=1e-6)


bending, stiff = cast(damping=2e-3), cast(held="all")
speeds = [np.linalg.norm(run["velocity"].sel(body="lure").values, axis=1) for run in (bending, stiff)]
t = bending["time"].values
figure, (left, right) = new_figure(9.5, 4.2, ncols=2)
for k in range(0, 121, 15):
    nodes = np.vstack([[0, 0, 0], *(bending["position"].sel(body=f"rod-{j}").values[k] for j in range(1, n + 1))])
    left.plot(nodes[:, 0], nodes[:, 2], "-", color=COLOURS[0], lw=1.2, alpha=0.25 + 0.75 * k / 120)
left.set(xlabel="x (m)", ylabel="z (m)", aspect="equal")
left.set_title("Every 75 ms", loc="left", fontsize=10)
for values, label, colour in zip(speeds, ("it bends", "it is stiff"), COLOURS, strict=False):
    right.plot(t, values, color=colour, label=label)
right.axvline(swing, color="0.6", lw=0.8)
right.set(xlabel="time (s)", ylabel="speed of the lure (m/s)")
right.legend(frameon=False)
right.set_title("The hand stops at the line", loc="left", fontsize=10)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

peak = 15 / 8 * np.radians(90) / swing * length  # of the grip, times the length
gain = max(speeds[0]) / max(speeds[1])
print(f"stiff: {max(speeds[1]):.3f} m/s ({peak:.3f} by the hand); bending: {max(speeds[0]):.3f} m/s, {gain:.2f} times")
print(f"verdicts: {bending.attrs['verdict']}, {stiff.attrs['verdict']}")
assert abs(max(speeds[1]) / peak - 1) < 1e-3
assert gain > 1.1
