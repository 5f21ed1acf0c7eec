"""Derivatives of inverse and forward dynamics by recursion over the tree, in loops.

World axes; what belongs to an element is about its own origin o, velocities and accelerations are those of a frame at
rest there (spatial vectors). With a ≼ b meaning "a carries b", for unit motions S that are constant in their
element (Singh (2022), after Carpentier (2018)):

    Ψ̇ = v_p × S,  Ψ̈ = a_p × S + v_p × Ψ̇,  Φ = Ψ̇ + v × S                                        p: the parent
    ∂τ_b/∂q_a = S_bᵀ(2B_b Ψ̇_a + I_b Ψ̈_a),  ∂τ_b/∂v_a = S_bᵀ(2B_b S_a + I_b Φ_a)                  a ≼ b
    ∂τ_a/∂q_b = S_aᵀ(2B_b Ψ̇_b + I_b Ψ̈_b + S_b ×* f_b),  ∂τ_a/∂v_b = S_aᵀ(2B_b S_b + I_b Φ_b)      a ≺ b

I, f: inertia of a composite and the force that it needs. 2B of a motion (l, w) is (2 w × k, 2 (tr β − βᵀ) w) with
k = ∫ṙ dm, β = ∫r ṙᵀ dm. M⁻¹ comes from articulated bodies, row by row, to the root and back (CarpentierInverse).

Every velocity has a slot, numbered depth first, from 1; slot 0 is the ground's. The numbers of an element stand in all
its slots, so that what is done for each velocity alone is one loop whose passes know nothing of each other.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

from polhode.dynamics import forward
from polhode.dynamics.inertia import impulse
from polhode.dynamics.kinematics import placement, unit_twists
from polhode.dynamics.loops import ElementTables
from polhode.dynamics.spatial_vectors import NO_FORCE, SYMMETRIC, motion_cross, moved_to, needed, plus
from polhode.dynamics.subtree_rows import (
    Columns,
    Matrix,
    Subtrees,
    clear_unrelated,
    depth_first,
    half,
    shifted,
    turned,
    whole,
)
from polhode.model.joints.base import Element
from polhode.model.tree import GROUND, Tree
from polhode.quaternion import skew
from polhode.scalar import Loops, Scalar, Vec, cross, dot, flat, identity, loops_for, outer, shaped, trace
from polhode.spatial import AT_REST, ORIGIN, WORLD_FRAME, Frame, Inertia, Placement, Twist, joined


def applies(tree: Tree) -> bool:
    """Whether the unit motions of all elements are constant in their axes."""
    return all(e.kind.constant or not e.v for e in tree.elements)


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


class _Numbers:
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


class _Passes:
    """The arrays of one routine, and the passes over them."""

    def __init__(self, r: Loops, tree: Tree, q: Vec, v: Vec, sign: float) -> None:
        self.r, self.tree, self.n, self.sign = r, tree, tree.nv, sign
        self.rows, self.places = ElementTables(r, tree), Subtrees.of(r, tree)
        starts = [*accumulate((len(e.v) for e in tree.elements), initial=1)]
        self._up = r.lookup("up", [0 if e.parent == GROUND else starts[e.parent] for e in tree.elements])
        self.inertia = _Numbers(r, "inertias", [e.inertia for e in tree.elements for _ in e.v])
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
            d = up.R @ at.r
            self.put(self.frame, i, e, Frame(up.R @ at.R, up.o + d))
            units = self.motions(i, e)
            v_p, own = moved_to(self.v.get(self.up(i)), d), _sum(units, rows.of_v(self.V, i))
            v, a_p = plus(v_p, own), moved_to(self.a.get(self.up(i)), d)
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
            self.body.put(s, _packed(body))
            self.composite.put(s, _packed(body))
            self.flow.put(s, flow(body, v))
            self.force.put(s, needed(body, v, self.a.get(s)))
            yield s, body

    def gather(self, i: Any, e: Element, d: Vec) -> None:
        """One step to the root of composites and their flow; what they are stays in the element's slots."""
        s, up = self.slot(i), self.up(i)
        body, moving, old = _unpacked(self.composite.get(s)), self.flow.get(s), self.flow.get(up)
        self.composite.put(up, _packed(joined(_unpacked(self.composite.get(up)), shifted(body, d))))
        self.flow.put(up, Flow(old.k + moving.k, old.beta + moving.beta + outer(d, moving.k)))
        for k in range(1, len(e.v)):
            self.composite.put(s + k, _packed(body))
            self.flow.put(s + k, moving)

    def hand_on(self, i: Any, e: Element, d: Vec) -> None:
        """One step to the root of forces."""
        s, up = self.slot(i), self.up(i)
        (f, n), (F, N) = self.force.get(s), self.force.get(up)
        self.force.put(up, (F + f, N + n + cross(d, f)))
        for k in range(1, len(e.v)):
            self.force.put(s + k, (f, n))

    def tangents(self, more: "_Inverse | None" = None) -> None:
        """Each slot: the changes of its unit motion; more: the accelerations that forces and gravity give, too."""
        for s in self.slots():
            a_p = self.a_p.get(s)
            if more:
                a_p = plus(a_p, more.answer_p.get(s))
                (f, n), (df, dn) = self.force.get(s), impulse(_unpacked(self.body.get(s)), more.answer.get(s))
                self.force.put(s, (f + df, n + dn))
            self.motion.put(s, tangent_motion(self.S.get(s), self.v_p.get(s), a_p, self.v.get(s)))

    def responses(self) -> None:
        """Each slot: what its velocity asks of its composite."""
        for s in self.slots():
            body, x = _unpacked(self.composite.get(s)), self.motion.get(s)
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


def _packed(body: Inertia) -> tuple[Scalar, Vec, Vec]:
    return body.mass, body.first, half(body.second)


def _unpacked(numbers: tuple[Scalar, Vec, Vec]) -> Inertia:
    m, h, s = numbers
    return Inertia(m, h, whole(s))


class _Inverse:
    """M⁻¹ from articulated bodies, row by row: CarpentierInverse."""

    def __init__(self, p: _Passes, tau: Any) -> None:
        r, tree = p.r, p.tree
        self.p, self.tau, self.rows = p, tau, p.matrix("inverse")
        self.articulated = Columns(r, "articulated", p.n + 1, (SYMMETRIC, identity(3), SYMMETRIC))
        self.left = Columns(r, "left", p.n + 1, NO_FORCE)
        self.joint = Columns(r, "joint", p.n + 1, _kept(max(len(e.v) for e in tree.elements)))
        self.answer, self.answer_p = Columns(r, "answer", p.n + 1, AT_REST), Columns(r, "answer_p", p.n + 1, AT_REST)
        self.carried = Columns(r, "carried", p.n, NO_FORCE)
        self.articulated.clear(0)
        self.left.clear(0)
        clear_unrelated(r, p.places, self.rows)
        before, after, most = moving_places(tree)
        self.moving, step = r.array("moving", most * 6 * p.n), 6 * p.n
        self.before = r.lookup("before", [step * x for x in before])
        self.after = r.lookup("after", [step * x for x in after])

    def begin(self, s: Any, body: Inertia) -> None:
        """The articulated body of a slot is its own, and its force."""
        A, B, C = forward.rigid(body)
        self.articulated.put(s, (half(A), B, half(C)))
        self.left.put(s, self.p.force.get(s))

    def inward(self, i: Any, e: Element, d: Vec) -> None:
        """One step to the root: what a joint releases, and its rows of M⁻¹ as long as its parent is held."""
        p, s, up, size = self.p, self.p.slot(i), self.p.up(i), len(e.v)
        A, B, C = self.articulated.get(s)
        x, joint = forward.release(forward.Articulated(whole(A), B, whole(C)), p.motions(i, e), e.armature)
        own = p.rows.of_v(self.tau, i)
        u, (f, n) = forward.left_over(joint, Vec([own[k] for k in range(size)]), *self.left.get(s))
        self.joint.put(s, (joint.U, joint.Dinv, u))
        (A, B, C), old = forward.shifted(x, d), self.articulated.get(up)
        self.articulated.put(up, (old[0] + half(A), old[1] + B, old[2] + half(C)))
        F, N = self.left.get(up)
        self.left.put(up, (F + f, N + n + cross(d, f)))
        first = p.first(i)
        for b in range(size):
            column = Vec([joint.Dinv[a][b] for a in range(size)])
            for a in range(size):
                self.rows[first + a, first + b] = column[a]
            self._hand_on(first + b, joint, column, NO_FORCE, d)
        for c in p.r.together(first + size, p.places.last.at(i)):
            f, n = self.carried.get(c)
            column = -(joint.Dinv @ Vec([dot(m.linear, f) + dot(m.angular, n) for m in joint.motions]))
            for a in range(size):
                self.rows[first + a, c] = column[a]
            self._hand_on(c, joint, column, (f, n), d)

    def _hand_on(self, c: Any, joint: forward.Released, column: Vec, force: tuple[Vec, Vec], d: Vec) -> None:
        f, n = force
        for value, (Uf, Un) in zip(column, joint.U, strict=True):
            f, n = f + value * Uf, n + value * Un
        self.carried.put(c, (f, n + cross(d, f)))

    def outward(self, i: Any, e: Element, d: Vec) -> None:
        """One step from the root: the acceleration that forces and gravity give; the rows of M⁻¹."""
        p, s, units = self.p, self.p.slot(i), self.p.motions(i, e)
        joint_like = _kept(len(e.v))
        U, Dinv, u = self.joint.get(s, joint_like)
        above = self.answer.get(p.up(i))
        _, a = forward.follow(forward.Released(units, U, Dinv), Placement(identity(3), d), u, above)
        p.put(self.answer, i, e, a)
        p.put(self.answer_p, i, e, moved_to(above, d))
        first = p.first(i)
        for c in p.r.together(first, p.n):
            m = moved_to(_twist(self.moving, self.before.at(i) + c, p.n), d)
            less = Dinv @ Vec([dot(Uf, m.linear) + dot(Un, m.angular) for Uf, Un in U])
            for k, unit in enumerate(units):
                value = self.rows[first + k, c] - less[k]
                self.rows[first + k, c] = value
                m = plus(m, Twist(value * unit.linear, value * unit.angular))
            for k, value in enumerate((*m.linear, *m.angular)):
                self.moving[self.after.at(i) + c + k * p.n] = value


def _kept(dofs: int) -> tuple[list[tuple[Vec, Vec]], Vec, Vec]:
    """U, D⁻¹ and u of this many velocities, for their shapes."""
    return [NO_FORCE] * dofs, identity(dofs), Vec([0.0] * dofs)


def _twist(memory: Any, at: Any, n: int) -> Twist:
    x = [memory[at + k * n] for k in range(6)]
    return Twist(Vec(x[:3]), Vec(x[3:]))


def moving_places(tree: Tree) -> tuple[list[int], list[int], int]:
    """Places for what elements hand on to those they carry: where each reads, where it writes, and how many there are.

    The last that reads a place may write it.
    """
    last = {e.parent: i for i, e in enumerate(tree.elements)}
    place, free, most = {GROUND: 0}, list[int](), 1
    before, after = [], []
    for i, e in enumerate(tree.elements):
        before.append(place[e.parent])
        if last[e.parent] == i:
            free.append(place.pop(e.parent))
        if not free:
            free.append(most)
            most += 1
        place[i] = free.pop()
        after.append(place[i])
        if i not in last:
            free.append(place.pop(i))
    return before, after, most


def inverse_derivatives(
    tree: Tree, q: Vec, v: Vec, vd: Vec, slopes: tuple[Vec, Vec] | None = None
) -> tuple[Vec, Vec, Vec]:
    """∂τ/∂q along the tangent directions, ∂τ/∂v, M, each nv × nv; of inertia and gravity.

    slopes  derivatives by q and v of other generalised forces that act, nv × nv each
    """
    tree = depth_first(tree)
    with loops_for("inverse_derivatives", (q, v, vd)) as r:
        p, A = _Passes(r, tree, q, v, 1.0), r.given("vd", vd)
        outs, M = _outputs(r, tree.nv), p.matrix("mass")
        p.outward(-tree.gravity, A)
        for _ in p.bodies():
            pass
        p.tangents()
        for i, e in p.each(down=True):
            d = p.step(i)
            p.gather(i, e, d)
            p.hand_on(i, e, d)
        p.responses()
        p.pairs(M, slopes)
        for out, matrix in zip(outs, (p.dq, p.dv, M), strict=True):
            matrix.deliver(out, p.places.order)
    return _squares(r.results(), tree.nv)


def forward_derivatives(
    tree: Tree, q: Vec, v: Vec, tau: Vec, slopes: tuple[Vec, Vec] | None = None
) -> tuple[Vec, Vec, Vec]:
    """∂v̇/∂q along the tangent directions, ∂v̇/∂v, M⁻¹, each nv × nv.

    tau     all generalised forces that act but gravity
    slopes  their derivatives by q and v, nv × nv each
    """
    tree = depth_first(tree)
    with loops_for("forward_derivatives", (q, v, tau)) as r:
        p = _Passes(r, tree, q, v, -1.0)
        inverse, outs = _Inverse(p, r.given("tau", tau)), _outputs(r, tree.nv)
        p.outward(ORIGIN)
        for s, body in p.bodies():
            inverse.begin(s, body)
        for i, e in p.each(down=True):
            d = p.step(i)
            inverse.inward(i, e, d)
            p.gather(i, e, d)
        inverse.answer.put(0, Twist(-tree.gravity, ORIGIN))
        for i, e in p.each():
            inverse.outward(i, e, p.step(i))
        p.tangents(inverse)
        for i, e in p.each(down=True):
            p.hand_on(i, e, p.step(i))
        p.responses()
        p.pairs(None, slopes)
        inverse.rows.mirror()
        for out, matrix in zip(outs[:2], (p.dq, p.dv), strict=True):
            inverse.rows.times(matrix, out, p.places.order)
        inverse.rows.deliver(outs[2], p.places.order)
    return _squares(r.results(), tree.nv)


def coriolis(tree: Tree, q: Vec, v: Vec) -> Vec:
    """The Coriolis matrix C, nv × nv, as `dynamics.covariant`, in loops.

    C[b, a] = S_bᵀ(B_b S_a + I_b Ṡ_a),  C[a, b] = S_aᵀ(B_b S_b + I_b Ṡ_b),  Ṡ = v × S                  a ≼ b
    """
    tree = depth_first(tree)
    n = tree.nv
    with loops_for("coriolis", (q, v)) as r:
        p, out = _Passes(r, tree, q, v, 1.0), r.output("C", n * n, unset=True)
        C, below = p.matrix("whole"), p.matrix("below")
        rate, response = p.columns("rate", AT_REST), p.columns("response", (ORIGIN, ORIGIN, ORIGIN, ORIGIN, ORIGIN))
        p.outward(ORIGIN)
        for _ in p.bodies():
            pass
        for i, e in p.each(down=True):
            p.gather(i, e, p.step(i))
        for s in p.slots():
            S, body, (k, beta) = p.S.get(s), _unpacked(p.composite.get(s)), p.flow.get(s)
            T, change = (trace(beta) * identity(3) - beta.T) / 2, motion_cross(p.v.get(s), S)
            (P, H), (f, m) = impulse(body, S), impulse(body, change)
            rate.put(s, change)
            turn = cross(k, S.linear) / 2 + T.T @ S.angular
            response.put(s, (P, H, turn, f + cross(S.angular, k) / 2, m + T @ S.angular))

        def lower(a: Any, b: Any, d: Vec) -> Scalar:
            (P, H, turn, _, _), change = response.get(b), moved_to(rate.get(a), d)
            return dot(p.S.get(a).angular, turn) + dot(change.linear, P) + dot(change.angular, H)

        for a in r.range(n):
            for b in r.together(p.places.below.at(a), p.places.end.at(a)):
                S, d, (_, _, _, f, m) = p.S.get(a + 1), p.frame.get(b + 1).o - p.frame.get(a + 1).o, response.get(b + 1)
                C[a, b] = dot(S.linear + cross(S.angular, d), f) + dot(S.angular, m)
                below[a, b] = lower(a + 1, b + 1, d)
        for i, e in p.each():
            first, extra = p.first(i), _of_armature(e, p.rows.of_v(p.V, i))
            for a in range(len(e.v)):
                for b in range(len(e.v)):
                    value = lower(p.slot(i) + a, p.slot(i) + b, ORIGIN) + extra[b][a]
                    if a < b:
                        below[first + a, first + b] = value
                    else:
                        C[first + b, first + a] = value
        clear_unrelated(r, p.places, C, below)
        C.mirror(below)
        C.deliver(out, p.places.order)
    found = r.results()
    return Vec([Vec(found[i * n : (i + 1) * n]) for i in range(n)])


def _of_armature(e: Element, v: Any) -> Vec:
    """What armature on a quaternion adds to its block of C."""
    if not e.kind.quaternion:
        return 0.0 * identity(len(e.v))
    return e.armature[0] / 2 * skew(Vec([v[0], v[1], v[2]]))


def _outputs(r: Loops, n: int) -> list[Any]:
    return [r.output(name, n * n, unset=True) for name in ("out_q", "out_v", "out_x")]


def _squares(found: Sequence[Scalar], n: int) -> tuple[Vec, Vec, Vec]:
    rows = [Vec(found[i * n : (i + 1) * n]) for i in range(3 * n)]
    return Vec(rows[:n]), Vec(rows[n : 2 * n]), Vec(rows[2 * n :])
