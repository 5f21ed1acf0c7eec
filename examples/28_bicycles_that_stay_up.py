"""Which bicycles stay up by themselves: random mass distributions, run and compared with their eigenvalues.

A riderless bicycle at the right speed balances itself. Whether it does depends on where its masses are, in ways
that no single rule explains (Kooijman et al. 2011). Here the mass of the frame with its load, the place of its mass
centre and the mass of the fork are drawn at random; each bicycle gets the same push at 4.6 m/s and rolls for eight
seconds, its wheels held to the ground by rolling constraints in every step. Where the lean of the last two seconds
is smaller than that of the two before, it stays up. Linearised about upright rolling each bicycle has a largest
real part among its eigenvalues, and that tells the same: the runs of the full equations and the linear ones draw
one line.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.formats.overrides import overridden
from polhode.show.figure import COLOURS, new_figure, save_figure

RUNS, CHECKED = 96, 12
bicycle = ph.load("bicycle")
own = bicycle.numbers()
samples = {
    "bodies.frame.mass": ph.Normal(own["bodies.frame.mass"], 15.0),
    "bodies.frame.center.0": ph.Normal(own["bodies.frame.center.0"], 0.1),
    "bodies.frame.center.2": ph.Normal(own["bodies.frame.center.2"], 0.1),
    "bodies.fork.mass": ph.Uniform(1.0, 8.0),
}
push = [*bicycle.start.v[:3], 0.05, *bicycle.start.v[4:]]  # rad/s of roll
runs = ph.sweep(
    bicycle, samples, runs=RUNS, seed=34, design="latin", v=push, duration=8.0, step=0.02, method="rk4", every=5,
    outputs={"lean": "2*(q.frame.w*q.frame.x + q.frame.y*q.frame.z)"}, keep=(),
)  # fmt: skip
lean, t = abs(runs["lean"].values), runs["time"].values
late, before = lean[:, t >= 6].max(axis=1), lean[:, (t >= 4) & (t < 6)].max(axis=1)
growth = np.log(late / before) / 2  # 1/s
stays, values = growth < 0, runs["sample"].to_pandas()


def largest(k):
    """The largest real part of the eigenvalues of bicycle k about upright rolling, 1/s, but for its symmetries."""
    changed = overridden(bicycle, [f"{path}={float(values[path][k])!r}" for path in samples])
    modes = ph.linearize(changed, bicycle.start.q, [*push[:3], 0.0, *push[4:]]).modes()
    return max(mode.eigenvalue.real for mode in modes if abs(mode.eigenvalue) > 1e-6)


rates = np.array([largest(k) for k in range(CHECKED)])
clear = abs(rates) > 0.03
agree = (stays[:CHECKED] == (rates < 0))[clear]

figure, (left, middle, right) = new_figure(10.4, 3.5, ncols=3)
for k in range(40):
    left.plot(t, np.degrees(runs["lean"].values[k]), color=COLOURS[2 if stays[k] else 1], lw=0.7, alpha=0.7)
left.set(xlabel="time (s)", ylabel="lean (°)", ylim=(-3, 3))
left.set_title("After the same push", loc="left", fontsize=10)
for mark, colour, label in ((stays, 2, "stays up"), (~stays, 1, "falls")):
    x, y = values["bodies.frame.center.0"][mark], values["bodies.fork.mass"][mark]
    middle.plot(x, y, "o", ms=4, color=COLOURS[colour], label=label)
middle.set(xlabel="mass centre of the frame, forwards (m)", ylabel="mass of the fork (kg)")
middle.legend(frameon=False, fontsize=9)
right.plot(rates, growth[:CHECKED], "o", color=COLOURS[0])
right.axline((0, 0), slope=1, color=COLOURS[6], lw=0.8, ls="--")
right.set(xlabel="largest real part of the eigenvalues (1/s)", ylabel="growth of the lean in the run (1/s)")
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)
print(f"{stays.sum()} of {RUNS} stay up; eigenvalues agree in {agree.sum()} of {agree.size}")

assert 0 < stays.sum() < RUNS and agree.all() and agree.size > CHECKED // 2  # noqa: PT018
