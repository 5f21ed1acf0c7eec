"""A scalar that counts: run a formula on it and read how many operations one evaluation takes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any


class Count:
    """A float that notes each operation done with it in a shared counter.

    Products with 0 and 1 and sums with 0 are free, and operations on plain floats are not seen at
    all: constants of the body are folded, as a compiler folds them.
    """

    __slots__ = ("tally", "value")
    __array_ufunc__ = None

    def __init__(self, value: float, tally: Counter) -> None:
        self.value, self.tally = float(value), tally

    def _note(self, kind: str, value: float) -> Count:
        self.tally[kind] += 1
        return Count(value, self.tally)

    def __add__(self, other: Any) -> Any:
        if _is(other, 0):
            return self
        return self._note("add", self.value + _value(other))

    def __radd__(self, other: Any) -> Any:
        return self + other

    def __sub__(self, other: Any) -> Any:
        if _is(other, 0):
            return self
        return self._note("add", self.value - _value(other))

    def __rsub__(self, other: Any) -> Any:
        if _is(other, 0):
            return -self
        return self._note("add", _value(other) - self.value)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, tuple):
            return NotImplemented  # a vector multiplies its own components
        if _is(other, 0):
            return 0.0
        if _is(other, 1):
            return self
        return self._note("multiply", self.value * _value(other))

    def __rmul__(self, other: Any) -> Any:
        return self * other

    def __truediv__(self, other: Any) -> Any:
        if _is(other, 1):
            return self
        if isinstance(other, Count):
            return self._note("divide", self.value / other.value)
        return self._note("multiply", self.value / other)

    def __rtruediv__(self, other: Any) -> Any:
        if _is(other, 0):
            return 0.0
        return self._note("divide", other / self.value)

    def __neg__(self) -> Count:
        return Count(-self.value, self.tally)

    def __abs__(self) -> Count:
        return Count(abs(self.value), self.tally)

    def __lt__(self, other: Any) -> bool:
        self.tally["compare"] += 1
        return self.value < _value(other)

    def __gt__(self, other: Any) -> bool:
        self.tally["compare"] += 1
        return self.value > _value(other)

    def __le__(self, other: Any) -> bool:
        return not self > other

    def __ge__(self, other: Any) -> bool:
        return not self < other

    def atan2(self, other: Any) -> Count:
        """Angle of the point (other, self)."""
        return self._note("function", math.atan2(self.value, _value(other)))


def _unary(name: str) -> Callable[[Count], Count]:
    def method(self: Count) -> Count:
        return self._note("root" if name == "sqrt" else "function", getattr(math, name)(self.value))

    return method


for _name in ("sin", "cos", "tan", "asin", "acos", "exp", "log", "sqrt"):
    setattr(Count, _name, _unary(_name))


def _value(x: Any) -> float:
    return x.value if isinstance(x, Count) else x


def _is(x: Any, constant: int) -> bool:
    return not isinstance(x, Count) and x == constant
