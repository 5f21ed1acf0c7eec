"""Spatial vectors: velocities and accelerations of a frame at rest, and the forces that bodies need for them.

All are about one point, in one set of axes, which do not move with any body.
"""

from polhode.dynamics.inertia import impulse
from polhode.scalar import Vec, cross
from polhode.spatial import ORIGIN, Inertia, Twist

NO_FORCE = (ORIGIN, ORIGIN)
SYMMETRIC = Vec([0.0] * 6)
"""The numbers of a symmetric matrix."""


def motion_cross(v: Twist, m: Twist) -> Twist:
    """v × m of two motions."""
    return Twist(cross(v.angular, m.linear) + cross(v.linear, m.angular), cross(v.angular, m.angular))


def moved_to(m: Twist, d: Vec) -> Twist:
    """A motion seen at a point d further."""
    return Twist(m.linear + cross(m.angular, d), m.angular)


def plus(a: Twist, b: Twist) -> Twist:
    """The sum of two motions."""
    return Twist(a.linear + b.linear, a.angular + b.angular)


def needed(body: Inertia, v: Twist, a: Twist) -> tuple[Vec, Vec]:
    """The force I a + v ×* I v and its moment."""
    (P, H), (f, n) = impulse(body, v), impulse(body, a)
    return f + cross(v.angular, P), n + cross(v.angular, H) + cross(v.linear, P)
