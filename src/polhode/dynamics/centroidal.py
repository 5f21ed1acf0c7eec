"""Centroidal quantities: the mass centre of a tree, its momentum about it, and the maps from velocities to both.

World axes throughout; a momentum is a linear and an angular part, P and H. With the composites of BEYOND §1 (all that a
unit motion carries: m, h, Σ about its origin o), c the mass centre and m its mass:

    J_c = R (w × h + m_i l)/m,   A_G = (R P, R H + (o − c) × R P)              Orin (2013), in composites of link frames

All are of the tree as it is given; `subtree` gives one with the masses of a subtree alone.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from polhode.dynamics.coupled_inertia import is_coupled, momentum, momentum_map
from polhode.dynamics.energy import Momentum, center_of_mass
from polhode.dynamics.inertia import composites, impulse
from polhode.dynamics.inverse import handed, loads
from polhode.dynamics.kinematics import frames, joint_velocity, machine_state, placement, rate, unit_twists
from polhode.model.forces.refused import refuse_coupled_inertia
from polhode.model.joints.base import NOTHING
from polhode.model.tree import GROUND, Tree
from polhode.scalar import Scalar, Vec, cross, derivative_along, identity, outer, trace
from polhode.spatial import AT_REST, ORIGIN, Inertia, Placement, Twist, joined, moved


class CompositeInertia(NamedTuple):
    """Mass (...), kg, mass centre (..., 3), m, and inertia about it (..., 3, 3), kg m², world axes."""

    mass: Scalar
    center: Vec
    inertia: Vec


def subtree(tree: Tree, body: str) -> Tree:
    """The tree with the masses of what a body carries, itself included, alone; the whole tree for ""."""
    if not body:
        return tree
    refuse_coupled_inertia(f"subtree of '{body}'", tree.forces, "Take the whole machine.")
    top = tree.element(body)
    kept = {i for i, path in enumerate(tree.ancestors) if top in path}
    elements = [e if i in kept else replace(e, inertia=NOTHING) for i, e in enumerate(tree.elements)]
    return replace(tree, elements=tuple(elements))


def with_mass_factors(tree: Tree, factors: Mapping[int, Scalar]) -> Tree:
    """The tree with the masses of elements times factors, given by element; those without one keep theirs."""
    elements = list(tree.elements)
    for i, f in factors.items():
        m, h, second = elements[i].inertia
        elements[i] = replace(elements[i], inertia=Inertia(f * m, f * h, f * second))
    return replace(tree, elements=tuple(elements))


def total_mass(tree: Tree) -> Scalar:
    """The mass of all bodies."""
    total: Scalar = 0.0
    for e in tree.elements:
        total = total + e.inertia.mass
    return total


def center_of_mass_jacobian(tree: Tree, q: Vec) -> Vec:
    """The velocity of the mass centre per v, (3, nv)."""
    at = [placement(e, q) for e in tree.elements]
    carried = [(e.inertia.mass, e.inertia.first) for e in tree.elements]
    for i in reversed(range(len(at))):
        p, (m, h) = tree.elements[i].parent, carried[i]
        if p != GROUND:
            carried[p] = carried[p][0] + m, carried[p][1] + at[i].R @ h + m * at[i].r
    total, columns = total_mass(tree), [ORIGIN] * tree.nv
    for e, frame, (m, h) in zip(tree.elements, frames(tree, q), carried, strict=True):
        for a, (l, w) in zip(e.v, unit_twists(e, q), strict=True):
            columns[a] = columns[a] + frame.R @ ((cross(w, h) + m * l) / total)
    return _rows(columns, 3)


def centroidal_map(tree: Tree, q: Vec) -> Vec:
    """A_G (6, nv): the linear momentum and the angular momentum about the mass centre per v."""
    at, frame = [placement(e, q) for e in tree.elements], frames(tree, q)
    whole = composites(tree, at)
    c = _center([(at[i], whole[i]) for i, e in enumerate(tree.elements) if e.parent == GROUND])
    columns = [Vec([0.0] * 6)] * tree.nv
    for i, e in enumerate(tree.elements):
        R, o = frame[i]
        for a, motion in zip(e.v, unit_twists(e, q), strict=True):
            P, H = impulse(whole[i], motion)
            P = R @ P
            columns[a] = columns[a] + Vec((*P, *(R @ H + cross(o - c, P))))
    for a, (P, H) in enumerate(momentum_map(tree, q) if is_coupled(tree) else ()):
        columns[a] = columns[a] + Vec((*P, *(H - cross(c, P))))
    return _rows(columns, 6)


def centroidal_map_rate(tree: Tree, q: Vec, v: Vec) -> Vec:
    """The time derivative of `centroidal_map` along a motion."""

    def flat(q: Vec) -> Vec:
        return Vec([x for row in centroidal_map(tree, q) for x in row])

    _, slope = derivative_along(flat, q, rate(tree, q, v))
    n = tree.nv
    return Vec([Vec(slope[r * n : (r + 1) * n]) for r in range(6)])


def momentum_about(tree: Tree, q: Vec, v: Vec, point: Vec) -> Momentum:
    """The momentum of all bodies, its angular part about a point at rest in the world (armature has none)."""
    moving: list[Twist] = []
    found: list[tuple[Vec, Vec]] = []
    # pass 1, root to leaves: the velocity of each element in its own axes, and its momentum
    for e in tree.elements:
        up = moving[e.parent] if e.parent != GROUND else AT_REST
        (R, r), own = placement(e, q), joint_velocity(e, q, v)
        moving.append(Twist(R.T @ (up.linear + cross(up.angular, r)) + own.linear, R.T @ up.angular + own.angular))
        found.append(impulse(e.inertia, moving[-1]))
    # pass 2, leaves to root
    P, H = _at_root(tree, q, found)
    if is_coupled(tree):
        P, H = _summed(((P, H), momentum(tree, machine_state(tree, 0.0, q, v))))
    return Momentum(P, H - cross(point, P))


def centroidal_momentum(tree: Tree, q: Vec, v: Vec) -> Momentum:
    """The momentum of all bodies, its angular part about the mass centre: A_G v without A_G."""
    return momentum_about(tree, q, v, center_of_mass(tree, q))


def centroidal_momentum_rate(tree: Tree, q: Vec, v: Vec, vd: Vec) -> Momentum:
    """d/dt of `centroidal_momentum`: the force that the motion needs in all, and its moment about the mass centre."""
    forces = loads(tree, q, v, vd, gravity=ORIGIN)
    roots = [i for i, e in enumerate(tree.elements) if e.parent == GROUND]
    P, H = _summed(handed(placement(tree.elements[i], q), *forces[i]) for i in roots)
    return Momentum(P, H - cross(center_of_mass(tree, q), P))


def composite_inertia(tree: Tree, q: Vec) -> CompositeInertia:
    """All bodies as one rigid body."""
    refuse_coupled_inertia("composite inertia", tree.forces, "Take the momentum, or the mass matrix.")
    whole = NOTHING
    for e, frame in zip(tree.elements, frames(tree, q), strict=True):
        whole = joined(whole, moved(Placement(frame.R, frame.o), e.inertia))
    c = whole.first / whole.mass
    second = whole.second - whole.mass * outer(c, c)
    return CompositeInertia(whole.mass, c, trace(second) * identity(3) - second)


def _center(roots: list[tuple[Placement, Inertia]]) -> Vec:
    """The mass centre of composites on the ground."""
    first, mass = ORIGIN, 0.0
    for (R, r), body in roots:
        first, mass = first + R @ body.first + body.mass * r, mass + body.mass
    return first / mass


def _at_root(tree: Tree, q: Vec, parts: list[tuple[Vec, Vec]]) -> tuple[Vec, Vec]:
    """The sum of forces and moments of elements, in their own axes at their origins: at the world's origin."""
    parts, roots = list(parts), []
    for i in reversed(range(len(parts))):
        e = tree.elements[i]
        up = handed(placement(e, q), *parts[i])
        if e.parent == GROUND:
            roots.append(up)
        else:
            parts[e.parent] = _summed((parts[e.parent], up))
    return _summed(roots)


def _summed(parts: Iterable[tuple[Vec, Vec]]) -> tuple[Vec, Vec]:
    f, n = ORIGIN, ORIGIN
    for f_i, n_i in parts:
        f, n = f + f_i, n + n_i
    return f, n


def _rows(columns: list[Vec], size: int) -> Vec:
    """Rows from columns, of which there may be none."""
    return Vec([Vec([column[r] for column in columns]) for r in range(size)])
