"""What a model file may hold: the entries, their keys, and how each value is read.

Values are checked for kind and size here; whether they make sense together is checked by the records of
`polhode.model`. `schema()` is the same as a JSON schema.
"""

import json
import math
import re
from typing import Annotated, Any, NamedTuple

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    PlainValidator,
    StrictBool,
    StrictStr,
    Tag,
    ValidationInfo,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError
from typing_extensions import TypeAliasType

from polhode.formats.expression import Fault, evaluate, is_name
from polhode.formats.written import Expression, expression
from polhode.model import JOINTS, Parameter
from polhode.model.conditions import KINDS
from polhode.model.numbers import plain

EXPECTED_NUMBER = "a number, an expression such as 2*pi, or the name of a parameter"


def custom(fault: Fault) -> PydanticCustomError:
    """A fault as pydantic carries it."""
    context = {"what": fault.what, "found": fault.found, "expected": fault.expected, "fix": fault.fix}
    return PydanticCustomError("polhode", "{what}", context)


def short(value: Any) -> str:
    """A value of a file, fit for a message."""
    text = "nothing" if value is None else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def _number(value: Any, info: ValidationInfo) -> float | Parameter:
    try:
        return read_number(value, info.context["parameters"] if info.context else {})
    except Fault as fault:
        raise custom(fault) from None


def read_number(value: Any, parameters: dict[str, float]) -> float | Parameter:
    """A number, or a parameter by name; an expression of both becomes a number."""
    if type(value) is float and math.isfinite(value):
        return value
    if isinstance(value, dict) and set(value) == {"parameter", "value"} and isinstance(value["parameter"], str):
        return _inline(value["parameter"], value["value"], parameters)
    if isinstance(value, str):
        if is_name(value) and value in parameters:
            return Parameter(value, parameters[value])
        return evaluate(value, {name: x for name, x in parameters.items() if is_name(name)})
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


class Written(NamedTuple):
    """Expressions of a file, not yet read, and the parameters that they may use."""

    texts: tuple[str, ...]
    parameters: dict[str, float]


def _written(value: Any, info: ValidationInfo) -> Written:
    texts = tuple(value) if isinstance(value, list) else (value,)
    if not texts or not all(isinstance(text, str) for text in texts):
        raise custom(Fault("not an expression", short(value), "an expression, or a list of them"))
    parameters = info.context["parameters"] if info.context else {}
    return Written(texts, {name: x for name, x in parameters.items() if is_name(name)})


def _limit(value: Any, info: ValidationInfo) -> float:
    return value if isinstance(value, float) and math.isinf(value) else _value(value, info)


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


def _moments_or_rows(value: Any) -> str:
    return "three rows" if isinstance(value, list) and value and isinstance(value[0], list) else "three moments"


def needed(description: str) -> Any:
    """A key that must be there."""
    return Field(description=description)


def optional(description: str, default: Any = None) -> Any:
    """A key that may be left out."""
    return Field(default, description=description)


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


class Entry(BaseModel):
    """A mapping of a model file; keys it does not know are errors."""

    model_config = ConfigDict(extra="forbid")


class Euler(Entry):
    """An attitude by three angles about axes, one after the other."""

    sequence: Annotated[Any, PlainValidator(str), WithJsonSchema({"type": ["string", "integer"]})] = needed(
        "such as 313 or 123: each turn about an axis carried along; extrinsic-123: about fixed axes"
    )
    angles: Vector = needed("three angles, rad")


class BodyEntry(Entry):
    """A rigid body."""

    mass: Number = needed("kg, above 0")
    inertia: Inertia = needed(
        "three principal moments, or three rows of three, about the mass centre in body axes, kg m²"
    )
    center: Vector = optional("mass centre in the body frame, m; 0 unless given")
    physical: StrictBool = optional("false: accept a mass or inertia no real body has, with a warning", True)


class JointEntry(Entry):
    """How a child moves relative to its parent."""

    type: Annotated[StrictStr, WithJsonSchema({"enum": list(JOINTS)})] = needed("kind of joint")
    parent: Name = needed("a body, or world")
    child: Name = needed("a body")
    axis: Vector = optional("direction in the joint frame; z unless given")
    position: Vector = optional("of the joint frame in the parent, m; 0 unless given")
    orientation: Annotated[list[Number], Field(min_length=4, max_length=4)] = optional(
        "of the joint frame in the parent: unit quaternion w, x, y, z"
    )
    rpy: Vector = optional("the same as roll, pitch, yaw about the parent's fixed x, y, z axes, rad")
    euler: Euler = optional("the same by a sequence of axes")
    armature: Each = optional("added to the mass matrix, kg m² or kg")
    damping: Each = optional("N m s or N s/m: one number, or one for each velocity")
    stiffness: Each = optional("N m or N/m: one number, or one for each coordinate")
    rest: Each = optional("where the stiffness pulls to")
    lower: Limits = optional("lower limit of the coordinates, kept as data")
    upper: Limits = optional("upper limit of the coordinates, kept as data")
    pitch: Number = optional("of a screw, m per radian")
    axis2: Vector = optional("second axis of a universal joint")
    data: dict[str, Number] = optional("own numbers of a kind of joint that was registered, by name")


def _force_kind(value: Any) -> str:
    """A force, unless its type says spring; another type is found by the entry."""
    return "a spring" if isinstance(value, dict) and value.get("type") == "spring" else "a force"


def _is_force(value: Any) -> str:
    if value == "force":
        return "force"
    raise custom(Fault("an unknown type of force", short(value), "force or spring"))


class ForceEntry(Entry):
    """A constant force and couple on a body."""

    type: Annotated[Any, PlainValidator(_is_force), WithJsonSchema({"const": "force"})] = optional("force", "force")
    body: Name = needed("the body it acts on")
    force: Vector = optional("N")
    torque: Vector = optional("N m")
    point: Vector = optional("where the force acts, in body axes from the body's origin, m")
    axes: Annotated[StrictStr, WithJsonSchema({"enum": ["world", "body"]})] = optional(
        "axes of force and torque: world or body"
    )


class SpringEntry(Entry):
    """A spring and damper between points of two bodies, or of a body and the world."""

    type: Annotated[StrictStr, WithJsonSchema({"const": "spring"})] = needed("spring")
    body_a: Name = needed("a body, or world")
    body_b: Name = needed("another body, or world")
    point_a: Vector = optional("m, in the axes of body_a")
    point_b: Vector = optional("m, in the axes of body_b")
    stiffness: Number = optional("N/m")
    damping: Number = optional("N s/m")
    rest: Number = optional("length at which it pulls nothing, m")


AnyForce = TypeAliasType(
    "AnyForce",
    Annotated[
        Annotated[ForceEntry, Tag("a force")] | Annotated[SpringEntry, Tag("a spring")],
        Discriminator(_force_kind),
    ],
)


Place = TypeAliasType("Place", Annotated[list[Number], Field(min_length=3, max_length=3)])
Angles = TypeAliasType("Angles", Annotated[list[Value], Field(min_length=3, max_length=3)])
Motion = TypeAliasType(
    "Motion",
    Annotated[Any, PlainValidator(_motion), WithJsonSchema({"anyOf": [{"type": "number"}, _EXPRESSION, _INLINE]})],
)
_TEXTS = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}
Written_ = TypeAliasType("Written_", Annotated[Any, PlainValidator(_written), WithJsonSchema(_TEXTS)])


class ConstraintEntry(Entry):
    """A condition on the motion: between frames on two bodies, or on the coordinates of joints."""

    type: Annotated[StrictStr, WithJsonSchema({"enum": list(KINDS)})] = needed("kind of constraint")
    body_a: Name = optional("a body, or world")
    body_b: Name = optional("another body, or world")
    position_a: Place = optional("of the frame on body_a, m; 0 unless given")
    position_b: Place = optional("of the frame on body_b, m; 0 unless given")
    orientation_a: Annotated[list[Number], Field(min_length=4, max_length=4)] = optional("unit quaternion w, x, y, z")
    orientation_b: Annotated[list[Number], Field(min_length=4, max_length=4)] = optional("unit quaternion w, x, y, z")
    rpy_a: Angles = optional("the same as roll, pitch, yaw about the body's fixed x, y, z axes, rad")
    rpy_b: Angles = optional("the same as roll, pitch, yaw about the body's fixed x, y, z axes, rad")
    axis_a: Place = optional("only its z axis: that of a hinge or a wheel, the normal of a plane, in the body's axes")
    axis_b: Place = optional("only its z axis, in the body's axes")
    pitch: Number = optional("of a screw, m per radian")
    length: Number = optional("of a rod, m")
    radius: Number = optional("of a disk or sphere, m")
    rim: Number = optional("of a disk: radius of its rounded edge, m; 0 unless given")
    joint: Name = optional("a joint of one axis")
    source: Name = optional("the joint that it follows")
    multiplier: Number = optional("joint = multiplier × source + offset; 1 unless given")
    offset: Number = optional("0 unless given")
    polynomial: Annotated[list[Number], Field(min_length=2)] = optional("joint = Σ c[k] source^k, coefficients c")
    value: Motion = optional("the coordinate that the joint keeps: a number, or an expression of the time t")
    residual: Written_ = optional(
        "expressions that stay zero: of t and of one-axis joints by name, or of x, y, z on a curve"
    )


class KeptEntry(BaseModel):
    """A constraint of another program, kept as data: any further keys with names, numbers and lists."""

    model_config = ConfigDict(extra="allow")

    type: Name = needed("a name")


def _constraint_kind(value: Any) -> str:
    """Ours, if its type is one of ours."""
    kind = value.get("type") if isinstance(value, dict) else None
    return "a constraint" if isinstance(kind, str) and kind in KINDS else "kept"


AnyConstraint = TypeAliasType(
    "AnyConstraint",
    Annotated[
        Annotated[ConstraintEntry, Tag("a constraint")] | Annotated[KeptEntry, Tag("kept")],
        Discriminator(_constraint_kind),
    ],
)


class StartEntry(Entry):
    """Where a motion starts, and how it is followed."""

    q: list[Value] = optional("coordinates of the joints, in their order")
    v: list[Value] = optional("velocities of the joints, in their order")
    duration: Value = optional("s")
    method: Name = optional("of integration")


class ModelEntry(Entry):
    """A model file of Polhode. SI units, radians; quaternions are w, x, y, z."""

    name: Name = needed("of the model")
    parameters: dict[str, Number] = optional("numbers with a name, each of which may use those before it", {})
    gravity: Vector = optional("m/s²; [0, 0, -9.81] unless given")
    bodies: dict[str, BodyEntry] = optional("rigid bodies by name", {})
    joints: dict[str, JointEntry] = optional("joints by name; q and v are those of the joints, in this order", {})
    forces: dict[str, AnyForce] = optional("forces and springs by name", {})
    constraints: dict[str, AnyConstraint] = optional("constraints by name", {})
    start: StartEntry = optional("where a motion starts")


def schema() -> dict[str, Any]:
    """The JSON schema of a model file."""
    found = ModelEntry.model_json_schema()
    for entry in (found, *found["$defs"].values()):
        for key in entry.get("properties", {}).values():
            if key.get("default", ...) in (None, {}):
                del key["default"]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **found}


def schema_text() -> str:
    """The schema as docs/model-schema.json holds it."""
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"
