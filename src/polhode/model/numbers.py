"""Numbers of a model: plain, or with a name; checked where they enter."""

import math
from dataclasses import dataclass
from typing import Any

from polhode.errors import ModelError, message


@dataclass(frozen=True)
class Parameter:
    """A number with a name: the same value until a call or a sweep gives another."""

    name: str
    value: float

    def __post_init__(self) -> None:
        """Check the value."""
        number(f"parameter '{self.name}'", "value", self.value)


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


def number(where: str, name: str, value: Any) -> Any:
    """A finite number, kept as a Parameter if it is one."""
    if isinstance(value, Parameter) or (type(value) is float and math.isfinite(value)):
        return value
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise ModelError(message(f"{where}, {name}", "not a finite number", repr(value), "a number"))
    return number


def numbers(where: str, name: str, value: Any, size: int) -> tuple:
    """A tuple of numbers of this size."""
    try:
        entries = tuple(value)
    except TypeError:
        entries = ()
    if len(entries) != size:
        raise ModelError(message(f"{where}, {name}", "wrong size", repr(value), f"{size} numbers"))
    return tuple([number(where, name, x) for x in entries])


def assign(record: Any, **values: Any) -> None:
    """Set fields of a frozen record while it is being made."""
    for name, value in values.items():
        object.__setattr__(record, name, value)
