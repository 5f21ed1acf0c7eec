"""What acts on a tree besides gravity: springs and dampers of joints, force elements, given wrenches."""

from collections.abc import Mapping, Sequence
from math import nan
from typing import NamedTuple

from polhode.dynamics.kinematics import machine_state
from polhode.errors import CompileError, defined_at, message
from polhode.model import ForceElement, MachineState, Tree
from polhode.model.tree import GROUND
from polhode.scalar import Scalar, Vec, cross, where
from polhode.spatial import ORIGIN, Frame


class Acting(NamedTuple):
    """Wrenches on elements, in their axes at their origins, and generalised forces (nv,)."""

    wrenches: dict[int, tuple[Vec, Vec]]
    generalized: Vec


def acting(
    tree: Tree,
    t: Scalar,
    q: Vec,
    v: Vec,
    given: Mapping[str, tuple[Vec, Vec]] | None = None,
    normals: Mapping[str, Scalar] | None = None,
) -> Acting:
    """Everything that acts on a tree but gravity, at time t.

    given    force and couple on bodies and frames by name, world axes, at the origin of each
    normals  normal forces of joints by name, where elements depend on them
    """
    tau = joint_forces(tree, q, v)
    wrenches: dict[int, tuple[Vec, Vec]] = {}
    if not tree.forces and not given:
        return Acting(wrenches, tau)
    state = machine_state(tree, t, q, v)._replace(normals=normals)
    for force in tree.forces:
        if force.of_coordinates:
            tau = tau + _generalized(tree, force, state)
        if force.own_states:
            tau = tau + _own_rates(tree, force, state)
        for body, f, n in force.wrenches(state):
            if body not in tree.of_body:
                raise CompileError(
                    message(f"force '{force.name}'", "acts on no body", repr(body), "a body of the model")
                )
            add_wrench(wrenches, state.at, tree.of_body[body], f, n)
    for body, (f, n) in (given or {}).items():
        i = tree.element(body)
        if body in tree.frames:
            n = n + cross(state.at[i].R @ tree.frames[body].position, f)
        add_wrench(wrenches, state.at, i, f, n)
    return Acting(wrenches, tau)


def _generalized(tree: Tree, force: ForceElement, state: MachineState) -> Vec:
    """The generalised forces of an element, (nv,)."""
    found = force.generalized(state)
    if not hasattr(found, "__len__") or len(found) != tree.nv:
        shown = f"{len(found)} numbers" if hasattr(found, "__len__") else repr(found)
        where = f"force '{force.name}'{defined_at(getattr(force, 'function', None))}"
        raise CompileError(message(where, "wrong result", shown, f"{tree.nv} generalised forces"))
    return off_discrete(tree, found)


def off_discrete(tree: Tree, forces: Sequence[Scalar]) -> Vec:
    """Generalised forces, not a number where they act on an own state that changes at once alone: a run ends there."""
    found = list(forces)
    for k in tree.discrete_places:
        found[k] = where(found[k] == 0.0, 0.0, nan)
    return Vec(found)


def _own_rates(tree: Tree, force: ForceElement, state: MachineState) -> Vec:
    """The rates of an element's own states, in the order of v: forces on their unit inertia; 0 of discrete ones."""
    rates = _counted(force, "derivatives", force.derivatives(state), force.states)
    tau: list[Scalar] = [0.0] * tree.nv
    for k, rate in zip(state.of_states[force.name], rates, strict=False):
        tau[k] = rate
    return Vec(tau)


def _counted(force: ForceElement, what: str, found: Sequence, names: Mapping[str, str]) -> Sequence:
    """What an element gives for some of its states, if it is as many numbers."""
    if not hasattr(found, "__len__") or len(found) != len(names):
        shown = f"{len(found)} numbers" if hasattr(found, "__len__") else repr(found)
        expected = f"{len(names)}: {', '.join(names)}" if names else "none"
        raise CompileError(message(f"force '{force.name}', {what}", "wrong result", shown, expected))
    return found


EARLY = 1e-9
"""The part of a period by which an update may come early: rounding of times that are sums of steps."""


def updated(tree: Tree, t: Scalar, q: Vec, v: Vec) -> Vec:
    """The velocities (nv,) with discrete states as they are from time t on: those that are due are updated."""
    found, state = list(v), machine_state(tree, t, q, v)
    for force in tree.forces:
        if not force.sampled:
            continue
        *places, count = state.of_states[force.name]
        sampled = places[len(force.states) : len(force.states) + len(force.sampled)]
        due = t >= (v[count] - EARLY) * force.period
        values = _counted(force, "update", force.update(state), force.sampled)
        for k, value in zip(sampled, values, strict=True):
            found[k] = where(due, value, v[k])
        found[count] = where(due, v[count] + 1.0, v[count])
    return Vec(found)


def joint_forces(tree: Tree, q: Vec, v: Vec) -> Vec:
    """−stiffness (q − rest) − damping v, in the order of v."""
    tau: list[Scalar] = [0.0] * tree.nv
    for e in tree.elements:
        for k, a in enumerate(() if e.kind.shares else e.v):
            tau[a] = -(e.damping[k] * v[a])
            if e.q and not e.kind.quaternion:
                tau[a] = tau[a] - e.stiffness[k] * (q[e.q[k]] - e.rest[k])
    return Vec(tau)


def add_wrench(wrenches: dict, at: Sequence[Frame], i: int, f: Vec, n: Vec) -> None:
    """Note a force at the origin and a couple, world axes, on an element; the ground takes anything."""
    if i == GROUND:
        return
    back = at[i].R.T
    old_f, old_n = wrenches.get(i, (ORIGIN, ORIGIN))
    wrenches[i] = old_f + back @ f, old_n + back @ n
