"""Loops over arrays of generic scalars: one text of an algorithm for numbers, batches and compiled code.

    with loops_for("sum", x) as r:
        given, total = r.given("x", x), r.output("total", 1)
        for i in r.range(len(x)):
            total[0] = total[0] + given[i]
    (total,) = r.results()

Symbols bring loops of their own (a method `loops`): each body runs once, to be recorded. For all other scalars
arrays are lists and loops are those of Python.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from operator import add, mul
from typing import Any

import numpy as np

from polhode.scalar.functions import equal, where

Derivative = Callable[[Sequence[Any], Sequence[Any], Sequence[Any]], list[Any]]
"""A derivative rule: (arguments, their slopes, results) -> slopes of the results, on generic scalars."""

GROUP = 8
"""Numbers of a row that one pass of a loop does at once: inner loops are unrolled so far, and sums are taken in groups.
More would be longer code for rows that mostly have 6 to 30 numbers."""


class Loops(ABC):
    """Arrays, loops over them, and the places that computed numbers stand for."""

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: Any) -> None:
        return None

    # arrays

    @abstractmethod
    def array(self, name: str, length: int, *, unset: bool = False) -> Any:
        """An array of numbers, zero at the start; unset: anything, where all that is read was written before."""

    @abstractmethod
    def given(self, name: str, values: Sequence[Any], *, sparse: bool = False) -> Any:
        """An array that holds these values at the start; sparse: structural zeros are not passed as arguments."""

    @abstractmethod
    def output(self, name: str, length: int, *, unset: bool = False) -> Any:
        """An array that holds results at the end, zero at the start; unset: anything, where all is written."""

    @abstractmethod
    def table(self, name: str, values: Iterable[float]) -> Any:
        """An array of constants."""

    @abstractmethod
    def lookup(self, name: str, values: Sequence[int]) -> Any:
        """A table of whole numbers; its entry `at(i)` of a loop variable i may stand in indices and in `cases`."""

    @abstractmethod
    def results(self, rule: Derivative | None = None, *, one_state: bool = False) -> list[Any]:
        """The numbers of all outputs, in order, after the end.

        rule       their derivative, if a better one is known
        one_state  whether loops are for code of one state alone, to do passes at once: lanes have them written out. All
                   that is written to outputs must be used then.
        """

    # control

    @abstractmethod
    def range(self, first: Any, last: Any = None, *, down: bool = False) -> Iterator[Any]:
        """A loop; from 0 if one number is given, and from the other end if `down`."""

    @abstractmethod
    def together(self, first: Any, last: Any = None) -> Iterator[Any]:
        """A loop over consecutive places whose passes know nothing of each other: code for one state does several at
        once where every array is read at one place or at the loop's own, and written at the loop's own.
        """

    @abstractmethod
    def repeated(self, limit: int, go: Any) -> Iterator[None]:
        """A loop that repeats while go[0] is not 0 after it, at most `limit` times. In a batch of arrays it goes on
        until all have ended: what has ended is to be kept by its caller."""

    @abstractmethod
    def when(self, flag: Any, results: Sequence[Any]) -> Iterator[None]:
        """A body that runs where flag[0] is 1, not where it is 0: there the arrays of results keep what they hold."""

    @abstractmethod
    def cases(self, of: Any, numbers: Sequence[int]) -> Iterator[int]:
        """The number of a table's entry, as one of those given: the body that belongs to it."""

    # rows of n numbers, which begin at i and j

    @abstractmethod
    def dot(self, out: Any, x: Any, i: Any, y: Any, j: Any, n: int) -> None:
        """out[0] = Σ_m x[i + m] y[j + m], in groups of eight."""

    @abstractmethod
    def add_scaled(self, x: Any, i: Any, s: tuple[Any, Any], y: Any, j: Any, n: int) -> None:
        """x[i + m] += s y[j + m]; s: an array and the place in it."""

    @abstractmethod
    def subtract_scaled(self, x: Any, i: Any, s: tuple[Any, Any], y: Any, j: Any, n: int) -> None:
        """x[i + m] −= s y[j + m]; s: an array and the place in it."""

    # computed places

    @abstractmethod
    def exchange(self, rows: int, p: Any, chosen: Any, arrays: Sequence[tuple[Any, int]]) -> None:
        """Row p and the row, not before it, whose number is chosen[0] change places, in arrays of some width."""

    @abstractmethod
    def put(self, array: Any, first: Any, length: int, places: Any, p: Any, value: Any) -> None:
        """A value for the entry number places[p] of those that begin at `first`."""


class WholeNumbers(tuple):
    """A table of whole numbers."""

    __slots__ = ()

    def at(self, i: int) -> int:
        """The entry at a loop variable."""
        return self[i]


class PythonLoops(Loops):
    """Arrays are lists, loops those of Python: straight-line operations on symbols, plain ones on numbers."""

    def __init__(self) -> None:
        self._outputs: list[list[Any]] = []

    def array(self, name: str, length: int, *, unset: bool = False) -> list[Any]:
        """Zeros."""
        return [0.0] * length

    def given(self, name: str, values: Sequence[Any], *, sparse: bool = False) -> list[Any]:
        """The values."""
        return list(values)

    def output(self, name: str, length: int, *, unset: bool = False) -> list[Any]:
        """Zeros."""
        self._outputs.append([0.0] * length)
        return self._outputs[-1]

    def table(self, name: str, values: Iterable[float]) -> list[float]:
        """The values."""
        return [float(x) for x in values]

    def lookup(self, name: str, values: Sequence[int]) -> WholeNumbers:
        """The values."""
        return WholeNumbers(values)

    def results(self, rule: Derivative | None = None, *, one_state: bool = False) -> list[Any]:
        """All outputs."""
        return [x for part in self._outputs for x in part]

    def range(self, first: int, last: int | None = None, *, down: bool = False) -> Iterator[int]:
        """Python's own."""
        values = range(first) if last is None else range(first, last)
        return reversed(values) if down else iter(values)

    def together(self, first: int, last: int | None = None) -> Iterator[int]:
        """Python's own."""
        return self.range(first, last)

    def repeated(self, limit: int, go: list[Any]) -> Iterator[None]:
        """While it holds for any of a batch."""
        for _ in range(limit):
            yield None
            if not np.any(go[0]):
                break

    def when(self, flag: list[Any], results: Sequence[list[Any]]) -> Iterator[None]:
        """For all of a batch where it is for any."""
        if np.any(flag[0]):
            before = [list(array) for array in results]
            yield None
            for array, kept in zip(results, before, strict=True):
                array[:] = [where(equal(flag[0], 0.0), old, new) for old, new in zip(kept, array, strict=True)]

    def cases(self, of: int, numbers: Sequence[int]) -> Iterator[int]:
        """The number itself."""
        return iter([of] if of in numbers else [])

    def dot(self, out: list[Any], x: list[Any], i: int, y: list[Any], j: int, n: int) -> None:
        """Written out."""
        products, total = list(map(mul, x[i : i + n], y[j : j + n])), 0.0
        for c in range(0, n, GROUP):
            total = total + reduce(add, products[c : c + GROUP])
        out[0] = total

    def add_scaled(self, x: list[Any], i: int, s: tuple[list[Any], int], y: list[Any], j: int, n: int) -> None:
        """Written out."""
        factor = s[0][s[1]]
        x[i : i + n] = [a + factor * b for a, b in zip(x[i : i + n], y[j : j + n], strict=True)]

    def subtract_scaled(self, x: list[Any], i: int, s: tuple[list[Any], int], y: list[Any], j: int, n: int) -> None:
        """Written out."""
        factor = s[0][s[1]]
        x[i : i + n] = [a - factor * b for a, b in zip(x[i : i + n], y[j : j + n], strict=True)]

    def exchange(self, rows: int, p: int, chosen: list[Any], arrays: Sequence[tuple[list[Any], int]]) -> None:
        """Where the numbers agree, row after row: each state of a batch has its own."""
        for i in range(p + 1, rows):
            here = equal(chosen[0], float(i))
            if here is not False:
                for array, width in arrays:
                    for m in range(width):
                        swap(here, array, p * width + m, i * width + m)

    def put(self, array: list[Any], first: int, length: int, places: list[Any], p: int, value: Any) -> None:
        """Where the numbers agree, entry after entry."""
        for i in range(length):
            array[first + i] = where(equal(places[p], float(i)), value, array[first + i])


def loops_for(name: str, values: Sequence[Any], *, written_out: bool = False) -> Any:
    """Loops for these values: those of the first symbol among them, else Python's.

    written_out  straight-line operations on symbols, too: right for few of them
    """
    method = None if written_out else own_method("loops", values)
    return method(name) if method else PythonLoops()


def own_method(name: str, values: Iterable[Any]) -> Callable[..., Any] | None:
    """The method of this name that a component of a (nested) vector has."""
    for part in values:
        found = own_method(name, part) if isinstance(part, tuple) else getattr(part, name, None)
        if found:
            return found
    return None


def spans(r: Loops, n: int, size: int = GROUP) -> Iterator[list[Any]]:
    """The numbers 0 … n − 1 in groups: a loop does a whole group at once."""
    if n >= size:
        for c in r.range(n // size):
            yield [c * size + j for j in range(size)]
    if n % size:
        yield [n - n % size + j for j in range(n % size)]


def swap(here: Any, array: Any, i: Any, j: Any) -> None:
    """Two numbers change places where a condition holds."""
    if here is False:
        return
    first, second = array[i], array[j]
    array[i] = where(here, second, first)
    array[j] = where(here, first, second)
