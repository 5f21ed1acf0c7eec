"""Inertia that couples bodies, of force elements that have some: its part of all that inertia decides.

An element gives a matrix M_e (6k, 6k) for its k bodies, in world axes at their origins: forces and couples per
acceleration V̇ of these, V = (velocity of the origin, angular velocity) of each. With V = J v it adds JᵀM_eJ to the mass
matrix, ½VᵀM_eV to the kinetic energy, M_eV̇ + bias to what a motion needs. It has no weight.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from polhode.dynamics.forces import add_wrench
from polhode.dynamics.kinematics import UnitMotion, accelerations, frames, machine_state, motion_slots, slot_motions
from polhode.errors import CompileError, message
from polhode.model import ForceElement, MachineState, Tree
from polhode.model.tree import GROUND
from polhode.quaternion import skew
from polhode.scalar import Scalar, Vec, cross, dot, jacobian
from polhode.spatial import AT_REST, ORIGIN, Frame, Twist


class AddedMomentum(NamedTuple):
    """Linear momentum and angular momentum about the world's origin, world axes."""

    linear: Vec
    angular: Vec


def coupling(tree: Tree) -> list[ForceElement]:
    """The force elements of a tree that have inertia."""
    return [force for force in tree.forces if force.inertia_bodies]


def is_coupled(tree: Tree) -> bool:
    """Whether any has."""
    return any(force.inertia_bodies for force in tree.forces)


def bodies_of(tree: Tree, force: ForceElement) -> list[int]:
    """The elements of the tree that carry the bodies of an element, GROUND among them."""
    return [tree.of_body[body] for body in force.inertia_bodies]


def velocities_of(tree: Tree, force: ForceElement) -> list[int]:
    """The velocities that move its bodies, ascending."""
    carried = {j for i in bodies_of(tree, force) if i != GROUND for j in tree.ancestors[i] if j != GROUND}
    return sorted({a for j in carried for a in tree.elements[j].v})


def matrix(force: ForceElement, state: MachineState) -> Vec:
    """M_e (6k, 6k) of an element."""
    size, found = 6 * len(force.inertia_bodies), force.inertia(state)
    if len(found) != size or any(len(row) != size for row in found):
        shown = f"{len(found)} × {len(found[0]) if found else 0}"
        raise CompileError(message(f"force '{force.name}', inertia", "wrong result", shown, f"{size} × {size}"))
    return Vec([Vec(row) for row in found])


def bias(force: ForceElement, state: MachineState) -> Vec:
    """What its inertia needs at V̇ = 0, (6k,): as the element gives it, or by derivatives of its matrix.

    (X_V M) V + (0, H × ω) − X T,   H the angular part of M V, ω of the same body           Boltzmann, Hamel
    """
    given = force.inertia_bias(state)
    if given is not None:
        return Vec(given)
    places = [state.of_body[body] for body in force.inertia_bodies]
    V = Vec([x for twist in (_twist(state, i) for i in places) for part in twist for x in part])
    M = matrix(force, state)

    def momenta(step: Vec) -> Vec:
        return matrix(force, _displaced(state, places, step)) @ V

    zero = Vec([0.0 * x for x in V])
    _, slopes = jacobian(momenta, zero)  # of M V along the displacement of each body
    along, across = slopes @ V, V @ slopes
    p, found = M @ V, []
    for k in range(len(places)):
        H, omega = Vec(p[6 * k + 3 : 6 * k + 6]), Vec(V[6 * k + 3 : 6 * k + 6])
        turn = (0.0, 0.0, 0.0, *cross(H, omega))
        found += [along[6 * k + i] + turn[i] - across[6 * k + i] / 2 for i in range(6)]
    return Vec(found)


def _displaced(state: MachineState, places: Sequence[int], step: Vec) -> MachineState:
    """The state with bodies shifted and turned a little, to first order; step: (6k,), world axes."""
    at = list(state.at)
    for k, i in enumerate(places):
        if i != GROUND:
            R, o = at[i]
            at[i] = Frame(R + skew(Vec(step[6 * k + 3 : 6 * k + 6])) @ R, o + Vec(step[6 * k : 6 * k + 3]))
    return state._replace(at=at)


def _twist(state: MachineState, i: int) -> Twist:
    return state.moving[i] if i != GROUND else AT_REST


def add_mass(tree: Tree, q: Vec, M: list[list[Scalar]]) -> None:
    """Add JᵀM_eJ of all elements to a mass matrix, in its place."""
    at = frames(tree, q)
    state = machine_state(tree, 0.0, q, Vec([0.0] * tree.nv))
    motions = slot_motions(tree, q, at)
    for force in coupling(tree):
        M_e, J = matrix(force, state), columns(tree, force, at, motions)
        chosen = list(J)
        for n, b in enumerate(chosen):
            needed = M_e @ J[b]
            for a in chosen[n:]:
                M[a][b] = M[a][b] + dot(J[a], needed)
                if a != b:
                    M[b][a] = M[a][b]


def columns(tree: Tree, force: ForceElement, at: list[Frame], motions: Sequence[UnitMotion]) -> Mapping[int, Vec]:
    """V (6k,) of the bodies of an element per unit of each velocity that moves some of them.

    motions  of the `motion_slots`
    """
    found, slots, ancestors = {}, list(zip(motion_slots(tree), motions, strict=True)), tree.ancestors
    for b in velocities_of(tree, force):
        parts: list[Scalar] = []
        for i in bodies_of(tree, force):
            moving = [motion for (a, j), motion in slots if a == b and i != GROUND and j in ancestors[i]]
            if not moving:
                parts += [0.0] * 6
                continue
            (j, w, l, o), *_ = moving
            linear = l if i == j else l + cross(w, at[i].o - o)
            parts += [*linear, *w]
        found[b] = Vec(parts)
    return found


def needed_wrenches(tree: Tree, q: Vec, v: Vec, vd: Vec, wrenches: Mapping | None) -> dict[int, tuple[Vec, Vec]]:
    """Wrenches on elements of the tree, in their axes at their origins, less what coupled inertia needs of a motion."""
    found, state = dict(wrenches or {}), machine_state(tree, 0.0, q, v)
    rates = accelerations(tree, q, list(state.at), v, vd)
    for force in coupling(tree):
        places = bodies_of(tree, force)
        moved = [rates[i] if i != GROUND else AT_REST for i in places]
        Vd = Vec([x for twist in moved for part in twist for x in part])
        f = matrix(force, state) @ Vd + bias(force, state)
        for k, i in enumerate(places):
            add_wrench(found, state.at, i, -Vec(f[6 * k : 6 * k + 3]), -Vec(f[6 * k + 3 : 6 * k + 6]))
    return found


def kinetic_energy(tree: Tree, state: MachineState) -> Scalar:
    """½VᵀM_eV of all elements, J."""
    total: Scalar = 0.0
    for force in coupling(tree):
        V = _velocities(tree, force, state)
        total = total + dot(V, matrix(force, state) @ V) / 2
    return total


def momentum(tree: Tree, state: MachineState) -> AddedMomentum:
    """The momentum of all elements: M_eV, its moments about the world's origin."""
    linear = angular = ORIGIN
    for force in coupling(tree):
        P, H = _moments(tree, force, state.at, matrix(force, state) @ _velocities(tree, force, state))
        linear, angular = linear + P, angular + H
    return AddedMomentum(linear, angular)


def momentum_map(tree: Tree, q: Vec) -> list[tuple[Vec, Vec]]:
    """The same per unit of each velocity."""
    at = frames(tree, q)
    state = machine_state(tree, 0.0, q, Vec([0.0] * tree.nv))
    motions, found = slot_motions(tree, q, at), [(ORIGIN, ORIGIN)] * tree.nv
    for force in coupling(tree):
        M_e = matrix(force, state)
        for a, column in columns(tree, force, at, motions).items():
            P, H = _moments(tree, force, at, M_e @ column)
            found[a] = found[a][0] + P, found[a][1] + H
    return found


def _velocities(tree: Tree, force: ForceElement, state: MachineState) -> Vec:
    twists = [_twist(state, i) for i in bodies_of(tree, force)]
    return Vec([x for twist in twists for part in twist for x in part])


def _moments(tree: Tree, force: ForceElement, at: Sequence[Frame], p: Vec) -> tuple[Vec, Vec]:
    """Forces and couples at the origins of bodies as one force and moment at the world's origin."""
    P = H = ORIGIN
    for k, i in enumerate(bodies_of(tree, force)):
        if i != GROUND:
            f = Vec(p[6 * k : 6 * k + 3])
            P, H = P + f, H + Vec(p[6 * k + 3 : 6 * k + 6]) + cross(at[i].o, f)
    return P, H


def factor_pattern(tree: Tree, path: Sequence[Sequence[int]]) -> list[list[int]]:
    """For each velocity itself and those, nearer to the root, that its column of the factors of M has, the nearest to
    it first: as paths to the root alone have it, and the fill by what couples.

    path  for each velocity those on its path to the root; elimination goes from the leaves to the root
    """
    order = tree.velocity_order
    place = {a: k for k, a in enumerate(order)}
    near = [set(steps[1:]) for steps in path]
    for force in coupling(tree):
        chosen = velocities_of(tree, force)
        for a in chosen:
            near[a] |= {b for b in chosen if place[b] < place[a]}
    for a in reversed(order):
        if near[a]:
            next_one = max(near[a], key=place.__getitem__)
            near[next_one] |= near[a] - {next_one}
    return [[a, *sorted(near[a], key=place.__getitem__, reverse=True)] for a in range(len(near))]
