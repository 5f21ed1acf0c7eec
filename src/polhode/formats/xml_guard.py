"""XML from anywhere, read as data: no entities, bounded in size and depth, every element with its line.

    root = read_xml("arm.urdf")
    root.tag, root.attributes, root.children, root.line

Nothing else of this package opens an XML file, and no other parser ever sees the file itself.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

from polhode.errors import ModelError, escaped, message

MAX_BYTES = 32 * 2**20
MAX_DEPTH = 200
MAX_ELEMENTS = 300_000
TEXT = "<text>"
"""The name shown for XML that was not read from a file."""


_BEFORE_DECLARATION = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?>(?:<!--(?>.*?-->)\s*)*)(?=<\?xml\s)", re.DOTALL)
"""Blank lines and comments before <?xml …?>: XML forbids them, most readers let them pass."""


@dataclass
class XmlElement:
    """An XML element and where it stands.

    content  the text between its tags, where `read_xml` was asked to keep it: SDF has its numbers there
    """

    tag: str
    attributes: dict[str, str]
    file: str
    line: int
    children: list["XmlElement"] = field(default_factory=list)
    content: str = ""

    @property
    def where(self) -> str:
        """As in "arm.urdf:41, joint 'elbow'"."""
        name = self.attributes.get("name")
        return f"{self.file}:{self.line}, {escaped(self.tag)}" + (f" '{escaped(shorten(name))}'" if name else "")

    def all(self, tag: str) -> list["XmlElement"]:
        """The children of this tag."""
        return [child for child in self.children if child.tag == tag]

    def first(self, tag: str) -> "XmlElement | None":
        """The first child of this tag."""
        return next((child for child in self.children if child.tag == tag), None)

    def walk(self) -> Iterator["XmlElement"]:
        """This element and all below it, in the order of the file."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += reversed(node.children)

    def fail(self, what: str, found: str, expected: str, fix: str = "", owner: str = "") -> NoReturn:
        """Raise the ModelError of this element.

        owner  the object it belongs to, where it has no name of its own
        """
        where = f"{self.file}:{self.line}, {owner}, {self.tag}" if owner else self.where
        raise ModelError(message(where, what, found, expected, fix))

    def text(self, name: str, owner: str = "") -> str:
        """An attribute that must be there and not be empty."""
        value = self.attributes.get(name, "").strip()
        if not value:
            self.fail(f"no {name}", "nothing" if name not in self.attributes else "an empty text", name, owner=owner)
        return value

    def numbers(
        self, name: str, size: int, default: tuple[float, ...] | None = None, owner: str = "", infinite: bool = False
    ) -> tuple:
        """An attribute of so many finite numbers.

        default   for a missing attribute; None: it must be there
        infinite  whether a number may be infinite
        """
        if name not in self.attributes and default is not None:
            return default
        return self._numbers(self.text(name, owner), size, f"{name} cannot be read", owner, infinite)

    def content_numbers(self, size: int, owner: str = "", infinite: bool = False) -> tuple:
        """The text of the element as so many finite numbers."""
        return self._numbers(self.content, size, "cannot be read", owner, infinite)

    def _numbers(self, text: str, size: int, fault: str, owner: str, infinite: bool) -> tuple:
        try:
            values = tuple(float(word) for word in text.split())
        except ValueError:
            values = ()
        bad = math.isnan if infinite else lambda x: not math.isfinite(x)
        if len(values) != size or "_" in text or any(map(bad, values)):
            expected = "a finite number" if size == 1 else f"{size} finite numbers with spaces between"
            self.fail(fault, repr(shorten(text.strip())), expected, owner=owner)
        return values

    def number(self, name: str, default: float | None = None, owner: str = "", infinite: bool = False) -> float:
        """An attribute of one finite number."""
        return self.numbers(name, 1, None if default is None else (default,), owner, infinite)[0]


def shorten(text: str, size: int = 60) -> str:
    """A text that fits into a message."""
    return text if len(text) <= size else text[: size - 1] + "…"


def is_text(source: str | Path) -> bool:
    """Whether a source is XML itself rather than the path of a file."""
    return isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("<")


def read_xml(source: str | Path, shown: str | None = None, keep_content: bool = False) -> XmlElement:
    """The root element of an XML file, or of a text that begins with "<".

    shown         the file's name in messages; its path unless told
    keep_content  whether elements keep the text between their tags
    """
    if isinstance(source, str) and is_text(source):
        label = shown or TEXT
        begun = source.lstrip("\ufeff \t\r\n")
        skipped = source[: len(source) - len(begun)].count("\n")
        return _parse(begun.encode("utf-8", "replace"), label, "utf-8", skipped, keep_content)
    label = shown or str(source)
    return _parse(read_bytes(Path(source), label), label, keep_content=keep_content)


def read_bytes(path: Path, shown: str, limit: int | None = None) -> bytes:
    """The content of an ordinary file of bounded size."""
    limit = MAX_BYTES if limit is None else limit
    try:
        if not path.is_file():
            found = "a folder" if path.is_dir() else "something else" if path.exists() else "nothing there"
            raise ModelError(message(shown, "not a file", found, "a model file"))
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except (OSError, ValueError) as error:
        raise ModelError(message(shown, "cannot be read", str(error), "a readable file")) from None
    if len(data) > limit:
        size = path.stat().st_size
        fix = "A larger polhode.formats.xml_guard.MAX_BYTES lets it pass." if limit == MAX_BYTES else ""
        raise ModelError(message(shown, "too large", f"{size / 1e6:.0f} MB", f"at most {limit / 1e6:.0f} MB", fix))
    return data


def _parse(
    data: bytes, shown: str, encoding: str | None = None, skipped: int = 0, keep_content: bool = False
) -> XmlElement:
    """Parse in one go; every handler may refuse. `skipped` lines stood before the data."""
    if len(data) > MAX_BYTES:
        found, bound = f"{len(data) / 1e6:.0f} MB", f"at most {MAX_BYTES / 1e6:.0f} MB"
        raise ModelError(message(shown, "too large", found, bound))
    if before := _BEFORE_DECLARATION.match(data):
        skipped, data = skipped + before[0].count(b"\n"), data[before.end() :]
    parser = expat.ParserCreate(encoding)
    builder = _XmlBuilder(shown, parser, skipped)
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    if keep_content:
        parser.buffer_text = True
        parser.CharacterDataHandler = builder.characters
    parser.StartDoctypeDeclHandler = builder.refuse_doctype
    parser.EntityDeclHandler = builder.refuse_doctype
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise ModelError(message(f"{shown}:{error.lineno + skipped}", "not well-formed XML", reason, "XML")) from None
    except (LookupError, ValueError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(message(f"{shown}:{builder.line}", "cannot be decoded", str(error), "UTF-8 text")) from None
    assert builder.root is not None
    return builder.root


class _XmlBuilder:
    """Collects the elements a parser reports."""

    def __init__(self, shown: str, parser: expat.XMLParserType, skipped: int) -> None:
        self.shown, self.parser, self.skipped = shown, parser, skipped
        self.root: XmlElement | None = None
        self.open: list[XmlElement] = []
        self.texts: list[list[str]] = []
        self.count = 0

    @property
    def line(self) -> int:
        return self.parser.CurrentLineNumber + self.skipped

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        node = XmlElement(tag, dict(attributes), self.shown, self.line)
        self.count += 1
        if len(self.open) >= MAX_DEPTH:
            node.fail("nested too deeply", f"more than {MAX_DEPTH} levels", f"at most {MAX_DEPTH}")
        if self.count > MAX_ELEMENTS:
            node.fail("too many elements", f"more than {MAX_ELEMENTS}", f"at most {MAX_ELEMENTS}")
        if self.open:
            self.open[-1].children.append(node)
        else:
            self.root = node
        self.open.append(node)
        self.texts.append([])

    def characters(self, text: str) -> None:
        if text.strip():
            self.texts[-1].append(text)

    def end(self, _tag: str) -> None:
        self.open.pop().content = " ".join(self.texts.pop()).strip()

    def refuse_doctype(self, *_: object) -> None:
        where = f"{self.shown}:{self.line}"
        fix = "Take the DOCTYPE out, and write what its entities stand for."
        raise ModelError(message(where, "a document type declaration", "DOCTYPE", "none: entities are refused", fix))


def quoted(value: str) -> str:
    """The value of an attribute as it is written, in quotes."""
    from xml.sax.saxutils import quoteattr  # loads urllib, which runs do not need

    return quoteattr(value)


def write_xml(root: XmlElement) -> tuple[str, list[XmlElement]]:
    """A tree as text, one element a line, and the element of each line.

    A parser that reports line n of this text means the element [n - 1] of the list.
    """
    lines: list[str] = []
    nodes: list[XmlElement] = []
    waiting: list[XmlElement | tuple[str, XmlElement]] = [root]
    while waiting:
        item = waiting.pop()
        if isinstance(item, tuple):
            lines.append(item[0])
            nodes.append(item[1])
            continue
        head = " ".join([item.tag, *(f"{name}={quoted(value)}" for name, value in item.attributes.items())])
        lines.append(f"<{head}>" if item.children else f"<{head}/>")
        nodes.append(item)
        if item.children:
            waiting.append((f"</{item.tag}>", item))
            waiting += reversed(item.children)
    return "\n".join(lines), nodes
