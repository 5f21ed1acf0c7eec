"""The numbers of a model as inputs of its kernels: what they are, and the tree of symbols in their place.

Kernels then depend on the structure alone: on everything of a model that is no number, and on the pattern of numbers
that are exactly 0, and of directions and orientations that are exactly 0 or ±1, which fold as constants do.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from polhode.kernel.trace import Builder, Symbol
from polhode.model import Model, Tree
from polhode.model.joints.base import NOTHING, Element
from polhode.model.per_model_cache import once_each
from polhode.model.per_record_cache import once_per_record
from polhode.model.tree import Numbers, body_numbers, constraint_numbers, force_numbers, joint_elements, tree_of
from polhode.scalar import Scalar, Vec

UNITS = (1.0, -1.0)

DIRECTIONS = ("axis", "orientation")
"""The beginnings of the names of numbers that are parts of directions and orientations."""

Take = Callable[[str, float, bool], Scalar]
"""The input in the place of a number: (path, value, whether it is a part of a direction or an orientation)."""


class NumberInputs:
    """The numbers of one model that are inputs of its kernels, in their order."""

    def __init__(self, model: Model, more: Sequence[float] = (), note: str = "", given: Sequence[str] = ()) -> None:
        """From a model.

        more   further numbers that follow from those of the model
        note   what else kernels depend on
        given  paths of numbers, or names of Parameters, that a caller has inputs of its own for
        """
        self.model, self.given, self._note = model, tuple(given), note
        self._readings = _readings(model, self.given)
        self._own = {path: x for reading in self._readings for path, x in reading.inputs.items()}
        assert len(self._own) == sum(len(reading.inputs) for reading in self._readings)
        self.values = np.array([*self._own.values(), *more], dtype=float) + 0.0  # no −0.0
        """(n,)"""

    def tree(self, numbers: Vec, given: Mapping[str, Any] | None = None) -> Tree:
        """The tree of the model with symbols in the place of its numbers; given: those of `given`."""
        symbols = dict(zip(self._own, numbers, strict=False))
        take: Take = lambda path, x, is_direction: symbols.get(path, x)  # noqa: E731
        tree = tree_of(self.model, _Read(given or {}, take))
        return replace(tree, elements=tuple(_turned(e, take) for e in tree.elements))

    def more(self, numbers: Vec) -> Vec:
        """The symbols of the further numbers."""
        return Vec(numbers[len(self._own) :])

    @cached_property
    def text(self) -> str:
        """Everything that kernels depend on, but for the values of their inputs."""
        of_records = [reading.text for reading in self._readings]
        return "\n".join([self.model.name, *(f"given {path}" for path in self.given), *of_records, self._note])


@once_each
def tree_inputs(model: Model) -> NumberInputs:
    """The numbers of a model as inputs of kernels in which no constraint takes part."""
    return NumberInputs(model)


class _Reading(NamedTuple):
    """The numbers of some records of a model: those that are inputs, and a text that tells everything else."""

    inputs: Mapping[str, float]
    text: str


def _readings(model: Model, given: Sequence[str]) -> list[_Reading]:
    """The numbers of all records, in the order of the model."""
    own = Builder("numbers")
    values = {path: Symbol(own, own.input(path)) for path in given}
    read = partial(_reading, values) if given else _own_reading
    found = [
        read(group, record)
        for group in ("bodies", "joints", "forces", "constraints")
        for record in getattr(model, group)
    ]
    inputs, folded = dict[str, float](), dict[str, float]()
    _Read(values, _noted(inputs, folded)).vector("gravity", model.gravity)
    return [*found, _Reading(inputs, f"gravity {[*inputs]} {folded}")]


def _noted(inputs: dict[str, float], folded: dict[str, float]) -> Take:
    """Takes every number as it is, and notes its value by path: of those that are inputs, and of those that fold."""

    def take(path: str, x: float, is_direction: bool) -> Scalar:
        folds = x == 0 or (is_direction and x in UNITS)
        (folded if folds else inputs)[path] = x
        return x

    return take


def _reading(values: Mapping[str, Any], group: str, record: Any) -> _Reading:
    """The numbers of a record."""
    inputs, folded = dict[str, float](), dict[str, float]()
    take = _noted(inputs, folded)
    numbers = _Read(values, take)
    if group == "bodies":
        body_numbers(record, numbers)
    elif group == "joints":
        for e in joint_elements(record, 0, 0, 0, 0, NOTHING, numbers):
            _turned(e, take)
    elif group == "forces":
        force_numbers(record, numbers)
    else:
        constraint_numbers(record, numbers)
    known = {*inputs, *folded, *values}
    pattern = (f"{path} = {x:g}" for path, x in folded.items())
    return _Reading(inputs, "\n".join([*inputs, *pattern, *_texts(known, group, record)]))


@once_per_record
def _own_reading(group: str, record: Any) -> _Reading:
    return _reading({}, group, record)


def _texts(known: Collection[str], group: str, record: Any) -> Iterator[str]:
    """What is told of a record but for its numbers, whose paths are known."""
    yield f"{group} {type(record).__name__} {record.name!r}"
    for field in fields(record):
        if group == "joints" and field.name.startswith(DIRECTIONS):  # told by its elements
            continue
        is_data = group == "constraints" and field.name == "data"
        path = f"{group}.{record.name}" + ("" if is_data else f".{field.name}")
        yield from _told(known, path, getattr(record, field.name))


def _told(known: Collection[str], path: str, value: Any) -> Iterator[str]:
    if path in known:
        return
    if isinstance(value, Mapping):
        for key, x in value.items():
            yield from _told(known, f"{path}.{key}", x)
    elif isinstance(value, tuple):
        for k, x in enumerate(value):
            yield from _told(known, f"{path}.{k}", x)
    else:
        yield f"{path}: {value!r}"


class _Read(Numbers):
    """Reads the numbers of a model, each replaced by what is taken for it."""

    def __init__(self, values: Mapping[str, Any], take: Take) -> None:
        super().__init__(values)
        self.take = take

    def scalar(self, path: str, value: Any) -> Scalar:
        """One number."""
        found = super().scalar(path, value)
        group, _, field = path.partition(".")
        is_direction = field.rpartition(".")[0].rpartition(".")[2].startswith(DIRECTIONS)
        if not isinstance(found, float) or (is_direction and group == "joints"):
            return found
        return self.take(path, found, is_direction)


def _turned(e: Element, take: Take) -> Element:
    """An element with what is taken in the place of its direction cosines."""

    def taken(path: str, value: Any) -> Any:
        if isinstance(value, tuple):
            return Vec([taken(f"{path}.{k}", x) for k, x in enumerate(value)])
        return take(path, value, True) if isinstance(value, float) else value

    path = f"elements.{e.joint!r}.{e.name!r}"  # no two of a tree, whatever dots their names have
    turning = tuple(taken(f"{path}.turning.{k}", part) for k, part in enumerate(e.turning))
    axis, orientation = taken(f"{path}.axis", e.axis), taken(f"{path}.orientation", e.orientation)
    return replace(e, axis=axis, orientation=orientation, turning=turning)
