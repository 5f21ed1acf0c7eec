"""The universal joint (Cardan): an angle about `axis`, then one about `axis2`, which the first carries."""

import math
from collections.abc import Sequence

import numpy as np

from polhode.errors import ModelError, message
from polhode.model.joints.base import Closing, Element, JointKind, nearer
from polhode.model.joints.revolute import REVOLUTE, angle_about
from polhode.model.numbers import direction, plain
from polhode.quaternion import conjugate, from_axis_angle, product, rotation_matrix, shortest_rotation
from polhode.scalar import dot, vec
from polhode.spatial import Z

CYCLIC = {(1.0, 0.0, 0.0): (0.0, 1.0, 0.0), (0.0, 1.0, 0.0): (0.0, 0.0, 1.0), (0.0, 0.0, 1.0): (1.0, 0.0, 0.0)}
"""The second axis unless given."""

X = vec(1.0, 0.0, 0.0)


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

    def closing(self, elements: Sequence[Element]) -> Closing:
        """Two axes that keep their angle: z of one frame, x of the other."""
        first, second = nearer(Z, elements[0].axis), nearer(X, elements[1].axis)
        turns = shortest_rotation(Z, first), shortest_rotation(X, second)
        return Closing("universal", *turns, {"cosine": dot(first, second)})

    def from_pose(self, elements: Sequence[Element], r: np.ndarray, p: np.ndarray) -> list[float]:
        """The angles of a turn about an axis and then about one that it carries."""
        first, second = (np.array(e.axis, dtype=float) for e in elements)
        there = np.array(rotation_matrix(p)) @ second
        one, other = np.cross(first, second), np.cross(first, there)
        angle = math.atan2(float(first @ np.cross(one, other)), float(one @ other))
        left = product(np.array(conjugate(from_axis_angle(first, angle))), p)
        return [angle, angle_about(second, np.array(left))]
