"""Udwadia's J0 is free in theory, but not in floating point: take it between the moments of inertia.

The kinetic energy with J4 = diag(J0, J) makes the mass matrix M = 4 Eᵀ J4 E regular, Udwadia (10), and the
fundamental equation restores p·p̈ = −ṗ·ṗ, Udwadia (43)–(45):

    M p̈ = Q + M^½ (A M^−½)⁺ (b − A M⁻¹ Q),   A = pᵀ,   b = −ṗ·ṗ

The result does not contain J0 > 0. Its rounding errors do: M has the eigenvalues 4J0 and 4J_i, so

    cond M = max(J0, J_max)/min(J0, J_min), smallest for J_min ≤ J0 ≤ J_max

A large J0 costs digits in proportion to it: it adds rounding errors of its own size to M and Q, whatever
the solver. A small J0 need not cost anything. But the equation taken literally, with a matrix square root
and a pseudo-inverse, loses digits as J0⁻². polhode never forms M^½: with M = K Kᵀ it finds the least
‖Kᵀ(p̈ − M⁻¹Q)‖ under the constraint and refines once, and a small J0 does no harm. Its default is tr(J)/3.
The reference is the explicit form (42), which contains no J0.
"""

from pathlib import Path

import numpy as np
from scipy.linalg import sqrtm

import polhode as ph
from polhode.dynamics.single.loads import of_torque
from polhode.dynamics.single.terms import gyroscopic_udwadia, mass_matrix_udwadia
from polhode.quaternion import normalise, rate
from polhode.show.figure import COLOURS, new_figure, save_figure

rng, states = np.random.default_rng(4), 100
J = np.diag([0.7, 1.0, 1.4])  # kg m²
p, torque = normalise(rng.normal(size=(states, 4))), rng.normal(size=(states, 3))
pdot = rate(p, rng.normal(size=(states, 3)))
J0s = 10.0 ** np.arange(-8, 9)
reference = ph.acceleration("udwadia-42", p, pdot, J, torque=torque).pddot


def literal(J0):
    """Udwadia (45) as it is written."""
    M = mass_matrix_udwadia(p, J, J0)
    Q = of_torque(p, torque) - gyroscopic_udwadia(p, pdot, J, J0)
    results = []
    for M_i, Q_i, p_i, pdot_i in zip(M, Q, p, pdot, strict=True):
        root, A, b = sqrtm(M_i), p_i[None], -pdot_i @ pdot_i
        force = root @ np.linalg.pinv(A @ np.linalg.inv(root)) @ (b - A @ np.linalg.solve(M_i, Q_i))
        results.append(np.linalg.solve(M_i, Q_i + force))
    return np.array(results)


def error(pddot):  # the largest, relative to the size of p̈
    return np.max(np.linalg.norm(pddot - reference, axis=1) / np.linalg.norm(reference, axis=1))


ours = np.array([error(ph.acceleration("udwadia-45", p, pdot, J, torque=torque, J0=J0).pddot) for J0 in J0s])
written = np.array([error(literal(J0)) for J0 in J0s])
default = error(ph.acceleration("udwadia-45", p, pdot, J, torque=torque).pddot)
condition = np.array([np.linalg.cond(mass_matrix_udwadia(p[0], J, J0)) for J0 in J0s])
theory = np.maximum(J0s, 1.4) / np.minimum(J0s, 0.7)

figure, (left, right) = new_figure(8.0, 3.7, ncols=2)
left.loglog(J0s, written, "s-", color=COLOURS[1], ms=4.5, label="as written: sqrtm and pinv")
left.loglog(J0s, ours, "o-", color=COLOURS[0], ms=4.5, label='ph.acceleration("udwadia-45")')
left.loglog(np.trace(J) / 3, default, "*", color="black", ms=10, label="the same, default J$_0$ = tr J/3")
right.loglog(J0s, condition, "o", color=COLOURS[2], ms=4.5, label="computed")
right.loglog(J0s, theory, color="black", lw=1, label="max(J$_0$, J$_{\\mathrm{max}}$)/min(J$_0$, J$_{\\mathrm{min}}$)")
for axes, quantity in ((left, "largest relative error of p̈"), (right, "condition number of M")):
    axes.axvspan(0.7, 1.4, color="#d9d9d9", lw=0, label="J$_{\\mathrm{min}}$ … J$_{\\mathrm{max}}$")
    axes.set(xlabel="J$_0$ (kg m²)", ylabel=quantity, xticks=10.0 ** np.arange(-8, 9, 4))
    axes.legend(frameon=False, fontsize=8.5, loc="upper center", bbox_to_anchor=(0.5, -0.17))
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

for name, found in (("as written", written), ("polhode", ours)):
    print(f"{name:10s}: error at J0 = 1e-8, 1e-4, 1, 1e4, 1e8: " + "  ".join(f"{x:.0e}" for x in found[::4]))
powers = np.diff(np.log10([written[[0, 6]], written[[10, 16]], ours[[10, 16]]]))[:, 0] / 6  # of J0
print("as written J0^{:.2f} for small J0, J0^{:.2f} for large J0; polhode J0^{:.2f} for large J0".format(*powers))
assert np.allclose(powers, [-2.0, 1.0, 1.0], atol=0.3)
assert max(default, *ours[J0s <= 1]) < 1e-14
assert np.allclose(condition, theory, rtol=1e-6)
