"""A machine of another size: every number times powers of the scales of length, mass and time, by its unit."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from polhode.model.constraints.constraint import Constraint
from polhode.model.edits.carry import Faults, NotCarried, refuse_functions, refuse_modal
from polhode.model.edits.states import NamedState, bare, by_joint, start_state, started
from polhode.model.forces.backlash import Backlash
from polhode.model.forces.base import ForceElement
from polhode.model.number_units import PER_AXIS
from polhode.model.numbers import plain
from polhode.model.parts import Body, Joint
from polhode.model.units import Dimension, UnknownUnit, dimension_at
from polhode.scalar import real_number


def scaled(model: Any, length: float = 1.0, mass: float = 1.0, time: float = 1.0, drop: bool = False) -> Any:
    """The Model of another size; see `Model.scaled`."""
    where = f"scaled, model '{model.name}'"
    refuse_modal(where, model.joints)
    given = {"length": length, "mass": mass, "time": time}
    sizes = {name: real_number(f"{where}, {name}", x, "a factor above 0", 0.0) for name, x in given.items()}
    scale = _Scale(**sizes)
    faults = Faults(where, drop)
    linear = {joint.name: joint.kind.linear for joint in model.joints}
    forces, constraints = [], []
    for force in model.forces:
        try:
            forces.append(_force(scale, force, linear))
        except NotCarried as reason:
            faults.note(force, reason)
    for constraint in model.constraints:
        try:
            constraints.append(_constraint(scale, constraint, linear))
        except NotCarried as reason:
            faults.note(constraint, reason)
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


@dataclass(frozen=True)
class _Scale:
    """Factors of length, mass and time."""

    length: float
    mass: float
    time: float

    def of(self, dimension: Dimension) -> float:
        """The factor of numbers of a dimension."""
        return self.mass**dimension.kg * self.length**dimension.m * self.time**dimension.s

    def factor(self, unit: str, is_linear: bool = False, place: tuple[int, ...] = (), size: int = 0) -> float:
        """The factor of a number of a key, by the text of its unit; see `dimension_at`."""
        try:
            return self.of(dimension_at(unit, place, size, is_linear))
        except UnknownUnit as unknown:
            raise NotCarried(f"the unit of a number of it is not known, {unknown.word!r}") from None

    def by(self, unit: str, value: Any, is_linear: bool = False, place: tuple[int, ...] = (), size: int = 0) -> Any:
        """A number, or numbers, of a key."""
        if isinstance(value, tuple):
            return tuple(self.by(unit, x, is_linear, (*place, k), len(value)) for k, x in enumerate(value))
        return _times(value, self.factor(unit, is_linear, place, size))


def _times(value: Any, factor: float) -> Any:
    return value if factor == 1 else plain(value) * factor


def _body(scale: _Scale, body: Body) -> Body:
    return replace(
        body,
        mass=scale.by("kg", body.mass),
        inertia=scale.by("kg m2", body.inertia),
        center=scale.by("m", body.center),
    )


def _joint(scale: _Scale, joint: Joint) -> Joint:
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


def _force(scale: _Scale, force: ForceElement, linear: Mapping[str, tuple[bool, ...]]) -> ForceElement:
    refuse_functions(force)
    if force.holds_functions:
        raise NotCarried("its function has numbers of its own")
    joint, axis = next(iter(force.joints), None), getattr(force, "axis", 0)
    along = linear[joint] if joint else (False,)
    is_linear = along[axis if isinstance(axis, int) and axis < len(along) else 0]
    values = {}
    for name in force.numeric:
        if not force.keys[name].unit:
            raise NotCarried(f"the unit of its {name} is not known")
        values[name] = scale.by(force.keys[name].unit, getattr(force, name), is_linear)
    if "exponent" in force.keys and "stiffness" in values:  # N/mⁿ
        power = float(getattr(force, "exponent")) - 1  # noqa: B009
        values["stiffness"] = _times(values["stiffness"], scale.factor("rad or m", is_linear) ** -power)
    if isinstance(force, Backlash) and force.other:
        values["ratio"] = _times(force.ratio, _ratio(scale, force.joint, force.other, linear))
    if getattr(force, "sampled", None) and "period" in force.keys:
        values["period"] = float(force.period) * scale.time
    return replace(force, **values) if values else force


def _ratio(scale: _Scale, joint: str, source: str, linear: Mapping[str, tuple[bool, ...]]) -> float:
    """The factor of what one joint goes for what another goes."""
    return scale.factor("rad or m", linear[joint][0]) / scale.factor("rad or m", linear[source][0])


def _constraint(scale: _Scale, constraint: Constraint, linear: Mapping[str, tuple[bool, ...]]) -> Constraint:
    data, kind = dict(constraint.data), constraint.kind
    if any(map(callable, data.values())):
        raise NotCarried("its function has numbers of its own")
    if constraint.type in ("mimic", "gear"):
        data |= _follower(scale, data, linear)
    elif constraint.type == "prescribed":
        data["value"] = scale.by("rad or m", data["value"], linear[data["joint"]][0])
    else:
        for name in constraint.numeric:
            if not kind.keys[name].unit:
                raise NotCarried(f"the unit of its {name} is not known")
            data[name] = scale.by(kind.keys[name].unit, data[name])
    return Constraint(constraint.name, constraint.type, data)


def _follower(scale: _Scale, data: Mapping[str, Any], linear: Mapping[str, tuple[bool, ...]]) -> dict[str, Any]:
    own, source = (scale.factor("rad or m", linear[data[name]][0]) for name in ("joint", "source"))
    if "polynomial" in data:
        return {"polynomial": tuple(_times(c, own / source**k) for k, c in enumerate(data["polynomial"]))}
    factors = {"multiplier": own / source, "offset": own}
    found = {name: _times(data[name], factor) for name, factor in factors.items() if name in data}
    return found if "multiplier" in found or own == source else {**found, "multiplier": own / source}


def _started(scale: _Scale, model: Any, made: Any) -> Any:
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


def _q(scale: _Scale, kind: Any, q: tuple) -> list[float]:
    """The coordinates of a joint: lengths are scaled, angles and quaternions are not."""
    units = [unit for element, _ in kind.elements for unit in element.units[0]]
    return [_times(x, scale.factor(unit)) for x, unit in zip(q, units, strict=True)]
