"""Named configurations of files: keyframes of MJCF, group states of SRDF, starts and configurations of our YAML."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from polhode.errors import ModelError, PolhodeWarning, did_you_mean, message, warn_caller
from polhode.formats import xml_guard
from polhode.model import Joint, Model

FEW = 8
"""So many names at most a message lists."""


def keyframes(
    keys: Iterable["xml_guard.XmlElement"], joints: Sequence[Joint], start: Sequence[float]
) -> dict[str, tuple]:
    """The coordinates of the keys of an MJCF by name; "key0", "key1", … where one has none.

    start  qpos0: that of a key without qpos
    """
    found = dict[str, tuple]()
    for k, key in enumerate(keys):
        name = key.attributes.get("name", "").strip() or f"key{k}"
        if name in found:
            key.fail("a name twice", repr(name), "unique names")
        found[name] = _normalised(joints, key.numbers("qpos", len(start), tuple(start)), key)
    return found


def _normalised(joints: Sequence[Joint], q: Sequence[float], key: "xml_guard.XmlElement") -> tuple[float, ...]:
    """Coordinates with quaternions of unit length, as MuJoCo has them."""
    array, at = np.array(q, dtype=float), 0
    for joint in joints:
        at += joint.nq
        if joint.kind.has_quaternion:
            size = np.linalg.norm(array[at - 4 : at])
            if not size > 0:
                key.fail("qpos has a quaternion without length", f"of joint '{joint.name}'", "one of any other length")
            array[at - 4 : at] /= size
    return tuple(array.tolist())


def with_group_states(model: Model, source: str | Path) -> Model:
    """The model with the group states of an SRDF as configurations.

    Joints that a state does not name are at zero, those that follow others where these say. States of one name in
    several groups are one configuration; where both name a joint, each is "group/name".
    """
    root = xml_guard.read_xml(source)
    if root.tag != "robot":
        root.fail("not an SRDF", f"<{root.tag}>", "<robot>")
    states: list[tuple[str, str, dict[str, tuple]]] = []
    missing: list[str] = []
    for node in root.all("group_state"):
        values = dict[str, tuple]()
        for each in node.all("joint"):
            joint = _joint(model, each)
            if joint is None:
                missing.append(each.text("name"))
            else:
                values[joint.name] = _values(joint, each)
        states.append((node.text("name"), node.attributes.get("group", "").strip(), values))
    if missing:
        names = ", ".join(f"'{name}'" for name in dict.fromkeys(missing))
        text = message(root.file, "group states of joints that the model does not have", names, "joints of the model")
        warn_caller(f"{text}\n  They are left out.", PolhodeWarning)
    made = {name: _filled(model, values) for name, values in _joined(states).items()}
    return replace(model, configurations={**model.configurations, **made})


def _joint(model: Model, node: "xml_guard.XmlElement") -> Joint | None:
    """The joint that a state names; any name with seven values means a free joint on the world."""
    name, size = node.text("name"), len(node.text("value").split())
    found = next((joint for joint in model.joints if joint.name == name), None)
    if found is None and size == 7:
        return next((joint for joint in model.joints if joint.kind.floats and joint.nq == size), None)
    return found if found is not None and found.nq else None


def _values(joint: Joint, node: "xml_guard.XmlElement") -> tuple[float, ...]:
    """The coordinates of a joint; a free one is x y z and the quaternion, scalar last, in the file."""
    q = node.numbers("value", joint.nq)
    if not joint.kind.has_quaternion:
        return q
    *before, x, y, z, w = q
    turn = np.array([w, x, y, z]) / (np.linalg.norm(q[-4:]) or np.nan)
    if not np.all(np.isfinite(turn)):
        node.fail("a quaternion without length", f"{q[-4:]}", "one of any other length")
    return (*before, *turn.tolist())


def _joined(states: Sequence[tuple[str, str, dict[str, tuple]]]) -> dict[str, dict[str, tuple]]:
    """The values of each configuration, states of one name together where they are of different joints."""
    found = dict[str, dict[str, tuple]]()
    for name in dict.fromkeys(name for name, _, _ in states):
        alike = [(group, values) for other, group, values in states if other == name]
        named = [joint for _, values in alike for joint in values]
        if len(set(named)) == len(named):
            found[name] = {joint: x for _, values in alike for joint, x in values.items()}
        else:
            found |= {f"{group}/{name}": values for group, values in alike}
    return found


def _filled(model: Model, values: Mapping[str, tuple]) -> tuple[float, ...]:
    """Coordinates of all joints: zero, or as those that they follow say, where none are given."""
    known, zero = dict(values), {joint.name: joint.zero for joint in model.joints}
    for constraint in model.constraints:
        found = constraint.kind.following(constraint.data, {**zero, **known})
        if found is not None and found[0] not in values:
            known[found[0]] = (found[1],)
    return tuple(x for joint in model.joints for x in (known.get(joint.name, joint.zero)))


def placed_numbers(where: str, joints: Sequence[Joint], given: Mapping[str, Any], which: str) -> tuple[float, ...]:
    """q or v of joints by name, those left out at zero.  which: "nq" or "nv" """
    known = {joint.name: joint for joint in joints if getattr(joint, which)}
    for name, value in given.items():
        if name not in known:
            expected = ", ".join([*known][:FEW]) or "none: nothing moves"
            fix = did_you_mean(name, known)
            raise ModelError(message(where, "no such joint", repr(name), expected, fix))
        size, numbers = getattr(known[name], which), value if isinstance(value, tuple) else (value,)
        if len(numbers) != size:
            told = f"{len(numbers)} numbers of '{name}'"
            raise ModelError(message(where, "wrong size", told, f"{size} numbers"))
    found: list[float] = []
    for joint in joints:
        zero = joint.zero if which == "nq" else (0.0,) * joint.nv
        value = given.get(joint.name, zero)
        found += value if isinstance(value, tuple) else (value,)
    return tuple(found)
