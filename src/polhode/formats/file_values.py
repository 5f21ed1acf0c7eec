"""Values of a model file: how each sort of value is read, and how a JSON schema describes it."""

import math
import re
from functools import partial
from typing import Annotated, Any, NamedTuple

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    PlainValidator,
    StrictBool,
    StrictInt,
    StrictStr,
    Tag,
    ValidationInfo,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError
from typing_extensions import TypeAliasType

from polhode.formats.expression import Fault, evaluate_with_unit, is_name, short
from polhode.formats.expression_functions import Expression, expression
from polhode.model import Parameter
from polhode.model.keys import Key
from polhode.model.numbers import plain
from polhode.model.units import UnitNumber

EXPECTED_NUMBER = "a number, with a unit as 30deg or without, an expression such as 2*pi, or the name of a parameter"


def needed(description: str) -> Any:
    """A key that must be there."""
    return Field(description=description)


def optional(description: str, default: Any = None) -> Any:
    """A key that may be left out."""
    return Field(default, description=description)


class Entry(BaseModel):
    """A mapping of a model file; keys it does not know are errors."""

    model_config = ConfigDict(extra="forbid", defer_build=True)


def custom(fault: Fault) -> PydanticCustomError:
    """A fault as pydantic carries it."""
    context = {"what": fault.what, "found": fault.found, "expected": fault.expected, "fix": fault.fix}
    return PydanticCustomError("polhode", "{what}", context)


def _number(value: Any, info: ValidationInfo) -> float | Parameter:
    try:
        found = read_number(value, info.context["parameters"] if info.context else {})
    except Fault as fault:
        raise custom(fault) from None
    if isinstance(found, UnitNumber) and info.context and "units" in info.context:
        info.context["units"].append(found)
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
    number = plain(read_number(given, parameters))
    if parameters.setdefault(name, number) != number:
        found = f"'{name}' is {parameters[name]:g} and {number:g}"
        raise Fault("a parameter with two values", found, "one value for each name")
    return Parameter(name, number)


def _value(value: Any, info: ValidationInfo) -> float:
    """A number that is no parameter of the model: one counts with its value."""
    return plain(_number(value, info))


def _motion(value: Any, info: ValidationInfo) -> float | Parameter | Expression:
    """A number, or an expression of the time t."""
    parameters = info.context["parameters"] if info.context else {}
    if not isinstance(value, str) or "t" in parameters or not re.search(r"\bt\b", value):
        return _number(value, info)
    try:
        return expression(value, {name: x for name, x in parameters.items() if is_name(name)}, ("t",))
    except Fault as fault:
        raise custom(fault) from None


def _function(variables: tuple[str, ...], value: Any, info: ValidationInfo) -> Expression:
    """An expression of variables."""
    parameters = info.context["parameters"] if info.context else {}
    try:
        if not isinstance(value, (str, int, float)) or isinstance(value, bool):
            raise Fault("not an expression", short(value), f"an expression of {', '.join(variables)}")
        return expression(
            str(value), {name: x for name, x in parameters.items() if is_name(name)}, variables, tried=False
        )
    except Fault as fault:
        raise custom(fault) from None


class ExpressionTexts(NamedTuple):
    """Expressions of a file, not yet read, and the parameters that they may use."""

    texts: tuple[str, ...]
    parameters: dict[str, float]


def _expression_texts(value: Any, info: ValidationInfo) -> ExpressionTexts:
    texts = tuple(value) if isinstance(value, list) else (value,)
    texts = tuple(repr(x) if isinstance(x, (int, float)) and not isinstance(x, bool) else x for x in texts)
    if not texts or not all(isinstance(text, str) for text in texts):
        raise custom(Fault("not an expression", short(value), "an expression, or a list of them"))
    parameters = info.context["parameters"] if info.context else {}
    return ExpressionTexts(texts, {name: x for name, x in parameters.items() if is_name(name)})


def _limit(value: Any, info: ValidationInfo) -> float:
    return value if isinstance(value, float) and math.isinf(value) else _value(value, info)


def _number_or_infinite(value: Any, info: ValidationInfo) -> Any:
    return value if isinstance(value, float) and math.isinf(value) else _number(value, info)


def _name(value: Any) -> str:
    if isinstance(value, str) and value:
        return value
    fix = "Put quotes around a number that is a name." if isinstance(value, (int, float)) else ""
    raise custom(Fault("not a name", short(value), "text", fix))


def frozen(value: Any) -> Any:
    """Plain data as records keep it: lists become tuples."""
    if isinstance(value, list):
        return tuple([frozen(x) if isinstance(x, (list, dict)) else x for x in value])
    if isinstance(value, dict):
        return {name: frozen(x) for name, x in value.items()}
    return value


def _one_or_each(value: Any) -> str:
    return "one each" if isinstance(value, list) else "one number"


def _numbers_or_rows(value: Any) -> str:
    return "rows" if isinstance(value, list) and value and isinstance(value[0], list) else "numbers"


def _coordinates(value: Any) -> str:
    return "by joint" if isinstance(value, dict) else "a configuration" if isinstance(value, str) else "numbers"


def _moments_or_rows(value: Any) -> str:
    return "three rows" if isinstance(value, list) and value and isinstance(value[0], list) else "three moments"


_EXPRESSION = {"type": "string", "description": "An expression, or the name of an entry of `parameters`."}
_INLINE = {
    "type": "object",
    "properties": {"parameter": {"type": "string"}, "value": {"type": ["number", "string"]}},
    "required": ["parameter", "value"],
    "additionalProperties": False,
}
Number = TypeAliasType(
    "Number",
    Annotated[Any, PlainValidator(_number), WithJsonSchema({"anyOf": [{"type": "number"}, _EXPRESSION, _INLINE]})],
)
NumberOrInfinite = TypeAliasType(
    "NumberOrInfinite",
    Annotated[
        Any,
        PlainValidator(_number_or_infinite),
        WithJsonSchema({"anyOf": [{"type": "number"}, _EXPRESSION, _INLINE]}),
    ],
)
Value = TypeAliasType("Value", Annotated[Any, PlainValidator(_value), WithJsonSchema({"type": ["number", "string"]})])
Limit = TypeAliasType("Limit", Annotated[Any, PlainValidator(_limit), WithJsonSchema({"type": ["number", "string"]})])
Name = TypeAliasType("Name", Annotated[Any, PlainValidator(_name), WithJsonSchema({"type": "string", "minLength": 1})])
Vector = TypeAliasType("Vector", Annotated[list[Number], Field(min_length=3, max_length=3)])
Each = TypeAliasType(
    "Each",
    Annotated[
        Annotated[Number, Tag("one number")] | Annotated[list[Number], Tag("one each")],
        Discriminator(_one_or_each),
    ],
)
OwnNumbers = TypeAliasType(
    "OwnNumbers",
    Annotated[
        Annotated[Number, Tag("one number")]
        | Annotated[list[Number], Tag("numbers")]
        | Annotated[list[list[Number]], Tag("rows")],
        Discriminator(lambda value: _numbers_or_rows(value) if isinstance(value, list) else "one number"),
    ],
)
Limits = TypeAliasType(
    "Limits",
    Annotated[
        Annotated[Limit, Tag("one number")] | Annotated[list[Limit], Tag("one each")],
        Discriminator(_one_or_each),
    ],
)
Inertia = TypeAliasType(
    "Inertia",
    Annotated[
        Annotated[Vector, Tag("three moments")]
        | Annotated[Annotated[list[Vector], Field(min_length=3, max_length=3)], Tag("three rows")],
        Discriminator(_moments_or_rows),
    ],
)
Angles = TypeAliasType("Angles", Annotated[list[Value], Field(min_length=3, max_length=3)])
Values = TypeAliasType(
    "Values",
    Annotated[
        Annotated[Value, Tag("one number")] | Annotated[list[Value], Tag("one each")],
        Discriminator(_one_or_each),
    ],
)
Coordinates = TypeAliasType(
    "Coordinates",
    Annotated[
        Annotated[list[Value], Tag("numbers")]
        | Annotated[dict[str, Values], Tag("by joint")]
        | Annotated[Name, Tag("a configuration")],
        Discriminator(_coordinates),
    ],
)
Motion = TypeAliasType(
    "Motion",
    Annotated[Any, PlainValidator(_motion), WithJsonSchema({"anyOf": [{"type": "number"}, _EXPRESSION, _INLINE]})],
)
_TEXTS = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}
Expressions = TypeAliasType("Expressions", Annotated[Any, PlainValidator(_expression_texts), WithJsonSchema(_TEXTS)])

FILE_TYPES: dict[str, Any] = {
    "number": Number,
    "limit": NumberOrInfinite,
    "numbers": Annotated[list[Number], Field(min_length=2)],
    "vector": Vector,
    "direction": Vector,
    "quaternion": Annotated[list[Number], Field(min_length=4, max_length=4)],
    "array": Annotated[
        Annotated[list[Number], Tag("numbers")] | Annotated[list[list[Number]], Tag("rows")],
        Discriminator(_numbers_or_rows),
    ],
    "named": dict[str, Number],
    "seconds": Number,
    "body": Name,
    "joint": Name,
    "pairs": list[Annotated[list[Name], Field(min_length=2, max_length=2)]],
    "axis": StrictInt,
    "power": Value,
    "sizes": list[Value],
    "word": StrictStr,
    "flag": StrictBool,
}
"""How a file writes what a key holds."""


def type_of(key: Key) -> Any:
    """The type of the values of a key of a force element or a constraint."""
    if key.choices:
        return Annotated[StrictStr, WithJsonSchema({"enum": list(key.choices)})]
    if key.holds == "function":
        return Annotated[Any, PlainValidator(partial(_function, key.variables)), WithJsonSchema({"type": "string"})]
    return Motion if key.of_time and key.holds == "number" else FILE_TYPES[key.holds]
