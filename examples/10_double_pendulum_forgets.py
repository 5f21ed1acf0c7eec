"""How far ahead can a double pendulum be foretold? Each digit of the start buys little more than a second.

Let go from above the horizontal, a double pendulum is chaotic: two starts that differ by δ₀ separate as δ₀ exp λt
until they have nothing in common, with one rate λ, Lyapunov's exponent, whatever δ₀ is. So the horizon up to
which two runs agree, here to 0.1 m at the lower mass, grows only with the logarithm of the care that is taken:
every decade of δ₀ buys the same time, (ln 10)/λ. All the while the energy stays within 1e-10 of its scale: a
motion that cannot be foretold is not a wrong one. And no method escapes, since its own errors, down to
rounding, are such a δ₀ too. Nine starts, at 1e-11 … 1e-3 rad from another, are run by DOP853 at the
tolerance 1e-13; λ is found twice, from the growth of single separations and from the horizons.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure

model, start, duration = ph.load("double-pendulum"), np.array([2.0, 0.5]), 20.0  # rad, s
offsets = 10.0 ** np.arange(-11, -2)  # rad, of the first angle


def run_from(offset):
    """The run from a start that is moved by this angle."""
    return ph.simulate(
        model, q=(start[0] + offset, start[1]), v=[0.0, 0.0], duration=duration, tolerance=1e-13, samples=4001
    )


def path(run):
    """x and height of the lower mass, m."""
    upper, lower = np.cumsum(run["q"].values, axis=1).T
    return np.transpose([-np.sin(upper) - np.sin(lower), -np.cos(upper) - np.cos(lower)])


first, others = run_from(0.0), [run_from(offset) for offset in offsets]
t = first["time"].values
apart = np.array([np.linalg.norm(path(run) - path(first), axis=1) for run in others])
horizon = np.array([t[np.argmax(row > 0.1)] for row in apart])
growing = [(t > 1) & (t < 0.95 * end) for end in horizon]
rates = [np.polyfit(t[g], np.log(row[g]), 1)[0] for row, g in zip(apart, growing, strict=True)]
lyapunov, shift = np.polyfit(horizon, np.log(0.1 / offsets), 1)
energies = np.array([run["total_energy"].values for run in (first, *others)])
drift = np.max(abs(energies - energies[:, :1])) / np.max(first["kinetic_energy"].values)

figure, (left, middle, right) = new_figure(10.4, 3.5, ncols=3, width_ratios=[1.0, 1.25, 1.0])
pair, end = path(others[5]), np.searchsorted(t, horizon[5])
left.plot(*path(first)[: end + 1].T, color="#9aa4ab", lw=1.0)
for xz, colour, label in ((path(first), 0, "from 2 rad"), (pair, 1, "from 2.000 001 rad")):
    left.plot(*xz[end : end + 500].T, color=COLOURS[colour], lw=1.2, label=label)
left.plot(*pair[end], "o", color="black", ms=4)
left.set(xlabel="x (m)", ylabel="height (m)", aspect="equal", xlim=(-2.2, 2.2), ylim=(-2.2, 2.6))
left.set_title(f"Lower mass: the two part at {horizon[5]:.1f} s", loc="left", fontsize=10)
left.legend(frameon=False, fontsize=8, loc="upper center", ncols=2, columnspacing=1.0, handlelength=1.2)
shades = [f"#{round(8 + 20 * k):02x}{round(48 + 14 * k):02x}{round(107 + 12 * k):02x}" for k in range(9)]
for row, shade in zip(apart, shades, strict=True):
    middle.semilogy(t, row, color=shade, lw=0.9)
middle.semilogy(t[:2700], 1e-11 * np.exp(lyapunov * t[:2700] + 1), color="black", lw=1.6, ls="--")
middle.text(6.0, 1e-8, f"exp({lyapunov:.2f} t/s)", va="top")
middle.axhline(0.1, color=COLOURS[1], lw=1.0)
middle.set(xlabel="time (s)", ylabel="distance of the lower masses (m)", ylim=(1e-12, 10))
middle.set_title("Separations", loc="left", fontsize=10)
right.semilogx(offsets, np.log(0.1 / offsets) / lyapunov - shift / lyapunov, color="black", lw=1.2)
right.scatter(offsets, horizon, c=shades, s=30, zorder=3)
right.set(xlabel="difference of the starts (rad)", ylabel="time until 0.1 m apart (s)", xticks=offsets[::2])
right.set_title(f"{np.log(10) / lyapunov:.2f} s for each digit", loc="left", fontsize=10)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

print(f"λ by horizons {lyapunov:.2f}/s; by single separations {np.mean(rates):.2f} ± {np.std(rates):.2f}/s")
print("horizons " + ", ".join(f"{x:.1f}" for x in horizon) + f" s; energy within {drift:.0e}")
assert drift < 1e-10
assert abs(np.mean(rates) - lyapunov) < 0.25 * lyapunov
assert np.all(np.diff(horizon) < 0)
assert np.corrcoef(np.log(offsets), horizon)[0, 1] < -0.98
