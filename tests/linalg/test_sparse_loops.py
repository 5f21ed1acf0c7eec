"""Sparse symmetric equations in loops: against dense ones, real and complex, on floats and compiled."""

import numpy as np
import pytest

from polhode.kernel import evaluate, trace
from polhode.linalg.sparse_loops import (
    ComplexCells,
    ComplexNumber,
    RealCells,
    SymmetricPattern,
    SymmetricTables,
)
from polhode.scalar import Vec, loops_for

N, ROWS = 14, 3


def problem(seed):
    """A band of unknowns under conditions, each on five of them: the pattern, the matrix and a right side."""
    rng = np.random.default_rng(seed)
    near = [{j for j in range(N) if abs(i - j) < 4} for i in range(N)]
    near += [set(range(4 * c, 4 * c + 5)) for c in range(ROWS)]
    S = np.zeros((N + ROWS, N + ROWS))
    for i, places in enumerate(near):
        for j in places:
            S[i, j] = S[j, i] = rng.normal()
    S[:N, :N] += 10 * np.eye(N)
    return SymmetricPattern(near, ROWS), S, rng.normal(size=N + ROWS)


def entries(pattern, S):
    found = [0.0] * pattern.size
    for i, j in zip(*np.nonzero(np.tril(S)), strict=True):
        found[pattern.slot(int(i), int(j))] = float(S[i, j])
    return found


def solved(pattern):
    """x of S x = b, (1 + i/2) S z = (1 + i) b, and S b, as a function of the entries and b."""

    def function(a, b):
        n = pattern.n
        with loops_for("solved", (a, b)) as r:
            A, right, tables = r.given("a0", a), r.given("b0", b), SymmetricTables(r, pattern)
            out = r.output("out", 4 * n)
            systems = []
            for kind, number in ((RealCells, lambda x: x), (ComplexCells, lambda x: ComplexNumber(x, x))):
                made = [kind(r, name, size) for name, size in (("f", pattern.size), ("d", n), ("x", n))]
                for k in r.range(pattern.size):
                    made[0].put(k, ComplexNumber(A[k], 0.5 * A[k]) if kind is ComplexCells else A[k])
                for k in r.range(n):
                    made[2].put(k, number(right[k]))
                tables.factor(made[0], made[1])
                systems.append(tuple(made))
            tables.solve(*systems)
            x, y = RealCells(r, "given_x", n), RealCells(r, "product", n)
            for k in r.range(n):
                x.put(k, right[k])
                y.put(k, 0.0)
            tables.times(A, (x, y))
            for k in r.range(n):
                z = systems[1][2].get(k)
                for part, value in enumerate((systems[0][2].get(k), z.re, z.im, y.get(k))):
                    out[k + part * n] = value
        return Vec(r.results())

    return function


@pytest.mark.parametrize("seed", range(3))
def test_solutions_are_those_of_dense_equations(seed):
    pattern, S, b = problem(seed)
    n = N + ROWS
    found = np.array(solved(pattern)(Vec(entries(pattern, S)), Vec(b.tolist())))
    bound = 100 * np.finfo(float).eps * np.linalg.cond(S) * np.max(abs(b))
    z = np.linalg.solve((1 + 0.5j) * S, (1 + 1j) * b)
    for part, expected in enumerate((np.linalg.solve(S, b), z.real, z.imag, S @ b)):
        np.testing.assert_allclose(found[part * n : (part + 1) * n], expected, atol=bound)


def test_compiled_loops_give_the_same_bits():
    pattern, S, b = problem(3)
    a = entries(pattern, S)
    plain = solved(pattern)(Vec(a), Vec(b.tolist()))
    graph = trace(solved(pattern), a=(pattern.size,), b=(N + ROWS,))
    assert np.array(evaluate(graph, a=np.array(a), b=b)).tolist() == list(plain)


def test_conditions_are_eliminated_after_what_they_hold():
    pattern, _, _ = problem(0)
    for row in range(N, N + ROWS):
        assert all(pattern.at[j] < pattern.at[row] for j in range(4 * (row - N), 4 * (row - N) + 5))


def test_a_chain_of_blocks_fills_nothing():
    """Of a block-tridiagonal matrix every column keeps its own block and the next: entries grow with the length."""
    blocks, width = 12, 6
    near = [{j for j in range(blocks * width) if abs(i // width - j // width) < 2} for i in range(blocks * width)]
    pattern = SymmetricPattern(near)
    own = width * (width + 1) // 2
    assert pattern.size == blocks * own + (blocks - 1) * width * width
