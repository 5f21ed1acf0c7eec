"""What pages are made of: headings, sentences, tables and formulas, before they are LaTeX or Markdown."""

from collections.abc import Iterable
from typing import NamedTuple


class Math(NamedTuple):
    """A piece of LaTeX in a sentence."""

    latex: str


class Given(NamedTuple):
    """Words that come from a model: written as they are, escaped."""

    text: str


Words = tuple[str | Math, ...]
"""A sentence: text, which is escaped, and mathematics."""


class Heading(NamedTuple):
    """A heading of level 1, 2 or 3."""

    level: int
    words: Words


class Paragraph(NamedTuple):
    """A paragraph."""

    words: Words


class TableBlock(NamedTuple):
    """A table."""

    head: tuple[Words, ...]
    rows: tuple[tuple[Words, ...], ...]


class Display(NamedTuple):
    """Formulas on their own lines, aligned at &."""

    lines: tuple[str, ...]


Block = Heading | Paragraph | TableBlock | Display


def words(*parts: str | Given | Math) -> Words:
    """A sentence from our own text, with mathematics between dollars, and from what is given."""
    found: list[str | Math] = []
    for part in parts:
        if isinstance(part, Math):
            found.append(part)
        elif isinstance(part, Given):
            found.append(part.text)
        else:
            pieces = part.split("$")
            found += [Math(piece) if k % 2 else piece for k, piece in enumerate(pieces) if piece]
    return tuple(found)


def say(*parts: str | Given | Math) -> Paragraph:
    """A paragraph."""
    return Paragraph(words(*parts))


def title(level: int, *parts: str | Given | Math) -> Heading:
    """A heading."""
    return Heading(level, words(*parts))


def display(lines: Iterable[str]) -> Display:
    """Formulas."""
    return Display(tuple(lines))


def table(head: Iterable[str], rows: Iterable[Iterable[Words]]) -> TableBlock:
    """A table with a head of plain words."""
    return TableBlock(tuple((word,) for word in head), tuple(tuple(row) for row in rows))
