"""Methods of System: bodies: poses, velocities, accelerations, Jacobians."""

from typing import Any

from polhode.scalar import Array
from polhode.system.catalogue import kinematics
from polhode.system.methods.base import ORIGIN, QuantityMethods
from polhode.system.records import Pose, Velocity


class KinematicsMethods(QuantityMethods):
    """The methods of bodies: poses, velocities, accelerations, Jacobians."""

    def pose(self, q: Array, body: str, **options: Any) -> Pose:
        """Position and quaternion of a body frame in the world."""
        return self._call(kinematics.pose, options, q, body=body)

    def velocity(self, q: Array, v: Array, body: str, **options: Any) -> Velocity:
        """Velocity of a body frame's origin and its angular velocity, world axes."""
        return self._call(kinematics.velocity, options, q, v, body=body)

    def acceleration(self, q: Array, v: Array, vd: Array, body: str, **options: Any) -> Velocity:
        """Acceleration of a body frame's origin and its angular acceleration, world axes."""
        return self._call(kinematics.acceleration, options, q, v, vd, body=body)

    def jacobian(self, q: Array, body: str, point: Array = ORIGIN, **options: Any) -> Any:
        """(..., 6, nv): three linear rows, three angular, world axes, at a point in body axes."""
        point = self._origin if point is ORIGIN else point
        return self._call(kinematics.jacobian, options, q, point, body=body)

    def jacobian_rate(self, q: Array, v: Array, body: str, point: Array = ORIGIN, **options: Any) -> Any:
        """The time derivative of `jacobian` along the motion (..., 6, nv)."""
        point = self._origin if point is ORIGIN else point
        return self._call(kinematics.jacobian_rate, options, q, v, point, body=body)
