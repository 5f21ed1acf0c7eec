"""The YAML that model files are mostly written in, read fast: block and flow collections of one-line scalars.

Runs of plain numbers are taken at once. Whatever else YAML has (tags, anchors, folded text, escapes, tabs), and
whatever might be a fault of syntax, is not read here but by the whole reader in `document`.
"""

import json
import re
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from polhode.errors import escaped

_NUM = r"-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?"  # the same number in JSON and in YAML
_LETTER = r"(?![\ud800-\U0010ffff])[^\x00-\xa0]"  # \u00a1 to \ud7ff: as one range it takes re 3 ms to compile
_FIRST = rf"(?:[A-Za-z0-9_(+~]|{_LETTER}|-(?=[A-Za-z0-9(.])|\.(?=[A-Za-z0-9]))"
_QUOTED = r"""(?:"[^"\\\n]*"|'[^'\n]*')"""
_KEY = rf"""({_FIRST}[^\n:#,\[\]{{}}&*!|>%@`"']{{0,200}}|{_QUOTED})"""
_SPACE = r"(?>[ \n]*(?:(?<=[ \n])#[^\n]*[ \n]*)*)"
_END = r"(?>(?:(?<= )#[^\n]*)?)\n"
_ROW = rf"\[[ \n]*{_NUM}(?>(?:[ \n]*,[ \n]*{_NUM})*)[ \n]*\]"
_VALUE = rf"(?:({_NUM})(?=[ \n]*[,\]}}])|({_ROW})|({_FIRST}[^\n,\[\]{{}}:#]*)|({_QUOTED})|([\[{{]))"
_SIMPLE = rf"({_NUM}) *\n|({_FIRST}[^\n:#]*){_END}"

_OTHER = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_HEAD = re.compile(r"(?>(?: *(?:#[^\n]*)?\n)*)(?:--- *\n)?")
_INDENT = re.compile(r"(?>(?: *(?:#[^\n]*)?\n)*)( *)")
_PAIR = re.compile(rf"""{_KEY} *:(?: +(?:{_SIMPLE}|(?=[\[{{"']))| *{_END})""")
_ITEM = re.compile(rf"-(?: +(?:{_SIMPLE}|(?=[^ \n#]))| *{_END})")
_FLOW_PAIR = re.compile(rf"{_SPACE}{_KEY} *:(?=[ \n]){_SPACE}{_VALUE}")
_FLOW_ITEM = re.compile(rf"{_SPACE}{_VALUE}")
_NEXT = re.compile(rf"{_SPACE}(?:,(?:{_SPACE}([\]}}]))?|([\]}}]))")
_CLOSED = re.compile(rf"{_SPACE}([\]}}])")
_REST = re.compile(rf" *{_END}")
_ROW_ALONE, _QUOTED_ALONE, _WORD = re.compile(_ROW), re.compile(_QUOTED), re.compile(_NUM)


_IS_NUMBER, _IS_ROW, _IS_WORD, _IS_QUOTED, _IS_OPENER = range(1, 6)  # the groups of _VALUE
_JSON = json.JSONDecoder()


class Beyond(Exception):
    """Not written in the way that is read here; `at` is about where."""

    def __init__(self, at: int = 0) -> None:
        super().__init__(at)
        self.at = at


class Limit(NamedTuple):
    """What a document may have at most, and how a fault at an offset is made of what, found and expected."""

    depth: int
    values: int
    fault: Callable[[int, str, str, str], Exception]


class NumberRow(NamedTuple):
    """The place in the text of a list of numbers that was read at once."""

    start: int
    end: int

    def offset(self, text: str, k: int) -> int:
        """Where number k begins."""
        return self.offsets(text)[k]

    def offsets(self, text: str) -> list[int]:
        """Where each number begins."""
        return [found.start() for found in _WORD.finditer(text, self.start, self.end)]


def read(text: str, scalar: Callable[[str], Any], limit: Limit) -> tuple[Any, Any]:
    """The data of a text that ends with a line break, and their marks: offsets, or (offset, marks of the values in it).

    scalar  what a word without quotes means
    """
    if other := _OTHER.search(text):
        raise Beyond(other.start())
    start = _HEAD.match(text)
    reader = _FastReader(text, scalar, limit)
    at, column = reader.margin(start.end() if start else 0)
    try:
        value, marks, at, column = reader.node(at, column, 0)
        if column >= 0:
            raise Beyond
    except Beyond:
        raise Beyond(reader.last) from None
    return value, marks


@cache
def _column(indent: int) -> re.Pattern[str]:
    """Lines with one number each, items of a list at a column; the first one without its margin."""
    return re.compile(rf"- {_NUM} *\n(?>(?: {{{indent}}}- {_NUM} *\n)+)")


ReadValue = tuple[Any, Any, int, int]
"""A value, its mark, and where the next line with something on it begins, with its column; −1: none does."""
_DASH = ("- ", "-\n")


class _FastReader:
    """A text being read, with the number of values so far."""

    def __init__(self, text: str, scalar: Callable[[str], Any], limit: Limit) -> None:
        self.text, self.scalar, self.limit = text, scalar, limit
        self.count = self.last = 0

    def margin(self, at: int) -> tuple[int, int]:
        """Where the next line with something on it begins, and its column."""
        found = _INDENT.match(self.text, at)
        if found is None or found.end() == len(self.text):
            return len(self.text), -1
        return found.end(), len(found[1])

    def _counted(self, at: int) -> None:
        """Count one more value."""
        self.count, self.last = self.count + 1, at
        if self.count > self.limit.values:
            raise self.limit.fault(at, "too many values", f"more than {self.limit.values}", "a smaller model")

    def _opened(self, at: int, depth: int) -> None:
        if depth >= self.limit.depth:
            raise self.limit.fault(at, "nested too deeply", f"more than {self.limit.depth} levels", "about five")
        self._counted(at)

    def _numbers(self, row: NumberRow, body: str = "") -> list:
        """Numbers written as a list of JSON, in the text or in a body of their own."""
        values, _ = _JSON.raw_decode(body or self.text, 0 if body else row.start)
        over = self.limit.values - self.count
        self.count += len(values) - 1
        self._counted(row.offset(self.text, over) if len(values) > over else row.end - 1)
        return values

    def _key(self, text: str, at: int, marks: dict[str, Any]) -> str:
        key = text[1:-1] if text[0] in "\"'" else text.rstrip(" ")
        if key == "<<":
            raise Beyond
        if key in marks:
            first = marks[key] if isinstance(marks[key], int) else marks[key][0]
            line = self.text.count("\n", 0, first) + 1
            raise self.limit.fault(at, "a key twice", f"'{escaped(key[:60])}', first in line {line}", "each name once")
        return key

    # blocks

    def node(self, at: int, column: int, depth: int) -> ReadValue:
        """What begins at an offset, at a column."""
        if self.text.startswith(_DASH, at):
            return self._sequence(at, column, depth)
        if pair := _PAIR.match(self.text, at):
            return self._mapping(pair, column, depth)
        value, mark, end = self._whole(at, depth)
        return value, mark, *self.margin(end)

    def _whole(self, at: int, depth: int) -> tuple[Any, Any, int]:
        """A quoted text or a flow collection, with the line break after it."""
        value, mark, end = self._flow(at, depth) if self.text[at : at + 1] in ("[", "{") else self._quoted(at)
        rest = _REST.match(self.text, end)
        if rest is None:
            raise Beyond
        return value, mark, rest.end()

    def _quoted(self, at: int) -> tuple[str, int, int]:
        found = _QUOTED_ALONE.match(self.text, at)
        if found is None:
            raise Beyond
        self._counted(at)
        return found[0][1:-1], at, found.end()

    def _mapping(self, pair: re.Match[str] | None, column: int, depth: int) -> ReadValue:
        assert pair is not None
        start = pair.start()
        self._opened(start, depth)
        values: dict[str, Any] = {}
        marks: dict[str, Any] = {}
        while pair:
            mark = pair.start()
            key = self._key(pair[1], mark, marks)
            values[key], inner, at, here = self._entry(pair, column, depth)
            marks[key] = mark if isinstance(inner, int) else (mark, inner[1])
            pair = _PAIR.match(self.text, at) if here == column else None
        if here >= column:
            raise Beyond
        return values, (start, marks), at, here

    def _entry(self, found: re.Match[str], column: int, depth: int) -> ReadValue:
        """What stands behind a key, or a dash, of a collection at a column: on its line, or on the lines below."""
        start, at = found.start(), found.end()
        kind = (found.lastindex or 0) - found.re.groups + 2
        if kind > 0:
            self._counted(start)
            text = found[found.lastindex or 0]
            return _number(text) if kind == 1 else self.scalar(text.rstrip(" ")), start, *self.margin(at)
        if self.text[at - 1] != "\n":
            if found.re is _ITEM:
                return self.node(at, column + at - start, depth + 1)
            value, mark, at = self._whole(at, depth + 1)
            return value, mark, *self.margin(at)
        at, here = self.margin(at)
        same = found.re is _PAIR and here == column and self.text.startswith(_DASH, at)
        if here > column or same:
            return self.node(at, here, depth + 1)
        self._counted(start)
        return None, start, at, here

    def _sequence(self, start: int, column: int, depth: int) -> ReadValue:
        self._opened(start, depth)
        values: list[Any] = []
        marks: list[Any] = []
        at, here = start, column
        while here == column and self.text.startswith(_DASH, at):
            if run := _column(column).match(self.text, at):
                body = run[0][2:].replace("\n" + " " * column + "- ", ",")
                row = NumberRow(at, run.end())
                values += self._numbers(row, f"[{body}]")
                at, here = self.margin(run.end())
                if here < column and not marks:
                    return values, (start, row), at, here
                marks += row.offsets(self.text)
                continue
            item = _ITEM.match(self.text, at)
            if item is None:
                raise Beyond
            value, mark, at, here = self._entry(item, column, depth)
            values.append(value)
            marks.append(mark)
        if here > column:
            raise Beyond
        return values, (start, marks), at, here

    # flow

    def _flow(self, start: int, depth: int) -> tuple[Any, Any, int]:
        """A list or mapping in brackets."""
        self._opened(start, depth)
        if found := _ROW_ALONE.match(self.text, start):
            row = NumberRow(start, found.end())
            return self._numbers(row), (start, row), row.end
        is_list = self.text[start] == "["
        values: Any = [] if is_list else {}
        marks: Any = [] if is_list else {}
        at, closer = start + 1, _CLOSED.match(self.text, start + 1)
        while closer is None:
            found = (_FLOW_ITEM if is_list else _FLOW_PAIR).match(self.text, at)
            if found is None:
                raise Beyond
            if is_list:
                value, mark, at = self._flow_value(found, depth)
                values.append(value)
                marks.append(mark)
            else:
                place = found.start(1)
                key = self._key(found[1], place, marks)
                values[key], mark, at = self._flow_value(found, depth)
                marks[key] = place if isinstance(mark, int) else (place, mark[1])
            following = _NEXT.match(self.text, at)
            if following is None:
                raise Beyond
            at, closer = following.end(), following if following.lastindex else None
        if closer[closer.lastindex or 0] != ("]" if is_list else "}"):
            raise Beyond
        return values, (start, marks), closer.end()

    def _flow_value(self, found: re.Match[str], depth: int) -> tuple[Any, Any, int]:
        kind = (found.lastindex or 0) - found.re.groups + 5
        at, end = found.span(found.lastindex or 0)
        if kind == _IS_ROW:
            self._opened(at, depth + 1)
            row = NumberRow(at, end)
            return self._numbers(row), (at, row), end
        if kind == _IS_OPENER:
            return self._flow(at, depth + 1)
        self._counted(at)
        text = self.text[at:end]
        if kind == _IS_NUMBER:
            return _number(text), at, end
        return text[1:-1] if kind == _IS_QUOTED else self.scalar(text.rstrip(" ")), at, end


def _number(text: str) -> int | float:
    return float(text) if "." in text or "e" in text or "E" in text else int(text)
