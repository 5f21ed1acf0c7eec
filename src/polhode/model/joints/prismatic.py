"""The prismatic joint (slider): one travel along an axis."""

from collections.abc import Sequence

import numpy as np

from polhode.model.joints.base import Closing, Element, ElementKind, JointKind, closing_about
from polhode.scalar import Vec, diagonal, dot, vec
from polhode.spatial import ORIGIN, Inertia, Placement, Twist


class PrismaticElement(ElementKind):
    """A shift along the axis, m."""

    name = "prismatic"
    linear = (True,)
    one_axis = constant = True
    turns = False
    axis_image = "polar"
    symbol = "prismatic"
    operations = 200

    def placement(self, e: Element, q: Vec) -> Placement:
        """The origin moves along the axis."""
        C0, C1, _ = e.turning
        return Placement(C0 + C1, e.position + q[0] * ((C0 + C1) @ e.axis))

    def motions(self, e: Element, q: Vec) -> list[Twist]:
        """The axis."""
        return [Twist(e.axis, ORIGIN)]

    def force(self, e: Element, q: Vec, f: Vec, n: Vec) -> Vec:
        """The force along the axis."""
        return vec(dot(e.axis, f))

    def turn(self, e: Element, q: Vec) -> None:
        """It never turns."""

    def shared(self, e: Element, body: Inertia) -> tuple[Inertia, Inertia]:
        """The body turns with the parent, which may carry Σ."""
        m, h, S = body
        return Inertia(m, h, diagonal(ORIGIN)), Inertia(0.0, ORIGIN, S)

    def from_pose(self, e: Element, r: np.ndarray, p: np.ndarray) -> list[float]:
        """The travel along the axis."""
        return [float(np.array(e.axis, dtype=float) @ r)]


PRISMATIC = PrismaticElement()


class PrismaticJoint(JointKind):
    """A slider."""

    name = "prismatic"
    elements = ((PRISMATIC, "axis"),)
    coordinates, dofs = ("travel",), ("speed",)
    symbol, shifts = "prismatic", 1

    def closing(self, elements: Sequence[Element]) -> Closing:
        """A slider along z."""
        return closing_about("prismatic", elements[0])
