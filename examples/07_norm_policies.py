"""A unit norm says nothing about accuracy: four norm policies in two forms, error against norm.

Four ways to deal with p·p = 1: leave p as it comes; divide it by its norm after each step; project p and ṗ;
move it by exponentials, p ← p∘exp(½ r). All but the first keep ‖p‖ = 1 to rounding at any step size, so the
norm cannot tell a good motion from a bad one; only left alone does it bear witness. In the state form,
ṗ = ½ Q(0, ω) with Euler's equations for ω, Schwab-Meijaard (45), (46), p enters linearly and ω does not
see it: scaling p commutes with every step, and normalising changes the norm but not the attitude. In the
second-order form, Sherif (38), it matters what is projected: see example 02. The Lie-group step is the
same method in both, and the best. The stars are forward Euler steps of 1 ms with projection: the norm is
right to the last digits, the attitude wrong by 0.1 rad in the state form and by 1 rad in the other, where
even the energy is kept to a millionth. No single invariant vouches for a motion.

The body is free, tumbles for 20 s near its intermediate axis, and is compared with the closed form.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.dynamics.single.variables import variables
from polhode.integrate.method import VectorStep, fixed_step
from polhode.papers.single_body import motion
from polhode.quaternion import angle_between, norm, normalise
from polhode.scalar import split
from polhode.show.figure import COLOURS, new_figure, save_figure

J, omega, duration = np.array([1.0, 2.0, 3.0]), np.array([0.3, 2.0, 0.4]), 20.0  # kg m², rad/s, s
steps = [0.2, 0.1, 0.05, 0.025]  # s
policies = {"none": "p left as it comes", "p": "p/‖p‖", "state": "p and ṗ projected", "lie": "Lie-group step"}
forms = {"schwab-meijaard-45": "State form, Schwab-Meijaard (45), (46)", "sherif-38": "Second-order form, Sherif (38)"}
body = ph.SingleBody.make(J, omega)
exact = normalise(ph.exact.free_body(J, omega, duration).p)


def quality(p):
    """Largest |‖p‖ − 1| (1e-16 for 0), and attitude error in rad at the end."""
    return max(np.max(abs(norm(p) - 1)), 1e-16), angle_between(normalise(p[-1]), exact)


def first_order(form):
    """Quality and relative change of the energy, by projected steps of forward Euler."""
    chart = variables(ph.forms[form], split(body.inertia, 2), body.loads)
    x, project = chart.start(split(body.p, 1), split(body.omega, 1)), chart.norms["state"]
    states = fixed_step(lambda rhs, t, x, h: VectorStep(x + h * rhs(t, x)), chart.rhs, x, 1e-3, 20000, project)
    p, w = (np.array(part) for part in zip(*map(chart.end, states), strict=True))
    return *quality(p), np.max(abs((w**2 @ J) / (omega**2 @ J) - 1))


def all_policies(form):
    """Quality by policy and step."""
    return np.array([[quality(motion(form, body, duration, h, policy).p) for h in steps] for policy in policies])


rk4, euler = [all_policies(form) for form in forms], [first_order(form) for form in forms]
figure, panels = new_figure(8.8, 3.4, ncols=2, sharex=True, sharey=True)
for axes, title, found, star in zip(panels, forms.values(), rk4, euler, strict=True):
    for label, path, colour, marker, size in zip(
        policies.values(), found, (6, 1, 2, 0), "os^D", (5, 8, 5, 4), strict=True
    ):
        axes.loglog(*path.T, marker + "-", color=COLOURS[colour], mfc="none", ms=size, lw=1.2, label="RK4, " + label)
    axes.loglog(*star[:2], "*", color=COLOURS[3], ms=10, label="Euler, p and ṗ projected")
    axes.set(xlabel="largest |‖p‖ − 1|", ylabel="attitude error after 20 s (rad)", xticks=10.0 ** np.arange(-16, -1, 3))
    axes.set_title(title, loc="left", fontsize=10)
    axes.label_outer()
place = {"loc": "outside right center", "frameon": False, "fontsize": 8.5, "title_fontsize": 8.5, "alignment": "left"}
figure.legend(*axes.get_legend_handles_labels(), title="h = 0.2, 0.1, 0.05, 0.025 s; Euler 1 ms", **place)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

for name, (size, error, energy) in zip(forms, euler, strict=True):
    print(f"Euler, {name}: |‖p‖ − 1| {size:.0e}, energy {energy:.0e}, attitude {error:.2f} rad")
norms, (state, second) = np.array(rk4)[:, 1:, :, 0], np.array(rk4)[..., 1]  # errors by policy and step
low, high = np.min(second[1:]), np.max(second[1:])
print(f"RK4, Sherif (38): where |‖p‖ − 1| ≤ {np.max(norms):.0e}, errors from {low:.0e} to {high:.1f} rad")
assert max(np.max(norms), euler[0][0], euler[1][0]) < 1e-14
assert high > 1e5 * low
assert np.allclose(state[1], state[0], rtol=1e-5)
assert np.all([np.min(errors, axis=0) == errors[3] for errors in (state, second)])
assert min(euler[0][1], euler[1][1]) > 0.05 > 1e4 * euler[1][2]
