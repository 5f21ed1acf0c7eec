"""A bicycle without a rider balances itself, but only between two speeds.

The Carvallo–Whipple bicycle is four rigid bodies, two of them wheels that roll without slipping: a machine with
nonholonomic constraints. Upright and straight ahead is a steady motion at every speed. Small motions about it have
four eigenvalues in lean and steer. At walking pace two of them grow and become a pair, the *weave*: the bicycle falls
in ever wider swings. Above the weave speed the swings die out; above the capsize speed a slow lean grows instead.
Between the two everything dies out. The benchmark parameters of Meijaard, Papadopoulos, Ruina and Schwab (2007) give
4.29238253634111 and 6.02426201538837 m/s: here they come from the nonlinear machine, linearised by its own kernels.
"""

from pathlib import Path

import numpy as np
from scipy.optimize import brentq

import polhode as ph
from polhode.show.figure import save_figure

bicycle = ph.bicycle()
start = np.array(bicycle.start.v)  # rolling ahead, upright


def small(speed):
    """Small motions about riding straight ahead: lean, steer and their rates."""
    v = start * speed / start[0]
    v[3] = 0.0  # no lean rate
    return ph.linearize(bicycle, v=v).part(["frame.omega_x", "steer"])


def growth(kind):
    """The real part of the pair (the weave), or of the slowest of the others (the capsize), as function of speed."""

    def found(speed):
        values = np.linalg.eigvals(small(speed).A)
        chosen = values[abs(values.imag) > 1e-6] if kind == "weave" else values[abs(values.imag) <= 1e-6]
        return max(chosen.real)

    return found


speeds = np.concatenate([np.linspace(0.0, 1.0, 26)[1:], np.linspace(1.0, 10.0, 46)[1:]])
figure = ph.plot.eigenvalues(
    speeds, [small(v) for v in speeds], title="A bicycle balances itself between two speeds", limits=(-10, 10)
)
axes = figure.axes[0]
for text, place in (("weave", (1.1, 3.9)), ("capsize", (8.3, 0.6)), ("castering", (0.3, -9.2))):
    axes.text(*place, text, fontsize=8.5, style="italic")
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

weave = brentq(growth("weave"), 3.5, 5.0, xtol=1e-12)
capsize = brentq(growth("capsize"), 5.5, 7.0, xtol=1e-12)
print(f"stable from {weave:.10f} to {capsize:.10f} m/s")
assert abs(weave - 4.29238253634111) < 1e-8
assert abs(capsize - 6.02426201538837) < 1e-8
