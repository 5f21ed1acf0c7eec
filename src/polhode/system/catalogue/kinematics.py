"""Quantities of bodies: poses, velocities, accelerations, Jacobians."""

from polhode.dynamics import kinematics
from polhode.scalar import Vec
from polhode.system.catalogue.record import FRAMES, POINT, QUATERNION, VD, VECTOR, Q, V, quantity
from polhode.system.quantity import Request
from polhode.system.records import Pose, Velocity


@quantity((Q,), VECTOR, QUATERNION, by=FRAMES, record=Pose, of_body=True)
def pose(r: Request) -> Pose:
    """The position and the quaternion of a body."""
    x, i = r.x, r.x.tree.of_body[r.body]
    return Pose(kinematics.frames(x.tree, x.q)[i].o, kinematics.orientations(x.tree, x.q)[i])


@quantity((Q, V), VECTOR, VECTOR, by=FRAMES, record=Velocity, of_body=True)
def velocity(r: Request) -> Velocity:
    """The linear and the angular velocity of a body."""
    x = r.x
    frames = kinematics.frames(x.tree, x.q)
    return Velocity(*kinematics.velocities(x.tree, x.q, frames, x.v)[x.tree.of_body[r.body]])


@quantity((Q, V, VD), VECTOR, VECTOR, by=FRAMES, record=Velocity, of_body=True)
def acceleration(r: Request) -> Velocity:
    """The linear and the angular acceleration of a body."""
    x = r.x
    frames = kinematics.frames(x.tree, x.q)
    return Velocity(*kinematics.accelerations(x.tree, x.q, frames, x.v, x.vd)[x.tree.of_body[r.body]])


@quantity((Q, POINT), (6, "nv"), by=FRAMES, of_body=True)
def jacobian(r: Request) -> Vec:
    """The Jacobian of a point of a body, linear rows first."""
    return kinematics.jacobian(r.x.tree, r.x.q, r.x.tree.of_body[r.body], r.x.point)


@quantity((Q, V, POINT), (6, "nv"), by=FRAMES, of_body=True)
def jacobian_rate(r: Request) -> Vec:
    """The time derivative of the Jacobian of a point of a body."""
    return kinematics.jacobian_rate(r.x.tree, r.x.q, r.x.v, r.x.tree.of_body[r.body], r.x.point)
