"""What differs between two models: paths, with the values here and there."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from html import escape
from typing import Any, NamedTuple

from polhode.errors import InputError, message
from polhode.model.constraints.constraint import Constraint
from polhode.model.numbers import Parameter
from polhode.scalar import shown

GROUPS = ("bodies", "joints", "forces", "constraints", "frames")


class Missing:
    """What a model has not."""

    def __repr__(self) -> str:
        return "–"


MISSING = Missing()


class ModelDifference(NamedTuple):
    """A path of a model, its value here, and in the other model; `MISSING` where one of them has none."""

    path: str
    here: Any
    there: Any

    def __str__(self) -> str:
        return f"{self.path}: {told(self.here)} → {told(self.there)}"


class ModelDifferences(tuple[ModelDifference, ...]):
    """All differences between two models, in the order of their records; false where there are none."""

    def __str__(self) -> str:
        return "\n".join(map(str, self)) or "no differences"

    def __repr__(self) -> str:
        return f"<{len(self)} differences>\n{self}" if self else "<no differences>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(x.path)}</td><td>{escape(told(x.here))}</td><td>{escape(told(x.there))}</td></tr>"
            for x in self
        )
        return f"<table><tr><th>path</th><th>here</th><th>there</th></tr>{rows}</table>" if self else escape(repr(self))


def told(value: Any) -> str:
    """A value in few words: numbers with the digits that tell them apart."""
    if isinstance(value, Parameter):
        return f"{value.name} = {value.value!r}"
    return shown(value) if not callable(value) else f"function {getattr(value, '__name__', type(value).__name__)}"


def differences(model: Any, other: Any) -> ModelDifferences:
    """What differs between two models."""
    if not isinstance(other, type(model)):
        raise InputError(message(f"diff, model '{model.name}'", "not a model", shown(other), "a Model"))
    return ModelDifferences(_of_models(model, other))


def _of_models(model: Any, other: Any) -> Iterator[ModelDifference]:
    for name in ("name", "gravity"):
        yield from _of_values(name, getattr(model, name), getattr(other, name))
    for group in GROUPS:
        here, there = ({record.name: record for record in getattr(each, group)} for each in (model, other))
        yield from _of_values(f"{group} in order", tuple(here), tuple(there)) if set(here) == set(there) else ()
        for name in dict.fromkeys([*here, *there]):
            yield from _of_records(f"{group}.{name}", here.get(name), there.get(name))
    starts = [_fields(each.start) if each.start is not None else MISSING for each in (model, other)]
    yield from _of_values("start", *starts)
    yield from _of_values("configurations", dict(model.configurations), dict(other.configurations))


def _of_records(path: str, here: Any, there: Any) -> Iterator[ModelDifference]:
    if here is None or there is None:
        yield ModelDifference(
            path, MISSING if here is None else _named(here), MISSING if there is None else _named(there)
        )
    elif type(here) is not type(there):
        yield ModelDifference(path, _named(here), _named(there))
    else:
        yield from _of_values(path, _fields(here), _fields(there))


def _named(record: Any) -> str:
    """What a record is, in a word."""
    return getattr(record, "type", None) or getattr(record, "kind", None) or type(record).__name__.lower()


def _fields(record: Any) -> dict[str, Any]:
    if isinstance(record, Constraint):
        return {"type": record.type, **record.data}
    return {each.name: getattr(record, each.name) for each in fields(record)}


def _of_values(path: str, here: Any, there: Any) -> Iterator[ModelDifference]:
    """The numbers and names that differ, one by one where both sides have as many."""
    if isinstance(here, Mapping) and isinstance(there, Mapping):
        for name in dict.fromkeys([*here, *there]):
            yield from _of_values(f"{path}.{name}", here.get(name, MISSING), there.get(name, MISSING))
    elif _alike(here, there):
        for k, (a, b) in enumerate(zip(here, there, strict=True)):
            yield from _of_values(f"{path}.{k}", a, b)
    elif here is not there and here != there:
        yield ModelDifference(path, here, there)


def _alike(here: Any, there: Any) -> bool:
    """Whether two values are rows of as many numbers, or of rows; names are told together."""
    if (
        not (isinstance(here, Sequence) and isinstance(there, Sequence))
        or isinstance(here, str)
        or len(here) != len(there)
    ):
        return False
    return not isinstance(there, str) and not any(isinstance(x, str) for x in (*here, *there))
