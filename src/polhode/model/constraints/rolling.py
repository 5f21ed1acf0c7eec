"""Rolling and sliding without skidding: on the plane z = 0 of the frame on body a."""

from typing import ClassVar

from polhode.model.constraints.base import ENDS, BodyConstraint, Data
from polhode.model.constraints.frames import MovingFrame
from polhode.model.keys import NOT_NEGATIVE, POSITIVE, Key
from polhode.scalar import Scalar, Vec, cross, dot, sqrt, square, vec

RADIUS = Key("number", "of a disk or sphere, m", unit="m", letter="r", needed=True, range=POSITIVE)


class _Rolling(BodyConstraint):
    """What rolls on the plane: it touches the plane, and its point of contact has no velocity along it."""

    has_image = True
    rows = ("height",)
    rate_rows = ("slip x", "slip y")
    normal_row = "height"

    def contact(self, a: MovingFrame, b: MovingFrame, data: Data) -> tuple[Scalar, Vec]:
        """How far it is above the plane, and the point of contact."""
        raise NotImplementedError

    def positions(self, a: MovingFrame, b: MovingFrame, data: Data) -> Vec:
        """How far it is above the plane."""
        return vec(self.contact(a, b, data)[0])

    def velocities(self, a: MovingFrame, b: MovingFrame, data: Data) -> Vec:
        """The velocity of the point of contact, along the plane."""
        point = self.point(a, b, data)
        return Vec((a.R.T @ (b.carries(point) - a.carries(point)))[:2])

    def point(self, a: MovingFrame, b: MovingFrame, data: Data) -> Vec:
        """The point of contact."""
        return self.contact(a, b, data)[1]


class RollingDisk(_Rolling):
    """A disk that rolls on the plane, about the z axis of b."""

    name = "rolling-disk"
    keys: ClassVar = {
        **ENDS,
        "radius": RADIUS,
        "rim": Key(
            "number", "of a disk: radius of its rounded edge, m; 0 unless given", unit="m", letter="rho",
            range=NOT_NEGATIVE,
        ),
    }  # fmt: skip

    def contact(self, a: MovingFrame, b: MovingFrame, data: Data) -> tuple[Scalar, Vec]:
        """A disk with a rounded edge: the centre's height above the plane less its rest, and the contact.  BEYOND §6

        c = −r u − ρ k,  x·k = r s + ρ,  s = |n × k|,  ẋ + ω × c = 0
        """
        k, n = a.axis(2), b.axis(2)
        r, rim = data["radius"], data.get("rim", 0.0)
        s = sqrt(square(cross(n, k)))
        u = (k - dot(k, n) * n) / s
        return dot(k, b.o - a.o) - r * s - rim, b.o - r * u - rim * k


class RollingSphere(_Rolling):
    """A sphere that rolls on the plane."""

    name = "rolling-sphere"
    keys: ClassVar = {**ENDS, "radius": RADIUS}

    def contact(self, a: MovingFrame, b: MovingFrame, data: Data) -> tuple[Scalar, Vec]:
        """Its centre's height less its radius, and the point below it."""
        k, r = a.axis(2), data["radius"]
        return dot(k, b.o - a.o) - r, b.o - r * k


class KnifeEdge(BodyConstraint):
    """A blade along x of its frame on b: its point does not move along y, against body a."""

    has_image = True
    name = "knife-edge"
    rate_rows = ("across",)

    def velocities(self, a: MovingFrame, b: MovingFrame, data: Data) -> Vec:
        """The velocity of the blade's point across the blade.                                      BEYOND §6"""
        return vec(dot(b.axis(1), b.velocity - a.carries(b.o)))
