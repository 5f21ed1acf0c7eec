"""A million periods: what Runge-Kutta loses slowly, and what a structure-preserving step keeps.

Each step of RK4 errs in the fifth order of h, always to the same side. The energy and the momentum of a free
body drift, and drift is not only a matter of digits: it is false physics. RK4 takes energy from the body faster
than momentum, as a liquid in its tank would, and drives it into a rotation about the axis of its largest moment.
A smaller step only delays that. Two rules of second order do not: a variational step (Marsden, West 2001) keeps
the momentum and lets the energy swing in a band of width O(h²), since it follows exactly a motion close by; an
energy-momentum step (Gonzalez 1996) keeps both. What is left is rounding. They take six steps for each period
of the polhode, T = 4K/λ (Whittaker 1937, §69); RK4, which is cheaper, takes 36 in about the time of the
variational one. Under gravity, on a point beside its mass centre, the body is an asymmetric top without a
closed form: its energy is kept in the same way, the momentum about the vertical by the variational step.

`simulate` runs its loops without Python, so that two of them can share two processors.
"""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from scipy.special import ellipk

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure

J, omega = np.array([1.0, 2.0, 3.0]), np.array([0.6, 0.0, 1.0])  # kg m², rad/s
L2, T2 = (J * omega) @ (J * omega), omega @ (J * omega)  # L² and 2T
rate = np.sqrt((J[2] - J[1]) * (L2 - T2 * J[0]) / np.prod(J))
period = 4 * ellipk((J[1] - J[0]) * (T2 * J[2] - L2) / ((J[2] - J[1]) * (L2 - T2 * J[0]))) / rate  # s


def body(center, gravity):
    """A body on a ball joint at the origin of its frame; with its mass centre there it is free to turn."""
    joint = ph.Joint("pivot", "spherical", "world", "body")
    return ph.Model("body", gravity=gravity, bodies=[ph.Body("body", 1.0, J, center)], joints=[joint])


free, top = body((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)), body((0.02, 0.03, 0.1), (0.0, 0.0, -1.0))
methods = {"energy-momentum": 6, "variational": 6, "rk4": 36}  # steps of a period
cases = [(model, method, periods) for model, periods in ((free, 10**6), (top, 10**5)) for method in methods]


def followed(case):
    """Periods, ω, and the largest changes so far of the energy and of the momentum that is kept, both relative."""
    model, method, periods = case
    n, h = methods[method] * periods, period / methods[method]
    marks = np.unique(np.geomspace(1, n, 900).astype(int))  # steps that are looked at
    run = ph.simulate(model, v=omega, duration=n * h, step=h, method=method, samples=np.append(0, marks) * h)
    L = run["angular_momentum"].values[:, 0 if model is free else 2 :]
    energy, momentum = run["total_energy"].values, np.linalg.norm(L - L[0], axis=1) / np.linalg.norm(L[0])
    changes = np.maximum.accumulate([abs(energy / energy[0] - 1), momentum], axis=1)
    return np.append(0, marks) / methods[method], run["v"].values, np.maximum(changes, 1e-16)


with ThreadPoolExecutor(2) as pool:
    found = dict(zip([(model is free, method) for model, method, _ in cases], pool.map(followed, cases), strict=True))

figure, (left, *panels) = new_figure(10.4, 3.4, ncols=3, width_ratios=[1.0, 1.05, 1.05])
n, w, _ = found[True, "rk4"]
left.plot(*found[True, "variational"][1][:, :2].T, ".", ms=2.5, color="#9aa4ab")
dots = left.scatter(*w[1:, :2].T, s=4, lw=0, c=np.log10(n[1:]), cmap="viridis", vmin=0, vmax=6)
figure.colorbar(dots, ax=left, location="bottom", label="RK4: log$_{10}$ of the periods", shrink=0.8)
left.set(xlabel="$\\omega_1$ (rad/s)", ylabel="$\\omega_2$ (rad/s)", aspect="equal")
left.set_title("Free body, seen along axis 3", loc="left", fontsize=10)
for axes, is_free, title in zip(panels, (True, False), ("Free body", "Heavy asymmetric top"), strict=True):
    for method, colour in zip(methods, (2, 0, 1), strict=True):
        n, _, changes = found[is_free, method]
        for change, style, name in zip(changes, ({"lw": 1.9}, {"lw": 1.1, "ls": "--"}), ("energy", "momentum"), strict=True):
            axes.loglog(n[1:], change[1:], color=COLOURS[colour], **style, label=f"{method},\n{name}")
    axes.set(xlabel="periods", ylim=(5e-17, 3), xlim=(0.1, 1.5e6))
    axes.set_title(title, loc="left", fontsize=10)
panels[0].set_ylabel("largest relative change so far")
figure.legend(*axes.get_legend_handles_labels(), loc="outside right center", frameon=False, fontsize=8.5)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

for (is_free, method), (n, _, changes) in found.items():
    text = "energy {:.1e}, momentum {:.1e}".format(*changes[:, -1])
    print(f"{'free body' if is_free else 'heavy top'}, {n[-1]:.0e} periods, {method}: {text}")
early = {key: changes[:, np.searchsorted(n, 1000.0)] for key, (n, _, changes) in found.items()}
late = {key: changes[:, -1] for key, (_, _, changes) in found.items()}
assert late[True, "rk4"][0] > 0.1 and late[False, "rk4"][0] > 0.1  # spun down
for is_free in (True, False):
    assert late[is_free, "variational"][0] < 1.05 * early[is_free, "variational"][0]  # a band that does not grow
    assert max(late[is_free, "variational"][1], late[is_free, "energy-momentum"][0]) < 1e-9
assert late[True, "energy-momentum"][1] < 1e-9
