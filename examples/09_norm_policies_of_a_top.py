"""Three records of a run, and none of them is its error: the norm policies of `simulate` on Lagrange's top.

A method that adds to p leaves the unit sphere. `simulate` lets it (norm="none") or brings p back after each
step (norm="state"); a Lie-group method moves p by exponentials and never leaves, and neither do the two
structure-preserving ones. All five runs take the same steps of the same top. Left alone, ‖p‖ drifts, and since
gravity acts through p, the weight with it: the energy is 30 times worse. The other four keep the norm to the
last digits. Their energy looks different: the energy-momentum step keeps it to rounding, the variational one
lets it swing, RK4 loses it. The attitude, against the closed form (Whittaker 1937, §71), looks different once
more: the two that keep the most are of second order and the furthest off, and the one with perfect records
is wrong by half a turn, because it turns by 2 atan(½ hω) and not by hω. Each record exposes one kind of fault and
is blind to others. An error needs a second opinion: the closed form or, with verify=True, a run at half the step.
"""

import json
from pathlib import Path

import numpy as np

import polhode as ph
from polhode.quaternion import angle_between, norm, normalise
from polhode.show.figure import COLOURS, new_figure, save_figure

mass, inertia, center = 1.0, (0.012, 0.012, 0.006), (0.0, 0.0, 0.1)  # kg, kg m², m
start = np.array([np.cos(0.3), np.sin(0.3), 0.0, 0.0])
omega, duration, step = (0.0, 2.0, 60.0), 20.0, 0.005  # rad/s, s, s
tip = ph.Joint("tip", "spherical", "world", "top")
top = ph.Model("top", bodies=[ph.Body("top", mass, inertia, center)], joints=[tip])
policies = {
    "RK4, left alone": {"method": "rk4", "norm": "none"},
    "RK4, brought back": {"method": "rk4", "norm": "state"},
    "RK4 on the group": {"method": "rkmk4"},
    "variational": {"method": "variational"},
    "energy-momentum": {"method": "energy-momentum"},
}


def records(options):
    """Times, |‖p‖ − 1|, relative change of the energy, attitude error in rad; and the run."""
    run = ph.simulate(top, q=start, v=omega, duration=duration, step=step, verify=True, **options)
    t, p, energy = run["time"].values, run["q"].values, run["total_energy"].values
    exact = ph.exact.heavy_top(mass, inertia, center, start, omega, t).p
    return t, abs(norm(p) - 1), abs(energy / energy[0] - 1), angle_between(normalise(p), normalise(exact)), run


found = {label: records(options) for label, options in policies.items()}
figure, panels = new_figure(10.4, 3.4, ncols=3)
for (label, (t, *curves, _)), colour in zip(found.items(), (6, 5, 2, 0, 1), strict=True):
    style = {"color": COLOURS[colour], "ls": "--" if "back" in label else "-", "zorder": 3 if "back" in label else 2}
    for axes, curve in zip(panels, curves, strict=True):
        axes.semilogy(t[1:], np.maximum.accumulate(curve)[1:] + 1e-17, **style, lw=1.6, label=label)
for axes, title in zip(panels, ("|‖p‖ − 1|", "energy, relative change", "attitude error (rad)"), strict=True):
    axes.set(xlabel="time (s)", ylabel="largest so far")
    axes.set_title(title, loc="left", fontsize=10)
figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False, fontsize=9)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

worst = {label: [max(curve) for curve in curves] for label, (_, *curves, _) in found.items()}
second = {}
for label, (*_, run) in found.items():
    second[label] = {line["name"]: line["value"] for line in json.loads(run.attrs["grade"])}["error of the motion"]
    text = "norm {:.0e}, energy {:.0e}, attitude {:.1e} rad".format(*worst[label])
    print(f"{label} ({run.attrs['norm_policy']!r}): {text}; by a companion run {second[label]:.1e}")
alone, back, group, swings, perfect = worst.values()
assert alone[0] > 1e-4
assert max(back[0], group[0], swings[0], perfect[0]) < 1e-13
assert alone[1] > 10 * back[1] > 50 * swings[1] > 1e6 * perfect[1]
assert 20 * alone[2] < 20 * swings[2] < perfect[2]
assert min(second.values()) > 0.03
