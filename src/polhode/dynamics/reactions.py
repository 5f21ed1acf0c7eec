"""Reactions: the forces and torques of constraints and joints on the bodies they hold.

The force of a constraint is the one whose power is that of its multipliers: λ·r = F·u + T·ω for any velocity (u, ω)
of body b against body a, so it is read off the residual by moving the frame on b alone.
"""

from collections.abc import Sequence
from typing import NamedTuple

from polhode.dynamics import inverse, kinematics
from polhode.dynamics.forces import add_wrench
from polhode.dynamics.state_inertia import with_masses
from polhode.model import Constraint, Tree
from polhode.model.constraints.base import BodyConstraint, as_vector
from polhode.model.constraints.frames import MovingFrame, end
from polhode.model.state import MachineState
from polhode.model.tree import GROUND
from polhode.quaternion import rotation_matrix_homogeneous, skew
from polhode.scalar import Vec, cross, identity, jacobian


class Reaction(NamedTuple):
    """The force on body b of a constraint, and its torque about the point where it acts, in world axes."""

    force: Vec
    torque: Vec
    point: Vec
    axes: Vec
    """The axes of the frame on body a, as columns."""

    @property
    def in_joint_axes(self) -> tuple[Vec, Vec]:
        """Force and torque in the axes of the frame on body a."""
        return self.axes.T @ self.force, self.axes.T @ self.torque


def reaction(constraint: Constraint, state: MachineState, held: Vec, slipping: Vec) -> Reaction:
    """The reaction of a constraint between two bodies.

    held, slipping  multipliers of its rows of positions and of velocities
    """
    data, kind = state.constraints[constraint.name], constraint.kind
    assert isinstance(kind, BodyConstraint)
    a, b, still = end(data, "a", state), end(data, "b", state), Vec([0.0 * state.q[0]] * 6)
    wrench = still
    if kind.rows:
        wrench = wrench + held @ jacobian(lambda z: as_vector(kind.positions(a, _moved(b, z), data)), still)[1]
    if kind.rate_rows:
        wrench = wrench + slipping @ jacobian(lambda z: as_vector(kind.velocities(a, _faster(b, z), data)), still)[1]
    force, about_b = Vec(wrench[:3]), Vec(wrench[3:])
    point = kind.point(a, b, data)
    return Reaction(force, about_b - cross(point - b.o, force), point, a.R)


def _moved(b: MovingFrame, z: Vec) -> MovingFrame:
    """The frame a small step and a small turn further."""
    return b._replace(o=b.o + Vec(z[:3]), R=b.R + skew(Vec(z[3:])) @ b.R)


def _faster(b: MovingFrame, z: Vec) -> MovingFrame:
    return b._replace(velocity=b.velocity + Vec(z[:3]), omega=b.omega + Vec(z[3:]))


def on_bodies(
    tree: Tree, state: MachineState, found: Sequence[tuple[Constraint, Reaction]], wrenches: dict[int, tuple[Vec, Vec]]
) -> None:
    """Add reactions to the wrenches on elements: on body b, and the opposite on body a."""
    for constraint, (force, torque, point, _) in found:
        for side, sign in (("b", 1.0), ("a", -1.0)):
            i = tree.of_body[constraint.data.get(f"body_{side}", "world")]
            if i != GROUND:
                f = sign * force
                add_wrench(wrenches, state.at, i, f, sign * torque + cross(point - state.at[i].o, f))


def joint_loads(tree: Tree, q: Vec, v: Vec, vd: Vec, wrenches: inverse.Wrenches) -> list[tuple[Vec, Vec]]:
    """The load of each joint on its child, its drive included: force, and torque about the child's origin.

    In the axes of the joint frame, which is fixed in the parent; joints in the order of the tree's elements.
    """
    tree = with_masses(tree, v)
    given, at, found = inverse.loads(tree, q, v, vd, wrenches=wrenches), kinematics.frames(tree, q), []
    first = -1
    for i, e in enumerate(tree.elements):
        if first < 0:
            first = i
        if e.body is None:
            continue
        start = tree.elements[first]
        parent = at[start.parent].R if start.parent != GROUND else identity(3)
        back = (parent @ rotation_matrix_homogeneous(start.orientation)).T @ at[i].R
        f, n = given[i]
        found.append((back @ f, back @ n))
        first = -1
    return found
