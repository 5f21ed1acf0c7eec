"""Linear equations by elimination with complete pivoting, rank found, at any size.     Golub, Van Loan (2013) §3.4.8"""

from collections.abc import Sequence
from math import nan
from typing import Any, NamedTuple

from polhode.scalar import Loops, Scalar, Vec, loops_for, own_method, swap, where

UNROLLED = 7
"""Systems of symbols up to this size become straight-line operations: about m³ of them, each with its exchanges."""

SINGULAR = 0.0
"""The default tolerance of a pivot: only an exact zero, with nothing but zeros below it, leaves an unknown free."""


class LinearSolution(NamedTuple):
    """x of A x = b with the unknowns that the equations leave free at 0; the rank; 1 for each free unknown."""

    x: Vec
    rank: Any
    free: Vec


class LinearSystem(NamedTuple):
    """m equations with k right sides, in arrays, and room for their solution."""

    m: int
    k: int
    a: Any
    """m rows of m + k: matrix and right sides; overwritten."""
    size: Any
    """(m)  natural size of each row, which its pivots are compared with."""
    tolerance: Any
    """(1)  the pivot, relative to the size of its row, at and below which the rest counts as zero."""
    x: Any
    """m rows of k."""
    rank: Any
    free: Any


def eliminate(r: Loops, e: LinearSystem) -> None:
    """Solve the equations: x, rank and free unknowns."""
    m, w, number = e.m, e.m + e.k, r.table("number", range(e.m))
    best, place, order = r.array("best", 1), r.array("place", 2), r.array("order", m)
    inverse = r.array("inverse", m)
    for j in r.range(m):
        order[j] = number[j]
    for p in r.range(m):
        _find_pivot(r, e, number, p, best, place)
        # its row and its column change places with those of p
        for i in r.range(p, m):
            here = place[0] == number[i]
            swap(here, e.size, p, i)
            for j in r.range(w):
                swap(here, e.a, p * w + j, i * w + j)
        for j in r.range(p, m):
            here = place[1] == number[j]
            swap(here, order, p, j)
            for i in r.range(m):
                swap(here, e.a, i * w + p, i * w + j)
        # elimination below; a pivot that counts as zero leaves its unknown free
        good = best[0] > e.tolerance[0]
        inverse[p] = where(good, 1.0 / where(good, e.a[p * w + p], 1.0), 0.0)
        e.rank[0] = e.rank[0] + where(good, 1.0, 0.0)
        for i in r.range(p + 1, m):
            factor = e.a[i * w + p] * inverse[p]
            for j in r.range(p + 1, w):
                e.a[i * w + j] = e.a[i * w + j] - factor * e.a[p * w + j]
    _substitute(r, e, number, order, inverse)


def _find_pivot(r: Loops, e: LinearSystem, number: Any, p: Any, best: Any, place: Any) -> None:
    """The largest pivot that is left, relative to the size of its row, and where it stands."""
    best[0], place[0], place[1] = -1.0, number[p], number[p]
    for i in r.range(p, e.m):
        for j in r.range(p, e.m):
            value = abs(e.a[i * (e.m + e.k) + j]) / e.size[i]
            better = value > best[0]
            best[0] = where(better, value, best[0])
            place[0], place[1] = where(better, number[i], place[0]), where(better, number[j], place[1])


def _substitute(r: Loops, e: LinearSystem, number: Any, order: Any, inverse: Any) -> None:
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
            here = order[p] == number[i]
            e.free[i] = where(here, where(inverse[p] == 0.0, 1.0, 0.0), e.free[i])
            for c in r.range(k):
                e.x[i * k + c] = where(here, y[p * k + c], e.x[i * k + c])


def solution(
    A: Vec, b: Vec, sizes: Vec | None = None, tolerance: Any = SINGULAR, unrolled: int = UNROLLED
) -> LinearSolution:
    """x of A x = b, with the rank of A.

    A          m rows of m
    b          m numbers, or m rows of k
    sizes      natural sizes of the rows, which pivots are compared with; 1 unless given
    tolerance  the pivot, relative to the size of its row, at and below which the rest counts as zero
    """
    m, several = len(A), bool(b) and isinstance(b[0], Vec)
    right = b if several else Vec([Vec([x]) for x in b])
    k = len(right[0]) if m else 0
    rows = [x for row, rest in zip(A, right, strict=True) for x in (*row, *rest)]
    found = _eliminated(m, k, rows, Vec([1.0] * m) if sizes is None else sizes, tolerance, m <= unrolled)
    x = Vec([Vec(found[i * k : (i + 1) * k]) for i in range(m)])
    return LinearSolution(x if several else Vec([row[0] for row in x]), found[m * k], Vec(found[m * k + 1 :]))


def _eliminated(m: int, k: int, rows: list[Any], sizes: Vec, tolerance: Any, written_out: bool = False) -> list[Any]:
    with loops_for(f"solve{m}x{k}", [*rows, *sizes, tolerance], written_out=written_out) as r:
        given = r.given("a", rows), r.given("size", sizes), r.given("tolerance", [tolerance])
        eliminate(r, LinearSystem(m, k, *given, r.output("x", m * k), r.output("rank", 1), r.output("free", m)))
    return r.results(_slopes(m, k))


def solve(A: Vec, b: Vec) -> Vec:
    """x of A x = b, by elimination with complete pivoting; NaN for a singular matrix of numbers.

    On symbols a singular matrix leaves unknowns at 0 (`solution`): nothing is added to compiled code.

    A   (m, m)
    b   (m,), or (m, k) for several right sides
    ->  as b
    """
    x, rank, _ = solution(A, b)
    return x if own_method("loops", (A, b)) else where(rank < len(A), nan * x, x)


def solve_by_rows(A: Vec, b: Vec) -> Vec:
    """x of A x = b for small regular A, by elimination with row pivoting, written out.

    Pivots are chosen with `where`: the same code serves batches, symbols and exact fractions. A singular matrix gives
    infinities or NaN.
    """
    n = len(A)
    rows = [Vec((*row, right)) for row, right in zip(A, b, strict=True)]
    for k in range(n):
        for i in range(k + 1, n):
            larger = abs(rows[i][k]) > abs(rows[k][k])
            rows[k], rows[i] = where(larger, rows[i], rows[k]), where(larger, rows[k], rows[i])
        for i in range(k + 1, n):
            factor = rows[i][k] / rows[k][k]
            rows[i] = Vec([*rows[i][: k + 1], *(rows[i][j] - factor * rows[k][j] for j in range(k + 1, n + 1))])
    x: list[Scalar] = [None] * n
    for k in reversed(range(n)):
        rest = rows[k][n]
        for j in range(k + 1, n):
            rest = rest - rows[k][j] * x[j]
        x[k] = rest / rows[k][k]
    return Vec(x)


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
        return [*_eliminated(m, k, rows, Vec(given[m * w : m * w + m]), given[-1])[: m * k], *[0.0] * (1 + m)]

    return rule
