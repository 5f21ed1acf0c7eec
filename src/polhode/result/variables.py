"""Variables of xarray, made and copied without its checks: a Dataset has some two dozen of them."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import xarray as xr

SLOTS = {"_attrs", "_data", "_dims", "_encoding"}
"""All that a Variable holds, in the versions of xarray that are known."""


@cache
def variable_maker(xr: Any) -> Callable[[tuple[str, ...], Any, dict[str, str]], "xr.Variable"]:
    """What makes a Variable of dimensions, data of that shape and attributes; all three become its own.

    xr  the package xarray, which looks into every array that it is given whether dask made it, and imports that

    Where a version of xarray keeps more in a Variable than is known here, xarray makes them: that takes six times as
    long.
    """
    kind, new = xr.Variable, object.__new__
    if not _has_known_slots(kind):
        return lambda dims, data, attrs: kind(dims, data, attrs, fastpath=True)

    def made(dims: Any, data: Any, attrs: Any) -> Any:
        found = new(kind)
        found._dims, found._data, found._attrs, found._encoding = dims, data, attrs, None
        return found

    return made


def copier(variables: Mapping[Any, Any]) -> Callable[[], dict[Any, Any]]:
    """What copies variables, by their names, again and again: they must not change.

    Attributes of a copy are its own; arrays are copied, values of an index never change.
    """
    kept, new = dict(variables), object.__new__
    if not all(map(_has_known_slots, set(map(type, kept.values())))):
        return lambda: {name: variable.copy(deep=True) for name, variable in kept.items()}
    parts = [
        (name, type(one), one._dims, one._data, isinstance(one._data, np.ndarray), dict(one._attrs or {}))
        for name, one in kept.items()
    ]

    def copied() -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for name, kind, dims, data, is_array, attrs in parts:
            found[name] = one = new(kind)
            one._dims, one._attrs, one._encoding = dims, attrs.copy(), None
            one._data = data.copy() if is_array else data
        return found

    return copied


@cache
def _has_known_slots(kind: Any) -> bool:
    """Whether a kind of Variable holds what is known here, and nothing else."""
    slots = {name for base in kind.__mro__ for name in getattr(base, "__slots__", ())}
    return slots == SLOTS and not kind.__dictoffset__
