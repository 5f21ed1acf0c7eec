"""Linear conditions with many structural zeros, as straight-line operations on what is not zero.

    M = K Kᵀ,  A K⁻ᵀ = (L 0) Q,  L lower triangular, Q a product of reflections, in an order that keeps zeros

M couples what one branch of a tree carries, and a condition touches a few branches: most numbers are zero for
every state, and stay so. All rows must be independent; `weakest` says how nearly they are not.

The unknowns are eliminated in order of least degree of the elimination graph (Tinney, Walker 1967; George, Liu 1989),
right-looking (Davis 2006, ch. 4 and §7.1). Rows are reflected (Householder) with the fewest entries first, a greedy
choice in the manner of Markowitz (1957); the fill of both is found beforehand from the zeros alone.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from polhode.scalar import Vec, is_zero, minimum, sqrt, where

SparseRow = dict[int, Any]
"""The numbers of a row or column that are not zero, by place."""


class EliminationOrder(NamedTuple):
    """What the zeros alone say: how to eliminate, and about how many operations that takes."""

    places: list[int]
    """The unknowns in the order of their elimination."""
    below: list[list[int]]
    """For each of them, in that order, the later ones that its column of K has."""
    rows: list[int]
    """The conditions in the order of their reflection."""
    columns: list[list[int]]
    """For each condition, in that order, the columns that it is reflected in; the first becomes its own."""
    operations: int


def order_of(M: Sequence[Sequence[Any]], A: Sequence[Sequence[Any]]) -> EliminationOrder | None:
    """An order of elimination that keeps most zeros; None where the zeros show that rows depend on each other."""
    n = len(M)
    places, below, cost = _elimination([{j for j in range(n) if j != i and not is_zero(M[i][j])} for i in range(n)])
    at = {i: p for p, i in enumerate(places)}
    left: dict[int, set[int]] = {}
    for i, row in enumerate(A):
        touched = {at[j] for j in range(n) if not is_zero(row[j])}
        for p in range(n):  # K⁻¹ fills what is below
            if p in touched:
                touched |= set(below[p])
                cost += 2 * len(below[p]) + 2
        left[i] = touched
    rows, columns = [], []
    while left:
        i = min(left, key=lambda i: (len(left[i]), i))
        own = sorted(left.pop(i))
        if not own:
            return None
        rows.append(i)
        columns.append(own)
        cost += 12 * len(own) + 8
        for j, others in left.items():
            if not others.isdisjoint(own):
                left[j] = (others | set(own)) - {own[0]}
                cost += 4 * len(own)
    return EliminationOrder(places, below, rows, columns, cost)


def _elimination(near: list[set[int]]) -> tuple[list[int], list[list[int]], int]:
    """The order of least degree of a symmetric pattern, the pattern of its factor, and the operations of that."""
    left, places, neighbours, cost = set(range(len(near))), [], [], 0
    while left:
        i = min(left, key=lambda i: (len(near[i]), -i))
        left.discard(i)
        others = near[i]
        for j in others:
            near[j] = (near[j] | others) - {i, j}
        places.append(i)
        neighbours.append(others)
        cost += 4 + len(others) * (len(others) + 3)
    at = {i: p for p, i in enumerate(places)}
    return places, [sorted(at[j] for j in others) for others in neighbours], cost


class SparseReflection(NamedTuple):
    """y ← y − (2/v·v) v (v·y) on some columns; `factor` is 2/v·v."""

    columns: list[int]
    v: list[Any]
    factor: Any

    def of(self, y: SparseRow) -> None:
        """Reflect a row, in its place."""
        if len(self.columns) == 1:
            return
        pairs = [(v, y[c]) for v, c in zip(self.v, self.columns, strict=True) if c in y]
        if not pairs:
            return
        s = self.factor * _sum([v * x for v, x in pairs])
        for v, c in zip(self.v, self.columns, strict=True):
            y[c] = y[c] - s * v if c in y else -(s * v)


def _sum(parts: Sequence[Any]) -> Any:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


class SparseFactors:
    """The factors K, L and Q of M (n, n) and of the conditions A (k, n), rows divided by their natural sizes."""

    def __init__(
        self, order: EliminationOrder, M: Sequence[Sequence[Any]], A: Sequence[Sequence[Any]], sizes: Sequence[Any]
    ) -> None:
        self.order, self.sizes, self.n = order, sizes, len(M)
        self.at = {i: p for p, i in enumerate(order.places)}
        self.K = self._factor(M)
        self.inverse = [1 / column[p] for p, column in enumerate(self.K)]
        self.reflections: list[SparseReflection] = []
        self.L: list[SparseRow] = []
        self.own: list[int] = []
        squares: list[Any] = []
        left: dict[int, SparseRow] = {}
        for i in order.rows:
            left[i] = {c: x * (1 / sizes[i]) for c, x in self.over(A[i]).items()}
        used: set[int] = set()
        for i, columns in zip(order.rows, order.columns, strict=True):
            row = left.pop(i)
            reflection, pivot, square = _reflection(row, columns)
            self.reflections.append(reflection)
            self.L.append({c: x for c, x in row.items() if c in used} | {columns[0]: pivot})
            self.own.append(columns[0])
            used.add(columns[0])
            squares.append(square)
            for other in left.values():
                reflection.of(other)
        self.squares = squares
        """(k)  the square of what each row had left, in the order of their reflection."""
        self.weakest = squares[0]
        for square in squares[1:]:
            self.weakest = minimum(self.weakest, square)

    def _factor(self, M: Sequence[Sequence[Any]]) -> list[SparseRow]:
        """The columns of K, each from its diagonal on."""
        places, below = self.order.places, self.order.below
        left = [{q: M[places[p]][places[q]] for q in (p, *below[p])} for p in range(len(places))]
        for p, column in enumerate(left):
            column[p] = sqrt(column[p])
            inverse = 1 / column[p]
            for q in below[p]:
                column[q] = column[q] * inverse
            for k, q in enumerate(below[p]):
                for r in below[p][k:]:
                    left[q][r] = left[q][r] - column[q] * column[r]
        return left

    def over(self, x: Sequence[Any]) -> SparseRow:
        """K⁻¹x"""
        y = {self.at[j]: value for j, value in enumerate(x) if not is_zero(value)}
        for p, column in enumerate(self.K):
            if p not in y:
                continue
            y[p] = y[p] * self.inverse[p]
            for q in self.order.below[p]:
                y[q] = y[q] - column[q] * y[p] if q in y else -(column[q] * y[p])
        return y

    def under(self, y: SparseRow) -> Vec:
        """K⁻ᵀy"""
        x = {p: y.get(p, 0.0) for p in range(self.n)}
        for p in reversed(range(self.n)):
            for q in self.order.below[p]:
                x[p] = x[p] - self.K[p][q] * x[q]
            x[p] = x[p] * self.inverse[p]
        return Vec([x[self.at[j]] for j in range(self.n)])

    def times(self, x: Sequence[Any]) -> SparseRow:
        """Kᵀx"""
        value = [x[j] for j in self.order.places]
        return {p: _sum([self.K[p][q] * value[q] for q in (p, *self.order.below[p])]) for p in range(self.n)}

    def reflected(self, y: SparseRow) -> None:
        """Q y in the place of y."""
        for reflection in self.reflections:
            reflection.of(y)

    def turned_back(self, y: SparseRow) -> None:
        """Qᵀy in the place of y."""
        for reflection in reversed(self.reflections):
            reflection.of(y)

    def constrained(self, f: Sequence[Any], b: Sequence[Any]) -> tuple[Vec, Vec]:
        """a and λ of M a = f + Aᵀλ, A a = b.

        L z = b;  λ = L⁻ᵀ(z − (Q K⁻¹f)₁);  a = K⁻ᵀQᵀ(z, (Q K⁻¹f)₂)
        """
        y = dict.fromkeys(range(self.n), 0.0) | self.over(f)
        self.reflected(y)
        eta: dict[int, Any] = {}
        z: SparseRow = {}
        over = [1 / row[c] for c, row in zip(self.own, self.L, strict=True)]
        rows = list(zip(self.order.rows, self.own, self.L, over, strict=True))
        for i, c, row, inverse in rows:
            value = b[i] * (1 / self.sizes[i])
            for d, x in row.items():
                if d != c:
                    value = value - x * z[d]
            z[c] = value * inverse
            eta[c] = z[c] - y[c]
        lam: dict[int, Any] = {}
        for i, c, row, inverse in reversed(rows):
            value = eta[c] * inverse
            lam[i] = value * (1 / self.sizes[i])
            for d, x in row.items():
                if d != c:
                    eta[d] = eta[d] - x * value
        y |= z
        self.turned_back(y)
        return self.under(y), Vec([lam[i] for i in range(len(lam))])

    def admissible(self, x: Sequence[Any]) -> Vec:
        """The part of x that changes no condition."""
        y = self.times(x)
        self.reflected(y)
        y |= dict.fromkeys(self.own, 0.0)
        self.turned_back(y)
        return self.under(y)


def _reflection(row: SparseRow, columns: list[int]) -> tuple[SparseReflection, Any, Any]:
    """What takes a row to its first column: the reflection, the number there, and the row's square.

    v = x + sign(x₀) |x| e₀,  2/v·v = 1/(|x| (|x| + |x₀|))                       Golub, Van Loan (2013) §5.1
    """
    x = [row.pop(c, 0.0) for c in columns]
    if len(columns) == 1:
        return SparseReflection(columns, [], 0.0), x[0], x[0] * x[0]
    square = _sum([value * value for value in x])
    size = sqrt(square)
    signed = where(x[0] < 0, -size, size)
    first = x[0] + signed
    product = size * (size + abs(x[0]))
    factor = where(product > 0, 1 / where(product > 0, product, 1.0), 0.0)
    return SparseReflection(columns, [first, *x[1:]], factor), -signed, square
