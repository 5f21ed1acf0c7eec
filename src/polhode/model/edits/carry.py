"""Force elements and constraints on other bodies, by other names: what every edit of a model has to carry over."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from polhode.errors import InputError, ModelError, message
from polhode.model.constraints.base import SIDES, BodyConstraint, frame_attitude
from polhode.model.constraints.constraint import Constraint
from polhode.model.forces.base import ForceElement
from polhode.model.mount import Mount, NotCarried
from polhode.model.parts import Joint
from polhode.model.topology import WORLD

R = TypeVar("R", ForceElement, Constraint)


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

    def kept(self, given: Iterable[R], edit: Callable[[R], R | None]) -> list[R]:
        """Force elements or constraints as an edit makes them; None: it is gone. Those that cannot be carried over are
        noted."""
        found = []
        for record in given:
            try:
                made = edit(record)
            except NotCarried as reason:
                self.note(record, reason)
            else:
                found += [] if made is None else [made]
        return found

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
        return faults.kept(given, lambda force: carried_force(force, self))

    def constraints(self, given: Iterable[Constraint], faults: Faults) -> list[Constraint]:
        """Constraints on the new bodies and joints."""
        return faults.kept(given, lambda constraint: carried_constraint(constraint, self))


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
        values |= force.moved(mounts)
    changed = {name: value for name, value in values.items() if value != getattr(force, name)}
    return replace(force, **changed) if changed else force


def refuse_functions(force: ForceElement) -> None:
    """Raise a NotCarried where a force element has a user function of all coordinates."""
    if force.of_layout:
        raise NotCarried(force.of_layout)


def refuse_modal(where: str, joints: Iterable[Joint]) -> None:
    """Raise an InputError where one of these joints has modes: its numbers belong to the body as it is."""
    for joint in joints:
        if joint.kind.shared or joint.kind.shares:
            fix = "Make the modal body anew from its matrices."
            raise InputError(message(f"{where}, joint '{joint.name}'", "a modal body", joint.type, "rigid bodies", fix))


def _refuse_one_body(old: Sequence[str], new: Sequence[str]) -> None:
    if len(set(old)) > 1 and len(set(new)) < len(set(old)):
        raise NotCarried(f"it is between bodies that become one, {' and '.join(map(repr, old))}")


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
