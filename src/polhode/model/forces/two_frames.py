"""Two frames on bodies, and how one moves against the other: what springs, torsion springs and bushings are made of."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from polhode.errors import ModelError, message
from polhode.model.forces.base import ForceElement, Wrench
from polhode.model.keys import Key
from polhode.model.mount import Mount, NotCarried
from polhode.model.reflection import Reflection
from polhode.model.state import MachineState
from polhode.model.topology import WORLD
from polhode.quaternion import rotation_matrix_homogeneous
from polhode.scalar import Vec, cross
from polhode.spatial import Frame, Twist

ORIENTATIONS = {
    f"orientation_{side}": Key(
        "quaternion", f"axes of frame {side} in those of body_{side}: w, x, y, z", unit="1", fixed_to=f"body_{side}"
    )
    for side in ("a", "b")
}
"""Keys of the axes of a frame on each of two bodies."""

FRAMES = {
    f"point_{side}": Key(
        "vector", f"origin of frame {side}, m, in the axes of body_{side}", unit="m", letter=f"r_{side}",
        fixed_to=f"body_{side}",
    )
    for side in ("a", "b")
} | ORIENTATIONS  # fmt: skip
"""Keys of a frame on each of two bodies."""


class FrameOnBody(NamedTuple):
    """A frame on a body, in world axes."""

    body: str
    frame: Frame
    arm: Vec
    """From the body's origin to the frame's, m."""
    twist: Twist
    """Velocity of the frame's origin, and angular velocity."""

    def wrench(self, force: Vec, torque: Vec) -> Wrench:
        """A force at the origin of the frame and a couple, world axes, as a wrench on the body."""
        return Wrench(self.body, force, torque + cross(self.arm, force))


def body_frame(state: MachineState, body: str, point: Vec, orientation: Vec) -> FrameOnBody:
    """A frame on a body.

    point        its origin, in body axes from the body's origin, m
    orientation  (4,) its axes in body axes
    """
    R, o = state.frame(body)
    arm, (linear, angular) = R @ point, state.twist(body)
    turned = Frame(R @ rotation_matrix_homogeneous(orientation), o + arm)
    return FrameOnBody(body, turned, arm, Twist(linear + cross(angular, arm), angular))


def opposite(a: FrameOnBody, b: FrameOnBody, force: Vec, torque: Vec) -> Iterator[Wrench]:
    """Equal and opposite wrenches: a force and a couple on b at its origin, and on a whatever balances them there."""
    yield b.wrench(force, torque)
    yield a.wrench(-force, cross(a.frame.o - b.frame.o, force) - torque)


def check_two_bodies(where: str, body_a: str | None, body_b: str | None) -> None:
    """Refuse an element within one body."""
    if isinstance(body_a, str) and isinstance(body_b, str) and body_a == body_b:
        raise ModelError(message(where, "both ends on one body", f"'{body_a}'", "two bodies"))


def is_between_bodies(body_a: str | None, body_b: str | None) -> bool:
    """Whether neither end is on the world."""
    return WORLD not in (body_a, body_b)


def reflected_ends(element: ForceElement, mirror: Reflection) -> dict[str, Any]:
    """Points, directions and orientations of an element that are fixed to its bodies; see `ForceElement.reflected`."""
    found: dict[str, Any] = {}
    for name, key in element.keys.items():
        if key.fixed_to:
            image = mirror.attitude if key.holds == "quaternion" else mirror.polar
            found[name] = image(getattr(element, key.fixed_to), getattr(element, name))
    return found


def stays_on_body(mount: Mount, body: str) -> None:
    """Raise a NotCarried where a body becomes part of the world, on which nothing acts."""
    if mount.body == WORLD:
        raise NotCarried(f"body '{body}' becomes part of the world")
