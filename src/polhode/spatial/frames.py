"""Frames in other frames, and their motions, on generic scalars."""

from typing import NamedTuple

from polhode.scalar import Scalar, Vec, identity, vec


class Placement(NamedTuple):
    """A frame in another: components turn by R (this → other), the origin lies at r."""

    R: Vec
    r: Vec


class Frame(NamedTuple):
    """A frame in the world: components turn by R (this → world), the origin lies at o."""

    R: Vec
    o: Vec


class Twist(NamedTuple):
    """Velocity of a frame's origin and angular velocity (or their rates)."""

    linear: Vec
    angular: Vec


ORIGIN = vec(0.0, 0.0, 0.0)
Z = vec(0.0, 0.0, 1.0)
WORLD_FRAME = Frame(identity(3), ORIGIN)
AT_REST = Twist(ORIGIN, ORIGIN)


def snapped(R: Vec) -> Vec:
    """Direction cosines with those that are 0, 1 or −1 but for rounding made so, so that what vanishes folds."""
    return Vec([Vec([float(round(x)) if _is_whole(x) else x for x in row]) for row in R])


def _is_whole(x: Scalar) -> bool:
    return isinstance(x, float) and abs(x - round(x)) < 1e-15
