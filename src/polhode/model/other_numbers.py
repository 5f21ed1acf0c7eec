"""A model with other numbers: the same bodies, joints, forces and constraints, checked as a new model is."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from polhode.errors import InputError, UnknownNameError, did_you_mean, message
from polhode.model.constraints.constraint import Constraint, check_data
from polhode.model.forces.base import ForceElement
from polhode.model.numbers import Parameter, named_parameters
from polhode.scalar import is_list, shown

GROUPS = ("bodies", "joints", "forces")


def other_numbers(
    model: Any, values: Mapping[str, Any], where: str, inputs: bool = True, more: Sequence[str] = ()
) -> Any:
    """A Model with other numbers.

    values  by a path of `model.numbers()`, by its beginning ("bodies.arm.inertia"), or by the name of a Parameter;
            two equal entries of an inertia change together
    where   what asks, for errors
    inputs  whether kernels are to take its numbers as inputs
    more    other names that a caller knows, for errors
    """
    if not isinstance(values, Mapping):
        raise InputError(message(where, "not a mapping", shown(values), "{path: value}"))
    given = {path: _flat(f"{where}, {shown(path)}", value) for path, value in values.items()}
    parameters = {parameter.name for parameter in named_parameters(model)} if given else ()
    named = {path: _one(f"{where} '{path}'", given.pop(path)) for path in list(given) if path in parameters}
    changes = _Changes(model, named, where, inputs, more)
    for path, numbers in (_mirrored(given) | given).items():
        changes.put(path, numbers)
    return changes.made()


class _Changes:
    """The new values of the fields of a model's records."""

    def __init__(self, model: Any, named: Mapping[str, float], where: str, inputs: bool, more: Sequence[str]) -> None:
        self.model, self.named, self.where, self.inputs, self.more = model, named, where, inputs, more
        self.gravity: Any = model.gravity
        self.records: dict[tuple[str, str], dict[str, Any]] = {}

    def put(self, path: Any, numbers: tuple[float, ...]) -> None:
        """Note the numbers of a path."""
        group, _, rest = path.partition(".") if isinstance(path, str) else ("", "", "")
        if group == "gravity":
            self.gravity = _placed(f"{self.where} '{path}'", self.gravity, rest.split(".") if rest else [], numbers)
            return
        for record in getattr(self.model, group) if group in (*GROUPS, "constraints") else ():
            name, *places = rest.removeprefix(f"{record.name}.").split(".")
            if rest.startswith(f"{record.name}.") and name in _numeric(record):
                new = self.records.setdefault((group, record.name), {})
                old = new.get(name, record.data[name] if isinstance(record, Constraint) else getattr(record, name))
                new[name] = _placed(f"{self.where} '{path}'", old, places, numbers)
                return
        raise _unknown(self.model, path, self.where, self.more)

    def made(self) -> Any:
        """The model with all of them."""
        renewed: dict[str, Any] = {"gravity": self._named(self.gravity) if self.named else self.gravity}
        for group in (*GROUPS, "constraints"):
            records = getattr(self.model, group)
            found = tuple(self._renewed(record, self.records.get((group, record.name), {})) for record in records)
            if any(new is not old for new, old in zip(found, records, strict=True)):
                renewed[group] = found
        return replace(self.model, number_inputs=self.inputs, **renewed)

    def _renewed(self, record: Any, new: Mapping[str, Any]) -> Any:
        if isinstance(record, Constraint):
            data = {**record.data, **new}
            data |= {key: self._named(data[key]) for key in record.numeric if self.named}
            if data == record.data:
                return record
            changed = replace(record, data=data)
            check_data(changed)
            return changed
        values = dict(new)
        for name in _numeric(record) if self.named else ():
            old = new.get(name, getattr(record, name))
            if (found := self._named(old)) != old:
                values[name] = found
        return replace(record, **values) if values else record

    def _named(self, x: Any) -> Any:
        """Numbers with the new values of Parameters."""
        if isinstance(x, tuple):
            return tuple(map(self._named, x))
        if isinstance(x, Mapping):
            return {key: self._named(value) for key, value in x.items()}
        return Parameter(x.name, self.named[x.name]) if isinstance(x, Parameter) and x.name in self.named else x


def _flat(where: str, value: Any) -> tuple[float, ...]:
    """Numbers one after the other."""
    if is_list(value):
        return tuple(x for part in value for x in _flat(where, part))
    try:
        if isinstance(value, (str, bytes, bool)):
            raise TypeError
        return (float(value),)
    except (TypeError, ValueError, OverflowError):
        raise InputError(message(where, "not a number", shown(value), "a number, or a list of numbers")) from None


def _mirrored(given: Mapping[Any, tuple[float, ...]]) -> dict[str, tuple[float, ...]]:
    """The other one of two equal entries of an inertia matrix, by its path."""
    found = {}
    for path, numbers in given.items():
        head, mark, tail = path.rpartition(".inertia.") if isinstance(path, str) else ("", "", "")
        row, dot, column = tail.partition(".")
        if head.startswith("bodies.") and dot and row != column:
            found[f"{head}{mark}{column}.{row}"] = numbers
    return found


def _numeric(record: Any) -> list[str]:
    """The fields of a record that hold numbers."""
    if isinstance(record, (Constraint, ForceElement)):
        return record.numeric
    values = {field.name: getattr(record, field.name) for field in fields(record)}
    return [name for name, value in values.items() if not isinstance(value, (str, bool)) and not callable(value)]


def _placed(where: str, old: Any, places: Sequence[str], values: tuple[float, ...]) -> Any:
    """The old number, or numbers, with new ones in their place."""
    if places:
        if isinstance(old, Mapping) and places[0] in old:
            return {**old, places[0]: _placed(where, old[places[0]], places[1:], values)}
        if not isinstance(old, tuple) or places[0] not in map(str, range(len(old))):
            size = f"a place from 0 to {len(old) - 1}" if isinstance(old, tuple) else "no place: it is one number"
            raise InputError(message(where, "no such place", repr(places[0]), size))
        k = int(places[0])
        return (*old[:k], _placed(where, old[k], places[1:], values), *old[k + 1 :])
    if not isinstance(old, tuple):
        return values[0] if len(values) == 1 else values
    flat = len(old) * (len(old[0]) if isinstance(old[0], tuple) else 1)
    if len(values) not in (flat, len(old)):
        raise InputError(message(where, "wrong size", f"{len(values)} numbers", f"{flat} numbers"))
    if len(values) == flat != len(old):
        return tuple(values[i : i + len(old[0])] for i in range(0, flat, len(old[0])))
    return values


def _one(where: str, values: tuple[float, ...]) -> float:
    if len(values) != 1:
        raise InputError(message(where, "wrong size", f"{len(values)} numbers", "one number"))
    return values[0]


def _unknown(model: Any, path: Any, where: str, more: Sequence[str]) -> UnknownNameError:
    """The error that says that a model has no number of this path, and which come near; more: other names to try."""
    parameters = [parameter.name for parameter in named_parameters(model)]
    paths = list(model.numbers())
    known = [*more, *parameters, *paths, *{known.rpartition(".")[0] for known in paths}]
    start = f"a start ({', '.join(more[:2])}), a parameter, or a path ({paths[0]})"
    expected = start if more else f"a path, as {paths[0]}, or the name of a parameter"
    fix = did_you_mean(path, known, "" if more else "model.numbers() lists all paths.", most=3)
    return UnknownNameError(message(f"{where}, model '{model.name}'", "no such number", shown(path), expected, fix))
