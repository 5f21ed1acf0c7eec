"""The state of a machine at an instant: what force elements and constraints are functions of."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from polhode.errors import ModelError, did_you_mean, message
from polhode.scalar import Scalar, Vec, cross
from polhode.spatial import AT_REST, WORLD_FRAME, Frame, Twist

GROUND = -1
"""The index of the world as a parent."""


HELD = 1e24
"""What an axis that is held has as armature, kg m² or kg: loads move it by less than rounding, and HELD times its
acceleration is the load to full precision."""


class HasStates(Protocol):
    """A force element as its own states see it."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def sampled(self) -> Mapping[str, str]:
        """Its discrete states."""


def own_values(of_states: Mapping[str, tuple[int, ...]], element: HasStates, v: Vec) -> Vec:
    """The own states of a force element among the velocities, without the count of updates.

    of_states  the places in v of the own states of each force element
    """
    places = of_states.get(element.name, ())
    return Vec([v[k] for k in (places[:-1] if element.sampled else places)])


class MachineState(NamedTuple):
    """Where every body of a machine is at an instant, and how it moves, in world axes, on generic scalars."""

    t: Scalar
    """Time, s."""
    q: Vec
    """Coordinates (nq,)."""
    v: Vec
    """Velocities (nv,)."""
    at: Sequence[Frame]
    """The frames of the elements of the tree."""
    moving: Sequence[Twist]
    """Their velocities."""
    of_body: Mapping[str, int]
    """The element that carries each body."""
    of_joint: Mapping[str, tuple[int, ...]]
    """The places of each joint's coordinates in q."""
    constraints: Mapping[str, Mapping[str, Any]]
    """The data of each constraint by name, with its numbers."""
    rates_of_joint: Mapping[str, tuple[int, ...]] = MappingProxyType({})
    """The places of each joint's velocities in v."""
    of_states: Mapping[str, tuple[int, ...]] = MappingProxyType({})
    """The places in v of the own states of each force element."""
    normals: Mapping[str, Scalar] | None = None
    """The normal forces of joints, N, where elements depend on them and the motion is known."""
    acceleration: Callable[[], Vec] | None = None
    """Gives v̇ (nv,), where events of elements are asked."""

    def frame(self, body: str) -> Frame:
        """The frame of a body: its axes are the columns of R (3, 3), its origin o (3,), m."""
        i = self.of_body[body]
        return self.at[i] if i != GROUND else WORLD_FRAME

    def twist(self, body: str) -> Twist:
        """The velocity of a body's origin, m/s, and its angular velocity, rad/s, (3,) each."""
        i = self.of_body[body]
        return self.moving[i] if i != GROUND else AT_REST

    def position(self, body: str, point: Vec) -> Vec:
        """The position of a point of a body, m.  point: in body axes from the body's origin"""
        R, o = self.frame(body)
        return o + R @ point

    def velocity(self, body: str, point: Vec) -> Vec:
        """The velocity of a point of a body, m/s.  point: in body axes from the body's origin"""
        linear, angular = self.twist(body)
        return linear + cross(angular, self.frame(body).R @ point)

    def coordinate(self, joint: str) -> Scalar:
        """The coordinate of a joint that has one."""
        return self.q[self._place(joint, self.of_joint)]

    def rate(self, joint: str) -> Scalar:
        """The velocity of a joint that has one."""
        return self.v[self._place(joint, self.rates_of_joint)]

    def along(self, joint: str, force: Scalar) -> Vec:
        """Generalised forces (nv,): a force along the one velocity of a joint."""
        k = self._place(joint, self.rates_of_joint)
        return Vec([force if i == k else 0.0 for i in range(len(self.v))])

    @staticmethod
    def _place(joint: str, places: Mapping[str, tuple[int, ...]]) -> int:
        found = places.get(joint)
        if found is None or len(found) != 1:
            what = "no such joint" if found is None else f"a joint with {len(found)} of them"
            fix = did_you_mean(joint, places) if found is None else "Take those of q or v."
            raise ModelError(message("a coordinate or velocity of a joint", what, repr(joint), "a joint of one", fix))
        return found[0]

    def load(self, joint: str, axis: int = 0) -> Scalar:
        """What pushes on an axis of a joint that an element holds, N m or N; it means nothing where none does.

        Several elements that hold one axis share it equally. Only events of elements may ask: a force that depends on
        it would be the solution of an equation.
        """
        if self.acceleration is None:
            found, expected = f"axis {axis} of '{joint}'", "guards and jumps of events alone"
            raise ModelError(message("a load on a held axis", "not known here", found, expected))
        return HELD * self.acceleration()[self.rates_of_joint[joint][axis]]

    def normal(self, joint: str) -> Scalar:
        """The normal force of a joint, N, at least 0: what it bears but for the part along an axis that slides.

        Of the joints alone that the `loaded_joints` of an element names: they are solved for with the acceleration.
        """
        if self.normals is None:
            expected = "`loaded_joints` names it, and dynamics of a tree ask"
            raise ModelError(message("a normal force", "not known here", f"joint '{joint}'", expected))
        return self.normals[joint]

    def own(self, element: HasStates) -> Vec:
        """The own states of a force element: continuous, discrete, modes."""
        return own_values(self.of_states, element, self.v)
