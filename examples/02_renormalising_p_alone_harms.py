"""Renormalising the Euler parameters alone, and not their rates, spoils a second-order form.

A form that gives p̈, such as Sherif (38), is integrated in the variables (p, ṗ). Truncation moves p off
the unit sphere, and the reflex is to divide p by its norm after each step. But the attitude p/‖p‖ turns
with ω = 2 L ṗ/‖p‖², Sherif (17) off the sphere: dividing p by ‖p‖ and leaving ṗ multiplies ω by ‖p‖. A
defect of the norm, which the attitude never notices, becomes an error of the velocity, at every step and
for good. The projection of the state

    p ← p/‖p‖,   ṗ ← (I − p pᵀ) ṗ/‖p‖     (in the bracket the new p)

leaves ω as it was, and a Lie-group step never leaves the sphere: p ← p∘exp(½ r), with RK4 in the rotation
vector r (Munthe-Kaas 1998). The body is free and tumbles near its intermediate axis for 20 s; the error
is the angle to the closed form at the end. The explicit form (38) drifts little, so that p alone is more
than ten times worse than doing nothing (for h ≤ 0.1 s). The augmented form (39) drifts so much that p alone
is no worse than nothing; both are more than ten times worse than the projection.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.papers.single_body import motion
from polhode.quaternion import angle_between, normalise
from polhode.show.figure import COLOURS, new_figure, save_figure

J, omega, duration = (1.0, 2.0, 3.0), (0.3, 2.0, 0.4), 20.0  # kg m², rad/s, s
steps = np.array([0.2, 0.1, 0.05, 0.025])  # s
policies = {"p": "p alone", "none": "nothing", "state": "p and ṗ", "lie": "Lie-group step"}
body = ph.SingleBody.make(J, omega)
exact = normalise(ph.exact.free_body(J, omega, duration).p)


def errors(form):
    """The attitude error, rad, at the end: one row for each step, by policy."""
    ends = {norm: [motion(form, body, duration, h, norm).p[-1] for h in steps] for norm in policies}
    return {norm: angle_between(normalise(p), exact) for norm, p in ends.items()}


explicit, augmented = errors("sherif-38"), errors("sherif-39")

figure, panels = new_figure(8.0, 3.4, ncols=2, sharey=True)
for axes, found, title in zip(
    panels, (explicit, augmented), ("Explicit form, Sherif (38)", "Augmented form, Sherif (39)"), strict=True
):
    for (norm, label), colour, marker in zip(policies.items(), (1, 6, 2, 0), "so^D", strict=True):
        axes.loglog(steps, found[norm], marker + "-", color=COLOURS[colour], ms=5, label=label)
    axes.set(xlabel="step of RK4 (s)", xticks=steps, xticklabels=[f"{h:g}" for h in steps])
    axes.minorticks_off()
    axes.set_title(title, loc="left", fontsize=10)
panels[0].set_ylabel(f"attitude error after {duration:g} s (rad)")
panels[1].legend(title="norm policy", frameon=False, fontsize=8.5, title_fontsize=8.5, loc="lower right")
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

for form, found in (("(38)", explicit), ("(39)", augmented)):
    text = ", ".join(f"{label} {found[norm][2]:.1e}" for norm, label in policies.items())
    print(f"Sherif {form}, error at h = {steps[2]:g} s in rad: {text}")
harm = explicit["p"] / explicit["none"]
print("(38), p alone against nothing: " + ", ".join(f"{x:.0f}" for x in harm) + " times the error")
assert np.all(harm[1:] > 10)
assert np.all(augmented["p"] < 1.5 * augmented["none"])
assert np.all(10 * augmented["state"][1:] < augmented["p"][1:])
