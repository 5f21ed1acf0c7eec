"""The fenced blocks of a Markdown page: what runs, what is shown, what is compared."""

import re
from dataclasses import dataclass
from itertools import pairwise

FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}|~{3,}|:{3,})(?P<info>[^`\n]*)$")


@dataclass(frozen=True)
class Block:
    """A fenced block.

    language  first word after the fence, "" where there is none
    text      its lines, without the indentation of the fence
    line      of the opening fence, from 1
    end       of the closing fence
    expected  text of the output block directly after it, None where there is none
    """

    language: str
    text: str
    line: int
    end: int
    expected: str | None = None

    @property
    def file(self) -> str | None:
        """Name of the file that a yaml block is written to, from a first line `# file: NAME`."""
        found = re.match(r"# file: (\S+)\n", self.text) if self.language == "yaml" else None
        return found[1] if found else None


def blocks(text: str) -> list[Block]:
    """The blocks of a page, from top to bottom, those inside directives (tabs, notes) included."""
    lines = text.split("\n")
    found: list[Block] = []
    directives: list[str] = []
    k = 0
    while k < len(lines):
        opening = FENCE.match(lines[k])
        if opening is None:
            k += 1
            continue
        fence, info = opening["fence"], opening["info"].strip()
        if not info and directives and fence.startswith(directives[-1]):
            directives.pop()
            k += 1
        elif info.startswith("{") and not info.startswith("{code-block}"):
            directives.append(fence)
            k += 1
        else:
            end = _closing(lines, k, fence)
            indent = len(opening["indent"])
            body = "".join(line[min(indent, len(line) - len(line.lstrip())) :] + "\n" for line in lines[k + 1 : end])
            words = info.removeprefix("{code-block}").split()
            found.append(Block(words[0] if words else "", body, k + 1, end + 1))
            k = end + 1
    return _with_outputs(found, lines)


def _closing(lines: list[str], k: int, fence: str) -> int:
    """The index of the line that closes the fence of line k; the end of the page where none does."""
    for end in range(k + 1, len(lines)):
        line = lines[end].strip()
        if line.startswith(fence) and not line.strip(fence[0]):
            return end
    return len(lines)


def _with_outputs(found: list[Block], lines: list[str]) -> list[Block]:
    """The blocks, each with the text of the output block that follows it with nothing but space between."""
    outputs = {
        before.line: after.text
        for before, after in pairwise(found)
        if after.language == "output" and not "".join(lines[before.end : after.line - 1]).strip()
    }
    return [Block(b.language, b.text, b.line, b.end, outputs.get(b.line)) for b in found]


def prose(text: str) -> str:
    """The page without its blocks; lines keep their numbers."""
    lines = text.split("\n")
    for block in blocks(text):
        lines[block.line - 1 : block.end] = [""] * (block.end - block.line + 1)
    return "\n".join(lines)
