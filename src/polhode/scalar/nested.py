"""Vectors, and records and lists of vectors, as one row of numbers, and back."""

from collections.abc import Iterator
from typing import Any


def flat(value: Any) -> list[Any]:
    """All numbers of nested vectors, records and lists, in order; None holds none."""
    found: list[Any] = []
    for part in value if isinstance(value, (tuple, list)) else (value,):
        if isinstance(part, (tuple, list)):
            found += flat(part)
        elif part is not None:
            found.append(part)
    return found


def shaped(like: Any, numbers: Iterator[Any]) -> Any:
    """Vectors and records like the given ones, of these numbers."""
    if like is None:
        return None
    if not isinstance(like, (tuple, list)):
        return next(numbers)
    parts = [shaped(part, numbers) for part in like]
    return type(like)(*parts) if hasattr(like, "_fields") else type(like)(parts)
