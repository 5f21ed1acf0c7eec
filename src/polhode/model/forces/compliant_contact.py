"""Compliant contact with dissipation along one coordinate: the law of stops and of backlash.

    f = k δⁿ max(1 + c δ̇, 0)          δ > 0, else 0                              Hunt-Crossley

δ is the depth of the contact and δ̇ its rate. The force is continuous, never pulls, and has the potential
k δⁿ⁺¹/(n + 1) where c = 0. A free mass that comes at a speed u leaves at e u, where

    c u − ln(1 + c u) = −c e u − ln(1 − c e u)

whatever its mass, k and n are: e is about 1 − 2 c u/3 for small c u, and e u is below 1/c always.
"""

import math
from typing import Any, NamedTuple

from polhode.model.forces.base import ABSENT
from polhode.model.keys import ABOVE_ZERO, AT_LEAST_ONE, AT_LEAST_ZERO, Key
from polhode.scalar import Scalar, exp, is_zero, log, real_part, smooth, where

TOUCH = 1e-12
"""The depth at which steps end, rad or m: so little that the force of a contact is still nothing, and more than the
rounding of a coordinate that rests where it would just touch, which would pass zero again and again."""

KEYS = {
    "stiffness": Key(
        "number", "k of the contact, N m/radⁿ or N/mⁿ", "N m/rad or N/m", "k_c", needed=True, range=ABOVE_ZERO
    ),
    "dissipation": Key(
        "number", "c of the contact, s/rad or s/m; it leaves slower than 1/c", "s/rad or s/m", "c_c",
        range=AT_LEAST_ZERO,
    ),
    "exponent": Key("power", "n of the contact, 1 unless given; 1.5 is that of Hertz", range=AT_LEAST_ONE),
}  # fmt: skip
"""What an element in contact along a coordinate holds."""


class ContactLaw(NamedTuple):
    """The numbers of a contact; `elastic`: 1, or 0 for the part of its force that has no potential."""

    stiffness: Scalar
    dissipation: Scalar
    exponent: float
    elastic: float = 1.0

    def force(self, depth: Scalar, rate: Scalar) -> Scalar:
        """The force that pushes the contact apart, at least 0 as a whole."""
        return self.stiffness * _power(depth, self.exponent) * (_loss(self.dissipation, rate) + self.elastic)

    def corners(self, *contacts: tuple[Scalar, Scalar]) -> list[Scalar]:
        """1 + c δ̇ of the contact that is there, of several apart: below 0 it is pulled open, and does not push.

        contacts  depth and rate of each
        """
        if is_zero(self.dissipation):
            return []
        found: Scalar = -ABSENT
        for depth, rate in contacts:
            found = where(real_part(depth - TOUCH) > 0.0, self.dissipation * rate + 1.0, found)
        return [found]

    def potential(self, depth: Scalar) -> Scalar:
        """k δⁿ⁺¹/(n + 1)"""
        return self.stiffness * _power(depth, self.exponent + 1) / (self.exponent + 1)


@smooth
def _loss(c: Scalar, rate: Scalar) -> Scalar:
    """max(c δ̇, −1). Smooth: the corner where a contact is pulled open is none of the motion outside it."""
    return where(real_part(c * rate) > -1.0, c * rate, -1.0)


def _power(depth: Scalar, n: float) -> Scalar:
    """δⁿ where δ > 0, else 0."""
    touches = real_part(depth) > 0.0
    if n == int(n):
        return math.prod([where(touches, depth, 0.0)] * int(n))
    inside = where(touches, depth, 1.0)
    return where(touches, exp(n * log(inside)), 0.0)


def law_of(element: Any) -> ContactLaw:
    """The law of an element with the keys above."""
    return ContactLaw(element.stiffness, element.dissipation, element.exponent, element.elastic)
