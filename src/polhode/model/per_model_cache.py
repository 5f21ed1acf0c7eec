"""What was made of a model, or of one of its records, lately: made once, and found again while it is in use."""

from collections import OrderedDict, deque
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from polhode.model.description import Model

KEPT = 8
"""Models of which the results are kept."""

RECORDS = 4096
"""Bodies, joints, forces and constraints of which the results are kept, those met last."""

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
        if more not in results:
            results[more] = function(model, *more, **none)
        return results[more]

    return again


def once_per_record(function: Callable[P, T]) -> Callable[P, T]:
    """A function of records, and perhaps of texts and whole numbers, that is called once for the same ones.

    Models that differ in some numbers (`Model.with_numbers`) share all other records. What it gives is not changed.
    """
    found: OrderedDict[tuple, tuple[tuple, T]] = OrderedDict()

    @wraps(function)
    def again(*given: P.args, **none: P.kwargs) -> T:
        key = tuple([x if isinstance(x, (str, int)) else id(x) for x in given])
        known = found.get(key)
        if known is None:
            known = found[key] = given, function(*given, **none)  # holds the records, so that no other has their ids
            if len(found) > RECORDS:
                _forget_first(found)
        return known[1]

    return again


def _forget_first(found: OrderedDict[tuple, Any]) -> None:
    try:
        found.popitem(last=False)
    except KeyError:  # another thread was quicker
        return
