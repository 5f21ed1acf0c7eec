"""The matrices of a machine under constraints as one routine, which all that solves for a configuration calls."""

from collections.abc import Callable, Sequence
from typing import Any

from polhode.model import Tree
from polhode.scalar import Scalar, SharedFunction, Vec, is_zero

Matrices = tuple[Vec, Vec, Vec]
"""The mass matrix M (nv, nv), the rows A (k, nv) and the violation φ of positions."""


class SharedMatrices:
    """M, A and φ of a tree, a function of time and configuration, as one routine of what is not zero.

    Which numbers are zero for every state is known when it has been recorded.
    """

    def __init__(self, tree: Tree, function: Callable[[Scalar, Vec], Matrices]) -> None:
        self.tree, self._function = tree, function
        self._shared = SharedFunction("matrices", self._entries)
        self._shapes: list[tuple[int, int]] = []
        self._places: list[list[tuple[int, int]]] = []

    def _entries(self, t: Vec, q: Vec) -> Vec:
        M, A, phi = self._function(t[0], q)
        lower = [row[: i + 1] for i, row in enumerate(M)]
        parts: list[Sequence[Sequence[Any]]] = [lower, A, [phi]]
        self._shapes = [(len(X), len(M)) for X in (M, A)] + [(1, len(phi))]
        self._places = [[(i, j) for i, row in enumerate(X) for j, x in enumerate(row) if not is_zero(x)] for X in parts]
        return Vec([X[i][j] for X, places in zip(parts, self._places, strict=True) for i, j in places])

    def __call__(self, t: Scalar, q: Vec) -> Matrices:
        """M, A and φ."""
        values, found = iter(self._shared(Vec([t]), q)), []
        for (rows, columns), places in zip(self._shapes, self._places, strict=True):
            found.append(X := [[0.0] * columns for _ in range(rows)])
            for i, j in places:
                X[i][j] = next(values)
        M, A, (phi,) = found
        for i, j in self._places[0]:
            M[j][i] = M[i][j]
        return Vec([Vec(row) for row in M]), Vec([Vec(row) for row in A]), Vec(phi)
