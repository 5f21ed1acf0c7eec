"""Bodies, frames, shapes and motions of joints as seen from a frame on another body."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from polhode.errors import ModelError
from polhode.model.elements import Numbers, joint_elements
from polhode.model.joints.base import NOTHING, Element
from polhode.model.mount import NOWHERE, STILL, Mount, array_of, floats
from polhode.model.numbers import plain
from polhode.model.parts import Body, BodyFrame, Joint
from polhode.model.shapes import BodyShape
from polhode.model.state import GROUND
from polhode.model.topology import WORLD
from polhode.scalar import Vec


def frames_on(mounts: Mapping[str, Mount], frames: Iterable[BodyFrame], prefix: str = "") -> list[BodyFrame]:
    """Frames of a model in another one.

    mounts  for bodies of the old model where their frames are on bodies of the new one; all others are as they were
    prefix  before the names of frames
    """
    found = []
    for frame in frames:
        at = mounts.get(frame.body, Mount(frame.body)).frame(frame.position, frame.orientation)
        found.append(BodyFrame(f"{prefix}{frame.name}", at.body, at.position, at.orientation))
    return found


def shapes_on(mounts: Mapping[str, Mount], shapes: Iterable[BodyShape], prefix: str = "") -> list[BodyShape]:
    """Shapes of a model in another one, as `frames_on`."""
    found = []
    for shape in shapes:
        at = mounts.get(shape.body, Mount(shape.body)).frame(shape.position, shape.orientation)
        if at.body != WORLD:
            name = f"{prefix}{shape.name}"
            found.append(replace(shape, name=name, body=at.body, position=at.position, orientation=at.orientation))
    return found


def joint_frame(joint: Joint) -> Mount:
    """The frame of a joint on its parent, where the child is at zero."""
    return Mount(joint.parent, tuple(plain(joint.position)), tuple(plain(joint.orientation)))


def joint_motion(joint: Joint, q: Sequence[float]) -> Mount:
    """The frame of a joint's child in the joint frame.  q: its coordinates (nq,)"""
    found = Mount(joint.name)
    for _, _, motion in _motions(joint, q):
        found = found.frame(motion.position, motion.orientation)
    return found


def joint_velocity(joint: Joint, q: Sequence[float], v: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """The velocity of a joint's child and its angular velocity against the parent, in the axes of the joint frame."""
    at, linear, angular = Mount(joint.name), np.zeros(3), np.zeros(3)
    for e, own, motion in _motions(joint, q):
        then = at.frame(motion.position, motion.orientation)
        twist = e.kind.velocity(e, own, Vec([float(v[k]) for k in e.v]))
        arm = np.array(then.position) - np.array(at.position)
        linear = linear + np.cross(angular, arm) + then.R @ np.array(twist.linear, dtype=float)
        angular, at = angular + then.R @ np.array(twist.angular, dtype=float), then
    return linear, angular


def motion_elements(joint: Joint) -> list[Element]:
    """The elements of a joint alone, from its own frame."""
    bare = replace(joint, position=NOWHERE, orientation=STILL)
    return list(joint_elements(bare, GROUND, 0, 0, 0, NOTHING, Numbers({})))


def _motions(joint: Joint, q: Sequence[float]) -> Iterator[tuple[Element, Vec, Mount]]:
    """The elements of a joint, the coordinates of each, and its frame in the one before."""
    for e in motion_elements(joint):
        own = Vec([float(q[k]) for k in e.q])
        turn = e.kind.turn(e, own)
        yield e, own, Mount(joint.name, floats(e.kind.placement(e, own).r), STILL if turn is None else floats(turn))


def seen(body: Body, mount: Mount, name: str = "") -> Body:
    """A body in the frame of another.  mount: of its own frame there"""
    if mount.is_own and name in ("", body.name):
        return body
    J = body.inertia
    if mount.turns:
        turned = mount.R @ body.inertia_matrix() @ mount.R.T
        J = _rows(turned)
    return made_body(name or body.name, body.mass, J, mount.point(body.center), body.physical)


def combined(name: str, parts: Sequence[Body]) -> Body:
    """Bodies in one frame as one: masses added, inertias about the common mass centre."""
    m = [float(plain(body.mass)) for body in parts]
    c = [array_of(body.center) for body in parts]
    total = sum(m)
    center = sum((a * x for a, x in zip(m, c, strict=True)), start=np.zeros(3)) / (total or 1.0)
    J = np.zeros((3, 3))
    for body, a, x in zip(parts, m, c, strict=True):
        d = x - center
        J = J + body.inertia_matrix() + a * (d @ d * np.eye(3) - np.outer(d, d))
    return made_body(name, total, _rows(J), floats(center), all(body.physical for body in parts))


def made_body(name: str, mass: Any, inertia: Any, center: Any, physical: bool) -> Body:
    """A body that is physical where it can be: one of which a part is not may be."""
    if not physical:
        try:
            return Body(name, mass, inertia, center)
        except ModelError:
            return Body(name, mass, inertia, center, physical=False)
    return Body(name, mass, inertia, center)


def _rows(J: np.ndarray) -> tuple[tuple[float, ...], ...]:
    return tuple(floats(row) for row in (J + J.T) / 2)
