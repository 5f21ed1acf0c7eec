"""Keys of the data of force elements and constraints: what each holds, its unit, how files and equations call it."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.errors import ModelError, fault_of_name, message
from polhode.model.numbers import number, numbers, plain
from polhode.scalar import UNIT_TOLERANCE, is_list, shown

SIZES = {"vector": 3, "direction": 3, "quaternion": 4}
"""How many numbers a key of this sort holds."""

NUMERIC = ("number", "limit", "numbers", "array", "named", *SIZES)
"""Sorts of keys that hold numbers of the machine: each of these has a path, a unit and a derivative."""

POSITIVE: tuple[Callable[[float], bool], str] = (lambda x: 0 < x < math.inf, "metres, above 0")
NOT_NEGATIVE: tuple[Callable[[float], bool], str] = (lambda x: 0 <= x < math.inf, "metres, at least 0")
ABOVE_ZERO: tuple[Callable[[float], bool], str] = (lambda x: 0 < x < math.inf, "above 0")
AT_LEAST_ONE: tuple[Callable[[float], bool], str] = (lambda x: 1 <= x < math.inf, "at least 1")
AT_LEAST_ZERO: tuple[Callable[[float], bool], str] = (lambda x: 0 <= x < math.inf, "at least 0")


@dataclass(frozen=True)
class Key:
    """One entry of the data of a force element or a constraint.

    holds     "number", "limit" (one that may be infinite), "numbers" (two or more), "vector", "direction" (three),
              "quaternion" (four, of unit length); "array" (any count of numbers, or rows of as many each) and "named"
              (numbers by name), () for none; "body", "joint" (their names), "pairs" (of bodies), "axis" (the place of
              a coordinate among those of its joint), "power" (an exponent, fixed), "seconds" (a time, fixed), "sizes"
              (lengths of pictures, m: no numbers of the equations), "word",
              "flag" (true or false), "function", "rows" (a count, or names)
    text      what it is, for the schema of model files
    unit      of its numbers, in SI; "1" for pure numbers, "" where it is not known
    letter    what equations call it; "" where its numbers are written out
    needed    whether it must be given
    range     what a number must be: a test, and how that is said
    of_time   whether a function of time may stand for its numbers
    choices   the words it may be
    in_files  whether a model file may give it
    variables the arguments of a function, by which an expression of a file calls them; () where files give none
    fixed_to  of a vector, direction or quaternion: the key of the body in whose axes it is, a vector being a point.
              Where that body's frame becomes another (`ForceElement.moved`), so do its numbers; "" where it is none
    """

    holds: str
    text: str = ""
    unit: str = ""
    letter: str = ""
    needed: bool = False
    range: tuple[Callable[[float], bool], str] | None = None
    of_time: bool = False
    choices: tuple[str, ...] = ()
    in_files: bool = True
    variables: tuple[str, ...] = ()
    fixed_to: str = ""

    @property
    def is_numeric(self) -> bool:
        """Whether it holds numbers of the machine."""
        return self.holds in NUMERIC

    def checked(self, where: str, name: str, value: Any) -> Any:
        """A value as records keep it, or a ModelError."""
        if self.of_time and callable(value):
            return value
        if self.holds == "limit" and isinstance(value, float) and math.isinf(value):
            return value
        if self.holds in ("number", "limit"):
            return self._number(where, name, value)
        if self.holds == "numbers":
            if not isinstance(value, tuple) or len(value) < 2:
                raise ModelError(message(f"{where}, {name}", "not several numbers", repr(value), self.text))
            return numbers(where, name, value, len(value))
        if self.holds == "array":
            return _array(where, name, value, self.text)
        if self.holds == "named":
            return _named(where, name, value)
        if self.holds in SIZES:
            found = numbers(where, name, value, SIZES[self.holds])
            _check_length(f"{where}, {name}", self.holds, plain(found))
            return found
        if self.holds == "pairs":
            return _pairs(f"{where}, {name}", value)
        if self.holds == "power":
            return plain(self._number(where, name, value))
        return self._other(f"{where}, {name}", value)

    def _number(self, where: str, name: str, value: Any) -> Any:
        if self.range:
            (is_good, expected), found = self.range, plain(value)
            if isinstance(found, bool) or not isinstance(found, (int, float, np.number)) or not is_good(float(found)):
                raise ModelError(message(f"{where}, {name}", "out of range", repr(found), expected))
        return number(where, name, value)

    def _other(self, place: str, value: Any) -> Any:
        if self.choices and (not isinstance(value, str) or value not in self.choices):
            expected = " or ".join(map(repr, self.choices))
            raise ModelError(message(place, "unknown", repr(value), expected))
        if self.holds == "function" and not callable(value):
            expected = self.text or "a function on generic scalars"
            raise ModelError(message(place, "not a function", repr(value), expected))
        if self.holds == "flag" and not isinstance(value, bool):
            raise ModelError(message(place, "neither true nor false", repr(value), "True or False"))
        if self.holds == "seconds" and (
            isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf
        ):
            raise ModelError(message(place, "not a time", repr(value), "seconds, above 0"))
        if self.holds == "axis" and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
            raise ModelError(message(place, "not a place", repr(value), "0, 1, … of a coordinate of the joint"))
        if self.holds == "rows":
            _check_rows(place, value)
        return _sizes(place, value, self.text) if self.holds == "sizes" else value


def _array(where: str, name: str, value: Any, text: str) -> tuple:
    """Numbers, or rows of numbers, as many in each."""
    entries = tuple(value) if is_list(value) else None
    if entries is None:
        raise ModelError(message(f"{where}, {name}", "not numbers", shown(value), text))
    if not any(map(is_list, entries)):
        return numbers(where, name, value, len(entries))
    if not all(map(is_list, entries)) or len({len(row) for row in entries}) > 1:
        raise ModelError(message(f"{where}, {name}", "rows of different length", shown(value), text))
    return tuple([numbers(where, name, row, len(row)) for row in entries])


def _sizes(place: str, value: Any, text: str) -> tuple[float, ...]:
    """Lengths, 0 or more each."""
    entries: list[Any] = [plain(x) for x in value] if is_list(value) else [None]
    if not all(isinstance(x, (int, float)) and not isinstance(x, bool) and 0 <= x < math.inf for x in entries):
        raise ModelError(message(place, "not lengths", shown(value), text))
    return tuple(float(x) for x in entries)


def _pairs(place: str, value: Any) -> tuple[tuple[str, str], ...]:
    """Pairs of names of bodies."""
    entries = [tuple(pair) if is_list(pair) else () for pair in value] if is_list(value) else [()]
    if not all(len(pair) == 2 and all(isinstance(x, str) for x in pair) for pair in entries):
        raise ModelError(message(place, "not pairs of bodies", shown(value), "as [('wheel', 'rail'), …]"))
    if same := next((pair for pair in entries if pair[0] == pair[1]), None):
        raise ModelError(message(place, "a body with itself", repr(same), "two bodies"))
    if len({frozenset(pair) for pair in entries}) < len(entries):
        raise ModelError(message(place, "a pair twice", shown(value), "each once"))
    return tuple(entries)


def _named(where: str, name: str, value: Any) -> Any:
    """Numbers by name, a mapping; () where there are none."""
    if isinstance(value, tuple) and not value:
        return value
    if not isinstance(value, Mapping) or any(map(fault_of_name, value)):
        raise ModelError(message(f"{where}, {name}", "not numbers by name", shown(value), "as {'c': 0.3}"))
    return {key: number(where, f"{name}.{key}", x) for key, x in value.items()} or ()


def _check_length(place: str, sort: str, value: tuple[float, ...]) -> None:
    size = math.hypot(*value)
    if sort == "direction" and not size > 0:
        raise ModelError(message(place, "is zero", "(0, 0, 0)", "a direction"))
    if sort == "quaternion" and abs(size - 1) > UNIT_TOLERANCE:
        fix = "Order is (w, x, y, z)."
        raise ModelError(message(place, "not a unit quaternion", f"norm {size:.9g}", "1", fix))


def _check_rows(place: str, value: Any) -> None:
    named = isinstance(value, tuple) and value and not any(map(fault_of_name, value))
    if not named and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        expected = "how many numbers the function gives, or a name for each"
        raise ModelError(message(place, "not a count", repr(value), expected))
    if named and len(set(value)) < len(value):
        raise ModelError(message(place, "one name twice", repr(value), "different names"))
