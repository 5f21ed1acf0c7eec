"""Quantities of bodies: poses, velocities, accelerations, Jacobians and their derivatives."""

from polhode.dynamics import body_points
from polhode.scalar import Vec
from polhode.spatial.pose import Pose
from polhode.system.algorithms import slopes_by_duals, slopes_by_graph
from polhode.system.catalogue.record import (
    FRAMES,
    LOAD,
    POINT,
    QUATERNION,
    SIX_ROWS,
    VD,
    VECTOR,
    VELOCITIES,
    Q,
    V,
    quantity,
)
from polhode.system.quantity import Request
from polhode.system.records import AccelerationDerivatives, Velocity, VelocityDerivatives

DIFFERENTIATED = "differentiating the graph of the motion along the frame fields; BEYOND §3"


@quantity((Q,), VECTOR, QUATERNION, by=FRAMES, record=Pose, of_body=True)
def pose(r: Request) -> Pose:
    """The position and the quaternion of a body."""
    return body_points.pose(r.x.tree, r.x.q, r.subject.body)


@quantity((Q, V, POINT), VECTOR, VECTOR, by=FRAMES, record=Velocity, of_body=True, choices=("axes",))
def velocity(r: Request) -> Velocity:
    """The linear velocity of a point of a body, and the angular velocity of the body."""
    x = r.x
    return Velocity(*body_points.velocity(x.tree, x.q, x.v, r.place, r.subject.axes))


@quantity((Q, V, VD, POINT), VECTOR, VECTOR, by=FRAMES, record=Velocity, of_body=True, choices=("axes", "kind"))
def acceleration(r: Request) -> Velocity:
    """The linear acceleration of a point of a body, and the angular acceleration of the body."""
    x = r.x
    return Velocity(*body_points.acceleration(x.tree, x.q, x.v, x.vd, r.place, *r.subject[1:]))


@quantity((Q, POINT), SIX_ROWS, by=FRAMES, of_body=True, choices=("axes",))
def jacobian(r: Request) -> Vec:
    """The Jacobian of a point of a body, linear rows first."""
    return body_points.jacobian(r.x.tree, r.x.q, r.place, r.subject.axes)


@quantity((Q, V, POINT), SIX_ROWS, by=FRAMES, of_body=True, choices=("axes",))
def jacobian_rate(r: Request) -> Vec:
    """The time derivative of the Jacobian of a point of a body."""
    return body_points.jacobian_rate(r.x.tree, r.x.q, r.x.v, r.place, r.subject.axes)


@quantity((Q, POINT), (*SIX_ROWS, "nv"), by=FRAMES, of_body=True, choices=("axes",))
def kinematic_hessian(r: Request) -> Vec:
    """The derivatives of the Jacobian of a point of a body along the tangent directions of q."""
    return body_points.hessian(r.x.tree, r.x.q, r.place, r.subject.axes)


@quantity((Q, LOAD, POINT), VELOCITIES, by="force and couple, handed to the root", of_body=True, choices=("axes",))
def generalized_force(r: Request) -> Vec:
    """The generalised force of a force and a couple at a point of a body."""
    x = r.x
    return body_points.generalized_force(x.tree, x.q, x.load, r.place, r.subject.axes)


def _velocity(r: Request) -> Vec:
    return Vec([x for part in velocity.algorithms[0].function(r) for x in part])


def _acceleration(r: Request) -> Vec:
    return Vec([x for part in acceleration.algorithms[0].function(r) for x in part])


@quantity(
    (Q, V, POINT),
    SIX_ROWS,
    SIX_ROWS,
    by=DIFFERENTIATED,
    record=VelocityDerivatives,
    of_body=True,
    choices=("axes",),
    on_numbers=slopes_by_duals(_velocity, "v"),
)
def velocity_derivatives(r: Request) -> tuple[Vec, ...]:
    """The derivatives of the velocities of a point of a body along the tangent directions of q and by v."""
    return slopes_by_graph(_velocity, "v")(r)


@quantity(
    (Q, V, VD, POINT),
    SIX_ROWS,
    SIX_ROWS,
    SIX_ROWS,
    by=DIFFERENTIATED,
    record=AccelerationDerivatives,
    of_body=True,
    choices=("axes", "kind"),
    on_numbers=slopes_by_duals(_acceleration, "v", "vd"),
)
def acceleration_derivatives(r: Request) -> tuple[Vec, ...]:
    """The derivatives of the accelerations of a point of a body along the tangent directions of q, by v and by v̇."""
    return slopes_by_graph(_acceleration, "v", "vd")(r)
