"""What a motion is differentiated by: numbers of its model, directions of its start, constant forces.

A path names one number ("bodies.arm.mass", "gravity.2", the name of a Parameter) or all below it ("gravity",
"bodies.arm"). "start.q" and "start.v" are the start, "tau" the constant forces, each with the name of a velocity
behind it ("start.q.hip") for one alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from polhode.dynamics import kinematics
from polhode.errors import InputError, UnknownNameError, did_you_mean, message
from polhode.model import Constraint, ForceElement, Model, Parameter, Tree, make_tree
from polhode.model.numbers import named_parameters
from polhode.model.parts import LIMITS
from polhode.quaternion import normalise
from polhode.result import labels
from polhode.scalar import Vec, a_list

START_Q, START_V, FORCES = "start.q", "start.v", "tau"

UNITS = {
    "gravity": "m/s2", "mass": "kg", "inertia": "kg m2", "center": "m", "position": "m", "pitch": "m/rad",
    "axis": "1", "axis2": "1", "orientation": "1",
}  # fmt: skip
"""Of the numbers of bodies and joints, by their field."""

BY_MOTION = {
    "rad/s": {"stiffness": "N m/rad", "damping": "N m s/rad", "rest": "rad", "armature": "kg m2"},
    "m/s": {"stiffness": "N/m", "damping": "N s/m", "rest": "m", "armature": "kg"},
}
"""Of those at a joint, by the unit of its velocity."""


@dataclass(frozen=True)
class Directions:
    """Named directions of what a step depends on: the state x = (q, v), and further inputs p.

    names   (D,)
    units   (D,)          of the number that changes; "" where there are several
    inputs  (P,)          paths, those of forces with "tau." before them
    p       (P,)          their values
    places  where inputs enter the model: the input by the path of a number
    x_dot   (D, nq + nv)  ẋ at the start, raw coordinates
    p_dot   (D, P)        ṗ
    """

    model: Model
    names: tuple[str, ...]
    units: tuple[str, ...]
    inputs: tuple[str, ...]
    p: np.ndarray
    places: Mapping[str, str]
    x_dot: np.ndarray
    p_dot: np.ndarray

    def tree(self, p: Vec) -> Tree:
        """The tree with these numbers in the place of the model's own."""
        return make_tree(self.model, self.values(p))

    def values(self, p: Vec) -> dict[str, Any]:
        """These numbers by path."""
        given = dict(zip(self.inputs, p, strict=True))
        values: dict[str, Any] = {path: given[name] for path, name in self.places.items()}
        for joint in self.model.joints:  # an orientation changes as a whole, and keeps its length
            path = f"joints.{joint.name}.orientation"
            parts = [values.pop(f"{path}.{k}", None) for k in range(4)]
            if any(part is not None for part in parts):
                own = [x.value if isinstance(x, Parameter) else x for x in joint.orientation]
                values[path] = normalise(Vec([y if x is None else x for x, y in zip(parts, own, strict=True)]))
        return values

    def forces(self, level: Sequence[float], p: Vec) -> Vec | None:
        """The constant forces with these numbers in their place; None if there are none among the inputs."""
        given = dict(zip(self.inputs, p, strict=True))
        names = [f"{FORCES}.{dof}" for dof in labels.dof_names(self.model)]
        if not any(name in given for name in names):
            return None
        return Vec([given.get(name, x) for name, x in zip(names, level, strict=True)])


def directions(
    model: Model, q: np.ndarray, level: Sequence[float] | None, paths: Sequence[str] | str, where: str
) -> Directions:
    """The directions that paths name, each once.

    q      (nq,)  at the start
    level  (nv,)  constant forces; None: they are not constant
    where  for errors
    """
    known = _Known(model, level, where)
    asked = [paths] if isinstance(paths, str) else a_list(f"{where}, parameters", paths, "a list of paths")
    names = tuple(dict.fromkeys(x for path in asked for x in known.below(path)))
    inputs = tuple(dict.fromkeys(upper(name) for name in names if not name.startswith((f"{START_Q}.", f"{START_V}."))))
    places = {path: owner for path, owner in known.owners.items() if owner in inputs}
    places |= {path: upper(path) for path in known.numbers if upper(path) in inputs}
    x_dot, p_dot = np.zeros((len(names), model.nq + model.nv)), np.zeros((len(names), len(inputs)))
    tree, unit = make_tree(model), np.eye(model.nv)
    for d, name in enumerate(names):
        if name in known.of[START_Q]:
            turn = Vec(unit[known.of[START_Q].index(name)].tolist())
            x_dot[d, : model.nq] = kinematics.rate(tree, Vec(q.tolist()), turn)
        elif name in known.of[START_V]:
            x_dot[d, model.nq :] = unit[known.of[START_V].index(name)]
        else:  # a Parameter also changes those of its numbers that are inputs themselves
            p_dot[d] = [path == upper(name) or known.owners.get(path) == name for path in inputs]
    p = np.array([known.value(name) for name in inputs], dtype=float)
    return Directions(model, names, tuple(map(known.unit, names)), inputs, p, places, x_dot, p_dot)


def upper(path: str) -> str:
    """The upper of two equal entries of an inertia matrix, which change together; any other path as it is."""
    head, mark, tail = path.rpartition(".inertia.")
    return head + mark + ".".join(sorted(tail.split("."))) if head.startswith("bodies.") else path


class _Known:
    """All that can be named of one run."""

    def __init__(self, model: Model, level: Sequence[float] | None, where: str) -> None:
        self.model, self.level, self.where = model, level, where
        self.numbers, self.owners = model.numbers(), _owners(model)
        self.parameters = {parameter.name: parameter.value for parameter in named_parameters(model)}
        dofs = labels.dof_names(model)
        self.of = {root: [f"{root}.{dof}" for dof in dofs] for root in (START_Q, START_V, FORCES)}

    def value(self, name: str) -> float:
        """The value of an input."""
        if name in self.of[FORCES]:
            assert self.level is not None
            return self.level[self.of[FORCES].index(name)]
        return self.parameters[name] if name in self.parameters else self.numbers[name]

    def below(self, path: str) -> list[str]:
        """The numbers that a path names."""
        if not isinstance(path, str):
            raise UnknownNameError(message(self.where, "no such number", repr(path)[:60], "a path"))
        if path in self.parameters:
            return [path]
        for root, names in self.of.items():
            if path == root or path in names:
                return self._forces(path) if root == FORCES else names if path == root else [path]
        is_limit = path.startswith("joints.") and path.rpartition(".")[2] in LIMITS
        if (path in self.numbers and not self._enters(path)) or is_limit:
            fix = "Limits of joints, and axes of joints that have none, change nothing."
            raise InputError(message(self.where, "the motion does not depend on it", repr(path), "another path", fix))
        found = [x for x in self.numbers if (x == path or x.startswith(f"{path}.")) and self._enters(x)]
        if found:
            return found
        all_of = [*self.numbers, *self.parameters, *self.of, *(name for names in self.of.values() for name in names)]
        fix = did_you_mean(path, all_of, "model.numbers() lists those of the model.", most=3)
        expected = "a path, as bodies.arm.mass or start.q"
        raise UnknownNameError(message(self.where, "no such number", repr(path), expected, fix))

    def _forces(self, path: str) -> list[str]:
        if self.level is None:
            fix = "Give tau as constants, or name numbers of the model and of the start."
            raise InputError(message(self.where, "tau is not constant", repr(path), "constant forces", fix))
        return self.of[FORCES] if path == FORCES else [path]

    def _enters(self, path: str) -> bool:
        """Whether a number enters the equations of motion."""
        try:
            make_tree(self.model, {path: self.numbers[path]})
        except UnknownNameError:
            return False
        return True

    def unit(self, name: str) -> str:
        """The unit of a number, "" where none is known."""
        model = self.model
        by_root = {START_Q: tangent_units, START_V: labels.dof_units, FORCES: labels.force_units}
        for root, names in self.of.items():
            if name in names:
                return by_root[root](model)[names.index(name)]
        found = {self._unit(path) for path, owner in self.owners.items() if owner == name} or {self._unit(name)}
        return found.pop() if len(found) == 1 else ""

    def _unit(self, path: str) -> str:
        if path.startswith("gravity"):
            return UNITS["gravity"]
        for group in ("bodies", "joints", "forces", "constraints"):
            for record in getattr(self.model, group):
                head = f"{group}.{record.name}."
                if path.startswith(head):
                    field, _, entry = path[len(head) :].partition(".")
                    if isinstance(record, (ForceElement, Constraint)):
                        keys = record.keys if isinstance(record, ForceElement) else record.kind.keys
                        return keys[field].unit
                    if field == "data":
                        return record.kind.keys[entry.partition(".")[0]].unit
                    rates = self._rates.get(record.name, [])
                    rates = [rates[int(entry)]] if field not in UNITS and entry else rates
                    rates = ["rad/s"] if field == "armature" and record.kind.has_quaternion else rates
                    return UNITS.get(field) or (BY_MOTION[rates[0]].get(field, "") if len(set(rates)) == 1 else "")
        return ""

    @cached_property
    def _rates(self) -> dict[str, list[str]]:
        """The units of the velocities of each joint."""
        units = iter(labels.dof_units(self.model))
        return {joint.name: [next(units) for _ in range(joint.nv)] for joint in self.model.joints}


def _owners(model: Model) -> dict[str, str]:
    """The numbers of a model that are Parameters: the Parameter's name by path."""
    found: dict[str, str] = {}

    def visit(path: str, value: Any) -> None:
        if isinstance(value, Parameter):
            found[path] = value.name
        inner = value if isinstance(value, Mapping) else dict(enumerate(value if isinstance(value, tuple) else ()))
        for key, x in inner.items():
            visit(f"{path}.{key}", x)

    visit("gravity", model.gravity)
    for group in ("bodies", "joints", "forces"):
        for record in getattr(model, group):
            for field in fields(record):
                visit(f"{group}.{record.name}.{field.name}", getattr(record, field.name))
    for constraint in model.constraints:
        for key in constraint.numeric:
            visit(f"constraints.{constraint.name}.{key}", constraint.data[key])
    return found


def tangent_units(model: Model) -> list[str]:
    """Units (nv,) of a small change of the coordinates along the velocities."""
    return [unit.removesuffix("/s") for unit in labels.dof_units(model)]
