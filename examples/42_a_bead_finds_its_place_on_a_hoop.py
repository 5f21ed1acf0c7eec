"""A bead on a hoop that turns stays at the bottom, up to a speed at which the bottom gives way.

Below ω_c = √(g/R) the lowest point is the only place of rest in the turning hoop. Above it the bead climbs to where
cos θ = (ω_c/ω)², on either side as it likes: the symmetry is lost though the machine has it, the pattern of a magnet
that cools below its Curie point. The hoop is driven at a given speed by a constraint, the bead is a point mass on a
hinge in the plane of the hoop, with a little friction in it so that it comes to rest. Each dot in the figure is the
end of a run from just beside the bottom; near the critical speed it would take for ever, so none is there.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure

R, g = 0.2, 9.81
critical = np.sqrt(g / R)


def turning(omega):
    return ph.Model(
        "hoop",
        bodies=[ph.Body("hoop", 1.0, (0.02, 0.02, 0.04)), ph.Body("bead", 0.05, (0, 0, 0), center=(0, 0, -R))],
        joints=[
            ph.Joint("shaft", "revolute", "world", "hoop", axis=(0, 0, 1)),
            ph.Joint("ring", "revolute", "hoop", "bead", axis=(0, 1, 0), damping=0.012),
        ],
        constraints=[ph.Constraint("drive", "prescribed", joint="shaft", value=lambda t: omega * t)],
    )


ratios, ends, verdicts = (0.5, 0.8, 1.2, 1.5, 2.0, 3.0, 4.0), [], set()
for ratio in ratios:
    omega = ratio * critical
    run = ph.simulate(turning(omega), q=[0, 1e-3], v=[omega, 0], duration=20.0, samples=11, tolerance=1e-10)
    ends.append(float(run["q"][-1, 1]))
    verdicts.add(run.attrs["verdict"])
expected = [np.arccos(min(1.0, 1 / ratio**2)) for ratio in ratios]

figure, axes = new_figure(7.0, 4.0)
curve = np.linspace(1, 4.2, 400)
for sign in (1, -1):
    axes.plot(curve, sign * np.degrees(np.arccos(1 / curve**2)), color=COLOURS[0], lw=1.2)
axes.plot([0, 1], [0, 0], color=COLOURS[0], lw=1.2, label="rest that lasts")
axes.plot([1, 4.2], [0, 0], color=COLOURS[0], lw=1.0, ls=":", label="rest that does not")
axes.plot(ratios, np.degrees(ends), "o", color=COLOURS[1], mfc="white", label="ends of runs")
axes.set(xlabel="speed of the hoop over √(g/R)", ylabel="angle of the bead (degrees)", xlim=(0, 4.2), ylim=(-95, 95))
axes.legend(frameon=False, loc="lower left")
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

print("angles (degrees):", ", ".join(f"{np.degrees(end):.6f}" for end in ends))
print(
    f"against arccos(ω_c²/ω²): {max(abs(abs(a) - b) for a, b in zip(ends, expected, strict=True)):.0e} rad; {verdicts}"
)
assert np.allclose(np.abs(ends), expected, atol=2e-4)
