"""YAML text → plain data (mappings, lists, text, numbers) that remembers the line of every value.

ruamel.yaml splits the text; what the pieces mean is decided here, by the core schema of YAML 1.2. No tag
is obeyed, so nothing but plain data can come out, and what aliases repeat is counted before it is used.
"""

import re
from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from polhode.errors import InputError, ModelError, escaped, message
from polhode.formats import fast_yaml
from polhode.formats.fast_yaml import NumberRow

LARGEST = 16_000_000
"""Bytes that a file may have."""
DEEPEST = 50
"""Depth to which mappings and lists may be nested."""
MOST = 500_000
"""Values that a file may have, those that aliases repeat included."""

WHOLE_LARGEST, WHOLE_MOST = 2_000_000, 100_000
"""Most characters, and keys and values, of a file that needs all of YAML (anchors, tabs): read ten times slower."""

_LONG_TAG = re.compile(r"![^\s]{1000}")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_INTEGER = re.compile(r"[-+]?[0-9]{1,18}")
_WORDS: dict[str, Any] = {"": None, "~": None}
_WORDS |= {word: value for text, value in [("null", None), ("true", True), ("false", False)]
           for word in (text, text.capitalize(), text.upper())}  # fmt: skip
_WORDS |= {sign + word: float(f"{sign}inf") for sign in ("", "+", "-") for word in (".inf", ".Inf", ".INF")}
_WORDS |= dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan"))

_SIGNS = frozenset("0123456789+-.")
"""What numbers begin with."""

Path_ = tuple[str | int, ...]
"""The keys and indices that lead to a value."""


@dataclass(frozen=True)
class Document:
    """The data of a file, and where each value of it stands.

    marks  for a value its line, or (line, marks of the values in it by key or place); offsets where there is a text
    """

    where: str
    data: Any
    marks: Any
    text: str | None = None

    def find(self, path: Path_) -> tuple[int, bool]:
        """The line of a value, or of the nearest one around it that the file has, and whether it has the value."""
        mark = self.marks
        for key in path:
            inner: Any = None if isinstance(mark, int) else mark[1]
            try:
                inner = inner.offsets(self.text or "") if isinstance(inner, NumberRow) else inner
                mark = inner[key]
            except (LookupError, TypeError):
                return self._line(mark), False
        return self._line(mark), True

    def _line(self, mark: Any) -> int:
        at = mark if isinstance(mark, int) else mark[0]
        return at if self.text is None else self.text.count("\n", 0, at) + 1

    def line(self, path: Path_) -> int:
        """The line of a value, or of the nearest one around it that the file has."""
        return self.find(path)[0]

    def place(self, path: Path_) -> str:
        """Where a value stands, as errors say it: file:line, path."""
        head = f"{self.where}:{self.line(path)}"
        return f"{head}, {'.'.join(escaped(str(part)[:200]) for part in path)}" if path else head


def read_text(path: Path) -> str:
    """The text of a file of bounded size."""
    try:
        if path.exists() and not path.is_file():
            raise InputError(message(str(path), "not a file", "a folder or a device", "a model file"))
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(message(str(path), "cannot be read", reason, "a file that may be read")) from None
    if len(content) > LARGEST:
        found = f"{path.stat().st_size / 1e6:.0f} MB"
        fix = "A larger polhode.formats.document.LARGEST lets it pass."
        expected = f"at most {LARGEST / 1e6:.0f} MB"
        raise ModelError(message(str(path), "too large for a model file", found, expected, fix))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        found = f"byte 0x{content[error.start]:02x}"
        raise ModelError(message(f"{path}:{line}", "not text in UTF-8", found, "UTF-8")) from None


def scalar(text: str) -> Any:
    """What a word without quotes means: a number, true, false, null, or itself."""
    if text[:1] not in _SIGNS:
        return _WORDS.get(text, text)
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text


def read_document(text: str, where: str, tags: Set[str] = frozenset()) -> Document:
    """The one document of a YAML text.  tags: those that are passed over, all others are refused"""
    plain = text.replace("\r\n", "\n") + "\n"

    def fault(at: int, what: str, found: str, expected: str) -> ModelError:
        return ModelError(message(f"{where}:{plain.count(chr(10), 0, at) + 1}", what, found, expected))

    try:  # most files
        return Document(where, *fast_yaml.read(plain, scalar, fast_yaml.Limit(DEEPEST, MOST, fault)), plain)
    except fast_yaml.Beyond as beyond:
        return read_whole(text, where, plain.count("\n", 0, beyond.at) + 1, tags)


def read_whole(text: str, where: str, line: int = 1, tags: Set[str] = frozenset()) -> Document:
    """The one document of a YAML text, with all that YAML has.

    line  where it is not plain any more, about
    tags  those that are passed over
    """
    if len(text) > WHOLE_LARGEST:
        raise _too_much(where, line, f"{len(text) / 1e6:.1f} MB", f"at most {WHOLE_LARGEST / 1e6:.0f} MB of it")
    if found := _LONG_TAG.search(text):
        place = f"{where}:{text.count(chr(10), 0, found.start()) + 1}"
        raise ModelError(message(place, "a tag", f"'{found[0][:20]}…'", "plain data"))
    builder = _YamlBuilder(where, line, tags)
    for event in _events(text, where):
        builder.take(event)
    if not builder.found:
        raise ModelError(message(where, "an empty file", "no data", "a model: name, bodies, joints"))
    return Document(where, *builder.found[0])


def _too_much(where: str, line: int, found: str, expected: str) -> ModelError:
    fix = "Larger files are lists and mappings of values on one line each: no anchors, tags, tabs, folded text."
    return ModelError(message(f"{where}:{line}", "too much that is not plain YAML, or a fault", found, expected, fix))


def _events(text: str, where: str) -> Iterator[Any]:
    """The YAML events of a text, every error of ruamel.yaml as a ModelError."""
    from ruamel.yaml import YAML  # most files do without, and it takes as long to import as they to be read
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        yield from YAML(typ="safe", pure=True).parse(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{where}:{mark.line + 1}" if mark else where
        found = repr(text.splitlines()[mark.line].strip()[:60]) if mark and mark.line < text.count("\n") else "its end"
        fix = f"The reader says: {' '.join(filter(None, (error.problem, error.context)))}."
        raise ModelError(message(place, "not YAML", found, "keys and values, indented by spaces", fix)) from None
    except YAMLError as error:
        reason = " ".join(str(error).split())
        raise ModelError(message(where, "not YAML", reason, "text that can be printed")) from None
    except (ValueError, OverflowError, AssertionError, AttributeError, IndexError, TypeError) as error:
        raise ModelError(message(where, "not YAML", str(error) or "an odd text", "keys and values")) from None


@dataclass
class _Open:
    """A mapping or list that is being read."""

    value: dict | list
    line: int
    anchor: str | None
    marks: Any
    key: str | None = None
    key_line: int = 0
    size: int = 1


@dataclass
class _YamlBuilder:
    """Builds data from YAML events, without recursion."""

    where: str
    line: int
    tags: Set[str] = frozenset()
    stack: list[_Open] = field(default_factory=list)
    found: list = field(default_factory=list)
    anchors: dict[str, tuple[Any, int]] = field(default_factory=dict)
    count: int = 0
    pieces: int = 0

    def take(self, event: Any) -> None:
        """Take the next event."""
        self.pieces += 1
        if self.pieces > WHOLE_MOST:
            raise _too_much(self.where, self.line, f"more than {WHOLE_MOST} values", f"at most {WHOLE_MOST}")
        kind = type(event).__name__
        line = event.start_mark.line + 1 if event.start_mark else 1
        if kind in ("ScalarEvent", "MappingStartEvent", "SequenceStartEvent"):
            if event.tag not in (None, "!") and str(event.tag) not in ("None", "!", *self.tags):
                fix = "Files are data: nothing in them is constructed or run. Leave the tag out."
                raise self.fault(line, "a tag", f"'{str(event.tag)[:60]}'", "plain data", fix)
            if not self.stack and self.found:
                raise self.fault(line, "a second document", "'---'", "one model in a file")
        if kind == "ScalarEvent":
            self._scalar(event, line)
        elif kind in ("MappingStartEvent", "SequenceStartEvent"):
            self._open({} if kind == "MappingStartEvent" else [], event.anchor, line)
        elif kind in ("MappingEndEvent", "SequenceEndEvent"):
            self._close()
        elif kind == "AliasEvent":
            self._alias(event.anchor, line)

    def fault(self, line: int, what: str, found: str, expected: str, fix: str = "") -> ModelError:
        """An error at a line."""
        return ModelError(message(f"{self.where}:{line}", what, found, expected, fix))

    def _scalar(self, event: Any, line: int) -> None:
        top = self.stack[-1] if self.stack else None
        if top and isinstance(top.value, dict) and top.key is None:
            self._key(top, event.value, line)
            return
        self._count(1, line)
        value = scalar(event.value) if not event.style else event.value
        if event.anchor:
            self.anchors[event.anchor] = (value, 1)
        self._put(value, line, 1)

    def _key(self, top: _Open, name: str, line: int) -> None:
        if name == "<<":
            raise self.fault(line, "a merge key", "'<<'", "every value written out, or an alias for a whole value")
        if name in top.value:
            mark = top.marks[name]
            first = mark if isinstance(mark, int) else mark[0]
            raise self.fault(line, "a key twice", f"'{escaped(name[:60])}', first in line {first}", "each name once")
        top.key, top.key_line = name, line

    def _check_key(self, line: int) -> None:
        """A name must stand before what is put into a mapping."""
        if self.stack and isinstance(self.stack[-1].value, dict) and self.stack[-1].key is None:
            raise self.fault(line, "a mapping or list as a key", "not text", "a name before the colon")

    def _open(self, value: dict | list, anchor: str | None, line: int) -> None:
        if len(self.stack) >= DEEPEST:
            raise self.fault(line, "nested too deeply", f"more than {DEEPEST} levels", "about five")
        self._count(1, line)
        self._check_key(line)
        self.stack.append(_Open(value, line, anchor, type(value)()))

    def _close(self) -> None:
        done = self.stack.pop()
        if done.anchor:
            self.anchors[done.anchor] = (done.value, done.size)
        self._put(done.value, done.line, done.size, done.marks)

    def _alias(self, anchor: str, line: int) -> None:
        if anchor not in self.anchors:
            raise self.fault(line, "an alias of nothing", f"'*{anchor[:60]}'", "an anchor '&name' that ends before it")
        value, size = self.anchors[anchor]
        self._count(size, line)
        self._put(value, line, size)

    def _count(self, size: int, line: int) -> None:
        self.count += size
        if self.count > MOST:
            fix = "Aliases count as often as they repeat a value." if self.anchors else ""
            raise self.fault(line, "too many values", f"more than {MOST}", "a smaller model", fix)

    def _put(self, value: Any, line: int, size: int, marks: Any = None) -> None:
        self._check_key(line)
        if not self.stack:
            self.found.append((value, (line, marks)))
            return
        top = self.stack[-1]
        top.size += size
        if isinstance(top.value, list):
            top.value.append(value)
            top.marks.append((line, marks))
        else:
            top.value[top.key] = value
            top.marks[top.key] = (top.key_line, marks)
            top.key = None
