"""Constrained least squares of any rank: the vector nearest to a free one that meets linear conditions.

    minimise (a − M⁻¹f)ᵀ M (a − M⁻¹f)  subject to  A a = b;      M a = f + Aᵀλ

With M = K Kᵀ and y = Kᵀa it is the y nearest to K⁻¹f with A K⁻ᵀy = b. Rows that depend on others are found and left
out: their multipliers are 0. On symbols, small problems are straight-line operations, and so are large ones with many
zeros as long as their rows are independent (`sparse.py`); where they are not, and for all others, the rows are made
orthogonal in loops (`orthogonal.py`). Where K is known as a pair of sweeps, no matrix is formed at all.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from polhode.linalg.orthogonal import RowConditions, answer, orthogonalize, put_remainders, remainders, shortest
from polhode.linalg.sparse import SparseFactors, put_entries
from polhode.linalg.sparse_places import EliminationOrder, SparsePlaces, order_of
from polhode.linalg.triangular import backward, factor, forward
from polhode.scalar import Loops, Vec, dot, loops_for, spans, sqrt, unless_valid, where
from polhode.scalar.loops import PythonLoops

UNROLLED = 60
"""Numbers in A up to which a problem of symbols is written out; beyond, compile time, which grows with the cube of the
size, would be longer than loops cost."""

SPARSE = 20_000
"""Operations up to which a problem with many zeros is written out: as many as large trees are
(`dynamics/large_trees/loops.py`)."""


LOOPED = 100
"""Unknowns, a and λ, of a problem with many zeros above which its routine (`ConstrainedProblem.routine`) is loops over
tables: a GPU's compiler takes 9 s for the 161 of forty four-bars written out, and half a second for loops. Smaller ones
compile in time as they are, and run twice as fast (4,096 runs of `stewart-platform` on an H200: 0.67 s, not 1.41 s)."""


class ConstrainedSolution(NamedTuple):
    """a; λ with M a = f + Aᵀλ; the rank of A; 1 for each dependent row; b − A a of these, relative to their sizes; what
    each row had left, relative to its size, in the order of elimination: 0 of dependent ones."""

    a: Vec
    multipliers: Vec
    rank: Any
    dependent: Vec
    residual: Vec
    pivots: Vec


SharedRoutine = Callable[[Callable[..., Vec], tuple[int, ...]], Callable[..., Vec]]
"""A function of vectors, and the numbers that tell it from others → the same as a routine that is shared."""


class ConstrainedProblem(NamedTuple):
    """A metric M > 0 (n×n), conditions A (k×n), their natural sizes as rows of A K⁻ᵀ, M = K Kᵀ, and a
    rank tolerance: remainder of a row after elimination, relative to its size; at and below it the row is dependent."""

    M: Vec
    A: Vec
    sizes: Sequence[Any]
    tolerance: Any
    routine: SharedRoutine | None = None
    """What makes a routine of the solution, for all problems of these conditions."""

    @property
    def lists(self) -> list[list[Any]]:
        """All numbers, in four lists."""
        matrices = [[x for row in X for x in row] for X in (self.M, self.A)]
        return [*matrices, list(self.sizes), [self.tolerance]]

    @property
    def is_small(self) -> bool:
        """Whether all of it becomes straight-line operations."""
        return len(self.M) * len(self.A) <= UNROLLED


def constrained(problem: ConstrainedProblem, f: Vec, b: Vec) -> ConstrainedSolution:
    """The constrained vector of one f (n) and b (k)."""
    return constrained_each(problem, [(f, b)])[0]


def constrained_each(problem: ConstrainedProblem, sides: Sequence[tuple[Vec, Vec]]) -> list[ConstrainedSolution]:
    """The constrained vectors of several pairs of f (n) and b (k)."""
    order = _sparse_order(problem, len(sides))
    if not order:
        return solved_by(solve, problem, sides, problem.is_small)
    if problem.routine and len(sides) == 1:
        return [_by_routine(problem, order, problem.routine, *sides[0])]
    return _sparse(problem, order, sides)


def _sparse(
    problem: ConstrainedProblem, order: EliminationOrder, sides: Sequence[tuple[Vec, Vec]]
) -> list[ConstrainedSolution]:
    """The constrained vectors by operations on what is not zero, written out; where rows are dependent, by loops."""
    n, k, m, r = len(problem.M), len(problem.A), len(sides), PythonLoops()
    sparse = _factors(r, problem, order)
    a, lam = ([r.output(name, size) for _ in sides] for name, size in (("a", n), ("multipliers", k)))
    for (f, b), *found in zip(sides, a, lam, strict=True):
        sparse.constrained(f, b, *found)
    again = lambda: Vec(_arrays(solve, problem, sides, False))  # noqa: E731
    valid = sparse.weakest() > problem.tolerance * problem.tolerance
    left = [sqrt(x) for x in sparse.squares]
    values = Vec([*r.results(), float(k), *[0.0] * (k + m * k), *left])
    return _solutions(problem, m, unless_valid(valid, values, again))


def _factors(r: PythonLoops, problem: ConstrainedProblem, order: EliminationOrder) -> SparseFactors:
    """The factors of a problem with many zeros, written out."""
    places = SparsePlaces(order, problem.M, problem.A)
    return SparseFactors(r, places, places.entries(problem.M, problem.A), [1 / size for size in problem.sizes])


def _by_routine(
    problem: ConstrainedProblem, order: EliminationOrder, routine: SharedRoutine, f: Vec, b: Vec
) -> ConstrainedSolution:
    """The constrained vector by one routine, which all problems with the same zeros call."""
    n, k, sizes = len(f), len(b), problem.sizes
    places, in_loops = SparsePlaces(order, problem.M, problem.A), n + k > LOOPED

    def constrained(f: Vec, b: Vec, tolerance: Vec, entries: Vec) -> Vec:
        if in_loops:
            return _in_loops(places, f, b, sizes, tolerance, entries)
        M, A = _matrix(n, n, places.of_M, entries), _matrix(k, n, places.of_A, entries[len(places.of_M) :])
        (found,) = _sparse(ConstrainedProblem(M, A, sizes, tolerance[0]), order, [(f, b)])
        return Vec([*found.a, *found.multipliers, found.rank, *found.dependent, *found.residual, *found.pivots])

    zeros = tuple(i * n + j for i, j in (*places.of_M, *((n + i, j) for i, j in places.of_A)))
    shared = routine(constrained, zeros)
    return _solutions(problem, 1, shared(f, b, Vec([problem.tolerance]), Vec(places.entries(problem.M, problem.A))))[0]


def _matrix(rows: int, columns: int, places: Sequence[tuple[int, int]], entries: Sequence[Any]) -> Vec:
    """A matrix with entries at some places; there may be more of them."""
    found: list[list[Any]] = [[0.0] * columns for _ in range(rows)]
    for (i, j), x in zip(places, entries, strict=False):
        found[i][j] = x
    return Vec([Vec(row) for row in found])


def admissible(problem: ConstrainedProblem, vectors: Sequence[Vec]) -> list[Vec]:
    """The parts of vectors that change no condition, orthogonal in M to all that do: (I − M⁻¹Aᵀ(A M⁻¹Aᵀ)⁺A) x."""
    n, m = len(problem.M), len(vectors)
    if not problem.A:
        return list(vectors)
    order = _sparse_order(problem, m)
    if order and problem.routine:
        found = Vec(_admissible_by_routine(problem, order, problem.routine, vectors))
        return [Vec(found[v * n : (v + 1) * n]) for v in range(m)]
    if order:
        r = PythonLoops()
        sparse = _factors(r, problem, order)
        for x in vectors:
            sparse.admissible(x, r.output("a", n))
        valid = sparse.weakest() > problem.tolerance * problem.tolerance
        found = unless_valid(valid, Vec(r.results()), lambda: Vec(_admissible(problem, vectors)))
    else:
        found = Vec(_admissible(problem, vectors))
    return [Vec(found[v * n : (v + 1) * n]) for v in range(m)]


def _admissible_by_routine(
    problem: ConstrainedProblem, order: EliminationOrder, routine: SharedRoutine, vectors: Sequence[Vec]
) -> list[Any]:
    """The admissible parts of all vectors, in a loop with one call of the routine that solves."""
    n, still, every = len(problem.M), Vec([0.0] * len(problem.A)), [x for vector in vectors for x in vector]
    with loops_for("admissible", every) as r:
        given, found = r.given("x", every), r.output("found", len(every))
        for v in r.range(len(vectors)):
            x = Vec([given[v * n + i] for i in range(n)])
            for i, value in enumerate(_by_routine(problem, order, routine, problem.M @ x, still).a):
                found[v * n + i] = value
    return r.results()


def pivots(problem: ConstrainedProblem) -> Vec:
    """(k)  What each row of D⁻¹A K⁻ᵀ has left when those before it were taken from it, in an order of elimination.

    One of them passes through 0 where rows become dependent; those of dependent rows are 0. The order is that of the
    zeros where it keeps many, else the longest row comes next.
    """
    order = _sparse_order(problem, 1)
    if not order:
        return Vec(_pivots(problem))
    sparse = _factors(PythonLoops(), problem, order)
    valid = sparse.weakest() > problem.tolerance * problem.tolerance
    return unless_valid(valid, Vec([sqrt(x) for x in sparse.squares]), lambda: Vec(_pivots(problem)))


def weighted_metric(M: Vec, A: Vec, W: Sequence[Any]) -> Vec:
    """M + AᵀWA, W (k) > 0 a diagonal: positive definite if and only if a is unique, where M may be singular.

    It gives the same a, since A a is given.                                                            BEYOND §5
    """
    return M + A.T @ Vec([row * w for row, w in zip(A, W, strict=True)])


# where K is known by its sweeps


class FactorSweeps(NamedTuple):
    """The factor K of a metric M = K Kᵀ as functions: K⁻¹x, K⁻ᵀy and Kᵀx."""

    over: Callable[[Vec], Vec]
    under: Callable[[Vec], Vec]
    times: Callable[[Vec], Vec]


def constrained_by_sweeps(
    K: FactorSweeps, f: Vec, A: Vec, b: Vec, sizes: Sequence[Any], tolerance: Any
) -> ConstrainedSolution:
    """The constrained vector where K is known by its sweeps; A, b, sizes, tolerance as in `ConstrainedProblem`."""
    B = [(1 / size) * K.over(row) for row, size in zip(A, sizes, strict=True)]
    y0 = K.over(f)
    c = Vec([x * (1 / size) - row @ y0 for x, size, row in zip(b, sizes, B, strict=True)])
    found = shortest(Vec(B), c, tolerance)
    lam = Vec([x * (1 / size) for x, size in zip(found.multipliers, sizes, strict=True)])
    return ConstrainedSolution(K.under(y0 + found.y), lam, *found[2:])


def admissible_by_sweeps(
    K: FactorSweeps, A: Vec, vectors: Sequence[Vec], sizes: Sequence[Any], tolerance: Any
) -> list[Vec]:
    """The parts of vectors that change no condition, where K is known by its sweeps."""
    B = Vec([(1 / size) * K.over(row) for row, size in zip(A, sizes, strict=True)])
    found = []
    for x in vectors:
        y = K.times(x)
        found.append(K.under(y - shortest(B, B @ y, tolerance).y))
    return found


def pivots_by_sweeps(K: FactorSweeps, A: Vec, sizes: Sequence[Any], tolerance: Any) -> Vec:
    """`pivots` where K is known by its sweeps."""
    return remainders(Vec([(1 / size) * K.over(row) for row, size in zip(A, sizes, strict=True)]), tolerance)


def _sparse_order(problem: ConstrainedProblem, sides: int) -> EliminationOrder | None:
    """The order of elimination of a problem with many zeros and some right sides; None if it has not enough of them.

    Enough: fewer operations than half of what dense factors take, n k (n + k), and than are written out at all;
    each right side beyond the first takes about a quarter of what the factors take.
    """
    if problem.is_small:
        return None
    order = order_of(problem.M, problem.A)
    n, k = len(problem.M), len(problem.A)
    if order is None or order.operations > min(SPARSE * 4 / (3 + sides), n * k * (n + k) / 2):
        return None
    return order


# on loops and arrays


class ConstrainedArrays(NamedTuple):
    """A constrained problem in arrays: n unknowns, k conditions, m right sides, and room for the solutions."""

    n: int
    k: int
    m: int
    M: Any
    """(n, n); overwritten."""
    A: Any
    """(k, n); overwritten."""
    size: Any
    """(k)  of each row of A K⁻ᵀ, before anything in it cancels."""
    tolerance: Any
    f: Any
    """m rows of n; overwritten."""
    b: Any
    """m rows of k."""
    a: Any
    """m rows of n."""
    multipliers: Any
    """m rows of k."""
    rank: Any
    dependent: Any
    residual: Any
    """m rows of k."""
    pivots: Any


Algorithm = Callable[[Loops, ConstrainedArrays], None]
"""Solves a constrained problem in arrays."""


def solved_by(
    algorithm: Algorithm, problem: ConstrainedProblem, sides: Sequence[tuple[Vec, Vec]], written_out: bool
) -> list[ConstrainedSolution]:
    """The constrained vectors by an algorithm; written_out: in straight-line operations."""
    return _solutions(problem, len(sides), _arrays(algorithm, problem, sides, written_out))


def _arrays(
    algorithm: Algorithm, problem: ConstrainedProblem, sides: Sequence[tuple[Vec, Vec]], written_out: bool
) -> list[Any]:
    n, k, m = len(problem.M), len(problem.A), len(sides)
    values = [*problem.lists, [x for f, _ in sides for x in f], [x for _, b in sides for x in b]]
    with loops_for(f"constrained{n}x{k}", [x for part in values for x in part], written_out=written_out) as r:
        names = ("M", "A", "size", "tolerance", "f", "b")
        given = [r.given(name, x, sparse=True) for name, x in zip(names, values, strict=True)]
        algorithm(r, ConstrainedArrays(n, k, m, *given, *_outputs(r, n, k, m)))
    return r.results()


def _outputs(r: Loops, n: int, k: int, m: int) -> list[Any]:
    """The last arrays of `ConstrainedArrays`."""
    sizes = ("a", m * n), ("multipliers", m * k), ("rank", 1), ("dependent", k), ("residual", m * k), ("pivots", k)
    return [r.output(*x) for x in sizes]


def _solutions(problem: ConstrainedProblem, m: int, found: Sequence[Any]) -> list[ConstrainedSolution]:
    n, k, numbers = len(problem.M), len(problem.A), iter(found)
    a, lam, ((rank,),), (dependent,), residual, (pivots,) = (
        [Vec([next(numbers) for _ in range(size)]) for _ in range(count)]
        for size, count in ((n, m), (k, m), (1, 1), (k, 1), (k, m), (k, 1))
    )
    return [ConstrainedSolution(a[v], lam[v], rank, dependent, residual[v], pivots) for v in range(m)]


def solve(r: Loops, e: ConstrainedArrays) -> None:
    """The fundamental equation: rows A K⁻ᵀ, divided by their sizes, are made orthogonal."""
    n, k = e.n, e.k
    c, y = r.array("c", k * e.m), r.array("y", e.m * n)
    factor(r, e.M, n)
    B = _rows(r, n, k, e.M, e.A, e.size)
    for v in r.range(e.m):
        forward(r, e.M, e.f, v * n, n)
        for i in r.range(k):
            c[i * e.m + v] = e.b[v * k + i] / e.size[i]
            for part in spans(r, n):
                row, free = Vec([B[i * n + m] for m in part]), Vec([e.f[v * n + m] for m in part])
                c[i * e.m + v] = c[i * e.m + v] - dot(row, free)
    answer(r, RowConditions(k, n, e.m, B, c, e.tolerance, y, e.multipliers, e.rank, e.dependent, e.residual, e.pivots))
    for v in r.range(e.m):
        for m in r.range(n):
            e.a[v * n + m] = e.f[v * n + m] + y[v * n + m]
        backward(r, e.M, e.a, v * n, n)
        for i in r.range(k):
            e.multipliers[v * k + i] = e.multipliers[v * k + i] / e.size[i]


def _in_loops(places: SparsePlaces, f: Vec, b: Vec, sizes: Sequence[Any], tolerance: Vec, entries: Vec) -> Vec:
    """The constrained vector of a problem with many zeros, in loops over the tables of its places; where rows are
    dependent, that of `solve`. The numbers of a `ConstrainedSolution`."""
    n, k, values = len(f), len(b), (entries, sizes, tolerance, f, b)
    with loops_for(f"constrained{n}x{k}", [x for part in values for x in part]) as r:
        names = ("entries", "size", "tolerance", "f", "b")
        entry, size, most, *side = (r.given(name, x) for name, x in zip(names, values, strict=True))
        found, over, flag = _outputs(r, n, k, 1), r.array("over", k), r.array("flag", 1)
        for i in r.range(k):
            over[i] = 1 / size[i]
        sparse = SparseFactors(r, places, entry, over)
        sparse.constrained(*side, *found[:2])
        found[2][0] = float(k)
        for i in r.range(k):
            found[5][i] = sqrt(sparse.squares[i])
        flag[0] = where(sparse.weakest() > most[0] * most[0], 0.0, 1.0)
        for _ in r.when(flag, found):
            found[2][0] = 0.0
            for i in r.range(k):
                found[1][i] = 0.0
            M, A = (put_entries(r, *x, entry) for x in (("M", n * n, places.in_M), ("A", k * n, places.in_A)))
            solve(r, ConstrainedArrays(n, k, 1, M, A, size, most, *side, *found))
    return Vec(r.results())


def _rows(r: Loops, n: int, k: int, K: Any, A: Any, size: Any) -> Any:
    """B = A K⁻ᵀ with rows divided by their sizes."""
    B = r.array("B", k * n)
    for i in r.range(k):
        forward(r, K, A, i * n, n)
        for part in spans(r, n):
            for m in part:
                B[i * n + m] = A[i * n + m] / size[i]
    return B


def _pivots(problem: ConstrainedProblem) -> list[Any]:
    n, k = len(problem.M), len(problem.A)
    with loops_for(f"pivots{n}x{k}", [x for part in problem.lists for x in part], written_out=problem.is_small) as r:
        names = ("M", "A", "size", "tolerance")
        M, A, size, tolerance = (r.given(name, x, sparse=True) for name, x in zip(names, problem.lists, strict=True))
        found = r.output("pivots", k)
        factor(r, M, n)
        put_remainders(r, k, n, _rows(r, n, k, M, A, size), tolerance, found)
    return r.results()


def _admissible(problem: ConstrainedProblem, vectors: Sequence[Vec]) -> list[Any]:
    """The parts along which no condition changes: y ← y − UᵀU y, y = Kᵀx."""
    n, k, m = len(problem.M), len(problem.A), len(vectors)
    values = [*problem.lists, [x for vector in vectors for x in vector]]
    every = [x for part in values for x in part]
    with loops_for(f"admissible{n}x{k}", every, written_out=problem.is_small) as r:
        names = ("M", "A", "size", "tolerance", "x")
        M, A, size, tolerance, x = (r.given(name, y, sparse=True) for name, y in zip(names, values, strict=True))
        y, s, found = r.array("y", n), r.array("s", 1), r.output("found", m * n)
        factor(r, M, n)
        U = orthogonalize(r, k, n, _rows(r, n, k, M, A, size), tolerance).U
        for v in r.range(m):
            for i in r.range(n):
                y[i] = 0.0
                for j in r.range(i, n):
                    y[i] = y[i] + M[j * n + i] * x[v * n + j]
            for p in r.range(min(k, n)):
                s[0] = 0.0
                for i in r.range(n):
                    s[0] = s[0] + U[p * n + i] * y[i]
                for i in r.range(n):
                    y[i] = y[i] - s[0] * U[p * n + i]
            for i in r.range(n):
                found[v * n + i] = y[i]
            backward(r, M, found, v * n, n)
    return r.results()
