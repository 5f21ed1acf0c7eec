"""Kinds of parts by users: what a model computes is then told by their code, not by its numbers alone."""

from typing import Any

from polhode.model.constraints.registry import CONSTRAINTS
from polhode.model.joints.registry import JOINTS

PACKAGE = __name__.partition(".")[0]


def is_by_user(kind: type) -> bool:
    """Whether a class is not of this package."""
    return kind.__module__.partition(".")[0] != PACKAGE


def user_kinds(model: Any) -> list[type]:
    """The classes outside this package that a model's forces, constraints and joints are made of, base classes too."""
    joints = [JOINTS[joint.type] for joint in model.joints]
    parts: list[object] = [*model.forces, *joints, *(kind for joint in joints for kind, _ in joint.elements)]
    parts += [CONSTRAINTS[c.type] for c in model.constraints if c.type in CONSTRAINTS]
    classes = dict.fromkeys(base for part in parts for base in type(part).__mro__[:-1])
    return [kind for kind in classes if is_by_user(kind)]
