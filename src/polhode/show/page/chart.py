"""Charts of pages without scripts: curves and bands over a number, as SVG with round numbers on its axes."""

import math
from html import escape

import numpy as np

from polhode.show.page.sections import number

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 520, 290, 76, 48, 12, 20
"""Size of a chart and its margins, px."""


def chart_card(title: str, svg: str) -> str:
    """A chart under its title."""
    return f'<figure class="card"><h3>{escape(title)}</h3>{svg}</figure>'


class SvgChart:
    """The map from numbers to places on a chart."""

    def __init__(self, x: np.ndarray, y: np.ndarray) -> None:
        good = y[np.isfinite(y)]
        self.x, self.left, self.right = x, float(x[0]), float(x[-1])
        self.low, self.high = (float(good.min()), float(good.max())) if len(good) else (0.0, 1.0)
        if self.high - self.low < 1e-12 * max(abs(self.high), 1e-300):
            self.low, self.high = self.low - 0.5, self.high + 0.5

    def _point(self, x: float, y: float) -> str:
        across = (x - self.left) / max(self.right - self.left, 1e-300)
        up = (y - self.low) / (self.high - self.low)
        return f"{LEFT + across * (WIDTH - LEFT - RIGHT):.1f},{HEIGHT - BOTTOM - up * (HEIGHT - BOTTOM - TOP):.1f}"

    def _points(self, y: np.ndarray) -> list[str]:
        pairs = zip(self.x.tolist(), y.tolist(), strict=True)
        return [self._point(a, b) for a, b in pairs if math.isfinite(b)]

    def line(self, y: np.ndarray, kind: str) -> str:
        """A curve; kind: its class in the style."""
        return f'<polyline class="{kind}" points="{" ".join(self._points(y))}"/>'

    def band(self, low: np.ndarray, high: np.ndarray, kind: str) -> str:
        """What lies between two curves."""
        return f'<polygon class="{kind}" points="{" ".join([*self._points(low), *reversed(self._points(high))])}"/>'

    def bar(self, left: float, right: float, high: float, kind: str) -> str:
        """A bar of a histogram, from 0 up."""
        (x0, y0), (x1, y1) = (self._point(*p).split(",") for p in ((left, 0.0), (right, high)))
        return f'<polygon class="{kind} bar" points="{x0},{y0} {x0},{y1} {x1},{y1} {x1},{y0}"/>'

    def upright(self, x: float, kind: str) -> str:
        """A line across the chart at a number."""
        return f'<polyline class="{kind}" points="{self._point(x, self.low)} {self._point(x, self.high)}"/>'

    def svg(self, drawn: list[str], unit: str, powers: bool = False) -> str:
        """The chart, with round numbers on its axes.  powers: of ten, on the axis across"""
        box = f'<path class="axis" d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}"/>'
        texts = [f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 6}" text-anchor="end">{unit}</text>']
        for y in round_numbers(self.low, self.high):
            place = self._point(self.left, y).partition(",")[2]
            texts.append(f'<path class="grid" d="M{LEFT} {place}H{WIDTH - RIGHT}"/>')
            texts.append(f'<text x="{LEFT - 6}" y="{float(place) + 4:.1f}" text-anchor="end">{number(y)}</text>')
        for x in round_numbers(self.left, self.right, whole=powers):
            place = self._point(x, self.low).partition(",")[0]
            shown = number(10.0**x) if powers else number(x)
            texts.append(f'<text x="{place}" y="{HEIGHT - 26}" text-anchor="middle">{shown}</text>')
        return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img">{box}{"".join(texts)}{"".join(drawn)}</svg>'


def round_numbers(low: float, high: float, whole: bool = False, most: int = 6) -> list[float]:
    """Up to so many multiples of 1, 2 or 5 times a power of ten between two numbers; whole: of whole numbers."""
    least = 10.0 ** math.floor(math.log10((high - low) / most)) if high > low else 1.0
    size = max(least, 1.0) if whole else least
    step = next(x for x in (size, 2 * size, 5 * size, 10 * size) if (high - low) / x <= most)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]
