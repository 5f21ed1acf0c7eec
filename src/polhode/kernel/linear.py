"""Linear equations in a graph: elimination with complete pivoting, rank found, at any size.

The elimination is written once, on loops and arrays. Recorded it is a Routine; with plain loops and lists
it is straight-line operations, for small systems.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from polhode.kernel.record import Recorder
from polhode.scalar import Vec, where

UNROLLED = 7
"""Systems up to this size become straight-line operations."""

SINGULAR = 0.0
"""A pivot, divided by the size of its row, that counts as zero (with everything below it)."""


class Solution(NamedTuple):
    """x of A x = b with the unknowns that the equations leave free at 0; the rank; 1 for each free unknown."""

    x: Vec
    rank: Any
    free: Vec


class Unrolled:
    """Loops and arrays as they are in Python, in the place of a Recorder."""

    def array(self, name: str, length: int) -> list[Any]:
        """Numbers, zero at the start."""
        return [0.0] * length

    def range(self, first: int, last: int | None = None, *, down: bool = False) -> Iterator[int]:
        """A loop."""
        values = range(first) if last is None else range(first, last)
        return reversed(values) if down else iter(values)


class Equations(NamedTuple):
    """m equations with k right sides, in arrays, and room for their solution."""

    m: int
    k: int
    a: Any
    """m rows of m + k: matrix and right sides; used up."""
    size: Any
    """Of each row: what its pivots are compared with."""
    tolerance: Any
    """One number: the pivot, relative to the size of its row, below which the rest counts as zero."""
    number: Any
    """0, 1, … m − 1."""
    x: Any
    """m rows of k."""
    rank: Any
    free: Any


def eliminate(r: Any, e: Equations) -> None:
    """Solve equations on loops and arrays r: a Recorder, or `Unrolled`.            Golub, Van Loan (2013) §3.4.8"""
    m, w = e.m, e.m + e.k
    best, place, order = r.array("best", 1), r.array("place", 2), r.array("order", m)
    inverse = r.array("inverse", m)
    for j in r.range(m):
        order[j] = e.number[j]
    for p in r.range(m):
        _find(r, e, p, best, place)
        # its row and its column change places with those of p
        for i in r.range(p, m):
            here = place[0] == e.number[i]
            exchange(here, e.size, p, i)
            for j in r.range(w):
                exchange(here, e.a, p * w + j, i * w + j)
        for j in r.range(p, m):
            here = place[1] == e.number[j]
            exchange(here, order, p, j)
            for i in r.range(m):
                exchange(here, e.a, i * w + p, i * w + j)
        # elimination below; a pivot that counts as zero leaves its unknown free
        good = best[0] > e.tolerance[0]
        inverse[p] = where(good, 1.0 / where(good, e.a[p * w + p], 1.0), 0.0)
        e.rank[0] = e.rank[0] + where(good, 1.0, 0.0)
        for i in r.range(p + 1, m):
            factor = e.a[i * w + p] * inverse[p]
            for j in r.range(p + 1, w):
                e.a[i * w + j] = e.a[i * w + j] - factor * e.a[p * w + j]
    _substitute(r, e, order, inverse)


def _find(r: Any, e: Equations, p: Any, best: Any, place: Any) -> None:
    """The largest pivot that is left, and where it stands."""
    best[0], place[0], place[1] = -1.0, e.number[p], e.number[p]
    for i in r.range(p, e.m):
        for j in r.range(p, e.m):
            value = abs(e.a[i * (e.m + e.k) + j]) / e.size[i]
            better = value > best[0]
            best[0] = where(better, value, best[0])
            place[0], place[1] = where(better, e.number[i], place[0]), where(better, e.number[j], place[1])


def exchange(here: Any, array: Any, i: Any, j: Any) -> None:
    """Two numbers change places where a condition holds."""
    first, second = array[i], array[j]
    array[i] = where(here, second, first)
    array[j] = where(here, first, second)


def _substitute(r: Any, e: Equations, order: Any, inverse: Any) -> None:
    """The unknowns from the last to the first, then in their own order."""
    m, k, w = e.m, e.k, e.m + e.k
    y = r.array("y", m * k)
    for p in r.range(0, m, down=True):
        for c in r.range(k):
            y[p * k + c] = e.a[p * w + m + c]
            for j in r.range(p + 1, m):
                y[p * k + c] = y[p * k + c] - e.a[p * w + j] * y[j * k + c]
            y[p * k + c] = y[p * k + c] * inverse[p]
    for p in r.range(m):
        for i in r.range(m):
            here = order[p] == e.number[i]
            e.free[i] = where(here, where(inverse[p] == 0.0, 1.0, 0.0), e.free[i])
            for c in r.range(k):
                e.x[i * k + c] = where(here, y[p * k + c], e.x[i * k + c])


def solution(A: Vec, b: Vec, sizes: Vec | None = None, tolerance: Any = SINGULAR, unrolled: int = UNROLLED) -> Solution:
    """x of A x = b on symbols, with the rank of A.

    A          m rows of m
    b          m numbers, or m rows of k
    sizes      natural sizes of the rows, which pivots are compared with; 1 unless given
    tolerance  see `eliminate`
    """
    m, several = len(A), bool(b) and isinstance(b[0], Vec)
    right = b if several else Vec([Vec([x]) for x in b])
    k = len(right[0]) if m else 0
    rows = [x for row, rest in zip(A, right, strict=True) for x in (*row, *rest)]
    sizes = Vec([1.0] * m) if sizes is None else sizes
    flat = _straight if m <= unrolled else _recorded
    found = flat(m, k, rows, sizes, tolerance)
    x = Vec([Vec(found[i * k : (i + 1) * k]) for i in range(m)])
    return Solution(x if several else Vec([row[0] for row in x]), found[m * k], Vec(found[m * k + 1 :]))


def _straight(m: int, k: int, rows: list[Any], sizes: Vec, tolerance: Any) -> list[Any]:
    x, rank, free = [0.0] * (m * k), [0.0], [0.0] * m
    number = [float(i) for i in range(m)]
    eliminate(Unrolled(), Equations(m, k, rows, list(sizes), [tolerance], number, x, rank, free))
    return [*x, *rank, *free]


def _recorded(m: int, k: int, rows: list[Any], sizes: Vec, tolerance: Any) -> list[Any]:
    with Recorder(f"solve{m}x{k}") as r:
        a, size, tol = r.input("a", m * (m + k)), r.input("size", m), r.input("tolerance", 1)
        x, rank, free = r.output("x", m * k), r.output("rank", 1), r.output("free", m)
        eliminate(r, Equations(m, k, a, size, tol, r.table("number", range(m)), x, rank, free))
    return r.call([*rows, *sizes, tolerance], _slopes(m, k))


def _slopes(m: int, k: int) -> Any:
    """The derivative of a solution at constant rank: A ẋ = ḃ − Ȧ x, with the same unknowns free."""

    def rule(given: Sequence[Any], slopes: Sequence[Any], found: Sequence[Any]) -> list[Any]:
        w = m + k
        x = [found[i * k : (i + 1) * k] for i in range(m)]
        rows = []
        for i in range(m):
            moved = [slopes[i * w + j] for j in range(w)]
            right = [
                moved[m + c] - sum((moved[j] * x[j][c] for j in range(1, m)), moved[0] * x[0][c]) for c in range(k)
            ]
            rows += [*given[i * w : i * w + m], *right]
        return [*_recorded(m, k, rows, Vec(given[m * w : m * w + m]), given[-1])[: m * k], *[0.0] * (1 + m)]

    return rule
