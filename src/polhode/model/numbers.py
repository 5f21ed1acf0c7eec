"""Numbers of a model: plain, or with a name; checked where they enter."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.errors import ModelError, check_name, message
from polhode.model.per_record_cache import once_per_record
from polhode.scalar import UNIT_TOLERANCE, is_list, shown, without_rotations


@dataclass(frozen=True)
class Parameter:
    """A number with a name: the same value until a call or a sweep gives another."""

    name: str
    value: float

    def __post_init__(self) -> None:
        """Check name and value."""
        check_name("parameter", "parameter", self.name)
        object.__setattr__(self, "value", number(f"parameter '{self.name}'", "value", self.value))


LARGEST = 1e75
"""The size of a number of a model, at most: products of four of them are still finite in double precision."""

SMALLEST = 1e-75
"""The size of a number that divides, at least, for the same reason."""

Number = float | Parameter
"""A number of a model: plain, or with a name."""


def plain(value: Any) -> Any:
    """A number, or nested numbers, with every Parameter replaced by its value."""
    if type(value) is float:
        return value
    if isinstance(value, Parameter):
        return value.value
    if isinstance(value, tuple):
        return tuple([plain(x) for x in value])
    return value


def short(value: Any) -> str:
    """A number, or nested numbers, as text with four digits; a function by that word, anything else as it is."""
    if isinstance(value, tuple):
        return f"({', '.join(map(short, value))})"
    value = plain(value)
    return "a function" if callable(value) else f"{value:.4g}" if isinstance(value, (int, float)) else str(value)


def number(where: str, name: str, value: Any) -> Any:
    """A finite number, kept as a Parameter if it is one."""
    if isinstance(value, Parameter) or (type(value) is float and -LARGEST <= value <= LARGEST):
        return value
    try:
        number = math.nan if isinstance(value, (str, bytes, np.ma.MaskedArray)) else float(value)
    except (TypeError, ValueError, OverflowError):  # a whole number of 400 digits overflows
        number = math.nan
    if not math.isfinite(number):
        raise ModelError(message(f"{where}, {name}", "not a finite number", shown(value), "a number"))
    if abs(number) > LARGEST:
        found, expected = shown(value), f"at most {LARGEST:g} in size, in SI units"
        raise ModelError(message(f"{where}, {name}", "too large to compute with", found, expected))
    return number


def numbers(where: str, name: str, value: Any, size: int) -> tuple:
    """A tuple of numbers of this size; SciPy's Rotation is its quaternion, alone or within a list."""
    value = without_rotations(value)
    if isinstance(value, np.ma.MaskedArray):
        raise ModelError(message(f"{where}, {name}", "a masked array", "values that are hidden", f"{size} numbers"))
    entries = tuple(value) if is_list(value) else ()
    if len(entries) != size:
        raise ModelError(message(f"{where}, {name}", "wrong size", shown(value), f"{size} numbers"))
    return tuple([number(where, name, x) for x in entries])


def direction(where: str, name: str, value: Any) -> tuple:
    """Three numbers that are not all zero, nor too small to be normalised."""
    direction = numbers(where, name, value, 3)
    if not any(plain(direction)):
        raise ModelError(message(f"{where}, {name}", "is zero", "(0, 0, 0)", "a direction"))
    if max(map(abs, plain(direction))) < SMALLEST:
        found, expected = repr(plain(direction)), f"a direction of length {SMALLEST:g} or more, as (0, 0, 1)"
        raise ModelError(message(f"{where}, {name}", "too short to compute with", found, expected))
    return direction


def assign(record: Any, **values: Any) -> None:
    """Set fields of a frozen record while it is being made."""
    for name, value in values.items():
        object.__setattr__(record, name, value)


def named_parameters(model: Any) -> list[Parameter]:
    """Every Parameter of a model, once; two of one name with different values are a ModelError."""
    found: dict[str, Parameter] = {}
    records = *model.bodies, *model.joints, *model.forces, *model.constraints
    for parameter in (*_parameters_in(model.gravity), *(x for record in records for x in _parameters_of(record))):
        if found.setdefault(parameter.name, parameter) != parameter:
            where, shown = f"model '{model.name}', parameter '{parameter.name}'", found[parameter.name].value
            raise ModelError(message(where, "two values", f"{shown} and {parameter.value}", "one value"))
    return list(found.values())


@once_per_record
def _parameters_of(record: Any) -> tuple[Parameter, ...]:
    """The Parameters among the fields of a record; of a constraint among its numbers."""
    data = getattr(record, "data", None)
    of_constraint = hasattr(record, "numeric") and isinstance(data, Mapping)
    values = [data[key] for key in record.numeric] if data and of_constraint else list(vars(record).values())
    return tuple(_parameters_in(values))


def _parameters_in(value: Any) -> Iterator[Parameter]:
    if isinstance(value, Parameter):
        yield value
    elif isinstance(value, (tuple, list, Mapping)):
        for x in value.values() if isinstance(value, Mapping) else value:
            if type(x) is not float:
                yield from _parameters_in(x)


def unit_quaternion_numbers(where: str, value: Any) -> tuple:
    """An orientation (w, x, y, z) of unit length."""
    p = numbers(where, "orientation", value, 4)
    norm = math.sqrt(sum(x * x for x in plain(p)))
    if abs(norm - 1) > UNIT_TOLERANCE:
        fix = "Order is (w, x, y, z)."
        raise ModelError(message(f"{where}, orientation", "not a unit quaternion", f"norm {norm:.9g}", "1", fix))
    return p
