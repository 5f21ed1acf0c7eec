"""Docstrings of this house as reStructuredText.

A docstring here has paragraphs, equations and code that stand indented, doctests, and tables of arguments, two columns of text:

    q      (..., 4)  orientation of B in W
    ->     (..., 3)

They read well in a terminal; this module gives Sphinx what it needs to set them.
"""

import re

NAME = r"(?:\*{0,2}[\w.]+(?:\(\))?|\"[\w-]+\")"
ROW = re.compile(rf"^(?P<names>(?:{NAME}(?:, (?:{NAME}|…))*|->))(?P<space> {{2,}})(?P<text>\S.*)$")
LITERAL = re.compile(r"(`+)([^`]+)\1")


def markup(lines: list[str]) -> list[str]:
    """A docstring without its common indentation, as reStructuredText, line by line."""
    found: list[str] = []
    for paragraph in _paragraphs(lines):
        found += [*_paragraph(paragraph), ""]
    return found


def _paragraphs(lines: list[str]) -> list[list[str]]:
    """Lines grouped: what stands indented is apart from what does not; empty lines separate, but not within what is indented."""
    groups: list[list[str]] = [[]]
    for line in lines:
        if not line.strip():
            groups.append([])
        else:
            groups[-1].append(line.rstrip())
    joined: list[list[str]] = []
    for group in filter(None, groups):
        code = group[0].startswith("    ")
        if code and joined and joined[-1][0].startswith("    "):
            joined[-1] += ["", *group]
        else:
            joined.append(group)
    return joined


def _paragraph(lines: list[str]) -> list[str]:
    first = lines[0]
    if first.lstrip().startswith(">>>"):
        return [".. code-block:: pycon", "", *(f"   {line}" for line in _dedented(lines))]
    if first.startswith("    "):
        return ["::", "", *(f"   {line}" for line in _dedented(lines))]
    if ROW.match(first):
        return _table(lines)
    if first.startswith(("- ", "* ")):
        return [prose(line) if not line.startswith("* ") else f"* {prose(line[2:])}" for line in lines]
    split = next((k for k, line in enumerate(lines) if line.startswith("    ") or ROW.match(line)), None)
    if split:  # a sentence with its equation or its table directly below
        return [*map(prose, lines[:split]), "", *_paragraph(lines[split:])]
    return [prose(line.strip()) for line in lines]


def _dedented(lines: list[str]) -> list[str]:
    indent = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
    return [line[indent:] for line in lines]


def _table(lines: list[str]) -> list[str]:
    """A definition list of arguments."""
    column = next(match.start("text") for line in lines if (match := ROW.match(line)))
    rows: list[tuple[str, list[str]]] = []
    for line in lines:
        if line.startswith("  ") and rows:
            rows[-1][1].append(line.strip())
        elif match := ROW.match(line):
            rows.append((match["names"], [match["text"]]))
        elif line[column - 1 : column] == " " and re.fullmatch(rf"{NAME}(?:, {NAME})*", line[: column - 1].rstrip()):
            rows.append((line[: column - 1].rstrip(), [line[column:].strip()]))
        else:
            return ["::", "", *(f"   {each}" for each in lines)]
    found = [".. rst-class:: arguments", ""]
    for names, text in rows:
        term = "*returns*" if names == "->" else f"``{names}``"
        found += [term, *(f"   {prose(each)}" for each in text)]
    return found


def prose(text: str) -> str:
    """A line of prose: code in backticks is literal, emphasis stays, what else would mean something is escaped."""
    pieces, last = [], 0
    for literal in LITERAL.finditer(text):
        pieces += [_escaped(text[last : literal.start()]), f"``{literal[2]}``"]
        after = text[literal.end() : literal.end() + 1]
        pieces.append("\\ " if after and (after.isalnum() or after == "_") else "")
        last = literal.end()
    return "".join([*pieces, _escaped(text[last:])])


def _escaped(text: str) -> str:
    held = re.split(r"((?<![\w*])\*[^\s*](?:[^*]*[^\s*])?\*(?![\w*]))", text)
    return "".join(
        part if k % 2 else re.sub(r"([\\*|`])|(?<=\w)_(?!\w)|(?<!\w)_(?=\w)", _backslash, part)
        for k, part in enumerate(held)
    )


def _backslash(match: re.Match) -> str:
    return f"\\{match[0]}"
