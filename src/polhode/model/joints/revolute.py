"""The revolute joint (hinge): one angle about an axis."""

import math
from collections.abc import Sequence

import numpy as np

from polhode.model.joints.base import Closing, Element, ElementKind, JointKind, closing_about
from polhode.scalar import Vec, cos, dot, outer, sin, vec
from polhode.spatial import ORIGIN, Inertia, Placement, Twist


class RevoluteElement(ElementKind):
    """A turn about the axis by an angle."""

    name = "revolute"
    turns_about_axis = one_axis = constant = True
    axis_image = "axial"
    operations = 260

    def placement(self, e: Element, q: Vec) -> Placement:
        """Attitude C0 + cos(q) C1 + sin(q) C2, with the fixed attitude folded in."""
        C0, C1, C2 = e.turning
        return Placement(C0 + cos(q[0]) * C1 + sin(q[0]) * C2, e.position)

    def motions(self, e: Element, q: Vec) -> list[Twist]:
        """The axis."""
        return [Twist(ORIGIN, e.axis)]

    def force(self, e: Element, q: Vec, f: Vec, n: Vec) -> Vec:
        """The moment about the axis."""
        return vec(dot(e.axis, n))

    def turn(self, e: Element, q: Vec) -> Vec:
        """cos(q/2) + sin(q/2) axis"""
        return half_turn(e, q)

    def shared(self, e: Element, body: Inertia) -> tuple[Inertia, Inertia]:
        """The parent may carry mass on the axis: m, and h and Σ along it."""
        m, h, S = body
        along = dot(e.axis, h) * e.axis
        axial = dot(e.axis, S @ e.axis) * outer(e.axis, e.axis)
        return Inertia(0.0, h - along, S - axial), Inertia(m, along, axial)

    def from_pose(self, e: Element, r: np.ndarray, p: np.ndarray) -> list[float]:
        """The angle about the axis, between half turns."""
        return [angle_about(np.array(e.axis, dtype=float), p)]

    def wraps(self, e: Element) -> bool:
        """An attitude does not count turns."""
        return True


def half_turn(e: Element, q: Vec) -> Vec:
    """The quaternion of a turn about the axis by the angle q."""
    half = q[0] / 2
    return Vec((cos(half), *(sin(half) * e.axis)))


def angle_about(axis: np.ndarray, p: np.ndarray) -> float:
    """The angle of a rotation about an axis, between half turns."""
    return float((2 * math.atan2(float(axis @ p[1:]), float(p[0])) + math.pi) % (2 * math.pi) - math.pi)


REVOLUTE = RevoluteElement()


class RevoluteJoint(JointKind):
    """A hinge."""

    name = "revolute"
    elements = ((REVOLUTE, "axis"),)
    coordinates, dofs = ("angle",), ("rate",)
    symbol, spins = "revolute", "axis"

    def closing(self, elements: Sequence[Element]) -> Closing:
        """A hinge about z."""
        return closing_about("revolute", elements[0])
