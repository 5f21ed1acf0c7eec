"""Rows made orthogonal one by one, with pivoting: their rank, and the shortest answers to linear conditions.

    P B = T U,  U orthonormal rows, T lower triangular up to the rank;      B y = c,  |y| least:  y = Uᵀz,  T z = P c

Modified Gram–Schmidt, each pivot orthogonalised twice: Golub, Van Loan (2013) §5.2, and "twice is enough",
Giraud, Langou, Rozložník (2005). Nothing is squared, so that a row counts as dependent at a tolerance far below √ε.
"""

from itertools import islice
from typing import Any, NamedTuple

from polhode.linalg.triangular import Triangle
from polhode.scalar import Loops, Scalar, Vec, equal, loops_for, real_part, spans, sqrt, where
from polhode.scalar.loops import PythonLoops

UNROLLED = 6000
"""About the operations, 6 k² n of a k×n matrix of symbols, up to which they are written out: beyond, compiling them
takes longer than loops cost."""


class ShortestSolution(NamedTuple):
    """y of B y = c, least in length; λ with y = Bᵀλ; the rank; 1 for each dependent row; c − B y of those; what each
    row had left, in the order of elimination, 0 of dependent ones."""

    y: Vec
    multipliers: Vec
    rank: Any
    dependent: Vec
    residual: Vec
    pivots: Vec


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
    """(1)  Rank tolerance: length of the remainder of a row, at and below which it counts as dependent."""
    y: Any
    """m rows of n."""
    multipliers: Any
    """m rows of k."""
    rank: Any
    dependent: Any
    residual: Any
    """m rows of k."""
    pivots: Any


def orthogonalize(r: Loops, k: int, n: int, B: Any, tolerance: Any, *carried: tuple[Any, int]) -> OrthogonalRows:
    """Make k rows B of n numbers orthonormal, in their place; carried: arrays of k rows that are put in the same order.

    The row that has most left comes next.
    """
    T, order, alive = r.array("T", k * k), r.array("order", k), r.array("alive", k)
    left, most, chosen, s = r.array("left", k), r.array("most", 1), r.array("chosen", 1), r.array("s", 1)
    number = r.table("number", range(k))
    for i in r.range(k):
        order[i] = number[i]
        r.dot(s, B, i * n, B, i * n, n)
        left[i] = real_part(s[0])
    for p in r.range(min(k, n)):
        most[0], chosen[0] = -1.0, number[p]
        for i in r.range(p, k):
            longer = left[i] > most[0]
            most[0], chosen[0] = where(longer, left[i], most[0]), where(longer, number[i], chosen[0])
        r.exchange(k, p, chosen, ((B, n), (T, k), *carried, (order, 1), (left, 1)))
        for j in r.range(p):  # again, against what rounding left
            r.dot(s, B, p * n, B, j * n, n)
            T[p * k + j] = T[p * k + j] + s[0]
            r.subtract_scaled(B, p * n, (s, 0), B, j * n, n)
        r.dot(s, B, p * n, B, p * n, n)
        good = real_part(s[0]) > tolerance[0] * tolerance[0]
        alive[p] = where(good, 1.0, 0.0)
        T[p * k + p] = where(good, sqrt(where(good, s[0], 1.0)), 1.0)
        inverse = alive[p] / T[p * k + p]
        for part in spans(r, n):
            for m in part:
                B[p * n + m] = B[p * n + m] * inverse
        for i in r.range(p + 1, k):
            r.dot(s, B, i * n, B, p * n, n)
            T[i * k + p] = s[0]
            r.subtract_scaled(B, i * n, (s, 0), B, p * n, n)
            r.dot(s, B, i * n, B, i * n, n)
            left[i] = real_part(s[0])
    return OrthogonalRows(k, n, B, T, order, alive)


def answer(r: Loops, e: RowConditions) -> OrthogonalRows:
    """The shortest answers to the conditions: z of T z = c on the independent rows, y = Uᵀz, multipliers T⁻ᵀz."""
    k, n, most = e.k, e.n, min(e.k, e.n)
    rows = orthogonalize(r, k, n, e.B, e.tolerance, (e.c, e.m))
    T, order, alive = rows.T, rows.order, rows.alive
    z, eta, over = r.array("z", k), r.array("eta", k), r.array("over", k)
    for p in r.range(k):
        e.rank[0] = e.rank[0] + alive[p]
        e.pivots[p] = alive[p] * T[p * k + p]
        over[p] = alive[p] / where(alive[p] == 0.0, 1.0, T[p * k + p])
        r.put(e.dependent, 0, k, order, p, 1.0 - alive[p])
    for v in r.range(e.m):
        for p in r.range(k):
            z[p] = e.c[p * e.m + v]
            for j in r.range(p):
                z[p] = z[p] - T[p * k + j] * z[j]
            r.put(e.residual, v * k, k, order, p, where(alive[p] == 0.0, z[p], 0.0))
            z[p] = z[p] * over[p]
        for p in r.range(most):
            r.add_scaled(e.y, v * n, (z, p), e.B, p * n, n)
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
    tolerance  length of the remainder of a row after elimination, at and below which it counts as dependent
    """
    k, n = len(B), len(B[0]) if B else 0
    flat = [x for row in B for x in row]
    with loops_for(f"shortest{k}x{n}", [*flat, *c, tolerance], written_out=6 * k * k * n <= unrolled) as r:
        given = r.given("B", flat), r.given("c", c), r.given("tolerance", [tolerance])
        names = ("y", n), ("multipliers", k), ("rank", 1), ("dependent", k), ("residual", k), ("pivots", k)
        answer(r, RowConditions(k, n, 1, *given, *(r.output(*name) for name in names)))
    numbers = iter(r.results())
    y, lam, (rank,), *rows = (Vec(islice(numbers, size)) for _, size in names)
    return ShortestSolution(y, lam, rank, *rows)


def remainders(B: Vec, tolerance: Any, unrolled: int = UNROLLED) -> Vec:
    """(k)  What each row has left when those before it were taken from it, the longest next; 0 where that is no more
    than the tolerance."""
    k, n = len(B), len(B[0]) if B else 0
    flat = [x for row in B for x in row]
    with loops_for(f"remainders{k}x{n}", [*flat, tolerance], written_out=3 * k * k * n <= unrolled) as r:
        given = r.given("B", flat), r.given("tolerance", [tolerance])
        put_remainders(r, k, n, *given, r.output("remainders", k))
    return Vec(r.results())


def put_remainders(r: Loops, k: int, n: int, B: Any, tolerance: Any, found: Any) -> None:
    """Put what each of k rows B has left into `found`."""
    rows = orthogonalize(r, k, n, B, tolerance)
    for p in r.range(k):
        found[p] = rows.alive[p] * rows.T[p * k + p]


class RowBasis(NamedTuple):
    """P B = coefficients @ basis on vectors of scalars: k rows of n, q = min(k, n)."""

    basis: Vec
    """q orthonormal rows, 0 past the rank."""
    L: Triangle
    """The first q rows of coefficients; unit rows past the rank."""
    live: Vec
    """(q)  1 up to the rank, then 0."""
    coefficients: Vec
    """k rows; those of the first q up to their own pivot."""
    P: Vec
    """(k, k)  the permutation."""


def row_basis(B: Vec, tolerance: Any) -> RowBasis:
    """An orthonormal basis of the rows of B (k, n), and all rows in it; what is left at or below the tolerance is 0."""
    k, n = len(B), len(B[0])
    q = min(k, n)
    rows = orthogonalize(PythonLoops(), k, n, [x for row in B for x in row], [tolerance])
    live, T = rows.alive[:q], rows.T
    L: list[Scalar] = [live[i] * T[i * k + j] if j < i else T[i * k + j] for i in range(q) for j in range(q)]
    return RowBasis(
        Vec([Vec(rows.U[i * n : (i + 1) * n]) for i in range(q)]),
        Triangle(L, q),
        Vec(live),
        Vec([Vec(T[i * k : i * k + min(i, q)]) for i in range(k)]),
        Vec([Vec([where(equal(place, float(j)), 1.0, 0.0) for j in range(k)]) for place in rows.order]),
    )
