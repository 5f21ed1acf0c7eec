"""`Pose`: where a frame is in another, a position and a unit quaternion."""

from typing import Any, NamedTuple, Self

import numpy as np

from polhode.errors import InputError, message
from polhode.scalar import Array, one_of, shown
from polhode.spatial.rigid_motion import (
    adjoint,
    composed,
    decoupled_between,
    dual_quaternion,
    exp6,
    from_dual_quaternion,
    from_transform,
    inverted,
    log6,
    moved_force,
    moved_inertia,
    moved_motion,
    placed,
    screw_between,
    transform,
)

PATHS = {"screw": screw_between, "decoupled": decoupled_between}
"""The paths between two poses."""


class Pose(NamedTuple):
    """A frame in another: its origin, and the quaternion that turns its components into the other's.

        >>> import polhode as ph
        >>> lift = ph.Pose((0, 0, 2))
        >>> turn = ph.Pose.exp((0, 0, 0, 0, 0, 3.141592653589793))
        >>> print((lift @ turn).apply((1, 0, 0)).round(3))
        [-1.  0.  2.]

    With X_WB the pose of B in W, X_WC = X_WB @ X_BC. All take batches; six numbers are a linear part, then an angular.
    """

    position: Any
    """(..., 3)  m"""
    quaternion: Any = (1.0, 0.0, 0.0, 0.0)
    """(..., 4)  unit, (w, x, y, z); not turned unless given"""

    @classmethod
    def identity(cls) -> Self:
        """The frame itself."""
        return cls(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))

    @classmethod
    def exp(cls, motion: Array) -> Self:
        """The pose that a constant motion (..., 6), v and ω in the axes of the moving frame, reaches in unit time."""
        return cls(*exp6(motion))

    def log(self) -> Any:
        """The motion (..., 6) that reaches the pose in unit time, turning by at most π: the inverse of `exp`."""
        return log6(*self)

    @classmethod
    def from_matrix(cls, matrix: Array) -> Self:
        """The pose of a homogeneous matrix (..., 4, 4)."""
        return cls(*from_transform(matrix))

    def matrix(self) -> Any:
        """The homogeneous matrix (..., 4, 4)."""
        return transform(*self)

    @classmethod
    def from_dual_quaternion(cls, dual: Array) -> Self:
        """The pose of a unit dual quaternion (..., 8), its real part first."""
        return cls(*from_dual_quaternion(dual))

    def dual_quaternion(self) -> Any:
        """The unit dual quaternion (..., 8), p + ε ½ (0, r)∘p, its real part first."""
        return dual_quaternion(*self)

    def __matmul__(self, other: Any) -> Any:
        return type(self)(*composed(*self, *_pose("Pose @", other)))

    def inverse(self) -> Self:
        """The pose of the other frame in this one."""
        return type(self)(*inverted(*self))

    def relative(self, other: Any) -> Self:
        """The pose of another frame as seen from this one: X_BC = X_WB.relative(X_WC)."""
        return self.inverse() @ other

    def apply(self, points: Array) -> Any:
        """Points (..., 3) of this frame in the other."""
        return placed(*self, points)

    def adjoint(self) -> Any:
        """The matrix (..., 6, 6) that moves motions of this frame to the other."""
        return adjoint(*self)

    def move_motion(self, motion: Array) -> Any:
        """A motion (..., 6) in this frame, at its origin, in the other frame, at its origin."""
        return moved_motion(*self, motion)

    def move_force(self, force: Array) -> Any:
        """A force and couple (..., 6) in this frame, at its origin, in the other frame, at its origin."""
        return moved_force(*self, force)

    def move_inertia(self, inertia: Array) -> Any:
        """A spatial inertia (..., 6, 6) in this frame, about its origin, in the other frame, about its origin."""
        return moved_inertia(*self, inertia)

    def interpolate(self, other: Any, part: Array, path: str = "screw") -> Self:
        """The pose between this one (part 0) and another (part 1), the shorter way round.

        path  "screw": along the one screw motion between them; "decoupled": the origin on a straight line
        """
        between = PATHS[one_of("Pose.interpolate, path", path, PATHS, "no such path")]
        return type(self)(*between(*self, *_pose("Pose.interpolate", other), part))

    def is_same(self, other: Any, tolerance: float = 1e-12) -> Any:
        """Whether another pose places alike, within a tolerance in m and rad; p and −p are one attitude: (...)."""
        difference = self.relative(_pose("Pose.is_same", other)).log()
        found = np.all(abs(np.asarray(difference)) <= tolerance, axis=-1)
        return found if found.ndim else bool(found)


def _pose(where: str, value: Any) -> tuple[Any, Any]:
    """Position and quaternion of what should be a pose, or an InputError."""
    if not isinstance(value, tuple) or len(value) != 2:
        raise InputError(message(where, "not a pose", shown(value), "a Pose"))
    return value
