"""Errors of the library in the words of the command line: `--step`, not `step=`."""

import re

import click

CALLS = ("simulate", "record", "sweep", "study", "modes", "draw_cans", "animate")
"""Functions of the library that name themselves in errors which a command shows."""


def in_options(text: str, command: click.Command) -> str:
    """An error's text with the arguments of the library as the options of a command.

    What a user gave (between "found" and "expected") stays as it is.
    """
    words = {
        option.name: option.opts[0] for option in command.params if isinstance(option, click.Option) and option.name
    }
    names = "|".join(re.escape(name) for name in words)
    if not names:
        return text
    place, rest = re.compile(rf"^(?:{'|'.join(CALLS)})( [^,:]+)?, (?:argument )?({names})(?=[:,]| ')"), []
    first, *others = text.split("\n")
    for line in others:
        found, told, expected = line.partition("; expected ") if line.startswith("  found ") else ("", "", line)
        rest.append(found + told + _options(expected, words, names))
    return "\n".join(
        [place.sub(lambda match: f"{command.name}{match[1] or ''}, {words[match[2]]}", first, count=1), *rest]
    )


def _options(text: str, words: dict[str, str], names: str) -> str:
    """A part of a text with step=… as --step …, force=True as --overwrite; a hint that names both is left with one."""
    text = re.sub(rf"\b(?:{names})=\w+; (?=--)", "", text)
    text = re.sub(rf"(?<![\w.'\"-])({names})=True\b", lambda match: words[match[1]], text)
    text = re.sub(rf"(?<![\w.'\"-])({names})=(?=[\w…\[\"'])", lambda match: f"{words[match[1]]} ", text)
    return re.sub(r"\bor None for\b", "or leave it out for", text)
