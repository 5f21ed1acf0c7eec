"""A million periods: what Runge-Kutta loses slowly, and what a structure-preserving step keeps.

Each step of RK4 errs in the fifth order of h, always to the same side. The energy and the momentum of a free
body drift, and drift is not only a matter of digits: it is false physics. RK4 takes energy from the body faster
than momentum, as a liquid in its tank would, and drives it into a rotation about the axis of its largest moment.
A smaller step only delays that. Two rules of second order do not: a variational step (Marsden, West 2001) keeps
the momentum and lets the energy swing in a band of width O(h²), since it follows exactly a motion close by; an
energy-momentum step (Gonzalez 1996) keeps both. What is left is rounding. They take six steps for each period
of the polhode, T = 4K/λ (Whittaker 1937, §69); RK4, which is cheaper, takes 36 in about the time of the
variational one. Under gravity, on a point beside its mass centre, the body is an asymmetric top without a
closed form: its energy is kept in the same way, the momentum about the vertical by the variational step alone.
The loops run without Python, two at a time on two processors.
"""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from scipy.special import ellipk

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure

J, omega = np.array([1.0, 2.0, 3.0]), np.array([0.6, 0.0, 1.0])  # kg m², rad/s
above, below = omega @ (J * omega) * J[[2, 0]] - np.sum((J * omega) ** 2)  # 2T J₃ − L², 2T J₁ − L²
period = 4 * ellipk((J[0] - J[1]) * above / (J[2] - J[1]) / below) / np.sqrt((J[1] - J[2]) * below / np.prod(J))  # s
methods = {"energy-momentum": 6, "variational": 6, "rk4": 36}  # steps of a period
rings = [1, 10000, 20000, 40000, 80000]  # periods that are drawn


def body(center, gravity):
    """A body on a ball joint at the origin of its frame; with its mass centre there it is free to turn."""
    joint = ph.Joint("pivot", "spherical", "world", "body")
    return ph.Model("body", gravity=gravity, bodies=[ph.Body("body", 1.0, J, center)], joints=[joint])


def followed(case):
    """Periods, ω, and the largest changes so far of the energy and of the momentum that is kept, both relative."""
    (title, model), (method, steps), h = *case, period / methods[case[1][0]]
    n = steps * (10**6 if title == "Free body" else 10**5)
    seen = [np.geomspace(1, n, 900), *(steps * k + np.arange(steps + 1) for k in rings)]
    seen = np.append(0, np.unique(np.concatenate(seen).astype(int)))  # steps
    run = ph.simulate(model, v=omega, duration=n * h, step=h, method=method, samples=seen * h)
    L = run["angular_momentum"].values[:, 0 if title == "Free body" else 2 :]
    energy, momentum = run["total_energy"].values, np.linalg.norm(L - L[0], axis=1) / np.linalg.norm(L[0])
    return seen / steps, run["v"].values, np.maximum.accumulate([abs(energy / energy[0] - 1), momentum], axis=1)


free, top = body((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)), body((0.02, 0.03, 0.1), (0.0, 0.0, -1.0))
cases = [(model, method) for model in (("Free body", free), ("Heavy top", top)) for method in methods.items()]
with ThreadPoolExecutor(2) as pool:
    found = {(model[0], method[0]): x for (model, method), x in zip(cases, pool.map(followed, cases), strict=True)}

figure, (left, *panels) = new_figure(10.6, 3.5, ncols=3, width_ratios=[1.1, 1.0, 1.0])
n, w, _ = found["Free body", "rk4"]
for k, colour in zip(rings, ["#fde725", "#7ad151", "#22a884", "#2a788e", "#440154"], strict=True):
    left.plot(*w[(n >= k) & (n <= k + 1), :2].T, color=colour, lw=1.6, label="rk4, " + f"{k:,}".replace(",", "\u202f"))
left.plot(*found["Free body", "variational"][1][:, :2].T, ".", ms=1.6, color="black", label="variational, $10^6$")
left.set(xlabel="$\\omega_1$ (rad/s)", ylabel="$\\omega_2$ (rad/s)", aspect="equal", xticks=[-0.5, 0, 0.5])
left.legend(title="periods up to", loc="center left", bbox_to_anchor=(1, 0.5), frameon=False, fontsize=8)
left.set_title("Free body, seen along axis 3", loc="left", fontsize=10)
for axes, title in zip(panels, ("Free body", "Heavy top"), strict=True):
    for method, colour in zip(methods, (2, 0, 1), strict=True):
        n, _, changes = found[title, method]
        for change, style, name in zip(changes, ("-", "--"), ("energy", "momentum"), strict=True):
            axes.loglog(n[1:], change[1:] + 1e-16, style, color=COLOURS[colour], lw=1.4, label=f"{method}, {name}")
    axes.set(xlabel="periods", ylabel="largest relative change so far", ylim=(5e-17, 3), xlim=(0.1, 1.5e6))
    axes.set_title(title, loc="left", fontsize=10)
figure.legend(*axes.get_legend_handles_labels(), loc="outside lower right", ncols=3, frameon=False, fontsize=8.5)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

for key, (n, _, changes) in found.items():
    print(f"{', '.join(key)}, {n[-1]:.0e} periods: energy {changes[0, -1]:.1e}, momentum {changes[1, -1]:.1e}")
for title in ("Free body", "Heavy top"):
    (*_, held), (m, _, band), (n, _, lost) = (found[title, method] for method in methods)
    assert lost[0, -1] > 20 * lost[0, n.searchsorted(1000)]  # drifts
    assert band[0, -1] < 1.05 * band[0, m.searchsorted(1000)]  # does not grow
    assert max(band[1, -1], held[0, -1]) < 1e-9
assert found["Free body", "energy-momentum"][2][1, -1] < 1e-9
