"""A page of shapes and texts, in points (1/72 inch) from its upper left corner, and its form as SVG.

The SVG is meant to be edited by hand: one style sheet of classes, groups with ids, two decimals. Letters are outlines
of the typeface that comes with the package, since a viewer's fonts have other widths; with each goes its text, unseen,
to be searched, copied and read aloud. Only letters that the typeface lacks are left to the viewer, in their planned
width.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby

from polhode import __version__
from polhode.show.model_text import safe
from polhode.show.vector.typeface import advance, letter, reach

MM = 72 / 25.4
"""Points in a millimetre."""

SCRIPT, LOWERED, RAISED = 0.72, 0.2, -0.36
"""Size of an index, and how far below or above the line it stands, in sizes of its text."""
ASCENT, DESCENT = 0.74, 0.24
"""Above and below the line at least, in sizes."""


@dataclass(frozen=True)
class TextRun:
    """A stretch of text in one style; script is −1 for an index below, 1 above the line."""

    text: str
    italic: bool = False
    bold: bool = False
    script: int = 0

    @property
    def shown(self) -> str:
        """The text as it is drawn: what is not printable is shown as its code."""
        return safe(self.text)

    @property
    def size(self) -> float:
        """Size of its letters, in sizes of the whole text."""
        return SCRIPT if self.script else 1.0

    @property
    def level(self) -> float:
        """How far below the line it stands, in sizes of the whole text."""
        return {0: 0.0, -1: LOWERED, 1: RAISED}[self.script]

    @property
    def width(self) -> float:
        """In sizes of the whole text."""
        return self.size * sum(advance(character, self.italic, self.bold) for character in self.shown)


@dataclass(frozen=True)
class Style:
    """What a class of shapes or texts looks like; None draws nothing, lengths are in points."""

    stroke: str | None = None
    width: float = 0.0
    fill: str | None = None
    dash: tuple[float, ...] = ()


Command = tuple[str, tuple[float, ...]]
"""M x y, L x y, Q x1 y1 x y, C x1 y1 x2 y2 x y, or Z."""


@dataclass(frozen=True)
class Shape:
    """An outline in the style of its class."""

    path: tuple[Command, ...]
    style: str


@dataclass(frozen=True)
class Text:
    """A line of text; x is its left end, its middle or its right end, as `anchor` says."""

    runs: tuple[TextRun, ...]
    x: float
    y: float
    size: float
    style: str
    anchor: str = "start"

    @property
    def left(self) -> float:
        """Where its first letter stands."""
        return self.x - {"start": 0.0, "middle": 0.5, "end": 1.0}[self.anchor] * text_width(self.runs, self.size)

    def letters(self) -> Iterator[tuple[TextRun, str, float]]:
        """Each letter with its run and its place on the line."""
        x = self.left
        for run in self.runs:
            for character in run.shown:
                yield run, character, x
                x += self.size * run.size * advance(character, run.italic, run.bold)


@dataclass(frozen=True)
class ShapeGroup:
    """Shapes and texts that belong together."""

    id: str
    items: tuple["Shape | Text | ShapeGroup", ...]
    title: str = ""


@dataclass(frozen=True)
class Page:
    """Everything, in the order it is painted."""

    width: float
    height: float
    styles: Mapping[str, Style]
    groups: tuple[ShapeGroup, ...]
    title: str
    made_by: str
    background: str | None = None


def text_width(runs: Iterable[TextRun], size: float) -> float:
    """How wide a text is, in points."""
    return size * sum(run.width for run in runs)


def text_heights(runs: Iterable[TextRun]) -> tuple[float, float]:
    """How far a text reaches above and below its line, in sizes."""
    above, below = ASCENT, DESCENT
    for run in runs:
        for character in run.shown:
            low, high = reach(character, run.italic, run.bold)
            above, below = max(above, run.size * high - run.level), max(below, run.level - run.size * low)
    return above, below


def svg(page: Page) -> str:
    """The page as SVG."""
    w, h = _number(page.width), _number(page.height)
    size = f'width="{_number(page.width / MM)}mm" height="{_number(page.height / MM)}mm" viewBox="0 0 {w} {h}"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
        f"<title>{_text(page.title)}</title>",
        f"<desc>{_text(page.made_by)}; polhode {__version__}</desc>",
        "<style>",
        *_sheet(page.styles),
        "</style>",
    ]
    if page.background:
        lines.append(f'<rect id="page" width="{w}" height="{h}" fill="{page.background}"/>')
    for group in page.groups:
        lines += _group(group, "")
    return "\n".join([*lines, "</svg>", ""])


def _sheet(styles: Mapping[str, Style]) -> list[str]:
    lines = [
        "path { stroke-linecap: round; stroke-linejoin: round; }",
        "text { font-family: serif; }  .words { fill: none; }",
    ]
    for name, style in styles.items():
        parts = [f"fill: {style.fill or 'none'}"]
        if style.stroke:
            parts += [f"stroke: {style.stroke}", f"stroke-width: {_number(style.width)}"]
        if style.dash:
            parts.append(f"stroke-dasharray: {' '.join(map(_number, style.dash))}")
        lines.append(f".{name} {{ {'; '.join(parts)}; }}")
    return lines


def _group(group: ShapeGroup, margin: str) -> list[str]:
    lines = [f'{margin}<g id="{_text(group.id)}">']
    if group.title:
        lines.append(f"{margin} <title>{_text(group.title)}</title>")
    for item in group.items:
        if isinstance(item, ShapeGroup):
            lines += _group(item, margin + " ")
        elif isinstance(item, Text):
            lines += [f"{margin} {line}" for line in _text_lines(item)]
        else:
            lines.append(f'{margin} <path class="{item.style}" d="{_path(item.path)}"/>')
    return [*lines, f"{margin}</g>"]


def _path(path: Sequence[Command]) -> str:
    parts, last = [], ""
    for name, numbers in path:
        shown = " ".join(map(_number, numbers))
        parts.append(shown if name == last == "L" else name + shown)
        last = name
    return " ".join(parts)


def outline(text: Text) -> Iterator[Command]:
    """The letters of a text as commands, without those that the typeface lacks."""
    for run, character, x in text.letters():
        found, size = letter(character, run.italic, run.bold), text.size * run.size
        for name, points in found.outline if found else ():
            yield (
                name,
                tuple(z for px, py in points for z in (x + size * px, text.y + text.size * run.level - size * py)),
            )


def lacking(text: Text) -> Iterator[Text]:
    """Stretches of a text that the typeface lacks, each with its place."""
    for known, stretch in groupby(text.letters(), key=lambda item: letter(item[1]) is not None):
        if not known:
            found = list(stretch)
            run, x = found[0][0], found[0][2]
            runs = (TextRun("".join(character for _, character, _ in found)),)
            yield Text(runs, x, text.y + text.size * run.level, text.size * run.size, text.style)


def _text_lines(text: Text) -> Iterator[str]:
    """A text as its outline, and as text that is not seen."""
    yield f'<path class="{text.style}" d="{_letters(outline(text))}"/>'
    yield from (_text_element(part, text.style) for part in lacking(text))
    yield _text_element(text, "words")


def _text_element(text: Text, style: str) -> str:
    """Any viewer sets it in its planned width, whatever its fonts."""
    place = f'x="{_number(text.left)}" y="{_number(text.y)}" font-size="{_number(text.size)}"'
    length = f'textLength="{_number(text_width(text.runs, text.size))}" lengthAdjust="spacingAndGlyphs"'
    return f'<text class="{style}" {place} {length}>{escape("".join(run.shown for run in text.runs))}</text>'


def _letters(path: Iterable[Command]) -> str:
    """A path of many short steps: each from where the one before ended, both in whole hundredths."""
    parts, at, start = [], (0, 0), (0, 0)
    for name, numbers in path:
        points = [(round(100 * x), round(100 * y)) for x, y in zip(numbers[::2], numbers[1::2], strict=True)]
        steps = [_step(x - at[0]) + _step(y - at[1]) for x, y in points]
        parts.append(name.lower() + "".join(steps).lstrip())
        at = points[-1] if points else start
        start = at if name == "M" else start
    return "".join(parts)


def _step(hundredths: int) -> str:
    """A number after a space or its sign, as short as it can be."""
    whole, rest = divmod(abs(hundredths), 100)
    shown = f"{whole or ''}" + (f".{rest:02d}".rstrip("0") if rest else "") or "0"
    return ("-" if hundredths < 0 else " ") + shown


def _text(text: str) -> str:
    """Text that means nothing to XML."""
    return escape(safe(text))


def _number(x: float) -> str:
    """Two decimals, without zeros at the end."""
    shown = f"{x:.2f}".rstrip("0").rstrip(".")
    return "0" if shown == "-0" else shown
