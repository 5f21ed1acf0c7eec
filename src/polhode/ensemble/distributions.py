"""What a number of a study is drawn from: each distribution maps uniform numbers in (0, 1) to its values.

So one rule serves every design: independent draws, Latin hypercubes, Sobol points. A uniform number becomes
a value by the inverse of the distribution function.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from polhode.errors import InputError, message
from polhode.quaternion import product
from polhode.scalar import UNIT_TOLERANCE, Vec, without_rotations


class Distribution(Protocol):
    """Values of one or several numbers."""

    @property
    def uniforms(self) -> int:
        """How many uniform numbers one draw takes."""

    @property
    def width(self) -> int:
        """How many numbers it gives."""

    def values(self, u: np.ndarray) -> np.ndarray:
        """The values (n, width) of uniform numbers u (n, uniforms)."""


@dataclass(frozen=True)
class Normal:
    """Gauss's: mean and standard deviation."""

    mean: float
    deviation: float
    uniforms = width = 1

    def __post_init__(self) -> None:
        """Check."""
        _numbers("normal", self.mean, self.deviation)
        if self.deviation <= 0:
            raise _fault("normal", "no spread", f"deviation {self.deviation:g}", "a deviation above 0")

    def values(self, u: np.ndarray) -> np.ndarray:
        """μ + σ Φ⁻¹(u)"""
        from scipy.special import ndtri

        return self.mean + self.deviation * ndtri(u)


@dataclass(frozen=True)
class Uniform:
    """Equally likely from `low` to `high`."""

    low: float
    high: float
    uniforms = width = 1

    def __post_init__(self) -> None:
        """Check."""
        _numbers("uniform", self.low, self.high)
        if not math.isfinite(self.high - self.low):
            raise _fault("uniform", "too wide", f"{self.low:g} to {self.high:g}", "a difference that is finite")
        if not self.low < self.high:
            raise _fault("uniform", "empty", f"{self.low:g} to {self.high:g}", "the lower bound first")

    def values(self, u: np.ndarray) -> np.ndarray:
        """a + (b − a) u"""
        return self.low + (self.high - self.low) * u


@dataclass(frozen=True)
class LogUniform:
    """Its logarithm is uniform: every factor is as likely as any other."""

    low: float
    high: float
    uniforms = width = 1

    def __post_init__(self) -> None:
        """Check."""
        _numbers("log-uniform", self.low, self.high)
        if not 0 < self.low < self.high:
            raise _fault("log-uniform", "no such range", f"{self.low:g} to {self.high:g}", "0 < low < high")

    def values(self, u: np.ndarray) -> np.ndarray:
        """a (b/a)^u"""
        low, high = math.log(self.low), math.log(self.high)
        return np.exp(low + (high - low) * u)


@dataclass(frozen=True)
class Rotations:
    """Attitudes as quaternions (w, x, y, z): all equally likely, or near one of them.

    spread  None: uniform on the rotation group; else the standard deviation, rad, of each component of the
            rotation vector φ from the mean, in body axes: mean ∘ exp(φ/2)
    """

    spread: float | None = None
    mean: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    uniforms, width = 3, 4

    def __post_init__(self) -> None:
        """Check."""
        if self.spread is not None:
            _numbers("rotations", self.spread)
            if self.spread <= 0:
                raise _fault("rotations", "no spread", f"{self.spread:g}", "radians above 0, or none: uniform")
        if (mean := without_rotations(self.mean)) is not self.mean:
            object.__setattr__(self, "mean", tuple(mean.tolist()))
        if not isinstance(self.mean, (tuple, list, np.ndarray)) or len(self.mean) != 4:
            raise _fault("rotations", "not a quaternion", repr(self.mean)[:60], "a mean (w, x, y, z)")
        _numbers("rotations", *self.mean)
        if not abs(math.hypot(*self.mean) - 1) <= UNIT_TOLERANCE:
            raise _fault("rotations", "not a unit quaternion", repr(self.mean), "a mean (w, x, y, z) of length 1")

    def values(self, u: np.ndarray) -> np.ndarray:
        """Shoemake (1992), "Uniform random rotations"; or the exponential of a normal rotation vector."""
        if self.spread is None:
            a, b, turn = np.sqrt(1 - u[:, 0]), np.sqrt(u[:, 0]), 2 * np.pi * u[:, 1:]
            found = [b * np.cos(turn[:, 1]), a * np.sin(turn[:, 0]), a * np.cos(turn[:, 0]), b * np.sin(turn[:, 1])]
        else:
            from scipy.special import ndtri

            phi = self.spread * ndtri(u) / 2
            angle = np.sqrt(np.sum(phi * phi, axis=1))
            part = np.sinc(angle / np.pi)
            found = [np.cos(angle), *(part * x for x in phi.T)]
        return np.stack(list(product(Vec(self.mean), Vec(found))), axis=1)


@dataclass(frozen=True)
class Listed:
    """One of a set, each equally likely: values, or rows of several."""

    rows: tuple[Any, ...]
    uniforms = 1

    def __post_init__(self) -> None:
        """Check."""
        object.__setattr__(self, "rows", _rows("listed", self.rows))

    @property
    def width(self) -> int:
        """Numbers of a row."""
        return len(self.rows[0])

    def values(self, u: np.ndarray) -> np.ndarray:
        """The ⌊n u⌋th row."""
        place = np.minimum((u[:, 0] * len(self.rows)).astype(int), len(self.rows) - 1)
        return np.array(self.rows, dtype=float)[place]


@dataclass(frozen=True)
class Grid:
    """Every one of these, with every combination of all other grids."""

    rows: tuple[Any, ...]
    uniforms = 0

    def __post_init__(self) -> None:
        """Check."""
        object.__setattr__(self, "rows", _rows("grid", self.rows))

    @property
    def width(self) -> int:
        """Numbers of a row."""
        return len(self.rows[0])

    def values(self, u: np.ndarray) -> np.ndarray:
        """Grids are walked, not drawn."""
        raise NotImplementedError


@dataclass(frozen=True)
class Frozen:
    """A frozen distribution of `scipy.stats`."""

    of: Any
    uniforms = width = 1

    def values(self, u: np.ndarray) -> np.ndarray:
        """Its quantiles."""
        return np.asarray(self.of.ppf(u), dtype=float)

    def __repr__(self) -> str:
        name = getattr(getattr(self.of, "dist", None), "name", type(self.of).__name__)
        return f"scipy.stats.{name}{getattr(self.of, 'args', ())}{getattr(self.of, 'kwds', {})}"


def distribution(where: str, given: Any) -> Distribution:
    """The distribution of a value in `samples`: one of ours, one of SciPy's, or numbers, one for each run in turn."""
    if isinstance(given, (Normal, Uniform, LogUniform, Rotations, Listed, Grid, Frozen)):
        return given
    if callable(getattr(given, "ppf", None)) and not isinstance(given, type):
        return Frozen(given)
    if isinstance(given, (list, tuple, np.ndarray)) or np.isscalar(given):
        fix = "Say what they are: ph.Listed([…]) draws from them, ph.Grid([…]) takes every one."
        raise InputError(message(where, "not a distribution", repr(given)[:60], KINDS, fix))
    raise InputError(message(where, "not a distribution", repr(given)[:60], KINDS))


KINDS = "ph.Normal, Uniform, LogUniform, Rotations, Listed, Grid, or a frozen distribution of scipy.stats"


def _numbers(name: str, *values: Any) -> None:
    for value in values:
        try:
            finite = not isinstance(value, bool) and isinstance(value, (int, float, np.number)) and math.isfinite(value)
        except (OverflowError, TypeError):  # whole numbers above all floats; complex ones
            finite = False
        if not finite:
            raise _fault(name, "not a number", repr(value)[:60], "finite numbers")


def _rows(name: str, values: Sequence[Any]) -> tuple[tuple[float, ...], ...]:
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise _fault(name, "not numbers", repr(values)[:60], "numbers, or rows of as many each") from None
    if array.ndim not in (1, 2) or not array.size or not np.all(np.isfinite(array)):
        raise _fault(name, "not a set of numbers", repr(values)[:60], "at least one, all finite")
    return tuple(map(tuple, array.reshape(len(array), -1).tolist()))


def _fault(name: str, what: str, found: str, expected: str) -> InputError:
    return InputError(message(f"distribution '{name}'", what, found, expected))
