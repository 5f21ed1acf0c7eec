"""The screw joint: an angle about an axis, and a travel along it of `pitch` metres per radian."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from polhode.model.joints.base import Closing, Element, ElementKind, JointKind, closing_about
from polhode.model.joints.revolute import angle_about, half_turn
from polhode.model.keys import Key
from polhode.scalar import Vec, cos, dot, sin, vec
from polhode.spatial import Placement, Twist


class ScrewElement(ElementKind):
    """A turn about the axis with a travel along it."""

    name = "screw"
    turns_about_axis = one_axis = constant = True
    numbers = ("pitch",)
    axis_image = "axial"
    number_signs: ClassVar = {"pitch": -1.0}
    symbol = "screw"
    operations = 300

    def placement(self, e: Element, q: Vec) -> Placement:
        """As of a hinge, with the origin moved by pitch · angle."""
        C0, C1, C2 = e.turning
        R = C0 + cos(q[0]) * C1 + sin(q[0]) * C2
        return Placement(R, e.position + e.numbers["pitch"] * q[0] * ((C0 + C1) @ e.axis))

    def motions(self, e: Element, q: Vec) -> list[Twist]:
        """The axis, and pitch times the axis."""
        return [Twist(e.numbers["pitch"] * e.axis, e.axis)]

    def force(self, e: Element, q: Vec, f: Vec, n: Vec) -> Vec:
        """The moment about the axis, and pitch times the force along it."""
        return vec(dot(e.axis, n) + e.numbers["pitch"] * dot(e.axis, f))

    def turn(self, e: Element, q: Vec) -> Vec:
        """cos(q/2) + sin(q/2) axis"""
        return half_turn(e, q)

    def from_pose(self, e: Element, r: np.ndarray, p: np.ndarray) -> list[float]:
        """The angle by the travel; without pitch, by the attitude."""
        axis, pitch = np.array(e.axis, dtype=float), float(e.numbers["pitch"])
        return [float(axis @ r) / pitch if pitch else angle_about(axis, p)]

    def wraps(self, e: Element) -> bool:
        """Only without pitch: a travel counts turns."""
        return not e.numbers["pitch"]


SCREW = ScrewElement()


class ScrewJoint(JointKind):
    """A screw in a nut."""

    name, noun = "screw", "a screw"
    elements = ((SCREW, "axis"),)
    coordinates, dofs = ("angle",), ("rate",)
    symbol = "screw"
    keys: ClassVar = {"pitch": Key("number", "metres of travel per radian", "m/rad", "h")}

    def closing(self, elements: Sequence[Element]) -> Closing:
        """A screw about z."""
        return closing_about("screw", elements[0])
