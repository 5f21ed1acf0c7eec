"""Another body as the base of a machine that flies: the same motion, joints on the way turned round."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from polhode.errors import InputError, ModelError, did_you_mean, message
from polhode.model.edits.carry import Faults, Renaming
from polhode.model.edits.merge import on_mount
from polhode.model.edits.mounted import (
    frames_on,
    joint_frame,
    joint_motion,
    joint_velocity,
    motion_elements,
    seen,
    shapes_on,
)
from polhode.model.edits.states import NamedState, bare, by_joint, start_state, started
from polhode.model.forces.base import ForceElement
from polhode.model.joints.base import Element
from polhode.model.mount import Mount, NotCarried
from polhode.model.numbers import plain
from polhode.model.parts import Joint
from polhode.model.start import Start
from polhode.model.topology import WORLD

OF_KIND = 1e-9
"""m, rad and their rates, by their size: so far may the inverse motion of a joint be from one of its kind."""


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
    faults = Faults(where, drop)
    on_turned = {joint.name: joint for joint in turned}
    renaming = Renaming(mounts)
    forces = renaming.forces(faults.kept(model.forces, lambda force: _along(force, on_turned)), faults)
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
    if not (root.kind.floats and root.kind.has_quaternion):
        fix = "A machine that is held by the world moves otherwise when it is held elsewhere: limb, append."
        found = f"joint '{root.name}', {root.type}"
        raise ModelError(message(where, "its base does not fly", found, "a free joint on the world", fix))
    for joint in (root, *turned):
        kind, place = joint.kind, f"{where}, joint '{joint.name}'"
        if kind.shared or kind.shares:
            raise ModelError(message(place, "cannot be turned round", f"a {joint.type}", "a joint of rigid bodies"))
        if not (kind.is_one_line or kind.is_reversible):
            _refuse_numbers(place, joint, joint is root)
            if joint is not root:
                _inverse(place, joint, joint.zero, (0.0,) * joint.nv)  # whether it is of the kind


def _refuse_numbers(place: str, joint: Joint, is_root: bool) -> None:
    """Refuse numbers along coordinates that become others: of a quaternion, damping and armature alike stay."""
    is_ball = joint.kind.has_quaternion and joint.nv == 3
    isotropic = ("damping", "armature") if is_ball and not is_root else ()
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
    if joint.kind.is_reversible:
        each = {name: _reversed(getattr(joint, name)) for name in _PER_AXIS}
        return replace(joint, axis=_opposite(joint.axis2), axis2=_opposite(joint.axis), **ends, **each)
    if joint.kind.is_one_line and joint.kind.uses_axis:
        return replace(joint, axis=_opposite(joint.axis), **ends)
    return replace(joint, **ends)


_PER_AXIS = ("armature", "damping", "stiffness", "rest", "lower", "upper")


def _reversed(value: Any) -> Any:
    return tuple(reversed(value)) if isinstance(value, tuple) else value


def _opposite(axis: Any) -> tuple[float, ...]:
    return tuple(0.0 - x for x in plain(tuple(axis)))


def _along(force: ForceElement, turned: Mapping[str, Joint]) -> ForceElement:
    """A force element along coordinates of joints that are turned round; axes of its own may change places."""
    for name in force.joints:
        joint = turned.get(name)
        if joint is None or joint.kind.is_one_line:
            continue
        if joint.kind.is_reversible:
            axes = {key: 1 - axis for key in force.keys if force.keys[key].holds == "axis"
                    and (axis := getattr(force, key)) is not None}  # fmt: skip
            return replace(force, **axes) if axes else force
        if not (joint.kind.has_quaternion and joint.nv == 3):
            raise NotCarried(f"the coordinates of joint '{name}' become others")
    return force


def _inverse(place: str, joint: Joint, q: tuple, v: tuple) -> tuple[tuple, tuple]:
    """The coordinates and velocities of a joint that is turned round: those of the inverse motion."""
    kind = joint.kind
    if kind.is_one_line:
        return q, v
    if kind.is_reversible:
        return q[::-1], v[::-1]
    at = joint_motion(joint, q)
    back = at.inverse(joint.name)
    elements = motion_elements(joint)
    by_pose = kind.from_pose(elements, np.array(back.position), np.array(back.orientation))
    found = tuple(_nearest(e, by_pose[k], -q[k]) for e in elements for k in e.q)
    there = joint_motion(joint, found)
    missed = [*np.subtract(there.position, back.position), *(there.R - back.R).ravel()]
    linear, angular = joint_velocity(joint, q, v)
    wanted = np.array([*(at.R.T @ (np.cross(angular, at.position) - linear)), *(-at.R.T @ angular)])
    units = [joint_velocity(joint, found, unit) for unit in np.eye(joint.nv).tolist()]
    S = np.array([[*a, *b] for a, b in units]).reshape(joint.nv, 6).T
    rates = np.linalg.lstsq(S, wanted, rcond=None)[0]
    size = 1 + max(map(abs, (*at.position, *wanted)))
    if max(map(abs, (*missed, *(S @ rates - wanted)))) > OF_KIND * size:
        raise ModelError(message(place, "cannot be turned round", f"a {joint.type}", "an inverse motion of its kind"))
    return found, tuple(rates.tolist())


def _nearest(e: Element, angle: float, to: float) -> float:
    """An angle, with whole turns so that it is next to another one, where the motion does not count them."""
    return angle + 2 * math.pi * round((to - angle) / (2 * math.pi)) if e.kind.wraps(e) else angle


def _restated(path: Sequence[Joint], q: Mapping[str, tuple]) -> dict[str, tuple]:
    """Coordinates by joint: of joints turned round, and of the new base."""
    root, found = path[0], dict(q)
    at = Mount(root.name, q[root.name][:3], q[root.name][3:])
    for joint in path[1:]:
        found[joint.name] = _inverse(joint.name, joint, q[joint.name], (0.0,) * joint.nv)[0]
        place, motion = joint_frame(joint), joint_motion(joint, q[joint.name])
        at = at.frame(place.position, place.orientation).frame(motion.position, motion.orientation)
    return {**found, root.name: (*at.position, *at.orientation)}


def _restated_rates(path: Sequence[Joint], q: Mapping[str, tuple], v: Mapping[str, tuple]) -> dict[str, tuple]:
    """Velocities by joint: of joints turned round, and of the new base."""
    root, found = path[0], dict(v)
    at = Mount(root.name, q[root.name][:3], q[root.name][3:])
    u, w = np.array(v[root.name][:3]), at.R @ np.array(v[root.name][3:])  # in the axes of the root's joint frame
    for joint in path[1:]:
        found[joint.name] = _inverse(joint.name, joint, q[joint.name], v[joint.name])[1]
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
