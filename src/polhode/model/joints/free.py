"""The free joint: position of the child's origin in the joint frame, then its quaternion."""

from collections.abc import Sequence

import numpy as np

from polhode.model.joints.base import Element, JointKind, read_apart
from polhode.model.joints.prismatic import PRISMATIC
from polhode.model.joints.spherical import BALL, OMEGA, QUATERNION


class FreeJoint(JointKind):
    """Nothing holds the child."""

    name = "free"
    elements = ((PRISMATIC, "x"), (PRISMATIC, "y"), (PRISMATIC, "z"), (BALL, ""))
    coordinates, dofs = ("px", "py", "pz", *QUATERNION), ("speed_x", "speed_y", "speed_z", *OMEGA)
    floats, shifts, spins = True, 3, "all"

    def closing(self, elements: Sequence[Element]) -> None:
        """It holds nothing."""

    def from_pose(self, elements: Sequence[Element], r: np.ndarray, p: np.ndarray) -> list[float]:
        """Travels by the origin, turns by the attitude."""
        return read_apart(elements, r, p)
