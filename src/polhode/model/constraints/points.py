"""A point of body b and the frame on body a: at a distance, on its z axis, in its xy plane, on a curve in it."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from polhode.model.constraints.base import ENDS, BodyConstraint, Data
from polhode.model.constraints.frames import MovingFrame, apart
from polhode.model.keys import POSITIVE, Key
from polhode.scalar import Vec, square, vec

FUNCTION_UNIT = "J per unit of the function"
"""The unit of the multipliers of functions, whose own unit is not known."""


class Distance(BodyConstraint):
    """A rod with a ball at each end."""

    has_image = True
    name = "distance"
    keys: ClassVar = {
        **ENDS,
        "length": Key(
            "number", "of a rod, m", unit="m", letter="L", needed=True,
            range=(POSITIVE[0], f"{POSITIVE[1]}: a point that stays on another is a 'spherical' joint"),
        ),
    }  # fmt: skip
    rows = ("length",)

    def positions(self, a: MovingFrame, b: MovingFrame, data: Data) -> Vec:
        """(d·d − ℓ²)/2ℓ: a length to first order, with no direction lost at any d."""
        d, length = b.o - a.o, data["length"]
        return vec((square(d) - length * length) / (2 * length))


class PointOnLine(BodyConstraint):
    """A point on the z axis of a."""

    has_image = True
    name = "point-on-line"
    rows = ("x", "y")

    def positions(self, a: MovingFrame, b: MovingFrame, data: Data) -> Vec:
        """How far b is from the axis."""
        return Vec(apart(a, b)[:2])


class PointOnPlane(BodyConstraint):
    """A point in the xy plane of a."""

    has_image = True
    name = "point-on-plane"
    rows = ("z",)

    def positions(self, a: MovingFrame, b: MovingFrame, data: Data) -> Vec:
        """How far b is above the plane."""
        return vec(apart(a, b)[2])


class PointOnCurve(BodyConstraint):
    """A point on a curve that is fixed to a."""

    has_image = True
    name = "point-on-curve"
    keys: ClassVar = {**ENDS, "function": Key("function", needed=True)}
    rows = ("0", "1")
    expressions_of = "point"

    def positions(self, a: MovingFrame, b: MovingFrame, data: Data) -> Vec:
        """Two functions of the point in the frame of a, that vanish on the curve."""
        return data["function"](apart(a, b))

    def multiplier_unit(self, row: str, data: Data, joint_units: Mapping[str, Sequence[str]]) -> str:
        """The function's own unit is not known."""
        return FUNCTION_UNIT

    def may_move(self, data: Data) -> bool:
        """A curve does not: its function is of the point alone."""
        return False
