"""Forward dynamics of large trees whose elements have one velocity each, by articulated bodies in loops.

As `dynamics.forward`, but in world axes, each element about its own origin, with spatial velocities and accelerations:
nothing is turned from one element to the next, and what needs no other element is done for several at once. Slot 0 of
every array belongs to the ground, slot i + 1 to element i.
"""

from collections.abc import Iterator
from typing import Any

from polhode.dynamics import forward
from polhode.dynamics.kinematics import placement, unit_twists
from polhode.dynamics.large_trees.loops import ElementTables
from polhode.dynamics.large_trees.subtree_rows import Columns, SlotNumbers, half, is_chain, moored, turned, whole
from polhode.dynamics.spatial_vectors import NO_FORCE, SYMMETRIC, motion_cross, moved_to, needed, plus
from polhode.model.joints.base import Element
from polhode.model.tree import Tree
from polhode.quaternion import skew
from polhode.scalar import Loops, Vec, cross, dot, identity, loops_for
from polhode.spatial import AT_REST, ORIGIN, Placement, Twist


def applies(tree: Tree) -> bool:
    """Whether every element has one velocity, whose unit motion is constant in its axes."""
    return all(e.kind.constant and len(e.v) == len(e.q) == 1 for e in tree.elements)


def forward_dynamics(tree: Tree, q: Vec, v: Vec, tau: Vec) -> Vec:
    """v̇ by articulated bodies, as `dynamics.forward`: of M v̇ + gravity = τ less what the velocities need."""
    with loops_for("forward_dynamics", (q, v, tau)) as r:
        passes = _OneVelocityPasses(r, tree, q, v, tau)
        passes.outward()
        passes.inward()
        passes.accelerate(-tree.gravity)
    return Vec(r.results())


def _is_zero(part: Vec) -> bool:
    """Whether a part of a unit motion is zero for all elements of a kind."""
    return all(isinstance(x, float) and x == 0.0 for x in part)


class _OneVelocityPasses:
    """The arrays of one routine, and the passes over them."""

    def __init__(self, r: Loops, tree: Tree, q: Vec, v: Vec, tau: Vec) -> None:
        self.r, self.rows, self.n, self.chain = r, ElementTables(r, tree), len(tree.elements), is_chain(tree)
        self.in_order = all(e.q == e.v == (i,) for i, e in enumerate(tree.elements))
        self.moored = SlotNumbers(r, "moored", moored(tree))
        self.Q, self.V, self.T = r.given("q", q), r.given("v", v), r.given("tau", tau)
        self.vd = r.output("vd", self.n, unset=True)
        self.at, self.R = self._columns("at", Placement(identity(3), ORIGIN)), self._columns("R", identity(3))
        self.along, self.about = (self._columns(name, ORIGIN) for name in ("along", "about"))
        self.d, self.v, self.a = (self._columns(x, y) for x, y in (("d", ORIGIN), ("v", AT_REST), ("a", AT_REST)))
        self.body, self.force = self._columns("body", (ORIGIN, SYMMETRIC)), self._columns("force", NO_FORCE)
        self.articulated = self._sums("articulated", (SYMMETRIC, identity(3), SYMMETRIC))
        self.handed = self._sums("handed", NO_FORCE)
        self.gain = self._columns("gain", (ORIGIN, ORIGIN, 0.0))

    def _columns(self, name: str, like: Any) -> Columns:
        return Columns(self.r, f"{name}_of", self.n + 1, like)

    def _sums(self, name: str, like: Any) -> Columns:
        """What elements hand to their parents: in a chain one record, from each to the next."""
        return Columns(self.r, f"{name}_of", 1 if self.chain else self.n + 1, like, unset=self.chain)

    def _each(self, order: Iterator[Any]) -> Iterator[tuple[Any, Element]]:
        for i in order:
            for e in self.rows.each_kind(i):
                yield i, e

    def _up(self, i: Any) -> Any:
        """The slot of an element's parent."""
        return i if self.chain else self.rows.parent(i)

    def _own(self, memory: Any, i: Any) -> Any:
        """The velocity of an element, or what is in the order of velocities."""
        return memory[i] if self.in_order else self.rows.of_v(memory, i)[0]

    def _motion(self, i: Any, e: Element) -> Twist:
        """The unit motion of an element, as `_put_motion` kept it."""
        (unit,) = unit_twists(e, Vec())
        parts = zip((self.along, self.about), unit, strict=True)
        return Twist(*(part if _is_zero(part) else columns.get(i + 1) for columns, part in parts))

    def _put_motion(self, i: Any, e: Element, R: Vec) -> Twist:
        """The unit motion of an element whose axes are R, kept for the passes that follow."""
        (unit,) = unit_twists(e, Vec())
        S = Twist(R @ unit.linear, R @ unit.angular)
        for columns, part, turned_part in zip((self.along, self.about), unit, S, strict=True):
            if not _is_zero(part):
                columns.put(i + 1, turned_part)
        return S

    def outward(self) -> None:
        """Root to leaves: where elements are, how they move at v̇ = 0 without gravity, what their bodies need."""
        r, n = self.r, self.n
        for i, e in self._each(r.together(n)):
            q = self.Q[i] if self.in_order else self.rows.of_q(self.Q, i)[0]
            self.at.put(i + 1, placement(e, Vec([q])))
        self.R.put(0, identity(3))
        self.v.put(0, AT_REST)
        self.a.put(0, AT_REST)
        for i, e in self._each(r.range(n)):
            at, R, up = self.at.get(i + 1), self.R.get(self._up(i)), self._up(i)
            t = self.moored.get(i + 1)
            d = t * (R @ at.r)
            R = R @ at.R
            self.R.put(i + 1, R)
            S, value = self._put_motion(i, e, R), self._own(self.V, i)
            own = Twist(value * S.linear, value * S.angular)
            v = plus(moved_to(self.v.get(up), d), own)
            v = Twist(t * v.linear, v.angular)
            a = plus(moved_to(self.a.get(up), d), motion_cross(v, own))
            for columns, record in ((self.d, d), (self.v, v), (self.a, a)):
                columns.put(i + 1, record)
        for i, e in self._each(r.together(n)):
            body = turned(self.R.get(i + 1), e.inertia)
            self.body.put(i + 1, (body.first, half(forward.rigid(body).C)))
            self.force.put(i + 1, needed(body, self.v.get(i + 1), self.a.get(i + 1)))

    def inward(self) -> None:
        """Leaves to root: articulated inertias, and the force that each joint has left.

        X (I − U D⁻¹ Uᵀ) Xᵀ = X I Xᵀ − X U D⁻¹ (X U)ᵀ,  X: to the parent's origin, which does not wait for D⁻¹
        """
        if self.chain:
            self.articulated.clear(0)
            self.handed.clear(0)
        for i, e in self._each(self.r.range(0, self.n, down=True)):
            s, up, d = i + 1, self._up(i), self.d.get(i + 1)
            mine, theirs = (0, 0) if self.chain else (s, up)
            (A, B, C), (h, J) = self.articulated.get(mine), self.body.get(s)
            alone = forward.Articulated(e.inertia.mass * identity(3), -skew(h), whole(J))
            x = forward.joined(forward.Articulated(whole(A), B, whole(C)), alone)
            joint = forward.response(x, [self._motion(i, e)], e.armature)
            (f, n), (F, N) = self.force.get(s), self.handed.get(mine)
            f, n = f + F, n + N
            (S,), ((Uf, Un),), ((Dinv,),) = joint
            u = self._own(self.T, i) - dot(S.linear, f) - dot(S.angular, n)
            Un, value = Un + cross(d, Uf), Dinv * u
            self.gain.put(s, (Dinv * Uf, Dinv * Un, value))
            A, B, C = forward.yielded(forward.shifted(x, d), joint._replace(U=[(Uf, Un)]))
            self._add(self.articulated, theirs, (half(A), B, half(C)))
            self._add(self.handed, theirs, (f + value * Uf, n + cross(d, f) + value * Un))

    def _add(self, columns: Columns, slot: Any, record: tuple[Vec, ...]) -> None:
        """Add to a slot, which in a chain nobody else adds to."""
        columns.put(
            slot, record if self.chain else tuple(a + b for a, b in zip(columns.get(slot), record, strict=True))
        )

    def accelerate(self, ground: Vec) -> None:
        """Root to leaves: the accelerations that this leaves, and gravity.

        v̇ = D⁻¹(u − Uᵀa),  a: the parent's acceleration, U: about its origin
        """
        self.a.put(0, Twist(ground, ORIGIN))
        for i, e in self._each(self.r.range(self.n)):
            up, (f, n, value) = self.a.get(self._up(i)), self.gain.get(i + 1)
            own = value - (dot(f, up.linear) + dot(n, up.angular))
            S = self._motion(i, e)
            self.a.put(i + 1, plus(moved_to(up, self.d.get(i + 1)), Twist(own * S.linear, own * S.angular)))
            self.vd[i if self.in_order else self.rows.of_v(self.vd, i).first] = own
