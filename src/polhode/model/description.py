"""A machine as its user writes it: bodies, joints, forces by name, and a path for every number.

model = Model("pendulum", bodies=[Body("bob", 1.0, (0.1, 0.1, 0.02), center=(0, 0, -1))],
              joints=[Joint("hinge", "revolute", "world", "bob", axis=(0, 1, 0))])
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import InitVar, dataclass, field, fields
from functools import cached_property
from typing import Any, Self

import polhode.model.other_numbers as other_numbers  # noqa: PLR0402 - not from the package, which imports this
from polhode.errors import InputError, ModelError, UnknownNameError, check_name, did_you_mean, message
from polhode.model.beams import beam
from polhode.model.constraints.constraint import Constraint, check_data
from polhode.model.edits import named_frames
from polhode.model.edits.methods import ModelEdits
from polhode.model.forces.base import ForceElement
from polhode.model.forces.registry import FORCES
from polhode.model.modal import body as modal_body
from polhode.model.notebook import model_html
from polhode.model.numbers import Parameter, assign, named_parameters, numbers, plain
from polhode.model.parts import LIMITS, Body, BodyFrame, Joint
from polhode.model.shapes import BodyShape
from polhode.model.start import Start as Start
from polhode.model.topology import WORLD, check_names, parent_first
from polhode.scalar import Array, is_list, shown

STANDARD_GRAVITY = (0.0, 0.0, -9.81)


FEW = 8
"""So many names at most a message lists."""

RECORDS: dict[str, type] = {
    "bodies": Body,
    "joints": Joint,
    "forces": ForceElement,
    "constraints": Constraint,
    "frames": BodyFrame,
    "shapes": BodyShape,
}
"""The lists of a model, and what each may hold."""


@dataclass(frozen=True, repr=False)
class Model(ModelEdits):
    """A machine: bodies hung on the world by joints, in a tree; forces, constraints, a start.

    q and v are those of the joints, in the order of `joints`.

    configurations  coordinates q (nq,) by name, as "home": SRDF group states, MJCF keyframes. Runs start there by
             `start="home"`.
    frames   frames fixed to bodies, whose names calls take in the place of a body's: MJCF sites, merged links.
             Forces and constraints may name them: they then stand on the body, points and axes seen from there.
    shapes   what bodies look like, for pictures; others are drawn as solids of their inertia. No part of the model's
             identity: equal models may differ in it.
    ignored  what the file of the model has that would change its motion and is no part of it, a phrase each: every run
             says so. No part of the model's identity: equal models may differ in it.
    beams    beams, each a row of bodies, joints, forces and constraints that the model gets at birth
    modal    flexible bodies by their modes, each a body, frames of interfaces and joints that the model gets at birth
    number_inputs  whether kernels take its numbers as inputs, instead of folding them: so of models by `with_numbers`.
             No part of its identity either.
    """

    name: str
    gravity: Array = STANDARD_GRAVITY
    bodies: Sequence[Body] = ()
    joints: Sequence[Joint] = ()
    forces: Sequence[ForceElement] = ()
    constraints: Sequence[Constraint] = ()
    start: Start | None = None
    configurations: Mapping[str, Array] = field(default_factory=dict, repr=False, hash=False)
    frames: Sequence[BodyFrame] = field(default=(), repr=False)
    shapes: Sequence[BodyShape] = field(default=(), compare=False, repr=False)
    ignored: Sequence[str] = field(default=(), compare=False, repr=False)
    number_inputs: bool = field(default=False, compare=False, repr=False)
    beams: InitVar["Sequence[beam.Beam]"] = ()
    modal: InitVar["Sequence[modal_body.ModalBody]"] = ()

    def __post_init__(self, beams: "Sequence[beam.Beam]", modal: "Sequence[modal_body.ModalBody]") -> None:
        """Check everything; beams and modal bodies become bodies, joints, forces and constraints."""
        check_name("model", "model", self.name)
        assign(self, gravity=numbers(f"model '{self.name}'", "gravity", self.gravity, 3))
        for name in RECORDS:
            assign(self, **{name: self._records(name)})
        if modal:
            added = modal_body.modal_parts(modal)
            assign(self, bodies=(*self.bodies, *added.bodies), joints=(*self.joints, *added.joints))
        if beams:
            parts = beam.beam_parts(beams, self.bodies, self.joints)._asdict()
            assign(self, **{name: (*getattr(self, name), *added) for name, added in parts.items()})
        if not is_list(self.ignored) or not all(isinstance(text, str) for text in self.ignored):
            raise ModelError(
                message(f"model '{self.name}', ignored", "not texts", shown(self.ignored), "a list of texts")
            )
        assign(self, ignored=tuple(self.ignored))
        if self.start is not None and not isinstance(self.start, Start):
            where, fix = f"model '{self.name}', start", "Write start=ph.Start(q=…, v=…, duration=…)."
            raise ModelError(message(where, "not a start", shown(self.start), "a Start", fix))
        check_names(self.name, "body", [body.name for body in self.bodies], reserved=WORLD)
        check_names(self.name, "joint", [joint.name for joint in self.joints])
        check_names(self.name, "force", [force.name for force in self.forces])
        check_names(self.name, "constraint", [constraint.name for constraint in self.constraints])
        parent_first(self.name, [b.name for b in self.bodies], [(j.name, j.parent, j.child) for j in self.joints])
        if any(joint.kind.shared or joint.kind.shares for joint in self.joints):
            modal_body.check_modal(f"model '{self.name}'", self.joints)
        self._check_frames()
        if self.frames:
            assign(
                self,
                forces=named_frames.forces_on_bodies(self.forces, self.frames),
                constraints=named_frames.constraints_on_bodies(self.constraints, self.frames),
            )
        self._check_forces()
        self._check_start()
        self._check_configurations()
        self._check_shapes()
        named_parameters(self)

    def _records(self, name: str) -> tuple:
        """The bodies, joints, forces or constraints that were given, if they are that."""
        given, kind, where = getattr(self, name), RECORDS[name], f"model '{self.name}', {name}"

        def expected() -> str:
            return " or ".join(each.__name__ for each in (FORCES.values() if name == "forces" else (kind,)))

        if not is_list(given):
            fix = f"Leave {name} out where there are none." if given is None else ""
            raise ModelError(message(where, "not a list", shown(given), f"a list of {expected()}", fix))
        records, one = tuple(given), {"bodies": "body"}.get(name, name[:-1])
        for k, record in enumerate(records):
            if not isinstance(record, kind):
                fix = "Wrap it: ph.Constraint(function)." if name == "constraints" and callable(record) else ""
                raise ModelError(message(f"{where}[{k}]", f"not a {one}", shown(record), f"a {expected()}", fix))
        return records

    def _check_forces(self) -> None:
        known = {WORLD, *(body.name for body in self.bodies)}
        for force in self.forces:
            for end in force.bodies:
                if not isinstance(end, str) or end not in known:
                    fix = did_you_mean(end, known)
                    raise ModelError(message(f"force '{force.name}'", "unknown body", repr(end), "a body", fix))
                if end != WORLD:
                    force.check_body(f"force '{force.name}'", self.body(end))
            for name in force.joints:
                joint = _named(self.joints, name, f"force '{force.name}'", "joint")
                force.check_joint(f"force '{force.name}'", name, joint.kind)

    def _check_frames(self) -> None:
        bodies = [body.name for body in self.bodies]
        check_names(self.name, "frame", [frame.name for frame in self.frames], reserved=WORLD)
        for frame in self.frames:
            where = f"model '{self.name}', frame '{frame.name}'"
            if not isinstance(frame.body, str) or frame.body not in bodies:
                fix = "A frame of the world needs no name." if frame.body == WORLD else did_you_mean(frame.body, bodies)
                raise ModelError(message(where, "no such body", repr(frame.body), "a body of the model", fix))
            if frame.name in bodies:
                raise ModelError(message(where, "a body has this name", f"'{frame.name}'", "another name"))

    def _check_shapes(self) -> None:
        bodies = [body.name for body in self.bodies]
        check_names(self.name, "shape", [shape.name for shape in self.shapes])
        for shape in self.shapes:
            if shape.body not in bodies:
                where, fix = f"model '{self.name}', shape '{shape.name}'", did_you_mean(shape.body, bodies)
                raise ModelError(message(where, "no such body", repr(shape.body), "a body of the model", fix))

    def _check_start(self) -> None:
        if self.start is None:
            return
        for name, size in (("q", self.nq), ("v", self.nv)):
            value = getattr(self.start, name)
            if name == "v" and value is not None and len(value) == self.joint_velocities:
                size = self.joint_velocities  # own states start with values of their own
            if value is not None:
                numbers(f"model '{self.name}', start", name, value, size)

    def _check_configurations(self) -> None:
        where = f"model '{self.name}', configurations"
        if not isinstance(self.configurations, Mapping):
            raise ModelError(message(where, "not a mapping", shown(self.configurations), "{name: q}"))
        check_names(self.name, "configuration", list(self.configurations))
        made = {name: numbers(where, name, q, self.nq) for name, q in self.configurations.items()}
        assign(self, configurations=made)

    @cached_property
    def nq(self) -> int:
        """Number of coordinates."""
        return sum(joint.nq for joint in self.joints)

    @cached_property
    def nv(self) -> int:
        """Number of velocities: the degrees of freedom of the tree, and the own states of force elements."""
        return self.joint_velocities + len(self.own_states)

    @cached_property
    def joint_velocities(self) -> int:
        """Number of velocities of joints, without own states."""
        return sum(joint.nv for joint in self.joints)

    @cached_property
    def own_states(self) -> tuple[tuple[str, str], ...]:
        """The own states of force elements, the last of the velocities: names of element and state."""
        return tuple((force.name, name) for force in self.forces for name in force.own_states)

    @property
    def at_rest(self) -> tuple[float, ...]:
        """Velocities (nv,) where no joint moves and own states have the values they start with."""
        moving = [0.0] * self.joint_velocities
        own = [[*map(float, force.start_values()), *[0.0] * bool(force.sampled)] for force in self.forces]
        return (*moving, *(x for values in own for x in values))

    @cached_property
    def zero(self) -> tuple[float, ...]:
        """Coordinates at zero: no angles, no travels, identity quaternions."""
        return tuple(x for joint in self.joints for x in joint.zero)

    def body(self, name: str) -> Body:
        """The body of this name."""
        return _named(self.bodies, name, f"model '{self.name}'", "body")

    def frame(self, name: str) -> BodyFrame:
        """The frame of this name; of a body, its own."""
        for frame in self.frames:
            if isinstance(name, str) and frame.name == name:
                return frame
        places = [*self.bodies, *self.frames]
        _named(places, name, f"model '{self.name}'", "body or frame" if self.frames else "body")
        return BodyFrame(name, name)

    def joint(self, name: str) -> Joint:
        """The joint of this name."""
        return _named(self.joints, name, f"model '{self.name}'", "joint")

    @property
    def total_mass(self) -> float:
        """Mass of all bodies, kg."""
        return sum(plain(body.mass) for body in self.bodies)

    def subtree(self, body: str) -> tuple[str, ...]:
        """The names of all that a body carries, itself first, parents before children; of a frame, its body's."""
        found = [self.frame(body).body]
        for name in found:
            found += [joint.child for joint in self.joints if joint.parent == name]
        return tuple(found)

    def subtree_mass(self, body: str) -> float:
        """Mass of all that a body carries, itself included, kg."""
        return sum(plain(self.body(name).mass) for name in self.subtree(body))

    def common_ancestor(self, a: str, b: str) -> str:
        """The name of the last body that carries both, as a body carries itself; "world" where no body does.

            >>> import polhode as ph
            >>> ph.load("double-pendulum").common_ancestor("upper", "lower")
            'upper'

        a, b  bodies, frames, or "world"
        """
        parents = {joint.child: joint.parent for joint in self.joints}

        def upwards(name: str) -> Iterator[str]:
            name = WORLD if isinstance(name, str) and name == WORLD else self.frame(name).body
            while name != WORLD:
                yield name
                name = parents[name]
            yield WORLD

        above = {*upwards(a)}
        return next(name for name in upwards(b) if name in above)

    def numbers(self) -> dict[str, float]:
        """Every number of the equations of motion by its path, as in "bodies.arm.mass" or "joints.hip.axis.2".

        The limits of joints have no path: runs make stops of them, and so does `ph.with_limits(model)`.
        """
        return dict(_paths(self))

    def with_numbers(self, values: Mapping[str, Any]) -> Self:
        """The same machine with other numbers, checked as a new model is.

            model.with_numbers({"bodies.arm.mass": 2.0, "joints.elbow.damping": 0.1})

        values  numbers, vectors or matrices, by a path of `numbers()`, by its beginning ("gravity"), or by the name of
                a Parameter

        Kernels of such a model take its numbers as inputs: a run of it with numbers that differ compiles nothing anew.
        """
        return other_numbers.other_numbers(self, values, "with_numbers")

    def configuration(self, name: str) -> tuple[float, ...]:
        """The coordinates q (nq,) of a named configuration."""
        if isinstance(name, str) and name in self.configurations:
            return plain(self.configurations[name])
        known = list(self.configurations)
        expected = " or ".join(map(repr, known[:FEW])) or "none: the model has no configurations"
        where = f"model '{self.name}'"
        raise UnknownNameError(
            message(where, "no such configuration", shown(name), expected, did_you_mean(name, known))
        )

    def _repr_html_(self) -> str:
        return model_html(self)

    def __repr__(self) -> str:
        return f"<Model '{self.name}': {self._size()}>"

    def _size(self) -> str:
        """How many bodies, joints and numbers it has."""
        counts = (len(self.bodies), "body", "bodies"), (len(self.joints), "joint", "joints")
        parts = [f"{count} {one if count == 1 else many}" for count, one, many in counts]
        return f"{', '.join(parts)}, nq {self.nq}, nv {self.nv}"

    def __str__(self) -> str:
        lines = [f"{self.name}: {self._size()}"]
        lines += [f"  {j.name}: {j.type}, {j.parent} → {j.child}" for j in self.joints]
        return "\n".join(lines)


def check_model(where: str, model: Any) -> None:
    """Raise an InputError unless it is a Model.  where: the function that needs one"""
    if not isinstance(model, Model):
        fix = f"Read it first: {where}(load({model!r}))." if isinstance(model, str) else ""
        raise InputError(message(f"{where}, model", "not a model", shown(model), "a Model", fix))


def check_constraint(model: Model, constraint: Constraint) -> None:
    """Refuse a constraint that is none, or that names what the model does not have."""
    check_data(constraint)
    where, data, keys = f"constraint '{constraint.name}'", constraint.data, constraint.kind.keys
    known = {"body": [WORLD, *(body.name for body in model.bodies)], "joint": [joint.name for joint in model.joints]}
    for name, value in data.items():
        what = keys[name].holds
        if what in known and value not in known[what]:
            fix = did_you_mean(value, known[what])
            raise ModelError(message(f"{where}, {name}", f"no such {what}", repr(value), f"a {what}", fix))
        if what == "joint" and model.joint(value).nv != 1:
            found = f"'{value}', {model.joint(value).type}"
            raise ModelError(message(f"{where}, {name}", "not a joint of one axis", found, "one coordinate"))


def _named(records: Sequence, name: str, where: str, kind: str) -> Any:
    for record in records:
        if isinstance(name, str) and record.name == name:
            return record
    names = [record.name for record in records]
    expected = " or ".join(map(repr, names)) if 0 < len(names) <= FEW else f"one of {len(names)} names"
    raise ModelError(message(where, f"no such {kind}", repr(name), expected, did_you_mean(name, names)))


def _paths(model: Model) -> Iterator[tuple[str, float]]:
    yield from _flat("gravity", model.gravity)
    for group in ("bodies", "joints"):
        for record in getattr(model, group):
            for each in fields(record):
                if each.name not in LIMITS:
                    yield from _flat(f"{group}.{record.name}.{each.name}", getattr(record, each.name))
    for force in model.forces:
        for name in force.numeric:
            yield from _flat(f"forces.{force.name}.{name}", getattr(force, name))
    for constraint in model.constraints:
        for key in constraint.numeric:
            yield from _flat(f"constraints.{constraint.name}.{key}", constraint.data[key])


def _flat(path: str, value: Any) -> Iterator[tuple[str, float]]:
    if isinstance(value, Mapping):
        for name, x in value.items():
            yield from _flat(f"{path}.{name}", x)
    if isinstance(value, tuple):
        for i, x in enumerate(value):
            yield from _flat(f"{path}.{i}", x)
    elif isinstance(value, Parameter):
        yield path, value.value
    elif isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
        yield path, float(value)


def model_text(model: Model) -> str:
    """All that a model is, as text: every field of every record. The text that kernels on disk are known by."""
    values = ", ".join(f"{each.name}={getattr(model, each.name)!r}" for each in fields(model) if each.repr)
    return f"Model({values})"
