"""The plane that a beam stays in, where its nodes move on planar joints; what does not fit it is refused by name."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import ModelError, message
from polhode.model.beams.pose import BeamPose, pose_of
from polhode.model.beams.strains import MODES
from polhode.model.joints.base import AXES
from polhode.model.joints.registry import JOINTS
from polhode.model.numbers import plain
from polhode.model.parts import Joint
from polhode.model.topology import WORLD

LEANS = 1e-9
"""The sine of an angle below which a direction lies in the plane of a beam, or across it; of its length, for points."""


class BeamPlane(NamedTuple):
    """The plane of a beam whose nodes move in it: the normal, and a point."""

    normal: np.ndarray
    through: np.ndarray

    @classmethod
    def of(cls, where: str, normal: Any, points: np.ndarray) -> "BeamPlane":
        """That of a beam; its nodes (n + 1, 3) have to lie in it."""
        along = np.array(plain(normal), dtype=float)
        made = cls(along / np.linalg.norm(along), points[0])
        off = (points - points[0]) @ made.normal
        k = int(np.argmax(abs(off)))
        if abs(off[k]) > LEANS * float(np.sum(np.linalg.norm(np.diff(points, axis=0), axis=1))):
            found = f"node {k} is {off[k]:g} m above the plane of node 0"
            raise ModelError(message(f"{where}, plane", "a beam that leaves its plane", found, "all nodes in it"))
        return made

    def flattened(self, points: np.ndarray) -> np.ndarray:
        """Points, in the plane to rounding."""
        return points - np.outer((points - self.through) @ self.normal, self.normal)

    def node_axes(self, x: np.ndarray) -> np.ndarray:
        """The axes of a node, columns: x along the beam, z along the normal."""
        y = np.cross(self.normal, x)
        return np.column_stack([x, y, self.normal])

    def between(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Those half way from one to another."""
        x = a[:, 0] + b[:, 0]
        return self.node_axes(x / np.linalg.norm(x)) if np.any(a != b) else a

    def _is_normal(self, x: np.ndarray) -> bool:
        return bool(np.linalg.norm(np.cross(self.normal, x)) < LEANS)

    def check_sections(self, where: str, axes: np.ndarray) -> None:
        """Refuse sections that bend out of the plane under loads in it."""
        if not self._is_normal(axes[:, 1]) and not self._is_normal(axes[:, 2]):
            found = f"{axes[:, 2].tolist()}, neither along the normal {self.normal.tolist()} nor in the plane"
            fix = "Give up= the normal, or a direction in the plane; or leave `plane` out."
            raise ModelError(message(f"{where}, up", "sections that lean", found, "a principal axis across it", fix))

    def idle(self, where: str, driven: Iterable[str], axes: np.ndarray) -> list[str]:
        """The strains that are always 0: torsion, and bending out of the plane."""
        bending = "bending-xz" if self._is_normal(axes[:, 2]) else "bending-xy"
        found = ["torsion", f"{bending}-start", f"{bending}-end"]
        if stray := next((mode for mode in driven if mode in found), None):
            expected = ", ".join(mode for mode in MODES if mode not in found)
            raise ModelError(message(f"{where}, driven", "a strain out of the plane", repr(stray), expected))
        return found

    def check_end(self, where: str, kind: str, axis: Any, pose: BeamPose) -> None:
        """Refuse the joint of an end on a body that lets it leave the plane; axis: in the axes of the body."""
        self._check_joint(where, kind, {"axis": axis}, pose.R)

    def check_body(self, where: str, body: str, joints: Sequence[Joint]) -> None:
        """Refuse a body that its joints let leave the plane."""
        while body != WORLD:
            joint = next(joint for joint in joints if joint.child == body)
            axes = {"axis": joint.axis, "axis2": joint.axis2}
            self._check_joint(f"{where}, joint '{joint.name}'", joint.type, axes, pose_of(body, joints).R)
            body = joint.parent

    def _check_joint(self, where: str, kind: str, axes: Mapping[str, Any], R: np.ndarray) -> None:
        """Refuse a joint that leaves the plane.  axes: those that it names, in a frame that R takes to the world"""
        for element, letter in JOINTS[kind].steps if kind in JOINTS else ():
            if element.nv == 0:
                continue
            x = R[:, AXES.index(letter)] if letter in AXES else np.zeros(3)
            if letter in axes:
                x = R @ np.array(plain(axes[letter]), dtype=float)
                x = x / np.linalg.norm(x)
            simple = letter and not element.numbers and not element.quaternion
            turns = simple and element.turns_about_axis and self._is_normal(x)
            shifts = simple and not element.turns and element.linear == (True,) and abs(x @ self.normal) < LEANS
            if not turns and not shifts:
                found = f"a {kind} joint that leaves the plane across {self.normal.tolist()}"
                fix = "Turn it about the normal, or along the plane; or leave `plane` out."
                raise ModelError(message(where, "not in the plane", found, "turns about its normal", fix))
