"""Values of a model file: numbers with units and parameters, functions of time, expressions, names."""

import math
import re
from typing import Any, NamedTuple

from polhode.formats.expression import Fault, evaluate_with_unit, is_name, short
from polhode.formats.expression_functions import Expression, expression
from polhode.model import Parameter
from polhode.model.numbers import plain
from polhode.model.units import UnitNumber

EXPECTED_NUMBER = "a number, with a unit as 30deg or without, an expression such as 2*pi, or the name of a parameter"


class FileContext(NamedTuple):
    """What values of a file may refer to, and what is noted of them.

    parameters  their values by name
    units       the numbers that were written with a unit, in the order in which they were read
    """

    parameters: dict[str, float]
    units: list[UnitNumber]

    @property
    def names(self) -> dict[str, float]:
        """The parameters that an expression may use."""
        return {name: x for name, x in self.parameters.items() if is_name(name)}


class ExpressionTexts(NamedTuple):
    """Expressions of a file, not yet read, and the parameters that they may use."""

    texts: tuple[str, ...]
    parameters: dict[str, float]


def number(value: Any, context: FileContext) -> float | Parameter:
    """A number, or a parameter by name; one with a unit is noted."""
    if type(value) is float and math.isfinite(value):
        return value
    found = read_number(value, context.parameters)
    if isinstance(found, UnitNumber):
        context.units.append(found)
    return found


def read_number(value: Any, parameters: dict[str, float]) -> float | Parameter:
    """A number, or a parameter by name; an expression of both becomes a number."""
    if type(value) is float and math.isfinite(value):
        return value
    if isinstance(value, dict) and set(value) == {"parameter", "value"} and isinstance(value["parameter"], str):
        return _inline(value["parameter"], value["value"], parameters)
    if isinstance(value, str):
        if is_name(value) and value in parameters:
            return Parameter(value, parameters[value])
        return evaluate_with_unit(value, {name: x for name, x in parameters.items() if is_name(name)})
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Fault("not a number", short(value), EXPECTED_NUMBER)
    if not math.isfinite(value):
        raise Fault("not a finite number", f"{value}", EXPECTED_NUMBER)
    return float(value)


def _inline(name: str, given: Any, parameters: dict[str, float]) -> Parameter:
    found = plain(read_number(given, parameters))
    if parameters.setdefault(name, found) != found:
        told = f"'{name}' is {parameters[name]:g} and {found:g}"
        raise Fault("a parameter with two values", told, "one value for each name")
    return Parameter(name, found)


def number_value(value: Any, context: FileContext) -> float:
    """A number that is no parameter of the model: one counts with its value."""
    return plain(number(value, context))


def limit_value(value: Any, context: FileContext) -> float:
    """The same, or one that is infinite."""
    return value if isinstance(value, float) and math.isinf(value) else number_value(value, context)


def number_or_infinite(value: Any, context: FileContext) -> Any:
    """A number, a parameter, or one that is infinite."""
    return value if isinstance(value, float) and math.isinf(value) else number(value, context)


def motion(value: Any, context: FileContext) -> float | Parameter | Expression:
    """A number, or an expression of the time t."""
    if not isinstance(value, str) or "t" in context.parameters or not re.search(r"\bt\b", value):
        return number(value, context)
    return expression(value, context.names, ("t",))


def function_of(variables: tuple[str, ...], value: Any, context: FileContext) -> Expression:
    """An expression of variables."""
    if not isinstance(value, (str, int, float)) or isinstance(value, bool):
        raise Fault("not an expression", short(value), f"an expression of {', '.join(variables)}")
    return expression(str(value), context.names, variables, tried=False)


def expression_texts(value: Any, context: FileContext) -> ExpressionTexts:
    """One expression, or several."""
    texts = tuple(value) if isinstance(value, list) else (value,)
    texts = tuple(repr(x) if isinstance(x, (int, float)) and not isinstance(x, bool) else x for x in texts)
    if not texts or not all(isinstance(text, str) for text in texts):
        raise Fault("not an expression", short(value), "an expression, or a list of them")
    return ExpressionTexts(texts, context.names)


def name_text(value: Any, context: FileContext) -> str:
    """Text that is not empty."""
    if isinstance(value, str) and value:
        return value
    fix = "Put quotes around a number that is a name." if isinstance(value, (int, float)) else ""
    raise Fault("not a name", short(value), "text", fix)


def frozen(value: Any) -> Any:
    """Plain data as records keep it: lists become tuples."""
    if isinstance(value, list):
        return tuple([frozen(x) if isinstance(x, (list, dict)) else x for x in value])
    if isinstance(value, dict):
        return {name: frozen(x) for name, x in value.items()}
    return value
