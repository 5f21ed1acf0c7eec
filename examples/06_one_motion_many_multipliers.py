"""One motion, many multipliers: what λ is, is a choice of the form, and one choice depends on the space frame.

The part of an equation in Euler parameters along p does no virtual work, because p·δp = 0, Sherif (21).
It may be kept or dropped: p̈ stays, and the multiplier of p·p = 1 takes it up. The gyroscopic term of form
23 brings λ = 0 and that of form 29 brings 4T, Sherif (24), (30). A force f at a body point u brings nothing
as Q₁ = B₁ᵀf, Sherif (79), and twice its virial, 2 f·Au, as 2 HᵀGᵀf, Sherif (82), (84): for the weight of a
top −2V. Kept whole, Q₂ = B₂ᵀf of Sherif (62), (69) brings 2 f·(A + I)u, which adds the space components of f
to the body components of u: turn the world, the top and its weight with it, and this λ changes while
nothing happens to the motion. It is no physical quantity. The motion is that of Lagrange's top, in closed
form; J is taken about its fixed point.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.quaternion import from_axis_angle, product, rate, rotate
from polhode.show.figure import COLOURS, new_figure, save_figure

mass, arm = 0.5, np.array([0.0, 0.0, 0.1])  # kg, m: from the fixed point to the mass centre, body axes
J_center = np.array([5e-4, 5e-4, 4e-4])  # kg m²
J = J_center + mass * (arm @ arm - arm * arm)  # about the fixed point
weight = np.array([0.0, 0.0, -9.81 * mass])  # N, space axes
t = np.linspace(0.0, 1.0, 401)
top = ph.exact.heavy_top(mass, J_center, arm, from_axis_angle([1.0, 0.0, 0.0], 1.0), [0.0, 2.0, 90.0], t)
forms = {  # the multiplier, and the equations of Sherif
    "sherif-79": "0, (79)",
    "sherif-29+q1": "4T, (29), (60)",
    "sherif-82": "2f·Au, (82)",
    "sherif-29+gh": "4T + 2f·Au, (29), (82)",
    "sherif-29+q2": "4T + 2f·(A + I)u, (29), (62)",
}


def answers(turned):
    """The accelerations and multipliers of all forms, with the whole world turned by an angle about x."""
    r = from_axis_angle([1.0, 0.0, 0.0], turned)
    p, f = product(r, top.p), rotate(r, weight)
    found = [ph.acceleration(form, p, rate(p, top.omega), J, force=f, point=arm) for form in forms]
    return np.array([a.pddot for a in found]), np.array([a.multiplier for a in found])


pddot, multipliers = answers(0.0)
T, V = top.omega**2 @ J / 2, -rotate(top.p, arm) @ weight
parts = np.array([0 * T, 4 * T, -2 * V, 4 * T - 2 * V, 4 * T - 2 * V + 2 * weight @ arm])
size = np.max(np.linalg.norm(pddot, axis=-1))
forms_differ = np.max(np.ptp(pddot, axis=0)) / size

turns = np.linspace(0.0, 2 * np.pi, 25)
turned = [answers(angle) for angle in turns]
back = [product(from_axis_angle([1.0, 0.0, 0.0], -angle), a) for angle, (a, _) in zip(turns, turned, strict=True)]
motion_differs = np.max(abs(np.array(back) - pddot)) / size
lam = np.array([x[:, 0] for _, x in turned])  # at t = 0, by turn and form

figure, (left, right) = new_figure(8.8, 3.5, ncols=2, sharey=True)
for k, label in enumerate(forms.values()):
    style = {"color": COLOURS[(6, 0, 2, 5, 1)[k]], "lw": 1.6}
    left.plot(t, multipliers[k], **style)
    right.plot(np.degrees(turns), lam[:, k], label=label, marker="os^Dv"[k], ms=3.5, **style)
left.set(xlabel="time (s)", ylabel="multiplier λ (J)")
left.set_title("Lagrange's top", loc="left", fontsize=10)
right.set(xlabel="world turned about x (degrees)", xticks=range(0, 361, 90))
right.set_title("The same instant, t = 0, in turned worlds", loc="left", fontsize=10)
figure.legend(
    loc="outside right center", frameon=False, fontsize=8.5, title="λ, equations of Sherif", title_fontsize=8.5
)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

spread, parts_differ = np.ptp(lam, axis=0), np.max(abs(multipliers - parts))
expected = 4 * np.linalg.norm(weight) * np.linalg.norm(arm)  # 2 f·u swings between ±2 |f||u|
print(f"p̈: forms differ by {forms_differ:.0e}, turned worlds by {motion_differs:.0e} of its size")
print(f"λ: its parts hold to {parts_differ:.0e} J; turned worlds change it by " + ", ".join(f"{x:.3g}" for x in spread))
assert max(forms_differ, motion_differs) < 1e-11
assert max(parts_differ, *spread[:4]) < 1e-11 * np.max(T)
assert abs(spread[4] - expected) < 1e-11
