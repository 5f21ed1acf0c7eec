"""The covariant form of a tree: Christoffel symbols and Coriolis matrix for joints of every kind.

Γ[a, b, g] = ⟨∇_{X_a} X_b, X_g⟩, the Levi-Civita connection in the frame of the velocities. In closed form
each symbol is one dot product: with the unit motions (w, l) at their origins, a ≼ b meaning "a carries b",

    N_bg = ∫ ξ_b × ξ_g dm = Σ_g (w_b × w_g) + t_b × P_g + (w_b × h_g) × l_g       for b ≼ g, N_gb = −N_bg
    Γ[a, b, g] = w_a·N_bg if a ≼ b;  w_b·N_ag if only b ≼ a;  0 if a, b are unrelated

(t_b: velocity of the origin of g by b; P_g: momentum of what g moves; Σ_g, h_g its moments about that
origin). For one-axis joints these are the symbols of the first kind, Zoric (110), (129).
"""

from typing import NamedTuple

from polhode.dynamics.inertia import composites, impulse
from polhode.dynamics.inverse import handed
from polhode.dynamics.kinematics import (
    UnitMotion,
    frames,
    joint_force,
    motion_slots,
    own_coordinates,
    placement,
    slot_motion_rates,
    slot_motions,
    unit_twists,
    velocities,
)
from polhode.model.forces.refused import refuse_coupled_inertia
from polhode.model.tree import GROUND, Tree
from polhode.quaternion import skew
from polhode.scalar import Scalar, Vec, cross, dot, identity, outer, trace
from polhode.spatial import Frame, Inertia, Placement, Twist, moved


class Carrier(NamedTuple):
    """A unit motion b seen from an element it carries: w_b, and the velocity t_b it gives to the origin."""

    dof: int
    w: Vec
    t: Vec
    together: int
    """The element of several velocities (a quaternion), whose axes carry each other; GROUND for all others."""


def carriers_seen(tree: Tree, q: Vec, at: list[Placement]) -> list[list[Carrier]]:
    """For each element, the unit motions that carry it, its own included, in its axes at its origin."""
    found: list[list[Carrier]] = []
    for i, e in enumerate(tree.elements):
        back = at[i].R.T
        above = found[e.parent] if e.parent != GROUND else []
        here = [Carrier(c.dof, back @ c.w, back @ (c.t + cross(c.w, at[i].r)), c.together) for c in above]
        own_axes = i if len(e.v) > 1 else GROUND
        here += [Carrier(a, m.angular, m.linear, own_axes) for a, m in zip(e.v, unit_twists(e, q), strict=True)]
        found.append(here)
    return found


def _refuse(what: str, tree: Tree) -> None:
    refuse_coupled_inertia(what, tree.forces, "Take the bias, which has all of it; or half-bars as mass of beams.")


def christoffel(tree: Tree, q: Vec) -> Vec:
    """Christoffel symbols Γ[a, b, g], nv × nv × nv.                                 BEYOND §§1–2, Zoric (129)

    Symmetric in a, b except inside one quaternion.
    """
    _refuse("Christoffel symbols", tree)
    at = [placement(e, q) for e in tree.elements]
    whole = composites(tree, at)
    n = tree.nv
    G: list[list[list[Scalar]]] = [[[0.0] * n for _ in range(n)] for _ in range(n)]
    for i, seen in enumerate(carriers_seen(tree, q, at)):
        S, h = whole[i].second, whole[i].first
        own, found = len(tree.elements[i].v), dict[tuple[int, int, int], Scalar]()
        for k, g in enumerate(seen[len(seen) - own :], len(seen) - own):
            P, _ = impulse(whole[i], Twist(g.t, g.w))
            for j, b in enumerate(seen[: len(seen) if g.together == i else k]):
                if j == k:
                    continue
                N = S @ cross(b.w, g.w) + cross(b.t, P) + cross(cross(b.w, h), g.t)
                _fill(found, seen[: len(seen) if g.together == i else k + 1], j, b, g, N, i)
        for (x, y, z), value in found.items():
            G[x][y][z] = G[x][y][z] + value
        _armature(G, tree, i)
    for i in range(len(tree.elements)):
        _changing(G, tree, q, at, whole, i)
    return Vec([Vec([Vec(row) for row in plane]) for plane in G])


def _fill(
    G: dict[tuple[int, int, int], Scalar], carriers: list[Carrier], j: int, b: Carrier, g: Carrier, N: Vec, i: int
) -> None:
    """Every symbol that N_bg gives: x = w_a·N_bg for each a that carries g."""
    inside = b.together == g.together == i  # two axes of one quaternion: each carries the other
    for k, a in enumerate(carriers):
        x = dot(a.w, N)
        carries_b = k <= j or (a.together == b.together != GROUND)
        if inside:  # N_gb is visited on its own, so only its own symbol is written
            G[a.dof, b.dof, g.dof] = x
            if a.together != i:
                G[b.dof, a.dof, g.dof] = x
            continue
        G[a.dof, g.dof, b.dof] = -x
        if not (a.together == g.together != GROUND):
            G[g.dof, a.dof, b.dof] = -x
        if carries_b:
            G[a.dof, b.dof, g.dof] = x
            if not (a.together == b.together != GROUND):
                G[b.dof, a.dof, g.dof] = x


def _armature(G: list, tree: Tree, i: int) -> None:
    """Armature D on a quaternion: ½ c[a, b, g] (D_b + D_g − D_a) is added, c = ε on its axes."""
    e = tree.elements[i]
    if not e.kind.quaternion:
        return
    for a, b, g, sign in ((0, 1, 2, 1), (1, 2, 0, 1), (2, 0, 1, 1), (1, 0, 2, -1), (2, 1, 0, -1), (0, 2, 1, -1)):
        D = e.armature[b] + e.armature[g] - e.armature[a]
        x, y, z = e.v[a], e.v[b], e.v[g]
        G[x][y][z] = G[x][y][z] + sign * D / 2


def _changing(G: list, tree: Tree, q: Vec, at: list[Placement], whole: list[Inertia], i: int) -> None:
    """Unit motions S(q) that change in their own frame: ⟨∂_a S_b, X_g⟩ is added, for a, b of one element."""
    e = tree.elements[i]
    if e.kind.constant:
        return
    for k, a in enumerate(e.v):
        unit = Vec([float(j == k) for j in range(len(e.v))])
        for b, change in zip(e.v, e.kind.motion_rates(e, own_coordinates(e, q), unit), strict=True):
            f, n = impulse(whole[i], change)
            j = i
            while j != GROUND:  # along all that carry the element, and itself
                for g, value in zip(tree.elements[j].v, joint_force(tree.elements[j], q, f, n), strict=True):
                    G[a][b][g] = G[a][b][g] + value
                (f, n), j = handed(at[j], f, n), tree.elements[j].parent
            seen = {i: change}
            for j, below in enumerate(tree.elements):  # along all that it carries
                if below.parent in seen:
                    (t, w), back = seen[below.parent], at[j].R.T
                    seen[j] = Twist(back @ (t + cross(w, at[j].r)), back @ w)
                    for g, motion in zip(below.v, unit_twists(below, q), strict=True):
                        P, H = impulse(whole[j], motion)
                        G[a][b][g] = G[a][b][g] + dot(seen[j].linear, P) + dot(seen[j].angular, H)


class Moments(NamedTuple):
    """Sums over a subtree about the world's origin, world axes: m, h, Σ, k = ∫ṙ dm, B = ∫r ṙᵀ dm."""

    m: Scalar
    h: Vec
    S: Vec
    k: Vec
    B: Vec


def _moments(tree: Tree, at: list[Frame], moving: list[Twist]) -> list[Moments]:
    found: list[Moments] = []
    for e, frame, twist in zip(tree.elements, at, moving, strict=True):
        m, h, S = moved(Placement(frame.R, frame.o), e.inertia)
        u = twist.linear - cross(twist.angular, frame.o)  # velocity of the point at the world's origin
        found.append(Moments(m, h, S, m * u + cross(twist.angular, h), outer(h, u) - S @ skew(twist.angular)))
    for i in reversed(range(len(found))):
        p = tree.elements[i].parent
        if p != GROUND:
            found[p] = Moments(*(a + b for a, b in zip(found[p], found[i], strict=True)))
    return found


class Moving(NamedTuple):
    """A unit motion about the world's origin and its rate: x = l − w × o is the velocity at the origin."""

    w: Vec
    x: Vec
    wdot: Vec
    xdot: Vec


def _moving(motion: UnitMotion, change: Twist, frame_twist: Twist) -> Moving:
    (_, w, l, o), (ldot, wdot) = motion, change
    xdot = ldot - cross(wdot, o) - cross(w, frame_twist.linear)
    return Moving(w, l - cross(w, o), wdot, xdot)


def coriolis(tree: Tree, q: Vec, v: Vec) -> Vec:
    """C[g, b] = Σ_a Γ[a, b, g] v[a], nv × nv, without the symbols: Ṁ − 2C is skew.          BEYOND §2

    O(n d) for n joints at depth d.
    """
    _refuse("Coriolis matrix", tree)
    at = frames(tree, q)
    moving = velocities(tree, q, at, v)
    sums = _moments(tree, at, moving)
    changes = slot_motion_rates(tree, q, v, at, moving)
    motions = {
        slot: _moving(motion, change, moving[motion.element])
        for slot, motion, change in zip(motion_slots(tree), slot_motions(tree, q, at), changes, strict=True)
    }
    C: list[list[Scalar]] = [[0.0] * tree.nv for _ in range(tree.nv)]
    for i, e in enumerate(tree.elements):
        m, h, S, k, B = sums[i]
        J, J_rate = trace(S) * identity(3) - S, trace(B) * identity(3) - B
        path = [(b, j) for j in tree.ancestors[i] for b in tree.elements[j].v]
        for g in e.v:
            w, x, wdot, xdot = motions[g, i]
            P, H = m * x + cross(w, h), cross(h, x) + J @ w
            turned = cross(k, x) + J_rate @ w
            P_rate = m * xdot + cross(wdot, h) + cross(w, k)
            H_rate = cross(h, xdot) + J @ wdot + J_rate.T @ w
            for b, j in path:
                by = motions[b, j]
                C[g][b] = C[g][b] + dot(by.xdot, P) + dot(by.wdot, H) + dot(by.w, turned)
                if j != i:
                    C[b][g] = C[b][g] + dot(by.x, P_rate) + dot(by.w, H_rate)
        if e.kind.quaternion:
            extra = e.armature[0] / 2 * skew(Vec([v[a] for a in e.v]))
            for r, g in enumerate(e.v):
                for s, b in enumerate(e.v):
                    C[g][b] = C[g][b] + extra[r][s]
    return Vec([Vec(row) for row in C])
