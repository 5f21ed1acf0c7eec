"""Values and entries of a model file as pydantic checks them, and as a JSON schema describes them."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, Any

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
    create_model,
)
from pydantic_core import PydanticCustomError
from typing_extensions import TypeAliasType

from polhode.formats.entries.entry_keys import EULER
from polhode.formats.entries.entry_values import (
    FileContext,
    expression_texts,
    function_of,
    limit_value,
    motion,
    name_text,
    number,
    number_or_infinite,
    number_value,
)
from polhode.formats.expression import Fault
from polhode.model.keys import Key


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


def _by(read: Callable[[Any, FileContext], Any]) -> PlainValidator:
    """What reads a value, as pydantic calls it."""

    def checked(value: Any, info: ValidationInfo) -> Any:
        try:
            return read(value, info.context or FileContext({}, []))
        except Fault as fault:
            raise custom(fault) from None

    return PlainValidator(checked)


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
    Annotated[Any, _by(number), WithJsonSchema({"anyOf": [{"type": "number"}, _EXPRESSION, _INLINE]})],
)
NumberOrInfinite = TypeAliasType(
    "NumberOrInfinite",
    Annotated[
        Any,
        _by(number_or_infinite),
        WithJsonSchema({"anyOf": [{"type": "number"}, _EXPRESSION, _INLINE]}),
    ],
)
Value = TypeAliasType("Value", Annotated[Any, _by(number_value), WithJsonSchema({"type": ["number", "string"]})])
Limit = TypeAliasType("Limit", Annotated[Any, _by(limit_value), WithJsonSchema({"type": ["number", "string"]})])
Name = TypeAliasType("Name", Annotated[Any, _by(name_text), WithJsonSchema({"type": "string", "minLength": 1})])
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
    Annotated[Any, _by(motion), WithJsonSchema({"anyOf": [{"type": "number"}, _EXPRESSION, _INLINE]})],
)
_TEXTS = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}
Expressions = TypeAliasType("Expressions", Annotated[Any, _by(expression_texts), WithJsonSchema(_TEXTS)])

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
    "value": Value,
    "name": Name,
    "text": StrictStr,
    "each": Each,
    "limits": Limits,
    "inertia": Inertia,
    "size": Annotated[list[Number], Field(min_length=1, max_length=3)],
    "angles": Angles,
    "own": OwnNumbers,
    "named-own": dict[str, OwnNumbers],
    "coordinates": Coordinates,
    "velocities": Annotated[
        Annotated[list[Value], Tag("numbers")] | Annotated[dict[str, Values], Tag("by joint")],
        Discriminator(lambda value: "by joint" if isinstance(value, dict) else "numbers"),
    ],
    "sequence": Annotated[Any, PlainValidator(str), WithJsonSchema({"type": ["string", "integer"]})],
    "expressions": Expressions,
}
"""How a file writes what a key holds."""


def type_of(key: Key) -> Any:
    """The type of the values of a key."""
    if key.choices:
        return Annotated[StrictStr, WithJsonSchema({"enum": list(key.choices)})]
    if key.holds == "function":
        return Annotated[Any, _by(partial(function_of, key.variables)), WithJsonSchema({"type": "string"})]
    return Motion if key.of_time and key.holds == "number" else FILE_TYPES[key.holds]


def field_of(key: Key, default: Any = None) -> tuple[Any, Any]:
    """The type and the description of a key."""
    return type_of(key), needed(key.text) if key.needed else optional(key.text, default)


def entry_class(name: str, text: str | None, keys: Mapping[str, Key], **others: Any) -> type[Entry]:
    """An entry with these keys; others: fields of pydantic in place of those of keys."""
    fields: dict[str, Any] = {key: field_of(about) for key, about in keys.items()}
    return create_model(name, __base__=Entry, __doc__=(text or "").partition("\n")[0], **(fields | others))


Euler = entry_class("Euler", "An attitude by three angles about axes, one after the other.", EULER)
FILE_TYPES["euler"] = Euler
