"""What a model file may hold: its entries and their keys.

Values are checked for kind and size here; whether they make sense together is checked by the records of
`polhode.model`. `schema()` is the same as a JSON schema.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Annotated, Any, NamedTuple, Union

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    PlainValidator,
    StrictBool,
    StrictStr,
    Tag,
    WithJsonSchema,
    create_model,
)
from typing_extensions import TypeAliasType

from polhode.errors import did_you_mean
from polhode.formats import beam_entries, modal_entries
from polhode.formats.expression import Fault, short
from polhode.formats.file_values import (
    Angles,
    Coordinates,
    Each,
    Entry,
    Expressions,
    Inertia,
    Limits,
    Name,
    Number,
    OwnNumbers,
    Value,
    Values,
    Vector,
    custom,
    needed,
    optional,
    type_of,
)
from polhode.model import JOINTS
from polhode.model.constraints.base import ConstraintKind
from polhode.model.constraints.registry import CONSTRAINTS
from polhode.model.forces.base import ForceElement
from polhode.model.forces.registry import FORCES
from polhode.model.joints.base import JointKind
from polhode.model.keys import Key

TURNED = "the same as roll, pitch, yaw about the body's fixed x, y, z axes, rad"


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

    type: StrictStr = needed("kind of joint")
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
    lower: Limits = optional("lower limit of the coordinates; a stop in runs")
    upper: Limits = optional("upper limit of the coordinates; a stop in runs")
    pitch: Number = optional("of a screw, m per radian")
    axis2: Vector = optional("second axis of a universal joint")
    data: dict[str, OwnNumbers] = optional(
        "own numbers of a kind of joint that was registered, by name; or as plain keys"
    )


class FrameEntry(Entry):
    """A frame fixed to a body."""

    body: Name = needed("a body")
    position: Vector = optional("of its origin in the body frame, m; 0 unless given")
    orientation: Annotated[list[Number], Field(min_length=4, max_length=4)] = optional(
        "of its axes in the body's: unit quaternion w, x, y, z"
    )
    rpy: Vector = optional(TURNED)


class ShapeEntry(Entry):
    """What a body looks like, or a part of it: for pictures alone."""

    body: Name = needed("a body")
    type: StrictStr = needed("box, cylinder or sphere")
    size: Annotated[list[Number], Field(min_length=1, max_length=3)] = needed(
        "m: sides of a box, radius and length (along z) of a cylinder, radius of a sphere"
    )
    position: Vector = optional("of its middle in the body frame, m; 0 unless given")
    orientation: Annotated[list[Number], Field(min_length=4, max_length=4)] = optional(
        "of its axes in the body's: unit quaternion w, x, y, z"
    )
    rpy: Vector = optional(TURNED)


class KeptEntry(BaseModel):
    """A constraint of another program, kept as data: any further keys with names, numbers and lists."""

    model_config = ConfigDict(extra="allow", defer_build=True)

    type: Name = needed("a name")


class StartEntry(Entry):
    """Where a motion starts, and how it is followed."""

    q: Coordinates = optional("coordinates of the joints, in their order or by joint; or the name of a configuration")
    v: Annotated[
        Annotated[list[Value], Tag("numbers")] | Annotated[dict[str, Values], Tag("by joint")],
        Discriminator(lambda value: "by joint" if isinstance(value, dict) else "numbers"),
    ] = optional("velocities of the joints, in their order or by joint")
    duration: Value = optional("s")
    method: Name = optional("of integration")


class ModelEntry(Entry):
    """A model file of Polhode. SI units, radians; quaternions are w, x, y, z."""

    name: Name = needed("of the model")
    parameters: dict[str, Number] = optional("numbers with a name, each of which may use those before it", {})
    gravity: Vector = optional("m/s²; [0, 0, -9.81] unless given")
    bodies: dict[str, BodyEntry] = optional("rigid bodies by name", {})
    joints: dict[str, JointEntry] = optional("joints by name; q and v are those of the joints, in this order", {})
    forces: dict[str, Any] = optional("forces and springs by name", {})
    constraints: dict[str, Any] = optional("constraints by name", {})
    materials: dict[str, Any] = optional("of sections, by name; steel, aluminium, … are known", {})
    sections: dict[str, Any] = optional("of beams, by name", {})
    beams: dict[str, Any] = optional("beams by name: each becomes bodies, joints, forces and constraints", {})
    modal: dict[str, Any] = optional("flexible bodies by modes of finite-element matrices, by name", {})
    configurations: dict[str, Coordinates] = optional("coordinates by name, in the order of the joints or by joint", {})
    frames: dict[str, FrameEntry] = optional("frames fixed to bodies, by names that calls take as those of bodies", {})
    shapes: dict[str, ShapeEntry] = optional("what bodies look like in pictures, by name", {})
    start: Annotated[
        Annotated[StartEntry, Tag("a start")] | Annotated[Name, Tag("a configuration")],
        Discriminator(lambda value: "a configuration" if isinstance(value, str) else "a start"),
    ] = optional("where a motion starts; or the name of a configuration")


GROUPS = (
    "joints", "forces", "constraints", "materials", "sections", "beams", "modal", "configurations", "frames", "shapes",
)  # fmt: skip
"""The keys of a model file that hold parts with entries of their own, and that many files leave out."""


class Entries(NamedTuple):
    """The entries of a model file, with those of all registered kinds of parts."""

    model: type[ModelEntry]
    joint: type[JointEntry]
    forces: dict[str, type[Entry]]
    """Of each kind of force element that a file may hold."""
    constraint: type[Entry]


def entries() -> Entries:
    """The entries of a model file, with the kinds of parts that are registered now."""
    return _entries(tuple(JOINTS.values()), tuple(FORCES.values()), tuple(CONSTRAINTS.values()))


def model_entry_for(data: Any) -> type[ModelEntry]:
    """The entry of a model file with no more than this one has: its groups of parts, its kinds of force elements. To
    make all of them takes 30 ms, more than to read most files.

    data  what the file holds, whether it is right or not
    """
    given = data if isinstance(data, dict) else {}
    forces = given.get("forces")
    tags = {"a force"} if "forces" in given else set()
    tags |= {_force_tag(value) for value in forces.values()} if isinstance(forces, dict) else set()
    kinds = tuple(FORCES[name] for name in FORCES if f"a {name}" in tags)
    groups = tuple(name for name in GROUPS if name in given)
    return _model_entry(tuple(JOINTS.values()), kinds, tuple(CONSTRAINTS.values()), groups)


@lru_cache(maxsize=16)
def _model_entry(
    joints: tuple[JointKind, ...],
    forces: tuple[type[ForceElement], ...],
    constraints: tuple[ConstraintKind, ...],
    groups: tuple[str, ...],
) -> type[ModelEntry]:
    """The entry of files with some of GROUPS; of others that are not there nothing is known."""
    makers: dict[str, Callable[[], Any]] = {
        "joints": lambda: _joint_entry(joints),
        "forces": lambda: _any_force(_force_entries(forces)),
        "constraints": lambda: _any_constraint(_constraint_entry(constraints)),
        "materials": lambda: beam_entries.MaterialEntry,
        "sections": lambda: beam_entries.SectionEntry,
        "beams": lambda: beam_entries.BeamEntry,
        "modal": lambda: modal_entries.ModalEntry,
    }
    described = ModelEntry.model_fields
    kinds: dict[str, Any] = {name: dict[str, make()] for name, make in makers.items() if name in groups}  # type: ignore[misc]
    kinds |= {name: Any for name in GROUPS if name not in groups}
    typed: Any = {name: (kind, described[name]) for name, kind in kinds.items()}
    return create_model("ModelEntry", __base__=ModelEntry, __doc__=ModelEntry.__doc__, **typed)


@lru_cache(maxsize=16)
def _entries(
    joints: tuple[JointKind, ...], forces: tuple[type[ForceElement], ...], constraints: tuple[ConstraintKind, ...]
) -> Entries:
    model, of_force = _model_entry(joints, forces, constraints, GROUPS), _force_entries(forces)
    by_kind = {tag.removeprefix("a "): entry for tag, entry in of_force.items()}
    return Entries(model, _joint_entry(joints), by_kind, _constraint_entry(constraints))


def own_keys(kind: JointKind) -> list[str]:
    """The numbers of a kind of joint that a file may write as keys of the joint: those with no other meaning there."""
    return [name for name in kind.keys if name not in JointEntry.model_fields]


def _joint_entry(kinds: tuple[JointKind, ...]) -> type[JointEntry]:
    """The entry of all kinds of joints, with the numbers of their own; which a kind may have is told by the kind."""
    word = Annotated[StrictStr, WithJsonSchema({"enum": [kind.name for kind in kinds]})]
    own = {name: (OwnNumbers, optional(kind.keys[name].text)) for kind in kinds for name in own_keys(kind)}
    typed: Any = {"type": (word, JointEntry.model_fields["type"]), **own}
    return create_model("JointEntry", __base__=JointEntry, __doc__=JointEntry.__doc__, **typed)


def _is_data(kind: type[ForceElement]) -> bool:
    """Whether a file may hold a force element of this kind: none that must have a function of Python."""
    if kind.expressions:
        return True
    return not any(key.needed and key.holds == "function" and not key.variables for key in kind.keys.values())


def _one_of(name: str, tagged: Mapping[str, type[BaseModel]], tag: Callable[[Any], str]) -> Any:
    """One of several entries, chosen by a function of what is written."""
    kinds = [Annotated[entry, Tag(each)] for each, entry in tagged.items()]
    return TypeAliasType(name, Annotated[Union[tuple(kinds)], Discriminator(tag)])  # noqa: UP007 - of a list


def _force_tag(value: Any) -> str:
    """That of its type; one without a type, or of an unknown one, is a force, whose entry tells what is wrong."""
    kind = value.get("type") if isinstance(value, dict) else None
    return f"a {kind}" if isinstance(kind, str) and kind in FORCES and _is_data(FORCES[kind]) else "a force"


def _any_force(entries: Mapping[str, type[Entry]]) -> Any:
    """A force element of one of several kinds."""
    return _one_of("AnyForce", entries, _force_tag)


def _any_constraint(ours: type[Entry]) -> Any:
    """A constraint of ours, or one of another program."""
    return _one_of("AnyConstraint", {"a constraint": ours, "kept": KeptEntry}, _constraint_tag)


def _constraint_tag(value: Any) -> str:
    """Ours, if its type is one of ours."""
    kind = value.get("type") if isinstance(value, dict) else None
    return "a constraint" if isinstance(kind, str) and kind in CONSTRAINTS else "kept"


def _force_entries(kinds: tuple[type[ForceElement], ...]) -> dict[str, type[Entry]]:
    """The entries of the kinds of force elements that a file may hold, by tag."""
    return {f"a {kind.kind}": _force_entry(kind) for kind in kinds if _is_data(kind)}


def _force_entry(kind: type[ForceElement]) -> type[Entry]:
    """The entry of a kind of force element; a type that is left out means a force."""
    name = kind.kind

    def is_it(value: Any) -> str:
        if value == name:
            return name
        known = [each for each, other in FORCES.items() if _is_data(other)]
        fix = did_you_mean(value, known, "A type that is left out means a force.")
        raise custom(Fault("an unknown type of force", short(value), " or ".join(known), fix))

    word = Annotated[Any, PlainValidator(is_it), WithJsonSchema({"const": name})]
    typed = (word, optional(name, name) if name == "force" else needed(name))
    told = {name: key for name, key in kind.keys.items() if key.holds != "function" or key.variables}
    fields = {name: _field(key) for name, key in told.items()}
    fields |= {name: (Expressions, optional(text)) for name, text in kind.expressions.items()}
    fields |= {f"rpy_{side}": (Angles, optional(TURNED)) for side in "ab" if f"orientation_{side}" in told}
    return _entry(f"{kind.__name__}Entry", kind.__doc__, type=typed, **fields)


def _constraint_entry(kinds: tuple[ConstraintKind, ...]) -> type[Entry]:
    """The entry of all kinds of constraints: which keys each may have is told by the kind itself."""
    word = Annotated[StrictStr, WithJsonSchema({"enum": [kind.name for kind in kinds]})]
    found: dict[str, Any] = {"type": (word, needed("kind of constraint"))}
    for name, key in {name: key for kind in kinds for name, key in kind.keys.items()}.items():
        if key.in_files and key.holds != "function":
            found[name] = _field(replace(key, needed=False))
        if key.holds == "quaternion":
            found[name.replace("orientation", "rpy")] = (Angles, optional(TURNED))
    texts = "expressions that stay zero: of t and of one-axis joints by name, or of x, y, z on a curve"
    found["residual"] = (Expressions, optional(texts))
    text = "A condition on the motion: between frames on two bodies, or on the coordinates of joints."
    return _entry("ConstraintEntry", text, **found)


def _entry(name: str, text: str | None, **keys: Any) -> type[Entry]:
    return create_model(name, __base__=Entry, __doc__=(text or "").partition("\n")[0], **keys)


def _field(key: Key) -> tuple[Any, Any]:
    """The type and the description of a key."""
    return type_of(key), needed(key.text) if key.needed else optional(key.text)


def schema() -> dict[str, Any]:
    """The JSON schema of a model file."""
    found = entries().model.model_json_schema()
    for entry in (found, *found["$defs"].values()):
        for key in entry.get("properties", {}).values():
            if key.get("default", ...) in (None, {}):
                del key["default"]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **found}


def schema_text() -> str:
    """The schema as docs/model-schema.json holds it."""
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"
