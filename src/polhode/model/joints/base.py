"""The public base classes of joints: `ElementKind`, one motion, and `JointKind`, the elements a joint is made of.

Every joint is a sequence of elements, each one motion in the frame reached so far. The algorithms pass over the
elements of a tree and ask the kind of each for its part, on generic scalars. A kind of a user's own subclasses these
and is registered with `register_joint`; see docs/extending.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import numpy as np

from polhode.errors import ModelError, message
from polhode.model.keys import Key
from polhode.model.numbers import direction
from polhode.quaternion import from_matrix, shortest_rotation
from polhode.scalar import Scalar, Vec, cross, derivative_along, diagonal, dot, vec, where
from polhode.spatial import AT_REST, ORIGIN, Inertia, Placement, Twist, Z

UPRIGHT = vec(1.0, 0.0, 0.0, 0.0)
AXES = ("x", "y", "z")
NOTHING = Inertia(0.0, ORIGIN, diagonal(ORIGIN))


@dataclass(frozen=True)
class Element:
    """One step from a parent frame to the next: a fixed placement, then one kind of motion."""

    name: str
    joint: str
    parent: int
    kind: "ElementKind"
    axis: Vec
    """Direction of the motion in this frame, a unit vector; zero where the kind has none."""
    numbers: Mapping[str, Any]
    """What its kind asks for of the joint's own numbers, such as the pitch of a screw."""
    position: Vec
    """Origin of this frame at zero, in the parent frame."""
    orientation: Vec
    """This frame at zero → the parent frame, a unit quaternion."""
    turning: tuple[Vec, Vec, Vec]
    """Constants C with: this frame → the parent frame = C0 + cos(q) C1 + sin(q) C2; C0 + C1 at zero."""
    q: tuple[int, ...]
    v: tuple[int, ...]
    body: str | None
    """The body whose frame this is; None between the motions of one joint."""
    inertia: Inertia
    armature: Vec
    damping: Vec
    stiffness: Vec
    rest: Vec


class ElementKind:
    """One kind of motion: nq coordinates, nv velocities.

    A subclass must give `motion`; everything else follows from it by differentiation, and may be given where a closed
    form is shorter. `e` is the element (axis, numbers), `q`, `v` are its own coordinates and velocities, v = q̇ unless
    `quaternion`. Formulas use +, −, *, / and `ph.sin`, `ph.where`, …, so that they run on floats, batches and symbols.
    """

    name: ClassVar[str]
    """Unique among the elements of a model."""
    nq: ClassVar[int] = 1
    nv: ClassVar[int] = 1
    linear: ClassVar[tuple[bool, ...]] = (False,)
    """For each velocity whether it is linear (m/s) rather than angular (rad/s)."""
    quaternion: ClassVar[bool] = False
    """Whether q is a unit quaternion, and v the angular velocity in the element's axes."""
    turns_about_axis: ClassVar[bool] = False
    """Whether q is an angle about `axis`, so that `turning` describes the attitude."""
    turns: ClassVar[bool] = True
    """Whether the motion changes the attitude."""
    moves: ClassVar[bool] = True
    """Whether its velocities move something: those of an own state of a force element move nothing."""
    shares: ClassVar[bool] = False
    """Whether its coordinates and velocities are those of another element: several frames that one set of coordinates
    moves. Springs, dampers and armature are the other's; on a path from the ground a velocity occurs once."""
    carried: ClassVar[bool] = False
    """Whether other elements of its joint share its coordinates: it moves nothing by itself."""
    one_axis: ClassVar[bool] = False
    """Whether the motion is the same in every frame with the same axis line: its frame may be chosen along it."""
    constant: ClassVar[bool] = False
    """Whether the unit motions are constant in the element's axes, and their linear and angular parts parallel."""
    numbers: ClassVar[tuple[str, ...]] = ()
    """The joint's own numbers that the motion depends on: `e.numbers` holds them."""
    axis_image: ClassVar[str] = ""
    """What its axis is in a mirror: "axial" of a turn about it, "polar" of a travel along it; "" where the image of the
    motion is not known."""
    number_signs: ClassVar[Mapping[str, float]] = MappingProxyType({})
    """What its numbers become in a mirror image, times themselves: 1 unless given, −1 of the pitch of a screw."""
    symbol: ClassVar[str] = "revolute"
    """What pictures show in its place: "revolute", "prismatic", "screw", "ball", or "" for nothing."""
    operations: ClassVar[int] = 500
    """About how many operations an element adds to forward dynamics; steers the choice between loops and flat code."""

    def motion(self, e: Element, q: Vec) -> tuple[Any, Any]:
        """The moved frame in the frame at zero: R, 3 rows of 3, and r, 3 numbers, m; the identity and 0 at q = 0."""
        raise NotImplementedError(f"{type(self).__name__}.motion")

    def moved(self, e: Element, q: Vec) -> Placement:
        """`motion` as vectors."""
        R, r = self.motion(e, q)
        return Placement(Vec([Vec(row) for row in R]), Vec(r))

    def placement(self, e: Element, q: Vec) -> Placement:
        """The element's frame in its parent's."""
        R, r = self.moved(e, q)
        at = e.turning[0] + e.turning[1]
        return Placement(at @ R, e.position + at @ r)

    def motions(self, e: Element, q: Vec) -> Sequence[Twist]:
        """The unit motions S, one twist per velocity, in the element's axes at its origin.            BEYOND §0"""
        R, _ = self.moved(e, q)
        found = []
        for k in range(self.nv):
            _, slope = derivative_along(
                lambda x: _flat(self.moved(e, x)), q, Vec([float(i == k) for i in range(self.nq)])
            )
            found.append(_twist(R.T, slope))
        return found

    def motion_rates(self, e: Element, q: Vec, v: Vec) -> Sequence[Twist]:
        """Ṡ, the rates of the unit motions in the element's axes while it moves with v."""
        if self.constant:
            return [AT_REST] * self.nv
        _, slope = derivative_along(
            lambda x: Vec([y for m in self.motions(e, x) for y in (*m.linear, *m.angular)]), q, v
        )
        return [Twist(Vec(slope[6 * k : 6 * k + 3]), Vec(slope[6 * k + 3 : 6 * k + 6])) for k in range(self.nv)]

    def velocity(self, e: Element, q: Vec, v: Vec) -> Twist:
        """S v: the velocity relative to the parent, in the element's axes at its origin."""
        return combined(self.motions(e, q), v)

    def drift(self, e: Element, q: Vec, v: Vec) -> Twist | None:
        """Relative acceleration at v̇ = 0 in the element's axes: Ṡ v, and ω × l of the moving axes; None: zero."""
        if self.constant:
            return None
        own, change = self.velocity(e, q, v), combined(self.motion_rates(e, q, v), v)
        return Twist(change.linear + cross(own.angular, own.linear), change.angular)

    def force(self, e: Element, q: Vec, f: Vec, n: Vec) -> Vec:
        """Sᵀ(f, n): the part of a force and a moment along the velocities, (nv,)."""
        return Vec([dot(m.linear, f) + dot(m.angular, n) for m in self.motions(e, q)])

    def turn(self, e: Element, q: Vec) -> Vec | None:
        """The quaternion of the motion, this frame → the frame at zero; None: it never turns."""
        return from_matrix(self.moved(e, q).R)

    def rate(self, q: Vec, v: Vec) -> Vec:
        """q̇ of a velocity."""
        return v

    def retract(self, q: Vec, step: Vec) -> Vec:
        """q ⊕ step, (nq,)"""
        return q + step

    def difference(self, q0: Vec, q1: Vec) -> Vec:
        """The step with q0 ⊕ step = q1, (nv,)"""
        return q1 - q0

    def tangent(self, q: Vec, qdot: Vec) -> Vec:
        """The velocity of a raw q̇, (nv,): the inverse of `rate`."""
        return qdot

    def normalised(self, q: Vec) -> Vec:
        """The nearest coordinates that are valid: of a quaternion, of unit length."""
        return q

    def shared(self, e: Element, body: Inertia) -> tuple[Inertia, Inertia]:
        """The mass moments of a body here that the motion feels, and those that the parent may carry as well."""
        return body, NOTHING

    def inertia(self, numbers: Mapping[str, Any]) -> Inertia:
        """The mass moments of an element that carries no body.  numbers: the joint's own"""
        return NOTHING

    def from_pose(self, e: Element, r: np.ndarray, p: np.ndarray) -> list[float]:
        """Its coordinates, of a pose of the child in the joint frame; see `JointKind.from_pose`."""
        where, fix = f"joint '{e.joint}'", f"Give {type(self).__name__} the method `from_pose`."
        raise ModelError(message(where, "no coordinates from poses", self.name, "a kind that has", fix))

    def wraps(self, e: Element) -> bool:
        """Whether `from_pose` finds its coordinate only up to whole turns."""
        return False

    @property
    def zero(self) -> tuple[float, ...]:
        """The coordinates at zero."""
        return (0.0,) * self.nq

    @property
    def units(self) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """Units of the coordinates, of the velocities and of the generalised forces."""
        return (
            tuple("m" if x else "rad" for x in self.linear),
            tuple("m/s" if x else "rad/s" for x in self.linear),
            tuple("N" if x else "N m" for x in self.linear),
        )


def combined(motions: Sequence[Twist], v: Sequence[Scalar]) -> Twist:
    """Σ v_k S_k"""
    linear, angular = v[0] * motions[0].linear, v[0] * motions[0].angular
    for value, motion in zip(v[1:], motions[1:], strict=True):
        linear, angular = linear + value * motion.linear, angular + value * motion.angular
    return Twist(linear, angular)


def _flat(at: Placement) -> Vec:
    return Vec([*at.r, *(x for row in at.R for x in row)])


def _twist(back: Vec, slope: Vec) -> Twist:
    """The twist Rᵀṙ, axial(RᵀṘ) of the rates of a placement."""
    W = back @ Vec([Vec(slope[3 * k : 3 * k + 3]) for k in (1, 2, 3)])
    return Twist(back @ Vec(slope[:3]), vec(W[2][1] - W[1][2], W[0][2] - W[2][0], W[1][0] - W[0][1]) / 2)


def read_apart(elements: Sequence[Element], r: np.ndarray, p: np.ndarray) -> list[float]:
    """`JointKind.from_pose` of elements that do not change what each other reads of a pose."""
    return [x for e in elements for x in e.kind.from_pose(e, r, p)]


class Closing(NamedTuple):
    """A joint as a constraint between its two bodies."""

    constraint: str
    """Its kind."""
    turn_a: Vec
    """The constraint's frame on the parent, in the joint frame: a unit quaternion."""
    turn_b: Vec
    """The constraint's frame on the child, in the child frame."""
    data: Mapping[str, Any] = MappingProxyType({})
    """Its further data."""


def nearer(source: Vec, axis: Vec) -> Vec:
    """An axis, or its opposite where that is nearer to a direction."""
    return where(dot(source, axis) < 0, -1.0, 1.0) * axis


def closing_about(constraint: str, e: Element) -> Closing:
    """A joint of one axis as a constraint, whose axis is z."""
    turn = shortest_rotation(Z, nearer(Z, e.axis))
    return Closing(constraint, turn, turn, e.numbers)


class JointKind:
    """One kind of joint: its elements, the names of its coordinates and velocities, the data it takes.

    The class is registered, `register_joint(MyJoint)`; the registry holds one instance of it.
    """

    name: ClassVar[str]
    """As written in `Joint.type` and in files."""
    noun: ClassVar[str] = ""
    """How errors call it: "a screw"; "a … joint" unless given."""
    elements: ClassVar[tuple[tuple[ElementKind, str], ...]]
    """Each with its axis: "axis" or "axis2" of the joint, "x", "y", "z" of the joint frame, "" for none."""
    coordinates: ClassVar[tuple[str, ...]] = ()
    """The names of q, in order."""
    dofs: ClassVar[tuple[str, ...]] = ()
    """The names of v, in order."""
    letters: ClassVar[tuple[str, ...]] = ()
    """What equations call q, in order: "theta", "x". Unless given, θ, φ, ψ for angles, d or x, y, z for lengths."""
    keys: ClassVar[Mapping[str, Key]] = {}
    """The joint's own numbers by name, all of which must be given; `Joint.data` holds them, `pitch` apart."""
    symbol: ClassVar[str] = ""
    """What pictures show at the joint: "revolute", "prismatic", "screw", "ball", or "" for nothing."""
    floats: ClassVar[bool] = False
    """Whether the child is held at no point: pictures draw no link to the joint frame."""
    shared: ClassVar[bool] = False
    """Whether joints that share its coordinates may stand beside it, on the same parent."""
    shares: ClassVar[bool] = False
    """Whether its coordinates are those of the `shared` joint on its parent."""
    shifts: ClassVar[int] = 0
    """Directions along which the joint lets the whole machine be shifted, at every q: 1 along `axis`, 2 across z, 3."""
    spins: ClassVar[str] = ""
    """What the joint lets the whole machine turn about, at every q: "axis", "z", "point" (its origin), "all", or ""."""

    def __init__(self) -> None:
        kinds = [kind for kind, _ in self.elements]
        self.axes = tuple(dict.fromkeys(axis for _, axis in self.elements if axis in ("axis", "axis2")))
        """Which of `axis`, `axis2` of a joint have a meaning."""
        self.has_quaternion = any(kind.quaternion for kind in kinds)
        self.zero = tuple(x for kind in kinds for x in kind.zero)
        """The coordinates at zero: zero angles and travels, the identity quaternion."""
        self.linear = tuple(x for kind in kinds for x in kind.linear)
        """Which velocities are linear (m/s) rather than angular (rad/s)."""
        self.nq, self.nv = len(self.zero), len(self.linear)

    @property
    def steps(self) -> tuple[tuple[ElementKind, str], ...]:
        """The elements of a tree that a joint is made of: `elements`, and those that share their coordinates."""
        return self.elements

    def sized(self, joint: Any) -> "JointKind":
        """The kind as a joint has it: where its data tell how many coordinates there are, one of that size."""
        return self

    @property
    def uses_axis(self) -> bool:
        """Whether the joint's `axis` has a meaning."""
        return bool(self.axes)

    @property
    def turns_freely(self) -> bool:
        """Whether the child alone is a rigid body that turns freely: about a fixed point, or floating."""
        return self.has_quaternion and (self.floats or self.nv == 3)

    @property
    def has_image(self) -> bool:
        """Whether a mirror image of its motion is known."""
        moves = [(kind.axis_image, axis) for kind, axis in self.elements if kind.nv and not kind.quaternion]
        if self.has_quaternion:
            return moves in ([], [("polar", axis) for axis in AXES])
        return all(image for image, _ in moves)

    @property
    def fixed_axes(self) -> bool:
        """Whether coordinates are along axes of the joint frame, and it has no quaternion."""
        return not self.has_quaternion and any(axis in AXES for _, axis in self.elements)

    def axis_image(self, axis: str) -> str:
        """What one of its axes, "axis" or "axis2", is in a mirror: as its first motion along it has it."""
        return next(kind.axis_image for kind, of in self.elements if of == axis)

    def image_signs(self, S: np.ndarray) -> tuple[float, ...]:
        """What its coordinates become in a mirror image, times themselves; none where it has a quaternion.

        S  how components in the child's axes are reflected, (3, 3); diagonal where it has `fixed_axes`
        """
        found = list[float]()
        for kind, axis in self.elements:
            if axis in AXES:
                k = AXES.index(axis)
                sign = -S[k, k] if kind.axis_image == "axial" else S[k, k]
            else:
                sign = 1.0 if not kind.nv or kind.axis_image == self.axis_image(axis) else -1.0
            found += [float(sign)] * kind.nv
        return tuple(found)

    @property
    def is_one_line(self) -> bool:
        """Whether all its motions are about or along one axis; turned round with the opposite one, coordinates stay."""
        return all(kind.one_axis and kind.constant and axis == "axis" for kind, axis in self.elements if kind.nv)

    @property
    def is_reversible(self) -> bool:
        """Whether its motions are about axes of its own, of one sort, one each: turned round, the opposite axes and the
        coordinates change places."""
        kinds, axes = [kind for kind, _ in self.elements], [axis for _, axis in self.elements]
        return axes == ["axis", "axis2"] and kinds == kinds[::-1] and kinds[0].one_axis and kinds[0].constant

    def closing(self, elements: Sequence[Element]) -> Closing | None:
        """The joint as a constraint between its two bodies, for absolute coordinates; None: it holds nothing."""
        where, fix = f"joint '{elements[0].joint}'", f"Give {type(self).__name__} the method `closing`."
        raise ModelError(message(where, "this kind has no form as a constraint", self.name, "a kind that has", fix))

    def fault(self, q: Sequence[float]) -> str:
        """Why its motion is not defined at some coordinates, in half a sentence, as at gimbal lock; "" where it is."""
        return ""

    def from_pose(self, elements: Sequence[Element], r: np.ndarray, p: np.ndarray) -> list[float]:
        """The coordinates (nq,) of a pose of the child in the joint frame.

        r  (3,)  origin, m
        p  (4,)  attitude, a unit quaternion
        """
        if len(elements) > 1:
            where, fix = f"joint '{elements[0].joint}'", f"Give {type(self).__name__} the method `from_pose`."
            raise ModelError(message(where, "no coordinates from poses", self.name, "a kind that has", fix))
        return elements[0].kind.from_pose(elements[0], r, p)

    def second_axis(self, where: str, axis: tuple, axis2: tuple | None) -> tuple | None:
        """The second axis of a joint, checked and completed; None where the kind has none."""
        if "axis2" not in self.axes:
            return None
        if axis2 is None:
            raise ModelError(message(f"{where}, axis2", "missing", "none", "a direction"))
        return direction(where, "axis2", axis2)
