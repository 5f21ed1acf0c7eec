"""The three ways to a constrained vector — straight lines, straight lines on what is not zero, loops — are one."""

import numpy as np
import pytest

import polhode as ph
from close import assert_close
from emulated import Emulated
from polhode.kernel import evaluate, trace
from polhode.kernel.backends.llvm.compile import build
from polhode.kernel.routine import routines
from polhode.linalg import constrained as ways
from polhode.linalg.constrained import ConstrainedProblem, admissible, constrained, constrained_each
from polhode.linalg.sparse_places import order_of
from polhode.scalar import SharedFunction, Vec

TOLERANCE = 1e-10

N, K = 24, 10
"""Unknowns and conditions: so many that zeros pay."""


def band(n, k, rng, width=2):
    """A mass matrix of pairs, and conditions that each touch neighbours: many zeros that stay."""
    M = np.zeros((n, n))
    for i in range(0, n - 1, 2):
        M[i : i + 2, i : i + 2] = [[2 + rng.random(), 0.5], [0.5, 1 + rng.random()]]
    if n % 2:
        M[-1, -1] = 1.5
    A = np.zeros((k, n))
    for i in range(k):
        first = i * (n - 2 * width) // max(k - 1, 1)
        A[i, first : first + 2 * width] = rng.normal(size=2 * width)
    return M, A


def on_symbols(function, M, A, *more):
    """A function of the numbers of M and A that are not zero, and of more vectors."""
    places = [(X != 0).nonzero() for X in (M, A)]

    def filled(values, X, at):
        rows = [[0.0] * X.shape[1] for _ in range(X.shape[0])]
        for x, i, j in zip(values, *at, strict=True):
            rows[i][j] = x
        return Vec([Vec(row) for row in rows])

    def wrapped(m, a, **others):
        return function(filled(m, M, places[0]), filled(a, A, places[1]), *others.values())

    names = [f"x{i}" for i in range(len(more))]
    shapes = {
        "m": (len(places[0][0]),),
        "a": (len(places[1][0]),),
        **{n: x.shape for n, x in zip(names, more, strict=True)},
    }

    def named(**given):
        return wrapped(**given)

    named.__signature__ = _signature(shapes)
    graph = trace(named, **shapes)
    given = {"m": M[places[0]], "a": A[places[1]], **dict(zip(names, more, strict=True))}
    return graph, given


def _signature(names):
    import inspect

    return inspect.Signature([inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in names])


WAYS = {"straight": (10**9, 0), "sparse": (0, 10**9), "loops": (0, 0)}


@pytest.fixture(params=WAYS)
def way(request, monkeypatch):
    unrolled, sparse = WAYS[request.param]
    monkeypatch.setattr(ways, "SPARSE", sparse)
    monkeypatch.setattr(ways, "UNROLLED", unrolled)
    return unrolled


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("dependent", [0, 2])
def test_every_way_is_the_fundamental_equation(way, seed, dependent):
    rng = np.random.default_rng(seed)
    n, k = N, K
    M, A = band(n, k, rng)
    f, c = rng.normal(size=n), rng.normal(size=n)
    for i in range(dependent):  # rows that others imply, though no zero shows it
        A[k - 1 - i] = A[i] * (2 + i)
    b = A @ c
    sizes = np.linalg.norm(A, axis=1)

    def solved(M, A, f, b):
        return constrained(ConstrainedProblem(M, A, sizes.tolist(), TOLERANCE), f, b)

    graph, given = on_symbols(solved, M, A, f, b)
    assert ("unless_valid" in {r.name for r in routines(graph)}) == (ways.SPARSE > 0)
    expected = ph.fundamental.solve(M, f, A, b, sizes=sizes)
    for found in (evaluate(graph, **given), build(graph, 1)(*given.values())):
        a, multipliers, rank, rows, missing, pivots = found
        assert_close(a, expected.acceleration, 100)
        assert_close(multipliers @ A, expected.force, 100)
        assert rank == k - dependent == expected.rank
        assert np.sum(rows) == dependent
        assert_close(missing, np.zeros(k), 100)
        check_pivots(pivots, M, A, sizes, dependent)


def check_pivots(pivots, M, A, sizes, dependent):
    """Π p² = det BBᵀ, B = D⁻¹A K⁻ᵀ; those of dependent rows are 0."""
    assert np.count_nonzero(pivots) == len(A) - dependent
    if not dependent:
        rows = A / np.array(sizes)[:, None]
        volume = np.sqrt(np.linalg.det(rows @ np.linalg.solve(M, rows.T)))
        assert np.prod(pivots) == pytest.approx(volume, rel=1e-9)


def test_several_right_sides_share_the_factors(way):
    rng = np.random.default_rng(6)
    M, A = band(N, K, rng)
    A[4] = A[1] - 2 * A[2]
    sides = [(rng.normal(size=N), A @ rng.normal(size=N)) for _ in range(3)]
    fs, bs = (np.array(x) for x in zip(*sides, strict=True))
    sizes = [1.0] * K

    def solved(M, A, fs, bs):
        found = constrained_each(ConstrainedProblem(M, A, sizes, TOLERANCE), list(zip(fs, bs, strict=True)))
        return tuple(x.a for x in found), tuple(x.multipliers for x in found)

    graph, given = on_symbols(solved, M, A, fs, bs)
    vectors, multipliers = evaluate(graph, **given)
    for a, lam, f, b in zip(vectors, multipliers, fs, bs, strict=True):
        expected = ph.fundamental.solve(M, f, A, b)
        assert_close(a, expected.acceleration, 100)
        assert_close(lam @ A, expected.force, 100)


def test_what_contradicts_is_missed(way):
    M, A = band(N, K, np.random.default_rng(3))
    A[3] = 2 * A[0]
    f, b = np.zeros(N), np.array([1.0, 0.0, 0.0, 5.0, *[0.0] * (K - 4)])
    sizes = [1.0] * K
    graph, given = on_symbols(
        lambda M, A, f, b: constrained(ConstrainedProblem(M, A, sizes, TOLERANCE), f, b), M, A, f, b
    )
    a, _, rank, rows, missing, _ = evaluate(graph, **given)
    assert rank == K - 1
    (left_out,) = np.flatnonzero(rows)
    assert_close(missing[left_out], (b - A @ a)[left_out])
    assert abs(missing[left_out]) in (pytest.approx(3.0), pytest.approx(1.5))


def test_what_a_projection_leaves_changes_no_condition(way):
    rng = np.random.default_rng(4)
    M, A = band(N, K, rng)
    A[3] = A[0] - A[1] if way else A[3]
    x = rng.normal(size=(2, N))
    sizes = [1.0] * K

    def parts(M, A, x):
        return tuple(admissible(ConstrainedProblem(M, A, sizes, TOLERANCE), [Vec(x[0]), Vec(x[1])]))

    graph, given = on_symbols(parts, M, A, x)
    found = np.array(evaluate(graph, **given))
    A_M = np.linalg.solve(M, A.T)
    expected = x - (A_M @ np.linalg.pinv(A @ A_M) @ A @ x.T).T
    assert_close(found, expected, 100)
    assert_close(A @ found.T, np.zeros((K, 2)), 100)


@pytest.mark.parametrize("looped", [0, 10**9])
@pytest.mark.parametrize("dependent", [0, 2])
def test_problems_that_share_a_routine_have_it_written_once(monkeypatch, dependent, looped):
    """Also where rows depend on each other, and the routine takes its longer way."""
    monkeypatch.setattr(ways, "SPARSE", 10**9)
    monkeypatch.setattr(ways, "UNROLLED", 0)
    monkeypatch.setattr(ways, "LOOPED", looped)
    rng, known = np.random.default_rng(5), {}
    n, k = N, K
    M, A = band(n, k, rng)
    for i in range(dependent):
        A[k - 1 - i] = A[i] * (2 + i)
    f, x, b, sizes = rng.normal(size=n), rng.normal(size=n), A @ rng.normal(size=n), np.linalg.norm(A, axis=1).tolist()

    def routine(function, zeros):
        return known.setdefault(zeros, SharedFunction("constrained", function))

    def both(M, A, f, b, x):
        problem = ConstrainedProblem(M, A, sizes, TOLERANCE, routine)
        return (*constrained(problem, f, b)[:3], admissible(problem, [x])[0])

    graph, given = on_symbols(both, M, A, f, b, x)
    assert [r.name for r in routines(graph)].count("constrained") == len(known) == 1
    expected = ph.fundamental.solve(M, f, A, b, sizes=sizes)
    A_M = np.linalg.solve(M, A.T)
    for found in (evaluate(graph, **given), build(graph, 1)(*given.values())):
        a, multipliers, rank, along = found
        assert_close(a, expected.acceleration, 100)
        assert_close(multipliers @ A, expected.force, 100)
        assert rank == k - dependent
        assert_close(along, x - A_M @ np.linalg.pinv(A @ A_M) @ A @ x, 100)


def sparse_problem(seed, dependent):
    """Any mass matrix and rows with few numbers, some alone, of which the last depend on others."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 24))
    k = int(rng.integers(3, n // 2))
    M = np.diag(1 + rng.random(n))
    for i, j in rng.integers(0, n, (n // 2, 2)):
        if i != j:
            M[i, j] = M[j, i] = 0.2 * rng.normal()
            M[i, i], M[j, j] = M[i, i] + 1, M[j, j] + 1
    A = np.zeros((k, n))
    for i, (row, own) in enumerate(zip(A, rng.permutation(n), strict=False)):
        columns = [own, *rng.choice(n, int(rng.integers(0, 4)) if i else 3, replace=False)]
        row[columns] = 1 + rng.random(len(columns))
    for i in range(dependent):
        A[k - 1 - i] = A[i] * (2 + i)
    return M, A, rng.normal(size=n), A @ rng.normal(size=n), (1 + rng.random(k)).tolist()


@pytest.mark.parametrize("dependent", [0, 1])
@pytest.mark.parametrize("seed", range(6))
def test_loops_over_tables_solve_what_is_written_out(monkeypatch, tmp_path, seed, dependent):
    """Compiled for this processor and as CUDA C, and on numbers; with the rank that is found."""
    monkeypatch.setattr(ways, "SPARSE", 10**9)
    monkeypatch.setattr(ways, "UNROLLED", 0)
    monkeypatch.setattr(ways, "LOOPED", 0)
    monkeypatch.setattr(ways, "_sparse", None)  # nothing is written out
    M, A, f, b, sizes = sparse_problem(seed, dependent)
    assert order_of(M.tolist(), A.tolist()) is not None

    def solved(M, A, f, b):
        routine = lambda function, zeros: SharedFunction("constrained", function)
        return constrained(ConstrainedProblem(M, A, sizes, TOLERANCE, routine), f, b)

    graph, given = on_symbols(solved, M, A, f, b)
    expected, rank = ph.fundamental.solve(M, f, A, b, sizes=sizes), np.linalg.matrix_rank(A)
    on_numbers = solved(*(Vec([Vec(row) for row in X.tolist()]) for X in (M, A)), Vec(f.tolist()), Vec(b.tolist()))
    on_gpu = Emulated(graph, tmp_path)(1, **given)
    found_on_gpu = [np.array(x)[0] for x in on_gpu]
    for found in (evaluate(graph, **given), build(graph, 1)(*given.values()), found_on_gpu, on_numbers):
        a, multipliers, found_rank, rows, missing, pivots = (np.array(x) for x in found)
        assert_close(a, expected.acceleration, 1000)
        assert_close(multipliers @ A, expected.force, 1000)
        assert found_rank == rank == len(A) - dependent
        assert np.sum(rows) == dependent
        assert_close(missing, np.zeros(len(A)), 1000)
        check_pivots(pivots, M, A, sizes, dependent)


def windows(count):
    """What touches what in a row of four-bars: rods 0 … N, then the bars between them, each on its rod."""
    n = 2 * count + 1
    M, A = np.eye(n), np.zeros((2 * count, n))
    for i in range(count):
        M[i, count + 1 + i] = M[count + 1 + i, i] = 0.3
        A[2 * i : 2 * i + 2, [i, i + 1, count + 1 + i]] = 1.0
    return M.tolist(), A.tolist()


def test_zeros_stay_where_a_row_of_loops_is_eliminated():
    """The cost of a row of windows grows with its length, not with its cube."""
    ten, forty = (order_of(*windows(count)).operations for count in (10, 40))
    assert forty < 4.2 * ten


def test_rows_that_zeros_show_to_depend_on_each_other_have_no_order():
    assert order_of([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [2.0, 0.0]]) is None


@pytest.mark.parametrize("dependent", [0, 2])
def test_numbers_and_batches_are_solved_by_the_same_text(way, dependent):
    rng = np.random.default_rng(8)
    n, k = 9, 5
    M, A = band(n, k, rng)
    for i in range(dependent):
        A[k - 1 - i] = A[i] * (2 + i)
    f, b, sizes = rng.normal(size=(4, n)), rng.normal(size=(4, n)) @ A.T, np.linalg.norm(A, axis=1).tolist()
    problem = ConstrainedProblem(*(Vec([Vec(row) for row in X.tolist()]) for X in (M, A)), sizes, TOLERANCE)
    expected = ph.fundamental.solve(M, f, A, b, sizes=sizes)
    one = constrained(problem, Vec(f[0].tolist()), Vec(b[0].tolist()))
    assert_close(np.array(one.a), expected.acceleration[0], 100)
    assert (one.rank, sum(one.dependent)) == (k - dependent, dependent)
    every = constrained(problem, Vec(f.T), Vec(b.T))
    assert_close(np.array(every.a).T, expected.acceleration, 100)
    assert_close(np.array(every.multipliers).T @ A, expected.force, 100)
