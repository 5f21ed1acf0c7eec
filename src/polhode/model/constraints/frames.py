"""The frames that a constraint names on its two bodies, and how one is placed against the other."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from polhode.model.joints.base import UPRIGHT
from polhode.model.state import MachineState
from polhode.quaternion import rotation_matrix_homogeneous, shortest_rotation
from polhode.scalar import Scalar, Vec, cross, dot, length, maximum, minimum, smooth, trace, vec, where
from polhode.spatial import ORIGIN, Z, snapped

DOWN = -0.9
"""The z of a unit vector below which the shortest turn to it is ill-defined."""


class MovingFrame(NamedTuple):
    """A frame fixed to a body: its axes (columns of R) and its origin in the world, with their velocities."""

    R: Vec
    o: Vec
    velocity: Vec
    omega: Vec

    def axis(self, k: int) -> Vec:
        """One of its axes in the world."""
        return Vec([row[k] for row in self.R])

    def carries(self, point: Vec) -> Vec:
        """The velocity of the point of its body that is there."""
        return self.velocity + cross(self.omega, point - self.o)


def end(data: Mapping[str, Any], side: str, state: MachineState) -> MovingFrame:
    """The frame that a constraint names on one of its two bodies."""
    body = data.get(f"body_{side}", "world")
    frame, moving = state.frame(body), state.twist(body)
    arm = frame.R @ Vec(data.get(f"position_{side}", ORIGIN))
    R = frame.R @ attitude(data, side)
    return MovingFrame(R, frame.o + arm, moving.linear + cross(moving.angular, arm), moving.angular)


@smooth
def attitude(data: Mapping[str, Any], side: str) -> Vec:
    """The axes of the frame on a body (columns): by a quaternion, or the shortest turn that takes z to an axis."""
    if f"axis_{side}" not in data:
        return snapped(rotation_matrix_homogeneous(Vec(data.get(f"orientation_{side}", UPRIGHT))))
    axis = Vec(data[f"axis_{side}"])
    x, y, z = axis / length(axis)
    if isinstance(z, float):
        return snapped(_mirrored(x, y, z) if z < DOWN else _shortest(x, y, z))
    down, up = _mirrored(x, y, minimum(z, DOWN)), _shortest(x, y, maximum(z, DOWN))
    return Vec([where(z < DOWN, a, b) for a, b in zip(down, up, strict=True)])


def _shortest(x: Scalar, y: Scalar, z: Scalar) -> Vec:
    """The shortest turn that takes (0, 0, 1) to a unit vector."""
    return rotation_matrix_homogeneous(shortest_rotation(Z, Vec((x, y, z))))


def _mirrored(x: Scalar, y: Scalar, z: Scalar) -> Vec:
    """The same near (0, 0, −1): the turn to its mirror image, then half a turn about x."""
    R = _shortest(x, -y, -z)
    return Vec([R[0], -R[1], -R[2]])


def apart(a: MovingFrame, b: MovingFrame) -> Vec:
    """The origin of b in the frame of a."""
    return a.R.T @ (b.o - a.o)


def turned(a: MovingFrame, b: MovingFrame) -> Vec:
    """The turn of b against a, as a vector: 2 tan(θ/2) along its axis, 0 only where the frames agree."""
    C = a.R.T @ b.R
    axial = vec(C[2][1] - C[1][2], C[0][2] - C[2][0], C[1][0] - C[0][1])
    return 2 * axial / (1 + trace(C))


def tilted(a: MovingFrame, b: MovingFrame) -> Vec:
    """How far the axis of b leans from that of a, towards x and y; an axis has no direction."""
    return vec(dot(a.axis(0), b.axis(2)), dot(a.axis(1), b.axis(2)))
