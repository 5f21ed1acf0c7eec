"""Variables of a Dataset that are computed when they are first read, and its records of them, made when it is."""

import threading
from collections.abc import Callable, Mapping
from functools import cache, wraps
from typing import Any

import numpy as np

DOUBLE = np.dtype(float)
"""The type of the arrays of a run: of these nothing but their shape is to be checked."""


class DeferredGroup:
    """Arrays by name that one function gives together, called once, when the first of them is read.

    kinds  the type of each, by its name
    """

    def __init__(self, function: Callable[[], Mapping[str, np.ndarray]], kinds: Mapping[str, np.dtype]) -> None:
        self.kinds = kinds
        self._function: Callable[[], Mapping[str, np.ndarray]] | None = function
        self._found: Mapping[str, np.ndarray] = {}

    def values(self) -> Mapping[str, np.ndarray]:
        """All arrays."""
        if (function := self._function) is not None:  # of two threads both may compute it, and find the same
            self._found, self._function = function(), None
        return self._found


class DeferredArray:
    """One array of a group, of a shape and type that are known before it is computed."""

    __slots__ = ("dtype", "group", "name", "shape")

    def __init__(self, group: DeferredGroup, name: str, shape: tuple[int, ...]) -> None:
        self.group, self.name, self.shape, self.dtype = group, name, shape, group.kinds[name]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        found = np.asarray(self.group.values()[self.name]).astype(self.dtype, copy=False)
        return np.array(found, dtype=dtype) if copy else np.asarray(found, dtype=dtype)


class DeferredDict(dict):
    """A dict whose items are made when it is first used: by whoever reads or writes it, copies, compares or pickles it.

    Copies and pickles are plain dicts.
    """

    __slots__ = ("_make",)

    def __init__(self, make: Callable[[], Mapping[Any, Any]]) -> None:
        self._make: Callable[[], Mapping[Any, Any]] | None = make

    def fill(self) -> None:
        """Make the items, unless they are there."""
        with _filling:
            if self._make is not None:
                dict.update(self, self._make())
                self._make = None

    def __reduce__(self) -> tuple:
        return dict, ({**self},)


_filling = threading.RLock()
"""Held while the items of a dict are made: of two threads that read it both get the same."""


def _when_filled(method: Callable) -> Callable:
    """A method of dicts, the items of all that take part made before."""

    @wraps(method)
    def filled(*given: Any, **named: Any) -> Any:
        for one in given:
            if type(one) is DeferredDict and one._make is not None:
                one.fill()
        return method(*given, **named)

    return filled


for _name in (
    "__contains__", "__delitem__", "__eq__", "__getitem__", "__ior__", "__iter__", "__len__", "__ne__", "__or__",
    "__repr__", "__reversed__", "__ror__", "__setitem__", "clear", "copy", "get", "items", "keys", "pop", "popitem",
    "setdefault", "update", "values",
):  # fmt: skip
    setattr(DeferredDict, _name, _when_filled(getattr(dict, _name)))


def variable_data(values: DeferredArray) -> Any:
    """Deferred values as a Variable of xarray takes them: they are read as parts of a file are, and then kept."""
    return _data_maker()(values)


@cache
def _data_maker() -> Callable[[DeferredArray], Any]:
    """What makes the data of a Variable from a deferred array; imports xarray at first use, which takes long.

    They are those of a file that is read later and kept; three records of xarray around them are made when they are
    asked for, since most are not.
    """
    from xarray.core import indexing

    class DeferredData(indexing.MemoryCachedArray):
        __slots__ = ("_deferred",)
        _deferred: DeferredArray

        def __getattr__(self, name: str) -> Any:
            if name != "array":
                raise AttributeError(name)
            read: Any = indexing.LazilyIndexedArray(_source()(self._deferred))
            self.array = indexing.CopyOnWriteArray(read)
            return self.array

        def __reduce__(self) -> tuple:
            return indexing.MemoryCachedArray, (self.array,)

    def made(values: DeferredArray) -> Any:
        found = object.__new__(DeferredData)
        found._deferred = values
        return found

    return made


@cache
def _source() -> type:
    """The class by which xarray reads a deferred array; made at first use, since xarray takes long to import."""
    from xarray.backends import BackendArray
    from xarray.core import indexing

    class DeferredSource(BackendArray):
        """Parts of a deferred array by key; a copy or a pickle holds its values."""

        def __init__(self, array: DeferredArray) -> None:
            self.array, self.shape, self.dtype = array, array.shape, array.dtype

        def __getitem__(self, key: Any) -> Any:
            values = np.asarray(self.array)
            return indexing.explicit_indexing_adapter(
                key, self.shape, indexing.IndexingSupport.BASIC, lambda part: values[part]
            )

        def __reduce__(self) -> tuple:
            return indexing.NumpyIndexingAdapter, (np.array(self.array),)

    return DeferredSource
