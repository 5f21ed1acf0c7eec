"""What was made of a model lately: made once, and found again while the model is in use."""

from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from polhode.model.description import Model

KEPT, MOST = 8, 64
"""Models of which the results are kept, and results of each by further arguments: the oldest go first."""

P = ParamSpec("P")
T = TypeVar("T")


def once_each(function: Callable[Concatenate[Model, P], T]) -> Callable[Concatenate[Model, P], T]:
    """A function of a model, and perhaps of further hashable arguments, that is called once for the same ones.

    Models do not change; equal ones are not the same.
    """
    found: deque[tuple[Model, dict[tuple, T]]] = deque(maxlen=KEPT)

    @wraps(function)
    def again(model: Model, *more: P.args, **none: P.kwargs) -> T:
        results = next((known for one, known in tuple(found) if one is model), None)
        if results is None:
            results = {}
            found.append((model, results))
        if more in results:
            with suppress(KeyError):  # another thread may have let it go
                return results[more]
        made = results[more] = function(model, *more, **none)
        if len(results) > MOST:
            results.pop(next(iter(tuple(results))), None)
        return made

    return again
