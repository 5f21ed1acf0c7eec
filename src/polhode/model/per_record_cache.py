"""What was made of a body, a joint, a force or a constraint lately: made once, and found again."""

from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

RECORDS = 4096
"""Bodies, joints, forces and constraints of which the results are kept, those met last."""

P = ParamSpec("P")
T = TypeVar("T")


def once_per_record(function: Callable[P, T]) -> Callable[P, T]:
    """A function of records, and perhaps of texts and whole numbers, that is called once for the same ones.

    Models that differ in some numbers (`Model.with_numbers`) share all other records. What it gives is not changed.
    """
    found: OrderedDict[tuple, tuple[tuple, T]] = OrderedDict()

    @wraps(function)
    def again(*given: P.args, **none: P.kwargs) -> T:
        one = len(given) == 1
        key = (id(given[0]),) if one else tuple([x if isinstance(x, (str, int)) else id(x) for x in given])
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
