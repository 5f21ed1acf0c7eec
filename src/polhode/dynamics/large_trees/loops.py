"""Large trees: each pass of an algorithm as a loop over the elements, its step traced once for every kind of joint.

More in loops: `one_velocity_loops.py` (accelerations of hinges, sliders and screws), `subtree_rows.py` (mass matrix),
`derivatives.py`, `coriolis_loops.py`.

The steps are those of `inverse.py` and `forward.py`, on loops and arrays of `scalar`. Compiled, text and compile time
do not grow with the tree, and the work grows with its size. Slot 0 of every array belongs to the ground, slot i + 1
to element i.
"""

from collections.abc import Callable, Iterator
from typing import Any

from polhode.dynamics import forward, inverse
from polhode.dynamics.kinematics import joint_force, unit_twists
from polhode.model.joints.base import Element, ElementKind
from polhode.model.tree import Tree
from polhode.scalar import Loops, Vec, flat, identity, loops_for, shaped
from polhode.spatial import ORIGIN, Inertia, Placement, Twist

UNROLLED = 20_000
"""Operations that are still written out; a larger machine runs in loops. A chain of 70 joints (18,200), written out and
in loops: forward dynamics 2.9 and 4.0 µs, 0.6 and 1.5 µs a state in batches, compiled in 1.7 and 0.2 s; its mass matrix
6.7 and 6.2 µs, 2.3 and 4.9 µs, 3.7 and 0.2 s."""


def is_large(tree: Tree) -> bool:
    """Whether the passes over a tree are better loops."""
    return not tree.shares and sum(e.kind.operations for e in tree.elements) > UNROLLED


class Slots:
    """An array of records, one in each slot; unset: none is zero until it is written."""

    def __init__(self, r: Loops, name: str, count: int, like: Any, *, unset: bool = False) -> None:
        self.like, self.size = like, len(flat(like))
        self.memory = r.array(name, count * self.size, unset=unset)

    def get(self, slot: Any, like: Any = None) -> Any:
        """The record of a slot; or of its first numbers another one."""
        like = self.like if like is None else like
        return shaped(like, (self.memory[slot * self.size + k] for k in range(self.size)))

    def put(self, slot: Any, record: Any) -> None:
        """A new record for a slot."""
        for k, value in enumerate(flat(record)):
            self.memory[slot * self.size + k] = value


class Window:
    """The numbers of one element among those of the whole machine, counted from 0."""

    def __init__(self, memory: Any, first: Any) -> None:
        self.memory, self.first = memory, first

    def __getitem__(self, k: int) -> Any:
        return self.memory[self.first + k]


class ElementTables:
    """The elements of a tree as tables, one row each; a number that is the same in all rows stays a constant."""

    def __init__(self, r: Loops, tree: Tree) -> None:
        self.r, self.elements, self.n = r, tree.elements, len(tree.elements)
        self.kinds = sorted({e.kind for e in tree.elements}, key=lambda kind: kind.name)
        self.kind = r.lookup("kind", [self.kinds.index(e.kind) for e in tree.elements])
        self._parent = r.lookup("parent", [e.parent + 1 for e in tree.elements])
        self._q = r.lookup("first_q", [e.q[0] if e.q else 0 for e in tree.elements])
        self._v = r.lookup("first_v", [e.v[0] if e.v else 0 for e in tree.elements])
        self._numbers: list[Any] = []
        self._columns = {kind: self._constant_columns(kind) for kind in self.kinds}
        known = all(isinstance(x, float) for x in self._numbers)
        self.memory = (r.table if known else r.given)("numbers", self._numbers)

    def _constant_columns(self, kind: ElementKind) -> list[Any]:
        """For each number of an element of this kind: the number, or where its column begins."""
        rows = {i: flat(_numbers(e)) for i, e in enumerate(self.elements) if e.kind == kind}
        columns: list[Any] = []
        for values in zip(*rows.values(), strict=True):
            if all(isinstance(x, float) and x == values[0] for x in values):
                columns.append(values[0])
                continue
            columns.append(len(self._numbers))
            column = dict(zip(rows, values, strict=True))
            self._numbers += [column.get(i, 0.0) for i in range(self.n)]
        return columns

    def each_kind(self, i: Any) -> Iterator[Element]:
        """The element of a row, once for every kind it may have."""
        if len(self.kinds) == 1:
            yield self._element(self.kinds[0], i)
            return
        for number in self.r.cases(self.kind.at(i), range(len(self.kinds))):
            yield self._element(self.kinds[number], i)

    def _element(self, kind: ElementKind, i: Any) -> Element:
        example = next(e for e in self.elements if e.kind == kind)
        columns = (self.memory[i + c] if isinstance(c, int) else c for c in self._columns[kind])
        axis, own, position, turning, body, armature = shaped(_numbers(example), columns)
        return Element(
            example.name, example.joint, 0, kind, axis, dict(zip(example.numbers, own, strict=True)), position,
            example.orientation, turning,
            tuple(range(len(example.q))), tuple(range(len(example.v))), None, body, armature,
            example.damping, example.stiffness, example.rest,
        )  # fmt: skip

    def parent(self, i: Any) -> Any:
        """The slot of an element's parent."""
        return self._parent.at(i)

    def of_q(self, memory: Any, i: Any) -> Any:
        """The coordinates of an element."""
        return Window(memory, self._q.at(i))

    def of_v(self, memory: Any, i: Any) -> Any:
        """The velocities of an element, or what is in the order of velocities."""
        return Window(memory, self._v.at(i))


def _numbers(e: Element) -> tuple[Vec, Vec, Vec, tuple[Vec, Vec, Vec], Inertia, Vec]:
    """What the steps need of an element."""
    return e.axis, Vec(e.numbers.values()), e.position, e.turning, e.inertia, e.armature


NOWHERE = Placement(identity(3), ORIGIN)
REST = Twist(ORIGIN, ORIGIN)


def inverse_dynamics(tree: Tree, q: Vec, v: Vec, vd: Vec, gravity: Vec | None = None) -> Vec:
    """τ = M v̇ + Γ v v + gravity, as `dynamics.inverse`."""
    root = inverse.ground(tree.gravity if gravity is None else gravity)
    with loops_for("inverse_dynamics", (q, v, vd)) as r:
        rows, tau = ElementTables(r, tree), r.output("tau", tree.nv)
        Q, V, A = r.given("q", q), r.given("v", v), r.given("vd", vd)
        _newton_euler(r, rows, root, Q, V, A, lambda i, k, value: _put(tau, rows, i, k, value))
    return Vec(r.results())


def _put(memory: Any, rows: ElementTables, i: Any, k: int, value: Any) -> None:
    memory[rows.of_v(memory, i).first + k] = value


def _newton_euler(
    r: Loops, rows: ElementTables, root: inverse.Carried, Q: Any, V: Any, A: Any, found: Callable[[Any, int, Any], None]
) -> Slots:
    """Both passes of inverse dynamics; `found` takes each joint's forces. A = None: zero. -> the placements"""
    n = rows.n
    at = Slots(r, "at", n + 1, NOWHERE)
    moving, force = Slots(r, "moving", n + 1, root), Slots(r, "force", n + 1, (ORIGIN, ORIGIN))
    moving.put(0, root)
    still = Vec([0.0] * 6)
    # pass 1, root to leaves: how each element moves, and what its body needs
    for i in r.range(n):
        for e in rows.each_kind(i):
            vd = still if A is None else rows.of_v(A, i)
            step = inverse.outward(e, rows.of_q(Q, i), rows.of_v(V, i), vd, moving.get(rows.parent(i)))
            for slots, record in zip((at, moving, force), step, strict=True):
                slots.put(i + 1, record)
    # pass 2, leaves to root: what each joint must carry
    for i in r.range(0, n, down=True):
        for e in rows.each_kind(i):
            f, m = force.get(i + 1)
            for k, value in enumerate(joint_force(e, rows.of_q(Q, i), f, m)):
                found(i, k, value if A is None else value + e.armature[k] * rows.of_v(A, i)[k])
            F, N = force.get(rows.parent(i))
            f_p, n_p = inverse.handed(at.get(i + 1), f, m)
            force.put(rows.parent(i), (F + f_p, N + n_p))
    return at


def forward_dynamics(tree: Tree, q: Vec, v: Vec, tau: Vec) -> Vec:
    """v̇ by articulated bodies, as `dynamics.forward`: of M v̇ + gravity = τ less what the velocities need."""
    with loops_for("forward_dynamics", (q, v, tau)) as r:
        rows, vd, n = ElementTables(r, tree), r.output("vd", tree.nv), len(tree.elements)
        Q, V, T = r.given("q", q), r.given("v", v), r.given("tau", tau)
        a = Slots(r, "a", n + 1, REST)
        at = _newton_euler(
            r,
            rows,
            inverse.ground(ORIGIN),
            Q,
            V,
            None,
            lambda i, k, value: _put(T, rows, i, k, rows.of_v(T, i)[k] - value),
        )
        body = Slots(r, "body", n + 1, forward.Articulated(*[identity(3)] * 3))
        force = Slots(r, "handed", n + 1, (ORIGIN, ORIGIN))
        joint = Slots(r, "joint", n + 1, _kept(max(len(e.v) for e in tree.elements)))
        a.put(0, Twist(-tree.gravity, ORIGIN))
        # bodies alone
        for i in r.range(n):
            for e in rows.each_kind(i):
                body.put(i + 1, forward.rigid(e.inertia))
        # leaves to root: articulated inertias and forces
        for i in r.range(0, n, down=True):
            for e in rows.each_kind(i):
                up, here, x, (f, m) = rows.parent(i), at.get(i + 1), body.get(i + 1), force.get(i + 1)
                if e.v:
                    x, known = forward.release(x, unit_twists(e, rows.of_q(Q, i)), e.armature)
                    own = rows.of_v(T, i)
                    u, (f, m) = forward.left_over(known, Vec([own[k] for k in e.v]), f, m)
                    joint.put(i + 1, (known.U, known.Dinv, u))
                body.put(up, forward.joined(body.get(up), forward.seen_from_parent(x, here)))
                (F, N), (f_p, n_p) = force.get(up), inverse.handed(here, f, m)
                force.put(up, (F + f_p, N + n_p))
        # root to leaves: accelerations
        for i in r.range(n):
            for e in rows.each_kind(i):
                U, Dinv, u = joint.get(i + 1, _kept(len(e.v)))
                left = forward.Released(unit_twists(e, rows.of_q(Q, i)), U, Dinv) if e.v else None
                own, moving = forward.follow(left, at.get(i + 1), u, a.get(rows.parent(i)))
                a.put(i + 1, moving)
                for k, value in enumerate(own):
                    _put(vd, rows, i, k, value)
    return Vec(r.results())


def _kept(dofs: int) -> tuple[list[tuple[Vec, Vec]], Vec, Vec]:
    """U, D⁻¹ and u of this many velocities, for their shapes."""
    return [(ORIGIN, ORIGIN)] * dofs, identity(dofs), Vec([0.0] * dofs)
