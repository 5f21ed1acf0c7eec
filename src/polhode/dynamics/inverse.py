"""Inverse dynamics: what a motion needs, by recursion over the tree (Newton–Euler, link frames).

3-vectors in the frame of each element; a body is m, h = ∫ρ dm and Σ = ∫ρ ρᵀ dm about its origin. With
K = α̃ + ω̃ ω̃ the acceleration of a point ρ is a + K ρ, so a body needs the force m a + K h and the
moment h × a + axial(K Σ).
"""

from collections.abc import Mapping
from typing import NamedTuple

from polhode.dynamics.coupled_inertia import is_coupled, needed_wrenches
from polhode.dynamics.kinematics import joint_acceleration, joint_force, joint_velocity, placement
from polhode.model.joints.base import Element
from polhode.model.tree import GROUND, Tree
from polhode.scalar import Scalar, Vec, cross, diagonal, vec
from polhode.spatial import ORIGIN, Inertia, Placement, Twist

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


def axial(omega: Vec, K: Vec, S: Vec) -> Vec:
    """The vector ∫ρ × Kρ dm, the axial part of K Σ; products of inertia meet differences of K's diagonal once."""
    w11, w22, w33 = (w * w for w in omega)
    return vec(
        K[2][0] * S[0][1] + K[2][1] * S[1][1] - (K[1][0] * S[0][2] + K[1][2] * S[2][2]) + (w33 - w22) * S[1][2],
        K[0][1] * S[1][2] + K[0][2] * S[2][2] - (K[2][0] * S[0][0] + K[2][1] * S[0][1]) + (w11 - w33) * S[0][2],
        K[1][0] * S[0][0] + K[1][2] * S[0][2] - (K[0][1] * S[1][1] + K[0][2] * S[1][2]) + (w22 - w11) * S[0][1],
    )


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
    return f, cross(body.first, moving.a) + axial(moving.omega, moving.K, body.second)


def outward(
    e: Element, q: Vec, v: Vec, vd: Vec, parent: Carried, wrench: tuple[Vec, Vec] | None = None
) -> tuple[Placement, Carried, tuple[Vec, Vec]]:
    """The step from the root: where an element is, how it moves, and what its body needs, less a given wrench."""
    at = placement(e, q)
    moving = carry(e, at, parent, joint_velocity(e, q, v), joint_acceleration(e, q, v, vd))
    f, n = needed(e.inertia, moving)
    return at, moving, (f - wrench[0], n - wrench[1]) if wrench else (f, n)


def handed(at: Placement, f: Vec, n: Vec) -> tuple[Vec, Vec]:
    """The step to the root: a force and a moment, in the parent's axes, at the parent's origin."""
    f_p = at.R @ f
    return f_p, at.R @ n + cross(at.r, f_p)


def ground(gravity: Vec) -> Carried:
    """The ground, accelerated against gravity."""
    return Carried(ORIGIN, -gravity, ORIGIN, diagonal(ORIGIN))


def loads(
    tree: Tree, q: Vec, v: Vec, vd: Vec, gravity: Vec | None = None, wrenches: Wrenches | None = None
) -> list[tuple[Vec, Vec]]:
    """What each element is given by its parent: force and moment, in its own axes, at its own origin."""
    root = ground(tree.gravity if gravity is None else gravity)
    if is_coupled(tree):
        wrenches = needed_wrenches(tree, q, v, vd, wrenches)
    at: list[Placement] = []
    moving: list[Carried] = []
    force: list[tuple[Vec, Vec]] = []
    # pass 1, root to leaves: how each element moves, and what its body needs
    for i, e in enumerate(tree.elements):
        parent = moving[e.parent] if e.parent != GROUND else root
        step = outward(e, q, v, vd, parent, wrenches.get(i) if wrenches else None)
        for found, value in zip((at, moving, force), step, strict=True):
            found.append(value)  # type: ignore[attr-defined]
    # pass 2, leaves to root: what each joint must carry
    for i in reversed(range(len(tree.elements))):
        e, (f, n) = tree.elements[i], force[i]
        if e.parent != GROUND:
            (F, N), (f_p, n_p) = force[e.parent], handed(at[i], f, n)
            force[e.parent] = F + f_p, N + n_p
    return force


def inverse_dynamics(
    tree: Tree, q: Vec, v: Vec, vd: Vec, gravity: Vec | None = None, wrenches: Wrenches | None = None
) -> Vec:
    """Generalised force of a motion: inertia, Coriolis and gravity, less given wrenches; no joint springs.

        τ = M v̇ + Γ v v + gravity − wrenches                                   Zoric (104), (109)

    gravity   in its place, the tree's own unless given
    """
    tau: list[Scalar] = [0.0] * tree.nv
    shares = tree.shares
    for e, (f, n) in zip(tree.elements, loads(tree, q, v, vd, gravity, wrenches), strict=True):
        for a, value, armature in zip(e.v, joint_force(e, q, f, n), e.armature, strict=True):
            tau[a] = tau[a] + value + armature * vd[a] if shares else value + armature * vd[a]
    return Vec(tau)
