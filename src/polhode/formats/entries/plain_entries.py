"""Entries of a model file, read by the tables of `entry_keys`: files that are right, without pydantic (70 ms).

What is not as it should be in any way, and beams and modal bodies, are left to `schema`, which checks all of it and
tells what is wrong. What both read is the same, key by key in the same order: a test compares them.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from polhode.formats.entries import entry_keys, entry_values
from polhode.formats.entries.entry_values import FileContext, limit_value, name_text, number, number_value
from polhode.formats.expression import Fault
from polhode.model.constraints.base import ConstraintKind
from polhode.model.constraints.registry import CONSTRAINTS
from polhode.model.forces.registry import FORCES
from polhode.model.joints.base import JointKind
from polhode.model.joints.registry import JOINTS
from polhode.model.keys import Key

Read = Callable[[Any, FileContext], Any]
"""(value, context) → what an entry holds; a `NotPlain` or a Fault where the value is not as it should be."""


class NotPlain(Exception):
    """A file that `schema` is to read."""


class PlainEntry:
    """A mapping of a model file, its keys as attributes; those that it does not have are None.

    model_fields_set  the keys that it has, as pydantic calls them
    """

    model_extra = None

    def __init__(self, values: dict[str, Any]) -> None:
        self.__dict__.update(values)

    @property
    def model_fields_set(self) -> set[str]:
        """The keys that the file gives."""
        return {*self.__dict__}

    def __getattr__(self, name: str) -> None:
        if name.startswith("__"):
            raise AttributeError(name)


class PlainModel(PlainEntry):
    """A model file; groups that it does not have are empty."""

    def __getattr__(self, name: str) -> Any:
        return {} if name in EMPTY else super().__getattr__(name)


def model_entry(data: dict[str, Any], context: FileContext) -> PlainModel | None:
    """The entry of a model file; None where `schema` is to read it."""
    try:
        if any(key not in MODEL for key in data) or "name" not in data:
            return None
        return PlainModel({key: read(data[key], context) for key, read in MODEL.items() if key in data})
    except (Fault, NotPlain):
        return None


def entry_of(value: Any, keys: Mapping[str, Key], context: FileContext) -> PlainEntry:
    """The entry of a mapping, in the order of its table."""
    if not isinstance(value, dict) or any(key not in keys for key in value):
        raise NotPlain
    found = dict[str, Any]()
    for name, key in keys.items():
        if name in value:
            found[name] = _reader(key)(value[name], context)
        elif key.needed:
            raise NotPlain
    return PlainEntry(found)


# values


def _reader(key: Key) -> Read:
    """What reads the values of a key."""
    if key.choices:
        return _text
    if key.holds == "function":
        return lambda value, context: entry_values.function_of(key.variables, value, context)
    return entry_values.motion if key.of_time and key.holds == "number" else READERS[key.holds]


def _kind(*types: type) -> Read:
    def read(value: Any, context: FileContext) -> Any:
        if type(value) not in types:
            raise NotPlain
        return value

    return read


def _list(of: Read, least: int = 0, most: int | None = None) -> Read:
    def read(value: Any, context: FileContext) -> list:
        if not isinstance(value, list) or len(value) < least or (most is not None and len(value) > most):
            raise NotPlain
        return [of(x, context) for x in value]

    return read


def _by_name(of: Read) -> Read:
    def read(value: Any, context: FileContext) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise NotPlain
        return {name: of(x, context) for name, x in value.items()}

    return read


def _one_or_list(one: Read, several: Read, rows: Read | None = None) -> Read:
    """By how it is written: a list of lists, a list, or anything else."""

    def read(value: Any, context: FileContext) -> Any:
        if not isinstance(value, list):
            return one(value, context)
        return rows(value, context) if rows and value and isinstance(value[0], list) else several(value, context)

    return read


def _refused(value: Any, context: FileContext) -> Any:
    raise NotPlain


def _by_joint_or(other: Read) -> Read:
    """Values by joint, or something else."""
    by_joint = _by_name(_one_or_list(number_value, _list(number_value)))
    return lambda value, context: (by_joint if isinstance(value, dict) else other)(value, context)


def _coordinates(value: Any, context: FileContext) -> Any:
    return (name_text if isinstance(value, str) else READERS["velocities"])(value, context)


def _size(count: int) -> Read:
    return _list(number, count, count)


_text, _numbers, _rows = _kind(str), _list(number), _list(_list(number))

READERS: dict[str, Read] = {
    "number": number,
    "limit": entry_values.number_or_infinite,
    "numbers": _list(number, 2),
    "vector": _size(3),
    "direction": _size(3),
    "quaternion": _size(4),
    "array": _one_or_list(_refused, _numbers, _rows),
    "named": _by_name(number),
    "seconds": number,
    "body": name_text,
    "joint": name_text,
    "pairs": _list(_list(name_text, 2, 2)),
    "axis": _kind(int),
    "power": number_value,
    "sizes": _list(number_value),
    "word": _text,
    "flag": _kind(bool),
    "value": number_value,
    "name": name_text,
    "text": _text,
    "each": _one_or_list(number, _numbers),
    "limits": _one_or_list(limit_value, _list(limit_value)),
    "inertia": _one_or_list(_refused, _size(3), _list(_size(3), 3, 3)),
    "size": _list(number, 1, 3),
    "angles": _list(number_value, 3, 3),
    "own": _one_or_list(number, _numbers, _rows),
    "named-own": _by_name(_one_or_list(number, _numbers, _rows)),
    "coordinates": _coordinates,
    "velocities": _by_joint_or(_list(number_value)),
    "euler": lambda value, context: entry_of(value, entry_keys.EULER, context),
    "sequence": lambda value, context: str(value),
    "expressions": entry_values.expression_texts,
}
"""How a file writes what a key holds."""


# groups


def _entries(keys: Callable[[Any], Mapping[str, Key]]) -> Read:
    """Entries by name; keys: of what one of them holds."""
    return _by_name(lambda value, context: entry_of(value, keys(value), context))


def _joint_keys(value: Any) -> Mapping[str, Key]:
    return _all_joint_keys(tuple(JOINTS.values()))


@lru_cache(maxsize=16)
def _all_joint_keys(kinds: tuple[JointKind, ...]) -> Mapping[str, Key]:
    return entry_keys.joint_keys(kinds)


def _force_keys(value: Any) -> Mapping[str, Key]:
    """Those of its kind; a type that is left out means a force."""
    kind = value.get("type", "force") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in FORCES or not entry_keys.is_data(FORCES[kind]):
        raise NotPlain
    return {"type": Key("text"), **entry_keys.force_keys(FORCES[kind])}


def _constraint_keys(value: Any) -> Mapping[str, Key]:
    """Those of all kinds of ours; others are kept as they are, by `schema`."""
    kind = value.get("type") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in CONSTRAINTS:
        raise NotPlain
    return _all_constraint_keys(tuple(CONSTRAINTS.values()))


@lru_cache(maxsize=16)
def _all_constraint_keys(kinds: tuple[ConstraintKind, ...]) -> Mapping[str, Key]:
    return {"type": entry_keys.TYPE_OF_CONSTRAINT, **entry_keys.constraint_keys(kinds)}


def _start(value: Any, context: FileContext) -> Any:
    return name_text(value, context) if isinstance(value, str) else entry_of(value, entry_keys.START, context)


MODEL: dict[str, Read] = {
    "name": name_text,
    "parameters": _by_name(number),
    "gravity": READERS["vector"],
    "bodies": _entries(lambda value: entry_keys.BODY),
    "joints": _entries(_joint_keys),
    "forces": _entries(_force_keys),
    "constraints": _entries(_constraint_keys),
    "configurations": _by_name(_coordinates),
    "frames": _entries(lambda value: entry_keys.FRAME),
    "shapes": _entries(lambda value: entry_keys.SHAPE),
    "start": _start,
}
"""The keys of a model file, in the order of `schema.ModelEntry`: beams and modal bodies are read there."""

EMPTY = {*MODEL, "materials", "sections", "beams", "modal"} - {"name", "gravity", "start"}
"""The groups that a file may leave out."""
