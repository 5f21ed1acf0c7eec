"""Plain arguments of calls, checked at the border: one number, a list, a choice, a path."""

import math
import numbers
from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from polhode.errors import InputError, message


def shown(value: Any) -> str:
    """What was given, as a message shows it: its first words."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}…"


def is_real(value: Any) -> bool:
    """Whether it is one real number: of Python, of NumPy, a fraction, a decimal; no truth value, no text."""
    if isinstance(value, np.ndarray):
        return value.ndim == 0 and value.dtype.kind in "iuf" and not isinstance(value, np.ma.MaskedArray)
    return isinstance(value, (numbers.Real, Decimal)) and not isinstance(value, (bool, np.bool_))


def real_number(where: str, value: Any, expected: str, above: float = -math.inf, most: float = math.inf) -> float:
    """A finite number above one bound and not beyond another, or an InputError."""
    try:
        found = float(value) if is_real(value) else math.nan
    except (OverflowError, ValueError):
        found = math.nan
    if not (above < found <= most and math.isfinite(found)):
        raise InputError(message(where, "out of range", shown(value), expected))
    return found


def is_list(value: Any) -> bool:
    """Whether it has entries to go through: any iterable but a text, a mapping, an array without axes."""
    single = isinstance(value, (str, bytes, Mapping)) or getattr(value, "ndim", 1) == 0
    return isinstance(value, Iterable) and not single


def a_list(where: str, value: Any, expected: str) -> list:
    """The entries of a list, a tuple, an array or any other sequence but a text; or an InputError."""
    if not is_list(value):
        raise InputError(message(where, "not a list", shown(value), expected))
    return list(value)


def one_of(where: str, value: Any, known: Iterable[str], what: str) -> str:
    """A text that is among those known, or an InputError that lists them."""
    if not isinstance(value, str) or value not in known:
        raise InputError(message(where, what, shown(value), " or ".join(map(repr, known))))
    return value


def flag(where: str, value: Any) -> bool:
    """A truth value, or an InputError."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(message(where, "neither true nor false", shown(value), "True or False"))
    return bool(value)


def a_path(where: str, value: Any) -> Path:
    """A path of a file or folder, or an InputError."""
    if not isinstance(value, (str, Path)) or "\0" in str(value):
        raise InputError(message(where, "not a path", shown(value), "a text or a pathlib.Path"))
    return Path(value)
