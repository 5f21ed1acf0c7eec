"""Products of matrices in loops: where one of them is known to be zero, nothing is multiplied, and nothing is lost."""

import numpy as np
import pytest

from polhode.dynamics.large_trees.subtree_rows import ColumnSpans, Matrix
from polhode.kernel import trace
from polhode.kernel.backends.llvm.compile import build
from polhode.scalar import Vec, loops_for
from polhode.scalar.loops import PythonLoops


def product(n, order, filled, a, b):
    """a b by rows in loops, of two matrices in the order of their rows; then in that of `order`."""
    with loops_for("product", (a, b)) as r:
        A, B, out = r.given("a", a), r.given("b", b), r.output("out", n * n, unset=True)
        left, right = Matrix(r, "left", n), Matrix(r, "right", n)
        for i in r.range(n):
            for j in r.together(n):
                left[i, j] = A[i * n + j]
                right[i, j] = B[i * n + j]
        left.times(right, out, order, filled)
    return Vec(r.results())


@pytest.mark.parametrize("n", [3, 8, 13, 16, 29, 38])
@pytest.mark.parametrize("density", [0.0, 0.005, 0.05, 1.0])
def test_a_product_with_a_matrix_of_zeros_leaves_nothing_out(n, density):
    rng = np.random.default_rng(n)
    filled = rng.random((n, n)) < density
    filled[:, : n // 3] |= rng.random((n, 1)) < 0.3
    a, b = rng.normal(size=(n, n)), np.where(filled, rng.normal(size=(n, n)), 0.0)
    order = rng.permutation(n).tolist() if n % 2 else list(range(n))
    expected = np.empty((n, n))
    expected[np.ix_(order, order)] = a @ b
    graph = trace(lambda a, b: product(n, order, filled.tolist(), a, b), a=(n * n,), b=(n * n,))
    (found,) = build(graph)(a.ravel(), b.ravel())
    scale = 1e-14 * n * max(1.0, np.max(abs(expected)))
    assert np.allclose(found.reshape(n, n), expected, rtol=0, atol=scale)


def test_spans_hold_all_that_is_filled_and_skip_the_widest_gap():
    filled = [[False] * 40 for _ in range(40)]
    filled[9][2] = filled[10][35] = filled[30][39] = True
    spans = ColumnSpans.of(PythonLoops(), filled)
    assert spans.spans == [(0, 40, 40), (8, 32, 40), (0, 40, 40), (0, 32, 40), (0, 40, 40)]
    assert not spans.whole
    assert ColumnSpans.of(PythonLoops(), [[True] * 20] * 20).whole
