"""The interface of backends: each takes the arrays of a call and gives the results of a computation.

A computation is a function of named arguments; a backend runs it on floats, or compiles its graph and launches that.
To add a backend: a file beside this one with a subclass of `Backend`, and a line in `registry.py`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import CompileError, InputError, message
from polhode.kernel.graph import Graph
from polhode.scalar import Array, as_array

FLOAT = np.dtype(np.float64)


class Call(NamedTuple):
    """One call: its arrays by argument, how many of their last axes are their own, the batch axes they share.

    arrays   an argument is whatever its caller knows it by; its text, `str(argument)`, is its name in a graph
    out      where results go, None for new arrays
    threads  how many threads may share a batch
    """

    arrays: Mapping[Any, Any]
    depths: Mapping[Any, int]
    batch: tuple[int, ...]
    out: Any = None
    threads: int = 1

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the arguments, in order."""
        return tuple(map(str, self.arrays))

    @property
    def shapes(self) -> dict[Any, tuple[int, ...]]:
        """The own shape of each argument."""
        return {known: array.shape[array.ndim - self.depths[known] :] for known, array in self.arrays.items()}


@dataclass(frozen=True)
class Computation:
    """One function for a backend to compute, for any call of it."""

    key: tuple[str, ...]
    """Its name, in words that no other computation of the same backend has; the first stands in messages."""
    arguments: tuple[str, ...]
    """The names of the arguments that every call gives; further ones may follow."""
    title: str
    """Its name in the head of generated text."""
    identity: str
    """Text that says all its graphs depend on; "" where no text does, so that no kernel is kept on disk."""
    graph: Callable[[Mapping[Any, tuple[int, ...]]], Graph]
    """The graph, for arguments of these shapes."""
    on_numbers: Callable[[Mapping[Any, Any], tuple[int, ...]], Any] | None
    """The same without a graph: results on numbers (or arrays of a batch) by argument; None: by the graph alone."""
    results: tuple[tuple[int, ...], ...]
    """The own shape of each result."""
    record: type | None = None
    """The record of several results; None for one alone."""
    numbers: tuple[str, ...] = ()
    """The names of the arguments that stay while states change: what follows from them alone is computed once."""
    is_empty: bool = False
    """Whether its arguments hold no numbers: then there is nothing to compile, and it is evaluated on numbers."""

    def parts(self, result: Any) -> Sequence[Any]:
        """The results one by one."""
        return [result] if self.record is None else result

    def gathered(self, results: Sequence[Any]) -> Any:
        """The results as a caller gets them."""
        return results[0] if self.record is None else self.record(*results)

    def nothing_to_compile(self, found: str) -> CompileError:
        """The error of a backend that is asked for a kernel where there is none."""
        return CompileError(message(f"source of {self.key[0]}", "nothing is generated", found, "target 'cpu'"))


class Backend(ABC):
    """An evaluator of computations: `evaluate` does all of them, `quickly` and `direct` are short cuts."""

    kernels: dict[tuple[str, ...], Any]
    """The kernels compiled so far, by key and names of arguments."""
    quick: bool = False
    """Whether single states are asked for a few times only: their kernels may be slower, and take less time to make."""

    @abstractmethod
    def __init__(self, fast: bool = False) -> None:
        """fast  whether kernels may reassociate sums."""

    @abstractmethod
    def array(self, where: str, value: Array, shape: tuple[int, ...]) -> Any:
        """An argument as the backend takes it, its last axes of this shape, or an InputError."""

    @abstractmethod
    def evaluate(self, computation: Computation, call: Call) -> Any:
        """The result of a computation."""

    @abstractmethod
    def kernel(self, computation: Computation, call: Call) -> Any:
        """The kernel of a computation, with its `graph` and its `source`; a CompileError where there is none."""

    def constant(self, values: tuple[float, ...]) -> Any:
        """Numbers that many calls give, as this backend takes them with the least effort."""
        return np.array(values)

    def quickly(self, computation: Computation, given: tuple, out: Any, threads: int, t: Any = None) -> Any:
        """The result, where the kernel is there and all arguments are arrays just as it takes them; else None.

        given  of a computation with numbers what follows from them (`kept`) is last
        t      the time, or the times of a batch; None: 0
        """
        return None

    def direct(self, computation: Computation, fallback: Callable) -> Callable | None:
        """A built-in for one state, which hands all other calls to `fallback`; None where there is none.

        Of a computation with numbers it takes what follows from them (`kept`) behind its other arguments.
        """
        return None

    def named(
        self, direct: Callable, before: int, names: tuple[str, ...], origin: np.ndarray | None, fallback: Callable
    ) -> Callable | None:
        """A built-in for calls that name what `direct` is of: arrays, a name, at most one word by keyword.

        before    arrays before the name
        names     the name; the keyword and its word, where one is to be given
        origin    the last array of `direct`, which such calls leave out; None: they leave out nothing
        fallback  what takes all other calls
        ->        None where there is no such built-in
        """
        return None

    def kept(self, computation: Computation, numbers: np.ndarray) -> Any:
        """What follows from the numbers (n,) of a computation alone, for its `direct` built-in."""
        raise NotImplementedError


def real_array(where: str, value: Array, shape: tuple[int, ...]) -> np.ndarray:
    """An argument as an array of float64, the very same if it is one; an InputError if it cannot be."""
    if type(value) is np.ndarray and value.dtype is FLOAT and value.shape[value.ndim - len(shape) :] == shape:
        return value
    array = as_array(where, value, shape, finite=False)
    if array.dtype.kind != "f":
        raise InputError(message(where, "not real numbers", str(array.dtype), "real numbers"))
    return array.astype(np.float64, copy=False)


def into(name: str, out: Any, result: Any) -> Any:
    """Write a result into the caller's array (or arrays) and hand that back."""
    if isinstance(result, tuple):
        if not isinstance(out, tuple) or len(out) != len(result):
            found, expected = type(out).__name__, f"a tuple of {len(result)} arrays"
            raise InputError(message(f"{name}, argument out", "not as many arrays", found, expected))
        return type(result)(*(into(name, o, r) for o, r in zip(out, result, strict=True)))
    shape = np.shape(result)
    if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != np.float64:
        found = f"{type(out).__name__} of shape {getattr(out, 'shape', None)}"
        raise InputError(message(f"{name}, argument out", "does not fit", found, f"a float64 array of shape {shape}"))
    if not out.flags.writeable:
        raise InputError(message(f"{name}, argument out", "cannot be written", "a read-only array", "one to write to"))
    out[...] = result
    return out
