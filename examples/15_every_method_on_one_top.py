"""Work and precision: every method of polhode on one heavy top, against its closed form.

The fast top of the Lie-group papers (Brüls, Cardona 2010) spins at 150 rad/s on a fixed point and is followed
for 0.1 s. Its attitude is known in elliptic functions (Whittaker 1937, §71), so that the error is an error and no
estimate. Each of the 25 methods takes 25, 50, … 6400 equal steps; the time of a step, all in compiled code, is
found from a longer run. On these axes the slope of a curve is the order of its method, and each has the
order it promises. Costs differ by a factor of a thousand. For a smooth, short, not stiff motion the high
explicit orders win: DOP853 is at 1e-10 rad after some ten microseconds, when the rules of second order are
wrong by 1e-3 or more. Other virtues do not show here: implicit methods solve equations at each step and
pay off for stiff springs, Lie-group methods keep p on its sphere, and the structure-preserving ones pay off in
long runs, example 08. The grey region is out of reach for all 25.
"""

import time
from pathlib import Path

import numpy as np

import polhode as ph
from polhode.integrate.methods import METHODS
from polhode.quaternion import angle_between, normalise
from polhode.show.figure import COLOURS, new_figure, save_figure

top, duration = ph.load("heavy-top"), 0.1  # s
body, start = top.bodies[0], top.start
exact = ph.exact.heavy_top(body.mass, body.inertia, body.center, start.q, start.v, duration).p
counts, IMPLICIT = 25 * 2 ** np.arange(9), ("implicit", "extrapolation")


def error(name, steps):
    """Attitude error at the end, rad."""
    run = ph.simulate(top, duration=duration, step=duration / steps, method=name, samples=2)
    return float(angle_between(normalise(run["q"].values[-1]), normalise(exact)))


def run_time(name, steps):
    """Seconds of the processor that a run takes."""
    began = time.process_time()
    ph.simulate(top, duration=4.0, step=4.0 / steps, method=name, samples=2, verify=False)
    return time.process_time() - began


def step_time(name):
    """Seconds that a step takes, in runs of so many that all else is little."""
    run_time(name, 4000)  # compiles
    steps = next((n for n in 4000 * 4 ** np.arange(4) if run_time(name, n) > 0.05), 256_000)
    return min(run_time(name, steps) for _ in range(3)) / steps


errors = {name: np.array([error(name, n) for n in counts]) for name in METHODS}
costs = {name: step_time(name) for name in METHODS}
used = {k: np.flatnonzero(e > (1e-8 if METHODS[k].in_loops else 3e-14)) for k, e in errors.items()}  # above rounding
slopes = {name: -np.diff(np.log2(e[used[name]]))[-1] for name, e in errors.items()}
points = {name: (1e6 * costs[name] * counts[k], errors[name][k]) for name, k in used.items()}  # µs, rad
cheap = np.geomspace(1, 1e7, 400)  # µs
best = np.full(400, 10.0)
for work, e in points.values():
    best = np.minimum(best, np.exp(np.interp(np.log(cheap), np.log(work), np.log(e), np.log(10), np.log(e[-1]))))

figure, panels = new_figure(10.6, 4.2, ncols=3, sharey=True, sharex=True)
colour = dict(zip((1, 2, 3, 4, 5, 6, 8, 7), [*(COLOURS[k] for k in (6, 5, 1, 3, 4, 2, 0)), "#444444"], strict=True))
for axes, families in zip(panels, (("explicit",), ("Lie group", "structure-preserving"), IMPLICIT), strict=True):
    axes.fill_between(cheap, 1e-15, best, color="#eceff1", lw=0)
    chosen = [method for method in METHODS.values() if method.family in families]
    for method, marker in zip(chosen, "os^Dv<>hPX"[: len(chosen)], strict=True):
        style = {"color": colour[method.order], "mfc": "white", "ms": 4.5, "lw": 1.3}
        axes.loglog(*points[method.name], marker + "-", **style, label=f"{method.name}, {method.order}")
    axes.set(xlabel="computing time (µs)", xlim=(1, 1e7), ylim=(1e-14, 10))
    place = {"explicit": "upper right", "implicit": "lower left"}.get(families[0], "lower right")
    axes.legend(frameon=False, fontsize=8, handlelength=1.3, loc=place, title="method, order", title_fontsize=8)
    axes.set_title(" and ".join(families).capitalize(), loc="left", fontsize=10)
panels[0].set_ylabel("attitude error after 0.1 s (rad)")
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

print("orders: " + ", ".join(f"{name} {slope:.2f}" for name, slope in slopes.items()))
print("ns a step: " + ", ".join(f"{name} {1e9 * cost:.0f}" for name, cost in costs.items()))
assert len(METHODS) == 25
assert all(abs(slopes[name] - method.order) < 0.2 for name, method in METHODS.items())
assert errors["dop853"][1] < 1e-10 < 1e-4 * min(errors[name][1] for name, m in METHODS.items() if m.order == 2)
