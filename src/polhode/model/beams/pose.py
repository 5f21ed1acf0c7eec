"""Where bodies are in the world while all joints are at zero: there beams are without strain."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from polhode.errors import ModelError, message
from polhode.model.numbers import plain
from polhode.model.parts import Joint
from polhode.model.topology import WORLD
from polhode.quaternion import rotation_matrix


class BeamPose(NamedTuple):
    """A frame in the world where all joints are at zero."""

    R: np.ndarray
    o: np.ndarray


def pose_of(body: str, joints: Sequence[Joint]) -> BeamPose:
    """The frame of a body where all joints are at zero."""
    if body == WORLD:
        return BeamPose(np.eye(3), np.zeros(3))
    joint = next((joint for joint in joints if joint.child == body), None)
    if joint is None:
        raise ModelError(message(f"body '{body}'", "hangs on nothing", "no joint", "a joint with it as child"))
    parent = pose_of(joint.parent, joints)
    R = np.asarray(rotation_matrix(np.array(plain(joint.orientation), dtype=float)))
    return BeamPose(parent.R @ R, parent.o + parent.R @ np.array(plain(joint.position), dtype=float))
