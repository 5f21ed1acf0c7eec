"""The shortest answers to linear conditions of any rank, in a graph: rows made orthogonal one by one, with pivoting.

    B y = c,  |y| least;   P B = T U,  U orthonormal rows, T lower triangular up to the rank

Written once on loops and arrays, as `linear.py`: recorded it is a Routine, with plain loops straight-line
operations. Nothing is squared, so that a row counts as dependent at a tolerance far below √ε.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from polhode.kernel.linear import Unrolled, exchange
from polhode.kernel.record import Recorder
from polhode.kernel.routine import Index
from polhode.scalar import Vec, sqrt, where

UNROLLED = 6000
"""About the operations up to which it becomes straight-line: 6 k² n of a k×n matrix."""


class Shortest(NamedTuple):
    """y of B y = c, least in length; its multipliers, y = Bᵀλ; the rank; 1 for each dependent row; what rows miss."""

    y: Vec
    multipliers: Vec
    rank: Any
    dependent: Vec
    missing: Vec


class Conditions(NamedTuple):
    """k rows of n numbers with m right sides, in arrays, and room for their answers."""

    k: int
    n: int
    m: int
    B: Any
    """k rows of n: in the end the orthonormal rows U, 0 where a row is dependent."""
    c: Any
    """k rows of m; used up."""
    tolerance: Any
    number: Any
    y: Any
    """m rows of n."""
    multipliers: Any
    """m rows of k."""
    rank: Any
    dependent: Any
    missing: Any
    """m rows of k."""


def orthogonalize(r: Any, e: Conditions) -> None:
    """Answer the conditions on loops and arrays r: modified Gram–Schmidt, each pivot orthogonalised twice."""
    k, n, B = e.k, e.n, e.B
    T, order, alive, best = r.array("T", k * k), r.array("order", k), r.array("alive", k), r.array("best", 2)
    left, s = r.array("left", k), r.array("s", 1)
    for i in r.range(k):
        order[i] = e.number[i]
        _dot(r, s, B, i, i, n)
        left[i] = s[0]
    for p in r.range(min(k, n)):
        best[0], best[1] = -1.0, e.number[p]
        for i in r.range(p, k):  # the row that has most left
            longer = left[i] > best[0]
            best[0], best[1] = where(longer, left[i], best[0]), where(longer, e.number[i], best[1])
        bring(r, k, e.number, best, p, ((B, n), (T, k), (e.c, e.m), (order, 1), (left, 1)))
        for j in r.range(p):  # again, against what rounding left
            _dot(r, s, B, p, j, n)
            T[p * k + j] = T[p * k + j] + s[0]
            _less(r, B, n, p, j, s)
        _dot(r, s, B, p, p, n)
        good = s[0] > e.tolerance[0] * e.tolerance[0]
        alive[p] = where(good, 1.0, 0.0)
        T[p * k + p] = where(good, sqrt(where(good, s[0], 1.0)), 1.0)
        e.rank[0] = e.rank[0] + alive[p]
        inverse = alive[p] / T[p * k + p]
        for part in spans(r, n):
            for m in part:
                B[p * n + m] = B[p * n + m] * inverse
        for i in r.range(p + 1, k):
            _dot(r, s, B, i, p, n)
            T[i * k + p] = s[0]
            _less(r, B, n, i, p, s)
            _dot(r, s, B, i, i, n)
            left[i] = s[0]
    _answer(r, e, T, order, alive)


def spans(r: Any, n: int, size: int = 8) -> Iterator[list[Any]]:
    """The numbers 0 … n − 1 in rows of a few, which a loop does at once."""
    if n >= size:
        for c in r.range(n // size):
            yield [c * size + j for j in range(size)]
    if n % size:
        yield [n - n % size + j for j in range(n % size)]


def _dot(r: Any, out: Any, B: Any, i: Any, j: Any, n: int) -> None:
    out[0] = 0.0
    for part in spans(r, n):
        first, *others = [B[i * n + m] * B[j * n + m] for m in part]
        for other in others:
            first = first + other
        out[0] = out[0] + first


def bring(r: Any, k: int, number: Any, best: Any, p: Any, arrays: Sequence[tuple[Any, int]]) -> None:
    """Of k rows that whose number is in best[1] and row p change places, in arrays of rows of some width."""
    if isinstance(r, Recorder):
        at = best.cell(1)
        for array, width in arrays:
            for part in spans(r, width):
                for m in part:
                    first, second = array[p * width + m], array[Index.of(at) * width + m]
                    array[p * width + m] = second
                    array[Index.of(at) * width + m] = first
        return
    for i in r.range(p, k):
        here = best[1] == number[i]
        for array, width in arrays:
            for m in range(width):
                exchange(here, array, p * width + m, i * width + m)


def _less(r: Any, B: Any, n: int, i: Any, j: Any, s: Any) -> None:
    """Take s times row j from row i."""
    for part in spans(r, n):
        for m in part:
            B[i * n + m] = B[i * n + m] - s[0] * B[j * n + m]


def _answer(r: Any, e: Conditions, T: Any, order: Any, alive: Any) -> None:
    """For each right side z of T z = c on the independent rows, y = Uᵀz and the multipliers T⁻ᵀz."""
    k, n, most = e.k, e.n, min(e.k, e.n)
    z, eta, over = r.array("z", k), r.array("eta", k), r.array("over", k)
    for p in r.range(k):
        over[p] = alive[p] / where(alive[p] == 0.0, 1.0, T[p * k + p])
        place(r, k, e.number, order, p, e.dependent, 0, 1.0 - alive[p])
    for v in r.range(e.m):
        for p in r.range(k):
            z[p] = e.c[p * e.m + v]
            for j in r.range(p):
                z[p] = z[p] - T[p * k + j] * z[j]
            place(r, k, e.number, order, p, e.missing, v * k, where(alive[p] == 0.0, z[p], 0.0))
            z[p] = z[p] * over[p]
        for p in r.range(most):
            for part in spans(r, n):
                for m in part:
                    e.y[v * n + m] = e.y[v * n + m] + z[p] * e.B[p * n + m]
        for p in r.range(0, most, down=True):
            eta[p] = z[p]
            for i in r.range(p + 1, most):
                eta[p] = eta[p] - T[i * k + p] * eta[i]
            eta[p] = eta[p] * over[p]
            place(r, k, e.number, order, p, e.multipliers, v * k, eta[p])


def place(r: Any, k: int, number: Any, order: Any, p: Any, array: Any, first: Any, value: Any) -> None:
    """Put a number of row p of k where that row stood at the start, in an array of k that begins at `first`."""
    if isinstance(r, Recorder):
        array[Index.of(order.cell(p)) + first] = value
        return
    for i in r.range(k):
        array[first + i] = where(order[p] == number[i], value, array[first + i])


def shortest(B: Vec, c: Vec, tolerance: Any, unrolled: int = UNROLLED) -> Shortest:
    """The shortest y with B y = c on symbols; rows that count as dependent are left out.

    B          k rows of n, each divided by its natural size
    c          k numbers, divided likewise
    tolerance  the length of what is left of a row, below which it counts as dependent on the others
    """
    k, n = len(B), len(B[0]) if B else 0
    flat = [x for row in B for x in row]
    found = (_straight if 6 * k * k * n <= unrolled else _recorded)(k, n, flat, c, tolerance)
    y, rest = Vec(found[:n]), found[n:]
    return Shortest(y, Vec(rest[:k]), rest[k], Vec(rest[k + 1 : 2 * k + 1]), Vec(rest[2 * k + 1 :]))


def _straight(k: int, n: int, B: list[Any], c: Vec, tolerance: Any) -> list[Any]:
    results: list[list[Any]] = [[0.0] * n, [0.0] * k, [0.0], [0.0] * k, [0.0] * k]
    orthogonalize(Unrolled(), Conditions(k, n, 1, B, list(c), [tolerance], [float(i) for i in range(k)], *results))
    return [x for part in results for x in part]


def _recorded(k: int, n: int, B: list[Any], c: Vec, tolerance: Any) -> list[Any]:
    with Recorder(f"shortest{k}x{n}") as r:
        given = r.input("B", k * n), r.input("c", k), r.input("tolerance", 1), r.table("number", range(k))
        names = ("y", n), ("multipliers", k), ("rank", 1), ("dependent", k), ("missing", k)
        orthogonalize(r, Conditions(k, n, 1, *given, *(r.output(*name) for name in names)))
    return r.call([*B, *c, tolerance])
