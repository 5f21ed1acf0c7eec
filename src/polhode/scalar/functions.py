"""Elementary functions of any scalar: a float, a NumPy batch, a symbol, a number of many digits.

A function asks its argument for a method of its own name (tracer symbols and counting scalars have
them); a Python float goes to `math`; SymPy's and mpmath's numbers go to their own library; all else
goes to NumPy.
"""

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

Scalar = Any
"""A float, a NumPy array (a batch), a symbol: anything with + − * /."""

NUMBERS = (int, float, np.integer, np.floating, np.bool_)
"""Scalars that are one number each, known."""

LIBRARIES = {"sympy", "mpmath"}
"""Scalars without methods of these names, whose library has functions of these names."""


def _library(x: Scalar) -> Any:
    root = type(x).__module__.partition(".")[0]
    return sys.modules[root] if root in LIBRARIES else None


def _unary(name: str, meaning: str) -> Callable[[Scalar], Scalar]:
    on_float, on_array = getattr(math, name), getattr(np, name)

    def function(x: Scalar) -> Scalar:
        if type(x) is float:
            try:
                return on_float(x)
            except (ValueError, OverflowError):  # NaN and infinities, as NumPy gives them
                with np.errstate(all="ignore"):
                    return float(on_array(x))
        if method := getattr(x, name, None):
            return method()
        if library := _library(x):
            return getattr(library, name)(x)
        return on_array(x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{meaning} of any scalar."
    return function


def _binary(
    name: str, library_name: str, meaning: str, on_array: Callable[[Scalar, Scalar], Scalar]
) -> Callable[[Scalar, Scalar], Scalar]:
    def function(x: Scalar, y: Scalar) -> Scalar:
        if type(x) is float and type(y) is float:
            return float(on_array(x, y))
        if method := getattr(x, name, None):
            return method(y)
        if method := getattr(y, "r" + name, None):
            return method(x)
        if library := _library(x) or _library(y):
            return getattr(library, library_name)(x, y)
        return on_array(x, y)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{meaning}, for any scalars."
    return function


def _angle(y: Scalar, x: Scalar) -> Scalar:
    """atan2 of arrays; of complex numbers to first order in their imaginary parts (complex steps)."""
    a, b = np.real(y), np.real(x)
    if not (np.iscomplexobj(y) or np.iscomplexobj(x)):
        return np.atan2(a, b)
    return np.atan2(a, b) + 1j * (b * np.imag(y) - a * np.imag(x)) / (a * a + b * b)


sin = _unary("sin", "Sine")
cos = _unary("cos", "Cosine")
tan = _unary("tan", "Tangent")
asin = _unary("asin", "Arc sine")
acos = _unary("acos", "Arc cosine")
exp = _unary("exp", "Exponential")
log = _unary("log", "Natural logarithm")
sqrt = _unary("sqrt", "Square root")
atan2 = _binary("atan2", "atan2", "Angle of the point (second, first argument)", _angle)


def where(condition: Any, yes: Scalar, no: Scalar) -> Scalar:
    """`yes` where the condition holds, else `no`; both may be vectors.

    The only way to branch on a value: on a symbol there is nothing to decide yet.
    """
    if condition is True or condition is False or isinstance(condition, np.bool_):
        return yes if condition else no
    if isinstance(yes, tuple):
        return type(yes)(where(condition, a, b) for a, b in zip(yes, no, strict=True))
    if method := getattr(condition, "where", None):
        return method(yes, no)
    if library := _library(condition):
        if condition in (library.true, library.false):
            return yes if condition else no
        return library.Piecewise((yes, condition), (no, True))
    return np.where(condition, yes, no)


def equal(x: Scalar, y: Scalar) -> Any:
    """Whether two scalars are equal; of symbols the condition that they are."""
    equation = getattr(_library(x) or _library(y), "Eq", None)
    return equation(x, y) if equation else x == y


def real_part(x: Scalar) -> Scalar:
    """What comparisons look at: the real part of complex numbers (complex steps), any other scalar itself."""
    return getattr(x, "real", x)


def is_zero(x: Scalar) -> bool:
    """Whether a scalar is a structural zero: 0 whatever the state is. Symbols answer by the method
    `is_structural_zero`."""
    if method := getattr(x, "is_structural_zero", None):
        return method()
    return isinstance(x, NUMBERS) and bool(x == 0)


def minimum(x: Scalar, y: Scalar) -> Scalar:
    """The smaller of two scalars."""
    return where(y < x, y, x)


def maximum(x: Scalar, y: Scalar) -> Scalar:
    """The larger of two scalars."""
    return where(y > x, y, x)
