"""Constrained least squares of any rank by multipliers: one augmented system for the vector and them.

    M  −Aᵀ   a     f
    A   0    λ  =  b                                                                          BEYOND §4

Dependent rows are found first, by making the rows orthogonal with pivoting; such a row is left out, its
multiplier is 0. What is left is solved by elimination with complete pivoting: M may be singular where a is unique.
"""

from collections.abc import Sequence
from typing import Any

from polhode.linalg.constrained import (
    Algorithm,
    ConstrainedArrays,
    ConstrainedProblem,
    ConstrainedSolution,
    solved_by,
)
from polhode.linalg.elimination import LinearSystem, eliminate
from polhode.linalg.orthogonal import RowConditions, answer
from polhode.scalar import Loops, Vec, is_zero, maximum, sqrt, where

UNROLLED = 7
"""Unknowns, multipliers among them, up to which a problem of symbols is written out, as in `elimination.py`."""

LIGHT = 1e-12
"""A number on the diagonal of M, relative to the largest, that counts as zero: rounding of the terms that cancel in it
leaves some 10 ε; what is smaller could not be told from that."""


def by_multipliers(problem: ConstrainedProblem, sides: Sequence[tuple[Vec, Vec]]) -> list[ConstrainedSolution]:
    """The constrained vectors of several pairs of f and b, as `constrained_each`; M ≥ 0."""
    return balanced(solve, problem, sides)


def balanced(
    algorithm: Algorithm, problem: ConstrainedProblem, sides: Sequence[tuple[Vec, Vec]]
) -> list[ConstrainedSolution]:
    """The constrained vectors by an algorithm that takes M with a diagonal of ones, and rows divided by their sizes.

    D M D ã = D f + D Aᵀλ,  a = D ã:  units of the unknowns do not matter
    """
    d = unit_scale(problem.M)
    over = [1 / size for size in problem.sizes]
    M = Vec([_times(row, d, d_i) for row, d_i in zip(problem.M, d, strict=True)])
    A = Vec([_times(row, d, s) for row, s in zip(problem.A, over, strict=True)])
    even = ConstrainedProblem(M, A, [1.0] * len(over), problem.tolerance)
    pairs = [(_times(f, d), _times(b, over)) for f, b in sides]
    found = solved_by(algorithm, even, pairs, len(M) + len(A) <= UNROLLED)
    return [x._replace(a=_times(x.a, d), multipliers=_times(x.multipliers, over)) for x in found]


def _times(x: Sequence[Any], factors: Sequence[Any], by: Any = 1.0) -> Vec:
    return Vec([a * by * b for a, b in zip(x, factors, strict=True)])


def unit_scale(M: Vec) -> list[Any]:
    """1/√M_ii; of the largest where an unknown has no mass."""
    most: Any = 0.0
    for i, row in enumerate(M):
        most = maximum(most, row[i])
    return [
        1 / sqrt(most if is_zero(row[i]) else where(row[i] > LIGHT * most, row[i], most)) for i, row in enumerate(M)
    ]


def solve(r: Loops, e: ConstrainedArrays) -> None:
    """Mark dependent rows, fill the augmented system, eliminate."""
    n, k, m = e.n, e.k, e.m
    size, w = n + k, n + k + m
    _mark_dependent(r, e)
    a, x, ones = r.array("system", size * w), r.array("x", size * m), r.array("ones", size)
    for i in r.range(size):
        ones[i] = 1.0
    for i in r.range(n):
        for j in r.range(n):
            a[i * w + j] = e.M[i * n + j]
        for j in r.range(k):
            a[i * w + n + j] = (e.dependent[j] - 1.0) * e.A[j * n + i]
        for v in r.range(m):
            a[i * w + size + v] = e.f[v * n + i]
    for i in r.range(k):  # of a dependent row λ = 0
        for j in r.range(n):
            a[i * w + n * w + j] = (1.0 - e.dependent[i]) * e.A[i * n + j]
        a[i * w + i + n * w + n] = e.dependent[i]
        for v in r.range(m):
            a[i * w + n * w + size + v] = (1.0 - e.dependent[i]) * e.b[v * k + i]
    exact = r.array("exact", 1)
    eliminate(r, LinearSystem(size, m, a, ones, exact, x, r.array("full", 1), r.array("free", size)))
    for v in r.range(m):
        for i in r.range(n):
            e.a[v * n + i] = x[i * m + v]
        for i in r.range(k):
            e.multipliers[v * k + i] = x[i * m + v + n * m]


def _mark_dependent(r: Loops, e: ConstrainedArrays) -> None:
    """Rank, dependent rows and their residuals, from rows that are made orthogonal."""
    n, k, m = e.n, e.k, e.m
    B, c = r.array("B", k * n), r.array("c", k * m)
    for i in r.range(k):
        for j in r.range(n):
            B[i * n + j] = e.A[i * n + j]
        for v in r.range(m):
            c[i * m + v] = e.b[v * k + i]
    y, unused = r.array("shortest", m * n), r.array("unused", m * k)
    answer(r, RowConditions(k, n, m, B, c, e.tolerance, y, unused, e.rank, e.dependent, e.residual, e.pivots))
