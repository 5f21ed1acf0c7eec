"""Constrained least squares of any rank by a basis of the directions that the conditions leave free.

    A P = L Qᵀ,  Q = (Y N):   a = Y z + N w,   L z = b,   NᵀMN w = Nᵀ(f − M Y z),   Lᵀλ = Yᵀ(M a − f)   BEYOND §5

Rows are reflected one by one, that with most left first; the remainder of a dependent row is below the tolerance.
M may be singular where a is unique: NᵀMN > 0.
"""

from collections.abc import Sequence
from typing import Any

from polhode.linalg.augmented import balanced
from polhode.linalg.constrained import ConstrainedArrays, ConstrainedProblem, ConstrainedSolution
from polhode.linalg.triangular import backward, factor, forward
from polhode.scalar import Loops, Vec, sqrt, where


def by_null_space(problem: ConstrainedProblem, sides: Sequence[tuple[Vec, Vec]]) -> list[ConstrainedSolution]:
    """The constrained vectors of several pairs of f and b, as `constrained_each`; M ≥ 0."""
    return balanced(solve, problem, sides)


def solve(r: Loops, e: ConstrainedArrays) -> None:
    """Reflect the rows, then solve along them and along what is free."""
    n, k, m = e.n, e.k, e.m
    Q, c, order, alive = r.array("Q", n * n), r.array("c", k * m), r.array("order", k), r.array("alive", max(n, k))
    for i in r.range(n):
        Q[i * n + i] = 1.0
    number = r.table("number", range(k))
    for i in r.range(k):
        order[i] = number[i]
        for v in r.range(m):
            c[i * m + v] = e.b[v * k + i]
    _reflect(r, e, number, Q, c, order, alive)
    H = _reduced(r, e, Q, alive)
    z, g, w, lam = r.array("z", max(n, k)), r.array("g", n), r.array("w", n), r.array("lam", k)
    for v in r.range(m):
        _particular(r, e, c, z, alive, order, v)
        _turned(r, n, Q, z, e.a, v * n)
        _less_force(r, e, g, v)
        for j in r.range(n):  # along what is free
            w[j] = 0.0
            for i in r.range(n):
                w[j] = w[j] - Q[i * n + j] * g[i]
            w[j] = (1.0 - alive[j]) * w[j]
        forward(r, H, w, 0, n)
        backward(r, H, w, 0, n)
        for j in r.range(n):
            z[j] = z[j] + w[j]
        _turned(r, n, Q, z, e.a, v * n)
        _less_force(r, e, g, v)
        most = min(n, k)
        for p in r.range(0, most, down=True):
            lam[p] = 0.0
            for i in r.range(n):
                lam[p] = lam[p] + Q[i * n + p] * g[i]
            for i in r.range(p + 1, most):
                lam[p] = lam[p] - e.A[i * n + p] * lam[i]
            lam[p] = where(alive[p] == 0.0, 0.0, lam[p] / where(alive[p] == 0.0, 1.0, e.A[p * n + p]))
            r.put(e.multipliers, v * k, k, order, p, lam[p])


def _reflect(r: Loops, e: ConstrainedArrays, number: Any, Q: Any, c: Any, order: Any, alive: Any) -> None:
    """A P = L Qᵀ in the place of A, by reflections; the rank."""
    n, k, A = e.n, e.k, e.A
    most, chosen, s, h = r.array("most", 1), r.array("chosen", 1), r.array("s", 2), r.array("h", n)
    for p in r.range(min(k, n)):
        most[0], chosen[0] = -1.0, number[p]
        for i in r.range(p, k):  # the row that has most left
            s[0] = 0.0
            for j in r.range(p, n):
                s[0] = s[0] + A[i * n + j] * A[i * n + j]
            longer = s[0] > most[0]
            most[0], chosen[0] = where(longer, s[0], most[0]), where(longer, number[i], chosen[0])
        r.exchange(k, p, chosen, ((A, n), (c, e.m), (order, 1)))
        good = most[0] > e.tolerance[0] * e.tolerance[0]
        alive[p] = where(good, 1.0, 0.0)
        e.rank[0] = e.rank[0] + alive[p]
        length = sqrt(where(good, most[0], 1.0))
        e.pivots[p] = alive[p] * length
        end = where(A[p * n + p] > 0.0, -length, length)
        s[1] = where(good, 1.0 / (length * length - end * A[p * n + p]), 0.0)  # 2/h·h
        for j in r.range(p, n):
            h[j] = A[p * n + j]
        h[p] = h[p] - end
        _mirrored(r, A, p, k, p, n, h, s)
        _mirrored(r, Q, 0, n, p, n, h, s)


def _mirrored(r: Loops, X: Any, first: Any, last: int, p: Any, n: int, h: Any, s: Any) -> None:
    """Rows of X, from `first`, turned into their mirror images across h, which begins at p."""
    for i in r.range(first, last):
        s[0] = 0.0
        for j in r.range(p, n):
            s[0] = s[0] + X[i * n + j] * h[j]
        s[0] = s[0] * s[1]
        for j in r.range(p, n):
            X[i * n + j] = X[i * n + j] - s[0] * h[j]


def _reduced(r: Loops, e: ConstrainedArrays, Q: Any, alive: Any) -> Any:
    """The factor of NᵀMN, with ones in the place of what is not free."""
    n = e.n
    W, H = r.array("W", n * n), r.array("H", n * n)
    for i in r.range(n):
        for j in r.range(n):
            for l in r.range(n):
                W[i * n + l] = W[i * n + l] + e.M[i * n + j] * Q[j * n + l]
    for i in r.range(n):
        for j in r.range(n):
            for l in r.range(n):
                H[j * n + l] = H[j * n + l] + Q[i * n + j] * W[i * n + l]
    for j in r.range(n):
        for l in r.range(n):
            H[j * n + l] = (1.0 - alive[j]) * (1.0 - alive[l]) * H[j * n + l]
        H[j * n + j] = H[j * n + j] + alive[j]
    factor(r, H, n)
    return H


def _particular(r: Loops, e: ConstrainedArrays, c: Any, z: Any, alive: Any, order: Any, v: Any) -> None:
    """z of L z = b on the independent rows, 0 elsewhere; the residual of the other rows."""
    n, k, m, most = e.n, e.k, e.m, min(e.n, e.k)
    rest = r.array("rest", 1)
    for j in r.range(n):
        z[j] = 0.0
    for p in r.range(most):
        rest[0] = c[p * m + v]
        for j in r.range(p):
            rest[0] = rest[0] - e.A[p * n + j] * z[j]
        r.put(e.residual, v * k, k, order, p, (1.0 - alive[p]) * rest[0])
        r.put(e.dependent, 0, k, order, p, 1.0 - alive[p])
        z[p] = where(alive[p] == 0.0, 0.0, rest[0] / where(alive[p] == 0.0, 1.0, e.A[p * n + p]))
    for p in r.range(most, k):
        rest[0] = c[p * m + v]
        for j in r.range(most):
            rest[0] = rest[0] - e.A[p * n + j] * z[j]
        r.put(e.residual, v * k, k, order, p, rest[0])
        r.put(e.dependent, 0, k, order, p, 1.0)


def _turned(r: Loops, n: int, Q: Any, z: Any, x: Any, first: Any) -> None:
    """x = Q z, at `first`."""
    for i in r.range(n):
        x[first + i] = 0.0
        for j in r.range(n):
            x[first + i] = x[first + i] + Q[i * n + j] * z[j]


def _less_force(r: Loops, e: ConstrainedArrays, g: Any, v: Any) -> None:
    """g = M a − f"""
    n = e.n
    for i in r.range(n):
        g[i] = -e.f[v * n + i]
        for j in r.range(n):
            g[i] = g[i] + e.M[i * n + j] * e.a[v * n + j]
