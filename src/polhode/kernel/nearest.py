"""The vector nearest to a free one under linear conditions of any rank, in a graph.

    minimise (a − M⁻¹f)ᵀ M (a − M⁻¹f)  subject to  A a = b

With M = K Kᵀ and y = Kᵀa it is the y nearest to K⁻¹f with A K⁻ᵀy = b; `orthogonal.py` answers that.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from polhode.kernel.linear import Unrolled
from polhode.kernel.orthogonal import Conditions, orthogonalize, spans
from polhode.kernel.record import Recorder
from polhode.scalar import Vec, sqrt

UNROLLED = 60
"""Numbers in A up to which everything becomes straight-line operations."""


class Nearest(NamedTuple):
    """a; λ with M a = f + Aᵀλ; the rank of A; 1 for each dependent row; what dependent rows miss, in their sizes."""

    a: Vec
    multipliers: Vec
    rank: Any
    dependent: Vec
    missing: Vec


class Problem(NamedTuple):
    """The problem in arrays: n unknowns, k conditions."""

    n: int
    k: int
    M: Any
    f: Any
    A: Any
    b: Any
    size: Any
    """Of each row of A K⁻ᵀ, before anything in it cancels."""
    tolerance: Any
    number: Any
    a: Any
    multipliers: Any
    rank: Any
    dependent: Any
    missing: Any


def find(r: Any, e: Problem) -> None:
    """Solve on loops and arrays r: a Recorder, or `Unrolled`."""
    n, k = e.n, e.k
    B, c, y = r.array("B", k * n), r.array("c", k), r.array("y", n)
    _factor(r, e.M, n)
    _forward(r, e.M, e.f, 0, n)
    for i in r.range(k):
        _forward(r, e.M, e.A, i * n, n)
        c[i] = e.b[i]
        for part in spans(r, n):
            first, *others = [e.A[i * n + m] * e.f[m] for m in part]
            for other in others:
                first = first + other
            c[i] = c[i] - first
        c[i] = c[i] / e.size[i]
        for part in spans(r, n):
            for m in part:
                B[i * n + m] = e.A[i * n + m] / e.size[i]
    results = e.multipliers, e.rank, e.dependent, e.missing
    orthogonalize(r, Conditions(k, n, B, c, e.tolerance, e.number, y, *results))
    for m in r.range(n):
        e.a[m] = e.f[m] + y[m]
    for i in r.range(0, n, down=True):  # Kᵀa = y
        for m in r.range(i + 1, n):
            e.a[i] = e.a[i] - e.M[m * n + i] * e.a[m]
        e.a[i] = e.a[i] / e.M[i * n + i]
    for i in r.range(k):
        e.multipliers[i] = e.multipliers[i] / e.size[i]


def _factor(r: Any, M: Any, n: int) -> None:
    """The lower triangle K of M = K Kᵀ, in its place."""
    for j in r.range(n):
        for m in r.range(j):
            for i in r.range(j, n):
                M[i * n + j] = M[i * n + j] - M[i * n + m] * M[j * n + m]
        M[j * n + j] = sqrt(M[j * n + j])
        for i in r.range(j + 1, n):
            M[i * n + j] = M[i * n + j] / M[j * n + j]


def _forward(r: Any, K: Any, x: Any, first: Any, n: int) -> None:
    """K⁻¹x in the place of x, which begins at `first`."""
    for i in r.range(n):
        x[first + i] = x[first + i] / K[i * n + i]
        for m in r.range(i + 1, n):
            x[first + m] = x[first + m] - K[m * n + i] * x[first + i]


def nearest(M: Vec, f: Vec, A: Vec, b: Vec, sizes: Sequence[Any], tolerance: Any, unrolled: int = UNROLLED) -> Nearest:
    """The constrained vector on symbols, M > 0.

    M, f, A, b  n×n, n, k×n, k
    sizes       natural sizes of the rows of A K⁻ᵀ, M = K Kᵀ
    tolerance   the part of a row, relative to its size, below which it counts as dependent on the others
    """
    n, k = len(f), len(b)
    rows, flat = [x for row in M for x in row], [x for row in A for x in row]
    given = [rows, list(f), flat, list(b), list(sizes), [tolerance]]
    found = (_straight if n * k <= unrolled else _recorded)(n, k, given)
    a, rest = Vec(found[:n]), found[n:]
    return Nearest(a, Vec(rest[:k]), rest[k], Vec(rest[k + 1 : 2 * k + 1]), Vec(rest[2 * k + 1 :]))


def _straight(n: int, k: int, given: list[list[Any]]) -> list[Any]:
    results = [[0.0] * n, [0.0] * k, [0.0], [0.0] * k, [0.0] * k]
    M, f, A, b, size, tolerance = given
    number = [float(i) for i in range(k)]
    find(Unrolled(), Problem(n, k, M, f, A, b, size, tolerance, number, *results))
    return [x for part in results for x in part]


def _recorded(n: int, k: int, given: list[list[Any]]) -> list[Any]:
    with Recorder(f"nearest{n}x{k}") as r:
        names = ("M", "f", "A", "b", "size", "tolerance")
        arrays = [r.input(name, len(x)) for name, x in zip(names, given, strict=True)]
        outputs = ("a", n), ("multipliers", k), ("rank", 1), ("dependent", k), ("missing", k)
        M, f, A, b, size, tolerance = arrays
        results = [r.output(*name) for name in outputs]
        find(r, Problem(n, k, M, f, A, b, size, tolerance, r.table("number", range(k)), *results))
    return r.call([x for part in given for x in part])
