"""What are the equations that a simulation integrates? Read them, and integrate them by hand.

A kernel is a list of some hundred operations that nobody reads. The same physics on symbols gives the equations of
motion as a textbook prints them: here those of the double pendulum, with letters for masses and lengths. That they are
the equations of the run is not taken on trust: the printed formulas, M and bias, are handed to SciPy's integrator,
which knows nothing of bodies and joints, and its motion stays within 1e-10 rad of the compiled one for ten seconds,
far from small angles but not yet chaotic. Written out they take 47 operations, fewer than in Craig's textbook (58).
"""

from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

import polhode as ph
from polhode.equations_of_motion.mathematics import bracketed, latex
from polhode.show.figure import COLOURS, new_figure, save_figure

model = ph.load("double-pendulum")
eq = ph.equations(model)
start, duration = np.array([0.9, 0.3]), 10.0  # rad, s


def rates(t, state):
    """q̇, v̇ by the printed formulas: M v̇ + bias = 0."""
    q, v = state[:2], state[2:]
    return np.concatenate([v, np.linalg.solve(eq.evaluate("metric", q), -eq.evaluate("bias", q, v))])


run = ph.simulate(model, q=start, v=[0.0, 0.0], duration=duration, tolerance=1e-12, samples=401)
t = run["time"].values
printed = solve_ivp(rates, (0, duration), [*start, 0.0, 0.0], "DOP853", t, rtol=1e-12, atol=1e-12)
apart = np.max(abs(printed.y[:2].T - run["q"].values), axis=1)

names = eq.words.latex
left = [f"M_{{{i + 1}{j + 1}}} = {latex(eq.metric[i, j], names)}" for i in range(2) for j in range(i, 2)]
right = [f"h_{k + 1} = {latex(x, names)}" for k, x in enumerate(eq.velocity_terms)]
right += [f"G_{k + 1} = {latex(x, names)}" for k, x in enumerate(eq.gravity)]
figure, (page, plot) = new_figure(9.0, 4.8, nrows=2, height_ratios=[1.0, 1.25])
page.set_axis_off()
law = r"\sum_i M_{ki}\,\ddot\theta_i + h_k + G_k = \tau_k"
for x, lines in ((0.0, [law, *left]), (0.46, right)):
    for k, line in enumerate(lines):
        where = {"transform": page.transAxes, "va": "center", "math_fontfamily": "cm", "fontsize": 13}
        page.text(x, 0.88 - k * 0.25, f"${bracketed(line)}$", **where)
for k, (colour, label) in enumerate(zip(COLOURS, (r"$\theta_1$", r"$\theta_2$"), strict=False)):
    plot.plot(t, run["q"].values[:, k], color=colour, lw=1.4, label=f"{label}, compiled kernel")
    plot.plot(t[::8], printed.y[k, ::8], "o", color=colour, ms=3.5, mfc="white", label=f"{label}, printed formulas")
plot.set(xlabel="time (s)", ylabel="angle (rad)", ylim=(-1.2, 1.7))
plot.legend(fontsize=8, ncols=4, loc="upper center", frameon=False)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

print("\n".join(str(row.lhs) + " = " + str(row.rhs) for row in eq.rows))
print(f"{eq.operations} operations; the two motions within {np.max(apart):.1e} rad over {duration:g} s")
assert np.max(apart) < 1e-10
