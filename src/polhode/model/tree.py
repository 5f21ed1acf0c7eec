"""Model → Tree: elements in parent-first order, index maps, and every number as a generic scalar."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

from polhode.model.constraints.constraint import Constraint
from polhode.model.description import Model
from polhode.model.elements import (
    Numbers as Numbers,
    body_inertia as body_inertia,
    body_numbers as body_numbers,
    joint_elements as joint_elements,
    turning_parts as turning_parts,
    unknown_number as unknown_number,
)
from polhode.model.forces.base import ForceElement
from polhode.model.joints.base import NOTHING, Element
from polhode.model.joints.own_state import own_state_element
from polhode.model.numbers import Parameter
from polhode.model.parts import Body, Joint
from polhode.model.per_model_cache import once_each
from polhode.model.per_record_cache import once_per_record
from polhode.model.state import GROUND as GROUND
from polhode.model.topology import WORLD, parent_first
from polhode.scalar import Vec
from polhode.spatial import Placement


class PlacedFrame(NamedTuple):
    """A frame fixed to an element: where its origin is there, and its axes → those of the element."""

    element: int
    position: Vec
    orientation: Vec


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
    frames: Mapping[str, PlacedFrame] = field(default_factory=dict)
    """The named frames of the model."""

    def element(self, name: str) -> int:
        """The element that carries a body or a frame."""
        return self.frames[name].element if name in self.frames else self.of_body[name]

    @property
    def ancestors(self) -> tuple[tuple[int, ...], ...]:
        """For each element, those from the ground down to and including it."""
        paths: list[tuple[int, ...]] = []
        for i, element in enumerate(self.elements):
            paths.append((*(paths[element.parent] if element.parent != GROUND else ()), i))
        return tuple(paths)

    @property
    def shares(self) -> bool:
        """Whether some elements share their velocities: articulated bodies and loops then do not serve."""
        return any(e.kind.shares for e in self.elements)

    @property
    def velocity_order(self) -> list[int]:
        """The places in v of all velocities, those of parents first."""
        return list(dict.fromkeys(a for e in self.elements for a in e.v))

    @property
    def of_joint(self) -> dict[str, tuple[int, ...]]:
        """The places of each joint's coordinates in q."""
        return _by_owner((e.joint, e.q) for e in self.elements if e.kind.moves and not e.kind.shares)

    @property
    def rates_of_joint(self) -> dict[str, tuple[int, ...]]:
        """The places of each joint's velocities in v."""
        return _by_owner((e.joint, e.v) for e in self.elements if e.kind.moves and not e.kind.shares)

    @property
    def of_states(self) -> dict[str, tuple[int, ...]]:
        """The places in v of the own states of each force element."""
        return _by_owner((e.joint.removeprefix("forces."), e.v) for e in self.elements if not e.kind.moves)

    @property
    def own_places(self) -> tuple[int, ...]:
        """The places in v of all own states of force elements."""
        return tuple(k for e in self.elements if not e.kind.moves for k in e.v)

    @property
    def discrete_places(self) -> tuple[int, ...]:
        """The places in v of own states that change at once alone, at events and updates: no force acts on them."""
        places = self.of_states
        return tuple(k for force in self.forces for k in places.get(force.name, ())[len(force.states) :])

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
    leaders = {joint.parent: index for index, joint in enumerate(model.joints) if joint.kind.shared}
    bodies = {body.name: body for body in model.bodies}
    plain = type(numbers) is Numbers and not numbers.values
    made = _own_elements if plain else partial(_elements, numbers)
    for index in parent_first(model.name, list(bodies), links):
        joint = model.joints[index]
        first = leaders[joint.parent] if joint.kind.shares else index
        places = of_body[joint.parent], len(elements), q_at[first], v_at[first]
        elements += made(joint, bodies[joint.child], *places)
        of_body[joint.child] = len(elements) - 1
    for k, (owner, name) in enumerate(model.own_states, v_at[-1]):
        elements.append(own_state_element(f"forces.{owner}", name, k))
    forces = tuple(force_numbers(force, numbers) for force in model.forces)
    bound = {constraint.name: constraint_numbers(constraint, numbers) for constraint in model.constraints}
    gravity = numbers.vector("gravity", model.gravity)
    numbers.check(model)
    frames = {x.name: PlacedFrame(of_body[x.body], Vec(x.position), Vec(x.orientation)) for x in model.frames}
    return Tree(model.name, gravity, tuple(elements), of_body, forces, model.nq, model.nv, bound, frames)


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
