"""The cylindrical joint: an angle about an axis and a travel along it."""

from collections.abc import Sequence

import numpy as np

from polhode.model.joints.base import Closing, Element, JointKind, closing_about, read_apart
from polhode.model.joints.prismatic import PRISMATIC
from polhode.model.joints.revolute import REVOLUTE


class CylindricalJoint(JointKind):
    """A shaft in a bushing."""

    name = "cylindrical"
    elements = ((REVOLUTE, "axis"), (PRISMATIC, "axis"))
    coordinates, dofs = ("angle", "travel"), ("rate", "speed")
    symbol, shifts, spins = "revolute", 1, "axis"

    def closing(self, elements: Sequence[Element]) -> Closing:
        """A slider that turns, along z."""
        return closing_about("cylindrical", elements[0])

    def from_pose(self, elements: Sequence[Element], r: np.ndarray, p: np.ndarray) -> list[float]:
        """Travels by the origin, turns by the attitude."""
        return read_apart(elements, r, p)
