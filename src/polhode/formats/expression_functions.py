"""Functions from expressions of model files: motions of time, residuals of coordinates, curves in space."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from polhode.errors import InputError, escaped, message
from polhode.formats.expression import LONGEST, Fault, evaluate, evaluate_on, names_in
from polhode.scalar import Scalar


@dataclass(frozen=True)
class Expression:
    """An expression of variables, as a function of them on generic scalars; its text identifies it.

    text       with the values of parameters in their places, as they were when the file was read
    variables  the names of its arguments, in order
    """

    text: str
    variables: tuple[str, ...]

    def __call__(self, *values: Scalar) -> Scalar:
        """The value of the expression."""
        try:
            return evaluate_on(self.text, dict(zip(self.variables, values, strict=True)))
        except Fault as fault:
            where = f"expression '{escaped(self.text)}'"
            raise InputError(message(where, fault.what, fault.found, fault.expected, fault.fix)) from None

    def __str__(self) -> str:
        return self.text


def expression(text: str, constants: Mapping[str, float], variables: tuple[str, ...]) -> Expression:
    """The function of an expression, tried with all variables at zero; raises a Fault where it has no value there."""
    evaluate(text, {**dict.fromkeys(variables, 0.0), **constants})
    for name in names_in(text):
        if name in constants:
            text = re.sub(rf"\b{name}\b", f"({float(constants[name])!r})", text)
    if len(text) > LONGEST:
        raise Fault("an expression too long", f"{len(text)} characters with its parameters", f"at most {LONGEST}")
    return Expression(text, variables)


@dataclass(frozen=True)
class Conditions:
    """Expressions of time and of coordinates that are to be zero, as one function of (t, q).

    coordinates  the joints of one axis that may be named, with the places of their coordinates
    """

    expressions: tuple[Expression, ...]
    coordinates: tuple[tuple[str, int], ...]

    def __call__(self, t: Scalar, q: Scalar) -> list[Scalar]:
        """The values of the expressions."""
        return [each(t, *(q[k] for _, k in self.coordinates)) for each in self.expressions]

    def __str__(self) -> str:
        return ", ".join(map(str, self.expressions))


@dataclass(frozen=True)
class Curve:
    """Two expressions of x, y and z that vanish on a curve, as one function of a point."""

    expressions: tuple[Expression, ...]

    def __call__(self, point: Scalar) -> list[Scalar]:
        """The values of the expressions."""
        return [each(*point) for each in self.expressions]

    def __str__(self) -> str:
        return ", ".join(map(str, self.expressions))


EXPRESSION_FUNCTIONS = (Expression, Conditions, Curve)
"""The kinds of functions that their text identifies."""
