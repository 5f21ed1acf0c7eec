"""What was made of a model lately: made once, and found again while the model is in use."""

from collections.abc import Callable
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
    found: tuple[tuple[Model, dict[tuple, T]], ...] = ()

    @wraps(function)
    def again(model: Model, *more: P.args, **none: P.kwargs) -> T:
        nonlocal found
        results: dict[tuple, T] | None = None
        for one, known in found:
            if one is model:
                results = known
                break
        if results is None:
            results = {}
            found = (*found[1 - KEPT :], (model, results))
        try:
            return results[more]
        except KeyError:
            pass
        made = results[more] = function(model, *more, **none)
        if len(results) > MOST:
            results.pop(next(iter(tuple(results))), None)
        return made

    return again
