"""Bodies and joints → inertias and elements, their numbers as generic scalars: what a Tree is made of."""

from collections.abc import Mapping
from typing import Any

from polhode.errors import UnknownNameError, did_you_mean, message
from polhode.model.joints.base import UPRIGHT, Element
from polhode.model.numbers import Parameter
from polhode.model.parts import LIMITS, Body, Joint
from polhode.quaternion import rotation_matrix_homogeneous, skew
from polhode.scalar import Scalar, Vec, diagonal, identity, outer, shown, sqrt, square, trace, vec
from polhode.spatial import ORIGIN, Inertia, snapped

AXES = {"x": vec(1.0, 0.0, 0.0), "y": vec(0.0, 1.0, 0.0), "z": vec(0.0, 0.0, 1.0)}


class Numbers:
    """Reads the numbers of a model by path, taking given values in place of its own."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values
        self.used: set[str] = set()

    def scalar(self, path: str, value: Any) -> Scalar:
        """One number."""
        for name in (path, value.name) if isinstance(value, Parameter) else (path,):
            if name in self.values:
                self.used.add(name)
                return self.values[name]
        return value.value if isinstance(value, Parameter) else value

    def vector(self, path: str, value: tuple) -> Vec:
        """Several numbers, given whole or one by one."""
        if path in self.values:
            self.used.add(path)
            return Vec(self.values[path])
        return Vec([self.any(f"{path}.{i}", x) for i, x in enumerate(value)])

    def any(self, path: str, value: Any) -> Any:
        """One number, several, rows of them, or numbers by name."""
        if isinstance(value, Mapping):
            return {name: self.scalar(f"{path}.{name}", x) for name, x in value.items()}
        return self.vector(path, value) if isinstance(value, tuple) else self.scalar(path, value)

    def each(self, path: str, value: Any, size: int) -> Vec:
        """One number for all, or several."""
        if isinstance(value, tuple):
            return self.vector(path, value)
        return Vec([self.scalar(path, value)] * size)

    def check(self, model: Any) -> None:
        """Refuse a given path that names no number."""
        unknown = [path for path in self.values if path not in self.used]
        if unknown:
            raise unknown_number(model, unknown[0])


def unknown_number(model: Any, path: Any) -> UnknownNameError:
    """The error that says that a model has no number of this path, and which come near."""
    fix = did_you_mean(path, model.numbers(), "model.numbers() lists all paths.", most=3)
    if str(path).startswith("joints.") and str(path).rpartition(".")[2] in LIMITS:
        fix = "The limits of a joint are kept as data; the stops of ph.with_limits(model) have paths."
    return UnknownNameError(message(f"model '{model.name}'", "no such number", shown(path), "a path", fix))


def body_inertia(body: Body, numbers: Numbers) -> Inertia:
    """m, h, Σ of a body about its frame's origin: Σ = ½ tr(J) I − J + m c cᵀ."""
    m, c, J = body_numbers(body, numbers)
    return Inertia(m, m * c, trace(J) / 2 * identity(3) - J + m * outer(c, c))


def body_numbers(body: Body, numbers: Numbers) -> tuple[Scalar, Vec, Vec]:
    """The mass of a body, its mass centre, and its inertia as a matrix."""
    path = f"bodies.{body.name}"
    m = numbers.scalar(f"{path}.mass", body.mass)
    c = numbers.vector(f"{path}.center", body.center)
    if isinstance(body.inertia[0], tuple):
        if f"{path}.inertia" in numbers.values:
            J = numbers.vector(f"{path}.inertia", body.inertia)
        else:
            J = Vec([numbers.vector(f"{path}.inertia.{i}", row) for i, row in enumerate(body.inertia)])
    else:
        J = diagonal(numbers.vector(f"{path}.inertia", body.inertia))
    return m, c, J


def joint_elements(
    joint: Joint, parent: int, first: int, q: int, v: int, inertia: Inertia, numbers: Numbers
) -> list[Element]:
    """The elements of one joint; the last carries the child body.

    Elements that share the joint's coordinates stand on its parent side by side, and so does what they move.
    """
    path = f"joints.{joint.name}"
    kind = joint.kind
    each = {
        name: numbers.each(f"{path}.{name}", getattr(joint, name), joint.nv)
        for name in ("damping", "stiffness", "rest", "armature")
    }
    if kind.has_quaternion:  # one number, on the angular part
        each["armature"] = Vec([0.0] * (joint.nv - 3) + [numbers.scalar(f"{path}.armature", joint.armature)] * 3)
    axes = dict(AXES)
    for name in kind.axes:
        axes[name] = _unit(numbers.vector(f"{path}.{name}", getattr(joint, name)))
    own = {
        name: (numbers.vector if isinstance(value, tuple) else numbers.scalar)(f"{path}.{place}", value)
        for name, (place, value) in joint.own().items()
    }
    position = numbers.vector(f"{path}.position", joint.position)
    orientation = numbers.vector(f"{path}.orientation", joint.orientation)
    placed = rotation_matrix_homogeneous(orientation)
    steps = kind.steps
    made: list[Element] = []
    at = 0
    for k, (motion, axis) in enumerate(steps):
        nq, nv = motion.nq, motion.nv
        last = k == len(steps) - 1
        is_placed = last if motion.shares or motion.carried else k == 0
        none = Vec([0.0] * nv)
        made.append(
            Element(
                name=joint.name if len(steps) == 1 else f"{joint.name}.{k}",
                joint=joint.name,
                parent=parent if k == 0 or motion.shares else first + k - 1,
                kind=motion,
                axis=axes.get(axis, ORIGIN),
                numbers={name: own[name] for name in motion.numbers},
                position=position if is_placed else ORIGIN,
                orientation=orientation if is_placed else UPRIGHT,
                turning=turning_parts(placed if is_placed else identity(3), axes.get(axis)),
                q=tuple(range(q, q + nq)),
                v=tuple(range(v, v + nv)),
                body=joint.child if last else None,
                inertia=inertia if last else motion.inertia(own),
                **{name: none if motion.shares else Vec(values[at : at + nv]) for name, values in each.items()},
            )
        )
        if not (motion.shares or motion.carried):
            q, v, at = q + nq, v + nv, at + nv
    return made


def turning_parts(R: Vec, axis: Vec | None) -> tuple[Vec, Vec, Vec]:
    """R times the parts of a rotation about a unit axis e: e eᵀ + cos(q) (I − e eᵀ) + sin(q) ẽ."""
    if axis is None:
        return (0.0 * identity(3), snapped(R), 0.0 * identity(3))
    along = outer(axis, axis)
    return snapped(R @ along), snapped(R @ (identity(3) - along)), snapped(R @ skew(axis))


def _unit(axis: Vec) -> Vec:
    """The direction of an axis; a coordinate axis stays exact."""
    return axis if _is_coordinate_axis(axis) else axis / sqrt(square(axis))


def _is_coordinate_axis(axis: Vec) -> bool:
    return all(isinstance(x, float) for x in axis) and sorted(map(abs, axis)) == [0.0, 0.0, 1.0]
