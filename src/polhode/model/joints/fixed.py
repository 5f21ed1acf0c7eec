"""The fixed joint: its child does not move relative to the parent."""

from collections.abc import Sequence

import numpy as np

from polhode.model.joints.base import UPRIGHT, Closing, Element, ElementKind, JointKind
from polhode.scalar import Vec
from polhode.spatial import AT_REST, Placement, Twist


class FixedElement(ElementKind):
    """No motion."""

    name = "fixed"
    nq = nv = 0
    linear = ()
    constant, turns = True, False
    symbol = ""
    operations = 0

    def placement(self, e: Element, q: Vec) -> Placement:
        """The frame at zero."""
        return Placement(e.turning[1], e.position)

    def motions(self, e: Element, q: Vec) -> list[Twist]:
        """None."""
        return []

    def velocity(self, e: Element, q: Vec, v: Vec) -> Twist:
        """At rest."""
        return AT_REST

    def turn(self, e: Element, q: Vec) -> None:
        """It never turns."""

    def from_pose(self, e: Element, r: np.ndarray, p: np.ndarray) -> list[float]:
        """None."""
        return []


FIXED = FixedElement()


class FixedJoint(JointKind):
    """The child is part of its parent."""

    name = "fixed"
    elements = ((FIXED, ""),)

    def closing(self, elements: Sequence[Element]) -> Closing:
        """A weld."""
        return Closing("weld", UPRIGHT, UPRIGHT)
