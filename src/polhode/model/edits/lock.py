"""Joints locked at given values: a model with fewer coordinates, the bodies on both sides of each made one."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from polhode.errors import InputError, did_you_mean, message
from polhode.model.constraints.constraint import Constraint
from polhode.model.edits.carry import Faults, refuse_functions, refuse_modal
from polhode.model.edits.merge import merged
from polhode.model.edits.mounted import joint_frame, joint_motion
from polhode.model.edits.states import bare, by_joint, restated, start_q
from polhode.model.forces.base import ForceElement
from polhode.model.mount import NotCarried
from polhode.model.parts import Joint
from polhode.scalar import UNIT_TOLERANCE, is_list, shown

Locked = Mapping[str, tuple[float, ...]]


def with_locked(model: Any, values: Any, merge: bool = True, drop: bool = False) -> Any:
    """A Model in which joints do not move; see `Model.with_locked`."""
    where = f"with_locked, model '{model.name}'"
    locked = _checked(where, model, values)
    refuse_modal(where, [model.joint(name) for name in locked])
    faults = Faults(where, drop)
    forces = faults.kept(model.forces, lambda force: _force(force, locked))
    constraints = faults.kept(model.constraints, lambda constraint: _constraint(constraint, locked))
    faults.end()
    joints = [_fixed(joint, locked[joint.name]) if joint.name in locked else joint for joint in model.joints]
    made = restated(model, bare(model, joints=joints, forces=forces, constraints=constraints))
    return merged(made, where, locked, drop) if merge else made


def _checked(where: str, model: Any, values: Any) -> Locked:
    """The coordinates of each joint to be locked."""
    if not isinstance(values, Mapping) and not (is_list(values) and all(isinstance(name, str) for name in values)):
        expected = "{joint: value}, or names of joints, locked where the model starts"
        raise InputError(message(where, "not values by joint", shown(values), expected))
    own, known = by_joint(model, start_q(model)), [joint.name for joint in model.joints]
    found = {}
    for name in values:
        if name not in own:
            fix = did_you_mean(name, known)
            raise InputError(message(where, "no such joint", shown(name), "a joint of the model", fix))
        given = values[name] if isinstance(values, Mapping) else None
        found[name] = own[name] if given is None else _coordinates(where, model.joint(name), given)
    return found


def _coordinates(where: str, joint: Joint, given: Any) -> tuple[float, ...]:
    place = f"{where}, joint '{joint.name}'"
    try:
        numbers = np.array(given, dtype=float).reshape(-1)
    except (TypeError, ValueError):
        numbers = np.full(1, np.nan)
    if len(numbers) != joint.nq or not np.all(np.isfinite(numbers)):
        raise InputError(message(place, "not its coordinates", shown(given), f"{joint.nq} finite numbers"))
    if joint.kind.has_quaternion and abs(math.hypot(*numbers[-4:]) - 1) > UNIT_TOLERANCE:
        size = f"length {math.hypot(*numbers[-4:]):.9g}"
        raise InputError(message(place, "not a unit quaternion", size, "length 1", "Divide it by its length."))
    return tuple(numbers.tolist())


def _fixed(joint: Joint, q: tuple[float, ...]) -> Joint:
    """A joint as a fixed one, its child where the coordinates say."""
    motion = joint_motion(joint, q)
    at = joint_frame(joint).frame(motion.position, motion.orientation)
    return Joint(joint.name, "fixed", joint.parent, joint.child, position=at.position, orientation=at.orientation)


def _force(force: ForceElement, locked: Locked) -> ForceElement | None:
    """A force element as it acts where joints are locked; None where it does nothing then."""
    if locked:
        refuse_functions(force)
    if not any(name in locked for name in force.joints):
        return force
    changed = force.locked(locked)
    return None if changed is None else replace(force, **changed)


def _constraint(constraint: Constraint, locked: Locked) -> Constraint | None:
    """A constraint as it acts where joints are locked; None where they meet it."""
    kind = constraint.kind
    if kind.rows_by_trial and locked:
        raise NotCarried("its function is of q and v of the model as it was")
    if not any(name in locked for name in kind.joints(constraint.data)):
        return constraint
    left = kind.locked(constraint.data, locked)
    return None if left is None else Constraint(constraint.name, *left)
