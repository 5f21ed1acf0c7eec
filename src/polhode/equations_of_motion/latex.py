"""A page as a LaTeX document."""

from collections.abc import Sequence

from polhode.equations_of_motion.blocks import Block, Display, Heading, Math, Paragraph, TableBlock, Words
from polhode.equations_of_motion.letters import escaped

HEAD = r"""\documentclass[11pt,a4paper]{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{amsmath,amssymb,textcomp}
\usepackage[margin=22mm]{geometry}
\usepackage{longtable}
\allowdisplaybreaks[4]
\setlength{\parindent}{0pt}
\setlength{\parskip}{5pt}
\emergencystretch=4em
\begin{document}
"""
TAIL = "\\end{document}\n"
LEVELS = {1: r"\section*", 2: r"\subsection*", 3: r"\paragraph*"}


def document(page: Sequence[Block]) -> str:
    """The LaTeX document of a page."""
    return HEAD + "\n".join(_block(block) for block in page) + "\n" + TAIL


def _words(words: Words) -> str:
    return "".join(f"${part.latex}$" if isinstance(part, Math) else escaped(part) for part in words)


def _block(block: Block) -> str:
    if isinstance(block, Heading):
        end = r"\par" if block.level == 3 else ""
        return f"{LEVELS[block.level]}{{{_words(block.words)}}}{end}\n"
    if isinstance(block, Paragraph):
        return _words(block.words) + "\n"
    if isinstance(block, Display):
        return "\\begin{align*}\n" + " \\\\[2pt]\n".join(block.lines) + "\n\\end{align*}"
    return _table(block)


WIDTHS = {2: (0.1, 0.8), 3: (0.12, 0.58, 0.2), 4: (0.16, 0.32, 0.21, 0.19)}
"""Widths of the columns of a table, in parts of the line, by their number."""


def _table(table: TableBlock) -> str:
    columns = "".join(rf"p{{{w}\linewidth}}" for w in WIDTHS[len(table.head)])
    rows = [" & ".join(_words(cell) for cell in row) + r" \\" for row in (table.head, *table.rows)]
    head, *body = rows
    return "\n".join(
        [rf"\begin{{longtable}}{{{columns}}}", head, r"\hline\noalign{\smallskip}\endhead", *body, r"\end{longtable}"]
    )
