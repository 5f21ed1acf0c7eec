"""Small vectors and matrices of generic scalars: tuples with + − * / and @.

A matrix is a vector of rows. Everything here is plain arithmetic on the components, so that the same
formula runs on floats, on batches and on symbols.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from polhode.scalar.dual import Dual
from polhode.scalar.functions import Scalar, sqrt, where
from polhode.scalar.smooth import smooth


class Vec(tuple):
    """A vector of scalars, or a matrix as a vector of rows.

    a + b, a − b, −a, s * a, a / s act on components; A @ B is the product of matrices and vectors
    (of two vectors, their dot product). `Vec.T` is the transpose.
    """

    __slots__ = ()
    __array_ufunc__ = None  # or NumPy would take `array * Vec` apart

    def __add__(self, other: Iterable) -> Vec:
        return Vec([a + b for a, b in zip(self, other, strict=True)])

    def __sub__(self, other: Iterable) -> Vec:
        return Vec([a - b for a, b in zip(self, other, strict=True)])

    def __neg__(self) -> Vec:
        return Vec([-a for a in self])

    def __mul__(self, s: Scalar) -> Vec:
        return Vec([a * s for a in self])

    def __rmul__(self, s: Scalar) -> Vec:
        return Vec([s * a for a in self])

    def __truediv__(self, s: Scalar) -> Vec:
        return Vec([a / s for a in self])

    def __matmul__(self, other: Vec) -> Any:
        if not isinstance(self[0], Vec):
            return Vec([self @ column for column in other.T]) if isinstance(other[0], Vec) else dot(self, other)
        if isinstance(other[0], Vec):
            columns = other.T
            return Vec([Vec([dot(row, column) for column in columns]) for row in self])
        return Vec([dot(row, other) for row in self])

    @property
    def T(self) -> Vec:
        """The transpose of a matrix."""
        return Vec([Vec(column) for column in zip(*self, strict=True)])

    def __repr__(self) -> str:
        return f"Vec({', '.join(map(repr, self))})"


def vec(*components: Scalar) -> Vec:
    """A vector of the given components, or a matrix of the given rows."""
    return Vec(components)


def dot(a: Vec, b: Vec) -> Scalar:
    """a·b"""
    products = [x * y for x, y in zip(a, b, strict=True)]
    total = products[0]
    for product in products[1:]:
        total = total + product
    return total


def square(a: Vec) -> Scalar:
    """N(a) = a·a, the squared length."""
    return dot(a, a)


@smooth
def length(a: Vec) -> Scalar:
    """‖a‖; where it is 0 its derivative counts as 0."""
    s = square(a)
    if not isinstance(s, Dual) and not hasattr(s, "is_structural_zero"):
        return sqrt(s)
    some = s > 0.0
    return where(some, sqrt(where(some, s, 1.0)), 0.0 * s)


def cross(a: Vec, b: Vec) -> Vec:
    """a × b"""
    a1, a2, a3 = a
    b1, b2, b3 = b
    return vec(a2 * b3 - a3 * b2, a3 * b1 - a1 * b3, a1 * b2 - a2 * b1)


def outer(a: Vec, b: Vec) -> Vec:
    """a bᵀ"""
    return Vec([x * b for x in a])


def diagonal(entries: Iterable[Scalar]) -> Vec:
    """The square matrix with these entries on its diagonal."""
    entries = tuple(entries)
    return Vec([Vec([d if i == j else 0.0 for j in range(len(entries))]) for i, d in enumerate(entries)])


def identity(n: int) -> Vec:
    """The unit matrix of size n."""
    return diagonal([1.0] * n)


def trace(A: Vec) -> Scalar:
    """The sum of the diagonal."""
    total = A[0][0]
    for i in range(1, len(A)):
        total = total + A[i][i]
    return total


def inverse3(A: Vec) -> Vec:
    """The inverse of a 3×3 matrix, from its cofactors."""
    a, b, c = A
    rows = vec(cross(b, c), cross(c, a), cross(a, b))
    return rows.T / dot(a, rows[0])
