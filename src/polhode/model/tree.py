"""Model → Tree: elements in parent-first order, index maps, and every number as a generic scalar."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from polhode.errors import UnknownNameError, did_you_mean, message
from polhode.model.constraints.constraint import Constraint
from polhode.model.description import LIMITS, Model
from polhode.model.forces.base import ForceElement
from polhode.model.joints.base import NOTHING, UPRIGHT, Element
from polhode.model.joints.own_state import own_state_element
from polhode.model.numbers import Parameter
from polhode.model.parts import Body, Joint
from polhode.model.per_model_cache import once_each
from polhode.model.per_record_cache import once_per_record
from polhode.model.state import GROUND as GROUND
from polhode.model.topology import WORLD, parent_first
from polhode.quaternion import rotation_matrix_homogeneous, skew
from polhode.scalar import Scalar, Vec, diagonal, identity, outer, shown, sqrt, square, trace, vec
from polhode.spatial import ORIGIN, Inertia, Placement, snapped

AXES = {"x": vec(1.0, 0.0, 0.0), "y": vec(0.0, 1.0, 0.0), "z": vec(0.0, 0.0, 1.0)}


@dataclass(frozen=True)
class Tree:
    """A machine ready for the algorithms. Its numbers are floats, or symbols where a path was given one."""

    name: str
    gravity: Vec
    elements: tuple[Element, ...]
    of_body: Mapping[str, int]
    """The element whose frame is the body's."""
    forces: tuple[ForceElement, ...]
    """The force elements, with their numbers as scalars in their fields."""
    nq: int
    nv: int
    constraints: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The data of each constraint by name, with its numbers."""

    @property
    def ancestors(self) -> tuple[tuple[int, ...], ...]:
        """For each element, those from the ground down to and including it."""
        paths: list[tuple[int, ...]] = []
        for i, element in enumerate(self.elements):
            paths.append((*(paths[element.parent] if element.parent != GROUND else ()), i))
        return tuple(paths)

    @property
    def of_joint(self) -> dict[str, tuple[int, ...]]:
        """The places of each joint's coordinates in q."""
        return _by_owner((e.joint, e.q) for e in self.elements if e.kind.moves)

    @property
    def rates_of_joint(self) -> dict[str, tuple[int, ...]]:
        """The places of each joint's velocities in v."""
        return _by_owner((e.joint, e.v) for e in self.elements if e.kind.moves)

    @property
    def of_states(self) -> dict[str, tuple[int, ...]]:
        """The places in v of the own states of each force element."""
        return _by_owner((e.joint.removeprefix("forces."), e.v) for e in self.elements if not e.kind.moves)

    @property
    def own_places(self) -> tuple[int, ...]:
        """The places in v of all own states of force elements."""
        return tuple(k for e in self.elements if not e.kind.moves for k in e.v)

    def placed(self, i: int) -> Placement:
        """Where the frame of an element is in its parent's, at zero."""
        C0, C1, _ = self.elements[i].turning
        return Placement(C0 + C1, self.elements[i].position)

    def __str__(self) -> str:
        rows = [f"{e.name}: {e.kind.name}, q{list(e.q)}, v{list(e.v)}" for e in self.elements]
        return "\n  ".join([f"{self.name}: {len(self.elements)} elements, nq {self.nq}, nv {self.nv}", *rows])


def _by_owner(parts: Iterable[tuple[str, tuple[int, ...]]]) -> dict[str, tuple[int, ...]]:
    """Places by the name of their owner, in order."""
    found: dict[str, tuple[int, ...]] = {}
    for owner, places in parts:
        found[owner] = (*found.get(owner, ()), *places)
    return found


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

    def check(self, model: Model) -> None:
        """Refuse a given path that names no number."""
        unknown = [path for path in self.values if path not in self.used]
        if unknown:
            raise unknown_number(model, unknown[0])


def unknown_number(model: Model, path: Any) -> UnknownNameError:
    """The error that says that a model has no number of this path, and which come near."""
    fix = did_you_mean(path, model.numbers(), "model.numbers() lists all paths.", most=3)
    if str(path).startswith("joints.") and str(path).rpartition(".")[2] in LIMITS:
        fix = "The limits of a joint are kept as data; the stops of ph.with_limits(model) have paths."
    return UnknownNameError(message(f"model '{model.name}'", "no such number", shown(path), "a path", fix))


def make_tree(model: Model, values: Mapping[str, Any] | None = None) -> Tree:
    """The tree of a model.

    values  numbers or symbols by path ("bodies.arm.mass", "gravity") or by Parameter name, in place of
            the model's own
    """
    return tree_of(model, Numbers(values)) if values else _own(model)


@once_each
def _own(model: Model) -> Tree:
    return tree_of(model, Numbers({}))


def tree_of(model: Model, numbers: Numbers) -> Tree:
    """The tree of a model, its numbers as they are read."""
    q_at, v_at = _offsets(model)
    elements: list[Element] = []
    of_body: dict[str, int] = {WORLD: GROUND}
    links = [(joint.name, joint.parent, joint.child) for joint in model.joints]
    bodies = {body.name: body for body in model.bodies}
    plain = type(numbers) is Numbers and not numbers.values
    made = _own_elements if plain else partial(_elements, numbers)
    for index in parent_first(model.name, list(bodies), links):
        joint = model.joints[index]
        places = of_body[joint.parent], len(elements), q_at[index], v_at[index]
        elements += made(joint, bodies[joint.child], *places)
        of_body[joint.child] = len(elements) - 1
    for k, (owner, name) in enumerate(model.own_states, v_at[-1]):
        elements.append(own_state_element(f"forces.{owner}", name, k))
    forces = tuple(force_numbers(force, numbers) for force in model.forces)
    bound = {constraint.name: constraint_numbers(constraint, numbers) for constraint in model.constraints}
    gravity = numbers.vector("gravity", model.gravity)
    numbers.check(model)
    return Tree(model.name, gravity, tuple(elements), of_body, forces, model.nq, model.nv, bound)


def _offsets(model: Model) -> tuple[list[int], list[int]]:
    """Where each joint's coordinates and velocities begin."""
    q_at, v_at = [0], [0]
    for joint in model.joints:
        q_at.append(q_at[-1] + joint.nq)
        v_at.append(v_at[-1] + joint.nv)
    return q_at, v_at


def _elements(numbers: Numbers, joint: Joint, body: Body, parent: int, first: int, q: int, v: int) -> list[Element]:
    return joint_elements(joint, parent, first, q, v, body_inertia(body, numbers), numbers)


@once_per_record
def _own_elements(joint: Joint, body: Body, parent: int, first: int, q: int, v: int) -> list[Element]:
    *others, last = _massless(joint, parent, first, q, v)
    return [*others, replace(last, inertia=body_inertia(body, Numbers({})))]


@once_per_record
def _massless(joint: Joint, parent: int, first: int, q: int, v: int) -> list[Element]:
    return joint_elements(joint, parent, first, q, v, NOTHING, Numbers({}))


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
    """The elements of one joint; the last carries the child body."""
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
    steps = kind.elements
    made: list[Element] = []
    at = 0
    for k, (motion, axis) in enumerate(steps):
        nq, nv = motion.nq, motion.nv
        last = k == len(steps) - 1
        made.append(
            Element(
                name=joint.name if len(steps) == 1 else f"{joint.name}.{k}",
                joint=joint.name,
                parent=parent if k == 0 else first + k - 1,
                kind=motion,
                axis=axes.get(axis, ORIGIN),
                numbers={name: own[name] for name in motion.numbers},
                position=position if k == 0 else ORIGIN,
                orientation=orientation if k == 0 else UPRIGHT,
                turning=turning_parts(placed if k == 0 else identity(3), axes.get(axis)),
                q=tuple(range(q, q + nq)),
                v=tuple(range(v, v + nv)),
                body=joint.child if last else None,
                inertia=inertia if last else NOTHING,
                **{name: Vec(values[at : at + nv]) for name, values in each.items()},
            )
        )
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


def constraint_numbers(constraint: Constraint, numbers: Numbers) -> dict[str, Any]:
    """The data of a constraint, with vectors in the place of its tuples of numbers."""
    path, found = f"constraints.{constraint.name}", dict(constraint.data)
    for key in constraint.numeric:
        value = found[key]
        if isinstance(value, tuple):
            found[key] = numbers.vector(
                f"{path}.{key}", tuple(x if isinstance(x, Parameter) else float(x) for x in value)
            )
        else:
            found[key] = numbers.scalar(f"{path}.{key}", value if isinstance(value, Parameter) else float(value))
    return found


def force_numbers(force: ForceElement, numbers: Numbers) -> ForceElement:
    """A force element with its numbers as scalars."""
    path, found = f"forces.{force.name}", dict[str, Any]()
    for name in force.numeric:
        value = getattr(force, name)
        found[name] = numbers.any(f"{path}.{name}", value)
    return force.changed(**found)
