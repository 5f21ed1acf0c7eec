"""Targets of inverse kinematics: what a frame has to reach, as a user writes it and as kernels take it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import InputError, UnknownNameError, did_you_mean, message
from polhode.model import Model
from polhode.scalar import Array, as_array, batch_shape, checked, is_list, real_number, shown

SIZES = {"position": 3, "orientation": 4, "direction": 3}
"""The parts that a target may have, and how many numbers each is."""

EXPECTED = "a point (3), a quaternion (4), a pair of both, or ph.Target(…)"


@dataclass(frozen=True, eq=False)
class Target:
    """What a frame has to reach: a position, an orientation, a direction of one of its axes, or two of these.

    position     (..., 3)  where `point` has to be in the world, m
    orientation  (..., 4)  of the frame in the world, a unit quaternion
    direction    (..., 3)  in which `axis` has to point in the world; turns about it stay free
    point        (3,)      in the axes of the frame, m
    axis         (3,)      in the axes of the frame
    weight       of its errors against those of other targets, where not all can be reached: a number, or two, for
                 the position and for the angle

        ph.Target(position=(0.4, 0.1, 0.3), direction=(0, 0, -1))       the tool points down, and may turn
    """

    position: Array | None = None
    orientation: Array | None = None
    direction: Array | None = None
    point: Array = (0.0, 0.0, 0.0)
    axis: Array = (0.0, 0.0, 1.0)
    weight: Any = 1.0

    def parts(self) -> list[str]:
        """The names of the parts that are given."""
        return [name for name in SIZES if getattr(self, name) is not None]


class TargetShape(NamedTuple):
    """All of a target that kernels are compiled for: everything but where it is."""

    frame: str
    """The name of a body, or of a frame of the model."""
    parts: tuple[str, ...]
    point: tuple[float, ...]
    axis: tuple[float, ...]
    weights: tuple[float, float]
    """Of errors of position and of angle."""

    @property
    def size(self) -> int:
        """How many numbers say where it is."""
        return sum(SIZES[part] for part in self.parts)


class CheckedTargets(NamedTuple):
    """Targets, checked."""

    shapes: tuple[TargetShape, ...]
    numbers: np.ndarray
    """(..., n)  where they are, one after the other."""


def checked_targets(where: str, model: Model, targets: Any) -> CheckedTargets:
    """The targets of a call, {frame: target or list of targets}; an InputError where something is wrong with one."""
    if not isinstance(targets, Mapping) or not targets:
        expected = f"{{body or frame: {EXPECTED}}}"
        raise InputError(message(f"{where}, targets", "not targets by name", shown(targets), expected))
    shapes, arrays = list[TargetShape](), list[np.ndarray]()
    for frame, place, target in _each(where, model, targets):
        shapes.append(_shape(place, frame, target))
        arrays += [_numbers(f"{place}, {part}", part, getattr(target, part)) for part in target.parts()]
    labels = [f"target {k}" for k in range(len(arrays))]
    batch = batch_shape(where, {label: x.shape[:-1] for label, x in zip(labels, arrays, strict=True)})
    rows = [np.broadcast_to(x, (*batch, x.shape[-1])) for x in arrays]
    return CheckedTargets(tuple(shapes), np.concatenate(rows, axis=-1))


def _each(where: str, model: Model, targets: Mapping) -> Iterator[tuple[str, str, Target]]:
    """Every target, with the name of its frame and the words for where it stands."""
    known = [*(body.name for body in model.bodies), *(frame.name for frame in model.frames)]
    for frame, given in targets.items():
        if frame not in known:
            fix = did_you_mean(frame, known, f"There are: {', '.join(known[:12])}.")
            raise UnknownNameError(
                message(f"{where}, targets", "no such body or frame", shown(frame), "the name of one", fix)
            )
        several = isinstance(given, Sequence) and bool(given) and all(isinstance(x, Target) for x in given)
        for k, one in enumerate(given if several else [given]):
            place = f"{where}, target of '{frame}'" + (f" [{k}]" if several else "")
            yield frame, place, _target(place, one)


def _target(where: str, given: Any) -> Target:
    """A target as its user may write it."""
    if isinstance(given, Target):
        return given
    if hasattr(given, "position") and hasattr(given, "quaternion"):
        return Target(given.position, given.quaternion)
    if is_list(given) and not isinstance(given, np.ndarray) and len(parts := list(given)) == 2:
        by_size = {_last_axis(part): part for part in parts}
        if by_size.keys() == {3, 4}:
            return Target(by_size[3], by_size[4])
    size = _last_axis(given)
    if size not in (3, 4):
        raise InputError(message(where, "not a target", shown(given), EXPECTED))
    return Target(given) if size == 3 else Target(orientation=given)


def _last_axis(value: Any) -> int:
    try:
        return int(np.shape(value)[-1])
    except (IndexError, ValueError):
        return 0


def _shape(where: str, frame: str, target: Target) -> TargetShape:
    parts = tuple(target.parts())
    if not parts or {"orientation", "direction"} <= {*parts}:
        found = " and ".join(parts) or "nothing to reach"
        raise InputError(message(where, "not a target", found, "a position, an orientation or a direction"))
    point = as_array(f"{where}, point", target.point, (3,))
    axis = checked(f"{where}, axis", target.axis, "direction")
    if point.ndim > 1 or axis.ndim > 1:
        raise InputError(message(where, "several points or axes", "a batch", "one for all: (3,)"))
    weights = target.weight if is_list(target.weight) else [target.weight] * 2
    if len(weights) != 2:
        raise InputError(message(f"{where}, weight", "not a weight", shown(target.weight), "a number, or two"))
    first, second = (real_number(f"{where}, weight", x, "a number above 0", 0.0) for x in weights)
    axis = axis / np.linalg.norm(axis)
    return TargetShape(frame, parts, tuple(point.tolist()), tuple(axis.tolist()), (first, second))


def _numbers(where: str, part: str, value: Array) -> np.ndarray:
    """Where a part of a target is (..., n); directions of length 1."""
    kind = {"position": "vector", "orientation": "unit quaternion", "direction": "direction"}[part]
    array = checked(where, value, kind)
    if array.dtype.kind != "f":
        raise InputError(message(where, "not real numbers", str(array.dtype), "real numbers"))
    return array if part == "position" else array / np.linalg.norm(array, axis=-1, keepdims=True)
