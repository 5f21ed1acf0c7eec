"""A page as Markdown, mathematics between dollars."""

from collections.abc import Sequence

from polhode.equations_of_motion.blocks import Block, Display, Heading, Math, Paragraph, Words
from polhode.equations_of_motion.letters import markdown_text


def document(page: Sequence[Block]) -> str:
    """The Markdown text of a page."""
    return "\n\n".join(_block(block) for block in page) + "\n"


def _words(words: Words) -> str:
    return "".join(f"${part.latex}$" if isinstance(part, Math) else _text(part) for part in words)


def _text(text: str) -> str:
    """Escaped, with the spaces at its ends kept."""
    head, tail = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return f"{' ' * bool(head)}{markdown_text(text)}{' ' * bool(tail and text.strip())}"


def _block(block: Block) -> str:
    if isinstance(block, Heading):
        return f"{'#' * block.level} {_words(block.words)}"
    if isinstance(block, Paragraph):
        return _words(block.words)
    if isinstance(block, Display):
        inner = " \\\\\n".join(block.lines)
        return f"$$\n\\begin{{aligned}}\n{inner}\n\\end{{aligned}}\n$$"
    rows = [block.head, *block.rows]
    lines = ["| " + " | ".join(_words(cell) for cell in row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * len(block.head), *lines[1:]])
