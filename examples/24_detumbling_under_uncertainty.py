"""How long a satellite tumbles, when nobody knows its inertia: a thousand flights at once.

A hub with three reaction wheels is stopped by quaternion feedback, torque = −K sign(p₀) p − D ω, each motor giving
0.4 N m at most. The gains were chosen for the moments of inertia in the data sheet; fuel and folded panels make the
true ones differ by ten per cent, and the launcher lets go with any attitude and with rates that are only known in
the mean. Each flight is one lane of the compiled loop, its own inertia, attitude and rates among the inputs, and
ends up as one number: the time after which the hub turns by less than 1 mrad/s. The scatter shows what rules it. It
is the momentum that the wheels must take over with bounded torque, far more than the error in the inertia: the
controller is robust, its motors are slow.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure

RUNS = 1024
craft = ph.load("spacecraft")  # a hub, free, and three wheels on its axes
J, most = np.array([40.0, 45.0, 33.0]), 0.4  # kg m² of the whole, N m
K, D = 2 * 0.2**2 * J, 2 * 0.8 * 0.2 * J  # N m, N m s: 0.2 rad/s, damping 0.8
own = craft.numbers()


def motors(t, q, v):
    """Torques from the hub's attitude and rates, bounded."""
    side = ph.where(q[3] < 0, -1.0, 1.0)
    wanted = [-K[k] * side * q[4 + k] - D[k] * v[3 + k] for k in range(3)]  # on the hub
    return [0.0] * 6 + [-ph.maximum(ph.minimum(x, most), -most) for x in wanted]


samples = {f"bodies.hub.inertia.{k}": ph.Normal(own[f"bodies.hub.inertia.{k}"], 0.1 * J[k]) for k in range(3)}
samples |= {f"start.v.flight.omega_{axis}": ph.Normal(0.0, 0.06) for axis in "xyz"}
samples |= {"start.q.flight": ph.Rotations()}
rate = "sqrt(v.flight.omega_x^2 + v.flight.omega_y^2 + v.flight.omega_z^2)"
flights = ph.sweep(
    craft, samples, runs=RUNS, seed=30, design="latin", tau=motors, v=[0.0] * 9, duration=240.0, step=0.05,
    method="rk4", every=10, keep=(), outputs={"rate": rate},
    measures={"still": ph.Measure("settle", "rate", 0.0, 1e-3)},
)  # fmt: skip

values = flights["sample"].to_pandas()
true = np.stack([values[f"bodies.hub.inertia.{k}"] - own[f"bodies.hub.inertia.{k}"] + J[k] for k in range(3)], axis=1)
spin = np.stack([values[f"start.v.flight.omega_{axis}"] for axis in "xyz"], axis=1)
momentum = np.linalg.norm(true * spin, axis=1)  # N m s
still, error = flights["still"].values, (true / J - 1).mean(axis=1)
stopped = np.isfinite(still)
rank = lambda x: np.argsort(np.argsort(x[stopped]))  # noqa: E731
by_momentum, by_error = (np.corrcoef(rank(x), rank(still))[0, 1] for x in (momentum, error))

figure, (left, middle, right) = new_figure(10.4, 3.5, ncols=3)
fan = flights["rate"].quantile([0.05, 0.25, 0.5, 0.75, 0.95], "run").values
for low, high, shade in ((0, 4, 0.2), (1, 3, 0.35)):
    left.fill_between(flights["time"], fan[low], fan[high], color=COLOURS[0], alpha=shade, lw=0)
left.semilogy(flights["time"], fan[2], color=COLOURS[0])
left.set(xlabel="time (s)", ylabel="rate of the hub (rad/s)", ylim=(1e-5, 0.3), xlim=(0, 150))
left.set_title("Median, half, nine tenths", loc="left", fontsize=10)
for axes, x, label in (
    (middle, momentum, "momentum to be taken over (N m s)"),
    (right, 100 * error, "mean error of inertia (%)"),
):
    axes.plot(x, still, ".", ms=3, color=COLOURS[1], alpha=0.6)
    axes.set(xlabel=label, ylabel="time to 1 mrad/s (s)")
middle.set_title(f"Rank correlation {by_momentum:.2f}", loc="left", fontsize=10)
right.set_title(f"Rank correlation {by_error:.2f}", loc="left", fontsize=10)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)
half, nearly_all = np.nanquantile(still, [0.5, 0.95])
print(f"{stopped.sum()} of {RUNS} stopped; half of them within {half:.0f} s, 95 % within {nearly_all:.0f} s")

assert stopped.all() and by_momentum > 0.6 and abs(by_error) < 0.3  # noqa: PT018
