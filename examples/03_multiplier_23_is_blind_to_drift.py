"""Which multiplier tells of drift? That of form 23 never does; that of form 29 does, beside a kept energy.

Form 23 writes the rotation with the gyroscopic term 8 Lᵀ L L̇ᵀ J L ṗ, which is orthogonal to p, and the
torque 2 Lᵀ n, which is so too. Hence λ = 0, Sherif (24), and not only in an exact motion: L p = 0 holds
for every p, so λ stays at rounding however far p has left the unit sphere. A λ that is not zero exposes a
coding error, never an integration error. Form 29 has 8 L̇ᵀ J L ṗ instead, and λ ‖p‖² = 2 ω·Jω with
ω = 2 L ṗ, Sherif (30), again for every p and ṗ: compared with the energy of the present state it is as
blind. Only an energy kept from outside helps. In free motion λ = 4T₀ for all time, and λ/(4T₀) − 1 grows
with the drift; here it is a tenth of the attitude error, at every step size. Both augmented forms, Sherif
(34) and (39), are integrated by RK4 without projection.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.papers.single_body import motion
from polhode.quaternion import angle_between, normalise, rate
from polhode.show.figure import COLOURS, new_figure, save_figure

J, omega, duration = np.array([1.0, 2.0, 3.0]), np.array([0.3, 2.0, 0.4]), 20.0  # kg m², rad/s, s
steps = [0.2, 0.1, 0.05, 0.02]  # s
four_T0 = 2 * omega @ (J * omega)  # kept from outside, J


def monitored(form, h):
    """Times, attitude error, |λ|/4T₀, |λ/4T₀ − 1| and |λ − 2 ω·Jω/‖p‖²|/4T₀ of one run."""
    t, p, w = motion(form, ph.SingleBody.make(J, omega), duration, h)
    pdot = rate(p, w, unit=False)  # w is the rate of p/‖p‖
    found = ph.acceleration(form, p, pdot, J, unit=False)
    error = angle_between(normalise(p), normalise(ph.exact.free_body(J, omega, t).p))
    ratio = found.multiplier / four_T0
    return t, error, abs(ratio), abs(ratio - 1), abs(found.multiplier - found.predicted) / four_T0


form_23 = [monitored("sherif-34", h) for h in steps]
form_29 = [monitored("sherif-39", h) for h in steps]
rng = np.random.default_rng(0)  # states far off the sphere: ‖p‖ from ½ to 2, any ṗ
p = normalise(rng.normal(size=(1000, 4))) * 2 ** rng.uniform(-1, 1, (1000, 1))
pdot = rng.normal(size=(1000, 4))
far = ph.acceleration("sherif-34", p, pdot, J, unit=False).multiplier
scale = ph.acceleration("sherif-39", p, pdot, J, unit=False).multiplier
far = np.max(abs(far)) / np.median(scale)

figure, (left, right) = new_figure(8.6, 3.5, ncols=2, sharey=True)
curves = [  # runs, which result, label, style
    (form_29, 1, "attitude error, form 29 (rad)", {"color": COLOURS[6], "ls": "--"}),
    (form_23, 1, "attitude error, form 23 (rad)", {"color": COLOURS[6], "ls": ":"}),
    (form_29, 3, "|λ/4T$_0$ − 1|, form 29, T$_0$ kept", {"color": COLOURS[0]}),
    (form_29, 4, "|λ − 4T|/4T$_0$, form 29, present T", {"color": COLOURS[5], "ls": "none"}),
    (form_23, 2, "|λ|/4T$_0$, form 23", {"color": COLOURS[1], "ls": "none"}),
]
for runs, k, label, style in curves:
    dots = {"marker": ".", "ms": 3} if style.get("ls") == "none" else {}
    left.semilogy(runs[2][0][1:], np.where(runs[2][k] > 0, runs[2][k], np.nan)[1:], **style, **dots)
    right.loglog(steps, [max(run[k]) for run in runs], marker="o", ms=4, label=label, **style)
left.set(xlabel="time (s)", ylabel="error (rad), or relative deviation of λ", ylim=(1e-19, 10))
left.set_title(f"RK4, h = {steps[2]:g} s", loc="left", fontsize=10)
right.set(xlabel="step of RK4 (s)", xticks=steps, xticklabels=[f"{h:g}" for h in steps])
right.minorticks_off()
right.set_title("Largest value in 20 s", loc="left", fontsize=10)
figure.legend(*right.get_legend_handles_labels(), loc="outside right center", frameon=False, fontsize=8.5)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

drift, seen = np.array([[max(run[1]), max(run[3])] for run in form_29]).T
blind = max(max(run[2]) for run in form_23)
print("form 29: attitude error " + ", ".join(f"{x:.1e}" for x in drift) + " rad at h = 0.2, 0.1, 0.05, 0.02 s")
print("         λ/4T₀ − 1      " + ", ".join(f"{x:.1e}" for x in seen))
print(f"form 23: |λ|/4T₀ at most {blind:.1e} in all runs, {far:.1e} of form 29's λ far off the sphere")
assert max(blind, far) < 1e-13
assert max(max(run[4]) for run in form_29) < 1e-13
assert np.all((seen > 0.03 * drift) & (seen < 0.3 * drift))
