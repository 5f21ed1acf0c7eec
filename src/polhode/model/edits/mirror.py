"""The mirror image of a machine: a left arm of a right one.

Where coordinates of a joint are along axes of its frame, and the plane is not across one of these, the child's axes are
reflected in the xy plane of that frame instead.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from polhode.errors import InputError, ModelError, message
from polhode.model.constraints.constraint import Constraint
from polhode.model.edits.carry import Faults, refuse_functions, refuse_modal
from polhode.model.edits.mounted import made_body
from polhode.model.edits.states import NamedState, bare, by_joint, start_state, started
from polhode.model.forces.base import ForceElement
from polhode.model.mount import floats
from polhode.model.numbers import direction, plain
from polhode.model.parts import LIMITS, Body, BodyFrame, Joint, limit_pairs
from polhode.model.reflection import Reflection, times
from polhode.model.shapes import BodyShape
from polhode.model.topology import WORLD


def mirrored(model: Any, normal: Any, drop: bool = False) -> Any:
    """The Model that is the mirror image of another; see `Model.mirrored`."""
    where = f"mirrored, model '{model.name}'"
    refuse_modal(where, model.joints)
    try:
        n = np.array(plain(direction(where, "normal", normal)), dtype=float)
    except ModelError as error:
        raise InputError(str(error)) from None
    return _image(where, model, _reflection(where, model, n / np.linalg.norm(n)), drop)


def _reflection(where: str, model: Any, n: np.ndarray) -> Reflection:
    """The reflection of a model in the plane across n, a unit vector."""
    H = np.eye(3) - 2 * np.outer(n, n)
    H = np.where(abs(H - np.round(H)) < 1e-15, np.round(H), H)
    is_diagonal = np.count_nonzero(H) == 3
    of_body, signs = {WORLD: H}, dict[str, tuple[float, ...]]()
    for joint in model.joints:
        kind = joint.kind
        if not kind.has_image:
            fix = "Its motions have to say what their axes are in a mirror: `axis_image` of their ElementKind."
            expected = "motions with an image"
            raise ModelError(message(f"{where}, joint '{joint.name}'", "has no image", joint.type, expected, fix))
        S = np.diag([1.0, 1.0, -1.0]) if kind.fixed_axes and not is_diagonal else H
        of_body[joint.child] = S
        if not kind.has_quaternion:
            signs[joint.name] = kind.image_signs(S)
    return Reflection(of_body, signs)


def _image(where: str, model: Any, mirror: Reflection, drop: bool) -> Any:
    """The image of a model."""
    faults = Faults(where, drop)
    forces = faults.kept(model.forces, lambda force: _force(mirror, force))
    constraints = faults.kept(model.constraints, lambda constraint: _constraint(mirror, constraint))
    faults.end()
    made = bare(
        model,
        gravity=mirror.polar(WORLD, model.gravity),
        bodies=[_body(mirror, body) for body in model.bodies],
        joints=[_joint(where, mirror, joint) for joint in model.joints],
        forces=forces,
        constraints=constraints,
        frames=[_frame(mirror, frame) for frame in model.frames],
        shapes=[_shape(mirror, shape) for shape in model.shapes if not shape.file],  # files have no image
    )
    state, kinds = start_state(model), {joint.name: joint for joint in model.joints}
    q = {name: _q(mirror, kinds[name], x) for name, x in state.q.items()} if state.q is not None else None
    v = {name: _v(mirror, kinds[name], x) for name, x in state.v.items()} if state.v is not None else None
    configurations = {
        name: {joint: _q(mirror, kinds[joint], x) for joint, x in by_joint(model, given).items()}
        for name, given in model.configurations.items()
    }
    return started(made, NamedState(q, v, state.own), model.start, configurations)


def _frame(mirror: Reflection, frame: BodyFrame) -> BodyFrame:
    """The image of a named frame: its x and z axes are images, y is not."""
    orientation = mirror.attitude(frame.body, frame.orientation)
    return BodyFrame(frame.name, frame.body, mirror.polar(frame.body, frame.position), orientation)


def _shape(mirror: Reflection, shape: BodyShape) -> BodyShape:
    """The image of a shape, which is its own image in its xz plane."""
    orientation = mirror.attitude(shape.body, shape.orientation)
    return replace(shape, position=mirror.polar(shape.body, shape.position), orientation=orientation)


def _q(mirror: Reflection, joint: Joint, q: tuple[float, ...]) -> tuple[float, ...]:
    """The coordinates of a joint in the image."""
    if joint.name in mirror.signs:
        return times(mirror.signs[joint.name], q)
    return (*mirror.polar(joint.child, q[:3])[: len(q) - 4], q[-4], *mirror.axial(joint.child, q[-3:]))


def _v(mirror: Reflection, joint: Joint, v: tuple[float, ...]) -> tuple[float, ...]:
    """The velocities of a joint in the image."""
    if joint.name in mirror.signs:
        return times(mirror.signs[joint.name], v)
    return (*mirror.polar(joint.child, v[:3])[: len(v) - 3], *mirror.axial(joint.child, v[-3:]))


def _body(mirror: Reflection, body: Body) -> Body:
    J, center, S = body.inertia, mirror.polar(body.name, body.center), mirror.of_body[body.name]
    if isinstance(J[0], tuple) or np.count_nonzero(S) > 3:  # across no axis of the body: its moments get products
        image = S @ body.inertia_matrix() @ S.T
        J = tuple(floats(row) for row in (image + image.T) / 2)
    return made_body(body.name, body.mass, J, center, body.physical)


def _joint(where: str, mirror: Reflection, joint: Joint) -> Joint:
    kind, S = joint.kind, mirror.of_body[joint.child]
    values: dict[str, Any] = {
        "position": mirror.polar(joint.parent, joint.position),
        "orientation": mirror.attitude(joint.parent, joint.orientation, S),
    }
    for axis in kind.axes:
        image = mirror.axial if kind.axis_image(axis) == "axial" else mirror.polar
        values[axis] = image(joint.child, getattr(joint, axis))
    signs = {name: sign for element, _ in kind.elements for name, sign in element.number_signs.items()}
    own = {name: signs[name] * plain(x) if name in signs else x for name, (_, x) in joint.own().items()}
    if signs:
        values |= {"pitch": own.pop("pitch", None), "data": own or None}
    turned = mirror.signs.get(joint.name, ())
    if any(sign < 0 for sign in turned):
        values |= _limits(joint, turned)
        if any(np.atleast_1d(plain(joint.rest))):
            values["rest"] = times(turned, _each(joint.rest, joint.nv))
    if kind.has_quaternion and isinstance(joint.damping, tuple) and np.count_nonzero(S) > 3:
        place, found = f"{where}, joint '{joint.name}', damping", f"{plain(joint.damping)}"
        raise ModelError(message(place, "has no image about this plane", found, "one number for all"))
    return replace(joint, **values)


def _force(mirror: Reflection, force: ForceElement) -> ForceElement:
    refuse_functions(force)
    changed = force.reflected(mirror)
    return replace(force, **changed) if changed else force


def _constraint(mirror: Reflection, constraint: Constraint) -> Constraint:
    return Constraint(constraint.name, constraint.type, constraint.kind.reflected(constraint.data, mirror))


def _each(value: Any, size: int) -> tuple:
    return value if isinstance(value, tuple) else (value,) * size


def _limits(joint: Joint, signs: Sequence[float]) -> dict[str, Any]:
    """The limits of a joint, those of coordinates that change their sign the other way round."""
    pairs = limit_pairs(joint.lower, joint.upper)
    pairs = pairs * joint.nv if len(pairs) == 1 else pairs
    turned = [(-b, -a) if sign < 0 else (a, b) for sign, (a, b) in zip(signs, pairs, strict=True)]
    return {name: tuple(pair[k] for pair in turned) for k, name in enumerate(LIMITS)}
