"""Parts of a model: a limb alone, a machine without one, and one with another in its place."""

from collections.abc import Sequence
from typing import Any

from polhode.errors import InputError, did_you_mean, message
from polhode.model.edits.append import appended
from polhode.model.edits.carry import Faults, Renaming
from polhode.model.edits.merge import on_mount
from polhode.model.edits.mounted import frames_on, shapes_on
from polhode.model.edits.states import bare, restated
from polhode.model.mount import Mount
from polhode.model.topology import WORLD


def limb(model: Any, joint: str, drop: bool = False) -> Any:
    """The Model of a joint and all that it carries; see `Model.limb`."""
    where = f"limb, model '{model.name}'"
    kept = _below(where, model, joint)
    parent = model.joint(joint).parent
    removed = {body.name: "is no part of the limb" for body in model.bodies if body.name not in (*kept, parent)}
    if parent != WORLD:
        removed[WORLD] = "is another one: what carries the limb is its ground"
    mounts = {parent: Mount(WORLD)}
    return _of_bodies(where, model, kept, Renaming(mounts, removed=removed), drop)


def without_subtree(model: Any, joint: str, drop: bool = False, where: str = "without_subtree") -> Any:
    """The Model without a joint and all that it carries; see `Model.without_subtree`."""
    where = f"{where}, model '{model.name}'"
    gone = _below(where, model, joint)
    kept = [body.name for body in model.bodies if body.name not in gone]
    return _of_bodies(where, model, kept, Renaming(removed=dict.fromkeys(gone, "is removed")), drop)


def with_subtree(model: Any, joint: str, other: Any, prefix: str = "", drop: bool = False) -> Any:
    """The Model with another machine in place of a joint and all that it carries; see `Model.with_subtree`."""
    rest = without_subtree(model, joint, drop, "with_subtree")
    old = model.joint(joint)
    return appended(rest, other, old.parent, old.position, old.orientation, prefix, drop)


def _below(where: str, model: Any, joint: Any) -> list[str]:
    """The bodies that a joint carries."""
    known = [each.name for each in model.joints]
    if not isinstance(joint, str) or joint not in known:
        fix = did_you_mean(joint, known)
        raise InputError(message(where, "no such joint", repr(joint), "a joint of the model", fix))
    found = [model.joint(joint).child]
    for body in found:  # grows
        found += [each.child for each in model.joints if each.parent == body]
    return found


def _of_bodies(where: str, model: Any, kept: list[str], renaming: Renaming, drop: bool) -> Any:
    """The model with some of its bodies alone, and what is between them."""
    joints = [joint for joint in model.joints if joint.child in kept]
    gone = {f"joints.{joint.name}": "is removed" for joint in model.joints if joint not in joints}
    renaming = Renaming(renaming.mounts, removed={**renaming.removed, **gone})
    faults = Faults(where, drop)
    parts = {*kept, *(f"joints.{joint.name}" for joint in joints)}
    forces = renaming.forces([x for x in model.forces if not _is_outside(x.bodies, x.joints, parts)], faults)
    inside = [c for c in model.constraints if not _is_outside(c.kind.bodies(c.data), c.kind.joints(c.data), parts)]
    constraints = renaming.constraints(inside, faults)
    faults.end()
    made = bare(
        model,
        bodies=[body for body in model.bodies if body.name in kept],
        joints=[on_mount(joint, renaming.mounts.get(joint.parent, Mount(joint.parent))) for joint in joints],
        forces=forces,
        constraints=constraints,
        frames=frames_on(renaming.mounts, [frame for frame in model.frames if frame.body in kept]),
        shapes=shapes_on(renaming.mounts, [shape for shape in model.shapes if shape.body in kept]),
    )
    return restated(model, made)


def _is_outside(bodies: Sequence[str], joints: Sequence[str], parts: set[str]) -> bool:
    """Whether a force element or a constraint is of the rest of the machine alone; the world is no part of it."""
    named = [*bodies, *(f"joints.{name}" for name in joints)]
    return bool(named) and WORLD not in named and not parts.intersection(named)
