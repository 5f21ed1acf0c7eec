"""Tree → Machine: what the methods of integration see of a tree."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache

from polhode.dynamics import energy, forces, inertia, inverse, kinematics
from polhode.dynamics.arguments import Arguments
from polhode.dynamics.stiffness import carried_bodies, stiff_matrices, turning
from polhode.dynamics.with_forces import forward_dynamics
from polhode.integrate.method import Machine
from polhode.model import ForceElement, Tree
from polhode.model.error_lengths import error_lengths
from polhode.model.forces.refused import refuse_coupled_inertia
from polhode.model.joints.base import combined
from polhode.model.tree import GROUND
from polhode.scalar import Scalar, Vec, cross, dot, square
from polhode.spatial import AT_REST, ORIGIN, WORLD_FRAME, Frame, Placement, Twist, moved

Input = Callable[[Scalar, Vec, Vec], Vec]
"""Generalised forces of (t, q, v)"""


def machine(tree: Tree, tau: Input | None = None, forward: Callable[[Arguments], Vec] = forward_dynamics) -> Machine:
    """The machine of a tree under generalised forces tau(t, q, v).

    forward  v̇ of the arguments of a call
    """
    nothing = Vec([0.0] * tree.nv)
    carried = carried_bodies(tree)
    storing, acting = cache(lambda: _storing(tree)), cache(lambda: _not_storing(tree))  # few methods ask for them

    def given(t: Scalar, q: Vec, v: Vec) -> Vec:
        return Vec(tau(t, q, v)) if tau else nothing

    def factored(q: Vec, p: Vec) -> Vec:
        L, D = inertia.factor(tree, inertia.mass_matrix(tree, q))
        return inertia.solve_factored(tree, L, D, p)

    def total(q: Vec, v: Vec) -> Scalar:
        kinetic, potential = energy.energy(tree, q, v)
        own = [v[k] for k in tree.own_places]  # of unit inertia
        return kinetic + potential + square(Vec(own)) / 2 if own else kinetic + potential

    return Machine(
        nq=tree.nq,
        nv=tree.nv,
        rotations=tuple(e.v for e in tree.elements if e.kind.quaternion),  # type: ignore[misc]
        acceleration=lambda t, q, v: forward(Arguments(tree, q, v, tau=given(t, q, v), t=t)),
        damped_acceleration=lambda t, q, v, h: forward(Arguments(tree, q, v, tau=given(t, q, v), t=t, ahead=h)),
        rate=lambda q, v: kinematics.rate(tree, q, v),
        retract=lambda q, d: kinematics.integrate(tree, q, d),
        normalized=lambda q: kinematics.normalised(tree, q),
        momentum=lambda q, v: inverse.inverse_dynamics(tree, q, nothing, v, gravity=ORIGIN),
        velocity=factored,
        gradient=lambda q, v: kinetic_gradient(tree, q, v) + _generalized(storing(), 0.0, q, nothing, tree.gravity),
        energy=total,
        forces=lambda t, q, v: given(t, q, v) + _generalized(acting(), t, q, v, ORIGIN),
        stiff_matrices=lambda r, t, q, v, stressed: stiff_matrices(r, Arguments(tree, q, v, t=t), (), stressed),
        carried=tuple(body.shifts for body in carried),
        turning=lambda q, v: turning(tree, carried, q, v),
        error_lengths=error_lengths(tree),
    )


def _storing(tree: Tree) -> Tree:
    """The tree with those of its forces that have a potential (gravity apart)."""
    return replace(tree, forces=_present(force.conservative_part() for force in tree.forces))


def _not_storing(tree: Tree) -> Tree:
    """The tree with those of its forces that have no potential."""
    elements = tuple(replace(e, stiffness=0.0 * e.stiffness) for e in tree.elements)
    return replace(tree, elements=elements, forces=_present(force.other_part() for force in tree.forces))


def _present(parts: Iterable[ForceElement | None]) -> tuple[ForceElement, ...]:
    return tuple(part for part in parts if part is not None)


def _generalized(tree: Tree, t: Scalar, q: Vec, v: Vec, gravity: Vec) -> Vec:
    """The tree's forces and gravity, dual to v."""
    found = forces.acting(tree, t, q, v)
    rest = Vec([0.0] * tree.nv)
    if not found.wrenches and gravity is ORIGIN:
        return found.generalized
    return found.generalized - inverse.inverse_dynamics(tree, q, rest, rest, gravity, found.wrenches)


def kinetic_gradient(tree: Tree, q: Vec, v: Vec) -> Vec:
    """X T: how the kinetic energy grows along each unit motion, the components of v held fixed.

        X_g T = P·(Ω × l + u × w) + H·(Ω × w),  (u, Ω) the velocity of the parent at the origin of g

    P, H are the momenta of all that g moves, (l, w) its unit motion: a turn of the subtree leaves alone what
    the subtree does relative to itself, and changes only how it meets the parent's motion.
    """
    refuse_coupled_inertia("the gradient of the kinetic energy", tree.forces, "Take a method that does not ask for it.")
    at = kinematics.frames(tree, q)
    moving = kinematics.velocities(tree, q, at, v)
    carried = _momenta(tree, at, moving)
    found: list[Scalar] = [0.0] * tree.nv
    motions = kinematics.slot_motions(tree, q, at)
    for (g, _), (i, w, l, o) in zip(kinematics.motion_slots(tree), motions, strict=True):
        parent = tree.elements[i].parent
        (u, Omega), frame = (moving[parent], at[parent]) if parent != GROUND else (AT_REST, WORLD_FRAME)
        u = u + cross(Omega, o - frame.o)
        P, H = carried[i].linear, carried[i].angular - cross(o, carried[i].linear)
        found[g] = found[g] + dot(P, cross(Omega, l) + cross(u, w)) + dot(H, cross(Omega, w))
        e = tree.elements[i]
        if not e.kind.constant:  # its own motion changes in its frame
            along = Vec([float(a == g) for a in e.v])
            change = combined(e.kind.motion_rates(e, kinematics.own_coordinates(e, q), along), [v[a] for a in e.v])
            found[g] = found[g] + dot(P, at[i].R @ change.linear) + dot(H, at[i].R @ change.angular)
    return Vec(found)


def _momenta(tree: Tree, at: list[Frame], moving: list[Twist]) -> list[Twist]:
    """For each element the momenta of all it carries, about the world's origin."""
    found: list[Twist] = []
    for e, frame, (u, Omega) in zip(tree.elements, at, moving, strict=True):
        body = moved(Placement(frame.R, frame.o), e.inertia)
        P, H = inertia.impulse(body, Twist(u - cross(Omega, frame.o), Omega))
        found.append(Twist(P, H))
    for i in reversed(range(len(found))):
        p = tree.elements[i].parent
        if p != GROUND:
            found[p] = Twist(found[p].linear + found[i].linear, found[p].angular + found[i].angular)
    return found
