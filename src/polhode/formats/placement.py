"""Poses of frames in frames: a position and a unit quaternion each, plain floats."""

from collections.abc import Iterable
from typing import NamedTuple

from polhode.quaternion import conjugate, normalise, product, rotate, shortest_rotation
from polhode.scalar import Vec, length, vec
from polhode.spatial import Z

ORIGIN = vec(0.0, 0.0, 0.0)
UPRIGHT = vec(1.0, 0.0, 0.0, 0.0)


class FramePose(NamedTuple):
    """The pose of frame B in frame A."""

    position: Vec = ORIGIN
    """p_AB"""
    orientation: Vec = UPRIGHT
    """q_AB: components in B → components in A"""

    def then(self, other: "FramePose") -> "FramePose":
        """The pose of C in A, from that of C in B."""
        if self.orientation == UPRIGHT:
            return FramePose(self.position + other.position, other.orientation)
        position = self.position + rotate(self.orientation, other.position)
        if other.orientation == UPRIGHT:
            return FramePose(position, self.orientation)
        return FramePose(position, normalise(product(self.orientation, other.orientation)))

    def inverse(self) -> "FramePose":
        """The pose of A in B."""
        back = conjugate(self.orientation)
        return FramePose(-rotate(back, self.position), back)


def moved(position: Iterable[float]) -> FramePose:
    """The pose of a frame that is shifted, not turned."""
    return FramePose(Vec(float(x) for x in position))


def turned(orientation: Iterable[float]) -> FramePose:
    """The pose of a frame that is turned in place; the quaternion may have any length."""
    return FramePose(ORIGIN, normalise(Vec(float(x) for x in orientation)))


def turn_from_z(axis: Iterable[float]) -> Vec:
    """The shortest turn that takes z to an axis: about z × axis, or about x where the axis is −z."""
    axis = Vec(float(x) for x in axis)
    return shortest_rotation(Z, axis / length(axis))
