"""Numbers and functions written as expressions in model files: "2*m1 + pi/4". A small parser; nothing is executed.

sum      product, then + or − product, …
product  sign, then * or / sign, …
sign     any number of + and −, then power
power    atom, then ^ sign               (from the right: 2^3^2 is 2^9)
atom     number, name, pi, function(sum, …), where(sum < sum, sum, sum), (sum)
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from polhode import scalar
from polhode.errors import did_you_mean
from polhode.model.number_units import dimension_of
from polhode.model.units import UnitNumber, UnknownUnit, number_with_unit

FUNCTIONS: dict[str, Callable[[float], float]] = {
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": math.log,
    "abs": abs,
}
CALLS: dict[str, tuple[int, Callable[..., Any]]] = {
    "asin": (1, scalar.asin),
    "acos": (1, scalar.acos),
    "sign": (1, lambda x: scalar.where(x > 0, 1.0, scalar.where(x < 0, -1.0, 0.0))),
    "atan2": (2, scalar.atan2),
    "min": (2, scalar.minimum),
    "max": (2, scalar.maximum),
    "where": (3, scalar.where),
    "length": (0, lambda *x: scalar.length(scalar.Vec(x))),
}
"""Further functions, with how many arguments each has, 0 for any count. They are such only before a parenthesis:
elsewhere parameters may be called so."""
COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<=": lambda x, y: x <= y,
    ">=": lambda x, y: x >= y,
    "<": lambda x, y: x < y,
    ">": lambda x, y: x > y,
}
CONSTANTS = {"pi": math.pi}
LONGEST = 1000
"""Characters that an expression may have."""
LARGEST_POWER = 64
"""Largest whole exponent that becomes a product."""
DEEPEST = 40
"""Parentheses and signs that may be nested."""

_NUMBER = r"[0-9]+\.?[0-9]*(?:[eE][-+]?[0-9]+)?|\.[0-9]+(?:[eE][-+]?[0-9]+)?"
_TOKEN = re.compile(rf"\s*(?:({_NUMBER})|([^\W\d]\w*)|(\S))")
_PATH = re.compile(rf"\s*(?:({_NUMBER})|([^\W\d]\w*(?:\.\w+)*)|(\S))")
_NAME = re.compile(r"[^\W\d]\w*")
NO_TOKEN = (None, None, None)


class _Algebra(NamedTuple):
    """The functions that an expression is evaluated with."""

    token: re.Pattern[str]
    functions: Mapping[str, Callable[[Any], Any]]
    power: Callable[[Any, Any], Any]


class Fault(Exception):
    """What is wrong with a value of a file, in the parts of a message; the reader adds where."""

    def __init__(self, what: str, found: str, expected: str, fix: str = "") -> None:
        super().__init__(what)
        self.what, self.found, self.expected, self.fix = what, found, expected, fix


def is_name(text: str) -> bool:
    """Whether an expression may call a parameter by this name."""
    return bool(_NAME.fullmatch(text)) and text not in FUNCTIONS and text not in CONSTANTS


def evaluate(text: str, names: Mapping[str, float]) -> float:
    """The value of an expression; raises a Fault where it has none.

    names  the parameters it may use
    """
    if len(text) > LONGEST:
        raise Fault("an expression too long", f"{len(text)} characters", f"at most {LONGEST}")
    parser = _Parser(text, names)
    try:
        value = parser.sum()
    except ZeroDivisionError:
        raise Fault("a division by zero", repr(text), "a number") from None
    except (ValueError, OverflowError):
        raise Fault("an expression without a value", repr(text), "a finite number") from None
    parser.end()
    if not math.isfinite(value):
        raise Fault("an expression without a value", repr(text), "a finite number")
    return value


def evaluate_with_unit(text: str, names: Mapping[str, float]) -> float:
    """The value of an expression, or of a number with a unit, "30deg", in SI: a `UnitNumber`; raises a Fault."""
    try:
        found = number_with_unit(text) if len(text) <= LONGEST else None
    except UnknownUnit as unknown:
        expected = "m, mm, deg, rpm, kg, N m, N/mm, … or an operator + - * / ^"
        raise Fault("no such unit", f"{unknown.word!r} in {text!r}", expected, unknown.fix) from None
    return evaluate(text, names) if found is None else found


def written_number(text: str) -> UnitNumber | None:
    """The number of a text that is one with a unit; None for any other text."""
    try:
        return number_with_unit(text)
    except UnknownUnit:
        return None


def unit_fault(model: Any, path: Sequence[str | int], number: UnitNumber) -> Fault | None:
    """What is wrong with the unit of a number of a model at a path; None where it fits, or nothing is known of it."""
    known = dimension_of(model, path)
    if not known or any(each.admits(number.dimension) for each in known):
        return None
    found = f"{number.text!r}, which is in {number.dimension}"
    return Fault("a unit of another dimension", found, " or ".join(map(str, known)))


def _power(base: Any, exponent: Any) -> Any:
    """A power on generic scalars: whole exponents by products, all others of positive numbers."""
    if isinstance(exponent, (int, float)) and float(exponent).is_integer() and abs(exponent) <= LARGEST_POWER:
        found: Any = 1.0
        for _ in range(abs(int(exponent))):
            found = found * base
        found = found if exponent >= 0 else 1.0 / found
    else:
        is_root = isinstance(exponent, (int, float)) and exponent == 0.5
        found = scalar.sqrt(base) if is_root else scalar.exp(exponent * scalar.log(base))
    if isinstance(found, float) and not math.isfinite(found):
        raise OverflowError
    return found


_NUMBERS = _Algebra(_TOKEN, FUNCTIONS, math.pow)
_SCALARS = _Algebra(_PATH, {name: getattr(scalar, name, abs) for name in FUNCTIONS}, _power)


def evaluate_on(text: str, names: Mapping[str, Any]) -> Any:
    """The value of an expression on generic scalars (arrays, symbols); raises a Fault where it is none.

    names  may have dots, as paths do: "bodies.arm.mass", "q.hinge"
    """
    if len(text) > LONGEST:
        raise Fault("an expression too long", f"{len(text)} characters", f"at most {LONGEST}")
    parser = _Parser(text, names, _SCALARS)
    try:
        value = parser.sum()
    except ZeroDivisionError:
        raise Fault("a division by zero", repr(text), "a number") from None
    except ArithmeticError:
        raise Fault("an expression without a value", repr(text), "a finite number") from None
    parser.end()
    return value


def names_in(text: str) -> list[str]:
    """The names that an expression asks for, functions and constants apart, each once."""
    tokens = [match.groups() for match in _PATH.finditer(text)]
    found = [
        name
        for (_, name, _), (_, _, sign) in zip(tokens, [*tokens, NO_TOKEN][1:], strict=True)
        if name and not (name in CALLS and sign == "(")
    ]
    return [name for name in dict.fromkeys(found) if name not in FUNCTIONS and name not in CONSTANTS]


class _Parser:
    """The tokens of one expression, read from left to right."""

    def __init__(self, text: str, names: Mapping[str, Any], algebra: _Algebra = _NUMBERS) -> None:
        self.text, self.names, self.algebra = text, names, algebra
        self.tokens = [match.groups() for match in algebra.token.finditer(text)]
        self.at = 0
        self.depth = 0

    def _next(self, *signs: str) -> str:
        """The next sign if it is one of these, and step over it; else nothing."""
        sign = self.tokens[self.at][2] if self.at < len(self.tokens) else None
        if sign in signs:
            self.at += 1
            return sign or ""
        return ""

    def _fault(self, expected: str, fix: str = "") -> Fault:
        token = next(filter(None, self.tokens[self.at])) if self.at < len(self.tokens) else "its end"
        return Fault("not an expression", f"{token!r} in {self.text!r}", expected, fix)

    def end(self) -> None:
        """Refuse an expression with a rest that was not read."""
        if self.at < len(self.tokens):
            raise self._fault("an operator + - * / ^, or the end")

    def sum(self) -> Any:
        """Terms added and subtracted."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise Fault("an expression nested too deeply", repr(self.text[:40]), f"at most {DEEPEST} levels")
        value = self.product()
        while sign := self._next("+", "-"):
            value = value + self.product() if sign == "+" else value - self.product()
        self.depth -= 1
        return value

    def product(self) -> Any:
        """Factors multiplied and divided."""
        value = self.sign()
        while sign := self._next("*", "/"):
            value = value * self.sign() if sign == "*" else value / self.sign()
        return value

    def sign(self) -> Any:
        """−x^y is −(x^y)."""
        negative = False
        while sign := self._next("+", "-"):
            negative ^= sign == "-"
        value = self.power()
        return -value if negative else value

    def power(self) -> Any:
        """A power of a real number, real."""
        base = self.atom()
        if not self._next("^"):
            return base
        self.depth += 1
        if self.depth > DEEPEST:
            raise Fault("an expression nested too deeply", repr(self.text[:40]), f"at most {DEEPEST} levels")
        value = self.algebra.power(base, self.sign())
        self.depth -= 1
        return value

    def atom(self) -> Any:
        """A number, a name, a function of a sum, or a sum in parentheses."""
        number, name, _ = self.tokens[self.at] if self.at < len(self.tokens) else NO_TOKEN
        if number:
            self.at += 1
            if not math.isfinite(float(number)):
                raise Fault("a number too large", repr(number[:40]), "a finite number")
            return float(number)
        if name:
            return self._named(name)
        if self._next("("):
            return self._closed()
        raise self._fault(
            "a number, a parameter or a parenthesis", "A power is written ^." if "**" in self.text else ""
        )

    def _named(self, name: str) -> Any:
        if name in FUNCTIONS:
            self.at += 1
            if not self._next("("):
                raise self._fault(f"a parenthesis after {name}")
            return self.algebra.functions[name](self._closed())
        if name in CALLS and self.at + 1 < len(self.tokens) and self.tokens[self.at + 1][2] == "(":
            self.at += 2
            return self._called(name)
        known = {**self.names, **CONSTANTS}
        if name not in known:
            parameters = ", ".join(list(self.names)[:8]) or "none is defined"
            expected = f"a parameter ({parameters}), pi, or one of {', '.join(FUNCTIONS)}"
            others = (*self.names, *CONSTANTS, *FUNCTIONS, *CALLS)
            fix = did_you_mean(name, others, "Parameters stand under 'parameters:'.")
            raise Fault("an unknown name", f"{name!r} in {self.text!r}", expected, fix)
        self.at += 1
        return known[name]

    def _called(self, name: str) -> Any:
        """A function of several arguments, its parenthesis open."""
        count, function = CALLS[name]
        given = [self._condition() if name == "where" else self.sum()]
        while self._next(","):
            given.append(self.sum())
        if not self._next(")"):
            raise self._fault("a comma or a closing parenthesis")
        if count and len(given) != count:
            raise Fault(f"{name} of {len(given)}", repr(self.text), f"{count} arguments")
        return function(*given)

    def _condition(self) -> Any:
        """A comparison of two sums."""
        left = self.sum()
        sign = self._next("<", ">")
        if not sign:
            raise self._fault("a comparison < > <= >= as the first argument of where")
        return COMPARISONS[sign + self._next("=")](left, self.sum())

    def _closed(self) -> Any:
        value = self.sum()
        if not self._next(")"):
            raise self._fault("a closing parenthesis")
        return value


def short(value: Any) -> str:
    """A value of a file, fit for a message."""
    text = "nothing" if value is None else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
