"""Two frames on bodies, and how one moves against the other: what springs, torsion springs and bushings are made of."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from polhode.errors import ModelError, message
from polhode.model.forces.base import Wrench
from polhode.model.mount import Mount, NotCarried
from polhode.model.reflection import Reflection
from polhode.model.state import MachineState
from polhode.model.topology import WORLD
from polhode.quaternion import rotation_matrix_homogeneous
from polhode.scalar import Vec, cross
from polhode.spatial import Frame, Twist

SIDES = ("a", "b")


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


def moved_ends(element: Any, mounts: Mapping[str, Mount]) -> dict[str, Any]:
    """Points and orientations of an element between frames on two bodies; see `ForceElement.moved`."""
    found: dict[str, Any] = {}
    for side in SIDES:
        mount = mounts[f"body_{side}"]
        if f"point_{side}" in element.keys:
            found[f"point_{side}"] = mount.point(getattr(element, f"point_{side}"))
        if f"orientation_{side}" in element.keys:
            found[f"orientation_{side}"] = mount.attitude(getattr(element, f"orientation_{side}"))
    return found


def reflected_ends(element: Any, mirror: Reflection) -> dict[str, Any]:
    """Points and orientations of an element between frames on two bodies; see `ForceElement.reflected`."""
    found: dict[str, Any] = {}
    for side in SIDES:
        body = getattr(element, f"body_{side}")
        if f"point_{side}" in element.keys:
            found[f"point_{side}"] = mirror.polar(body, getattr(element, f"point_{side}"))
        if f"orientation_{side}" in element.keys:
            found[f"orientation_{side}"] = mirror.attitude(body, getattr(element, f"orientation_{side}"))
    return found


def stays_on_body(mount: Mount, body: str) -> None:
    """Raise a NotCarried where a body becomes part of the world, on which nothing acts."""
    if mount.body == WORLD:
        raise NotCarried(f"body '{body}' becomes part of the world")
