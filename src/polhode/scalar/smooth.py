"""Branches that leave a function smooth: between a closed form and its series, or between formulas of one value.

Where a user function compares numbers, its value has a corner or a jump, and steps of a run have to end there. The
branches inside the functions marked here are not such: both sides give the same value but for rounding.
"""

import threading
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

_open = threading.local()


def smooth(function: Function) -> Function:
    """Mark a function on generic scalars as smooth in spite of its branches; also a decorator."""

    @wraps(function)
    def marked(*arguments: Any, **named: Any) -> Any:
        before = inside_smooth()
        _open.inside = True
        try:
            return function(*arguments, **named)
        finally:
            _open.inside = before

    return marked  # type: ignore[return-value]


def inside_smooth() -> bool:
    """Whether a function that is marked as smooth runs now, in this thread."""
    return getattr(_open, "inside", False)
