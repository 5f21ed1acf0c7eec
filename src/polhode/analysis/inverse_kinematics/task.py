"""What is left of targets and constraints at a configuration, and how it changes along the velocities: on generic
scalars."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from polhode.analysis.inverse_kinematics.targets import SIZES, TargetShape
from polhode.constrain.constrained_dynamics import ConstrainedDynamics
from polhode.dynamics import kinematics
from polhode.dynamics.arguments import Arguments
from polhode.dynamics.body_points import body_point
from polhode.dynamics.kinematics import UnitMotion
from polhode.model import Tree
from polhode.quaternion import from_matrix, rotation_matrix
from polhode.scalar import Scalar, Vec, atan2, cross, dot, maximum, sqrt, square, where
from polhode.spatial import Frame


class TaskErrors(NamedTuple):
    """The errors of all targets and constraints.

    rows     (m,)     in rad, or parts of the length of the machine, by their weights
    columns  of (m,)  their derivatives along each velocity of `Task.moving`, in rad or parts of that length
    worst    the largest square of a distance (m²), of an angle (rad²), of a residual of constraints
    """

    rows: Vec
    columns: list[Vec]
    worst: Scalar


class Left(NamedTuple):
    """What is left: the distance (k,) and the angle (k,) of each target, and the largest residual of constraints."""

    distance: Vec
    angle: Vec
    violation: Scalar


class _Part(NamedTuple):
    """Three rows of one target, and their derivatives along each velocity of `Task.moving`."""

    error: Vec
    moved: list[Vec]
    weight: float


@dataclass(frozen=True, eq=False)
class Task:
    """Targets of a machine, and its constraints on positions.

    length  of the machine, m: errors of position and steps along it are measured by it
    held    velocities that stay 0
    """

    tree: Tree
    constrained: ConstrainedDynamics | None
    shapes: tuple[TargetShape, ...]
    length: float
    held: frozenset[int] = frozenset()

    @cached_property
    def moving(self) -> list[int]:
        """The velocities that errors depend on, and that are not held."""
        tree = self.tree
        paths = {i for shape in self.shapes for i in tree.ancestors[tree.element(shape.frame)]}
        chosen = [e for i, e in enumerate(tree.elements) if e.kind.moves and (self.constrained or i in paths)]
        return sorted({k for e in chosen for k in e.v} - self.held)

    @cached_property
    def units(self) -> list[float]:
        """What a change along each velocity of `moving` is measured in: 1 rad, or the length of the machine."""
        linear = {k for e in self.tree.elements for k, x in zip(e.v, e.kind.linear, strict=False) if x}
        return [self.length if k in linear else 1.0 for k in self.moving]

    def wanted(self, numbers: Vec) -> list[dict[str, Vec]]:
        """For each target its parts by name, orientations as matrices; numbers: where the targets are."""
        found, first = list[dict[str, Vec]](), 0
        for shape in self.shapes:
            found.append({})
            for part in shape.parts:
                value = Vec(numbers[first : first + SIZES[part]])
                found[-1][part] = rotation_matrix(value) if part == "orientation" else value
                first += SIZES[part]
        return found

    def errors(self, q: Vec, wanted: list[dict[str, Vec]], weight: Scalar = 1.0) -> TaskErrors:
        """The errors at a configuration; weight: of the constraints."""
        at = kinematics.frames(self.tree, q)
        motions = kinematics.unit_motions(self.tree, q, at)
        rows, worst = list[Scalar](), list[Scalar]()
        columns: list[list[Scalar]] = [[] for _ in self.moving]
        for part in self._parts(at, [motions[k] for k in self.moving], wanted):
            rows += [part.weight * x for x in part.error]
            worst.append(square(part.error))
            for column, moved in zip(columns, part.moved, strict=True):
                column += [part.weight * x for x in moved]
        phi, slopes = self._conditions(q)
        rows += [weight * x for x in phi]
        worst += [x * x for x in phi]
        for k, column in zip(self.moving, columns, strict=True):
            column += [weight * slope[k] for slope in slopes]
        scaled = [unit * Vec(column) for unit, column in zip(self.units, columns, strict=True)]
        return TaskErrors(Vec(rows), scaled, _largest(worst))

    def left(self, q: Vec, wanted: list[dict[str, Vec]]) -> Left:
        """What is left at a configuration, in metres and radians."""
        at = kinematics.frames(self.tree, q)
        distance, angle = list[Scalar](), list[Scalar]()
        for shape, parts in zip(self.shapes, wanted, strict=True):
            _, frame = self._placed(shape, at)
            distance.append(0.0)
            angle.append(0.0)
            for part, value in parts.items():
                if part == "position":
                    distance[-1] = sqrt(square(frame.o - value))
                elif part == "orientation":
                    p = _turn(frame, value)
                    angle[-1] = 2 * atan2(sqrt(square(Vec(p[1:]))), p[0])
                else:
                    a = frame.R @ Vec(shape.axis)
                    angle[-1] = atan2(sqrt(square(cross(a, value))), dot(a, value))
        phi, _ = self._conditions(q)
        return Left(Vec(distance), Vec(angle), sqrt(_largest([x * x for x in phi])))

    def _parts(self, at: list[Frame], motions: list[UnitMotion], wanted: list[dict[str, Vec]]) -> Iterator[_Part]:
        for shape, parts in zip(self.shapes, wanted, strict=True):
            element, frame = self._placed(shape, at)
            path = set(self.tree.ancestors[element])
            moving = [motion if motion.element in path else None for motion in motions]
            for part, value in parts.items():
                if part == "position":
                    x, weight = frame.o, shape.weights[0] / self.length
                    yield _Part(x - value, [_or_nothing(m and cross(m.w, x - m.o) + m.l) for m in moving], weight)
                elif part == "orientation":
                    e0, e = (p := _turn(frame, value))[0], Vec(p[1:])
                    turned = [_or_nothing(m and e0 * m.w - cross(e, m.w)) for m in moving]
                    yield _Part(2 * e, turned, shape.weights[1])
                else:
                    a = frame.R @ Vec(shape.axis)
                    yield _Part(a - value, [_or_nothing(m and cross(m.w, a)) for m in moving], shape.weights[1])

    def _placed(self, shape: TargetShape, at: list[Frame]) -> tuple[int, Frame]:
        """The element that carries a target, and the target's frame in the world, with its point as origin."""
        element, point, turn = body_point(self.tree, shape.frame, Vec(shape.point))
        R, o = at[element]
        return element, Frame(R @ turn if turn else R, o + R @ point)

    def _conditions(self, q: Vec) -> tuple[list[Scalar], list[Vec]]:
        """φ of the constraints by their natural sizes, and its derivatives along the velocities."""
        if not self.constrained or not self.constrained.holonomic:
            return [], []
        at_rest = Vec([0.0 * q[0]] * self.tree.nv)
        found = self.constrained.rows(Arguments(self.tree, q, at_rest))
        sizes = self.constrained.sizes[: self.constrained.holonomic]
        phi = [x / size for x, size in zip(found.phi, sizes, strict=True)]
        return phi, [row / size for row, size in zip(found.A, sizes, strict=False)]


def _turn(frame: Frame, R: Vec) -> Vec:
    """The rotation from the orientation R that is wanted to that of a frame, in world axes; its scalar part ≥ 0.

    Twice its vector part is an error of the length 2 sin(θ/2), whose square is smooth everywhere.
    """
    p = from_matrix(frame.R @ R.T)
    return where(p[0] < 0, -p, p)


def _or_nothing(rate: Vec | None) -> Vec:
    return rate if rate is not None else Vec([0.0] * 3)


def _largest(values: Sequence[Scalar]) -> Scalar:
    found: Scalar = 0.0
    for x in values:
        found = maximum(found, x)
    return found
