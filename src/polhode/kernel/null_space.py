"""Linear conditions of any rank by a basis of the directions that they leave free, in a graph.

    A P = L Qᵀ,  Q = (Y N):   a = Y z + N w,   L z = b,   NᵀMN w = Nᵀ(f − M Y z),   Lᵀλ = Yᵀ(M a − f)   BEYOND §5

Rows are reflected one by one, that with most left first; what is left of a dependent row is below the tolerance.
M may be singular where a is unique: NᵀMN > 0.
"""

from collections.abc import Sequence
from typing import Any

from polhode.kernel.augmented import balanced
from polhode.kernel.nearest import Given, Nearest, Problem, backward, factor, forward
from polhode.kernel.orthogonal import bring, place
from polhode.scalar import Vec, sqrt, where


def by_null_space(given: Given, sides: Sequence[tuple[Vec, Vec]]) -> list[Nearest]:
    """The constrained vectors of several pairs of f and b, as `nearest_each`; M ≥ 0."""
    return balanced(find, given, sides)


def find(r: Any, e: Problem) -> None:
    """Solve on loops and arrays r: a Recorder, or `Unrolled`."""
    n, k, m = e.n, e.k, e.m
    Q, c, order, alive = r.array("Q", n * n), r.array("c", k * m), r.array("order", k), r.array("alive", max(n, k))
    for i in r.range(n):
        Q[i * n + i] = 1.0
    for i in r.range(k):
        order[i] = e.number[i]
        for v in r.range(m):
            c[i * m + v] = e.b[v * k + i]
    _reflect(r, e, Q, c, order, alive)
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
            place(r, k, e.number, order, p, e.multipliers, v * k, lam[p])


def _reflect(r: Any, e: Problem, Q: Any, c: Any, order: Any, alive: Any) -> None:
    """A P = L Qᵀ in the place of A, by reflections; the rank."""
    n, k, A = e.n, e.k, e.A
    best, s, h = r.array("best", 2), r.array("s", 2), r.array("h", n)
    for p in r.range(min(k, n)):
        best[0], best[1] = -1.0, e.number[p]
        for i in r.range(p, k):  # the row that has most left
            s[0] = 0.0
            for j in r.range(p, n):
                s[0] = s[0] + A[i * n + j] * A[i * n + j]
            longer = s[0] > best[0]
            best[0], best[1] = where(longer, s[0], best[0]), where(longer, e.number[i], best[1])
        bring(r, k, e.number, best, p, ((A, n), (c, e.m), (order, 1)))
        good = best[0] > e.tolerance[0] * e.tolerance[0]
        alive[p] = where(good, 1.0, 0.0)
        e.rank[0] = e.rank[0] + alive[p]
        length = sqrt(where(good, best[0], 1.0))
        end = where(A[p * n + p] > 0.0, -length, length)
        s[1] = where(good, 1.0 / (length * length - end * A[p * n + p]), 0.0)  # 2/h·h
        for j in r.range(p, n):
            h[j] = A[p * n + j]
        h[p] = h[p] - end
        _mirrored(r, A, p, k, p, n, h, s)
        _mirrored(r, Q, 0, n, p, n, h, s)


def _mirrored(r: Any, X: Any, first: Any, last: int, p: Any, n: int, h: Any, s: Any) -> None:
    """Rows of X, from `first`, turned into their mirror images across h, which begins at p."""
    for i in r.range(first, last):
        s[0] = 0.0
        for j in r.range(p, n):
            s[0] = s[0] + X[i * n + j] * h[j]
        s[0] = s[0] * s[1]
        for j in r.range(p, n):
            X[i * n + j] = X[i * n + j] - s[0] * h[j]


def _reduced(r: Any, e: Problem, Q: Any, alive: Any) -> Any:
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


def _particular(r: Any, e: Problem, c: Any, z: Any, alive: Any, order: Any, v: Any) -> None:
    """z of L z = b on the independent rows, 0 elsewhere; what the other rows miss."""
    n, k, m, most = e.n, e.k, e.m, min(e.n, e.k)
    rest = r.array("rest", 1)
    for j in r.range(n):
        z[j] = 0.0
    for p in r.range(most):
        rest[0] = c[p * m + v]
        for j in r.range(p):
            rest[0] = rest[0] - e.A[p * n + j] * z[j]
        place(r, k, e.number, order, p, e.missing, v * k, (1.0 - alive[p]) * rest[0])
        place(r, k, e.number, order, p, e.dependent, 0, 1.0 - alive[p])
        z[p] = where(alive[p] == 0.0, 0.0, rest[0] / where(alive[p] == 0.0, 1.0, e.A[p * n + p]))
    for p in r.range(most, k):
        rest[0] = c[p * m + v]
        for j in r.range(most):
            rest[0] = rest[0] - e.A[p * n + j] * z[j]
        place(r, k, e.number, order, p, e.missing, v * k, rest[0])
        place(r, k, e.number, order, p, e.dependent, 0, 1.0)


def _turned(r: Any, n: int, Q: Any, z: Any, x: Any, first: Any) -> None:
    """x = Q z, at `first`."""
    for i in r.range(n):
        x[first + i] = 0.0
        for j in r.range(n):
            x[first + i] = x[first + i] + Q[i * n + j] * z[j]


def _less_force(r: Any, e: Problem, g: Any, v: Any) -> None:
    """g = M a − f"""
    n = e.n
    for i in r.range(n):
        g[i] = -e.f[v * n + i]
        for j in r.range(n):
            g[i] = g[i] + e.M[i * n + j] * e.a[v * n + j]
