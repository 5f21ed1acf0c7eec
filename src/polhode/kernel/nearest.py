"""The vector nearest to a free one under linear conditions of any rank, in a graph.

    minimise (a − M⁻¹f)ᵀ M (a − M⁻¹f)  subject to  A a = b

With M = K Kᵀ and y = Kᵀa it is the y nearest to K⁻¹f with A K⁻ᵀy = b. Small problems are straight-line
operations, and so are large ones with many zeros as long as their rows are independent (`sparse.py`); where they
are not, and for all others, the rows are made orthogonal in loops (`orthogonal.py`).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from polhode.kernel.linear import Unrolled
from polhode.kernel.orthogonal import Conditions, orthogonalize, spans
from polhode.kernel.record import Recorder
from polhode.kernel.routine import Index
from polhode.kernel.sparse import Reduced, order_of
from polhode.kernel.trace import is_zero
from polhode.scalar import Vec, sqrt, where

UNROLLED = 60
"""Numbers in A up to which everything becomes straight-line operations."""

SPARSE = 20_000
"""Operations up to which a problem with many zeros becomes straight-line operations."""


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
    if n * k <= unrolled:
        return _results(n, k, _straight(n, k, _lists(M, f, A, b, sizes, tolerance)))
    if reduced := _reduced(M, A, sizes):
        a, lam = reduced.nearest(f, b)
        return _results(n, k, _guarded(reduced, tolerance, [*a, *lam], [float(k)], (M, f, A, b, sizes)))
    return _results(n, k, _recorded(n, k, _lists(M, f, A, b, sizes, tolerance)))


def _lists(M: Vec, f: Vec, A: Vec, b: Vec, sizes: Sequence[Any], tolerance: Any) -> list[list[Any]]:
    return [[x for row in M for x in row], list(f), [x for row in A for x in row], list(b), list(sizes), [tolerance]]


def _results(n: int, k: int, found: list[Any]) -> Nearest:
    a, lam, rank, rest = Vec(found[:n]), Vec(found[n : n + k]), found[n + k], found[n + k + 1 :]
    return Nearest(a, lam, rank, Vec(rest[:k]), Vec(rest[k:]))


def _reduced(M: Vec, A: Vec, sizes: Sequence[Any]) -> Reduced | None:
    """The factors of a problem with many zeros; None if it has not enough of them."""
    order = order_of(M, A)
    n, k = len(M), len(A)
    if order is None or order.operations > min(SPARSE, n * k * (n + k) // 2):
        return None
    return Reduced(order, M, A, sizes)


def _guarded(
    reduced: Reduced,
    tolerance: Any,
    answer: list[Any],
    more: list[Any],
    problem: tuple[Vec, Vec, Vec, Vec, Sequence[Any]],
) -> list[Any]:
    """An answer that took the rows for independent; where they are not, that of loops.

    more  what follows in the results, before zeros for each dependent row and for what it misses
    """
    M, f, A, b, sizes = problem
    n, k = len(M), len(A)
    with Recorder(f"nearest{n}x{k}or") as r:
        names = ("a", "rank", "others")
        found = [r.both(name, len(x)) for name, x in zip(names, (answer, more, [0.0] * (2 * k)), strict=True)]
        bad, go = r.input("bad", 1), r.array("go", 1)
        for _ in r.repeat(bad.cell(0), go.cell(0)):
            again = iter(_recorded(n, k, _lists(M, f, A, b, sizes, tolerance)))
            for array in found:
                for i in range(len(array)):
                    array[i] = next(again)
    independent = reduced.weakest > tolerance * tolerance
    return r.call([*answer, *more, *[0.0] * (2 * k), where(independent, 0.0, 1.0)])


def _straight(n: int, k: int, given: list[list[Any]]) -> list[Any]:
    results = [[0.0] * n, [0.0] * k, [0.0], [0.0] * k, [0.0] * k]
    M, f, A, b, size, tolerance = given
    number = [float(i) for i in range(k)]
    find(Unrolled(), Problem(n, k, M, f, A, b, size, tolerance, number, *results))
    return [x for part in results for x in part]


def _recorded(n: int, k: int, given: list[list[Any]]) -> list[Any]:
    with Recorder(f"nearest{n}x{k}") as r:
        names = ("M", "f", "A", "b", "size", "tolerance")
        taken = [Taken(r, name, x) for name, x in zip(names, given, strict=True)]
        outputs = ("a", n), ("multipliers", k), ("rank", 1), ("dependent", k), ("missing", k)
        M, f, A, b, size, tolerance = (x.array for x in taken)
        results = [r.output(*name) for name in outputs]
        find(r, Problem(n, k, M, f, A, b, size, tolerance, r.table("number", range(k)), *results))
    return r.call([x for part in taken for x in part.values])


class Taken:
    """An array of a routine with the values that are given to it; zeros that are there for every state are not."""

    def __init__(self, r: Recorder, name: str, values: Sequence[Any]) -> None:
        places = [i for i, x in enumerate(values) if not is_zero(x)]
        self.values = [values[i] for i in places]
        if len(places) == len(values):
            self.array = r.input(name, len(values))
            return
        self.array = r.array(name, len(values))
        given, at = r.input(f"{name}_given", len(places)), r.lookup(f"{name}_at", places)
        for e in r.range(len(places)):
            self.array[Index.of(at.at(e))] = given[e]


class Directions(NamedTuple):
    """m vectors of n numbers, in arrays, and k conditions."""

    n: int
    k: int
    m: int
    M: Any
    A: Any
    size: Any
    tolerance: Any
    x: Any
    number: Any
    found: Any


def free_parts(r: Any, e: Directions) -> None:
    """The parts of vectors along which no condition changes, on loops and arrays r: y ← y − Uᵀ U y, y = Kᵀx."""
    n, k = e.n, e.k
    B, y, s = r.array("B", k * n), r.array("y", n), r.array("s", 1)
    room = [
        r.array(name, size) for name, size in (("c", k), ("unused", n), ("eta", k), ("rank", 1), ("d", k), ("o", k))
    ]
    _factor(r, e.M, n)
    for i in r.range(k):
        _forward(r, e.M, e.A, i * n, n)
        for part in spans(r, n):
            for m in part:
                B[i * n + m] = e.A[i * n + m] / e.size[i]
    orthogonalize(r, Conditions(k, n, B, room[0], e.tolerance, e.number, *room[1:]))
    for v in r.range(e.m):
        for i in r.range(n):
            y[i] = 0.0
            for m in r.range(i, n):
                y[i] = y[i] + e.M[m * n + i] * e.x[v * n + m]
        for p in r.range(min(k, n)):
            s[0] = 0.0
            for i in r.range(n):
                s[0] = s[0] + B[p * n + i] * y[i]
            for i in r.range(n):
                y[i] = y[i] - s[0] * B[p * n + i]
        for i in r.range(0, n, down=True):  # Kᵀx = y
            for m in r.range(i + 1, n):
                y[i] = y[i] - e.M[m * n + i] * y[m]
            y[i] = y[i] / e.M[i * n + i]
            e.found[v * n + i] = y[i]


def admissible(M: Vec, A: Vec, vectors: Sequence[Vec], sizes: Sequence[Any], tolerance: Any) -> list[Vec]:
    """The parts of vectors that change no condition, M-orthogonal to all that do: (I − M⁻¹Aᵀ(A M⁻¹Aᵀ)⁺A) x.

    M, A, sizes, tolerance  as in `nearest`
    """
    n, k = len(M), len(A)
    if not k:
        return list(vectors)
    reduced = _reduced(M, A, sizes) if n * k > UNROLLED else None
    if reduced:
        return _guarded_parts(reduced, M, A, vectors, sizes, tolerance)
    return _parts(M, A, vectors, sizes, tolerance)


def _guarded_parts(
    reduced: Reduced, M: Vec, A: Vec, vectors: Sequence[Vec], sizes: Sequence[Any], tolerance: Any
) -> list[Vec]:
    """The parts along conditions that are independent; where they are not, those that loops find."""
    n, m = len(M), len(vectors)
    with Recorder(f"admissible{n}x{len(A)}or") as r:
        out, bad, go = r.both("found", m * n), r.input("bad", 1), r.array("go", 1)
        for _ in r.repeat(bad.cell(0), go.cell(0)):
            again = [x for part in _parts(M, A, vectors, sizes, tolerance) for x in part]
            for i, value in enumerate(again):
                out[i] = value
    independent = reduced.weakest > tolerance * tolerance
    found = r.call([*(x for v in vectors for x in reduced.admissible(v)), where(independent, 0.0, 1.0)])
    return [Vec(found[v * n : (v + 1) * n]) for v in range(m)]


def _parts(M: Vec, A: Vec, vectors: Sequence[Vec], sizes: Sequence[Any], tolerance: Any) -> list[Vec]:
    n, k, m = len(M), len(A), len(vectors)
    lists = [[x for row in M for x in row], [x for row in A for x in row], list(sizes), [tolerance]]
    flat = [x for vector in vectors for x in vector]
    found: list[Any]
    if n * k <= UNROLLED:
        found = [0.0] * (m * n)
        number = [float(i) for i in range(k)]
        free_parts(Unrolled(), Directions(n, k, m, lists[0], lists[1], lists[2], lists[3], flat, number, found))
    else:
        with Recorder(f"admissible{n}x{k}") as r:
            names = ("M", "A", "size", "tolerance", "x")
            taken = [Taken(r, name, x) for name, x in zip(names, [*lists, flat], strict=True)]
            out = r.output("found", m * n)
            given: tuple[Any, ...] = (*(part.array for part in taken), r.table("number", range(k)), out)
            free_parts(r, Directions(n, k, m, *given))
        found = [*r.call([x for part in taken for x in part.values])]
    return [Vec(found[v * n : (v + 1) * n]) for v in range(m)]
