"""The inertia of a tree where own states of force elements decide it: axes that are held, masses that change; and what
the damping of joints adds to it where it acts by velocities to come."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from polhode.dynamics.arguments import Arguments
from polhode.model import Tree
from polhode.model.forces.base import ForceElement, Hold
from polhode.model.state import HELD, own_values
from polhode.scalar import Scalar, Vec, is_zero, where
from polhode.spatial import Inertia

NO_MASS = float("nan")
"""The mass of a body that has lost more than all of it: a run ends there, as failed."""


def is_fixed(tree: Tree) -> bool:
    """Whether no own state enters the inertia."""
    return not any(force.changes_inertia for force in tree.forces)


def damped_ahead(x: Arguments) -> Arguments:
    """The arguments with the damping of joints by the velocities after `ahead`: M v̇ = τ − D (v + a v̇), so the armature
    of every joint grows by a times its damping."""
    if is_zero(x.ahead):
        return x
    elements = tuple(
        e if e.kind.shares or all(map(is_zero, e.damping)) else replace(e, armature=e.armature + x.ahead * e.damping)
        for e in x.tree.elements
    )
    return x._replace(tree=replace(x.tree, elements=elements), ahead=0.0)


def at_state(x: Arguments) -> Arguments:
    """The arguments with the inertia of their state: an axis that is held has an armature of HELD."""
    x = damped_ahead(x)
    if is_fixed(x.tree):
        return x
    tree, extra = with_masses(x.tree, x.v), dict[int, Scalar]()
    for k, hold, _ in held_axes(tree, x.v):
        extra[k] = extra.get(k, 0.0) + HELD * hold.weight
    elements = tuple(
        replace(e, armature=Vec([a + extra[k] if k in extra else a for k, a in zip(e.v, e.armature, strict=True)]))
        if any(k in extra for k in e.v) and not e.kind.shares
        else e
        for e in tree.elements
    )
    return x._replace(tree=replace(tree, elements=elements))


def with_masses(tree: Tree, v: Vec) -> Tree:
    """The tree with the masses of a state."""
    lost = dict[int, Scalar]()
    for force in tree.forces:
        for body, mass in force.masses(own_values(tree.of_states, force, v)) if force.changes_inertia else ():
            i = tree.of_body[body]
            lost[i] = lost.get(i, 0.0) + mass
    if not lost:
        return tree
    elements = list(tree.elements)
    for i, mass in lost.items():
        m, h, second = elements[i].inertia
        part = 1 - mass / m
        part = where(part > 0, part, NO_MASS)
        elements[i] = replace(elements[i], inertia=Inertia(part * m, part * h, part * second))
    return replace(tree, elements=tuple(elements))


def held_axes(tree: Tree, v: Vec) -> Iterator[tuple[int, Hold, ForceElement]]:
    """The axes that elements may hold: the place in v, how it is held, and by which element."""
    rates = tree.rates_of_joint
    for force in tree.forces:
        if force.changes_inertia:
            for hold in force.holds(own_values(tree.of_states, force, v)):
                for k in places(rates, hold.joint, hold.axis):
                    yield k, hold, force


def places(rates: Mapping[str, tuple[int, ...]], joint: str, axis: int | None) -> tuple[int, ...]:
    """The places in v of an axis of a joint, or of all.  rates: of each joint"""
    return rates[joint] if axis is None else (rates[joint][axis],)
