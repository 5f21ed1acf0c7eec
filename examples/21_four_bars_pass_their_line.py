"""Four-bars in a row fall through a configuration in which their loops lose rank, and nothing has to be told.

Rods of equal length that stand on the ground, joined at their tops by rods as long as their feet are apart, move as
parallelograms. When they lie down on the ground all rods are in one line: there the loops could also fold the other
way, their conditions are dependent, and the multipliers belong to no unique force. Programs that solve for
multipliers with a matrix that must be regular stop here, or need a flag. The fundamental equation takes conditions of
any rank: it asks for the motion, which is smooth, while the forces between the rods grow without bound: in line they
have no arm to turn each other with. The run tells how near it came: the smallest singular value of the conditions,
each row in its natural size, falls like the distance from the line. Energy does not notice.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure

model = ph.load("n-four-bar")  # two windows; n-four-bar-40 has forty
run = ph.simulate(model, duration=3.0, tolerance=1e-10, samples=3001)
t, angle, weakest = run["time"].values, run["q"].values[:, 0], run["smallest_singular_value"].values
force = np.linalg.norm(run["reaction_force"].sel(connection="loop0").values, axis=1)
energy = run["total_energy"].values
drift = np.ptp(energy) / (np.max(run["kinetic_energy"].values) + np.ptp(run["potential_energy"].values))

low = weakest < 0.02 * np.median(weakest)
starts = np.flatnonzero(np.diff(low.astype(int)) == 1) + 1
ends = np.flatnonzero(np.diff(low.astype(int)) == -1) + 1
passed = [begin + int(np.argmin(weakest[begin:end])) for begin, end in zip(starts, ends, strict=True)]

figure, (left, middle, right) = new_figure(12.0, 3.6, ncols=3)
left.plot(t, angle, color=COLOURS[0])
middle.semilogy(t, weakest, color=COLOURS[1])
right.plot(t, force, color=COLOURS[2])
titles = "Angle of the first rod (rad)", "Smallest singular value", "Force in the first loop (N)"
for axes, title in zip((left, middle, right), titles, strict=True):
    for k in passed:
        axes.axvline(t[k], color="0.6", lw=0.8, ls="--")
    axes.set(xlabel="time (s)")
    axes.set_title(title, loc="left", fontsize=10)
right.set_ylim(0, 60)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

for k in passed:
    off = abs(np.sin(angle[k]))
    print(f"t = {t[k]:.3f} s: smallest singular value {weakest[k]:.1e}, rods off their line by {off:.1e}")
print(f"energy drift {drift:.1e}, loops open by {np.max(abs(run['constraint_residual'].values)):.1e} m")
ratio = weakest[passed] / abs(np.sin(angle[passed]))  # proportional to the distance from the line
assert len(passed) >= 2
assert np.ptp(ratio) < 0.05 * np.mean(ratio)
assert (run.attrs["verdict"], set(run["degrees_of_freedom"].values.tolist())) == ("good", {1})
assert drift < 1e-8
