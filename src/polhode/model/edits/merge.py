"""Bodies on fixed joints made part of what they are fixed to: one body each, of their masses together.

Their own frames stay, as frames of that body.
"""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from polhode.model.edits.carry import Faults, Renaming
from polhode.model.edits.mounted import combined, frames_on, joint_frame, seen, shapes_on
from polhode.model.edits.states import bare, restated
from polhode.model.forces.base import ForceElement
from polhode.model.mount import Mount
from polhode.model.parts import BodyFrame, Joint
from polhode.model.topology import WORLD, parent_first


def merged(model: Any, where: str, joints: Collection[str] | None = None, drop: bool = False) -> Any:
    """A Model without bodies on fixed joints.

    joints  names of fixed joints, all unless given; a body that is fixed to the world stays, since its mass counts
    """
    mounts = _mounts(model, joints)
    gone = {body for body in mounts if mounts[body].body != body}
    if not gone:
        return model
    faults = Faults(where, drop)
    renaming = Renaming(mounts, layout=True)
    kept = [force for force in model.forces if not _changes_shared_mass(force, mounts, faults)]
    bodies = []
    for body in model.bodies:
        parts = [seen(model.body(name), at, body.name) for name, at in mounts.items() if at.body == body.name]
        if body.name not in gone:
            bodies.append(body if len(parts) == 1 else combined(body.name, parts))
    hung = [joint for joint in model.joints if joint.child not in gone]
    forces = renaming.forces(kept, faults)
    constraints = renaming.constraints(model.constraints, faults)
    faults.end()
    made = bare(
        model,
        bodies=bodies,
        joints=[on_mount(joint, mounts.get(joint.parent, Mount(joint.parent))) for joint in hung],
        forces=forces,
        constraints=constraints,
        frames=frames_on(mounts, [*model.frames, *(BodyFrame(name, name) for name in mounts if name in gone)]),
        shapes=shapes_on(mounts, model.shapes),
    )
    return restated(model, made)


def on_mount(joint: Joint, mount: Mount, name: str = "", child: str = "") -> Joint:
    """A joint whose parent is mounted on another body.  name, child: new names, where there are any"""
    name, child = name or joint.name, child or joint.child
    if mount.is_own and (mount.body, name, child) == (joint.parent, joint.name, joint.child):
        return joint
    at = mount.frame(joint.position, joint.orientation)
    return replace(joint, name=name, parent=mount.body, child=child, position=at.position, orientation=at.orientation)


def _mounts(model: Any, joints: Collection[str] | None) -> dict[str, Mount]:
    """For every body the body that it becomes part of, and where it is there."""
    found = {WORLD: Mount(WORLD)}
    flexible = {joint.parent for joint in model.joints if joint.kind.shared}  # modes are in its own axes
    links = [(joint.name, joint.parent, joint.child) for joint in model.joints]
    for k in parent_first(model.name, [body.name for body in model.bodies], links):
        joint = model.joints[k]
        rigid = not joint.nv and not joint.kind.shares and joint.child not in flexible
        asked = rigid and (joints is None or joint.name in joints)
        parent = found[joint.parent]
        if asked and parent.body != WORLD:
            at = joint_frame(joint)
            found[joint.child] = parent.frame(at.position, at.orientation)
        else:
            found[joint.child] = Mount(joint.child)
    return found


def _changes_shared_mass(force: ForceElement, mounts: dict[str, Mount], faults: Faults) -> bool:
    """Whether a force element changes the mass of a body that is not alone any more; then it is noted."""
    if type(force).masses is ForceElement.masses:
        return False
    together = [at.body for at in mounts.values()]
    shared = any(together.count(mounts[body].body) > 1 for body in force.bodies if body != WORLD)
    if shared:
        faults.note(force, "it changes the mass of a body that becomes part of another")
    return shared
