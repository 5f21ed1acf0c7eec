"""A function given by a table: monotone cubic interpolation, with its exact integral, on generic scalars."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from polhode.errors import ModelError, message
from polhode.model.numbers import plain
from polhode.scalar import Scalar, Vec, real_part, smooth, where


class MonotoneTable(NamedTuple):
    """A piecewise cubic through points (x, y): between two points it does not leave the range of their values.

    Its slopes are the weighted harmonic means of Fritsch and Butland (1984), those of SciPy's PchipInterpolator;
    beyond its ends it goes on as a straight line.

    With u_i = x − x_i held within the i-th interval, 0 … h_i, it is y_0 + Σ p_i(u_i), p_i a cubic with p_i(0) = 0.
    """

    x: Vec
    y: Vec
    slopes: Vec

    def value(self, x: Scalar) -> Scalar:
        """The value at x."""
        found = self.y[0] + self.slopes[0] * _below(x, self.x[0]) + self.slopes[-1] * _above(x, self.x[-1])
        for u, (d, c, b) in self._pieces(x):
            found = found + u * (d + u * (c + u * b))
        return found

    def integral(self, x: Scalar) -> Scalar:
        """The integral from the first point to x."""
        before, after = _below(x, self.x[0]), _above(x, self.x[-1])
        found = self.y[0] * (x - self.x[0]) + self.slopes[0] * before * before / 2 + self.slopes[-1] * after * after / 2
        for k, (u, (d, c, b)) in enumerate(self._pieces(x)):
            found = found + u * u * (d / 2 + u * (c / 3 + u * (b / 4)))
            found = found + (self.y[k + 1] - self.y[k]) * _above(x, self.x[k + 1])
        return found

    def _pieces(self, x: Scalar) -> list[tuple[Scalar, tuple[Scalar, Scalar, Scalar]]]:
        """Of each interval the way into it, and the coefficients of its cubic."""
        found = []
        for k in range(len(self.x) - 1):
            h, (d, e) = self.x[k + 1] - self.x[k], self.slopes[k : k + 2]
            mean = (self.y[k + 1] - self.y[k]) / h
            u = where(real_part(x) < real_part(self.x[k + 1]), _above(x, self.x[k]), h)
            found.append((u, (d, (3 * mean - 2 * d - e) / h, (d + e - 2 * mean) / (h * h))))
        return found


def _above(x: Scalar, knot: Scalar) -> Scalar:
    """How far x lies above a knot, 0 below it. Comparisons are of x itself: they show where the function bends; at
    every knot one interval counts, so that the function has its slope there."""
    return where(real_part(x) >= real_part(knot), x - knot, 0.0)


def _below(x: Scalar, knot: Scalar) -> Scalar:
    return where(real_part(x) < real_part(knot), x - knot, 0.0)


@smooth
def monotone_table(rows: Sequence[Sequence[Scalar]]) -> MonotoneTable:
    """The function through points.  rows: (n, 2), x increasing, n ≥ 2"""
    x, y = (Vec(column) for column in zip(*rows, strict=True))
    h = [b - a for a, b in pairwise(x)]
    mean = [(b - a) / w for a, b, w in zip(y, y[1:], h, strict=False)]
    if len(h) == 1:
        return MonotoneTable(x, y, Vec([mean[0], mean[0]]))
    inner = [_harmonic(h[k - 1], h[k], mean[k - 1], mean[k]) for k in range(1, len(h))]
    ends = _end(h[0], h[1], mean[0], mean[1]), _end(h[-1], h[-2], mean[-1], mean[-2])
    return MonotoneTable(x, y, Vec([ends[0], *inner, ends[1]]))


def _harmonic(h0: Scalar, h1: Scalar, m0: Scalar, m1: Scalar) -> Scalar:
    """The slope at a point between two intervals of mean slopes m; 0 where these differ in sign."""
    same = real_part(m0 * m1) > 0
    a, b = where(same, m0, 1.0), where(same, m1, 1.0)
    w0, w1 = 2 * h1 + h0, h1 + 2 * h0
    return where(same, (w0 + w1) / (w0 / a + w1 / b), 0.0)


def _end(h0: Scalar, h1: Scalar, m0: Scalar, m1: Scalar) -> Scalar:
    """The slope at an end, of the parabola through three points; less where it would leave the range of the values."""
    d = ((2 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
    turns = real_part(m0 * m1) <= 0
    d = where(turns & (abs(real_part(d)) > 3 * abs(real_part(m0))), 3 * m0, d)
    return where(real_part(d * m0) > 0, d, 0.0 * d)


def check_table(where: str, rows: Sequence[Sequence[Scalar]]) -> None:
    """Refuse rows that are no function: pairs, two or more, the first numbers increasing."""
    if len(rows) < 2 or any(not isinstance(row, tuple) or len(row) != 2 for row in rows):
        found = f"{len(rows)} rows" if all(isinstance(row, tuple) for row in rows) else "numbers without rows"
        found = found if len(rows) < 2 or "without" in found else f"rows of {len(rows[0])} numbers"
        raise ModelError(message(where, "not a table", found, "two rows or more, each [x, y]"))
    x = [plain(row[0]) for row in rows]
    for k, (a, b) in enumerate(pairwise(x)):
        if not a < b:
            raise ModelError(message(where, "not increasing", f"{a:g}, {b:g} in rows {k}, {k + 1}", "increasing x"))
