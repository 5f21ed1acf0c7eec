"""Factors of length, mass and time, and of every number by its unit."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from polhode.model.mount import NotCarried
from polhode.model.numbers import plain
from polhode.model.units import Dimension, UnknownUnit, dimension_at


@dataclass(frozen=True)
class Scale:
    """Factors of length, mass and time.

    linear  of each joint, which of its velocities are linear (m/s) rather than angular (rad/s)
    """

    length: float
    mass: float
    time: float
    linear: Mapping[str, tuple[bool, ...]] = field(default_factory=dict)

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
        return multiplied(value, self.factor(unit, is_linear, place, size))

    def of_coordinate(self, joint: str, axis: int = 0) -> float:
        """The factor of a coordinate of a joint without a quaternion."""
        return self.factor("rad or m", self.linear[joint][axis])


def multiplied(value: Any, factor: float) -> Any:
    """A number times a factor; a parameter stays one where the factor is 1."""
    return value if factor == 1 else plain(value) * factor
