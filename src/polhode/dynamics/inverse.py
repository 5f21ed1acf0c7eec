"""Inverse dynamics: what a motion needs, by recursion over the tree (Newton–Euler, link frames).

3-vectors in the frame of each element; a body is m, h = ∫ρ dm and Σ = ∫ρ ρᵀ dm about its origin. With
K = α̃ + ω̃ ω̃ the acceleration of a point ρ is a + K ρ, so a body needs the force m a + K h and the
moment h × a + axial(K Σ).
"""

from collections.abc import Mapping
from typing import NamedTuple

from polhode.dynamics.kinematics import Twist, joint_velocity, placement
from polhode.model import Element, Tree
from polhode.model.tree import GROUND, ORIGIN
from polhode.scalar import Scalar, Vec, cross, diagonal, dot, vec
from polhode.spatial import Inertia, Placement

Wrenches = Mapping[int, tuple[Vec, Vec]]
"""Force and couple on elements, in their own axes, at their own origins."""


class Carried(NamedTuple):
    """How an element moves, in its own axes: angular velocity, acceleration of the origin, K = α̃ + ω̃ ω̃."""

    omega: Vec
    a: Vec
    alpha: Vec
    K: Vec


def acceleration_matrix(omega: Vec, alpha: Vec) -> Vec:
    """K = α̃ + ω̃ ω̃ = α̃ + ω ωᵀ − (ω·ω) I."""
    (w1, w2, w3), (a1, a2, a3) = omega, alpha
    w11, w22, w33 = w1 * w1, w2 * w2, w3 * w3
    w12, w13, w23 = w1 * w2, w1 * w3, w2 * w3
    return vec(
        vec(-(w22 + w33), w12 - a3, w13 + a2),
        vec(w12 + a3, -(w11 + w33), w23 - a1),
        vec(w13 - a2, w23 + a1, -(w11 + w22)),
    )


def axial(A: Vec) -> Vec:
    """The vector ∫ρ × Kρ dm of a matrix A = K Σ."""
    return vec(A[2][1] - A[1][2], A[0][2] - A[2][0], A[1][0] - A[0][1])


def carry(e: Element, at: Placement, parent: Carried, own: Twist, own_rate: Twist) -> Carried:
    """One step from the root: the motion of an element from its parent's."""
    back = at.R.T
    omega_p = back @ parent.omega
    omega = omega_p + own.angular
    alpha = back @ parent.alpha + cross(omega_p, own.angular) + own_rate.angular
    a = back @ (parent.a + parent.K @ at.r) + 2 * cross(omega_p, own.linear) + own_rate.linear
    return Carried(omega, a, alpha, acceleration_matrix(omega, alpha))


def needed(body: Inertia, moving: Carried) -> tuple[Vec, Vec]:
    """Force and moment that a body needs, in its own axes, at its own origin."""
    f = body.mass * moving.a + moving.K @ body.first
    return f, cross(body.first, moving.a) + axial(moving.K @ body.second)


def joint_force(e: Element, f: Vec, n: Vec) -> Vec:
    """What the joint must give along its own velocities."""
    if e.kind == "ball":
        return n
    if e.kind == "fixed":
        return Vec()
    if e.kind == "prismatic":
        return vec(dot(e.axis, f))
    along = dot(e.axis, n)
    return vec(along + e.pitch * dot(e.axis, f) if e.kind == "screw" else along)


def inverse_dynamics(
    tree: Tree, q: Vec, v: Vec, vd: Vec, gravity: Vec | None = None, wrenches: Wrenches | None = None
) -> Vec:
    """Generalised force of a motion: inertia, Coriolis and gravity, less given wrenches; no joint springs.

        τ = M v̇ + Γ v v + gravity − wrenches                                   Zoric (104), (109)

    gravity   in its place, the tree's own unless given
    """
    g = tree.gravity if gravity is None else gravity
    ground = Carried(ORIGIN, -g, ORIGIN, diagonal(ORIGIN))
    at: list[Placement] = []
    moving: list[Carried] = []
    force: list[tuple[Vec, Vec]] = []
    # pass 1, root to leaves: how each element moves, and what its body needs
    for i, e in enumerate(tree.elements):
        at.append(placement(e, q))
        parent = moving[e.parent] if e.parent != GROUND else ground
        moving.append(carry(e, at[i], parent, joint_velocity(e, v), joint_velocity(e, vd)))
        f, n = needed(e.inertia, moving[i])
        if wrenches and i in wrenches:
            f, n = f - wrenches[i][0], n - wrenches[i][1]
        force.append((f, n))
    # pass 2, leaves to root: what each joint must carry
    tau: list[Scalar] = [0.0] * tree.nv
    for i in reversed(range(len(tree.elements))):
        e, (f, n) = tree.elements[i], force[i]
        for a, value in zip(e.v, joint_force(e, f, n), strict=True):
            tau[a] = value
        if e.parent != GROUND:
            f_p = at[i].R @ f
            F, N = force[e.parent]
            force[e.parent] = F + f_p, N + at[i].R @ n + cross(at[i].r, f_p)
    for e in tree.elements:
        for a, armature in zip(e.v, e.armature, strict=True):
            tau[a] = tau[a] + armature * vd[a]
    return Vec(tau)
