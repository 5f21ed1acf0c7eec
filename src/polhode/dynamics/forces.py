"""What acts on a tree besides gravity: springs and dampers of joints, force elements, given wrenches."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from polhode.dynamics.kinematics import machine_state
from polhode.errors import CompileError, defined_at, message
from polhode.model import ForceElement, MachineState, Tree
from polhode.model.tree import GROUND
from polhode.scalar import Scalar, Vec
from polhode.spatial import ORIGIN, Frame


class Acting(NamedTuple):
    """Wrenches on elements, in their axes at their origins, and generalised forces (nv,)."""

    wrenches: dict[int, tuple[Vec, Vec]]
    generalized: Vec


def acting(tree: Tree, t: Scalar, q: Vec, v: Vec, given: Mapping[str, tuple[Vec, Vec]] | None = None) -> Acting:
    """Everything that acts on a tree but gravity, at time t.

    given  force and couple on bodies by name, world axes, at the body's origin
    """
    tau = joint_forces(tree, q, v)
    wrenches: dict[int, tuple[Vec, Vec]] = {}
    if not tree.forces and not given:
        return Acting(wrenches, tau)
    state = machine_state(tree, t, q, v)
    for force in tree.forces:
        if force.of_coordinates:
            tau = tau + _generalized(tree, force, state)
        for body, f, n in force.wrenches(state):
            if body not in tree.of_body:
                raise CompileError(
                    message(f"force '{force.name}'", "acts on no body", repr(body), "a body of the model")
                )
            add_wrench(wrenches, state.at, tree.of_body[body], f, n)
    for body, (f, n) in (given or {}).items():
        add_wrench(wrenches, state.at, tree.of_body[body], f, n)
    return Acting(wrenches, tau)


def _generalized(tree: Tree, force: ForceElement, state: MachineState) -> Vec:
    """The generalised forces of an element, (nv,)."""
    found = force.generalized(state)
    if not hasattr(found, "__len__") or len(found) != tree.nv:
        shown = f"{len(found)} numbers" if hasattr(found, "__len__") else repr(found)
        where = f"force '{force.name}'{defined_at(getattr(force, 'function', None))}"
        raise CompileError(message(where, "wrong result", shown, f"{tree.nv} generalised forces"))
    return Vec(found)


def joint_forces(tree: Tree, q: Vec, v: Vec) -> Vec:
    """−stiffness (q − rest) − damping v, in the order of v."""
    tau: list[Scalar] = [0.0] * tree.nv
    for e in tree.elements:
        for k, a in enumerate(e.v):
            tau[a] = -(e.damping[k] * v[a])
            if not e.kind.quaternion:
                tau[a] = tau[a] - e.stiffness[k] * (q[e.q[k]] - e.rest[k])
    return Vec(tau)


def add_wrench(wrenches: dict, at: Sequence[Frame], i: int, f: Vec, n: Vec) -> None:
    """Note a force at the origin and a couple, world axes, on an element; the ground takes anything."""
    if i == GROUND:
        return
    back = at[i].R.T
    old_f, old_n = wrenches.get(i, (ORIGIN, ORIGIN))
    wrenches[i] = old_f + back @ f, old_n + back @ n
