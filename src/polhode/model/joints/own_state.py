"""The element that carries an own state of a force element: a velocity of unit inertia that moves nothing.

So an own state x of a machine is one of its velocities, and ẋ = f is its equation of motion: methods, derivatives,
lanes and files treat it as they treat the others (decision 021).
"""

from polhode.model.joints.base import NOTHING, UPRIGHT, Element, ElementKind
from polhode.model.state import GROUND
from polhode.scalar import Vec, identity, vec
from polhode.spatial import AT_REST, ORIGIN, Placement, Twist


class OwnStateElement(ElementKind):
    """No coordinate, one velocity, no motion."""

    name = "own state"
    nq, nv = 0, 1
    linear = (False,)
    constant, turns, moves = True, False, False
    symbol = ""
    operations = 0

    def placement(self, e: Element, q: Vec) -> Placement:
        """The world's frame."""
        return Placement(e.turning[1], e.position)

    def motions(self, e: Element, q: Vec) -> list[Twist]:
        """None, whatever its rate."""
        return [AT_REST]

    def velocity(self, e: Element, q: Vec, v: Vec) -> Twist:
        """At rest."""
        return AT_REST

    def force(self, e: Element, q: Vec, f: Vec, n: Vec) -> Vec:
        """No force is along it."""
        return vec(0.0)

    def turn(self, e: Element, q: Vec) -> None:
        """It never turns."""

    def rate(self, q: Vec, v: Vec) -> Vec:
        """No coordinate changes."""
        return Vec()

    def retract(self, q: Vec, step: Vec) -> Vec:
        """No coordinate changes."""
        return q

    def difference(self, q0: Vec, q1: Vec) -> Vec:
        """Nothing: own states have no coordinates."""
        return vec(0.0)

    def tangent(self, q: Vec, qdot: Vec) -> Vec:
        """Nothing: own states have no coordinates."""
        return vec(0.0)


OWN_STATE = OwnStateElement()


def own_state_element(owner: str, name: str, v: int) -> Element:
    """The element of an own state.

    owner  the path of the force element: "forces.motor"
    v      its place among the velocities
    """
    none, one = vec(0.0), vec(1.0)
    still = 0.0 * identity(3), identity(3), 0.0 * identity(3)
    return Element(
        name=f"{owner}.{name}", joint=owner, parent=GROUND, kind=OWN_STATE, axis=ORIGIN, numbers={}, position=ORIGIN,
        orientation=UPRIGHT, turning=still, q=(), v=(v,), body=None, inertia=NOTHING, armature=one, damping=none,
        stiffness=none, rest=none,
    )  # fmt: skip
