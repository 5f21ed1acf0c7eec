"""A scalar without a value: run a formula on it and read whether time enters the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from polhode.scalar.functions import NUMBERS


class Unknown:
    """A number, or a condition, of which is known only whether time enters it.

    Products with 0 are 0, sums with 0 leave the other term; a choice (`where`) depends on its condition and on both
    branches, unless these are one and the same number. All other operations give an Unknown.
    """

    __slots__ = ("of_time",)
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, of_time: bool = False) -> None:
        self.of_time = of_time

    def _with(self, *others: Any) -> Any:
        if not all(isinstance(x, (Unknown, *NUMBERS)) for x in others):
            return NotImplemented  # a vector multiplies its own components
        return Unknown(self.of_time or any(map(time_enters, others)))

    def __add__(self, other: Any) -> Any:
        return self if _is_zero(other) else self._with(other)

    def __mul__(self, other: Any) -> Any:
        return 0.0 if _is_zero(other) else self._with(other)

    def __rtruediv__(self, other: Any) -> Any:
        return 0.0 if _is_zero(other) else self._with(other)

    def __pow__(self, exponent: Any) -> Any:
        return 1.0 if _is_zero(exponent) else self._with(exponent)

    __radd__, __sub__, __rsub__, __rmul__ = __add__, __add__, __add__, __mul__

    def where(self, yes: Any, no: Any) -> Any:
        """A choice between two numbers."""
        same = not isinstance(yes, Unknown) and not isinstance(no, Unknown) and yes == no
        return yes if same else self._with(yes, no)

    def __bool__(self) -> bool:
        raise TypeError("an unknown number decides nothing: use polhode.where")


def _any_number_of() -> Callable[..., Any]:
    return lambda self, *others: self._with(*others)


for _name in (
    "__truediv__", "__rpow__", "__neg__", "__pos__", "__abs__", "__lt__", "__gt__", "__le__", "__ge__", "__eq__",
    "__ne__", "__and__", "__rand__", "__or__", "__ror__", "__invert__", "sin", "cos", "tan", "asin", "acos", "exp",
    "log", "sqrt", "atan2", "ratan2",
):  # fmt: skip
    setattr(Unknown, _name, _any_number_of())


def time_enters(x: Any) -> bool:
    """Whether time enters a number that a formula gave."""
    return isinstance(x, Unknown) and x.of_time


def _is_zero(x: Any) -> bool:
    return isinstance(x, NUMBERS) and bool(x == 0)
