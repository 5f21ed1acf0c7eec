"""What was made of a model lately: made once, and found again while the model is in use."""

from collections import deque
from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from polhode.model.description import Model

KEPT = 8
"""Models of which the results are kept."""

T = TypeVar("T")


def once_each(function: Callable[[Model], T]) -> Callable[[Model], T]:
    """A function of a model that is called once for the same one. Models do not change; equal ones are not the same."""
    found: deque[tuple[Model, T]] = deque(maxlen=KEPT)

    @wraps(function)
    def again(model: Model) -> T:
        for known, result in tuple(found):
            if known is model:
                return result
        result = function(model)
        found.append((model, result))
        return result

    return again
