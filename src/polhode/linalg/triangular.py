"""The triangular factor of a positive definite matrix, M = K Kᵀ, and substitution with it.  Golub, Van Loan (2013) §4.2

On loops and arrays, in place; and on vectors of scalars, written out.
"""

from math import nan
from typing import Any

from polhode.scalar import Loops, Scalar, Vec, diagonal, sqrt, where
from polhode.scalar.loops import PythonLoops


def factor(r: Loops, M: Any, n: int) -> None:
    """The lower triangle K of M = K Kᵀ in the place of that of M; units of the unknowns do not matter to its errors."""
    for j in r.range(n):
        for m in r.range(j):
            for i in r.range(j, n):
                M[i * n + j] = M[i * n + j] - M[i * n + m] * M[j * n + m]
        M[j * n + j] = sqrt(M[j * n + j])
        for i in r.range(j + 1, n):
            M[i * n + j] = M[i * n + j] / M[j * n + j]


def positive_inverse(M: Vec) -> Vec:
    """The inverse of a positive definite matrix, written out, symmetric to the last bit; NaN where it is not that."""
    n = len(M)
    rows = [[*row, *unit] for row, unit in zip(M, diagonal([1.0] * n), strict=True)]
    parts: list[Scalar] = []
    for k, pivot in enumerate(rows):
        parts.append(1.0 / where(pivot[k] > 0, pivot[k], nan))
        span = slice(k + 1, n + k + 1)
        for row in rows[k + 1 :]:
            times = row[k] * parts[k]
            row[span] = [x - times * y for x, y in zip(row[span], pivot[span], strict=True)]
    # M = L D Lᵀ; the right halves of the rows are L⁻¹:  M⁻¹ = L⁻ᵀ D⁻¹ L⁻¹
    found: list[list[Scalar]] = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            total: Scalar = 0.0
            for row, part in zip(rows[i:], parts[i:], strict=True):
                total = total + row[n + i] * row[n + j] * part
            found[i][j] = found[j][i] = total
    return Vec([Vec(row) for row in found])


def forward(r: Loops, K: Any, x: Any, first: Any, n: int) -> None:
    """K⁻¹x in the place of x, which begins at `first`."""
    for i in r.range(n):
        x[first + i] = x[first + i] / K[i * n + i]
        for m in r.range(i + 1, n):
            x[first + m] = x[first + m] - K[m * n + i] * x[first + i]


def backward(r: Loops, K: Any, x: Any, first: Any, n: int) -> None:
    """K⁻ᵀx in the place of x, which begins at `first`."""
    for i in r.range(0, n, down=True):
        for m in r.range(i + 1, n):
            x[first + i] = x[first + i] - K[m * n + i] * x[first + m]
        x[first + i] = x[first + i] / K[i * n + i]


class Triangle:
    """A lower triangle on vectors of scalars."""

    def __init__(self, entries: list[Scalar], n: int) -> None:
        self.entries, self.n = entries, n
        """n rows of n; what stands above the diagonal is not read."""

    @classmethod
    def root(cls, M: Vec) -> "Triangle":
        """K of a positive definite M = K Kᵀ (n, n)."""
        entries = [x for row in M for x in row]
        factor(PythonLoops(), entries, len(M))
        return cls(entries, len(M))

    def forward(self, x: Vec) -> Vec:
        """K⁻¹x"""
        found = list(x)
        forward(PythonLoops(), self.entries, found, 0, self.n)
        return Vec(found)

    def backward(self, x: Vec) -> Vec:
        """K⁻ᵀx"""
        found = list(x)
        backward(PythonLoops(), self.entries, found, 0, self.n)
        return Vec(found)

    def leading(self, m: int) -> "Triangle":
        """The triangle of the first m rows and columns."""
        return Triangle([self.entries[i * self.n + j] for i in range(m) for j in range(m)], m)

    def diagonal(self) -> Vec:
        """The n numbers on the diagonal."""
        return Vec(self.entries[:: self.n + 1])

    def transposed_times(self, x: Vec) -> Vec:
        """Kᵀx"""
        n, K, found = self.n, self.entries, list[Scalar]()
        for j in range(n):
            total = K[j * n + j] * x[j]
            for i in range(j + 1, n):
                total = total + K[i * n + j] * x[i]
            found.append(total)
        return Vec(found)
