"""The spherical joint (ball and socket): one unit quaternion, child → joint frame; v is ω in child axes."""

from collections.abc import Sequence

import numpy as np

from polhode.model.joints.base import UPRIGHT, Closing, Element, ElementKind, JointKind
from polhode.quaternion import conjugate, exp, log, normalise, product, rotation_matrix_homogeneous
from polhode.scalar import Vec, diagonal, identity, square, where
from polhode.spatial import ORIGIN, Inertia, Placement, Twist


class BallElement(ElementKind):
    """A turn by a unit quaternion p; its velocity is the angular velocity ω in the element's axes."""

    name = "ball"
    nq, nv = 4, 3
    linear = (False, False, False)
    quaternion = constant = True
    symbol = "ball"
    operations = 700

    def placement(self, e: Element, q: Vec) -> Placement:
        """The rotation matrix of p after the fixed attitude."""
        return Placement(e.turning[1] @ rotation_matrix_homogeneous(q), e.position)

    def motions(self, e: Element, q: Vec) -> list[Twist]:
        """Three axes."""
        return [Twist(ORIGIN, axis) for axis in identity(3)]

    def velocity(self, e: Element, q: Vec, v: Vec) -> Twist:
        """v is the angular velocity."""
        return Twist(ORIGIN, v)

    def force(self, e: Element, q: Vec, f: Vec, n: Vec) -> Vec:
        """The moment."""
        return n

    def turn(self, e: Element, q: Vec) -> Vec:
        """p itself."""
        return q

    def rate(self, q: Vec, v: Vec) -> Vec:
        """ṗ = ½ p∘(0, ω)"""
        return product(q, Vec((0.0, *v))) / 2

    def retract(self, q: Vec, step: Vec) -> Vec:
        """p∘exp(δ/2)                                                                              BEYOND §3"""
        return product(q, exp(step / 2))

    def difference(self, q0: Vec, q1: Vec) -> Vec:
        """2 log(p0*∘p1), scalar part ≥ 0: the shorter way round.                                  BEYOND §3"""
        r = product(conjugate(q0), q1)
        return 2 * log(where(r[0] < 0, -r, r))

    def tangent(self, q: Vec, qdot: Vec) -> Vec:
        """ω = 2 vec(p*∘ṗ)/‖p‖²"""
        return Vec((2 * product(conjugate(q), qdot) / square(q))[1:])

    def normalised(self, q: Vec) -> Vec:
        """p/‖p‖"""
        return normalise(q)

    def shared(self, e: Element, body: Inertia) -> tuple[Inertia, Inertia]:
        """The parent may carry mass at the centre: m."""
        m, h, S = body
        return Inertia(0.0, h, S), Inertia(m, ORIGIN, diagonal(ORIGIN))

    def from_pose(self, e: Element, r: np.ndarray, p: np.ndarray) -> list[float]:
        """The attitude itself."""
        return [float(x) for x in p]

    @property
    def zero(self) -> tuple[float, ...]:
        """The identity."""
        return (1.0, 0.0, 0.0, 0.0)

    @property
    def units(self) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """Of p, ω and the torque."""
        return ("1",) * 4, ("rad/s",) * 3, ("N m",) * 3


BALL = BallElement()
QUATERNION, OMEGA = ("w", "x", "y", "z"), ("omega_x", "omega_y", "omega_z")


class SphericalJoint(JointKind):
    """A ball in a socket."""

    name = "spherical"
    elements = ((BALL, ""),)
    coordinates, dofs = QUATERNION, OMEGA
    symbol, spins = "ball", "point"

    def closing(self, elements: Sequence[Element]) -> Closing:
        """A point that two bodies share."""
        return Closing("spherical", UPRIGHT, UPRIGHT)
