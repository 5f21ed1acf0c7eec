"""Eigenvalues against a parameter: the stability diagram of a bicycle, of a top, of a governor."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.errors import InputError, message
from polhode.show.figure import COLOURS, new_figure, styled
from polhode.show.plots.axes import INK, QUIET

if TYPE_CHECKING:
    from matplotlib.figure import Figure

REAL_PART, OSCILLATING, STABLE = COLOURS[0], COLOURS[1], "#009e73"
ZERO = 1e-6
"""An eigenvalue below this part of the largest is taken for zero: a steady motion nearby, neither stable nor not."""
FLAT = 1e-7
"""A real part below this part of the largest eigenvalue counts as zero."""


@styled
def eigenvalues(
    parameter: Sequence[float],
    found: Sequence[Any],
    name: str = "speed",
    unit: str = "m/s",
    title: str = "Stability",
    limits: tuple[float, float] | None = None,
) -> "Figure":
    """Real and imaginary parts of eigenvalues against a parameter; shaded where everything dies out.

    parameter  (n,)  ascending
    found      n times: what `ph.linearize` returns, or an array of eigenvalues, 1/s
    limits     of the vertical axis, 1/s; None: all of it
    """
    x, values = checked(parameter, found)
    paths = tracked(values)
    figure, axes = new_figure(6.3, 3.9)
    for path in paths.T:
        paired = abs(path.imag) > FLAT * abs(values).max()
        axes.plot(x, np.where(paired, np.nan, path.real), color=INK, linewidth=1.5)
        axes.plot(x, np.where(_grown(paired), path.real, np.nan), color=REAL_PART, linewidth=1.9)
        up = paired & (path.imag > 0)
        axes.plot(x, np.where(up, path.imag, np.nan), color=OSCILLATING, linewidth=1.3, linestyle=(0, (4, 2)))
    for label, how in (
        ("Re λ, no oscillation", {"color": INK}),
        ("Re λ of a pair", {"color": REAL_PART, "linewidth": 1.9}),
        ("Im λ of a pair", {"color": OSCILLATING, "linestyle": (0, (4, 2))}),
    ):
        axes.plot([], [], label=label, **how)
    axes.axhline(0, color=QUIET, linewidth=0.8, zorder=1)
    axes.set(xlabel=f"{name} ({unit})", ylabel="eigenvalues λ (1/s)", xlim=(x[0], x[-1]))
    if limits is not None:
        axes.set_ylim(*limits)
    for start, end in stable_ranges(x, values):
        axes.axvspan(start, end, color=STABLE, alpha=0.13, linewidth=0, zorder=0.5)
        _mark(axes, x, start, end, unit)
    axes.legend(loc="upper left", bbox_to_anchor=(1.005, 1.03), borderaxespad=0.0)
    figure.suptitle(title, x=0.01, ha="left", fontsize=10.5)
    return figure


def _mark(axes: Any, x: np.ndarray, start: float, end: float, unit: str) -> None:
    """The word and the ends of a stable range."""
    where = axes.get_xaxis_transform()
    axes.text((start + end) / 2, 0.985, "stable", transform=where, ha="center", va="top", color="#00654a", fontsize=8.5)
    for edge, side in ((start, "right"), (end, "left")):
        if x[0] < edge < x[-1]:
            axes.axvline(edge, color=STABLE, linewidth=0.8, zorder=1)
            axes.text(edge, 0.03, f" {edge:.2f} {unit} ", transform=where, ha=side, color="#00654a", fontsize=8)


def _grown(inside: np.ndarray) -> np.ndarray:
    """The same, and the neighbours: so that lines meet where a pair is born."""
    return inside | np.append(inside[1:], False) | np.append(False, inside[:-1])


def checked(parameter: Sequence[float], found: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
    """The parameter (n,) and all eigenvalues (n, k); zeros that a machine always has are left out."""
    where = "plot eigenvalues"
    x = np.asarray(parameter, dtype=float)
    arrays = [
        np.asarray(one.eigenvalues() if hasattr(one, "eigenvalues") else one, dtype=complex).ravel() for one in found
    ]
    if x.ndim != 1 or len(x) < 2 or len(x) != len(arrays) or not np.all(np.diff(x) > 0):
        what = f"{x.shape} values, {len(arrays)} sets of eigenvalues"
        raise InputError(message(where, "parameter and eigenvalues do not match", what, "two or more, ascending"))
    if not all(np.isfinite(array).all() for array in arrays):
        raise InputError(message(where, "eigenvalues that are not numbers", "nan or inf", "finite numbers"))
    size = max((float(abs(array).max()) for array in arrays if array.size), default=0.0)
    kept = [array[abs(array) > ZERO * size] for array in arrays]
    most = max(map(len, kept))
    if not most:
        raise InputError(message(where, "nothing to draw", "no eigenvalues but zero", "some"))
    return x, np.array([_padded(array, most) for array in kept])


def _padded(array: np.ndarray, count: int) -> np.ndarray:
    """As many eigenvalues as elsewhere, with zeros where some vanish at this value alone."""
    return np.concatenate([array, np.zeros(count - len(array), dtype=complex)])


def tracked(values: np.ndarray) -> np.ndarray:
    """The same eigenvalues (n, k), in each column those that continue one another."""
    from scipy.optimize import linear_sum_assignment

    found = values.copy()
    found[0] = np.array(sorted(values[0], key=lambda v: (-v.real, -v.imag)))
    for i in range(1, len(found)):
        ahead = found[i - 1] if i < 2 else 2 * found[i - 1] - found[i - 2]
        _, order = linear_sum_assignment(abs(ahead[:, None] - values[i][None, :]))
        found[i] = values[i][order]
    return found


def stable_ranges(x: np.ndarray, values: np.ndarray) -> list[tuple[float, float]]:
    """Where all real parts are below zero: (start, end) each; between samples by a cubic through four of them."""
    paths = tracked(values).real
    top = paths.max(axis=1)
    found, start = [], float(x[0]) if top[0] < 0 else None
    for i in range(1, len(x)):
        if (top[i] < 0) != (top[i - 1] < 0):
            grown = int(np.argmax(paths[i if top[i] >= 0 else i - 1]))  # the one that is unstable on its side
            edge = _crossing(x, paths[:, grown] if paths[i, grown] * paths[i - 1, grown] <= 0 else top, i)
            if start is None:
                start = edge
            else:
                found.append((start, edge))
                start = None
    return [*found, (start, float(x[-1]))] if start is not None else found


def _crossing(x: np.ndarray, y: np.ndarray, i: int) -> float:
    """Where y crosses zero between the samples i − 1 and i."""
    from scipy.interpolate import BarycentricInterpolator
    from scipy.optimize import brentq

    near = slice(max(0, i - 2), min(len(x), i + 2))
    return float(brentq(BarycentricInterpolator(x[near], y[near]), x[i - 1], x[i], xtol=1e-12))
