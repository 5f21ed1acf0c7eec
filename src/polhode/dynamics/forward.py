"""Forward dynamics by articulated bodies (Featherstone), link frames, 3×3 blocks.

An articulated inertia takes an acceleration (a, α) of an element's origin to the force (f, n) at it:
f = A a + B α + p_f, n = Bᵀ a + C α + p_n.
"""

from typing import NamedTuple

from polhode.dynamics.inverse import Wrenches, acceleration_matrix, axial
from polhode.dynamics.kinematics import Twist, joint_velocity, placement, unit_twists
from polhode.model import Tree
from polhode.model.tree import GROUND, ORIGIN
from polhode.quaternion import skew
from polhode.scalar import Scalar, Vec, cross, diagonal, dot, identity, inverse3, outer, trace, vec
from polhode.spatial import Inertia, Placement


class Articulated(NamedTuple):
    """The blocks of an articulated inertia and its bias force."""

    A: Vec
    B: Vec
    C: Vec
    f: Vec
    n: Vec


class Solved(NamedTuple):
    """What the last sweep needs of an element: U = I S per velocity, the inverse of D = Sᵀ I S, u."""

    U: list[tuple[Vec, Vec]]
    Dinv: Vec
    u: Vec


def rigid(body: Inertia, omega: Vec, wrench: tuple[Vec, Vec] | None) -> Articulated:
    """A body alone: its own inertia, and the forces of its turning less those that act on it."""
    K = acceleration_matrix(omega, ORIGIN)
    f, n = K @ body.first, axial(K @ body.second)
    if wrench:
        f, n = f - wrench[0], n - wrench[1]
    J = trace(body.second) * identity(3) - body.second
    return Articulated(body.mass * identity(3), -skew(body.first), J, f, n)


def joined(a: Articulated, b: Articulated) -> Articulated:
    """Two articulated bodies on one frame."""
    return Articulated(*(x + y for x, y in zip(a, b, strict=True)))


def seen_from_parent(x: Articulated, at: Placement) -> Articulated:
    """The same at the parent's origin, in the parent's axes."""
    R, r = at.R, skew(at.r)
    A, B, C = (R @ block @ R.T for block in (x.A, x.B, x.C))
    f = R @ x.f
    Ar = A @ r
    return Articulated(A, B - Ar, C - B.T @ r + r @ (B - Ar), f, R @ x.n + cross(at.r, f))


def release(x: Articulated, motions: list[Twist], armature: Vec, tau: Vec, c: Twist) -> tuple[Articulated, Solved]:
    """The articulated inertia behind a joint, free along its unit motions; c is its velocity-product acceleration."""
    U = [(x.A @ m.linear + x.B @ m.angular, x.B.T @ m.linear + x.C @ m.angular) for m in motions]
    D = Vec([Vec([dot(m.linear, Uf) + dot(m.angular, Un) for Uf, Un in U]) for m in motions])
    D = D + diagonal(armature)
    Dinv = inverse3(D) if len(motions) == 3 else vec(vec(1 / D[0][0]))
    u = Vec([t - dot(m.linear, x.f) - dot(m.angular, x.n) for t, m in zip(tau, motions, strict=True)])
    A, B, C = x.A, x.B, x.C
    g = Dinv @ u
    f, n = x.f, x.n
    for j, (Uf, Un) in enumerate(U):
        Wf, Wn = _combined(U, Dinv[j])
        A, B, C = A - outer(Uf, Wf), B - outer(Uf, Wn), C - outer(Un, Wn)
        f, n = f + g[j] * Uf, n + g[j] * Un
    f = f + A @ c.linear + B @ c.angular
    n = n + B.T @ c.linear + C @ c.angular
    return Articulated(A, B, C, f, n), Solved(U, Dinv, u)


def _combined(U: list[tuple[Vec, Vec]], weights: Vec) -> tuple[Vec, Vec]:
    f, n = weights[0] * U[0][0], weights[0] * U[0][1]
    for weight, (Uf, Un) in zip(weights[1:], U[1:], strict=True):
        f, n = f + weight * Uf, n + weight * Un
    return f, n


class Sweep(NamedTuple):
    """Everything known after the two inner passes."""

    at: list[Placement]
    c: list[Twist]
    solved: list[Solved | None]


def articulate(tree: Tree, q: Vec, v: Vec, tau: Vec, wrenches: Wrenches | None) -> Sweep:
    """Passes 1 and 2: velocities outward, articulated inertias inward."""
    at: list[Placement] = []
    omega: list[Vec] = []
    c: list[Twist] = []
    bodies: list[Articulated] = []
    # pass 1, root to leaves: velocities and velocity-product accelerations
    for i, e in enumerate(tree.elements):
        at.append(placement(e, q))
        own = joint_velocity(e, v)
        omega_p = omega[e.parent] if e.parent != GROUND else ORIGIN
        outer_ = at[i].R.T @ omega_p
        omega.append(outer_ + own.angular)
        turning = at[i].R.T @ cross(omega_p, cross(omega_p, at[i].r)) + 2 * cross(outer_, own.linear)
        c.append(Twist(turning, cross(outer_, own.angular)))
        bodies.append(rigid(e.inertia, omega[i], wrenches.get(i) if wrenches else None))
    # pass 2, leaves to root: articulated inertias
    solved: list[Solved | None] = [None] * len(at)
    for i in reversed(range(len(at))):
        e, x = tree.elements[i], bodies[i]
        if e.v:
            x, solved[i] = release(x, unit_twists(e), e.armature, Vec([tau[a] for a in e.v]), c[i])
        else:
            A, B, C = x.A, x.B, x.C
            f = x.f + A @ c[i].linear + B @ c[i].angular
            x = Articulated(A, B, C, f, x.n + B.T @ c[i].linear + C @ c[i].angular)
        if e.parent != GROUND:
            bodies[e.parent] = joined(bodies[e.parent], seen_from_parent(x, at[i]))
    return Sweep(at, c, solved)


def forward_dynamics(tree: Tree, q: Vec, v: Vec, tau: Vec, wrenches: Wrenches | None = None) -> Vec:
    """Accelerations v̇ of M v̇ + Γ v v + gravity = τ + wrenches; no joint springs."""
    sweep = articulate(tree, q, v, tau, wrenches)
    vd: list[Scalar] = [0.0] * tree.nv
    a: list[Twist] = []
    # pass 3, root to leaves: accelerations
    for i, e in enumerate(tree.elements):
        up = a[e.parent] if e.parent != GROUND else Twist(-tree.gravity, ORIGIN)
        back = sweep.at[i].R.T
        linear = back @ (up.linear + cross(up.angular, sweep.at[i].r)) + sweep.c[i].linear
        angular = back @ up.angular + sweep.c[i].angular
        found = sweep.solved[i]
        if found:
            outside = Vec([dot(Uf, linear) + dot(Un, angular) for Uf, Un in found.U])
            own = found.Dinv @ (found.u - outside)
            for k, (value, motion) in enumerate(zip(own, unit_twists(e), strict=True)):
                vd[e.v[k]] = value
                linear, angular = linear + value * motion.linear, angular + value * motion.angular
        a.append(Twist(linear, angular))
    return Vec(vd)
