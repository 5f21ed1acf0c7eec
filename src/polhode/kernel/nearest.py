"""The vector nearest to a free one under linear conditions of any rank, in a graph.

    minimise (a − M⁻¹f)ᵀ M (a − M⁻¹f)  subject to  A a = b

With M = K Kᵀ and y = Kᵀa it is the y nearest to K⁻¹f with A K⁻ᵀy = b. Small problems are straight-line
operations, and so are large ones with many zeros as long as their rows are independent (`sparse.py`); where they
are not, and for all others, the rows are made orthogonal in loops (`orthogonal.py`). Where K is known as a pair of
sweeps, no matrix is made at all.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from polhode.kernel.linear import Unrolled
from polhode.kernel.orthogonal import Conditions, orthogonalize, shortest, spans
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


class Given(NamedTuple):
    """A metric M > 0 (n×n), conditions A (k×n), their natural sizes as rows of A K⁻ᵀ, M = K Kᵀ, and a tolerance:
    the part of a row, relative to its size, below which it counts as dependent on the others."""

    M: Vec
    A: Vec
    sizes: Sequence[Any]
    tolerance: Any

    @property
    def lists(self) -> list[list[Any]]:
        """All numbers, in four lists."""
        matrices = [[x for row in X for x in row] for X in (self.M, self.A)]
        return [*matrices, list(self.sizes), [self.tolerance]]

    @property
    def is_small(self) -> bool:
        """Whether all of it becomes straight-line operations."""
        return len(self.M) * len(self.A) <= UNROLLED


def nearest(given: Given, f: Vec, b: Vec) -> Nearest:
    """The constrained vector on symbols."""
    return nearest_each(given, [(f, b)])[0]


def nearest_each(given: Given, sides: Sequence[tuple[Vec, Vec]]) -> list[Nearest]:
    """The constrained vectors of several pairs of f (n) and b (k)."""
    k, m = len(given.A), len(sides)
    reduced = None if given.is_small else _reduced(given, m)
    if reduced:
        found = [reduced.nearest(f, b) for f, b in sides]
        answers = [[x for a, _ in found for x in a], [x for _, lam in found for x in lam]]
        again = lambda: _in_loops(given, sides)  # noqa: E731
        parts = _guarded(reduced, given.tolerance, [*answers, [float(k)], [0.0] * k, [0.0] * (m * k)], again)
    else:
        parts = (_straight if given.is_small else _in_loops)(given, sides)
    return _answers(given, m, parts)


def found_by(find: "Find", given: Given, sides: Sequence[tuple[Vec, Vec]], small: bool) -> list[Nearest]:
    """The constrained vectors by another way to them; `small`: in straight-line operations."""
    return _answers(given, len(sides), (_straight if small else _in_loops)(given, sides, find))


def _answers(given: Given, m: int, parts: list[list[Any]]) -> list[Nearest]:
    n, k = len(given.M), len(given.A)
    a, lam, (rank,), dependent, missing = parts
    return [
        Nearest(
            Vec(a[v * n : (v + 1) * n]),
            Vec(lam[v * k : (v + 1) * k]),
            rank,
            Vec(dependent),
            Vec(missing[v * k : (v + 1) * k]),
        )
        for v in range(m)
    ]


def admissible(given: Given, vectors: Sequence[Vec]) -> list[Vec]:
    """The parts of vectors that change no condition, orthogonal in M to all that do: (I − M⁻¹Aᵀ(A M⁻¹Aᵀ)⁺A) x."""
    n, m = len(given.M), len(vectors)
    if not given.A:
        return list(vectors)
    reduced = None if given.is_small else _reduced(given, m)
    if reduced:
        answers = [x for vector in vectors for x in reduced.admissible(vector)]
        again = lambda: [_free_parts(given, vectors)]  # noqa: E731
        (found,) = _guarded(reduced, given.tolerance, [answers], again)
    else:
        found = _free_parts(given, vectors)
    return [Vec(found[v * n : (v + 1) * n]) for v in range(m)]


# by sweeps: K⁻¹x and K⁻ᵀy as functions


class Sweeps(NamedTuple):
    """The factor K of a metric M = K Kᵀ as functions: K⁻¹x, K⁻ᵀy and Kᵀx."""

    over: Callable[[Vec], Vec]
    under: Callable[[Vec], Vec]
    times: Callable[[Vec], Vec]


def nearest_swept(K: Sweeps, f: Vec, A: Vec, b: Vec, sizes: Sequence[Any], tolerance: Any) -> Nearest:
    """The constrained vector where K is known by its sweeps; A, b, sizes, tolerance as in `nearest`."""
    B = [(1 / size) * K.over(row) for row, size in zip(A, sizes, strict=True)]
    y0 = K.over(f)
    c = Vec([x * (1 / size) - row @ y0 for x, size, row in zip(b, sizes, B, strict=True)])
    found = shortest(Vec(B), c, tolerance)
    lam = Vec([x * (1 / size) for x, size in zip(found.multipliers, sizes, strict=True)])
    return Nearest(K.under(y0 + found.y), lam, found.rank, found.dependent, found.missing)


def admissible_swept(K: Sweeps, A: Vec, vectors: Sequence[Vec], sizes: Sequence[Any], tolerance: Any) -> list[Vec]:
    """The parts of vectors that change no condition, where K is known by its sweeps."""
    B = Vec([(1 / size) * K.over(row) for row, size in zip(A, sizes, strict=True)])
    found = []
    for x in vectors:
        y = K.times(x)
        found.append(K.under(y - shortest(B, B @ y, tolerance).y))
    return found


# with many zeros


def _reduced(given: Given, sides: int) -> Reduced | None:
    """The factors of a problem with many zeros and some right sides; None if it has not enough of them."""
    order = order_of(given.M, given.A)
    n, k = len(given.M), len(given.A)
    if order is None or order.operations > min(SPARSE * 4 / (3 + sides), n * k * (n + k) / 2):
        return None
    return Reduced(order, given.M, given.A, given.sizes)


def _guarded(
    reduced: Reduced, tolerance: Any, answers: list[list[Any]], again: Callable[[], list[list[Any]]]
) -> list[list[Any]]:
    """Answers that took the rows for independent; where they are not, those that are found again in loops."""
    with Recorder("independent") as r:
        kept = [r.both(f"answer{i}", len(answer)) for i, answer in enumerate(answers)]
        bad, go = r.input("bad", 1), r.array("go", 1)
        for _ in r.repeat(bad.cell(0), go.cell(0)):
            for array, values in zip(kept, again(), strict=True):
                for i, value in enumerate(values):
                    array[i] = value
    independent = reduced.weakest > tolerance * tolerance
    found = iter(r.call([*(x for answer in answers for x in answer), where(independent, 0.0, 1.0)]))
    return [[next(found) for _ in answer] for answer in answers]


# as a matrix


class Problem(NamedTuple):
    """The problem in arrays: n unknowns, k conditions, m right sides."""

    n: int
    k: int
    m: int
    M: Any
    A: Any
    size: Any
    """Of each row of A K⁻ᵀ, before anything in it cancels."""
    tolerance: Any
    f: Any
    """m rows of n."""
    b: Any
    """m rows of k."""
    number: Any
    a: Any
    """m rows of n."""
    multipliers: Any
    """m rows of k."""
    rank: Any
    dependent: Any
    missing: Any
    """m rows of k."""


Find = Callable[[Any, Problem], None]
"""Solves a problem on loops and arrays: of a Recorder, or of `Unrolled`."""


def find(r: Any, e: Problem) -> None:
    """Solve on loops and arrays r: a Recorder, or `Unrolled`."""
    n, k = e.n, e.k
    c, y = r.array("c", k * e.m), r.array("y", e.m * n)
    factor(r, e.M, n)
    B = _rows(r, n, k, e.M, e.A, e.size)
    for v in r.range(e.m):
        forward(r, e.M, e.f, v * n, n)
        for i in r.range(k):
            c[i * e.m + v] = e.b[v * k + i] / e.size[i]
            for part in spans(r, n):
                first, *others = [B[i * n + m] * e.f[v * n + m] for m in part]
                for other in others:
                    first = first + other
                c[i * e.m + v] = c[i * e.m + v] - first
    results = e.multipliers, e.rank, e.dependent, e.missing
    orthogonalize(r, Conditions(k, n, e.m, B, c, e.tolerance, e.number, y, *results))
    for v in r.range(e.m):
        for m in r.range(n):
            e.a[v * n + m] = e.f[v * n + m] + y[v * n + m]
        backward(r, e.M, e.a, v * n, n)
        for i in r.range(k):
            e.multipliers[v * k + i] = e.multipliers[v * k + i] / e.size[i]


def _rows(r: Any, n: int, k: int, K: Any, A: Any, size: Any) -> Any:
    """B = A K⁻ᵀ with rows divided by their sizes."""
    B = r.array("B", k * n)
    for i in r.range(k):
        forward(r, K, A, i * n, n)
        for part in spans(r, n):
            for m in part:
                B[i * n + m] = A[i * n + m] / size[i]
    return B


def factor(r: Any, M: Any, n: int) -> None:
    """The lower triangle K of M = K Kᵀ, in its place."""
    for j in r.range(n):
        for m in r.range(j):
            for i in r.range(j, n):
                M[i * n + j] = M[i * n + j] - M[i * n + m] * M[j * n + m]
        M[j * n + j] = sqrt(M[j * n + j])
        for i in r.range(j + 1, n):
            M[i * n + j] = M[i * n + j] / M[j * n + j]


def forward(r: Any, K: Any, x: Any, first: Any, n: int) -> None:
    """K⁻¹x in the place of x, which begins at `first`."""
    for i in r.range(n):
        x[first + i] = x[first + i] / K[i * n + i]
        for m in r.range(i + 1, n):
            x[first + m] = x[first + m] - K[m * n + i] * x[first + i]


def backward(r: Any, K: Any, x: Any, first: Any, n: int) -> None:
    """K⁻ᵀx in the place of x, which begins at `first`."""
    for i in r.range(0, n, down=True):
        for m in r.range(i + 1, n):
            x[first + i] = x[first + i] - K[m * n + i] * x[first + m]
        x[first + i] = x[first + i] / K[i * n + i]


def _outputs(n: int, k: int, m: int) -> list[tuple[str, int]]:
    return [("a", m * n), ("multipliers", m * k), ("rank", 1), ("dependent", k), ("missing", m * k)]


def _straight(given: Given, sides: Sequence[tuple[Vec, Vec]], way: Find = find) -> list[list[Any]]:
    n, k, m = len(given.M), len(given.A), len(sides)
    results: list[list[Any]] = [[0.0] * size for _, size in _outputs(n, k, m)]
    fs, bs = [x for f, _ in sides for x in f], [x for _, b in sides for x in b]
    M, A, size, tolerance = given.lists
    number = [float(i) for i in range(n + k)]
    way(Unrolled(), Problem(n, k, m, M, A, size, tolerance, fs, bs, number, *results))
    return results


def _in_loops(given: Given, sides: Sequence[tuple[Vec, Vec]], way: Find = find) -> list[list[Any]]:
    n, k, m = len(given.M), len(given.A), len(sides)
    lists = [*given.lists, [x for f, _ in sides for x in f], [x for _, b in sides for x in b]]
    with Recorder(f"nearest{n}x{k}") as r:
        taken = [Taken(r, name, x) for name, x in zip(("M", "A", "size", "tolerance", "f", "b"), lists, strict=True)]
        outputs = _outputs(n, k, m)
        M, A, size, tolerance, f, b = (x.array for x in taken)
        results, number = [r.output(*name) for name in outputs], r.table("number", range(n + k))
        way(r, Problem(n, k, m, M, A, size, tolerance, f, b, number, *results))
    found = iter(r.call([x for part in taken for x in part.values]))
    return [[next(found) for _ in range(size)] for _, size in outputs]


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


def _free_parts(given: Given, vectors: Sequence[Vec]) -> list[Any]:
    n, k, m = len(given.M), len(given.A), len(vectors)
    flat = [x for vector in vectors for x in vector]
    if given.is_small:
        found: list[Any] = [0.0] * (m * n)
        _find_parts(Unrolled(), (n, k, m), [*given.lists, flat], [float(i) for i in range(k)], found)
        return found
    with Recorder(f"admissible{n}x{k}") as r:
        names = ("M", "A", "size", "tolerance", "x")
        taken = [Taken(r, name, x) for name, x in zip(names, [*given.lists, flat], strict=True)]
        _find_parts(r, (n, k, m), [x.array for x in taken], r.table("number", range(k)), r.output("found", m * n))
    return r.call([x for part in taken for x in part.values])


def _find_parts(r: Any, sizes: tuple[int, int, int], arrays: list[Any], number: Any, found: Any) -> None:
    """The parts along which no condition changes, on loops and arrays r: y ← y − Uᵀ U y, y = Kᵀx."""
    (n, k, m), (M, A, size, tolerance, x) = sizes, arrays
    y, s = r.array("y", n), r.array("s", 1)
    room = [("c", k), ("shortest", n), ("eta", k), ("rank", 1), ("dependent", k), ("missing", k)]
    c, *others = [r.array(name, length) for name, length in room]
    factor(r, M, n)
    B = _rows(r, n, k, M, A, size)
    orthogonalize(r, Conditions(k, n, 1, B, c, tolerance, number, *others))
    for v in r.range(m):
        for i in r.range(n):
            y[i] = 0.0
            for j in r.range(i, n):
                y[i] = y[i] + M[j * n + i] * x[v * n + j]
        for p in r.range(min(k, n)):
            s[0] = 0.0
            for i in r.range(n):
                s[0] = s[0] + B[p * n + i] * y[i]
            for i in r.range(n):
                y[i] = y[i] - s[0] * B[p * n + i]
        for i in r.range(n):
            found[v * n + i] = y[i]
        backward(r, M, found, v * n, n)
