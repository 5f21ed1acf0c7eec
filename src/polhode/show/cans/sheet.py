"""Drawings on a page of a width in print: panels in blocks, each as large as fits, with their names placed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from polhode.show.cans.theme import THEMES, styles, used
from polhode.show.vector.canvas import MM, Page, Shape, ShapeGroup, Text, TextRun, text_heights
from polhode.show.vector.drawing import Drawing
from polhode.show.vector.geometry import Array
from polhode.show.vector.labels import PlacedLabel, place
from polhode.show.vector.pen import INSIDE, SMALL, Pen

MARGIN, BETWEEN, CAPTION = 3.0, 7.0, 9.0
"""Points round the page, between panels, for a panel's caption."""
TALLEST = 1.25
"""Height of a panel against its width, at most."""
LARGEST = 26.0
"""Points per radius of a can, at most."""
TRIES, SNUG = 14, 0.965
"""How often a scale is tried; how much of the width is enough."""


@dataclass(frozen=True)
class Panel:
    """A drawing, what is written under it, and the extent it must have at least: left, bottom, right, top."""

    drawing: Drawing
    caption: tuple[TextRun, ...] = ()
    extent: Array | None = None


@dataclass(frozen=True)
class PanelBlock:
    """Panels of one scale, so many to a row; blocks stand side by side, each with its share of the width."""

    panels: tuple[Panel, ...]
    columns: int = 1
    share: float = 1.0


@dataclass(frozen=True)
class Sheet:
    """A finished page, and the places of all its names."""

    page: Page
    names: tuple[PlacedLabel, ...]


@dataclass(frozen=True)
class SheetHeading:
    """What a page says of itself."""

    title: str
    made_by: str


class _Cell:
    """A panel drawn at a scale with its origin at 0, its names placed, and its bounds."""

    def __init__(self, panel: Panel, scale: float) -> None:
        self.panel = panel
        self.pen = Pen(panel.drawing, scale, np.zeros(2))
        points, weights = self.pen.drawn()
        inside = self.pen.inside(points.min(0), points.max(0))
        weights = np.concatenate([weights, np.full(len(inside), INSIDE)])
        self.placed = place(self.pen.labels(), np.concatenate([points, inside]), weights)
        corners = [points.min(0) - 2.0, points.max(0) + 2.0]
        corners += [corner for name in self.placed for corner in (name.box[:2], name.box[2:])]
        if panel.extent is not None:
            corners += [scale * panel.extent[[0, 3]] * [1, -1], scale * panel.extent[[2, 1]] * [1, -1]]
        self.low, self.high = np.min(corners, axis=0), np.max(corners, axis=0)
        if panel.caption:
            self.high = self.high + np.array([0.0, CAPTION])

    @property
    def size(self) -> Array:
        """Width and height."""
        return self.high - self.low


def lay_out(
    blocks: Sequence[PanelBlock], width: float, theme: str, heading: SheetHeading, stacked: bool = False
) -> Sheet:
    """The page of some blocks, side by side or one below the other, `width` millimetres wide: as large as fits."""
    full = width * MM - 2 * MARGIN
    room = full - (len(blocks) - 1) * BETWEEN
    shares = [full if stacked else room * block.share / sum(other.share for other in blocks) for block in blocks]
    made = [_Fitted(block, share) for block, share in zip(blocks, shares, strict=True)]
    heights = [fitted.height for fitted in made]
    height = sum(heights) + (len(made) - 1) * BETWEEN if stacked else max(heights)
    groups: list[ShapeGroup] = []
    names: list[PlacedLabel] = []
    left, top, count = MARGIN, MARGIN, 0
    many = sum(len(block.panels) for block in blocks) > 1
    for fitted, share in zip(made, shares, strict=True):
        for cell, corner, size in fitted.places(left, top + (0.0 if stacked else (height - fitted.height) / 2)):
            count += 1
            found, texts = _cell_groups(cell, corner, size, f"panel-{count}-" if many else "")
            groups += [ShapeGroup(f"panel-{count}", tuple(found))] if many else found
            names += texts
        left, top = (left, top + fitted.height + BETWEEN) if stacked else (left + share + BETWEEN, top)
    sheet = used(styles(THEMES[theme]), set(_classes(groups)))
    paper = THEMES[theme].paper
    page = Page(width * MM, height + 2 * MARGIN, sheet, tuple(groups), heading.title, heading.made_by, paper)
    return Sheet(page, tuple(names))


class _Fitted:
    """The cells of a block at the largest scale at which they fit the width."""

    def __init__(self, block: PanelBlock, width: float) -> None:
        self.columns = block.columns
        self.room = (width - (block.columns - 1) * BETWEEN) / block.columns
        self.cells = _largest(block.panels, self.room)

    @property
    def rows(self) -> list[list[_Cell]]:
        """The cells, row by row."""
        return [self.cells[k : k + self.columns] for k in range(0, len(self.cells), self.columns)]

    @property
    def height(self) -> float:
        """Of all rows."""
        return sum(map(_row_height, self.rows)) + (len(self.rows) - 1) * BETWEEN

    def places(self, left: float, top: float) -> Iterator[tuple[_Cell, Array, Array]]:
        """Each cell with the upper left corner and the size of its place."""
        for row in self.rows:
            height = _row_height(row)
            for k, cell in enumerate(row):
                yield cell, np.array([left + k * (self.room + BETWEEN), top]), np.array([self.room, height])
            top += height + BETWEEN


def _cells(panels: Sequence[Panel], scale: float) -> list[_Cell]:
    """The panels at a scale; those that must have an extent have one in common."""
    cells = [_Cell(panel, scale) for panel in panels]
    tied = [cell for cell in cells if cell.panel.extent is not None]
    low, high = (np.array([getattr(cell, end) for cell in tied]) for end in ("low", "high"))
    for cell in tied:
        cell.low, cell.high = low.min(0), high.max(0)
    return cells


def _row_height(row: list[_Cell]) -> float:
    return float(max(cell.size[1] for cell in row))


def _largest(panels: Sequence[Panel], room: float) -> list[_Cell]:
    """The panels at the largest common scale at which each fits; names keep their size at any scale."""
    scale, best, fits = LARGEST, None, 0.0
    for _ in range(TRIES):
        cells = _cells(panels, scale)
        over = float(max(max(cell.size / np.array([room, TALLEST * room])) for cell in cells))
        if over <= 1.0 and scale > fits:
            fits, best = scale, cells
            if over >= SNUG or scale >= LARGEST:
                break
        scale = min(scale * SNUG / over, LARGEST) if over > 1 else min((scale + scale / over) / 2, LARGEST)
        if fits and scale <= fits:
            break
    while best is None:
        scale *= 0.9
        cells = _cells(panels, scale)
        if max(cell.size[0] for cell in cells) <= room or scale < 0.2:
            best = cells
    return best


def _classes(items: Sequence) -> Iterator[str]:
    for item in items:
        if isinstance(item, ShapeGroup):
            yield from _classes(item.items)
        else:
            yield item.style


def _cell_groups(cell: _Cell, corner: Array, size: Array, prefix: str) -> tuple[list[ShapeGroup], list[PlacedLabel]]:
    """What a cell draws in its place, and its names there."""
    free = size - cell.size
    shift = corner + np.array([free[0] / 2, 0.0 if cell.panel.extent is not None else free[1] / 2]) - cell.low
    pen = Pen(cell.panel.drawing, cell.pen.scale, shift)
    names = [replace(name, middle=name.middle + shift, spot=name.spot + shift) for name in cell.placed]
    found = []
    for layer in cell.panel.drawing.layers:
        shapes = [shape for item in layer.items for shape in pen.shapes(item)]
        if layer.centre is not None:
            shapes += pen.centre(layer.notes[0].style.rpartition("-")[2], layer.centre)
        if shapes:
            found.append(ShapeGroup(prefix + layer.id, tuple(shapes), layer.title))
    leaders = [Shape((("M", (*map(float, a),)), ("L", (*map(float, b),))), "leader") for a, b in _leaders(names)]
    if names:
        found.append(ShapeGroup(f"{prefix}names", (*leaders, *map(_text, names))))
    if cell.panel.caption:
        at = (float(corner[0] + size[0] / 2), float(corner[1] + size[1] - text_heights(cell.panel.caption)[1] * SMALL))
        found.append(ShapeGroup(f"{prefix}caption", (Text(cell.panel.caption, *at, SMALL, "caption", "middle"),)))
    return found, names


def _leaders(names: list[PlacedLabel]) -> Iterator[tuple[Array, Array]]:
    for name in names:
        if name.leader:
            yield name.leader


def _text(name: PlacedLabel) -> Text:
    """A name as text."""
    label, (left, top, _, _) = name.label, name.box
    return Text(label.runs, float(left), float(top + text_heights(label.runs)[0] * label.size), label.size, label.style)


def extent_of(drawings: Sequence[Drawing]) -> Array:
    """The extent that holds each of some drawings: left, bottom, right, top."""
    x = np.concatenate([Pen(drawing, 1.0, np.zeros(2)).drawn()[0] for drawing in drawings]) * [1, -1]
    return np.concatenate([x.min(0), x.max(0)])
