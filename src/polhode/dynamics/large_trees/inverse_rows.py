"""M⁻¹ from articulated bodies, row by row, in loops: to the root and back (CarpentierInverse)."""

from typing import Any

from polhode.dynamics import forward
from polhode.dynamics.large_trees.derivative_passes import DerivativePasses
from polhode.dynamics.large_trees.subtree_rows import Columns, clear_unrelated, half, whole
from polhode.dynamics.spatial_vectors import NO_FORCE, SYMMETRIC, moved_to, plus
from polhode.model.joints.base import Element
from polhode.model.tree import GROUND, Tree
from polhode.scalar import Vec, cross, dot, identity
from polhode.spatial import AT_REST, Inertia, Placement, Twist


class InverseRows:
    """M⁻¹ from articulated bodies, row by row: CarpentierInverse."""

    def __init__(self, p: DerivativePasses, tau: Any) -> None:
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
