"""A page of shapes and texts, in points (1/72 inch) from its upper left corner, and its form as SVG.

The SVG is meant to be edited by hand: one style sheet of classes, groups with ids, texts as texts, two decimals.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from polhode import __version__
from polhode.show.tree import safe

MM = 72 / 25.4
"""Points in a millimetre."""

FONTS = ("STIX Two Text", "STIXGeneral", "Times New Roman", "Nimbus Roman", "Liberation Serif", "Times")
"""Typefaces of one width and look, the first that a viewer has."""

SCRIPT, LOWERED, RAISED = 0.72, 0.2, -0.36
"""Size of an index, and how far below or above the line it stands, in sizes of its text."""
ASCENT, DESCENT = 0.74, 0.24
"""Above and below the line, in sizes."""

WIDTHS = {
    0.25: " ,.·", 0.29: "|'/\\il′", 0.335: "()-:;`fjtι", 0.4: "!I[]s°", 0.46: "cerzéεζξ",
    0.505: "{}λ$*0123456789?J_govxyχντγ#aο", 0.56: "δθβρυσ\"κSbdhknpquüñπ", 0.59: "μηα^~ϑ", 0.67: "PΓΣBEFLTZ",
    0.695: "φϕ+<=>−≈ψ", 0.75: "ACDNRUVXYwΔΛωΞ", 0.81: "GHKOQΘΠΨΩ", 0.86: "Φm&", 1.0: "@M%W…",
}  # fmt: skip
"""Widths of letters in sizes: the widest of upright, italic and bold in the faces above."""
_WIDTH = {letter: width for width, letters in WIDTHS.items() for letter in letters}
WIDEST = 1.05


@dataclass(frozen=True)
class Run:
    """A stretch of text in one style; script is −1 for an index below, 1 above the line."""

    text: str
    italic: bool = False
    bold: bool = False
    script: int = 0

    @property
    def width(self) -> float:
        """In sizes of the whole text."""
        width = sum(_WIDTH.get(letter, WIDEST) for letter in self.text)
        return width * (SCRIPT if self.script else 1.0)


@dataclass(frozen=True)
class Style:
    """What a class of shapes or texts looks like; None draws nothing, lengths are in points."""

    stroke: str | None = None
    width: float = 0.0
    fill: str | None = None
    dash: tuple[float, ...] = ()


Command = tuple[str, tuple[float, ...]]
"""M x y, L x y, C x1 y1 x2 y2 x y, or Z."""


@dataclass(frozen=True)
class Shape:
    """An outline in the style of its class."""

    path: tuple[Command, ...]
    style: str


@dataclass(frozen=True)
class Text:
    """A line of text; x is its left end, its middle or its right end, as `anchor` says."""

    runs: tuple[Run, ...]
    x: float
    y: float
    size: float
    style: str
    anchor: str = "start"


@dataclass(frozen=True)
class Group:
    """Shapes and texts that belong together."""

    id: str
    items: tuple["Shape | Text | Group", ...]
    title: str = ""


@dataclass(frozen=True)
class Page:
    """Everything, in the order it is painted."""

    width: float
    height: float
    styles: Mapping[str, Style]
    groups: tuple[Group, ...]
    title: str
    made_by: str
    background: str | None = None


def text_width(runs: Iterable[Run], size: float) -> float:
    """How wide a text is at most, in points."""
    return size * sum(run.width for run in runs)


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
    faces = ", ".join(f'"{face}"' for face in FONTS)
    lines = [
        f"text {{ font-family: {faces}, serif; }}",
        "path { stroke-linecap: round; stroke-linejoin: round; }",
        ".var { font-style: italic; }  .vec { font-style: italic; font-weight: bold; }  .up { font-style: normal; }",
    ]
    for name, style in styles.items():
        parts = [f"fill: {style.fill or 'none'}"]
        if style.stroke:
            parts += [f"stroke: {style.stroke}", f"stroke-width: {_number(style.width)}"]
        if style.dash:
            parts.append(f"stroke-dasharray: {' '.join(map(_number, style.dash))}")
        lines.append(f".{name} {{ {'; '.join(parts)}; }}")
    return lines


def _group(group: Group, margin: str) -> list[str]:
    lines = [f'{margin}<g id="{_text(group.id)}">']
    if group.title:
        lines.append(f"{margin} <title>{_text(group.title)}</title>")
    for item in group.items:
        if isinstance(item, Group):
            lines += _group(item, margin + " ")
        elif isinstance(item, Text):
            lines.append(f"{margin} {_text_element(item)}")
        else:
            lines.append(f'{margin} <path class="{item.style}" d="{_path(item.path)}"/>')
    return [*lines, f"{margin}</g>"]


def _path(path: Sequence[Command]) -> str:
    parts, last = [], ""
    for letter, numbers in path:
        shown = " ".join(map(_number, numbers))
        parts.append(shown if letter == last == "L" else letter + shown)
        last = letter
    return " ".join(parts)


def _text_element(text: Text) -> str:
    anchor = "" if text.anchor == "start" else f' text-anchor="{text.anchor}"'
    place = f'x="{_number(text.x)}" y="{_number(text.y)}" font-size="{_number(text.size)}"{anchor}'
    if len(text.runs) == 1 and not text.runs[0].script:
        return f'<text class="{text.style} {_face(text.runs[0])}" {place}>{_text(text.runs[0].text)}</text>'
    parts, level = [], 0.0
    for run in text.runs:
        wanted = {0: 0.0, -1: LOWERED, 1: RAISED}[run.script] * text.size
        shift = f' dy="{_number(wanted - level)}"' if abs(wanted - level) > 1e-9 else ""
        size = f' font-size="{_number(text.size * SCRIPT)}"' if run.script else ""
        parts.append(f'<tspan class="{_face(run)}"{shift}{size}>{_text(run.text)}</tspan>')
        level = wanted
    return f'<text class="{text.style}" {place}>{"".join(parts)}</text>'


def _face(run: Run) -> str:
    return ("vec" if run.bold else "var") if run.italic else "up"


def _text(text: str) -> str:
    """Text that means nothing to XML."""
    return escape(safe(text))


def _number(x: float) -> str:
    """Two decimals, without zeros at the end."""
    shown = f"{x:.2f}".rstrip("0").rstrip(".")
    return "0" if shown == "-0" else shown
