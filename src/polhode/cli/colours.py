"""Verdicts in colour, where the output is a terminal that shows colours."""

import os
import re

import click

from polhode.result.verdict import FAILED, GOOD, LOOSE, UNCHECKED

COLOURS = {GOOD: "green", LOOSE: "yellow", FAILED: "red", UNCHECKED: "blue"}
"""The colour of each verdict; its word always stands there too."""

WORD = "|".join(COLOURS)


def coloured(text: str) -> str:
    """A text with its verdicts in colour: where a sentence names the run's, at the ends of lines of a table, after counts."""
    places: tuple[str, ...] = (
        rf"(?<=This run is )(?:{WORD})\b",
        rf"(?<=This run )(?:{FAILED})\b",
        rf"(?<=  )(?:{WORD})$",
    )
    places += (rf"(?<=[0-9] )(?:{WORD})(?=[,;])",)
    return re.sub("|".join(places), lambda word: click.style(word[0], fg=COLOURS[word[0]], bold=True), text, flags=re.M)


def echo_verdict(text: str) -> None:
    """Print a text with its verdicts in colour; plainly into files, and where NO_COLOR is set."""
    click.echo(coloured(text), color=False if os.environ.get("NO_COLOR") else None)
