"""Drawings of space put on paper at a scale: curves as paths, arrowheads, signs, names."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from polhode.show.vector.canvas import Command, Shape
from polhode.show.vector.drawing import Area, Drawing, Stroke
from polhode.show.vector.geometry import Array, SpaceCurve
from polhode.show.vector.labels import Label

SIZE, SMALL = 9.0, 7.5
"""Sizes of symbols and of words in points, at any width of the page: 3.2 and 2.6 mm."""
HEADS = {"arrow": (6.4, 4.6), "axis": (5.0, 3.4), "rate": (7.4, 5.6), "omega": (7.4, 5.6), "lost": (6.0, 4.4)}
"""Length and width of arrowheads, points."""
COVERED = {"edge": 0.35, "fine": 0.1, "mark": 0.3}
"""How bad it is to cover a point of a line; 1.5 for others."""
GRID, INSIDE = 2.5, 0.22
"""Between points inside solids, in points of the page, and how bad it is to cover one."""


class Pen:
    """Draws one panel at a scale; the origin of space lies at `origin` on the page."""

    def __init__(self, drawing: Drawing, scale: float, origin: Array) -> None:
        self.drawing, self.view, self.scale, self.origin = drawing, drawing.view, scale, origin

    def at(self, x: Array) -> Array:
        """Points of space on the page."""
        return self.origin + self.scale * self.view.page(x) * np.array([1.0, -1.0])

    def points(self, piece: SpaceCurve | Array) -> Array:
        """Points along a curve, about one per point of the page."""
        if isinstance(piece, np.ndarray):
            return self.at(piece)
        count = max(2, int(abs(self.scale * piece.length) / 1.3) + 1)
        return self.at(piece.at(np.linspace(piece.t0, piece.t1, count)))

    def path(self, piece: SpaceCurve | Array, begin: bool = True) -> Iterator[Command]:
        """A curve as commands."""
        if isinstance(piece, np.ndarray):
            yield from _smooth(self.at(piece), begin)
            return
        yield _command("M" if begin else "L", self.at(piece.at(piece.t0)))
        if piece.straight:
            yield _command("L", self.at(piece.at(piece.t1)))
            return
        steps = max(1, int(np.ceil(abs(piece.t1 - piece.t0) / (np.pi / 2) - 1e-9)))
        t = np.linspace(piece.t0, piece.t1, steps + 1)
        reach = 4 / 3 * np.tan((t[1] - t[0]) / 4)
        for a, b in pairwise(t):
            knots = [piece.at(a) + reach * piece.rate(a), piece.at(b) - reach * piece.rate(b), piece.at(b)]
            yield _command("C", *map(self.at, knots))

    def shapes(self, item: Area | Stroke) -> Iterator[Shape]:
        """An area, or a line with its heads."""
        if isinstance(item, Area):
            around = [command for k, edge in enumerate(item.edges) for command in self.path(edge, k == 0)]
            yield Shape((*around, ("Z", ())), item.style)
            return
        path: list[Command] = []
        tops: list[tuple[Command, ...]] = []
        for piece, head in zip(item.pieces, item.heads or (0,) * len(item.pieces), strict=True):
            rest: SpaceCurve | Array | None = piece
            for end in (1, -1) if head == 2 else (head,) if head else ():
                if isinstance(rest, SpaceCurve):
                    rest, top = self._headed(rest, end, item.style)
                    tops.append(top)
            path += list(self.path(rest)) if rest is not None else []
        if path:
            yield Shape(tuple(path), item.style)
        base, _, tone = item.style.partition("-")
        yield from (Shape(top, f"{base}-head-{tone}" if tone else f"{base}-head") for top in tops)

    def _headed(self, piece: SpaceCurve, end: int, style: str) -> tuple[SpaceCurve | None, tuple[Command, ...]]:
        """A line cut short for the arrowhead at its end (1) or its start (−1), and the head."""
        length, width = HEADS.get(style.partition("-")[0], HEADS["axis"])
        t = np.linspace(piece.t0, piece.t1, 200)[::end]
        x = self.at(piece.at(t))
        away = np.linalg.norm(x - x[-1], axis=1)
        size = min(1.0, float(away.max()) / (1.25 * length))
        length, width = length * size, width * size
        foot = x[_last(away >= length)]
        d = (x[-1] - foot) / max(float(np.linalg.norm(x[-1] - foot)), 1e-9)
        side, back = np.array([-d[1], d[0]]) * width / 2, x[-1] - length * d
        corners = [x[-1], back + side, x[-1] - 0.78 * length * d, back - side]
        top = [_command("L" if k else "M", corner) for k, corner in enumerate(corners)]
        cut = _last(away >= 0.8 * length)
        ends = (piece.t0, float(t[cut])) if end > 0 else (float(t[cut]), piece.t1)
        return (piece.piece(*ends) if cut else None), (*top, ("Z", ()))

    def centre(self, tone: str, x: Array) -> tuple[Shape, Shape]:
        """The sign of a mass centre: a circle with two of its quarters filled."""
        r, middle = 2.7, self.at(x)
        k = 0.5523 * r
        first = np.array([[r, 0], [r, k], [k, r], [0, r]])
        turn = np.array([[0.0, 1.0], [-1.0, 0.0]])
        arcs = [middle + first @ np.linalg.matrix_power(turn, n) for n in range(4)]
        circle = [_command("M", arcs[0][0]), *(_command("C", *knots[1:]) for knots in arcs), ("Z", ())]
        quarters: list[Command] = []
        for knots in arcs[::2]:
            quarters += [_command("M", middle), _command("L", knots[0]), _command("C", *knots[1:]), ("Z", ())]
        return Shape(tuple(circle), f"centre-{tone}"), Shape(tuple(quarters), f"axis-head-{tone}")

    def labels(self) -> list[Label]:
        """What is to be named, on the page."""
        found = []
        for note in (note for layer in self.drawing.layers for note in layer.notes):
            ways = np.array(note.ways) * np.array([1.0, -1.0])
            found.append(Label(note.runs, SMALL if note.small else SIZE, note.style, self.at(np.array(note.at)), ways))
        return found

    def drawn(self) -> tuple[Array, Array]:
        """Points of all that is drawn, and how bad it is to cover each."""
        points, weights = [np.zeros((0, 2))], [np.zeros(0)]
        for layer in self.drawing.layers:
            for item in layer.items:
                weight = 0.0 if isinstance(item, Area) else COVERED.get(item.style, 1.5)
                for piece in item.edges if isinstance(item, Area) else item.pieces:
                    points.append(self.points(piece))
                    weights.append(np.full(len(points[-1]), weight))
                for shape in self.shapes(item) if isinstance(item, Stroke) and any(item.heads) else ():
                    if "-head" in shape.style:
                        points.append(np.array([numbers for _, numbers in shape.path[:-1]]))
                        weights.append(np.full(len(points[-1]), 2.5))
        return np.concatenate(points), np.concatenate(weights)

    def inside(self, low: Array, high: Array) -> Array:
        """Points of a grid on the page that are inside solids."""
        x, y = (np.arange(a, b, GRID) for a, b in zip(low, high, strict=True))
        grid = np.stack(np.meshgrid(x, y), -1).reshape(-1, 2)
        rays = ((grid - self.origin) / self.scale * np.array([1.0, -1.0])) @ self.view.axes[:2]
        found = np.zeros(len(grid), bool)
        for solid in self.drawing.solids:
            start, end = solid.within(rays, self.view.toward)
            found |= end > start
        return grid[found]


def _last(true: Array) -> int:
    """The last index at which something holds, or 0."""
    return int(np.flatnonzero(true)[-1]) if true.any() else 0


def _command(letter: str, *points: Array) -> Command:
    return letter, tuple(float(x) for point in points for x in point)


def _smooth(x: Array, begin: bool) -> Iterator[Command]:
    """A smooth curve through points."""
    yield _command("M" if begin else "L", x[0])
    slope = np.gradient(x, axis=0)
    for a, b, da, db in zip(x, x[1:], slope, slope[1:], strict=False):
        yield _command("C", a + da / 3, b - db / 3, b)
