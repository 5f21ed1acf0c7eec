"""Forward dynamics by articulated bodies (Featherstone), link frames, 3×3 blocks.

An articulated inertia takes an acceleration (a, α) of an element's origin to the force (f, n) at it:
f = A a + B α, n = Bᵀ a + C α. It knows no velocities: what the motion needs at v̇ = 0 is found as in inverse
dynamics, and the articulated bodies answer to what is left of τ, and to gravity.
"""

from collections.abc import Sequence
from typing import NamedTuple

from polhode.dynamics import inertia
from polhode.dynamics.coupled_inertia import is_coupled
from polhode.dynamics.inverse import Carried, Wrenches, ground, handed, inverse_dynamics, outward
from polhode.dynamics.kinematics import unit_twists
from polhode.model.tree import GROUND, Tree
from polhode.quaternion import skew
from polhode.scalar import Scalar, Vec, cross, diagonal, dot, identity, inverse3, outer, trace, vec
from polhode.spatial import ORIGIN, Inertia, Placement, Twist, congruence, symmetric, turned

UNITS = identity(3)


class Articulated(NamedTuple):
    """The blocks of an articulated inertia; A and C are symmetric."""

    A: Vec
    B: Vec
    C: Vec


class Released(NamedTuple):
    """What a joint leaves for the sweeps of forces and accelerations: U = I S per velocity, (Sᵀ I S + armature)⁻¹."""

    motions: Sequence[Twist]
    U: list[tuple[Vec, Vec]]
    Dinv: Vec


def rigid(body: Inertia) -> Articulated:
    """A body alone."""
    J = trace(body.second) * UNITS - body.second
    return Articulated(body.mass * UNITS, -skew(body.first), J)


def joined(a: Articulated, b: Articulated) -> Articulated:
    """Two articulated bodies on one frame."""
    return Articulated(a.A + b.A, a.B + b.B, a.C + b.C)


def seen_from_parent(x: Articulated, at: Placement) -> Articulated:
    """The same at the parent's origin, in the parent's axes."""
    R = at.R
    return shifted(Articulated(congruence(R, x.A), turned(R, x.B), congruence(R, x.C)), at.r)


def shifted(x: Articulated, d: Vec) -> Articulated:
    """The same about a point from which its former origin lies at d."""
    (A, B, C), r = x, skew(d)
    B_p = B - A @ r
    return Articulated(A, B_p, symmetric(C + (r @ B).T + r @ B_p))


def release(x: Articulated, motions: Sequence[Twist], armature: Vec) -> tuple[Articulated, Released]:
    """The articulated inertia behind a joint, free along its unit motions."""
    joint = response(x, motions, armature)
    free = yielded(x, joint)
    if len(motions) == 1:
        free = _without(free, motions[0], joint.U[0], armature[0] * joint.Dinv[0][0])
    return free, joint


def response(x: Articulated, motions: Sequence[Twist], armature: Vec) -> Released:
    """How a joint on an articulated body answers to forces."""
    U = [(x.A @ m.linear + x.B @ m.angular, x.B.T @ m.linear + x.C @ m.angular) for m in motions]
    D = Vec([Vec([dot(m.linear, Uf) + dot(m.angular, Un) for Uf, Un in U]) for m in motions]) + diagonal(armature)
    return Released(motions, U, small_inverse(D))


def yielded(x: Articulated, joint: Released) -> Articulated:
    """I − U D⁻¹ Uᵀ, all about one point: what a joint that yields leaves of an articulated inertia."""
    A, B, C = x
    for j, (Uf, Un) in enumerate(joint.U):
        Wf, Wn = _combined(joint.U, joint.Dinv[j])
        A, B, C = A - outer(Uf, Wf), B - outer(Uf, Wn), C - outer(Un, Wn)
    return Articulated(symmetric(A), B, symmetric(C))


def small_inverse(D: Vec) -> Vec:
    """The inverse of a symmetric, positive definite matrix of a few rows, written out."""
    if len(D) == 1:
        return vec(vec(1 / D[0][0]))
    if len(D) == 3:
        return inverse3(D)
    rows = [[*row, *unit] for row, unit in zip(D, identity(len(D)), strict=True)]
    for k, pivot in enumerate(rows):
        pivot[:] = [x / pivot[k] for x in pivot]
        for i, row in enumerate(rows):
            if i != k:
                row[:] = [x - row[k] * y for x, y in zip(row, pivot, strict=True)]
    return Vec([Vec(row[len(D) :]) for row in rows])


def _without(x: Articulated, motion: Twist, U: tuple[Vec, Vec], left: Scalar) -> Articulated:
    """The same with I S = left · U, as it is but for rounding: exact, and 0 without armature.

    Only along a coordinate axis, where these are whole rows and columns.
    """
    (A, B, C), (Uf, Un) = x, U
    for i, unit in enumerate(UNITS):
        if _is(motion, ORIGIN, unit):
            return Articulated(A, _column(B, i, left * Uf), symmetric(_crossed(C, i, left * Un)))
        if _is(motion, unit, ORIGIN):
            return Articulated(symmetric(_crossed(A, i, left * Uf)), _column(B.T, i, left * Un).T, C)
    return x


def _is(motion: Twist, linear: Vec, angular: Vec) -> bool:
    """Whether a unit motion is known to be this one."""
    numbers = (*motion.linear, *motion.angular)
    return all(isinstance(x, float) for x in numbers) and numbers == (*linear, *angular)


def _column(M: Vec, i: int, column: Vec) -> Vec:
    return Vec([Vec((*row[:i], x, *row[i + 1 :])) for row, x in zip(M, column, strict=True)])


def _crossed(M: Vec, i: int, column: Vec) -> Vec:
    """With this row and column in the place of the i-th."""
    return _column(_column(M, i, column).T, i, column)


def _combined(U: Sequence[tuple[Vec, Vec]], weights: Vec) -> tuple[Vec, Vec]:
    f, n = weights[0] * U[0][0], weights[0] * U[0][1]
    for weight, (Uf, Un) in zip(weights[1:], U[1:], strict=True):
        f, n = f + weight * Uf, n + weight * Un
    return f, n


def left_over(joint: Released, tau: Vec, f: Vec, n: Vec) -> tuple[Vec, tuple[Vec, Vec]]:
    """The step of a force to the root: what is left of a joint's own, and what it hands on."""
    u = Vec([t - dot(m.linear, f) - dot(m.angular, n) for t, m in zip(tau, joint.motions, strict=True)])
    Uf, Un = _combined(joint.U, joint.Dinv @ u)
    return u, (f + Uf, n + Un)


def follow(joint: Released | None, at: Placement, u: Vec, up: Twist) -> tuple[Vec, Twist]:
    """The step of an acceleration from the root: that of a joint, and that of its element."""
    back = at.R.T
    linear, angular = back @ (up.linear + cross(up.angular, at.r)), back @ up.angular
    if not joint:
        return Vec(), Twist(linear, angular)
    outside = Vec([dot(Uf, linear) + dot(Un, angular) for Uf, Un in joint.U])
    own = joint.Dinv @ (u - outside)
    for value, motion in zip(own, joint.motions, strict=True):
        linear, angular = linear + value * motion.linear, angular + value * motion.angular
    return own, Twist(linear, angular)


def forward_dynamics(tree: Tree, q: Vec, v: Vec, tau: Vec, wrenches: Wrenches | None = None) -> Vec:
    """Accelerations v̇ of M v̇ + Γ v v + gravity = τ + wrenches; no joint springs.

    Where force elements couple bodies, or elements share velocities, there are no articulated bodies: by factors of
    the mass matrix.
    """
    if tree.shares or is_coupled(tree):
        L, D = inertia.factor(tree, inertia.mass_matrix(tree, q))
        still = Vec([0.0] * tree.nv)
        return inertia.solve_factored(tree, L, D, tau - inverse_dynamics(tree, q, v, still, wrenches=wrenches))
    at: list[Placement] = []
    moving: list[Carried] = []
    forces: list[tuple[Vec, Vec]] = []
    still = Vec([0.0] * tree.nv)
    # pass 1, root to leaves: the motion at v̇ = 0 without gravity, and what its bodies need
    for i, e in enumerate(tree.elements):
        parent = moving[e.parent] if e.parent != GROUND else ground(ORIGIN)
        step = outward(e, q, v, still, parent, wrenches.get(i) if wrenches else None)
        for found, value in zip((at, moving, forces), step, strict=True):
            found.append(value)  # type: ignore[attr-defined]
    # pass 2, leaves to root: articulated inertias, and the force that each joint has left
    bodies = [rigid(e.inertia) for e in tree.elements]
    joints: list[Released | None] = [None] * len(at)
    u = [vec()] * len(at)
    for i in reversed(range(len(at))):
        e, x, (f, n) = tree.elements[i], bodies[i], forces[i]
        if e.v:
            x, joint = release(x, unit_twists(e, q), e.armature)
            u[i], (f, n) = left_over(joint, Vec([tau[a] for a in e.v]), f, n)
            joints[i] = joint
        if (p := e.parent) != GROUND:
            bodies[p] = joined(bodies[p], seen_from_parent(x, at[i]))
            f_p, n_p = handed(at[i], f, n)
            forces[p] = forces[p][0] + f_p, forces[p][1] + n_p
    # pass 3, root to leaves: the accelerations that this leaves, and gravity
    vd: list[Scalar] = [0.0] * tree.nv
    a: list[Twist] = []
    for i, e in enumerate(tree.elements):
        own, twist = follow(joints[i], at[i], u[i], a[e.parent] if e.parent != GROUND else Twist(-tree.gravity, ORIGIN))
        a.append(twist)
        for k, value in zip(e.v, own, strict=True):
            vd[k] = value
    return Vec(vd)
