"""Cans over the machine: each joint as two halves of a can that turn against each other, or slide.

Of a ball or a free body the three angles of a sequence are three pairs of halves in series, on the frames between.
"""

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode import euler, quaternion
from polhode.model import WORLD, Joint, Model, plain
from polhode.model.constraints.registry import CONSTRAINTS
from polhode.quaternion import from_axis_angle, product

MOST_JOINTS = 16
"""Machines with more joints have no cans."""

Part = dict[str, Any]
Pose = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class CanHalf:
    """Parts on a frame of its own: its path (frames, 3), its attitudes (frames, 4), the number of its colour."""

    position: np.ndarray
    attitude: np.ndarray
    colour: int
    parts: list[Part]


def from_z(direction: Any) -> np.ndarray:
    """The shortest turn that takes z to a direction, as a quaternion."""
    d = np.asarray(direction, dtype=float)
    return np.asarray(quaternion.shortest_rotation((0.0, 0.0, 1.0), d / np.linalg.norm(d)))


def can(at: np.ndarray, turn: np.ndarray, radius: float, height: float) -> Part:
    """A can about the z axis of a frame."""
    place = {"at": [float(x) for x in at], "turn": [float(x) for x in turn]}
    return {"kind": "cylinder", "r": float(radius), "h": float(height), **place, "pattern": 1}


def cans(
    model: Model,
    r: np.ndarray,
    p: np.ndarray,
    radius: float,
    sequence: str = "313",
    nodes: Container[str] = (),
) -> list[CanHalf]:
    """All cans of a machine.

    r, p    (frames, bodies, 3 and 4)  poses of the bodies
    radius  of a can, m
    nodes   bodies whose free joints have none: parts of beams
    """
    if len(model.joints) > MOST_JOINTS:
        return []
    place = {body.name: k for k, body in enumerate(model.bodies)}
    found: list[CanHalf] = []
    for k, joint in enumerate(model.joints):
        child = place[joint.child]
        if joint.kind.floats and joint.child in nodes:
            continue
        if joint.parent == WORLD:
            base_r, base_p = np.zeros_like(r[:, 0]), np.tile([1.0, 0.0, 0.0, 0.0], (len(r), 1))
        else:
            base_r, base_p = r[:, place[joint.parent]], p[:, place[joint.parent]]
        turned = np.asarray(product(base_p, np.broadcast_to(plain(joint.orientation), base_p.shape)), dtype=float)
        at = base_r + np.asarray(quaternion.rotate(base_p, np.broadcast_to(plain(joint.position), base_r.shape)))
        colours = (place.get(joint.parent, 6), k)
        if joint.kind.has_quaternion:
            frames = (turned, p[:, child])
            found += _ball(r[:, child], frames, sequence, radius, k)
        elif joint.kind.symbol in ("revolute", "screw", "prismatic"):
            found += _pair(joint, (at, turned), (r[:, child], p[:, child]), radius, colours)
    for constraint in model.constraints:
        if constraint.type in CONSTRAINTS and constraint.kind.turns_about_axis:
            found += _closing(constraint.data, r, p, place, radius)
    return found


def _closing(
    data: Mapping[str, Any], r: np.ndarray, p: np.ndarray, place: dict[str, int], radius: float
) -> list[CanHalf]:
    """The two halves of a can that closes a loop, each on its body or on the ground."""
    found, h = [], 1.15 * radius
    for side, half in (("a", -0.53), ("b", 0.53)):
        at = np.array(plain(data.get(f"position_{side}", (0, 0, 0))), dtype=float)
        turn = np.array(plain(data.get(f"orientation_{side}", (1, 0, 0, 0))), dtype=float)
        axis = np.asarray(quaternion.rotate(turn / np.linalg.norm(turn), (0.0, 0.0, 1.0)))
        if f"axis_{side}" in data:
            axis = np.array(plain(data[f"axis_{side}"]), dtype=float)
            axis = axis / np.linalg.norm(axis)
        k = place.get(data.get(f"body_{side}", WORLD))
        pose = (np.zeros_like(r[:, 0]), np.tile([1.0, 0.0, 0.0, 0.0], (len(r), 1))) if k is None else (r[:, k], p[:, k])
        found.append(CanHalf(*pose, 6 if k is None else k, [can(at + half * h * axis, from_z(axis), radius, h)]))
    return found


def _pair(joint: Joint, base: Pose, moved: Pose, r: float, colours: tuple[int, int]) -> Iterator[CanHalf]:
    """The half on the parent and the half on the child, of a joint with one axis."""
    axis = np.array(plain(joint.axis), dtype=float)
    turn, h = from_z(axis), 1.15 * r
    if joint.kind.symbol == "prismatic":  # a rod in a tube
        yield CanHalf(*base, colours[0], [can(-1.6 * r * axis, turn, r, 3.2 * r)])
        yield CanHalf(*moved, colours[1], [can(-0.8 * r * axis, turn, 0.68 * r, 4.4 * r)])
        return
    yield CanHalf(*base, colours[0], [can(-0.53 * h * axis, turn, r, h)])
    yield CanHalf(*moved, colours[1], [can(0.53 * h * axis, turn, r, h)])


def _ball(at: np.ndarray, ends: Pose, sequence: str, r: float, colour: int) -> Iterator[CanHalf]:
    """Three pairs in series, about the first, second and third axis of a sequence."""
    frames = between(*ends, sequence)
    axes = np.eye(3)[[int(digit) - 1 for digit in sequence]]
    h = 0.8 * r
    parts: list[list[Part]] = [[], [], [], []]
    for k, (axis, side) in enumerate(zip(axes, (-1, 1, 1), strict=True)):
        turn, middle = from_z(axis), 2.1 * r * side
        for near, half in ((k, -1), (k + 1, 1)):  # the half nearer to space is on the frame before the turn
            parts[near].append(can((middle + 0.53 * h * half) * axis, turn, r, h))
    for k, frame in enumerate(frames):
        yield CanHalf(at, frame, (colour + k) % 8, parts[k])


def between(first: np.ndarray, last: np.ndarray, sequence: str) -> list[np.ndarray]:
    """The frames before and after each of the three turns that lead from the first attitude to the last (n, 4) each."""
    relative = np.asarray(product(quaternion.conjugate(first), last))
    relative /= np.linalg.norm(relative, axis=1, keepdims=True)
    angles, _ = euler.from_quaternion(sequence, relative, at_lock="flag")
    frames = [first]
    for digit, angle in zip(sequence[:2], angles.T, strict=False):
        turn = np.asarray(from_axis_angle(np.tile(np.eye(3)[int(digit) - 1], (len(angle), 1)), angle))
        frames.append(np.asarray(product(frames[-1], turn)))
    return [*frames, last]
