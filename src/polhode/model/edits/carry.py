"""Force elements and constraints on other bodies, by other names: what every edit of a model has to carry over."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from polhode.errors import InputError, ModelError, message
from polhode.model.constraints.base import BodyConstraint
from polhode.model.constraints.constraint import Constraint
from polhode.model.constraints.frames import attitude
from polhode.model.edits.mount import Mount, unit_quaternion
from polhode.model.forces.base import ForceElement
from polhode.model.forces.beam_element import BeamElement
from polhode.model.forces.beam_inertia import BeamInertia
from polhode.model.forces.body_force import BodyForce
from polhode.model.forces.bushing import Bushing
from polhode.model.forces.force import Force
from polhode.model.forces.force_function import ForceFunction
from polhode.model.forces.joint_lock import JointLock
from polhode.model.forces.spring import Spring
from polhode.model.forces.thrust import Thrust
from polhode.model.forces.torsion_spring import TorsionSpring
from polhode.model.numbers import plain
from polhode.model.parts import Joint
from polhode.model.topology import WORLD

SIDES = ("a", "b")


class NotCarried(Exception):
    """Why a force element or a constraint cannot be carried over, in half a sentence."""


@dataclass
class Faults:
    """What an edit could not carry over: each is told by name, or left out where that was asked for."""

    where: str
    drop: bool
    found: list[str] = field(default_factory=list)

    def note(self, record: ForceElement | Constraint, reason: object) -> None:
        """Note a force element or a constraint that cannot be carried over."""
        kind = f"force '{record.name}'" if isinstance(record, ForceElement) else f"constraint '{record.name}'"
        self.found.append(f"{kind}: {reason}")

    def end(self) -> None:
        """Raise a ModelError that tells them all, unless they are to be left out."""
        if self.found and not self.drop:
            fix = "drop=True leaves them out."
            raise ModelError(message(self.where, "cannot be carried over", "; ".join(self.found), "none", fix))


@dataclass(frozen=True)
class Renaming:
    """New names and places of what force elements and constraints name.

    mounts   for a body of the old model, the frame that it had: on a body of the new one
    joints   new names of joints
    removed  bodies and joints that the new model does not have, each with why
    prefix   before the names of force elements and constraints
    layout   whether q and v of the new model are those of the old one, number by number
    """

    mounts: Mapping[str, Mount] = field(default_factory=dict)
    joints: Mapping[str, str] = field(default_factory=dict)
    removed: Mapping[str, str] = field(default_factory=dict)
    prefix: str = ""
    layout: bool = False

    def mount(self, body: str) -> Mount:
        """Where the frame of a body of the old model is."""
        if body in self.removed:
            raise NotCarried(f"body '{body}' {self.removed[body]}")
        return self.mounts.get(body, Mount(body))

    def joint(self, name: str) -> str:
        """The new name of a joint."""
        if f"joints.{name}" in self.removed:
            raise NotCarried(f"joint '{name}' {self.removed[f'joints.{name}']}")
        return self.joints.get(name, name)

    def forces(self, given: Iterable[ForceElement], faults: Faults) -> list[ForceElement]:
        """Force elements on the new bodies and joints."""
        found = []
        for force in given:
            try:
                found.append(carried_force(force, self))
            except NotCarried as reason:
                faults.note(force, reason)
        return found

    def constraints(self, given: Iterable[Constraint], faults: Faults) -> list[Constraint]:
        """Constraints on the new bodies and joints."""
        found = []
        for constraint in given:
            try:
                found.append(carried_constraint(constraint, self))
            except NotCarried as reason:
                faults.note(constraint, reason)
        return found


def carried_force(force: ForceElement, new: Renaming) -> ForceElement:
    """A force element on other bodies and joints, or a NotCarried."""
    if not new.layout:
        refuse_functions(force)
    values: dict[str, Any] = {"name": f"{new.prefix}{force.name}"} if new.prefix else {}
    mounts = {}
    for name, key in force.keys.items():
        value = getattr(force, name)
        if key.holds == "joint" and value is not None:
            values[name] = new.joint(value)
        if key.holds == "body" and value is not None:
            mounts[name] = new.mount(value)
            values[name] = mounts[name].body
        if key.holds == "pairs":
            pairs = [tuple(new.mount(body) for body in pair) for pair in value]
            if not all(mount.is_own for pair in pairs for mount in pair):
                raise NotCarried("it names a body whose frame is another")
            values[name] = tuple(tuple(mount.body for mount in pair) for pair in pairs)
    _refuse_one_body(force.bodies, [mount.body for mount in mounts.values()])
    if not all(mount.is_own for mount in mounts.values()):
        values |= _moved(force, mounts)
    changed = {name: value for name, value in values.items() if value != getattr(force, name)}
    return replace(force, **changed) if changed else force


def refuse_functions(force: ForceElement) -> None:
    """Raise a NotCarried where a force element has a user function of all coordinates."""
    if isinstance(force, ForceFunction):
        raise NotCarried("its function is of q and v of the model as it was")
    if isinstance(force, JointLock) and (force.lock_when or force.release_when):
        raise NotCarried("its conditions are functions of q and v of the model as it was")


def refuse_modal(where: str, joints: Iterable[Joint]) -> None:
    """Raise an InputError where one of these joints has modes: its numbers belong to the body as it is."""
    for joint in joints:
        if joint.kind.shared or joint.kind.shares:
            fix = "Make the modal body anew from its matrices."
            raise InputError(message(f"{where}, joint '{joint.name}'", "a modal body", joint.type, "rigid bodies", fix))


def _refuse_one_body(old: Sequence[str], new: Sequence[str]) -> None:
    if len(set(old)) > 1 and len(set(new)) < len(set(old)):
        raise NotCarried(f"it is between bodies that become one, {' and '.join(map(repr, old))}")


def _moved(force: ForceElement, mounts: Mapping[str, Mount]) -> dict[str, Any]:
    """The fields of a force element that say where it is on its bodies, in the new frames."""
    if isinstance(force, (Spring, Bushing, TorsionSpring, BeamElement, BeamInertia)):
        return _on_ends(force, mounts)
    if isinstance(force, (Force, Thrust, BodyForce)) and mounts["body"].body == WORLD:
        raise NotCarried(f"body '{force.body}' becomes part of the world")
    if isinstance(force, Force):
        return _load(force, mounts["body"])
    if isinstance(force, Thrust):
        mount = mounts["body"]
        return {"point": mount.point(force.point), "direction": mount.direction(force.direction)}
    if isinstance(force, BodyForce):
        other = mounts.get("other")
        if mounts["body"].turns or (other is not None and not other.is_own):
            raise NotCarried("its function is of a body whose frame is another")
        return {"point": mounts["body"].point(force.point)}
    raise NotCarried(f"{type(force).__name__} does not say how it is moved to another frame")


def _on_ends(force: ForceElement, mounts: Mapping[str, Mount]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for side in SIDES:
        mount = mounts[f"body_{side}"]
        if f"point_{side}" in force.keys:
            found[f"point_{side}"] = mount.point(getattr(force, f"point_{side}"))
        if f"orientation_{side}" in force.keys:
            found[f"orientation_{side}"] = mount.attitude(getattr(force, f"orientation_{side}"))
    return found


def _load(force: Force, mount: Mount) -> dict[str, Any]:
    found: dict[str, Any] = {"point": mount.point(force.point)}
    if force.axes == "body" and mount.turns:
        for part in ("force", "torque"):
            value = getattr(force, part)
            if callable(value):
                raise NotCarried(f"its {part} is a function of time in the axes of a body whose frame is another")
            found[part] = mount.direction(value)
    return found


def carried_constraint(constraint: Constraint, new: Renaming) -> Constraint:
    """A constraint on other bodies and joints, or a NotCarried."""
    kind, data = constraint.kind, dict(constraint.data)
    if kind.rows_by_trial and not new.layout:
        raise NotCarried("its function is of q and v of the model as it was")
    for name, key in kind.keys.items():
        if key.holds == "joint" and name in data:
            data[name] = new.joint(data[name])
    if isinstance(kind, BodyConstraint):
        mounts = {side: new.mount(data.get(f"body_{side}", WORLD)) for side in SIDES}
        _refuse_one_body(kind.bodies(data), [mount.body for mount in mounts.values()])
        for side, mount in mounts.items():
            data |= _on_end(data, side, mount)
            if mount.turns:
                data.pop(f"axis_{side}", None)
    else:
        for name, key in kind.keys.items():
            if key.holds == "body" and name in data:
                data[name] = _renamed(new.mount(data[name]))
    name = f"{new.prefix}{constraint.name}"
    return constraint if (name, data) == (constraint.name, constraint.data) else Constraint(name, constraint.type, data)


def _renamed(mount: Mount) -> str:
    if not mount.is_own:
        raise NotCarried("it names a body whose frame is another")
    return mount.body


def _on_end(data: Mapping[str, Any], side: str, mount: Mount) -> dict[str, Any]:
    """The data of the frame on one of two bodies, in the new frame of that body."""
    found: dict[str, Any] = {}
    if mount.body != data.get(f"body_{side}", WORLD):
        found[f"body_{side}"] = mount.body
    if any(mount.position) or (mount.turns and f"position_{side}" in data):
        found[f"position_{side}"] = mount.point(data.get(f"position_{side}", (0.0, 0.0, 0.0)))
    if mount.turns:
        found[f"orientation_{side}"] = mount.attitude(frame_attitude(data, side))
    return found


def frame_attitude(data: Mapping[str, Any], side: str) -> tuple[float, ...]:
    """The orientation of the frame that a constraint names on a body, also where only its z axis is given."""
    values = {key: plain(value) for key, value in data.items()}
    return unit_quaternion(np.array(attitude(values, side), dtype=float))
