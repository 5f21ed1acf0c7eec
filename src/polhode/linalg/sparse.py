"""Linear conditions with many structural zeros, by operations on what is not zero.

    M = K Kᵀ,  A K⁻ᵀ = (L 0) Q,  L lower triangular, Q a product of reflections, in an order that keeps zeros

M couples what one branch of a tree carries, and a condition touches a few branches: most numbers are zero for
every state, and stay so. All rows must be independent; `weakest` says how nearly they are not.

The places of all operations are known beforehand (`sparse_places.py`). With Python's loops they are written out; with
recorded ones each kind of operation is a loop over tables, so that code does not grow with the machine.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

from polhode.linalg.sparse_places import Places, SparsePlaces
from polhode.scalar import Loops, minimum, sqrt, where


class Groups:
    """Tables of places in groups, one group for each pass of an outer loop."""

    def __init__(self, r: Loops, name: str, groups: Sequence[Places]) -> None:
        self.r, entries, ends = r, [x for group in groups for x in group], list(accumulate(map(len, groups)))
        self.count = len(entries)
        self.begin, self.end = r.lookup(f"{name}_begin", [0, *ends[:-1]]), r.lookup(f"{name}_end", ends)
        columns = enumerate(zip(*entries, strict=True))
        self.tables = [r.lookup(f"{name}_{m}", column) for m, column in columns]

    def of(self, i: Any) -> Iterator[tuple[Any, ...]]:
        """A loop over the group of i: the number of each entry among all, and its places."""
        if self.count:
            for o in self.r.range(self.begin.at(i), self.end.at(i)):
                yield (o, *(table.at(o) for table in self.tables))

    def all(self) -> Iterator[tuple[Any, ...]]:
        """A loop over all entries."""
        for o in self.r.range(self.count) if self.count else ():
            yield (o, *(table.at(o) for table in self.tables))


def put_entries(r: Loops, name: str, size: int, places: Places, entries: Any) -> Any:
    """An array with entries at some places, and zeros at all others; places: of the array, and of the entry."""
    array, groups = r.array(name, size), Groups(r, f"put_{name}", [places])
    for _, place, entry in groups.all():
        array[place] = entries[entry]
    return array


class SparseFactors:
    """The factors K, L and Q of M (n, n) and of the conditions A (k, n), rows divided by their natural sizes.

    entries    the numbers of both that are not zero, in an array (`SparsePlaces`)
    over_size  (k)  1 by the size of each condition, in an array
    """

    def __init__(self, r: Loops, places: SparsePlaces, entries: Any, over_size: Any) -> None:
        self.r, self.n, self.k = r, len(places.order.places), len(places.order.rows)
        self._tables(places)
        self.K = put_entries(r, "K", places.below_size, places.in_K, entries)
        """Below the diagonal, column after column."""
        self.diagonal = put_entries(r, "diagonal", self.n, places.in_diagonal, entries)
        self.B = put_entries(r, "B", places.size, places.in_B, entries)
        """Entries of L, and the vectors v of reflections in the columns of each row's own."""
        self.over_size = r.array("over_size", self.k)
        for i in r.range(self.k):
            self.over_size[i] = over_size[self.row.at(i)]
        self.inverse, self.factor = r.array("inverse", self.n), r.array("factor", self.k)
        self.pivot, self.over_pivot = r.array("pivot", self.k), r.array("over_pivot", self.k)
        self.squares = r.array("squares", self.k)
        """(k)  the square of what each row had left, in the order of their reflection."""
        self._s = r.array("s", 1)
        self._factor()
        self._fill_rows()
        self._reflect()

    def _tables(self, places: SparsePlaces) -> None:
        """The places of all operations."""
        r, order = self.r, places.order
        self.below, self.updates = Groups(r, "below", places.below), Groups(r, "updates", places.updates)
        self.touched, self.spread = Groups(r, "touched", places.touched), Groups(r, "spread", places.spread)
        self.own, self.others = Groups(r, "own", places.own), Groups(r, "others", places.others)
        self.turned, self.lower = Groups(r, "turned", places.turned), Groups(r, "lower", places.lower)
        self.place, self.row = r.lookup("place", order.places), r.lookup("row", order.rows)
        self.first = r.lookup("first", [entries[0][0] for entries in places.own])
        self.column = r.lookup("column", [columns[0] for columns in order.columns])
        self.is_single = r.lookup("is_single", [int(len(columns) == 1) for columns in order.columns])

    def _factor(self) -> None:
        """K in the place of M, and the inverses of its diagonal."""
        K, diagonal, inverse = self.K, self.diagonal, self.inverse
        for p in self.r.range(self.n):
            diagonal[p] = sqrt(diagonal[p])
            inverse[p] = 1 / diagonal[p]
            for o, _ in self.below.of(p):
                K[o] = K[o] * inverse[p]
            for o, q in self.below.of(p):
                diagonal[q] = diagonal[q] - K[o] * K[o]
            for _, target, left, right in self.updates.of(p):
                K[target] = K[target] - K[left] * K[right]

    def _fill_rows(self) -> None:
        """A K⁻ᵀ with rows divided by their sizes, in the place of A."""
        B = self.B
        for i in self.r.range(self.k):
            for o, p in self.touched.of(i):
                B[o] = B[o] * self.inverse[p]
                for _, target, source in self.spread.of(o):
                    B[target] = B[target] - self.K[source] * B[o]
            for o, _ in self.touched.of(i):
                B[o] = B[o] * self.over_size[i]

    def _reflect(self) -> None:
        """Reflect row after row, and all later ones that it touches.

        v = x + sign(x₀) |x| e₀,  2/v·v = 1/(|x| (|x| + |x₀|))                       Golub, Van Loan (2013) §5.1
        """
        r, B, s = self.r, self.B, self._s
        for i in r.range(self.k):
            s[0] = 0.0
            for _, slot, _ in self.own.of(i):
                s[0] = s[0] + B[slot] * B[slot]
            self.squares[i] = s[0]
            for single in r.cases(self.is_single.at(i), (0, 1)):
                self._reflection(i, self.first.at(i), bool(single))
            self.over_pivot[i] = 1 / self.pivot[i]
            for t, *_ in self.others.of(i):
                s[0] = 0.0
                for _, v, slot in self.turned.of(t):
                    s[0] = s[0] + B[v] * B[slot]
                s[0] = self.factor[i] * s[0]
                for _, v, slot in self.turned.of(t):
                    B[slot] = B[slot] - s[0] * B[v]

    def _reflection(self, i: Any, first: Any, is_single: bool) -> None:
        """What takes a row to its first column; nothing where it has one column."""
        x, size = self.B[first], sqrt(self.squares[i])
        if is_single:
            self.pivot[i], self.factor[i] = x, 0.0
            return
        signed = where(x < 0, -size, size)
        product = size * (size + abs(x))
        self.pivot[i] = -signed
        self.factor[i] = where(product > 0, 1 / where(product > 0, product, 1.0), 0.0)
        self.B[first] = x + signed

    def weakest(self) -> Any:
        """The least of the squares of what rows had left."""
        least = self.r.array("least", 1)
        least[0] = self.squares[0]
        for i in self.r.range(1, self.k):
            least[0] = minimum(least[0], self.squares[i])
        return least[0]

    def _over(self, y: Any) -> None:
        """K⁻¹y in the place of y."""
        for p in self.r.range(self.n):
            y[p] = y[p] * self.inverse[p]
            for o, q in self.below.of(p):
                y[q] = y[q] - self.K[o] * y[p]

    def _under(self, y: Any) -> None:
        """K⁻ᵀy in the place of y."""
        for p in self.r.range(0, self.n, down=True):
            for o, q in self.below.of(p):
                y[p] = y[p] - self.K[o] * y[q]
            y[p] = y[p] * self.inverse[p]

    def _times(self, x: Any, y: Any) -> None:
        """Kᵀx in the place of y, of x in the order of the unknowns themselves."""
        ordered = self.r.array("ordered", self.n)
        for p in self.r.range(self.n):
            ordered[p] = x[self.place.at(p)]
        for p in self.r.range(self.n):
            y[p] = self.diagonal[p] * ordered[p]
            for o, q in self.below.of(p):
                y[p] = y[p] + self.K[o] * ordered[q]

    def _reflected(self, y: Any, *, back: bool = False) -> None:
        """Q y, or Qᵀy, in the place of y."""
        s = self._s
        for i in self.r.range(0, self.k, down=back):
            s[0] = 0.0
            for _, v, c in self.own.of(i):
                s[0] = s[0] + self.B[v] * y[c]
            s[0] = self.factor[i] * s[0]
            for _, v, c in self.own.of(i):
                y[c] = y[c] - s[0] * self.B[v]

    def constrained(self, f: Any, b: Any, a: Any, multipliers: Any) -> None:
        """a and λ of M a = f + Aᵀλ, A a = b, in arrays.

        L z = b;  λ = L⁻ᵀ(z − (Q K⁻¹f)₁);  a = K⁻ᵀQᵀ(z, (Q K⁻¹f)₂)
        """
        r, B = self.r, self.B
        y, z, eta = r.array("y", self.n), r.array("z", self.k), r.array("eta", self.k)
        for p in r.range(self.n):
            y[p] = f[self.place.at(p)]
        self._over(y)
        self._reflected(y)
        for i in r.range(self.k):
            z[i] = b[self.row.at(i)] * self.over_size[i]
            for _, slot, j in self.lower.of(i):
                z[i] = z[i] - B[slot] * z[j]
            z[i] = z[i] * self.over_pivot[i]
            eta[i] = z[i] - y[self.column.at(i)]
        for i in r.range(0, self.k, down=True):
            eta[i] = eta[i] * self.over_pivot[i]
            multipliers[self.row.at(i)] = eta[i] * self.over_size[i]
            for _, slot, j in self.lower.of(i):
                eta[j] = eta[j] - B[slot] * eta[i]
            y[self.column.at(i)] = z[i]
        self._reflected(y, back=True)
        self._under(y)
        for p in r.range(self.n):
            a[self.place.at(p)] = y[p]

    def admissible(self, x: Any, a: Any) -> None:
        """The part a of x that changes no condition, in arrays."""
        r = self.r
        y = r.array("y", self.n)
        self._times(x, y)
        self._reflected(y)
        for i in r.range(self.k):
            y[self.column.at(i)] = 0.0
        self._reflected(y, back=True)
        self._under(y)
        for p in r.range(self.n):
            a[self.place.at(p)] = y[p]
