"""A scalar that carries derivatives: run a formula on it and read its exact directional derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from polhode.errors import NotPlainError, message
from polhode.scalar.functions import acos, asin, atan2, cos, exp, log, sin, sqrt, tan


class Dual:
    """A value with its derivatives along some directions, both of them scalars or NumPy batches.

    The directions are the first axis of `slope`, the batch axes of `value` its last ones. Comparisons
    look at the value; `where` and |x| take the derivative of the branch they are on.
    """

    __slots__ = ("slope", "value")
    __array_ufunc__ = None

    def __init__(self, value: Any, slope: Any) -> None:
        self.value, self.slope = value, slope

    def __float__(self) -> NoReturn:
        found = "float(), or a function of `math`, on a number that carries its derivatives"
        fix = "Use polhode.sin, sqrt, …: they differentiate too."
        raise NotPlainError(
            message("derivatives", "a plain number is needed", found, "operations that every scalar has", fix)
        )

    def __add__(self, other: Any) -> Any:
        value, slope = _parts(other)
        return Dual(self.value + value, self.slope + slope)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        value, slope = _parts(other)
        return Dual(self.value - value, self.slope - slope)

    def __rsub__(self, other: Any) -> Any:
        return Dual(other - self.value, -self.slope)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, tuple):
            return NotImplemented  # a vector multiplies its own components
        if isinstance(other, Dual):
            return Dual(self.value * other.value, self.slope * other.value + self.value * other.slope)
        return Dual(self.value * other, self.slope * other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, Dual):
            value = self.value / other.value
            return Dual(value, (self.slope - value * other.slope) / other.value)
        return Dual(self.value / other, self.slope / other)

    def __rtruediv__(self, other: Any) -> Any:
        value = other / self.value
        return Dual(value, -value * self.slope / self.value)

    def __pow__(self, exponent: Any) -> Any:
        if isinstance(exponent, Dual):
            return exp(exponent * log(self))
        if isinstance(exponent, tuple):
            return NotImplemented
        if not isinstance(exponent, (int, float)):
            return exp(exponent * log(self))
        slope = 0.0 * self.slope if exponent == 0 else exponent * self.value ** (exponent - 1) * self.slope
        return Dual(self.value**exponent, slope)

    def __neg__(self) -> Dual:
        return Dual(-self.value, -self.slope)

    def __abs__(self) -> Dual:
        return Dual(abs(self.value), self.slope * np.where(np.asarray(self.value) < 0, -1.0, 1.0))

    def __lt__(self, other: Any) -> Any:
        return _Condition(self.value < _parts(other)[0])

    def __gt__(self, other: Any) -> Any:
        return _Condition(self.value > _parts(other)[0])

    def __le__(self, other: Any) -> Any:
        return _Condition(self.value <= _parts(other)[0])

    def __ge__(self, other: Any) -> Any:
        return _Condition(self.value >= _parts(other)[0])

    def __eq__(self, other: Any) -> Any:
        return _Condition(self.value == _parts(other)[0])

    __hash__ = None  # type: ignore[assignment]

    def atan2(self, other: Any) -> Dual:
        """Angle of the point (other, self)."""
        x, dx = _parts(other)
        return _angle(self.value, self.slope, x, dx)

    def ratan2(self, other: Any) -> Dual:
        """Angle of the point (self, other)."""
        y, dy = _parts(other)
        return _angle(y, dy, self.value, self.slope)


class _Condition:
    """A truth value, or a batch of them, that can choose between duals."""

    __slots__ = ("holds",)

    def __init__(self, holds: Any) -> None:
        self.holds = holds

    def where(self, yes: Any, no: Any) -> Any:
        """`yes` where it holds, else `no`."""
        (a, da), (b, db) = _parts(yes), _parts(no)
        return Dual(np.where(self.holds, a, b), np.where(self.holds, da, db))

    def __bool__(self) -> bool:
        return bool(self.holds)

    def __and__(self, other: Any) -> _Condition:
        return _Condition(np.logical_and(self.holds, getattr(other, "holds", other)))

    __rand__ = __and__

    def __or__(self, other: Any) -> _Condition:
        return _Condition(np.logical_or(self.holds, getattr(other, "holds", other)))

    __ror__ = __or__

    def __invert__(self) -> _Condition:
        return _Condition(np.logical_not(self.holds))


def _parts(x: Any) -> tuple[Any, Any]:
    return (x.value, x.slope) if isinstance(x, Dual) else (x, 0.0)


def _angle(y: Any, dy: Any, x: Any, dx: Any) -> Dual:
    return Dual(atan2(y, x), (x * dy - y * dx) / (x * x + y * y))


RULES: dict[Callable[[Any], Any], Callable[[Any, Any], Any]] = {
    sin: lambda x, y: cos(x),
    cos: lambda x, y: -sin(x),
    tan: lambda x, y: 1 + y * y,
    asin: lambda x, y: 1 / sqrt(1 - x * x),
    acos: lambda x, y: -1 / sqrt(1 - x * x),
    exp: lambda x, y: y,
    log: lambda x, y: 1 / x,
    sqrt: lambda x, y: 1 / (2 * y),
}
"""Derivative of each function at x, where its value is y."""


def _unary(function: Callable[[Any], Any], rule: Callable[[Any, Any], Any]) -> Callable[[Dual], Dual]:
    def method(self: Dual) -> Dual:
        y = function(self.value)
        return Dual(y, rule(self.value, y) * self.slope)

    return method


for _function, _rule in RULES.items():
    setattr(Dual, _function.__name__, _unary(_function, _rule))
