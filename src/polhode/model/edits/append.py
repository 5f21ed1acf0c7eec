"""A model put on a body of another: both machines as one."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from polhode.errors import InputError, ModelError, did_you_mean, message
from polhode.model.edits.carry import Faults, Renaming
from polhode.model.edits.merge import on_mount
from polhode.model.edits.mounted import frames_on, shapes_on
from polhode.model.edits.states import NamedState, bare, by_joint, start_q, start_state, started
from polhode.model.keys import Key
from polhode.model.mount import NOWHERE, STILL, Mount
from polhode.model.topology import WORLD
from polhode.scalar import shown

POSITION, ORIENTATION = Key("vector"), Key("quaternion")


def appended(
    model: Any,
    other: Any,
    at: str = WORLD,
    position: Any = NOWHERE,
    orientation: Any = STILL,
    prefix: str = "",
    drop: bool = False,
) -> Any:
    """A Model with the machine of another one on a body; see `Model.append`."""
    where = f"append, model '{model.name}'"
    if not isinstance(other, type(model)):
        raise InputError(message(f"{where}, other", "not a model", shown(other), "a Model"))
    if not isinstance(prefix, str):
        raise InputError(message(f"{where}, prefix", "not text", shown(prefix), "text before names, as 'left.'"))
    ground = host(where, model, at).frame(
        POSITION.checked(where, "position", position), ORIENTATION.checked(where, "orientation", orientation)
    )
    _check_names(where, model, other, prefix)
    mounts = {WORLD: ground} | {body.name: Mount(f"{prefix}{body.name}") for body in other.bodies}
    joints = {joint.name: f"{prefix}{joint.name}" for joint in other.joints}
    theirs, ours = Renaming(mounts, joints, prefix=prefix), Renaming(layout=not (other.nq or other.nv))
    faults = Faults(where, drop)
    new_forces = [*ours.forces(model.forces, faults), *theirs.forces(other.forces, faults)]
    new_constraints = [*ours.constraints(model.constraints, faults), *theirs.constraints(other.constraints, faults)]
    faults.end()
    hung = [
        on_mount(joint, mounts[joint.parent], joints[joint.name], mounts[joint.child].body) for joint in other.joints
    ]
    made = bare(
        model,
        bodies=[*model.bodies, *(replace(body, name=f"{prefix}{body.name}") for body in other.bodies)],
        joints=[*model.joints, *hung],
        forces=new_forces,
        constraints=new_constraints,
        frames=[*model.frames, *frames_on(mounts, other.frames, prefix)],
        shapes=[*model.shapes, *shapes_on(mounts, other.shapes, prefix)],
        ignored=[*model.ignored, *other.ignored],
        number_inputs=model.number_inputs or other.number_inputs,
    )
    return _started(model, other, made, prefix)


def host(where: str, model: Any, at: Any) -> Mount:
    """The body or the frame that a machine is put on."""
    frames = {WORLD: Mount(WORLD)} | {body.name: Mount(body.name) for body in model.bodies}
    frames |= {frame.name: Mount(frame.body, frame.position, frame.orientation) for frame in model.frames}
    if not isinstance(at, str) or at not in frames:
        fix = did_you_mean(at, frames)
        raise InputError(message(f"{where}, at", "no such body", shown(at), "a body or a frame", fix))
    return frames[at]


def _check_names(where: str, model: Any, other: Any, prefix: str) -> None:
    for group in ("bodies", "joints", "forces", "constraints", "frames", "shapes"):
        own = {record.name for record in getattr(model, group)}
        for record in getattr(other, group):
            if f"{prefix}{record.name}" in own:
                fix = f"Give names a prefix: prefix='{other.name}.'."
                found = f"'{prefix}{record.name}' among the {group} of both"
                raise ModelError(message(where, "one name twice", found, "different names", fix))


def _started(model: Any, other: Any, made: Any, prefix: str) -> Any:
    """The model with the starts of both, and their configurations, each with the other at its start."""

    def named(known: Mapping[Any, Any]) -> dict[str, Any]:
        return {f"{prefix}{name}": x for name, x in known.items()}

    def both(own: Any, theirs: Any) -> dict[str, Any]:
        return {**by_joint(model, own), **named(by_joint(other, theirs))}

    first, second = start_state(model), start_state(other)
    found = {name: both(q, other.configurations.get(name, start_q(other))) for name, q in model.configurations.items()}
    found |= {f"{prefix}{name}": both(start_q(model), q) for name, q in other.configurations.items()
              if f"{prefix}{name}" not in found}  # fmt: skip
    own = {(f"{prefix}{owner}", state): x for (owner, state), x in (second.own or {}).items()}
    state = NamedState(
        None if first.q is None and second.q is None else {**(first.q or {}), **named(second.q or {})},
        None if first.v is None and second.v is None else {**(first.v or {}), **named(second.v or {})},
        None if first.own is None and second.own is None else {**(first.own or {}), **own},
    )
    return started(made, state, model.start or other.start, found)
