"""The passes that derivatives and the Coriolis matrix share, in loops: records of velocities, and pairs of them.

World axes; what belongs to an element is about its own origin o, velocities and accelerations are spatial vectors.
Every velocity has a slot, numbered depth first, from 1; slot 0 is the ground's. The numbers of an element stand in all
its slots, so that what is done for each velocity alone is one loop whose passes know nothing of each other. The symbols
are those of `derivatives.py`.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

from polhode.dynamics.inertia import impulse
from polhode.dynamics.kinematics import placement, unit_twists
from polhode.dynamics.large_trees.loops import ElementTables
from polhode.dynamics.large_trees.subtree_rows import (
    Columns,
    Matrix,
    SlotNumbers,
    Subtrees,
    clear_unrelated,
    half,
    moored,
    shifted,
    turned,
    whole,
)
from polhode.dynamics.spatial_vectors import NO_FORCE, SYMMETRIC, motion_cross, moved_to, needed, plus
from polhode.model.joints.base import Element
from polhode.model.tree import GROUND, Tree
from polhode.quaternion import skew
from polhode.scalar import Loops, Scalar, Vec, cross, dot, identity, is_zero, outer, trace
from polhode.spatial import AT_REST, ORIGIN, WORLD_FRAME, Frame, Inertia, Twist, joined


class Flow(NamedTuple):
    """How the mass of a body moves: 2 ∫ṙ dm and 2 ∫r ṙᵀ dm."""

    k: Vec
    beta: Vec


class TangentMotion(NamedTuple):
    """How a unit motion changes along the motion: the angular part of Ψ̇, Ψ̈, Φ."""

    rate: Vec
    second: Twist
    both: Twist


class TangentForce(NamedTuple):
    """What one velocity asks of the composite it moves: I S, 2Bᵀ S, and the forces of ∂/∂q and ∂/∂v."""

    P: Vec
    H: Vec
    turn: Vec
    of_q: tuple[Vec, Vec]
    of_v: tuple[Vec, Vec]


def flow(body: Inertia, v: Twist) -> Flow:
    """The flow of a body that moves with a velocity."""
    k = body.mass * v.linear + cross(v.angular, body.first)
    return Flow(2 * k, 2 * (outer(body.first, v.linear) - body.second @ skew(v.angular)))


def tangent_motion(S: Twist, v_p: Twist, a_p: Twist, v: Twist) -> TangentMotion:
    """Of a unit motion S: the parent's velocity and acceleration, seen from there, and its element's velocity."""
    rate = motion_cross(v_p, S)
    second = plus(motion_cross(a_p, S), motion_cross(v_p, rate))
    return TangentMotion(rate.angular, second, plus(rate, motion_cross(v, S)))


def tangent_force(body: Inertia, moving: Flow, force: tuple[Vec, Vec], S: Twist, x: TangentMotion) -> TangentForce:
    """Of the composite that a unit motion moves, its flow and the force that it needs."""
    (l, w), (f, n) = S, force
    T = trace(moving.beta) * identity(3) - moving.beta.T
    (P, H), (fq, nq), (fv, nv) = impulse(body, S), impulse(body, x.second), impulse(body, x.both)
    of_q = fq + cross(x.rate, moving.k) + cross(w, f), nq + T @ x.rate + cross(w, n) + cross(l, f)
    return TangentForce(P, H, cross(moving.k, l) + T.T @ w, of_q, (fv + cross(w, moving.k), nv + T @ w))


class DerivativePasses:
    """The arrays of one routine, and the passes over them."""

    def __init__(self, r: Loops, tree: Tree, q: Vec, v: Vec, sign: float) -> None:
        self.r, self.tree, self.n, self.sign = r, tree, tree.nv, sign
        self.rows, self.places = ElementTables(r, tree), Subtrees.of(r, tree)
        starts = [*accumulate((len(e.v) for e in tree.elements), initial=1)]
        self._up = r.lookup("up", [0 if e.parent == GROUND else starts[e.parent] for e in tree.elements])
        self.inertia = SlotNumbers(r, "inertias", [e.inertia for e in tree.elements for _ in e.v])
        self.moored = SlotNumbers(
            r, "moored", [x for x, e in zip(moored(tree), tree.elements, strict=True) for _ in e.v]
        )
        self.Q, self.V = r.given("q", q), r.given("v", v)
        self.frame, self.S = self.columns("frame", WORLD_FRAME), self.columns("S", AT_REST)
        self.v, self.v_p = self.columns("v", AT_REST), self.columns("v_p", AT_REST)
        self.a, self.a_p = self.columns("a", AT_REST), self.columns("a_p", AT_REST)
        self.body, self.composite = (self.columns(x, (0.0, ORIGIN, SYMMETRIC)) for x in ("body", "composite"))
        self.flow, self.force = self.columns("flow", Flow(ORIGIN, identity(3))), self.columns("force", NO_FORCE)

    def columns(self, name: str, like: Any) -> Columns:
        """Records, one for each slot."""
        return Columns(self.r, f"{name}s", self.n + 1, like)

    @cached_property
    def motion(self) -> Columns:
        """How the unit motions change."""
        return self.columns("motion", TangentMotion(ORIGIN, AT_REST, AT_REST))

    @cached_property
    def response(self) -> Columns:
        """What the velocities ask of the composites they move."""
        return self.columns("response", TangentForce(ORIGIN, ORIGIN, ORIGIN, NO_FORCE, NO_FORCE))

    @cached_property
    def dq(self) -> Matrix:
        """∂τ/∂q, its upper half at first."""
        return self.matrix("dq")

    @cached_property
    def dv(self) -> Matrix:
        """∂τ/∂v, its upper half at first."""
        return self.matrix("dv")

    @cached_property
    def dq_below(self) -> Matrix:
        """The lower half of ∂τ/∂q, transposed."""
        return self.matrix("dq_below")

    @cached_property
    def dv_below(self) -> Matrix:
        """The lower half of ∂τ/∂v, transposed."""
        return self.matrix("dv_below")

    def matrix(self, name: str) -> Matrix:
        """A matrix of pairs of velocities."""
        return Matrix(self.r, name, self.n)

    def each(self, down: bool = False) -> Iterator[tuple[Any, Element]]:
        """All elements, from the root or from the leaves: the place of each, and the element."""
        for i in self.r.range(0, self.rows.n, down=down):
            for e in self.rows.each_kind(i):
                yield i, e

    def slots(self) -> Iterator[Any]:
        """All velocities at once."""
        return self.r.together(1, self.n + 1)

    def first(self, i: Any) -> Any:
        """The first velocity of an element."""
        return i if self.n == self.rows.n else self.places.first.at(i)

    def slot(self, i: Any) -> Any:
        """The first slot of an element."""
        return self.first(i) + 1

    def up(self, i: Any) -> Any:
        """The first slot of an element's parent."""
        return self._up.at(i)

    def step(self, i: Any) -> Vec:
        """The origin of an element, from its parent's."""
        return self.frame.get(self.slot(i)).o - self.frame.get(self.up(i)).o

    def motions(self, i: Any, e: Element) -> list[Twist]:
        """The unit motions of an element."""
        R = self.frame.get(self.slot(i)).R
        units = unit_twists(e, self.rows.of_q(self.Q, i))
        return [Twist(R @ unit.linear, R @ unit.angular) for unit in units]

    def put(self, columns: Columns, i: Any, e: Element, record: Any) -> None:
        """A new record for all slots of an element."""
        for k in range(len(e.v)):
            columns.put(self.slot(i) + k, record)

    def outward(self, ground: Vec, A: Any = None) -> None:
        """Root to leaves: where the elements are, and how they move. A = None: at v̇ = 0."""
        rows = self.rows
        self.frame.put(0, WORLD_FRAME)
        self.v.put(0, AT_REST)
        self.a.put(0, Twist(ground, ORIGIN))
        for i, e in self.each():
            up = self.frame.get(self.up(i))
            at = placement(e, rows.of_q(self.Q, i))
            t = self.moored.get(self.slot(i))
            d = t * (up.R @ at.r)
            self.put(self.frame, i, e, Frame(up.R @ at.R, up.o + d))
            units = self.motions(i, e)
            v_p, own = moved_to(self.v.get(self.up(i)), d), _sum(units, rows.of_v(self.V, i))
            v, a_p = plus(v_p, own), moved_to(self.a.get(self.up(i)), d)
            v = Twist(t * v.linear, v.angular)
            a = plus(a_p, motion_cross(v, own))
            if A is not None:
                a = plus(a, _sum(units, rows.of_v(A, i)))
            for columns, record in ((self.v_p, v_p), (self.v, v), (self.a_p, a_p), (self.a, a)):
                self.put(columns, i, e, record)
            for k, unit in enumerate(units):
                self.S.put(self.slot(i) + k, unit)

    def bodies(self) -> Iterator[tuple[Any, Inertia]]:
        """Each slot: its body, how that flows and the force that it needs."""
        for columns in (self.composite, self.flow, self.force):
            columns.clear(0)
        for s in self.slots():
            body, v = turned(self.frame.get(s).R, self.inertia.get(s)), self.v.get(s)
            self.body.put(s, packed(body))
            self.composite.put(s, packed(body))
            self.flow.put(s, flow(body, v))
            self.force.put(s, needed(body, v, self.a.get(s)))
            yield s, body

    def gather(self, i: Any, e: Element, d: Vec) -> None:
        """One step to the root of composites and their flow; what they are stays in the element's slots."""
        s, up = self.slot(i), self.up(i)
        body, moving, old = unpacked(self.composite.get(s)), self.flow.get(s), self.flow.get(up)
        self.composite.put(up, packed(joined(unpacked(self.composite.get(up)), shifted(body, d))))
        self.flow.put(up, Flow(old.k + moving.k, old.beta + moving.beta + outer(d, moving.k)))
        for k in range(1, len(e.v)):
            self.composite.put(s + k, packed(body))
            self.flow.put(s + k, moving)

    def hand_on(self, i: Any, e: Element, d: Vec) -> None:
        """One step to the root of forces."""
        s, up = self.slot(i), self.up(i)
        (f, n), (F, N) = self.force.get(s), self.force.get(up)
        self.force.put(up, (F + f, N + n + cross(d, f)))
        for k in range(1, len(e.v)):
            self.force.put(s + k, (f, n))

    def tangents(self, more: tuple[Columns, Columns] | None = None) -> None:
        """Each slot: the changes of its unit motion; more: further accelerations of its element, of its parent."""
        for s in self.slots():
            a_p = self.a_p.get(s)
            if more:
                a_p = plus(a_p, more[1].get(s))
                (f, n), (df, dn) = self.force.get(s), impulse(unpacked(self.body.get(s)), more[0].get(s))
                self.force.put(s, (f + df, n + dn))
            self.motion.put(s, tangent_motion(self.S.get(s), self.v_p.get(s), a_p, self.v.get(s)))

    def responses(self) -> None:
        """Each slot: what its velocity asks of its composite."""
        for s in self.slots():
            body, x = unpacked(self.composite.get(s)), self.motion.get(s)
            found = tangent_force(body, self.flow.get(s), self.force.get(s), self.S.get(s), x)
            self.response.put(s, found)

    def pairs(self, M: Matrix | None, slopes: tuple[Vec, Vec] | None) -> None:
        """Each velocity and those that it carries; then the halves below the diagonal; less given derivatives."""
        r, places = self.r, self.places
        for a in r.range(self.n):
            for b in r.together(places.below.at(a), places.end.at(a)):
                S, x, y = self.S.get(a + 1), self.motion.get(a + 1), self.response.get(b + 1)
                d = self.frame.get(b + 1).o - self.frame.get(a + 1).o
                arm = S.linear + cross(S.angular, d)
                if M:
                    M[a, b] = dot(arm, y.P) + dot(S.angular, y.H)
                self.dq[a, b] = self.sign * (dot(arm, y.of_q[0]) + dot(S.angular, y.of_q[1]))
                self.dv[a, b] = self.sign * (dot(arm, y.of_v[0]) + dot(S.angular, y.of_v[1]))
                self.dq_below[a, b], self.dv_below[a, b] = self._below(S, x, y, d)
        self._own(M)
        clear_unrelated(r, places, self.dq, self.dv, self.dq_below, self.dv_below, *([M] if M else []))
        self.dq.mirror(self.dq_below)
        self.dv.mirror(self.dv_below)
        if M:
            M.mirror()
        for matrix, name, given in zip((self.dq, self.dv), ("slope_q", "slope_v"), slopes or (), strict=False):
            matrix.add(name, -self.sign * given, places.order)

    def filled(self, slopes: tuple[Vec, Vec] | None) -> list[list[bool]]:
        """For each place of ∂τ/∂q and ∂τ/∂v whether one of them may hold something: where one velocity carries the
        other, or given derivatives do."""
        carries: list[set[int]] = []  # for each velocity, in the order of the slots, those that carry it and itself
        of_element: list[set[int]] = []
        for e in self.tree.elements:
            own = {*range(len(carries), len(carries) + len(e.v))}
            of_element.append(own if e.parent == GROUND else own | of_element[e.parent])
            carries += [of_element[-1]] * len(e.v)
        order = self.places.order
        given = [[any(not is_zero(x[a][b]) for x in slopes or ()) for b in order] for a in order]
        pairs = range(self.n)
        return [[b in carries[a] or a in carries[b] or given[a][b] for b in pairs] for a in pairs]

    def _below(self, S: Twist, x: TangentMotion, y: TangentForce, d: Vec) -> tuple[Scalar, Scalar]:
        """∂τ_b/∂q_a and ∂τ_b/∂v_a."""
        q, v = moved_to(x.second, d), moved_to(x.both, d)
        by_q = dot(x.rate, y.turn) + dot(q.linear, y.P) + dot(q.angular, y.H)
        by_v = dot(S.angular, y.turn) + dot(v.linear, y.P) + dot(v.angular, y.H)
        return self.sign * by_q, self.sign * by_v

    def _own(self, M: Matrix | None) -> None:
        """The velocities of one element, each with each."""
        for i, e in self.each():
            s, first = self.slot(i), self.first(i)
            for a in range(len(e.v)):
                S, x = self.S.get(s + a), self.motion.get(s + a)
                for b in range(len(e.v)):
                    y = self.response.get(s + b)
                    by_q, by_v = self._below(S, x, y, ORIGIN)
                    q, v, at = (self.dq_below, self.dv_below, (a, b)) if a < b else (self.dq, self.dv, (b, a))
                    q[first + at[0], first + at[1]] = by_q
                    v[first + at[0], first + at[1]] = by_v
                    if M and a <= b:
                        metric = dot(S.linear, y.P) + dot(S.angular, y.H)
                        M[first + a, first + b] = metric + e.armature[a] if a == b else metric


def _sum(units: Sequence[Twist], values: Any) -> Twist:
    found = AT_REST
    for k, unit in enumerate(units):
        found = plus(found, Twist(values[k] * unit.linear, values[k] * unit.angular))
    return found


def packed(body: Inertia) -> tuple[Scalar, Vec, Vec]:
    """The numbers of a body, those of Σ once."""
    return body.mass, body.first, half(body.second)


def unpacked(numbers: tuple[Scalar, Vec, Vec]) -> Inertia:
    """The body of these numbers."""
    m, h, s = numbers
    return Inertia(m, h, whole(s))
