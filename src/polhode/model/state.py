"""The state of a machine at an instant: what force elements and constraints are functions of."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from polhode.scalar import Scalar, Vec, cross
from polhode.spatial import AT_REST, WORLD_FRAME, Frame, Twist

GROUND = -1
"""The index of the world as a parent."""


class MachineState(NamedTuple):
    """Where every body of a machine is at an instant, and how it moves, in world axes, on generic scalars."""

    t: Scalar
    """Time, s."""
    q: Vec
    """Coordinates (nq,)."""
    v: Vec
    """Velocities (nv,)."""
    at: Sequence[Frame]
    """The frames of the elements of the tree."""
    moving: Sequence[Twist]
    """Their velocities."""
    of_body: Mapping[str, int]
    """The element that carries each body."""
    of_joint: Mapping[str, tuple[int, ...]]
    """The places of each joint's coordinates in q."""
    constraints: Mapping[str, Mapping[str, Any]]
    """The data of each constraint by name, with its numbers."""
    rates_of_joint: Mapping[str, tuple[int, ...]] = MappingProxyType({})
    """The places of each joint's velocities in v."""

    def frame(self, body: str) -> Frame:
        """The frame of a body: its axes are the columns of R (3, 3), its origin o (3,), m."""
        i = self.of_body[body]
        return self.at[i] if i != GROUND else WORLD_FRAME

    def twist(self, body: str) -> Twist:
        """The velocity of a body's origin, m/s, and its angular velocity, rad/s, (3,) each."""
        i = self.of_body[body]
        return self.moving[i] if i != GROUND else AT_REST

    def position(self, body: str, point: Vec) -> Vec:
        """The position of a point of a body, m.  point: in body axes from the body's origin"""
        R, o = self.frame(body)
        return o + R @ point

    def velocity(self, body: str, point: Vec) -> Vec:
        """The velocity of a point of a body, m/s.  point: in body axes from the body's origin"""
        linear, angular = self.twist(body)
        return linear + cross(angular, self.frame(body).R @ point)

    def coordinate(self, joint: str) -> Scalar:
        """The coordinate of a joint that has one."""
        (k,) = self.of_joint[joint]
        return self.q[k]

    def rate(self, joint: str) -> Scalar:
        """The velocity of a joint that has one."""
        (k,) = self.rates_of_joint[joint]
        return self.v[k]
