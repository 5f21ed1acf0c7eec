"""Variables of xarray, made and copied without its checks: a Dataset has some two dozen of them."""

from collections.abc import Callable, Mapping
from functools import cache, partial
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
    if not _has_known_slots(xr.Variable):
        return lambda dims, data, attrs: xr.Variable(dims, data, attrs, fastpath=True)
    return partial(_made, xr.Variable)


def copied(variables: Mapping[Any, Any]) -> dict[Any, Any]:
    """Variables of the same values by their names, with attributes of their own; arrays are copied, values of an index
    never change."""
    if not all(map(_has_known_slots, set(map(type, variables.values())))):
        return {name: variable.copy(deep=True) for name, variable in variables.items()}
    found: dict[Any, Any] = {}
    for name, variable in variables.items():
        data, attrs = variable._data, variable._attrs
        found[name] = one = object.__new__(type(variable))
        one._dims, one._attrs, one._encoding = variable._dims, attrs.copy() if attrs else {}, None
        one._data = data.copy() if isinstance(data, np.ndarray) else data
    return found


def _made(kind: type, dims: Any, data: Any, attrs: dict[str, str]) -> Any:
    found: Any = object.__new__(kind)
    found._dims, found._data, found._attrs, found._encoding = dims, data, attrs, None
    return found


@cache
def _has_known_slots(kind: Any) -> bool:
    """Whether a kind of Variable holds what is known here, and nothing else."""
    slots = {name for base in kind.__mro__ for name in getattr(base, "__slots__", ())}
    return slots == SLOTS and not kind.__dictoffset__
