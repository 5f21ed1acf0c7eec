"""Joints that close a loop: the z axis of the frame on body a is the joint's axis."""

import math
from typing import ClassVar

from polhode.model.constraints.base import ENDS, BodyConstraint, Data
from polhode.model.constraints.frames import MovingFrame, apart, tilted, turned
from polhode.model.keys import Key
from polhode.model.numbers import plain
from polhode.model.reflection import Reflection
from polhode.scalar import Vec, atan2, cos, dot, sin

LENGTHS, TURNS = ("x", "y", "z"), ("turn x", "turn y", "turn z")


class Weld(BodyConstraint):
    """Two frames that stay one."""

    has_image = True
    name = "weld"
    rows = (*LENGTHS, *TURNS)

    def positions(self, a: MovingFrame, b: MovingFrame, data: Data) -> Vec:
        """How far b is from a, and how far it is turned."""
        return Vec((*apart(a, b), *turned(a, b)))


class Revolute(BodyConstraint):
    """A hinge: b turns about the z axis of a."""

    has_image = True
    name = "revolute"
    rows = (*LENGTHS, *TURNS[:2])
    turns_about_axis = True

    def positions(self, a: MovingFrame, b: MovingFrame, data: Data) -> Vec:
        """How far b is from a, and how far its axis leans."""
        return Vec((*apart(a, b), *tilted(a, b)))


class Prismatic(BodyConstraint):
    """A slider: b moves along the z axis of a."""

    has_image = True
    name = "prismatic"
    rows = (*LENGTHS[:2], *TURNS)

    def positions(self, a: MovingFrame, b: MovingFrame, data: Data) -> Vec:
        """How far b is from the axis, and how far it is turned."""
        return Vec((*apart(a, b)[:2], *turned(a, b)))


class Cylindrical(BodyConstraint):
    """A slider that turns: b moves along the z axis of a and about it."""

    has_image = True
    name = "cylindrical"
    rows = (*LENGTHS[:2], *TURNS[:2])
    turns_about_axis = True

    def positions(self, a: MovingFrame, b: MovingFrame, data: Data) -> Vec:
        """How far b is from the axis, and how far its axis leans."""
        return Vec((*apart(a, b)[:2], *tilted(a, b)))


class Universal(BodyConstraint):
    """A Cardan joint: the z axis of a keeps its angle, a right one unless given, with the x axis of b."""

    has_image = True
    name = "universal"
    keys: ClassVar = {
        **ENDS,
        "cosine": Key("number", "of the angle between the axes of a universal joint; 0 unless given", unit="1"),
    }
    rows = (*LENGTHS, "turn z")

    def positions(self, a: MovingFrame, b: MovingFrame, data: Data) -> Vec:
        """How far b is from a, and how far the two axes are from their angle."""
        return Vec((*apart(a, b), dot(a.axis(2), b.axis(0)) - data.get("cosine", 0.0)))


class Spherical(BodyConstraint):
    """A ball joint: b turns about its origin."""

    has_image = True
    name = "spherical"
    rows = LENGTHS

    def positions(self, a: MovingFrame, b: MovingFrame, data: Data) -> Vec:
        """How far b is from a."""
        return apart(a, b)


class Planar(BodyConstraint):
    """A body that slides on a plane: b moves along the xy plane of a and turns about z."""

    has_image = True
    name = "planar"
    rows = ("z", *TURNS[:2])

    def positions(self, a: MovingFrame, b: MovingFrame, data: Data) -> Vec:
        """How far b is above the plane, and how far its axis leans."""
        return Vec((apart(a, b)[2], *tilted(a, b)))


class Screw(BodyConstraint):
    """A screw: b moves along the z axis of a by the pitch for each radian that it turns."""

    has_image = True
    name = "screw"
    keys: ClassVar = {
        **ENDS,
        "pitch": Key(
            "number", "of a screw, m per radian", unit="m/rad", needed=True, range=(math.isfinite, "metres per radian")
        ),
    }
    rows = (*LENGTHS, *TURNS[:2])
    turns_about_axis = True

    def positions(self, a: MovingFrame, b: MovingFrame, data: Data) -> Vec:
        """The travel z follows the angle α, through any number of turns: η (z/η − α mod 2π) = 0."""
        x, y, z = apart(a, b)
        pitch = data["pitch"]
        if isinstance(pitch, float) and pitch == 0:
            return Vec((x, y, z, *tilted(a, b)))
        s, c = sin(z / pitch), cos(z / pitch)
        sin_a, cos_a = dot(a.axis(1), b.axis(0)), dot(a.axis(0), b.axis(0))
        return Vec((x, y, pitch * atan2(s * cos_a - c * sin_a, c * cos_a + s * sin_a), *tilted(a, b)))

    def reflected(self, data: Data, mirror: Reflection) -> Data:
        """Its frames, and the opposite pitch."""
        return {**super().reflected(data, mirror), "pitch": -plain(data["pitch"])}
