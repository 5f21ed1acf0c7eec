"""The letters of drawings: outlines that come with the package, so that a drawing looks the same everywhere."""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import NamedTuple

Point = tuple[float, float]

FOREIGN = {"W": 1.0, "F": 1.0}
"""Widths in sizes of letters that are not in the typeface, by their East Asian width; 0.6 for others."""
TALL = (-0.24, 0.88)
"""How low and how high such letters reach."""
_COMMAND = re.compile(r"([mlqz])([-+0-9]*)")


class Glyph(NamedTuple):
    """Advance in sizes, and the outline: commands M, L, Q and Z with points in sizes, y upwards."""

    advance: float
    outline: tuple[tuple[str, tuple[Point, ...]], ...]


@cache
def _lines() -> dict[tuple[str, str], tuple[str, str]]:
    """Advance and outline of each letter of each face, as they are written."""
    text = files("polhode.show.vector").joinpath("assets", "typeface.txt").read_text(encoding="utf-8")
    rows = (line.split(" ") for line in text.splitlines()[1:])
    return {(row[0], chr(int(row[1], 16))): (row[2], row[3] if len(row) > 3 else "") for row in rows}


@cache
def letter(character: str, italic: bool = False, bold: bool = False) -> Glyph | None:
    """A letter in the face that is asked for, else upright; None where the typeface has none."""
    face = ("bold-italic" if bold else "italic") if italic else "upright"
    found = _lines().get((face, character)) or _lines().get(("upright", character))
    return Glyph(int(found[0]) / 1000, tuple(_commands(found[1]))) if found else None


def _commands(text: str) -> Iterator[tuple[str, tuple[Point, ...]]]:
    x, y = start = (0, 0)
    for name, numbers in _COMMAND.findall(text):
        steps = [int(number) for number in re.findall(r"[-+]\d+", numbers)]
        points = tuple((x + dx, y + dy) for dx, dy in zip(steps[::2], steps[1::2], strict=True))
        x, y = points[-1] if points else start
        start = (x, y) if name == "m" else start
        yield name.upper(), tuple((a / 1000, b / 1000) for a, b in points)


def advance(character: str, italic: bool = False, bold: bool = False) -> float:
    """How far the next letter stands from this one, in sizes."""
    if found := letter(character, italic, bold):
        return found.advance
    return 0.0 if unicodedata.combining(character) else FOREIGN.get(unicodedata.east_asian_width(character), 0.6)


@cache
def reach(character: str, italic: bool = False, bold: bool = False) -> tuple[float, float]:
    """How low and how high a letter reaches from its line, in sizes."""
    found = letter(character, italic, bold)
    if found is None:
        return TALL
    heights = [y for _, points in found.outline for _, y in points]
    return (min(heights), max(heights)) if heights else (0.0, 0.0)
