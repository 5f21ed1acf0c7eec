"""The universal joint (Cardan): an angle about `axis`, then one about `axis2`, which the first carries."""

import numpy as np

from polhode.errors import ModelError, message
from polhode.model.joints.base import JointKind
from polhode.model.joints.revolute import REVOLUTE
from polhode.model.numbers import direction, plain

CYCLIC = {(1.0, 0.0, 0.0): (0.0, 1.0, 0.0), (0.0, 1.0, 0.0): (0.0, 0.0, 1.0), (0.0, 0.0, 1.0): (1.0, 0.0, 0.0)}
"""The second axis unless given."""


class UniversalJoint(JointKind):
    """Two hinges, one after the other."""

    name = "universal"
    elements = ((REVOLUTE, "axis"), (REVOLUTE, "axis2"))
    coordinates, dofs = ("angle1", "angle2"), ("rate1", "rate2")
    symbol, spins = "ball", "axis"

    def second_axis(self, where: str, axis: tuple, axis2: tuple | None) -> tuple:
        """The next cyclic axis unless given; not parallel to the first."""
        first = plain(axis)
        if axis2 is None:
            if first not in CYCLIC:
                fix = "Only a coordinate axis has a default second axis: the next cyclic one."
                raise ModelError(message(f"{where}, axis2", "missing", f"axis {first}", "a direction", fix))
            return CYCLIC[first]
        second = direction(where, "axis2", axis2)
        a, b = np.array(first, dtype=float), np.array(plain(second), dtype=float)
        if np.linalg.norm(np.cross(a, b)) < 1e-9 * np.linalg.norm(a) * np.linalg.norm(b):
            raise ModelError(message(f"{where}, axis2", "parallel to axis", f"{plain(second)}", "another direction"))
        return second
