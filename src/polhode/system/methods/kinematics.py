"""Methods of System: bodies, their poses, velocities, accelerations, Jacobians."""

from typing import Any

from polhode.scalar import Array
from polhode.spatial.pose import Pose
from polhode.system.catalogue import kinematics
from polhode.system.methods.base import ALIGNED, CLASSICAL, ORIGIN, QuantityMethods
from polhode.system.records import AccelerationDerivatives, Velocity, VelocityDerivatives


class KinematicsMethods(QuantityMethods):
    """The methods of bodies: poses, velocities, accelerations, Jacobians.

    point  (..., 3)  in the axes of the body; its origin unless given
    axes   "world-aligned": at the point, world axes; "local": at the point, the body's axes; "world": at the world's
           origin, of the point of the body that is there just now, world axes
    kind   of accelerations: "classical", the second derivative of the position, or "spatial", a − ω × v
    """

    def pose(self, q: Array, body: str, **options: Any) -> Pose:
        """Position and quaternion of a body frame in the world."""
        return self._call(kinematics.pose, options, q, of=(body,))

    def velocity(
        self, q: Array, v: Array, body: str, point: Array = ORIGIN, axes: str = ALIGNED, **options: Any
    ) -> Velocity:
        """Velocity of a point and the angular velocity of its body: `jacobian` times v, without the matrix."""
        return self._call(kinematics.velocity, options, q, v, self._point(point), of=(body, axes))

    def acceleration(
        self,
        q: Array,
        v: Array,
        vd: Array,
        body: str,
        point: Array = ORIGIN,
        axes: str = ALIGNED,
        kind: str = CLASSICAL,
        **options: Any,
    ) -> Velocity:
        """Acceleration of a point and the angular acceleration of its body, classical or spatial."""
        return self._call(kinematics.acceleration, options, q, v, vd, self._point(point), of=(body, axes, kind))

    def jacobian(self, q: Array, body: str, point: Array = ORIGIN, axes: str = ALIGNED, **options: Any) -> Any:
        """(..., 6, nv): three linear rows, three angular, at a point in body axes."""
        return self._call(kinematics.jacobian, options, q, self._point(point), of=(body, axes))

    def jacobian_rate(
        self, q: Array, v: Array, body: str, point: Array = ORIGIN, axes: str = ALIGNED, **options: Any
    ) -> Any:
        """The time derivative of `jacobian` along the motion (..., 6, nv)."""
        return self._call(kinematics.jacobian_rate, options, q, v, self._point(point), of=(body, axes))

    def kinematic_hessian(self, q: Array, body: str, point: Array = ORIGIN, axes: str = ALIGNED, **options: Any) -> Any:
        """(..., 6, nv, nv), [r, a, b]: the derivative of column a of `jacobian` along the tangent direction b of q."""
        return self._call(kinematics.kinematic_hessian, options, q, self._point(point), of=(body, axes))

    def generalized_force(
        self, q: Array, load: Array, body: str, point: Array = ORIGIN, axes: str = ALIGNED, **options: Any
    ) -> Any:
        """Generalised force (..., nv) of a load at a point: the transpose of `jacobian` times it, without the matrix.

        load  (..., 6)  force, N, and couple, N m, in the same axes and at the same place as the rows of `jacobian`
        """
        return self._call(kinematics.generalized_force, options, q, load, self._point(point), of=(body, axes))

    def velocity_derivatives(
        self, q: Array, v: Array, body: str, point: Array = ORIGIN, axes: str = ALIGNED, **options: Any
    ) -> VelocityDerivatives:
        """∂/∂q (tangent) and ∂/∂v of `velocity`, (..., 6, nv) each, linear rows first."""
        return self._call(kinematics.velocity_derivatives, options, q, v, self._point(point), of=(body, axes))

    def acceleration_derivatives(
        self,
        q: Array,
        v: Array,
        vd: Array,
        body: str,
        point: Array = ORIGIN,
        axes: str = ALIGNED,
        kind: str = CLASSICAL,
        **options: Any,
    ) -> AccelerationDerivatives:
        """∂/∂q (tangent), ∂/∂v and ∂/∂v̇ of `acceleration`, (..., 6, nv) each, linear rows first."""
        return self._call(
            kinematics.acceleration_derivatives, options, q, v, vd, self._point(point), of=(body, axes, kind)
        )
