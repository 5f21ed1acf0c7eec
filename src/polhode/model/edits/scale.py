"""A machine of another size: every number times powers of the scales of length, mass and time, by its unit."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from polhode.model.constraints.constraint import Constraint
from polhode.model.edits.carry import Faults, refuse_functions, refuse_modal
from polhode.model.edits.states import NamedState, bare, by_joint, start_state, started
from polhode.model.forces.base import ForceElement
from polhode.model.mount import NotCarried
from polhode.model.number_units import PER_AXIS
from polhode.model.numbers import plain
from polhode.model.parts import Body, Joint
from polhode.model.scale import Scale, multiplied
from polhode.scalar import real_number


def scaled(model: Any, length: float = 1.0, mass: float = 1.0, time: float = 1.0, drop: bool = False) -> Any:
    """The Model of another size; see `Model.scaled`."""
    where = f"scaled, model '{model.name}'"
    refuse_modal(where, model.joints)
    given = {"length": length, "mass": mass, "time": time}
    sizes = {name: real_number(f"{where}, {name}", x, "a factor above 0", 0.0) for name, x in given.items()}
    scale = Scale(**sizes, linear={joint.name: joint.kind.linear for joint in model.joints})
    faults = Faults(where, drop)
    forces = faults.kept(model.forces, lambda force: _force(scale, force))
    constraints = faults.kept(model.constraints, lambda constraint: _constraint(scale, constraint))
    faults.end()
    made = bare(
        model,
        gravity=scale.by("m/s2", model.gravity),
        bodies=[_body(scale, body) for body in model.bodies],
        joints=[_joint(scale, joint) for joint in model.joints],
        forces=forces,
        constraints=constraints,
        frames=[replace(frame, position=scale.by("m", frame.position)) for frame in model.frames],
        shapes=[
            replace(shape, position=scale.by("m", shape.position), size=scale.by("m", shape.size))
            for shape in model.shapes
        ],
    )
    return _started(scale, model, made)


def _body(scale: Scale, body: Body) -> Body:
    return replace(
        body,
        mass=scale.by("kg", body.mass),
        inertia=scale.by("kg m2", body.inertia),
        center=scale.by("m", body.center),
    )


def _joint(scale: Scale, joint: Joint) -> Joint:
    kind, values = joint.kind, dict[str, Any](position=scale.by("m", joint.position))
    linear = kind.linear[-1:] if kind.has_quaternion else kind.linear  # one number of armature is on the angular part
    for name, unit in PER_AXIS.items():
        value = getattr(joint, name)
        if isinstance(value, tuple):
            of_q = len(value) != joint.nv  # limits of coordinates, a quaternion among them: they are not read
            values[name] = value if of_q else tuple(
                scale.by(unit, x, is_linear) for x, is_linear in zip(value, kind.linear, strict=True)
            )  # fmt: skip
        elif np.isfinite(plain(value)) and plain(value):
            even = len(set(linear)) <= 1 and (name == "armature" or len(set(kind.linear)) <= 1)
            values[name] = (
                scale.by(unit, value, any(linear)) if even
                else tuple(scale.by(unit, value, is_linear) for is_linear in kind.linear)
            )  # fmt: skip
    own = {name: scale.by(kind.keys[name].unit, value) for name, (_, value) in joint.own().items()}
    if own:
        values |= {"pitch": own.pop("pitch", None), "data": own or None}
    return replace(joint, **values)


def _force(scale: Scale, force: ForceElement) -> ForceElement:
    refuse_functions(force)
    changed = force.scaled(scale)
    return replace(force, **changed) if changed else force


def _constraint(scale: Scale, constraint: Constraint) -> Constraint:
    if any(map(callable, constraint.data.values())):
        raise NotCarried("its function has numbers of its own")
    return Constraint(constraint.name, constraint.type, constraint.kind.scaled(constraint.data, scale))


def _started(scale: Scale, model: Any, made: Any) -> Any:
    """The model with the start and the configurations of the machine as it was, at the new size."""
    kinds = {joint.name: joint.kind for joint in model.joints}

    def q_of(known: Mapping[str, tuple]) -> dict[str, tuple]:
        return {name: tuple(_q(scale, kinds[name], x)) for name, x in known.items()}

    state = start_state(model)
    q = None if state.q is None else q_of(state.q)
    v = None if state.v is None else {
        name: tuple(scale.by("rad/s or m/s", x, is_linear) for x, is_linear in zip(xs, kinds[name].linear, strict=True))
        for name, xs in state.v.items()
    }  # fmt: skip
    units = {(force.name, name): unit for force in model.forces for name, unit in force.own_states.items()}
    own = None if state.own is None else {name: scale.by(units[name] or "1", x) for name, x in state.own.items()}
    start = model.start
    if start is not None and start.duration is not None:
        start = replace(start, duration=plain(start.duration) * scale.time)
    configurations = {name: q_of(by_joint(model, given)) for name, given in model.configurations.items()}
    return started(made, NamedState(q, v, own), start, configurations)


def _q(scale: Scale, kind: Any, q: tuple) -> list[float]:
    """The coordinates of a joint: lengths are scaled, angles and quaternions are not."""
    units = [unit for element, _ in kind.elements for unit in element.units[0]]
    return [multiplied(x, scale.factor(unit)) for x, unit in zip(q, units, strict=True)]
