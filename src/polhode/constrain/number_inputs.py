"""The numbers of a model as inputs of its kernels: what they are, and the tree of symbols in their place.

Kernels then depend on the structure alone: on everything of a model that is no number, and on the pattern of numbers
that are exactly 0, and of directions and orientations that are exactly 0 or ±1, which fold as constants do.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from polhode.constrain.constrained_dynamics import ConstrainedDynamics, constrained_dynamics
from polhode.constrain.constraint_policy import ConstraintPolicy
from polhode.constrain.row_scales import Scales
from polhode.kernel.trace import Builder, Symbol
from polhode.model import Model, Tree
from polhode.model.joints.base import Element
from polhode.model.numbers import Parameter
from polhode.model.per_model_cache import once_each
from polhode.model.tree import Numbers, tree_of
from polhode.scalar import Scalar, Vec

UNITS = (1.0, -1.0)

DIRECTIONS = ("axis", "orientation")
"""The beginnings of the names of numbers that are parts of directions and orientations."""

GROUPS = ("bodies", "joints", "forces", "constraints")

Take = Callable[[str, float, bool], Scalar]
"""The input in the place of a number: (path, value, whether it is a part of a direction or an orientation)."""


class NumberInputs:
    """The numbers of one model that are inputs of its kernels, in their order."""

    def __init__(self, model: Model, constrained: ConstrainedDynamics | None, given: Sequence[str] = ()) -> None:
        """given  paths of numbers, or names of Parameters, that a caller has inputs of its own for"""
        self.model, self.constrained, self.given = model, constrained, tuple(given)
        scales = constrained.scales if constrained else Scales((), (), False)
        self._own, self._pattern = self._read()
        self.values = np.array([*self._own.values(), *scales.sizes, *scales.units], dtype=float) + 0.0  # no −0.0
        """(n,)"""

    def _read(self) -> tuple[dict[str, float], dict[str, float]]:
        """Values by path: of the numbers that are inputs, and of those that fold."""
        inputs, folded = dict[str, float](), dict[str, float]()

        def take(path: str, x: float, is_direction: bool) -> Scalar:
            folds = x == 0 or (is_direction and x in UNITS)
            (folded if folds else inputs)[path] = x
            return x

        own = Builder("numbers")
        _tree(self.model, {path: Symbol(own, own.input(path)) for path in self.given}, take)
        return inputs, folded

    def tree(self, numbers: Vec, given: Mapping[str, Any] | None = None) -> Tree:
        """The tree of the model with symbols in the place of its numbers; given: those of `given`."""
        symbols = dict(zip(self._own, numbers, strict=False))
        return _tree(self.model, given or {}, lambda path, x, is_direction: symbols.get(path, x))

    def constrained_by(self, numbers: Vec) -> ConstrainedDynamics | None:
        """The conditions of the constraints, natural sizes of their rows as symbols."""
        if self.constrained is None:
            return None
        first, count = len(self._own), len(self.constrained.scales.sizes)
        sizes, units = tuple(numbers[first : first + count]), tuple(numbers[first + count :])
        return replace(self.constrained, scales=Scales(sizes, units, self.constrained.scales.light))

    @cached_property
    def text(self) -> str:
        """Everything that kernels depend on, but for the values of their inputs."""
        light = self.constrained is not None and self.constrained.scales.light
        parts = [self.model.name, *(f"given {path}" for path in self.given), *self._own, "folded"]
        parts += [f"{path} {x:g}" for path, x in self._pattern.items()]
        for group in GROUPS:
            for record in getattr(self.model, group):
                parts.append(f"{group} {type(record).__name__} {record.name!r}")
                values = {field.name: getattr(record, field.name) for field in fields(record)}
                if group == "joints":  # told by the elements
                    values = {name: x for name, x in values.items() if not name.startswith(DIRECTIONS)}
                parts += self._texts(f"{group}.{record.name}", values)
        return "\n".join([*parts, f"light {light}"])

    def _texts(self, path: str, value: Any) -> Iterator[str]:
        """What is told of a record but for its numbers."""
        if path in self._own or path in self._pattern or path in self.given:
            return
        if isinstance(value, Parameter):
            yield f"{path} {value!r}"
        elif isinstance(value, Mapping):
            for key, x in value.items():
                inner = f"{path.removesuffix('.data')}.{key}" if path.startswith("constraints.") else f"{path}.{key}"
                yield from self._texts(inner, x)
        elif isinstance(value, tuple):
            for k, x in enumerate(value):
                yield from self._texts(f"{path}.{k}", x)
        else:
            yield f"{path} {value!r}"


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


def _tree(model: Model, given: Mapping[str, Any], take: Take) -> Tree:
    """The tree of a model with what is taken in the place of its numbers; orientations of joints by their cosines."""
    tree = tree_of(model, _Read(given, take))

    def turned(path: str, value: Any) -> Any:
        if isinstance(value, tuple):
            return Vec([turned(f"{path}.{k}", x) for k, x in enumerate(value)])
        return take(path, value, True) if isinstance(value, float) else value

    def of(e: Element) -> Element:
        path = f"elements.{e.name}"
        turning = tuple(turned(f"{path}.turning.{k}", part) for k, part in enumerate(e.turning))
        axis, orientation = turned(f"{path}.axis", e.axis), turned(f"{path}.orientation", e.orientation)
        return replace(e, axis=axis, orientation=orientation, turning=turning)

    return replace(tree, elements=tuple(map(of, tree.elements)))


@once_each
def number_inputs(model: Model, policy: ConstraintPolicy) -> NumberInputs:
    """The numbers of a model as inputs, under a constraint policy."""
    return NumberInputs(model, constrained_dynamics(model, policy))
