"""Eigenvalues against a parameter: the stability diagram of a bicycle, of a top, of a governor."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.analysis.stability_bands import Band, bands
from polhode.errors import InputError, message
from polhode.show.figure import COLOURS, new_figure, styled
from polhode.show.plots.axes import INK, QUIET

if TYPE_CHECKING:
    from matplotlib.figure import Figure

REAL_PART, OSCILLATING = COLOURS[0], COLOURS[1]
SHADES = {"stable": ("#009e73", "#00654a"), "marginal": ("#e69f00", "#7a5400")}
"""Colours of a band and of its words."""
LABEL = 0.15
"""The width that the end of a band takes in words, relative to the axis."""
ZERO = 1e-6
"""An eigenvalue below this part of the largest is taken for zero: a steady motion nearby, neither stable nor not."""
FLAT = 1e-7
"""A part of an eigenvalue below this part of the largest counts as zero, where the errors of eigenvalues are not known:
two that are equal are found no better."""

SUDDEN, SLIGHT = 1.5, 0.05
"""A change of eigenvalues from one sample to the next, relative to those beside it and to the largest eigenvalue, from
which it is examined for a jump."""
HALVINGS = 5
"""How often an interval is halved there: of a pair that is born within it, √(1/32) of the change is left."""


@styled
def eigenvalues(
    parameter: Sequence[float],
    found: Sequence[Any],
    name: str = "speed",
    unit: str = "m/s",
    title: str = "Stability",
    limits: tuple[float, float] | None = None,
    find: Callable[[float], Any] | None = None,
) -> "Figure":
    """Real and imaginary parts of eigenvalues against a parameter; shaded where motions are stable, or marginal.

    Curves end where the motion becomes another one, as far as `find` tells.

    parameter  (n,)  ascending
    found      n times: what `ph.linearize` returns, or an array of eigenvalues, 1/s
    limits     of the vertical axis, 1/s; None: all of it
    find       what is found at any parameter between, as in `found`: ends of bands are located by it; else by a curve
               through the samples
    """
    x, values = checked(parameter, found)
    size, (x, paths) = float(abs(values).max()), _parted(x, tracked(values), find)
    figure, axes = new_figure(6.3, 3.9)
    for path in paths.T:
        paired = abs(path.imag) > FLAT * size
        axes.plot(x, np.where(paired, np.nan, path.real), color=INK, linewidth=1.5)
        axes.plot(x, np.where(_grown(paired), path.real, np.nan), color=REAL_PART, linewidth=1.9)
        up = paired & (path.imag > 0)
        axes.plot(x, np.where(up, path.imag, np.nan), color=OSCILLATING, linewidth=1.3, linestyle=(0, (4, 2)))
        axes.plot(x, np.where(_alone(path), path.real, np.nan), ".", color=INK, markersize=4)
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
    for band in stability_bands(parameter, found, find):
        if band.stability in SHADES:
            axes.axvspan(band.start, band.end, color=SHADES[band.stability][0], alpha=0.13, linewidth=0, zorder=0.5)
            _mark(axes, x, band, unit)
    axes.legend(loc="upper left", bbox_to_anchor=(1.005, 1.03), borderaxespad=0.0)
    figure.suptitle(title, x=0.01, ha="left", fontsize=10.5)
    return figure


def _mark(axes: Any, x: np.ndarray, band: Band, unit: str) -> None:
    """The word and the ends of a band."""
    where, (shade, ink) = axes.get_xaxis_transform(), SHADES[band.stability]
    middle = (band.start + band.end) / 2
    axes.text(middle, 0.985, band.stability, transform=where, ha="center", va="top", color=ink, fontsize=8.5)
    room = LABEL * (x[-1] - x[0])
    for edge, side in ((band.start, "right"), (band.end, "left")):
        if x[0] < edge < x[-1]:
            side = "left" if edge - x[0] < room else "right" if x[-1] - edge < room else side
            axes.axvline(edge, color=shade, linewidth=0.8, zorder=1)
            axes.text(edge, 0.03, f" {edge:.2f} {unit} ", transform=where, ha=side, color=ink, fontsize=8)


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


def _alone(path: np.ndarray) -> np.ndarray:
    """Which samples have a gap, or the end, on both sides."""
    drawn = np.pad(~np.isnan(path), 1)
    return drawn[1:-1] & ~drawn[2:] & ~drawn[:-2]


def _parted(x: np.ndarray, paths: np.ndarray, find: Callable[[float], Any] | None) -> tuple[np.ndarray, np.ndarray]:
    """The parameter and the curves with a gap, of NaN, wherever all curves begin anew."""
    if find is None:
        return x, paths
    steps = np.array([_apart(a, b) for a, b in pairwise(paths)])
    beside = np.maximum(np.append(steps[1:], 0), np.append(0, steps[:-1]))
    suspect = np.flatnonzero(steps > SUDDEN * beside + SLIGHT * abs(paths).max())
    gaps = [i + 1 for i in suspect.tolist() if _jumps(find, x[i], paths[i], x[i + 1], paths[i + 1])]
    return np.insert(x, gaps, x[gaps]), np.insert(paths, gaps, np.nan, axis=0)


def _jumps(find: Callable[[float], Any], a: float, at_a: np.ndarray, b: float, at_b: np.ndarray) -> bool:
    """Whether eigenvalues jump between a and b: by halving, always towards the larger change."""
    whole = _apart(at_a, at_b)
    for _ in range(HALVINGS):
        middle = (a + b) / 2
        try:
            there = np.asarray(find(middle).eigenvalues(), dtype=complex)
        except InputError:  # no such motion there
            return True
        there = _padded(there[np.argsort(-abs(there))][: len(at_a)], len(at_a))
        if _apart(at_a, there) > _apart(there, at_b):
            b, at_b = middle, there
        else:
            a, at_a = middle, there
    return _apart(at_a, at_b) > whole / 2


def _apart(a: np.ndarray, b: np.ndarray) -> float:
    """The largest distance of eigenvalues (k,) from those that continue them."""
    from scipy.optimize import linear_sum_assignment

    distance = abs(a[:, None] - b)
    return float(np.max(distance[linear_sum_assignment(distance)], initial=0.0))


def stability_bands(
    parameter: Sequence[float], found: Sequence[Any], find: Callable[[float], Any] | None = None
) -> list[Band]:
    """The bands in which motions are stable, marginal, unstable; arguments as those of `eigenvalues`."""
    x, values = checked(parameter, found)
    size, paths = float(abs(values).max()), tracked(values)
    words = [_stability(one, size) for one in found]

    def anywhere(at: float) -> str | None:
        assert find is not None
        try:
            return _stability(find(at), size)
        except InputError:  # no such motion there
            return None

    return bands(
        x.tolist(), words, anywhere if find else None, lambda i: _edge(x, paths, i, "marginal" in words[i - 1 : i + 1])
    )


def _stability(one: Any, size: float) -> str:
    """The stability of what `ph.linearize` returns; of eigenvalues alone to a part of their size."""
    if hasattr(one, "stability"):
        return str(one.stability)
    values = np.asarray(one, dtype=complex).ravel()
    real = values[abs(values) > ZERO * size].real
    if np.any(real > FLAT * size):
        return "unstable"
    return "stable" if real.size and np.all(real < -FLAT * size) else "marginal"


def _edge(x: np.ndarray, paths: np.ndarray, i: int, is_marginal: bool) -> float:
    """Where a real part passes zero between the samples i − 1 and i; next to a marginal one, which stays at zero, the
    square of an eigenvalue: a pair along one axis turns into one along the other. Else the middle."""
    top = paths.real.max(axis=1)
    grown = paths[:, int(np.argmax(paths[i if top[i] >= top[i - 1] else i - 1].real))]
    for y in ((grown * grown).real,) if is_marginal else (grown.real, top):
        if y[i] * y[i - 1] < 0:
            return _crossing(x, y, i)
    return float(x[i - 1] + x[i]) / 2


def _crossing(x: np.ndarray, y: np.ndarray, i: int) -> float:
    """Where y crosses zero between the samples i − 1 and i."""
    from scipy.interpolate import BarycentricInterpolator
    from scipy.optimize import brentq

    near = slice(max(0, i - 2), min(len(x), i + 2))
    return float(brentq(BarycentricInterpolator(x[near], y[near]), x[i - 1], x[i], xtol=1e-12))
