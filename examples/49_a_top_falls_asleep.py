"""A top stands upright without a tremor while it spins fast, and wakes below a certain speed.

An upright top "sleeps": nothing seems to move. Its spin ω₃ holds it up as long as C² ω₃² > 4 A m g l , with A about
its tip: then a small push makes it nutate, and no more. Below, the same push grows at an exponential rate. The
boundary is sharp, though the tops on either side look the same for a while. Both are followed by simulation, and the
linear equations about the upright spin, from the same machine in unit quaternions, give the rates: their eigenvalues
meet at the critical speed and part.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure

m, l, g, A, C = 0.5, 0.08, 9.81, 4.2e-3, 6e-4  # A about the mass centre would be A − m l²
critical = 2 * np.sqrt(A * m * g * l) / C
top = ph.Model(
    "top",
    bodies=[ph.Body("top", m, (A - m * l * l, A - m * l * l, C), center=(0, 0, l))],
    joints=[ph.Joint("tip", "spherical", "world", "top")],
)


def growth(omega):
    """The largest real part of s: A s² − i C ω s − m g l = 0 in the plane that does not spin."""
    return max(np.roots([A, -1j * C * omega, -m * g * l]).real)


figure, (left, right) = new_figure(9.5, 3.8, ncols=2)
leans = {}
for factor, colour in ((0.98, COLOURS[1]), (1.02, COLOURS[0])):
    run = ph.simulate(top, v=[1e-4, 0, factor * critical], duration=8.0, samples=4001, tolerance=1e-11)
    x, y, z = ph.quaternion.rotate(run["q"].values, (0, 0, 1)).T
    leans[factor] = run["time"].values, np.arctan2(np.hypot(x, y), z)
    left.semilogy(run["time"][1:], leans[factor][1][1:], color=colour, lw=1.0, label=f"{factor} × critical")
left.set(xlabel="time (s)", ylabel="lean (rad)", ylim=(1e-6, 3))
left.legend(frameon=False)
left.set_title("Pushed by 0.1 mrad/s", loc="left", fontsize=10)
speeds = np.linspace(0.8, 1.1, 200)
right.plot(speeds, [growth(s * critical) for s in speeds], color="0.2", lw=1.0, label="closed form")
found = []
for s in (0.8, 0.9, 0.98, 1.02, 1.1):
    found.append(max(ph.linearize(top, [1, 0, 0, 0], [0, 0, s * critical]).eigenvalues().real))
right.plot((0.8, 0.9, 0.98, 1.02, 1.1), found, "o", color=COLOURS[2], mfc="white", label="ph.linearize")
right.set(xlabel="spin over the critical one", ylabel="rate of growth (1/s)")
right.legend(frameon=False)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

t, lean = leans[0.98]
part = (lean > 1e-3) & (lean < 1e-1) & (t < t[np.argmax(lean > 1e-1)])
rate = np.polyfit(t[part], np.log(lean[part]), 1)[0]
print(
    f"below: the lean grows at {rate:.3f} 1/s, closed form {growth(0.98 * critical):.3f}; "
    f"above: at most {max(leans[1.02][1]):.1e} rad"
)
print("rates by ph.linearize:", ", ".join(f"{x:.6f}" for x in found))
assert np.allclose(found, [growth(s * critical) for s in (0.8, 0.9, 0.98, 1.02, 1.1)], atol=1e-5)
assert max(leans[1.02][1]) < 1e-3
assert abs(max(lean) - np.arccos(2 * 0.98**2 - 1)) < 1e-2  # as far as its energy lets it
