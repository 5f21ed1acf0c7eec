"""Joints locked at given values: a model with fewer coordinates, the bodies on both sides of each made one."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from polhode.errors import InputError, did_you_mean, message
from polhode.model.constraints.constraint import Constraint
from polhode.model.edits.carry import Faults, NotCarried, refuse_functions, refuse_modal
from polhode.model.edits.merge import merged
from polhode.model.edits.mount import joint_frame, joint_motion
from polhode.model.edits.states import bare, by_joint, restated, start_q
from polhode.model.forces.backlash import Backlash
from polhode.model.forces.base import ForceElement
from polhode.model.numbers import plain
from polhode.model.parts import Joint
from polhode.scalar import UNIT_TOLERANCE, is_list, shown

AGREES = 1e-9
"""rad or m: so far may the values of two locked joints be from a constraint between them."""

Locked = Mapping[str, tuple[float, ...]]


def with_locked(model: Any, values: Any, merge: bool = True, drop: bool = False) -> Any:
    """A Model in which joints do not move; see `Model.with_locked`."""
    where = f"with_locked, model '{model.name}'"
    locked = _checked(where, model, values)
    refuse_modal(where, [model.joint(name) for name in locked])
    faults = Faults(where, drop)
    forces = [force for given in model.forces for force in _forces(given, locked, faults)]
    constraints = [kept for given in model.constraints for kept in _constraints(given, locked, faults)]
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


def _forces(force: ForceElement, locked: Locked, faults: Faults) -> Iterator[ForceElement]:
    """A force element as it acts where joints are locked: one along locked joints alone is gone."""
    held = [name for name in force.joints if name in locked]
    try:
        if locked:
            refuse_functions(force)
        if isinstance(force, Backlash) and held and len(held) < len(force.joints):
            yield _backlash(force, locked)
        elif held and len(held) < len(force.joints):
            raise NotCarried(
                f"joint '{held[0]}' is locked, '{next(x for x in force.joints if x not in locked)}' is not"
            )
        elif not held:
            yield force
    except NotCarried as reason:
        faults.note(force, reason)


def _backlash(force: Backlash, locked: Locked) -> Backlash:
    """Backlash whose other joint is locked: the gap is about a fixed place."""
    if force.other is None or force.other not in locked:
        raise NotCarried(f"joint '{force.joint}' is locked, '{force.other}' is not")
    offset = plain(force.offset) + plain(force.ratio) * locked[force.other][0]
    return replace(force, other=None, offset=offset, ratio=1.0)


def _constraints(constraint: Constraint, locked: Locked, faults: Faults) -> Iterator[Constraint]:
    """A constraint as it acts where joints are locked: one that they meet is gone."""
    names = constraint.kind.joints(constraint.data)
    held = [name for name in names if name in locked]
    try:
        if constraint.kind.rows_by_trial and locked:
            raise NotCarried("its function is of q and v of the model as it was")
        if not held:
            yield constraint
        elif constraint.type in ("mimic", "gear"):
            yield from _follower(constraint, locked)
        elif constraint.type != "prescribed":
            raise NotCarried(f"joint '{held[0]}' is locked")
        else:
            value = plain(constraint.data["value"])
            if callable(value) or abs(value - locked[held[0]][0]) > AGREES:
                raise NotCarried(f"joint '{held[0]}' is locked at {locked[held[0]][0]:g}, and prescribed otherwise")
    except NotCarried as reason:
        faults.note(constraint, reason)


def _follower(constraint: Constraint, locked: Locked) -> Iterator[Constraint]:
    """A joint that follows another, of which one or both are locked: the other one is held where that demands."""
    data = constraint.data
    joint, source = data["joint"], data["source"]
    c = plain(data.get("polynomial", (data.get("offset", 0.0), data.get("multiplier", 1.0))))
    if source in locked:
        value = float(np.polynomial.polynomial.polyval(locked[source][0], c))
        if joint not in locked:
            yield Constraint(constraint.name, "prescribed", {"joint": joint, "value": value})
        elif abs(value - locked[joint][0]) > AGREES:
            raise NotCarried(f"'{joint}' is locked at {locked[joint][0]:g}, where '{source}' demands {value:g}")
        return
    if len(c) != 2 or not c[1]:
        raise NotCarried(f"'{joint}' is locked, and '{source}' does not follow from it")
    value = (locked[joint][0] - c[0]) / c[1]
    yield Constraint(constraint.name, "prescribed", {"joint": source, "value": value})
