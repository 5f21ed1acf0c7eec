"""The power of all that a machine's energy does not hold: inputs, dampers, other forces, constraints that move.

The kinetic and potential energies of a machine grow by the sum of these powers.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from polhode.dynamics import normal_forces
from polhode.dynamics.arguments import Arguments
from polhode.dynamics.body_points import body_point, velocity
from polhode.dynamics.energy import energy
from polhode.dynamics.kinematics import machine_state, rate
from polhode.dynamics.state_inertia import held_axes
from polhode.dynamics.with_forces import needed
from polhode.model import ForceElement, MachineState, Tree
from polhode.model.state import HELD
from polhode.scalar import Scalar, Vec, derivative_along, dot, is_zero
from polhode.spatial import ORIGIN

INPUTS, DAMPERS, CONSTRAINTS, EVENTS = "inputs", "joint dampers", "constraints", "events"
"""Sources of work besides force elements: generalised forces, damping of joints, constraints that move by themselves,
resets at events."""


def work_sources(tree: Tree, has_inputs: bool, constraints_move: bool) -> tuple[str, ...]:
    """The names of all sources of work of a tree: those above, and the names of force elements."""
    found = [INPUTS] * has_inputs
    found += [DAMPERS] * any(not is_zero(d) for e in tree.elements for d in e.damping)
    found += [_label(force) for force in tree.forces if force.other_part() is not None]
    return (*dict.fromkeys(found), *[CONSTRAINTS] * constraints_move)


def _label(force: ForceElement) -> str:
    """The name of a force element among the sources of work."""
    if force.source:
        return force.source
    return f"forces.{force.name}" if force.name in (INPUTS, DAMPERS, CONSTRAINTS, EVENTS) else force.name


def powers(x: Arguments, vd: Vec, sources: Sequence[str], whole_contacts: bool = False) -> Vec:
    """The power of each source, W.

    x               the state, and the inputs tau
    vd              the acceleration
    whole_contacts  that of contacts with their springs, to be integrated: see `stored_in_contacts`
    """
    tree, normals = x.tree, normal_forces.of_motion(x, vd)
    state = machine_state(tree, x.t, x.q, x.v)._replace(normals=normals)
    found: list[Scalar] = []
    for source in sources:
        if source == INPUTS:
            found.append(_joint_power(tree, x.tau, x.v))
        elif source == EVENTS:
            found.append(0.0)  # at instants
        elif source == DAMPERS:
            found.append(_damping(tree, x.v))
        elif source == CONSTRAINTS:
            found.append(_joint_power(tree, needed(x, vd) - x.tau, x.v))
        else:
            own = _elements_of(tree, source)
            parts = [x if whole_contacts and x.is_contact else x.other_part() for x in own]
            each = [element_power(tree, part, state, vd) for part in parts if part is not None]
            found.append(sum(each[1:], each[0]) if each else 0.0)
    return Vec(found)


def stored_in_contacts(tree: Tree, q: Vec, sources: Sequence[str]) -> Vec:
    """The energy that the contacts of each source store, J: what they take from a motion grows by its change.

    A contact that is pulled open does not act, but its spring relaxes: the power of its dissipation is minus that of
    the spring, whose corner where it ends no step notices. Integrated whole, with the change of what is stored, its
    work is as exact as the motion.
    """
    state = machine_state(tree, 0.0, q, Vec([0.0] * tree.nv))
    each = [[x for x in _elements_of(tree, source) if x.is_contact] for source in sources]
    return Vec([sum((x.potential(state) for x in own), start=0.0) for own in each])


def has_contacts(tree: Tree, sources: Sequence[str]) -> bool:
    """Whether contacts are among sources of work."""
    return any(x.is_contact for source in sources for x in _elements_of(tree, source))


def _elements_of(tree: Tree, source: str) -> list[ForceElement]:
    """The force elements that do the work of a source."""
    return [force for force in tree.forces if _label(force) == source and force.other_part() is not None]


class Powers(NamedTuple):
    """Powers (...), W, of all that acts; the kinetic energy grows by their sum."""

    conservative: Scalar
    """Of gravity, springs of joints, and the part of force elements that has a potential: less its rate."""
    dissipated: Scalar
    """Of dampers of joints; never positive."""
    applied: Scalar
    """Of all else of force elements (dampers, friction, thrust, …) and of the wrenches of the call."""
    actuated: Scalar
    """Of the generalised forces τ."""
    constrained: Scalar
    """Of constraints that move by themselves; 0 for all others."""


def powers_by_kind(x: Arguments, forward: Callable[[Arguments], Vec], constraints: bool = False) -> Powers:
    """The powers of all that acts on a machine, by kind.

    forward      its accelerations; asked for only where a power depends on them
    constraints  whether it has any
    """
    tree = x.tree
    elements = [name for name in work_sources(tree, False, False) if name != DAMPERS]
    asked = constraints or normal_forces.loaded_joints(tree) or any(f.changes_inertia for f in tree.forces)
    vd = forward(x) if asked else Vec([0.0] * tree.nv)
    tau, damping, *others = powers(x, vd, [INPUTS, DAMPERS, *elements])
    applied = sum(others, 0.0)
    for body, (f, n) in x.wrench.items():
        at = body_point(tree, body, ORIGIN)
        linear, angular = velocity(tree, x.q, x.v, at, "world-aligned")
        applied = applied + dot(f, linear) + dot(n, angular)
    constrained = powers(x, vd, [CONSTRAINTS])[0] if constraints else 0.0
    potential = lambda q: Vec([energy(tree, q, x.v).potential])  # noqa: E731
    _, (rise,) = derivative_along(potential, x.q, rate(tree, x.q, x.v))
    return Powers(-rise, damping, applied, tau, constrained)


def element_power(tree: Tree, force: ForceElement, state: MachineState, vd: Vec) -> Scalar:
    """The power of a force element, W: of its forces, of the axes that it holds, of the masses that it changes."""
    found: Scalar = 0.0
    if force.of_coordinates:
        found = found + _joint_power(tree, Vec(force.generalized(state)), state.v)
    for body, f, n in force.wrenches(state):
        linear, angular = state.twist(body)
        found = found + dot(f, linear) + dot(n, angular)
    if not force.changes_inertia:
        return found
    for k, hold, holder in held_axes(tree, state.v):
        if holder.name == force.name:
            found = found - HELD * hold.weight * vd[k] * state.v[k]
    return found + _of_masses(tree, force, state)


def _of_masses(tree: Tree, force: ForceElement, state: MachineState) -> Scalar:
    """The rate at which the energies change with the own states of an element: those of mass that comes or leaves."""
    places, rates = state.of_states.get(force.name, ()), force.derivatives(state)
    if not rates:
        return 0.0
    along: list[Scalar] = [0.0] * tree.nv
    for k, change in zip(places, rates, strict=False):
        along[k] = change

    def total(v: Vec) -> Vec:
        kinetic, potential = energy(tree, state.q, v)
        return Vec([kinetic + potential])

    return derivative_along(total, state.v, Vec(along))[1][0]


def _joint_power(tree: Tree, tau: Vec, v: Vec) -> Scalar:
    """Σ τ v over the velocities that move something."""
    found: Scalar = 0.0
    for e in tree.elements:
        for a in e.v if e.kind.moves and not e.kind.shares else ():
            found = found + tau[a] * v[a]
    return found


def _damping(tree: Tree, v: Vec) -> Scalar:
    found: Scalar = 0.0
    for e in tree.elements:
        for a, d in zip(e.v, e.damping, strict=True):
            found = found - d * v[a] * v[a]
    return found
