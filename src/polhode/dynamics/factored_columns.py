"""Many columns X of M X = −B from the factors of M: code for one state solves those with zeros at the same places at
once, each in a lane."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from polhode.dynamics.inertia import filled, solve_factored, solve_scaled
from polhode.model.tree import Tree
from polhode.scalar import Loops, Scalar, Vec, is_zero, loops_for

AT_ONCE = 400
"""Products of a solution from which on code for one state has loops over columns. Derivatives of forward dynamics, one
call, against written out: `chain-4` (112) 1.08 of the time, `chain-5` (230) 0.99, `ur5` (374) 0.98, `chain-6` (408)
0.90, `arm-7` (585) 0.84, `quadruped` (6,480) 0.78 (AVX-512). Below, loops gain too little for their code."""


class Strip(NamedTuple):
    """Columns of one matrix, side by side."""

    matrix: int
    first: int
    last: int


class Alike(NamedTuple):
    """Columns that are zero outside the same rows; some may be zero in one of these."""

    rows: tuple[int, ...]
    strips: list[Strip]

    @property
    def width(self) -> int:
        """How many columns."""
        return sum(strip.last - strip.first for strip in self.strips)

    def takes(self, rows: tuple[int, ...]) -> bool:
        """Whether a column that is zero outside these rows is one of them."""
        return len(self.rows) <= len(rows) + 1 and {*rows} <= {*self.rows}

    def add(self, matrix: int, c: int) -> None:
        """One more column."""
        if self.strips and (self.strips[-1].matrix, self.strips[-1].last) == (matrix, c):
            self.strips[-1] = self.strips[-1]._replace(last=c + 1)
        else:
            self.strips.append(Strip(matrix, c, c + 1))


def solve_columns(tree: Tree, L: Vec, D: Vec, *matrices: Vec, written_out: bool = False) -> list[Vec]:
    """X of M X = −B for some square matrices B, from the factors of M = Lᵀ D L.

    written_out  without loops, however many columns there are: right for what is differentiated again
    """
    n, groups = tree.nv, _groups(matrices)
    places = [(k, i) for k, path in enumerate(filled(tree)) for i in path[1:] if not is_zero(L[k][i])]
    if written_out or (2 * len(places) + n) * sum(group.width for group in groups) < AT_ONCE:
        return [Vec([solve_factored(tree, L, -D, column) for column in B.T]).T for B in matrices]
    given = [x for group in groups for x in _entries(group, matrices)]
    factors, scales = [L[k][i] for k, i in places], [-(1 / d) for d in D]
    with loops_for("solve_columns", [*given, *factors, *scales]) as r:
        B, entries, scale = r.given("B", given), r.given("L", factors), r.given("scale", scales)
        X, Y = r.output("X", len(matrices) * n * n, unset=True), r.array("Y", n * _most(groups), unset=True)
        begin = 0
        for number, group in enumerate(groups):
            width, rows, (strip, *more) = group.width, _reached(tree, group.rows), group.strips
            for c in r.together(width):
                factor: list[list[Scalar]] = [[0.0] * n for _ in range(n)]
                for place, (k, i) in enumerate(places):
                    factor[k][i] = entries[place]
                right: list[Scalar] = [0.0] * n
                for m, i in enumerate(group.rows):
                    right[i] = B[begin + m * width + c]
                column = solve_scaled(tree, Vec(map(Vec, factor)), Vec([scale[k] for k in range(n)]), Vec(right))
                for i in rows:
                    if more:
                        Y[i * width + c] = column[i]
                    else:
                        X[(strip.matrix * n + i) * n + strip.first + c] = column[i]
            if more:
                _spread(r, group, r.lookup(f"rows_{number}", rows), len(rows), n, X, Y)
            begin += width * len(group.rows)
    return _gathered(tree, groups, r.results(one_state=True), len(matrices))


def _gathered(tree: Tree, groups: Sequence[Alike], values: Sequence[Scalar], count: int) -> list[Vec]:
    """So many matrices, from their numbers."""
    n = tree.nv
    found: list[list[list[Scalar]]] = [[[0.0] * n for _ in range(n)] for _ in range(count)]
    for group in groups:
        for matrix, first, last in group.strips:
            for i in _reached(tree, group.rows):
                row = (matrix * n + i) * n
                found[matrix][i][first:last] = values[row + first : row + last]
    return [Vec(map(Vec, x)) for x in found]


def _most(groups: Sequence[Alike]) -> int:
    """The columns of the widest."""
    return max([group.width for group in groups], default=0)


def _reached(tree: Tree, rows: Sequence[int]) -> list[int]:
    """The rows of a solution that need not be zero, where the right side is not zero in some."""
    path, found = filled(tree), {*rows}
    for k in reversed(tree.velocity_order):
        found.update(path[k] if k in found else ())
    for k in tree.velocity_order:
        found.update([k] if not found.isdisjoint(path[k]) else [])
    return sorted(found)


def _groups(matrices: Sequence[Vec]) -> list[Alike]:
    """All columns but those of zeros."""
    found: list[Alike] = []
    for number, matrix in enumerate(matrices):
        for c, column in enumerate(matrix.T):
            rows = tuple(i for i, x in enumerate(column) if not is_zero(x))
            if rows:
                group = next((group for group in found if group.takes(rows)), Alike(rows, []))
                if not group.strips:
                    found.append(group)
                group.add(number, c)
    return found


def _entries(group: Alike, matrices: Sequence[Vec]) -> list[Scalar]:
    """The numbers of columns that are alike, row by row."""
    columns = [(matrix, c) for matrix, first, last in group.strips for c in range(first, last)]
    return [matrices[matrix][i][c] for i in group.rows for matrix, c in columns]


def _spread(r: Loops, group: Alike, rows: Any, count: int, n: int, X: Any, Y: Any) -> None:
    """Columns to their places in the matrices."""
    before = 0
    for matrix, first, last in group.strips:
        for m in r.range(count):
            for c in r.together(last - first):
                X[(matrix * n + rows.at(m)) * n + first + c] = Y[rows.at(m) * group.width + before + c]
        before += last - first
