"""A page of shapes and texts as a matplotlib figure, for PDF and PNG."""

from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from polhode import __version__
from polhode.show.figure import styled
from polhode.show.vector.canvas import Page, Shape, ShapeGroup, Text, text_width

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FACES = ["STIXGeneral", "DejaVu Serif"]
"""Both come with matplotlib; the first is the typeface of the SVG."""
DOTS = 400
"""Dots per inch of a PNG."""


@styled
def page_figure(page: Page) -> "Figure":
    """The page at its true size."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(page.width / 72, page.height / 72))
    if page.background:
        figure.patch.set_facecolor(page.background)
    else:
        figure.patch.set_alpha(0.0)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set(xlim=(0, page.width), ylim=(page.height, 0))
    for group in page.groups:
        _add(axes, page, group)
    return figure


@styled
def save_page(page: Page, path: FilePath) -> None:
    """Write the page as PDF or PNG."""
    from matplotlib import rc_context

    key, dates = ("Creator", {"CreationDate": None}) if path.suffix == ".pdf" else ("Software", {})
    metadata: dict[str, Any] = {"Title": page.title, key: f"polhode {__version__}", **dates}
    metadata["Subject" if path.suffix == ".pdf" else "Description"] = page.made_by
    with rc_context({"pdf.fonttype": 42, "savefig.facecolor": "auto"}):
        page_figure(page).savefig(path, dpi=DOTS, metadata=metadata)


def _add(axes: Any, page: Page, group: ShapeGroup) -> None:
    for item in group.items:
        if isinstance(item, ShapeGroup):
            _add(axes, page, item)
        elif isinstance(item, Shape):
            _add_shape(axes, page, item)
        else:
            _add_text(axes, page, item)


def _add_shape(axes: Any, page: Page, shape: Shape) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    codes, points = [], []
    for letter, numbers in shape.path:
        pairs = list(zip(numbers[::2], numbers[1::2], strict=True)) or [(0.0, 0.0)]
        code = {"M": Path.MOVETO, "L": Path.LINETO, "Q": Path.CURVE3, "C": Path.CURVE4, "Z": Path.CLOSEPOLY}[letter]
        points += pairs
        codes += [code] * len(pairs)
    style = page.styles[shape.style.split()[-1]]
    line = (0, [x / style.width for x in style.dash]) if style.dash else "solid"
    patch = PathPatch(
        Path(points, codes),
        facecolor=style.fill or "none",
        edgecolor=style.stroke or "none",
        linewidth=style.width if style.stroke else 0.0,
        linestyle=line,
        capstyle="round",
        joinstyle="round",
        clip_on=False,
    )
    axes.add_patch(patch)


def _add_text(axes: Any, page: Page, text: Text) -> None:
    from matplotlib.font_manager import FontProperties

    x, colour = text.left, page.styles[text.style.split()[-1]].fill
    for run in text.runs:
        style, weight = "italic" if run.italic else "normal", "bold" if run.bold else "normal"
        font = FontProperties(family=FACES, style=style, weight=weight, size=text.size * run.size)  # type: ignore[arg-type]
        y = text.y + text.size * run.level
        axes.text(x, y, run.shown, fontproperties=font, color=colour, va="baseline", parse_math=False)
        x += text_width((run,), text.size)
