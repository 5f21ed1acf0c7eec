"""Energies, momenta and the centre of mass of a tree."""

from typing import NamedTuple

from polhode.dynamics import coupled_inertia
from polhode.dynamics.inertia import impulse
from polhode.dynamics.kinematics import frames, machine_state, velocities
from polhode.dynamics.state_inertia import with_masses
from polhode.model import Tree
from polhode.scalar import Scalar, Vec, cross, dot
from polhode.spatial import ORIGIN, Placement, Twist, moved


class Energy(NamedTuple):
    """Kinetic and potential energy, J."""

    kinetic: Scalar
    potential: Scalar


class Momentum(NamedTuple):
    """Linear momentum and angular momentum about the world's origin, world axes."""

    linear: Vec
    angular: Vec


def energy(tree: Tree, q: Vec, v: Vec) -> Energy:
    """Energies of the tree.                                                        Zoric (85)–(91)

    Potential: gravity (zero at the world's origin), joint springs, force elements. Armature is
    part of the kinetic energy; forces without a potential count nothing.
    """
    state, tree = machine_state(tree, 0.0, q, v), with_masses(tree, v)
    kinetic: Scalar = 0.0
    potential: Scalar = 0.0
    for e, frame, twist in zip(tree.elements, state.at, state.moving, strict=True):
        body = moved(Placement(frame.R, ORIGIN), e.inertia)  # about its own origin, in world axes
        P, H = impulse(body, twist)
        kinetic = kinetic + (dot(P, twist.linear) + dot(H, twist.angular)) / 2
        potential = potential - dot(tree.gravity, body.mass * frame.o + body.first)
        for k, a in enumerate(e.v if e.kind.moves and not e.kind.shares else ()):
            kinetic = kinetic + e.armature[k] * v[a] * v[a] / 2
            if not e.kind.quaternion:
                apart = q[e.q[k]] - e.rest[k]
                potential = potential + e.stiffness[k] * apart * apart / 2
    for force in tree.forces:
        potential = potential + force.potential(state)
    return Energy(kinetic + coupled_inertia.kinetic_energy(tree, state), potential)


def momentum(tree: Tree, q: Vec, v: Vec) -> Momentum:
    """Momentum of all bodies, and of inertia that couples them (armature has none)."""
    at, tree = frames(tree, q), with_masses(tree, v)
    linear, angular = coupled_inertia.momentum(tree, machine_state(tree, 0.0, q, v))
    for e, frame, twist in zip(tree.elements, at, velocities(tree, q, at, v), strict=True):
        about_world = moved(Placement(frame.R, frame.o), e.inertia)
        P, H = impulse(about_world, _at_origin(twist, frame.o))
        linear, angular = linear + P, angular + H
    return Momentum(linear, angular)


def _at_origin(twist: Twist, o: Vec) -> Twist:
    """The velocity that the body's point at the world's origin would have."""
    return Twist(twist.linear - cross(twist.angular, o), twist.angular)


def center_of_mass(tree: Tree, q: Vec) -> Vec:
    """The mass centre of the whole machine, world axes."""
    mass: Scalar = 0.0
    first = Vec([0.0] * 3)
    for e, frame in zip(tree.elements, frames(tree, q), strict=True):
        mass = mass + e.inertia.mass
        first = first + e.inertia.mass * frame.o + frame.R @ e.inertia.first
    return first / mass
