"""What structural zeros alone say of linear conditions: an order of elimination, and every operation of it as places.

The unknowns are eliminated in order of least degree of the elimination graph (Tinney, Walker 1967; George, Liu 1989),
right-looking (Davis 2006, ch. 4 and §7.1). Rows are reflected (Householder) with the fewest entries first, a greedy
choice in the manner of Markowitz (1957); the fill of both is found beforehand from the zeros alone.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from polhode.scalar import is_zero


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


Places = list[tuple[int, ...]]
"""Places of the operands of operations, one tuple each."""


def _filled(X: Sequence[Sequence[Any]]) -> list[tuple[int, int]]:
    """Row and column of each number of a matrix that is not zero."""
    return [(i, j) for i, row in enumerate(X) for j, x in enumerate(row) if not is_zero(x)]


class SparsePlaces:
    """The operations of an elimination as places in arrays.

    entries   the numbers of M, and after them those of A, that are not zero, row after row
    diagonal  of the factor K, in the order of elimination
    K         the entries of the factor below its diagonal, column after column
    B         the entries of the conditions that K⁻¹ fills, row after row in the order of their reflection, and after
              these the entries that reflections fill
    """

    def __init__(self, order: EliminationOrder, M: Sequence[Sequence[Any]], A: Sequence[Sequence[Any]]) -> None:
        self.order = order
        self.of_M, self.of_A = _filled(M), _filled(A)
        """Rows and columns of the entries."""
        self._in_K = {pair: o for o, pair in enumerate((p, q) for p, places in enumerate(order.below) for q in places)}
        self.below: list[Places] = [[(q,) for q in places] for places in order.below]
        """For each unknown the later ones that its column of K has."""
        self.updates = [self._updates(p) for p in range(len(order.below))]
        """For each unknown: entries of K that it changes, and the two of its column whose product it is."""
        self.touched: list[Places] = []
        """For each condition the unknowns that K⁻¹ fills."""
        self.spread: list[Places] = []
        """For each entry of these: entries of B that it changes, and the entry of K that it is multiplied by."""
        rows = [self._row(A[i]) for i in order.rows]
        self._starts(rows)
        self.size = sum(map(len, rows))
        """Entries of B."""
        self.own: list[Places] = []
        """For each condition the entries of B that it is reflected in, and their unknowns; the first becomes its."""
        self.others: list[Places] = []
        """For each condition the later ones that it changes: nothing but how many."""
        self.turned: list[Places] = []
        """For each of these: entries of B of the condition, and of the later one."""
        self.lower: list[Places] = []
        """For each condition: entries of B that belong to earlier conditions, and these conditions."""
        self._reflect(rows)

    def _starts(self, rows: list[dict[int, int]]) -> None:
        """Where entries stand at the start, in `diagonal`, K, B, and in M and A row after row; and which these are."""
        at, order = {i: p for p, i in enumerate(self.order.places)}, self.order
        of_M, first = {pair: e for e, pair in enumerate(self.of_M)}, len(self.of_M)
        self.in_diagonal: Places = [(p, of_M[i, i]) for p, i in enumerate(order.places) if (i, i) in of_M]
        pairs = [((order.places[p], order.places[q]), o) for (p, q), o in self._in_K.items()]
        self.in_K: Places = [(o, of_M[pair]) for pair, o in pairs if pair in of_M]
        self.below_size = len(pairs)
        """Entries of K."""
        row, n = dict(zip(order.rows, rows, strict=True)), len(order.places)
        self.in_M: Places = [(i * n + j, e) for (i, j), e in of_M.items()]
        self.in_A: Places = [(i * n + j, first + e) for e, (i, j) in enumerate(self.of_A)]
        self.in_B: Places = [(row[i][at[j]], first + e) for e, (i, j) in enumerate(self.of_A)]

    def entries(self, M: Sequence[Sequence[Any]], A: Sequence[Sequence[Any]]) -> list[Any]:
        """The entries of two matrices with these zeros."""
        return [*(M[i][j] for i, j in self.of_M), *(A[i][j] for i, j in self.of_A)]

    def _updates(self, p: int) -> Places:
        """What one unknown changes in the columns of later ones, but for their diagonals."""
        places, at = self.order.below[p], self._in_K
        return [(at[q, s], at[p, q], at[p, s]) for k, q in enumerate(places) for s in places[k + 1 :]]

    def _row(self, row: Sequence[Any]) -> dict[int, int]:
        """The entries of B of one condition by their unknowns, as K⁻¹ fills them."""
        places, below, first = self.order.places, self.order.below, len(self.spread)
        at = {i: p for p, i in enumerate(places)}
        filled = dict.fromkeys(at[j] for j, value in enumerate(row) if not is_zero(value))
        for p in range(len(places)):
            if p in filled:
                filled.update(dict.fromkeys(q for q in below[p] if q not in filled))
        slot = {p: first + k for k, p in enumerate(sorted(filled))}
        self.touched.append([(p,) for p in slot])
        self.spread += [[(slot[q], self._in_K[p, q]) for q in below[p]] for p in slot]
        return {p: slot[p] for p in filled}

    def _reflect(self, rows: list[dict[int, int]]) -> None:
        """The reflections of all conditions, and what they fill."""
        owner: dict[int, int] = {}
        for i, (row, columns) in enumerate(zip(rows, self.order.columns, strict=True)):
            self.own.append([(self._slot(row, c), c) for c in columns])
            self.lower.append([(slot, owner[c]) for c, slot in row.items() if c in owner])
            owner[columns[0]] = i
            later = [other for other in rows[i + 1 :] if len(columns) > 1 and not other.keys().isdisjoint(columns)]
            self.others.append([()] * len(later))
            self.turned += [[(slot, self._slot(other, c)) for slot, c in self.own[-1]] for other in later]

    def _slot(self, row: dict[int, int], column: int) -> int:
        """The entry of B of a row at a column; a new one where a reflection fills it."""
        if column not in row:
            row[column] = self.size
            self.size += 1
        return row[column]
