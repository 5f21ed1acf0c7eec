"""The prismatic joint (slider): one travel along an axis."""

from polhode.model.joints.base import Element, ElementKind, JointKind
from polhode.scalar import Vec, diagonal, dot, vec
from polhode.spatial import ORIGIN, Inertia, Placement, Twist


class PrismaticElement(ElementKind):
    """A shift along the axis, m."""

    name = "prismatic"
    linear = (True,)
    one_axis = constant = True
    turns = False
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


PRISMATIC = PrismaticElement()


class PrismaticJoint(JointKind):
    """A slider."""

    name = "prismatic"
    elements = ((PRISMATIC, "axis"),)
    coordinates, dofs = ("travel",), ("speed",)
    symbol, shifts = "prismatic", 1
