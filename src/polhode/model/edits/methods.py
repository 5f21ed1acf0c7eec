"""The edits as methods of a Model: each gives a new one, checked, and leaves the old one as it was."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import polhode.model.differences as differences  # noqa: PLR0402 - not from the package, which imports this
from polhode.model.edits import append, base, lock, merge, mirror, scale, subtree
from polhode.model.topology import WORLD
from polhode.scalar import Array


class ModelEdits:
    """Models made of a model."""

    name: str

    def with_locked(self, values: Mapping[str, Any] | Sequence[str], *, merge: bool = True, drop: bool = False) -> Self:
        """The machine with joints that do not move, at given coordinates: a reduced model.

        >>> ph.load("arm-6").with_locked({"joint2": 0.4, "joint5": -1.0})
        <Model 'arm-6': 4 bodies, 4 joints, nq 4, nv 4>

        values  coordinates (nq of the joint) by joint, rad, m, unit quaternions; None, or names alone: where the model
                starts
        merge   whether the bodies on both sides become one, as by `merged`; else the joint is a fixed one
        drop    whether forces and constraints that cannot be carried over are left out; else a ModelError names them

        What acts along locked joints alone (friction, stops, damping, springs) is gone, with its constant potential. A
        joint that follows a locked one is held by a constraint.
        """
        return lock.with_locked(self, values, merge, drop)

    def merged(self, *, drop: bool = False) -> Self:
        """The machine without fixed joints: a body becomes part of the one it is fixed to, their masses together.

        Bodies that are fixed to the world stay: their mass counts. q, v and the motion are the same.

        drop  as of `with_locked`: what names two bodies that become one, or a body by a user function, is at fault
        """
        return merge.merged(self, f"merged, model '{self.name}'", drop=drop)

    def append(
        self,
        other: Any,
        at: str = WORLD,
        *,
        position: Array = (0.0, 0.0, 0.0),
        orientation: Array = (1.0, 0.0, 0.0, 0.0),
        prefix: str = "",
        drop: bool = False,
    ) -> Self:
        """The machine with that of another model put on one of its bodies, whose ground that body is from then on.

        >>> ph.load("pendulum").append(ph.load("pendulum"), at="rod", position=(0, 0, -1), prefix="second.")
        <Model 'pendulum': 2 bodies, 2 joints, nq 2, nv 2>

        at           the body, a frame on it, or "world"
        position     of the world of the other model in the axes of the body, or of the frame, m
        orientation  of its axes in those, a unit quaternion (w, x, y, z)
        prefix       before all names of the other model
        drop         as of `with_locked`

        q and v are those of this machine, then those of the other one; own states come last. Gravity, and directions
        in world axes, are those of this model.
        """
        return append.appended(self, other, at, position, orientation, prefix, drop)

    def limb(self, joint: str, *, drop: bool = False) -> Self:
        """A joint and all that it carries as a machine of its own.

        >>> ph.load("arm-6").limb("joint4")
        <Model 'arm-6': 3 bodies, 3 joints, nq 3, nv 3>

        What carried it is its ground: the world's frame is that of the joint's parent, and gravity is the same there.

        drop  as of `with_locked`: what is between the limb and the rest, but for the parent, is at fault
        """
        return subtree.limb(self, joint, drop)

    def without_subtree(self, joint: str, *, drop: bool = False) -> Self:
        """The machine without a joint and all that it carries.  drop: as of `with_locked`"""
        return subtree.without_subtree(self, joint, drop)

    def with_subtree(self, joint: str, other: Any, *, prefix: str = "", drop: bool = False) -> Self:
        """The machine with that of another model in place of a joint and all that it carries.

        The world of the other model is the frame of the joint, in its parent.

        prefix, drop  as of `append`
        """
        return subtree.with_subtree(self, joint, other, prefix, drop)

    def with_base(self, body: str, *, drop: bool = False) -> Self:
        """The same machine, which flies, with another body on its free joint: other coordinates of the same motion.

        Joints on the way are turned round, their axes opposite: coordinates along axes stay, those of a universal joint
        change places, a quaternion becomes its conjugate. The frames of the bodies on the way, but for the new base,
        are then at the joints that carry them. The start says where the new base is.

        drop  as of `with_locked`
        """
        return base.with_base(self, body, drop)

    def mirrored(self, normal: Array = (0.0, 1.0, 0.0), *, drop: bool = False) -> Self:
        """The mirror image of the machine about the plane through the world's origin across `normal` (3,).

        >>> ph.load("double-pendulum").mirrored((0, 0, 1)).gravity
        (0.0, 0.0, 9.81)

        Components in body axes are reflected as those in world axes are. Coordinates about and along one axis stay; the
        travel of a cylindrical joint, the pitch of a screw and coordinates of a planar joint may change their signs.

        drop  as of `with_locked`
        """
        return mirror.mirrored(self, normal, drop)

    def scaled(self, length: float = 1.0, mass: float = 1.0, time: float = 1.0, *, drop: bool = False) -> Self:
        """The machine of another size: every number times the scales to the powers that its unit has.

        length, mass, time  factors above 0

        >>> ph.load("double-pendulum").scaled(length=4, time=2).gravity
        (0.0, 0.0, -9.81)

        Its motion is the same, scaled: positions times `length`, after times that are `time` as long. Gravity is scaled
        as well: it stays where time = √length. A part of the same material has mass = length³.

        drop  as of `with_locked`: functions have numbers of their own, and are at fault
        """
        return scale.scaled(self, length, mass, time, drop)

    def diff(self, other: Any) -> "differences.ModelDifferences":
        """What differs between two models, by path: values here and there. Empty where they are equal.

        >>> pendulum = ph.load("pendulum")
        >>> print(pendulum.diff(pendulum.with_numbers({"gravity.2": -1.62})))
        gravity.2: -9.81 → -1.62
        """
        return differences.differences(self, other)
