"""Pairs of velocities in loops: rows of numbers over the velocities that one velocity carries.

Elements go depth first, so that what an element carries follows it without a gap: a row over it is a loop whose passes
know nothing of each other. All is in world axes; what belongs to an element is about its own origin.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from polhode.dynamics.inertia import impulse
from polhode.dynamics.kinematics import placement, unit_twists
from polhode.dynamics.large_trees.loops import ElementTables, Slots
from polhode.model.joints.base import NOTHING, Element
from polhode.model.tree import GROUND, Tree
from polhode.scalar import Loops, Vec, cross, dot, flat, is_zero, loops_for, outer, shaped
from polhode.spatial import ORIGIN, WORLD_FRAME, Frame, Inertia, Twist, congruence, joined

TILE = 8
"""Rows and columns of a matrix that are mirrored at once."""


def depth_first(tree: Tree) -> Tree:
    """The tree with its elements depth first; q and v keep their order."""
    carried: dict[int, list[int]] = {i: [] for i in range(GROUND, len(tree.elements))}
    for i, e in enumerate(tree.elements):
        carried[e.parent].append(i)
    order, waiting = list[int](), carried[GROUND][::-1]
    while waiting:
        order.append(waiting.pop())
        waiting += carried[order[-1]][::-1]
    place = {GROUND: GROUND} | {i: k for k, i in enumerate(order)}
    elements = tuple(replace(tree.elements[i], parent=place[tree.elements[i].parent]) for i in order)
    return replace(tree, elements=elements, of_body={name: place[i] for name, i in tree.of_body.items()})


def is_chain(tree: Tree) -> bool:
    """Whether each element carries all that follow it."""
    return all(e.parent == i - 1 for i, e in enumerate(tree.elements))


def moored(tree: Tree) -> list[float]:
    """For each element 0 where neither it nor what carries it can turn, else 1.

    Where such an element is and how fast it moves is no matter for what it carries; multiplied by these numbers, places
    and velocities are those from there, small also for machines far away or fast.
    """
    found: list[float] = []
    for e in tree.elements:
        still = e.parent == GROUND or not found[e.parent]
        found.append(0.0 if still and not e.kind.turns else 1.0)
    return found


class Subtrees(NamedTuple):
    """The velocities of a depth-first tree, numbered in its order, as tables of whole numbers."""

    order: list[int]
    """For each the place in v."""
    first: Any
    """For each element its first one."""
    below: Any
    """For each the first one after those of its element."""
    end: Any
    """For each the end of those that its element carries."""
    last: Any
    """For each element the end of those that it carries."""

    @classmethod
    def of(cls, r: Loops, tree: Tree) -> "Subtrees":
        """Those of a tree."""
        elements, last = tree.elements, list(range(1, len(tree.elements) + 1))
        for i in reversed(range(len(elements))):
            if (p := elements[i].parent) != GROUND:
                last[p] = max(last[p], last[i])
        start = [0]
        for e in elements:
            start.append(start[-1] + len(e.v))
        below = [start[i + 1] for i, e in enumerate(elements) for _ in e.v]
        end = [start[last[i]] for i, e in enumerate(elements) for _ in e.v]
        order = [a for e in elements for a in e.v]
        tables = {"first": start[:-1], "below": below, "end": end, "last": [start[i] for i in last]}
        return cls(order, *(r.lookup(name, table) for name, table in tables.items()))


def clear_unrelated(r: Loops, places: Subtrees, *matrices: "Matrix") -> None:
    """Zeros for pairs of velocities that do not carry one another, above the diagonal."""
    n = len(places.order)
    for a in r.range(n):
        for b in r.together(places.end.at(a), n):
            for matrix in matrices:
                matrix[a, b] = 0.0


class Columns:
    """Records side by side: the first numbers of all, then the second ones, and so on; unset: nothing until written."""

    def __init__(self, r: Loops, name: str, count: int, like: Any, *, unset: bool = True) -> None:
        lines = -(-count // 8) | 1  # an odd number, or many columns would share few places of a cache
        self.like, self.count = like, 8 * lines
        self.memory = r.array(name, self.count * len(flat(like)), unset=unset)

    def get(self, i: Any, like: Any = None) -> Any:
        """The record of a place; or of its first numbers another one."""
        like = self.like if like is None else like
        return shaped(like, (self.memory[i + k * self.count] for k in range(len(flat(like)))))

    def put(self, i: Any, record: Any) -> None:
        """A new record for a place."""
        for k, value in enumerate(flat(record)):
            self.memory[i + k * self.count] = value

    def clear(self, i: Any) -> None:
        """Zeros for a place."""
        self.put(i, Vec([0.0] * len(flat(self.like))))


class SlotNumbers:
    """Records of numbers known beforehand, one for each slot; one that is the same in all stays a constant."""

    def __init__(self, r: Loops, name: str, records: Sequence[Any]) -> None:
        rows = [flat(record) for record in records]
        self.like, self.columns, numbers = records[0], list[Any](), list[Any]()
        for values in zip(*rows, strict=True):
            if all(isinstance(x, float) and x == values[0] for x in values):
                self.columns.append(values[0])
            else:
                self.columns.append(len(numbers) - 1)  # slots count from 1
                numbers += values
        known = all(isinstance(x, float) for x in numbers)
        self.memory = (r.table if known else r.given)(name, numbers)

    def get(self, slot: Any) -> Any:
        """The record of a slot."""
        return shaped(self.like, (self.memory[slot + c] if isinstance(c, int) else c for c in self.columns))


class Matrix:
    """A square matrix in rows that are a multiple of `TILE` long; nothing until written."""

    def __init__(self, r: Loops, name: str, n: int) -> None:
        self.r, self.n, self.tiles = r, n, -(-n // TILE)
        self.width = self.tiles * TILE
        self.memory = r.array(name, self.width * self.width, unset=True)

    def __getitem__(self, at: tuple[Any, Any]) -> Any:
        return self.memory[at[0] * self.width + at[1]]

    def __setitem__(self, at: tuple[Any, Any], value: Any) -> None:
        self.memory[at[0] * self.width + at[1]] = value

    def mirror(self, source: "Matrix | None" = None, *, skew: bool = False) -> None:
        """Put the upper half, or that of another matrix, in the place of the lower; skew: with the other sign."""
        given = source or self
        for i in self.r.range(self.tiles):
            for j in self.r.range(i):
                self._mirror(given, i, j, [(a, b) for a in range(TILE) for b in range(TILE)], skew)
            self._mirror(given, i, i, [(a, b) for a in range(TILE) for b in range(a)], skew)

    def _mirror(self, given: "Matrix", i: Any, j: Any, cells: Sequence[tuple[int, int]], skew: bool) -> None:
        values = [given[j * TILE + b, i * TILE + a] for a, b in cells]
        for (a, b), value in zip(cells, values, strict=True):
            self[i * TILE + a, j * TILE + b] = -value if skew else value

    def times(self, right: "Matrix", out: Any, order: Sequence[int], filled: Sequence[Sequence[bool]]) -> None:
        """Its product with another matrix, n × n numbers, in rows without a gap; order: as in `deliver`.

        filled  for each place of the other matrix whether it may hold something else than 0
        """
        n, r, lines = self.n, self.r, TILE // 2
        found = None if list(order) == sorted(order) else Matrix(r, "found", n)
        place = (found.memory, found.width) if found else (out, n)
        spans = ColumnSpans.of(r, filled)
        for i in r.range(n // lines):
            self._product_rows(right, place, i * lines, lines, spans)
        if rest := n % lines:
            self._product_rows(right, place, n - rest, rest, spans)
        if found:
            found.deliver(out, order)

    def _product_rows(
        self, right: "Matrix", place: tuple[Any, int], first: Any, lines: int, spans: "ColumnSpans"
    ) -> None:
        """Some rows of a product, a tile of the other matrix after the other, where that holds something."""
        (out, stride), tiles, rest = place, self.n // TILE, self.n % TILE

        def add(k: Any, count: int, columns: tuple[Any, Any] | None = None) -> None:
            for j in self.r.together(*columns) if columns else self.r.together(self.n):
                terms = [right[k * TILE + m, j] for m in range(count)]
                for a in range(lines):
                    total = out[(first + a) * stride + j] if columns else 0.0
                    for m, term in enumerate(terms):
                        total = total + self[first + a, k * TILE + m] * term
                    out[(first + a) * stride + j] = total

        add(0, TILE if tiles else rest)
        for k in self.r.range(1, tiles):
            for columns in spans.at(k):
                add(k, TILE, columns)
        if rest and tiles:
            for columns in spans.last():
                add(tiles, rest, columns)

    def add(self, name: str, values: Vec, order: Sequence[int]) -> None:
        """Add a matrix in the order of v."""
        n, r = self.n, self.r
        entries = [values[a][b] for a in order for b in order]
        if all(is_zero(x) for x in entries):
            return
        given = r.given(name, entries, sparse=True)
        for i in r.range(n):
            for j in r.together(n):
                self[i, j] = self[i, j] + given[i * n + j]

    def deliver(self, out: Any, order: Sequence[int]) -> None:
        """Its n × n numbers, in rows without a gap; order: the place of each row and column there."""
        n, r = self.n, self.r
        rows, runs = r.lookup("row", [a * n for a in order]), runs_of(order)
        for i in r.range(n):
            for first, last, shift in runs:
                for j in r.together(first, last):
                    out[rows.at(i) + j + shift] = self[i, j]


class ColumnSpans:
    """For each tile of rows of a matrix the columns that hold something, in one or two spans of whole tiles.

    Trees whose branches know nothing of each other have many zeros: of derivatives of the bench's humanoid 47 %.
    """

    def __init__(self, r: Loops, n: int, spans: Sequence[tuple[int, int, int]]) -> None:
        """spans: for each tile the end of the first span, the start and the end of the second."""
        self.n, self.spans, self.whole = n, spans, all(head == n for head, _, _ in spans)
        names, columns = ("head", "tail", "tail_end"), zip(*spans, strict=True)
        tables = zip(names, columns, strict=True)
        self.tables = [] if self.whole else [r.lookup(name, values) for name, values in tables]

    @classmethod
    def of(cls, r: Loops, filled: Sequence[Sequence[bool]]) -> "ColumnSpans":
        """Those of a matrix: for each place, whether it may hold something. The widest gap lies between the spans."""
        n, found = len(filled), list[tuple[int, int, int]]()
        for first in range(0, n, TILE):
            rows = filled[first : first + TILE]
            there = [c for c in range(0, n, TILE) if any(any(row[c : c + TILE]) for row in rows)]
            ends = [0, *(min(n, c + TILE) for c in there)]
            gap, k = max(
                ((start - end, k) for k, (start, end) in enumerate(zip(there, ends, strict=False))), default=(0, 0)
            )
            found.append((ends[k], there[k], ends[-1]) if gap else (ends[-1], n, n))
        return cls(r, n, found)

    def at(self, k: Any) -> list[tuple[Any, Any]]:
        """The spans of the columns of tile k."""
        if self.whole:
            return [(0, self.n)]
        head, tail, end = self.tables
        return [(0, head.at(k)), (tail.at(k), end.at(k))]

    def last(self) -> list[tuple[Any, Any]]:
        """The spans of the columns of the last tile."""
        head, tail, end = self.spans[-1]
        return [span for span in ((0, head), (tail, end)) if span[0] < span[1]]


def runs_of(order: Sequence[int]) -> list[tuple[int, int, int]]:
    """Where numbers follow one another: the first, the last and one, and how far they are from their places."""
    starts = [k for k, a in enumerate(order) if not k or a != order[k - 1] + 1]
    return [(k, end, order[k] - k) for k, end in zip(starts, [*starts[1:], len(order)], strict=True)]


class UnitMotionAt(NamedTuple):
    """A unit motion, in world axes: the origin it is given at, its linear and its angular part."""

    o: Vec
    l: Vec
    w: Vec


def shifted(body: Inertia, d: Vec) -> Inertia:
    """The mass moments of a body about a point from which its former origin lies at d."""
    m, h, S = body
    both = outer(h + m / 2 * d, d)
    return Inertia(m, h + m * d, S + both + both.T)


def turned(R: Vec, body: Inertia) -> Inertia:
    """The mass moments of a body in other axes."""
    return Inertia(body.mass, R @ body.first, congruence(R, body.second))


def half(S: Vec) -> Vec:
    """The numbers of a symmetric matrix."""
    return Vec([S[0][0], S[0][1], S[0][2], S[1][1], S[1][2], S[2][2]])


def whole(s: Vec) -> Vec:
    """The symmetric matrix of six numbers."""
    a, b, c, d, e, f = s
    return Vec([Vec([a, b, c]), Vec([b, d, e]), Vec([c, e, f])])


class BodySlots:
    """Mass moments, one body in each slot; nothing on the ground."""

    def __init__(self, r: Loops, name: str, count: int) -> None:
        self.slots = Slots(r, name, count, (0.0, ORIGIN, Vec([0.0] * 6)), unset=True)
        self.put(0, NOTHING)

    def get(self, slot: Any) -> Inertia:
        """The body of a slot."""
        m, h, s = self.slots.get(slot)
        return Inertia(m, h, whole(s))

    def put(self, slot: Any, body: Inertia) -> None:
        """A new body for a slot."""
        self.slots.put(slot, (body.mass, body.first, half(body.second)))


class CompositePasses:
    """Where elements are, their unit motions, and the bodies that these move: passes out and back."""

    def __init__(self, r: Loops, tree: Tree, q: Vec) -> None:
        self.r, self.rows, self.places, self.Q = r, ElementTables(r, tree), Subtrees.of(r, tree), r.given("q", q)
        n = self.rows.n
        self._frame, self._body = Slots(r, "frame", n + 1, WORLD_FRAME, unset=True), BodySlots(r, "body", n + 1)
        self._turning = SlotNumbers(r, "moored", moored(tree))
        self.motion = Columns(r, "motion", tree.nv, UnitMotionAt(ORIGIN, ORIGIN, ORIGIN))

    def outward(self) -> None:
        """Root to leaves: where the elements are, their bodies and unit motions."""
        rows, frame = self.rows, self._frame
        frame.put(0, WORLD_FRAME)
        for i in self.r.range(rows.n):
            for e in rows.each_kind(i):
                own = rows.of_q(self.Q, i)
                at, up = placement(e, own), frame.get(rows.parent(i))
                here = Frame(up.R @ at.R, up.o + self._turning.get(i + 1) * (up.R @ at.r))
                frame.put(i + 1, here)
                self._body.put(i + 1, turned(here.R, e.inertia))
                for k, unit in enumerate(unit_twists(e, own)):
                    seen = UnitMotionAt(here.o, here.R @ unit.linear, here.R @ unit.angular)
                    self.motion.put(self.places.first.at(i) + k, seen)

    def inward(self) -> Iterator[tuple[Element, Any, Inertia, list[UnitMotionAt]]]:
        """Leaves to root: each element, its first velocity, the composite that it moves, its unit motions."""
        rows, frame, body = self.rows, self._frame, self._body
        for i in self.r.range(0, rows.n, down=True):
            for e in rows.each_kind(i):
                composite, here, first = body.get(i + 1), frame.get(i + 1), self.places.first.at(i)
                yield e, first, composite, [self.motion.get(first + k) for k in range(len(e.v))]
                up = rows.parent(i)
                body.put(up, joined(body.get(up), shifted(composite, here.o - frame.get(up).o)))


def mass_matrix(tree: Tree, q: Vec) -> Vec:
    """The mass matrix, nv × nv, as `dynamics.inertia`: rows over what each velocity carries, then mirrored.

    M[b, g] = (l_b + w_b × (o_g − o_b))·P_g + w_b·H_g, for b carrying g                            BEYOND §1
    """
    tree = depth_first(tree)
    n = tree.nv
    with loops_for("mass_matrix", q) as r:
        p, out = CompositePasses(r, tree, q), r.output("M", n * n, unset=True)
        momentum, M = Columns(r, "momentum", n, (ORIGIN, ORIGIN)), Matrix(r, "whole", n)
        # passes 1 and 2: composites, and the momenta that unit motions give them
        p.outward()
        for e, first, composite, units in p.inward():
            for k, unit in enumerate(units):
                P, H = impulse(composite, Twist(unit.l, unit.w))
                momentum.put(first + k, (P, H))
                for b, by in enumerate(units[: k + 1]):
                    own = dot(by.l, P) + dot(by.w, H)
                    M[first + b, first + k] = own + e.armature[k] if b == k else own
        # pass 3: each velocity and those that it carries
        for b in r.range(n):
            o, l, w = p.motion.get(b)
            for g in r.together(p.places.below.at(b), p.places.end.at(b)):
                P, H = momentum.get(g)
                M[b, g] = dot(l + cross(w, p.motion.get(g).o - o), P) + dot(w, H)
        clear_unrelated(r, p.places, M)
        M.mirror()
        M.deliver(out, p.places.order)
    found = r.results()
    return Vec([Vec(found[i * n : (i + 1) * n]) for i in range(n)])
