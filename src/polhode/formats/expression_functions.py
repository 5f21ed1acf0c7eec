"""Functions from expressions of model files: motions of time, residuals of coordinates, curves in space."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from polhode.errors import InputError, escaped, message
from polhode.formats.expression import LONGEST, Fault, evaluate, evaluate_on, is_name, names_in
from polhode.scalar import Scalar, Vec
from polhode.scalar.unknown import Unknown


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


def expression(text: str, constants: Mapping[str, float], variables: tuple[str, ...], tried: bool = True) -> Expression:
    """The function of an expression; raises a Fault where it is none.

    tried  with all variables at zero: a Fault where it has no value there
    """
    if tried:
        evaluate(text, {**dict.fromkeys(variables, 0.0), **constants})
    else:
        for name in names_in(text):
            if name in constants and name in variables:
                raise Fault("a name of two", f"a parameter {name!r} and a variable", "another name for the parameter")
        evaluate_on(text, {**constants, **dict.fromkeys(variables, Unknown())})
    for name in names_in(text):
        if name in constants:
            text = re.sub(rf"(?<![\w.]){name}\b(?!\s*\()", f"({float(constants[name])!r})", text)
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


STATE_NAMES = (
    *("x", "y", "z", "vx", "vy", "vz", "wx", "wy", "wz"),
    *(f"R{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3)),
)
"""How expressions call the motion of a body: position, velocity, angular velocity, and the entries of its axes."""


@dataclass(frozen=True)
class BodyLaw:
    """Expressions of the motion of a body, or of two, as the function of a BodyForce.

    force, torque  three expressions each, or none; of t, of `STATE_NAMES` of the body, of "other.x", … of the other
                   one, and of the named numbers of the element
    """

    force: tuple[Expression, ...]
    torque: tuple[Expression, ...] = ()

    def __call__(self, t: Scalar, *bodies: Any, **numbers: Scalar) -> tuple[Vec, Vec]:
        """Force and torque.  bodies: one BodyMotion, or two"""
        motions = [(*x.position, *x.velocity, *x.angular_velocity, *(y for row in x.R for y in row)) for x in bodies]
        given = [t, *(y for motion in motions for y in motion), *numbers.values()]
        force, torque = (Vec([each(*given) for each in part] or [0.0] * 3) for part in (self.force, self.torque))
        return force, torque

    def __str__(self) -> str:
        return ", ".join(map(str, (*self.force, *self.torque)))


def body_law(parts: Mapping[str, tuple[str, ...]], constants: Mapping[str, float], two: bool, numbers: Any) -> BodyLaw:
    """The function of a BodyForce; raises a Fault where an expression is none.

    parts      the expressions of "force" and "torque"
    constants  parameters of the file
    two        whether there is another body
    numbers    the names of its numbers
    """
    other = [f"other.{name}" for name in STATE_NAMES] if two else []
    variables = ("t", *STATE_NAMES, *other, *numbers)
    for name in numbers:
        if not is_name(name) or name in ("t", *STATE_NAMES):
            raise Fault(
                "a number that cannot be called so", repr(name), f"a name that is none of t, {STATE_NAMES[0]}, …"
            )
    found = {}
    for part, texts in parts.items():
        if len(texts) != 3:
            split = any(text.count("(") != text.count(")") for text in texts)
            fix = "Put quotes around an expression with commas." if split else ""
            raise Fault(f"{part} of {len(texts)} expressions", ", ".join(texts)[:60], "three: along x, y, z", fix)
        shown = {name: x for name, x in constants.items() if name not in numbers}
        found[part] = tuple(expression(text, shown, variables, tried=False) for text in texts)
    return BodyLaw(found.get("force", ()), found.get("torque", ()))


EXPRESSION_FUNCTIONS = (Expression, Conditions, Curve, BodyLaw)
"""The kinds of functions that their text identifies."""
