"""Another body as the base of a machine that flies: the same motion, joints on the way turned round."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import InputError, ModelError, did_you_mean, message
from polhode.model.edits.carry import Faults, Renaming
from polhode.model.edits.merge import on_mount
from polhode.model.edits.mount import Mount, frames_on, joint_frame, joint_motion, joint_velocity, seen, shapes_on
from polhode.model.edits.states import NamedState, bare, by_joint, start_state, started
from polhode.model.forces.base import ForceElement
from polhode.model.numbers import plain
from polhode.model.parts import Joint
from polhode.model.start import Start
from polhode.model.topology import WORLD
from polhode.quaternion import conjugate, rotation_matrix

LINES = ("fixed", "revolute", "prismatic", "screw", "cylindrical")
"""Kinds whose coordinates stay when the joint is turned round, with the opposite axis."""


def with_base(model: Any, body: str, drop: bool = False) -> Any:
    """The Model with another body as its base; see `Model.with_base`."""
    where = f"with_base, model '{model.name}'"
    path = _path(where, model, body)
    root, turned = path[0], path[1:]
    if not turned:
        return model
    _check(where, root, turned)
    mounts = {joint.parent: joint_frame(joint).inverse(joint.parent) for joint in turned}
    on_path = {joint.name: joint for joint in path}
    joints = []
    for joint in model.joints:
        if joint.name == root.name:
            joints.append(replace(root, child=body))
        elif joint.name in on_path:
            joints.append(_turned(joint, mounts.get(joint.child, Mount(joint.child))))
        else:
            joints.append(on_mount(joint, mounts.get(joint.parent, Mount(joint.parent))))
    swapped = {joint.name for joint in turned if joint.type == "universal"}
    faults = Faults(where, drop)
    given = [_swapped(force) if swapped.intersection(force.joints) else force for force in model.forces]
    given = [force for force in given if not _is_turned(force, turned, faults)]
    renaming = Renaming(mounts)
    forces = renaming.forces(given, faults)
    constraints = renaming.constraints(model.constraints, faults)
    faults.end()
    made = bare(
        model,
        bodies=[seen(each, mounts.get(each.name, Mount(each.name))) for each in model.bodies],
        joints=joints,
        forces=forces,
        constraints=constraints,
        frames=frames_on(mounts, model.frames),
        shapes=shapes_on(mounts, model.shapes),
    )
    state = start_state(model)
    at = state.q or by_joint(model, model.zero)
    q = _restated(path, at)  # also where it starts at zero: that is another configuration now
    v = None if state.v is None else _restated_rates(path, at, state.v)
    configurations = {name: _restated(path, by_joint(model, x)) for name, x in model.configurations.items()}
    return started(made, NamedState(q, v, state.own), model.start or Start(), configurations)


def _path(where: str, model: Any, body: Any) -> list[Joint]:
    """The joints from the world to a body."""
    of_child = {joint.child: joint for joint in model.joints}
    if not isinstance(body, str) or body not in of_child:
        fix = did_you_mean(body, of_child)
        raise InputError(message(where, "no such body", repr(body), "a body of the model", fix))
    found = [of_child[body]]
    while found[0].parent != WORLD:
        found.insert(0, of_child[found[0].parent])
    return found


def _check(where: str, root: Joint, turned: Sequence[Joint]) -> None:
    """Refuse joints that cannot be turned round with the same motion."""
    if root.type != "free":
        fix = "A machine that is held by the world moves otherwise when it is held elsewhere: limb, append."
        found = f"joint '{root.name}', {root.type}"
        raise ModelError(message(where, "its base does not fly", found, "a free joint on the world", fix))
    for joint in (root, *turned):
        place = f"{where}, joint '{joint.name}'"
        if joint is not root and joint.type not in TURNED:
            raise ModelError(message(place, "cannot be turned round", f"a {joint.type}", ", ".join(TURNED)))
        if joint.type not in LINES and joint.type != "universal":
            _refuse_numbers(place, joint, joint is root)


def _refuse_numbers(place: str, joint: Joint, is_root: bool) -> None:
    """Refuse numbers along coordinates that become others: of a quaternion, damping and armature alike stay."""
    isotropic = () if is_root or joint.type != "spherical" else ("damping", "armature")
    for name in ("damping", "armature", "stiffness", "rest"):
        values = np.atleast_1d(np.array(plain(getattr(joint, name)), dtype=float))
        if name in isotropic and np.all(values == values[0]):
            continue
        if np.any(values != 0):
            raise ModelError(message(f"{place}, {name}", "is along coordinates that become others", f"{values}", "0"))
    limits = [*np.atleast_1d(joint.lower), *np.atleast_1d(joint.upper)]
    if not joint.kind.has_quaternion and np.any(np.isfinite(limits)):
        found = f"lower {joint.lower}, upper {joint.upper}"
        raise ModelError(message(f"{place}, limits", "are of coordinates that become others", found, "none"))


def _turned(joint: Joint, mount: Mount) -> Joint:
    """A joint from its child to its parent.  mount: of the child's old frame on the child"""
    ends: dict[str, Any] = {
        "parent": joint.child,
        "child": joint.parent,
        "position": mount.position,
        "orientation": mount.orientation,
    }
    if joint.type == "universal":
        each = {name: _reversed(getattr(joint, name)) for name in _PER_AXIS}
        return replace(joint, axis=_opposite(joint.axis2), axis2=_opposite(joint.axis), **ends, **each)
    return replace(joint, axis=_opposite(joint.axis), **ends) if joint.kind.uses_axis else replace(joint, **ends)


_PER_AXIS = ("armature", "damping", "stiffness", "rest", "lower", "upper")


def _reversed(value: Any) -> Any:
    return tuple(reversed(value)) if isinstance(value, tuple) else value


def _opposite(axis: Any) -> tuple[float, ...]:
    return tuple(0.0 - x for x in plain(tuple(axis)))


def _swapped(force: ForceElement) -> ForceElement:
    """A force element along an axis of a universal joint that is turned round: its axes change places."""
    axis: Any = getattr(force, "axis", None)
    changed: dict[str, Any] = {"axis": 1 - axis} if isinstance(axis, int) else {}
    return replace(force, **changed)


def _is_turned(force: ForceElement, turned: Sequence[Joint], faults: Faults) -> bool:
    """Whether a force element is along a coordinate that becomes another; then it is noted."""
    changed = [joint.name for joint in turned if joint.type in ("planar", "free")]
    for name in force.joints:
        if name in changed:
            faults.note(force, f"the coordinates of joint '{name}' become others")
            return True
    return False


class _Motion(NamedTuple):
    """A joint's motion: of the child in the joint frame, r (3,), its attitude, ṙ in joint axes, ω in child axes."""

    position: np.ndarray
    orientation: np.ndarray
    velocity: np.ndarray
    omega: np.ndarray

    @property
    def R(self) -> np.ndarray:
        return np.array(rotation_matrix(self.orientation))

    def inverse(self) -> "_Motion":
        """The motion of the joint frame in the child."""
        R, p, u, w = self.R, self.position, self.velocity, self.omega
        back = R.T @ p
        return _Motion(-back, np.array(conjugate(self.orientation)), np.cross(w, back) - R.T @ u, -(R @ w))


def _same(q: tuple, v: tuple) -> tuple[tuple, tuple]:
    return q, v


def _other_way(q: tuple, v: tuple) -> tuple[tuple, tuple]:
    return tuple(reversed(q)), tuple(reversed(v))


def _ball(q: tuple, v: tuple) -> tuple[tuple, tuple]:
    found = _Motion(np.zeros(3), np.array(q), np.zeros(3), np.array(v)).inverse()
    return tuple(found.orientation.tolist()), tuple(found.omega.tolist())


def _free(q: tuple, v: tuple) -> tuple[tuple, tuple]:
    found = _Motion(np.array(q[:3]), np.array(q[3:]), np.array(v[:3]), np.array(v[3:])).inverse()
    return (*found.position.tolist(), *found.orientation.tolist()), (*found.velocity.tolist(), *found.omega.tolist())


def _plane(q: tuple, v: tuple) -> tuple[tuple, tuple]:
    half = q[2] / 2
    turn = np.array([np.cos(half), 0.0, 0.0, np.sin(half)])
    found = _Motion(
        np.array([q[0], q[1], 0.0]), turn, np.array([v[0], v[1], 0.0]), np.array([0.0, 0.0, v[2]])
    ).inverse()
    return (*found.position[:2].tolist(), -q[2]), (*found.velocity[:2].tolist(), -v[2])


TURNED: dict[str, Callable[[tuple, tuple], tuple[tuple, tuple]]] = {
    **dict.fromkeys(LINES, _same),
    "universal": _other_way,
    "spherical": _ball,
    "planar": _plane,
    "free": _free,
}
"""Kinds of joints that can be turned round, and their new coordinates and velocities."""


def _restated(path: Sequence[Joint], q: Mapping[str, tuple]) -> dict[str, tuple]:
    """Coordinates by joint: of joints turned round, and of the new base."""
    root, found = path[0], dict(q)
    at = Mount(root.name, q[root.name][:3], q[root.name][3:])
    for joint in path[1:]:
        found[joint.name] = TURNED[joint.type](q[joint.name], (0.0,) * joint.nv)[0]
        place, motion = joint_frame(joint), joint_motion(joint, q[joint.name])
        at = at.frame(place.position, place.orientation).frame(motion.position, motion.orientation)
    return {**found, root.name: (*at.position, *at.orientation)}


def _restated_rates(path: Sequence[Joint], q: Mapping[str, tuple], v: Mapping[str, tuple]) -> dict[str, tuple]:
    """Velocities by joint: of joints turned round, and of the new base."""
    root, found = path[0], dict(v)
    at = Mount(root.name, q[root.name][:3], q[root.name][3:])
    u, w = np.array(v[root.name][:3]), at.R @ np.array(v[root.name][3:])  # in the axes of the root's joint frame
    for joint in path[1:]:
        found[joint.name] = TURNED[joint.type](q[joint.name], v[joint.name])[1]
        place = joint_frame(joint)
        hinge = at.frame(place.position, place.orientation)
        motion, (linear, angular) = (
            joint_motion(joint, q[joint.name]),
            joint_velocity(joint, q[joint.name], v[joint.name]),
        )
        arrived = hinge.frame(motion.position, motion.orientation)
        u = u + np.cross(w, np.array(arrived.position) - np.array(at.position)) + hinge.R @ linear
        w, at = w + hinge.R @ angular, arrived
    return {**found, root.name: (*u.tolist(), *(at.R.T @ w).tolist())}
