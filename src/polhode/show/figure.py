"""One style for every figure, and the way a figure is written: with its provenance, never half."""

import re
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from polhode import __version__
from polhode.errors import InputError, PolhodeError, message
from polhode.result.atomic_file import atomic_path

if TYPE_CHECKING:
    from matplotlib.figure import Figure

P = ParamSpec("P")
T = TypeVar("T")

COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000"]
"""Okabe and Ito's colours, told apart with any colour vision."""

STYLE = {
    "font.family": ["DejaVu Sans"],  # comes with matplotlib
    "font.size": 9,
    "mathtext.fontset": "dejavusans",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "svg.fonttype": "path",  # letters as outlines: a viewer's fonts have other widths
    "svg.hashsalt": "polhode",  # the same file each time
    "figure.dpi": 110,
    "savefig.dpi": 160,
}


def styled(draw: Callable[P, T]) -> Callable[P, T]:
    """Let a drawing function work in the house style; it says what is missing where matplotlib is.

    What overflows is left out by the drawing, without a word: a run that failed may hold anything.
    """

    @wraps(draw)
    def wrapper(*args: P.args, **options: P.kwargs) -> T:
        try:
            from cycler import cycler
            from matplotlib import rc_context
            from numpy import errstate
        except ImportError:
            raise PolhodeError("figures need matplotlib.\n  Install it with: pip install 'polhode[plot]'") from None
        with rc_context({**STYLE, "axes.prop_cycle": cycler(color=COLOURS)}), errstate(all="ignore"):
            return draw(*args, **options)

    return wrapper


@styled
def new_figure(width: float, height: float, **subplots: Any) -> tuple["Figure", Any]:
    """An empty figure of this size in inches, without any window; its axes as `Figure.subplots` gives them."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(**subplots)


@styled
def save_figure(figure: "Figure", path: Path, made_by: str, force: bool = False) -> Path:
    """Write a figure as PNG, SVG or PDF by its suffix, with what made it in its metadata.

    An existing file is refused unless `force`; the write is atomic.
    """
    check_figure_path(path, force)
    key = {".png": "Software", ".svg": "Creator", ".pdf": "Creator"}[path.suffix]
    extra = {} if path.suffix == ".png" else {"Date" if path.suffix == ".svg" else "CreationDate": None}
    text = {"Title": made_by, key: f"polhode {__version__}", **extra}
    with atomic_path(path, force, path.suffix) as part:
        figure.savefig(part, metadata=text)
        if path.suffix == ".svg":
            part.write_text(_told(part.read_text(encoding="utf-8")), encoding="utf-8")
    return path


def _told(svg: str) -> str:
    """A figure whose texts are outlines, each with its words as a title: to be searched and read aloud.

    matplotlib has them in comments, with all that means something to XML escaped.
    """
    return re.sub(r"<!-- (.*?) -->\s*(<g\b[^>]*>)", r"\2<title>\1</title>", svg)


def check_figure_path(path: Path, force: bool = False) -> None:
    """Refuse a path that cannot be written, before any work is done for it."""
    if path.suffix not in (".png", ".svg", ".pdf"):
        raise InputError(message(f"figure {path}", "unknown kind of picture", repr(path.suffix), ".png, .svg or .pdf"))
    check_new_file(f"figure {path}", path, force)


def check_new_file(where: str, path: Path, overwrite: bool) -> None:
    """Refuse a path whose folder is missing, or at which there is a file that may not be overwritten."""
    if not path.parent.is_dir():
        raise InputError(message(where, "its folder is missing", str(path.parent), "an existing folder"))
    if path.exists() and not overwrite:
        fix = "Give another name, or allow it to be overwritten (overwrite=True; --overwrite)."
        raise InputError(message(where, "the file is there already", "a file of that name", "a new name", fix))
