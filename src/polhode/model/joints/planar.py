"""The planar joint: x, y and an angle in the joint frame's plane normal to z."""

from collections.abc import Sequence

import numpy as np

from polhode.model.joints.base import UPRIGHT, Closing, Element, JointKind, read_apart
from polhode.model.joints.prismatic import PRISMATIC
from polhode.model.joints.revolute import REVOLUTE


class PlanarJoint(JointKind):
    """A puck on a table."""

    name = "planar"
    elements = ((PRISMATIC, "x"), (PRISMATIC, "y"), (REVOLUTE, "z"))
    coordinates, dofs = ("x", "y", "angle"), ("speed_x", "speed_y", "rate")
    shifts, spins = 2, "z"

    def closing(self, elements: Sequence[Element]) -> Closing:
        """The plane across z."""
        return Closing("planar", UPRIGHT, UPRIGHT)

    def from_pose(self, elements: Sequence[Element], r: np.ndarray, p: np.ndarray) -> list[float]:
        """Travels by the origin, turns by the attitude."""
        return read_apart(elements, r, p)
