"""The free joint with angles: position of the child's origin in the joint frame, then yaw, pitch and roll."""

import math
from collections.abc import Sequence

import numpy as np

from polhode.euler import from_quaternion
from polhode.model.joints.base import Element, JointKind
from polhode.model.joints.prismatic import PRISMATIC
from polhode.model.joints.revolute import REVOLUTE

LOCK = 1e-6
"""The cosine of the pitch below which yaw and roll are not told apart: about six digits of both are lost there."""


class RpyFreeJoint(JointKind):
    """Nothing holds the child; R = Rz(yaw) Ry(pitch) Rx(roll), v = q̇. At pitch = ±90° it is locked: M is singular."""

    name = "rpy-free"
    elements = (
        (PRISMATIC, "x"),
        (PRISMATIC, "y"),
        (PRISMATIC, "z"),
        (REVOLUTE, "z"),
        (REVOLUTE, "y"),
        (REVOLUTE, "x"),
    )
    coordinates = ("px", "py", "pz", "yaw", "pitch", "roll")
    dofs = ("speed_x", "speed_y", "speed_z", "yaw_rate", "pitch_rate", "roll_rate")
    letters = ("x", "y", "z", "psi", "theta", "phi")
    floats, shifts, spins = True, 3, "all"

    def closing(self, elements: Sequence[Element]) -> None:
        """It holds nothing."""

    def from_pose(self, elements: Sequence[Element], r: np.ndarray, p: np.ndarray) -> list[float]:
        """Travels by the origin; yaw, pitch, roll of the attitude, or a GimbalLockError."""
        return [float(x) for x in (*r, *from_quaternion("321", p))]

    def fault(self, q: Sequence[float]) -> str:
        """Gimbal lock: yaw and roll turn about one axis."""
        if abs(math.cos(q[4])) > LOCK:
            return ""
        return f"gimbal lock: at a pitch of {math.degrees(q[4]):.6g}° yaw and roll turn about one axis"
