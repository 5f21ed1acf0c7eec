"""What a model file may hold: its entries and their keys.

Values are checked for kind and size here; whether they make sense together is checked by the records of
`polhode.model`. `schema()` is the same as a JSON schema.
"""

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Annotated, Any, NamedTuple, Union

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    PlainValidator,
    StrictStr,
    Tag,
    ValidationError as ValidationError,
    WithJsonSchema,
    create_model,
)
from typing_extensions import TypeAliasType

from polhode.errors import did_you_mean
from polhode.formats import beam_entries, modal_entries
from polhode.formats.entries.entry_keys import (
    BODY,
    FRAME,
    JOINT,
    SHAPE,
    START,
    TYPE_OF_CONSTRAINT,
    constraint_keys,
    force_keys,
    is_data,
    joint_keys,
)
from polhode.formats.expression import Fault, short
from polhode.formats.file_values import (
    Coordinates,
    Entry,
    Euler as Euler,
    Name,
    Number,
    Vector,
    custom,
    entry_class,
    field_of,
    needed,
    optional,
)
from polhode.model import JOINTS
from polhode.model.constraints.base import ConstraintKind
from polhode.model.constraints.registry import CONSTRAINTS
from polhode.model.forces.base import ForceElement
from polhode.model.forces.registry import FORCES
from polhode.model.joints.base import JointKind
from polhode.model.keys import Key

BodyEntry = entry_class("BodyEntry", "A rigid body.", BODY, physical=field_of(BODY["physical"], True))
JointEntry = entry_class("JointEntry", "How a child moves relative to its parent.", JOINT)
FrameEntry = entry_class("FrameEntry", "A frame fixed to a body.", FRAME)
ShapeEntry = entry_class("ShapeEntry", "What a body looks like, or a part of it: for pictures alone.", SHAPE)
StartEntry = entry_class("StartEntry", "Where a motion starts, and how it is followed.", START)
_START: Any = Annotated[
    Annotated[StartEntry, Tag("a start")] | Annotated[Name, Tag("a configuration")],
    Discriminator(lambda value: "a configuration" if isinstance(value, str) else "a start"),
]


class KeptEntry(BaseModel):
    """A constraint of another program, kept as data: any further keys with names, numbers and lists."""

    model_config = ConfigDict(extra="allow", defer_build=True)

    type: Name = needed("a name")


class ModelEntry(Entry):
    """A model file of Polhode. SI units, radians; quaternions are w, x, y, z."""  # what groups hold: `_model_entry`

    name: Name = needed("of the model")
    parameters: dict[str, Number] = optional("numbers with a name, each of which may use those before it", {})
    gravity: Vector = optional("m/s²; [0, 0, -9.81] unless given")
    bodies: dict[str, Any] = optional("rigid bodies by name", {})
    joints: dict[str, Any] = optional("joints by name; q and v are those of the joints, in this order", {})
    forces: dict[str, Any] = optional("forces and springs by name", {})
    constraints: dict[str, Any] = optional("constraints by name", {})
    materials: dict[str, Any] = optional("of sections, by name; steel, aluminium, … are known", {})
    sections: dict[str, Any] = optional("of beams, by name", {})
    beams: dict[str, Any] = optional("beams by name: each becomes bodies, joints, forces and constraints", {})
    modal: dict[str, Any] = optional("flexible bodies by modes of finite-element matrices, by name", {})
    configurations: dict[str, Any] = optional("coordinates by name, in the order of the joints or by joint", {})
    frames: dict[str, Any] = optional("frames fixed to bodies, by names that calls take as those of bodies", {})
    shapes: dict[str, Any] = optional("what bodies look like in pictures, by name", {})
    start: Any = optional("where a motion starts; or the name of a configuration")


GROUPS = (
    "joints", "forces", "constraints", "materials", "sections", "beams", "modal", "configurations", "frames", "shapes",
)  # fmt: skip
"""The keys of a model file that hold parts with entries of their own, and that many files leave out."""


class Entries(NamedTuple):
    """The entries of a model file, with those of all registered kinds of parts."""

    model: type[ModelEntry]
    joint: type[Entry]
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
        "configurations": lambda: Coordinates,
        "frames": lambda: FrameEntry,
        "shapes": lambda: ShapeEntry,
    }
    described = ModelEntry.model_fields
    kinds: dict[str, Any] = {name: dict[str, make()] for name, make in makers.items() if name in groups}  # type: ignore[misc]
    kinds |= {name: Any for name in GROUPS if name not in groups}
    kinds |= {"bodies": dict[str, BodyEntry], "start": _START}  # type: ignore[valid-type]
    typed: Any = {name: (kind, described[name]) for name, kind in kinds.items()}
    return create_model("ModelEntry", __base__=ModelEntry, __doc__=ModelEntry.__doc__, **typed)


@lru_cache(maxsize=16)
def _entries(
    joints: tuple[JointKind, ...], forces: tuple[type[ForceElement], ...], constraints: tuple[ConstraintKind, ...]
) -> Entries:
    model, of_force = _model_entry(joints, forces, constraints, GROUPS), _force_entries(forces)
    by_kind = {tag.removeprefix("a "): entry for tag, entry in of_force.items()}
    return Entries(model, _joint_entry(joints), by_kind, _constraint_entry(constraints))


def _joint_entry(kinds: tuple[JointKind, ...]) -> type[Entry]:
    """The entry of all kinds of joints, with the numbers of their own; which a kind may have is told by the kind."""
    word = Annotated[StrictStr, WithJsonSchema({"enum": [kind.name for kind in kinds]})]
    return entry_class("JointEntry", JointEntry.__doc__, joint_keys(kinds), type=(word, needed(JOINT["type"].text)))


def _one_of(name: str, tagged: Mapping[str, type[BaseModel]], tag: Callable[[Any], str]) -> Any:
    """One of several entries, chosen by a function of what is written."""
    kinds = [Annotated[kind, Tag(each)] for each, kind in tagged.items()]
    return TypeAliasType(name, Annotated[Union[tuple(kinds)], Discriminator(tag)])  # noqa: UP007 - of a list


def _force_tag(value: Any) -> str:
    """That of its type; one without a type, or of an unknown one, is a force, whose entry tells what is wrong."""
    kind = value.get("type") if isinstance(value, dict) else None
    return f"a {kind}" if isinstance(kind, str) and kind in FORCES and is_data(FORCES[kind]) else "a force"


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
    return {f"a {kind.kind}": _force_entry(kind) for kind in kinds if is_data(kind)}


def _force_entry(kind: type[ForceElement]) -> type[Entry]:
    """The entry of a kind of force element; a type that is left out means a force."""
    name = kind.kind

    def is_it(value: Any) -> str:
        if value == name:
            return name
        known = [each for each, other in FORCES.items() if is_data(other)]
        fix = did_you_mean(value, known, "A type that is left out means a force.")
        raise custom(Fault("an unknown type of force", short(value), " or ".join(known), fix))

    word = Annotated[Any, PlainValidator(is_it), WithJsonSchema({"const": name})]
    typed = (word, optional(name, name) if name == "force" else needed(name))
    keys = {"type": Key("text"), **force_keys(kind)}
    return entry_class(f"{kind.__name__}Entry", kind.__doc__, keys, type=typed)


def _constraint_entry(kinds: tuple[ConstraintKind, ...]) -> type[Entry]:
    """The entry of all kinds of constraints: which keys each may have is told by the kind itself."""
    word = Annotated[StrictStr, WithJsonSchema({"enum": [kind.name for kind in kinds]})]
    text = "A condition on the motion: between frames on two bodies, or on the coordinates of joints."
    keys = {"type": TYPE_OF_CONSTRAINT, **constraint_keys(kinds)}
    return entry_class("ConstraintEntry", text, keys, type=(word, needed(TYPE_OF_CONSTRAINT.text)))


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
