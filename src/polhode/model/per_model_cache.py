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
    last: tuple[Model | None, dict[tuple, T]] = (None, {})

    def results_of(model: Model) -> dict[tuple, T]:
        nonlocal found
        for one, results in found:
            if one is model:
                return results
        results = {}
        found = (*found[1 - KEPT :], (model, results))
        return results

    @wraps(function)
    def again(model: Model, *more: P.args, **none: P.kwargs) -> T:
        nonlocal last
        one, results = last  # most calls are of the model of the call before
        if one is not model:
            results = results_of(model)
            last = model, results
        try:
            return results[more]
        except KeyError:
            pass
        made = results[more] = function(model, *more, **none)
        if len(results) > MOST:
            results.pop(next(iter(tuple(results))), None)
        return made

    return again
