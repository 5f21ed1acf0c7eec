"""Cans in series: rotations drawn so that their order and sense are seen at once.

Each motion about an axis is a pair of cans that turn against each other; pairs stand in series, moved apart, from
space to body.    Schwab-Meijaard, Figs. 1–5
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from polhode.errors import InputError, message
from polhode.model import Model
from polhode.result.atomic_file import atomic_path
from polhode.scalar import a_list, a_path, one_of
from polhode.show.cans.arrows import Look
from polhode.show.cans.chain import MotionChain, chain_of, checked
from polhode.show.cans.layout import Assembly, assemble
from polhode.show.cans.names import angle_name, degrees, plain_runs
from polhode.show.cans.picture import draw_scene
from polhode.show.cans.sheet import Panel, PanelBlock, Sheet, SheetHeading, extent_of, lay_out
from polhode.show.cans.stages import ILLUSTRATIVE, stage_drawing
from polhode.show.cans.theme import THEMES
from polhode.show.cans.view import best_view
from polhode.show.figure import check_figure_path
from polhode.show.vector.canvas import MM, TextRun, svg
from polhode.show.vector.canvas_figure import save_page
from polhode.show.vector.geometry import Array, View

FRAMES = ("all", "ends", "base", "none")
COLUMN, FULL, BESIDE = 80.0, 160.0, 120.0
"""Width of a single picture, of one with several panels, and from which the classical stages stand beside it, mm."""
CROWDED = 6
"""Turns beyond which a picture is as wide as one with panels: its names would cover its cans."""
LETTERS = "abcdefg"
NARROWEST, WIDEST = 40.0, 2000.0
"""Widths that a page may have, mm."""


@dataclass(frozen=True)
class Picture:
    """A finished picture."""

    sheet: Sheet
    assemblies: tuple[Assembly, ...]
    """The cans in space, one for each drawing of them."""
    view: View

    @property
    def svg(self) -> str:
        """As SVG."""
        return svg(self.sheet.page)

    @property
    def size(self) -> tuple[float, float]:
        """Width and height, mm."""
        return self.sheet.page.width / MM, self.sheet.page.height / MM

    @property
    def names(self) -> list[tuple[str, Array]]:
        """Every name with its box on the page: left, top, right, bottom in mm."""
        return [("".join(run.text for run in name.label.runs), name.box / MM) for name in self.sheet.names]

    def save(self, path: str | Path, overwrite: bool = False) -> Path:
        """Write it as .svg, .pdf or .png; never half a file."""
        path = Path(path)
        check_figure_path(path, overwrite)
        try:
            with atomic_path(path, overwrite, path.suffix) as part:
                self._write(part)
        except OSError as error:
            reason = error.strerror or str(error)
            what, expected = "cannot be written", "a folder where files may be made"
            raise InputError(message(f"figure {path}", what, reason, expected)) from None
        return path

    def _write(self, path: Path) -> None:
        if path.suffix == ".svg":
            path.write_text(self.svg, encoding="utf-8")
        else:
            save_page(self.sheet.page, path)

    def _repr_svg_(self) -> str:
        return self.svg


def draw_cans(
    what: str | Path | Model,
    path: str | Path | None = None,
    *,
    at: Sequence[float] | None = None,
    rates: bool | Sequence[float] = False,
    names: Sequence[str] | Mapping[str, str] | None = None,
    sequence: str | None = None,
    frames: str | None = None,
    values: bool = False,
    lost: bool = True,
    panels: bool = False,
    classical: bool = False,
    view: Sequence[float] | None = None,
    theme: str = "light",
    width: float | None = None,
    overwrite: bool = False,
) -> Picture:
    """Draw three angles, or a machine, as cans in series.    Schwab-Meijaard, Figs. 1–5

    what       a sequence ("313", "extrinsic-321"), a Model, a model file, or the name of a bundled model
    path       where to write it: .svg, .pdf or .png; None writes nothing
    at         the three angles, or the model's q, in rad and m; None: zero, or the model's start
    rates      True: every rate as a vector of one length (Fig. 4); or a number for each, and of angles their sum ω
    names      of the angles or motions, in their order; or new names by old ones
    sequence   of a model: angles by which its balls and free bodies are drawn; None: 321 with a free joint, else 313
    frames     "all", "ends" (space and bodies), "base" or "none"; None: what suits
    values     write each value beside its name
    lost       at gimbal lock draw the direction about which the angles cannot turn the body
    panels     of a sequence: one picture for each turn (Fig. 3)
    classical  of a sequence: the three stages beside it (Fig. 1)
    view       azimuth and elevation of the viewer, degrees; None: from where most is seen
    theme      "light" or "dark"
    width      of the page, mm: 80, or 160 with panels or stages, and of more than six turns; names keep their size
    """
    if path is not None:
        check_figure_path(a_path("draw_cans, argument path", path), overwrite)
    chain = chain_of(what, at, sequence)
    _check(chain, frames, theme, width, panels, classical)
    chain = chain.named(_names(chain, names))
    look = Look(frames or _usual_frames(chain), _rates(chain, rates), rates is not True, values, lost)
    stages = _stages(chain, what, at, names) if panels or classical else [chain]
    drawn = [assemble(stage) for stage in (stages if panels else [chain])]
    if view is None:
        seen = best_view(drawn, stages[-1] if classical else None)
    else:
        seen = View.of(*checked("view", view, 2, ()))
    single = PanelBlock((Panel(draw_scene(drawn[0], seen, look)),), 1, 0.76)
    room = width or (FULL if panels or classical or len(chain.turns) > CROWDED else COLUMN)
    stacked = room < BESIDE
    first = [_classical(stages[-1], seen, 3 if stacked else 1)] if classical else []
    blocks = [*first, _panels(drawn, seen, look, 3 if classical else 0) if panels else single]
    heading = SheetHeading(f"{chain.title}: cans in series", _made_by(what, at, rates, view))
    picture = Picture(lay_out(blocks, room, theme, heading, stacked), tuple(drawn), seen)
    if path is not None:
        picture.save(path, overwrite)
    return picture


def _check(
    chain: MotionChain, frames: str | None, theme: str, width: float | None, panels: bool, classical: bool
) -> None:
    for name, value, known in (
        ("frames", "all" if frames is None else frames, FRAMES),
        ("theme", theme, tuple(THEMES)),
    ):
        one_of(f"draw_cans, argument {name}", value, known, "no such choice")
    if width is not None and not (isinstance(width, (int, float)) and NARROWEST <= width <= WIDEST):
        expected = f"{NARROWEST:g} … {WIDEST:g} mm"
        raise InputError(message("draw_cans, argument width", "no width to print at", repr(width), expected))
    for name, wanted in (("panels", panels), ("classical", classical)):
        if wanted and not chain.sequence:
            what, found = "is for sequences of three angles", f"the model '{chain.title}'"
            raise InputError(message(f"draw_cans, argument {name}", what, found, "a sequence such as '313'"))


def _names(chain: MotionChain, names: Any) -> dict[str, str]:
    """New names by old ones."""
    old = [turn.name for turn in chain.turns]
    old = [old[chain.order.index(i)] for i in range(3)] if chain.sequence else old
    if names is None:
        return {}
    if isinstance(names, Mapping):
        unknown = [name for name in names if name not in old]
        found, new = (repr(unknown[0]), dict(names)) if unknown else ("", dict(names))
    else:
        given = [names] if isinstance(names, str) else a_list("draw_cans, argument names", names, "a list of texts")
        found, new = ("", dict(zip(old, given, strict=True))) if len(given) == len(old) else (repr(names), {})
    if found or not all(isinstance(name, str) and name.strip() for name in new.values()):
        expected = f"{len(old)} texts, or new names by old ones: {', '.join(old)}"
        raise InputError(message("draw_cans, argument names", "wrong names", found or repr(names), expected))
    return new


def _rates(chain: MotionChain, rates: Any) -> Array | None:
    """The rate of each motion, in the order of the motions."""
    if rates is False or rates is None:
        return None
    if rates is True:
        return np.ones(len(chain.turns))
    found = checked("rates", rates, len(chain.turns), ())
    return found[list(chain.order)] if chain.order else found


def _usual_frames(chain: MotionChain) -> str:
    return "all" if chain.sequence else "ends" if len(chain.tips) == 1 else "base"


def _stages(chain: MotionChain, what: Any, at: Sequence[float] | None, names: Any) -> list[MotionChain]:
    """The chain with none of its angles, the first from space, the first two, all three."""
    angles = np.array(ILLUSTRATIVE if at is None else at, dtype=float)
    found = []
    for k in range(4):
        here = np.zeros(3)
        here[list(chain.order[:k])] = angles[list(chain.order[:k])]
        made = chain_of(what, here.tolist())
        found.append(replace(made.named(_names(made, names)), lost=made.lost if k == 3 else ()))
    return found


def _panels(drawn: list[Assembly], view: View, look: Look, lettered: int) -> PanelBlock:
    """One picture for each turn, from one view, with the base at one place."""
    pictures = [draw_scene(assembly, view, replace(look, stage=k)) for k, assembly in enumerate(drawn)]
    extent = extent_of(pictures)
    found = []
    for k, (picture, assembly) in enumerate(zip(pictures, drawn, strict=True)):
        turn = assembly.chain.turns[k - 1]
        told = (
            plain_runs("all angles zero") if k == 0 else (*angle_name(turn.name), TextRun(f" = {degrees(turn.value)}"))
        )
        found.append(Panel(picture, (TextRun(f"({LETTERS[lettered + k]}) "), *told), extent))
    return PanelBlock(tuple(found), 2)


def _classical(chain: MotionChain, view: View, columns: int) -> PanelBlock:
    """The three stages, one below the other or in a row."""
    drawings = [stage_drawing(chain, k, view) for k in range(3)]
    captions = [(TextRun(f"({LETTERS[k]}) "), *angle_name(turn.name)) for k, turn in enumerate(chain.turns)]
    panels = [Panel(drawing, caption) for drawing, caption in zip(drawings, captions, strict=True)]
    return PanelBlock(tuple(panels), columns, 0.24)


def _made_by(what: Any, at: Any, rates: Any, view: Any) -> str:
    named = what if isinstance(what, (str, Path)) else f"model {what.name}"
    given = [(key, value) for key, value in (("at", at), ("view", view)) if value is not None]
    told = [f"{key} {np.round(np.asarray(value, dtype=float), 6).tolist()}" for key, value in given]
    told += ["with rates"] if rates is not False and rates is not None else []
    return ", ".join([f"draw {named}", *told])
