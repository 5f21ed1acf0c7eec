"""Rows made orthogonal one by one, with pivoting: their rank, and the shortest answers to linear conditions.

    P B = T U,  U orthonormal rows, T lower triangular up to the rank;      B y = c,  |y| least:  y = Uᵀz,  T z = P c

Modified Gram–Schmidt, each pivot orthogonalised twice: Golub, Van Loan (2013) §5.2, and "twice is enough",
Giraud, Langou, Rozložník (2005). Nothing is squared, so that a row counts as dependent at a tolerance far below √ε.
"""

from typing import Any, NamedTuple

from polhode.scalar import Loops, Vec, loops_for, real_part, spans, sqrt, where

UNROLLED = 6000
"""About the operations, 6 k² n of a k×n matrix of symbols, up to which they are written out: beyond, compiling them
takes longer than loops cost."""


class ShortestSolution(NamedTuple):
    """y of B y = c, least in length; λ with y = Bᵀλ; the rank; 1 for each dependent row; c − B y of those."""

    y: Vec
    multipliers: Vec
    rank: Any
    dependent: Vec
    missing: Vec


class OrthogonalRows(NamedTuple):
    """P B = T U in arrays, k rows of n."""

    k: int
    n: int
    U: Any
    """(k, n)  orthonormal rows, 0 where a row is dependent."""
    T: Any
    """(k, k)  coefficients of all rows, in the order of the pivots; 1 on the diagonal of a dependent row."""
    order: Any
    """(k)  the number that each row had at the start."""
    alive: Any
    """(k)  1 up to the rank, then 0."""


class RowConditions(NamedTuple):
    """k rows of n numbers with m right sides, in arrays, and room for their answers."""

    k: int
    n: int
    m: int
    B: Any
    """k rows of n; overwritten by U."""
    c: Any
    """k rows of m; overwritten."""
    tolerance: Any
    """(1)  the length of what is left of a row, at and below which it counts as dependent on the others."""
    y: Any
    """m rows of n."""
    multipliers: Any
    """m rows of k."""
    rank: Any
    dependent: Any
    missing: Any
    """m rows of k."""


def orthogonalize(r: Loops, k: int, n: int, B: Any, tolerance: Any, *carried: tuple[Any, int]) -> OrthogonalRows:
    """Make k rows B of n numbers orthonormal, in their place; carried: arrays of k rows that are put in the same order.

    The row that has most left comes next.
    """
    T, order, alive = r.array("T", k * k), r.array("order", k), r.array("alive", k)
    left, most, chosen, s = r.array("left", k), r.array("most", 1), r.array("chosen", 1), r.array("s", 1)
    number = r.table("number", range(k))
    for i in r.range(k):
        order[i] = number[i]
        _dot(r, s, B, i, i, n)
        left[i] = real_part(s[0])
    for p in r.range(min(k, n)):
        most[0], chosen[0] = -1.0, number[p]
        for i in r.range(p, k):
            longer = left[i] > most[0]
            most[0], chosen[0] = where(longer, left[i], most[0]), where(longer, number[i], chosen[0])
        r.exchange(k, p, chosen, ((B, n), (T, k), *carried, (order, 1), (left, 1)))
        for j in r.range(p):  # again, against what rounding left
            _dot(r, s, B, p, j, n)
            T[p * k + j] = T[p * k + j] + s[0]
            _subtract(r, B, n, p, j, s)
        _dot(r, s, B, p, p, n)
        good = real_part(s[0]) > tolerance[0] * tolerance[0]
        alive[p] = where(good, 1.0, 0.0)
        T[p * k + p] = where(good, sqrt(where(good, s[0], 1.0)), 1.0)
        inverse = alive[p] / T[p * k + p]
        for part in spans(r, n):
            for m in part:
                B[p * n + m] = B[p * n + m] * inverse
        for i in r.range(p + 1, k):
            _dot(r, s, B, i, p, n)
            T[i * k + p] = s[0]
            _subtract(r, B, n, i, p, s)
            _dot(r, s, B, i, i, n)
            left[i] = real_part(s[0])
    return OrthogonalRows(k, n, B, T, order, alive)


def _dot(r: Loops, out: Any, B: Any, i: Any, j: Any, n: int) -> None:
    """Row i times row j, to out[0]."""
    out[0] = 0.0
    for part in spans(r, n):
        first, *others = [B[i * n + m] * B[j * n + m] for m in part]
        for other in others:
            first = first + other
        out[0] = out[0] + first


def _subtract(r: Loops, B: Any, n: int, i: Any, j: Any, s: Any) -> None:
    """s times row j from row i."""
    for part in spans(r, n):
        for m in part:
            B[i * n + m] = B[i * n + m] - s[0] * B[j * n + m]


def answer(r: Loops, e: RowConditions) -> OrthogonalRows:
    """The shortest answers to the conditions: z of T z = c on the independent rows, y = Uᵀz, multipliers T⁻ᵀz."""
    k, n, most = e.k, e.n, min(e.k, e.n)
    rows = orthogonalize(r, k, n, e.B, e.tolerance, (e.c, e.m))
    T, order, alive = rows.T, rows.order, rows.alive
    z, eta, over = r.array("z", k), r.array("eta", k), r.array("over", k)
    for p in r.range(k):
        e.rank[0] = e.rank[0] + alive[p]
        over[p] = alive[p] / where(alive[p] == 0.0, 1.0, T[p * k + p])
        r.put(e.dependent, 0, k, order, p, 1.0 - alive[p])
    for v in r.range(e.m):
        for p in r.range(k):
            z[p] = e.c[p * e.m + v]
            for j in r.range(p):
                z[p] = z[p] - T[p * k + j] * z[j]
            r.put(e.missing, v * k, k, order, p, where(alive[p] == 0.0, z[p], 0.0))
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
            r.put(e.multipliers, v * k, k, order, p, eta[p])
    return rows


def shortest(B: Vec, c: Vec, tolerance: Any, unrolled: int = UNROLLED) -> ShortestSolution:
    """The shortest y with B y = c; rows that count as dependent are left out.

    B          k rows of n, each divided by its natural size
    c          k numbers, divided likewise
    tolerance  the length of what is left of a row, at and below which it counts as dependent on the others
    """
    k, n = len(B), len(B[0]) if B else 0
    flat = [x for row in B for x in row]
    with loops_for(f"shortest{k}x{n}", [*flat, *c, tolerance], written_out=6 * k * k * n <= unrolled) as r:
        given = r.given("B", flat), r.given("c", c), r.given("tolerance", [tolerance])
        names = ("y", n), ("multipliers", k), ("rank", 1), ("dependent", k), ("missing", k)
        answer(r, RowConditions(k, n, 1, *given, *(r.output(*name) for name in names)))
    found = r.results()
    y, rest = Vec(found[:n]), found[n:]
    return ShortestSolution(y, Vec(rest[:k]), rest[k], Vec(rest[k + 1 : 2 * k + 1]), Vec(rest[2 * k + 1 :]))
