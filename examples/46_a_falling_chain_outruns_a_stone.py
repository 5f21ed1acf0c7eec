"""The free end of a falling chain outruns a stone that is dropped beside it.

A chain hangs folded: one end stays on its hook, the other is held beside it and let go. Beneath the fold the chain is
at rest, and what still falls has to carry the energy of all that has fallen: the falling part grows shorter, so it
grows faster, and the tip is pulled down harder than gravity alone would. In the ideal chain its speed grows beyond all
bounds as the tip comes to the end of its fall; energy says v² = 2 g y (1 − y/2l)/(1 − y/l) after the fall y. The chain
here has 40 links on hinges, and it overtakes the stone as the formula says it must.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure

n, length, g = 40, 2.0, 9.81
h = length / n
bodies = [ph.Body(f"link{k}", h, (h**3 / 12, h**3 / 12, 0), center=(0, 0, -h / 2)) for k in range(n)]
joints = [
    ph.Joint(f"pin{k}", "revolute", f"link{k - 1}" if k else "world", f"link{k}", axis=(0, 1, 0),
             position=(0, 0, -h if k else 0))
    for k in range(n)
]  # fmt: skip
chain = ph.Model("chain", bodies=bodies, joints=joints)
folded = np.zeros(n)
turn = 4  # links of the fold
folded[n // 2 - turn // 2 : n // 2 + turn // 2] = np.pi / turn  # down, round the fold, and up again
run = ph.simulate(chain, folded, duration=0.6, samples=301, tolerance=1e-9)
last = run["quaternion"].sel(body=f"link{n - 1}").values
tip = run["position"].sel(body=f"link{n - 1}").values + ph.quaternion.rotate(last, (0, 0, -h))
t, fall = run["time"].values, tip[0, 2] - tip[:, 2]
stone = g * t * t / 2
y = np.linspace(0, 0.93 * length, 200)
ideal = np.sqrt(2 * g * y * (1 - y / (2 * length)) / (1 - y / length))
speed = np.gradient(fall, t)

figure, (left, right) = new_figure(9.5, 4.0, ncols=2)
for k in (0, 100, 180, 250, 290):
    places = np.vstack([run["position"].values[k], tip[k]])
    left.plot(places[:, 0], places[:, 2], color=COLOURS[0], lw=1.2, alpha=0.3 + 0.7 * k / 310)
    left.plot([0.6], [tip[0, 2] - stone[k]], "o", color="0.4", ms=4, alpha=0.3 + 0.7 * k / 310)
left.set(xlabel="x (m)", ylabel="z (m)", aspect="equal", xlim=(-0.4, 0.9))
left.set_title("Chain, and a stone", loc="left", fontsize=10)
right.plot(fall, speed, color=COLOURS[0], label="tip of the chain")
right.plot(y, ideal, color="0.2", lw=0.8, ls=":", label="ideal chain")
right.plot(stone, g * t, color="0.5", lw=1.0, label="stone")
right.set(xlabel="fallen (m)", ylabel="speed (m/s)", ylim=(0, 14))
right.legend(frameon=False)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

ahead = float(np.max(fall - stone))
half = int(np.argmin(abs(fall - length / 2)))
print(
    f"the tip is ahead of the stone by {100 * ahead:.1f} cm; "
    f"at half its fall {speed[half]:.2f} m/s, ideal {np.sqrt(1.5 * g * length):.2f}"
)
print(
    f"verdict: {run.attrs['verdict']}; "
    f"energy kept to {float(abs(run['total_energy'] - run['total_energy'][0]).max()):.0e} J"
)
assert ahead > 0.05
assert abs(speed[half] / np.sqrt(1.5 * g * length) - 1) < 0.1
