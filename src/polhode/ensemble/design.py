"""Uniform numbers for the runs of a study: run i of a seed has the same ones, whoever asks, in whatever order.

random  run i has its own stretch of the stream of a counter-based generator (Philox; Salmon et al. 2011)
latin   one value in every n-th part of each axis, shuffled                         (scipy.stats.qmc.LatinHypercube)
sobol   low-discrepancy points, scrambled                                           (scipy.stats.qmc.Sobol)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from polhode.errors import InputError, message

DESIGNS = ("random", "latin", "sobol")

WORDS = 4
"""Numbers that one step of Philox's counter gives."""

MOST_POINTS = 2**30
"""Number of Sobol's points that SciPy can give."""

DEEPEST = 21201
"""Axes that Sobol's points have at most."""


@dataclass(frozen=True)
class Design:
    """Uniform numbers (runs, axes).

    kind   one of DESIGNS
    seed   of the study
    """

    kind: str
    seed: int
    runs: int
    axes: int

    def __post_init__(self) -> None:
        """Check."""
        if self.kind not in DESIGNS:
            raise InputError(message("sweep, design", "no such design", repr(self.kind), ", ".join(DESIGNS)))
        if isinstance(self.seed, bool) or not isinstance(self.seed, (int, np.integer)) or not 0 <= self.seed < 2**63:
            found = repr(self.seed)[:60]
            raise InputError(message("sweep, seed", "not a seed", found, "a whole number, from 0 to 2^63 − 1"))
        if self.kind == "sobol" and self.runs > MOST_POINTS:
            found = f"{self.runs:,} runs"
            raise InputError(message("sweep, design", "too many runs for Sobol's points", found, "at most 2^30"))
        if self.kind == "sobol" and self.axes > DEEPEST:
            found = f"{self.axes} axes"
            raise InputError(message("sweep, design", "too many axes for Sobol's points", found, f"at most {DEEPEST}"))

    def uniforms(self, first: int, last: int) -> np.ndarray:
        """Numbers in (0, 1) for runs first … last − 1: (n, axes)."""
        n = last - first
        if not self.axes:
            return np.empty((n, 0))
        if self.kind == "latin":
            return self._latin[first:last]
        if self.kind == "sobol":
            return self._sobol(first, n)
        counts = math.ceil(self.axes / WORDS)
        words = np.random.Philox(key=self._key).advance(first * counts).random_raw(n * counts * WORDS)
        # 53 bits, and half a bit more: neither 0 nor 1 ever comes
        return ((words.reshape(n, -1)[:, : self.axes] >> np.uint64(11)) + 0.5) * 2.0**-53

    @cached_property
    def _key(self) -> np.ndarray:
        return np.random.SeedSequence(self.seed).generate_state(2, np.uint64)

    @property
    def _generator(self) -> np.random.Generator:
        return np.random.default_rng(self.seed)

    def _engine(self, kind: Any) -> Any:
        """SciPy's generator of points; before 1.15 its random numbers had another name."""
        try:
            return kind(self.axes, rng=self._generator)
        except TypeError:
            return kind(self.axes, seed=self._generator)

    @cached_property
    def _latin(self) -> np.ndarray:
        from scipy.stats import qmc

        found = self._engine(qmc.LatinHypercube).random(self.runs)
        return np.clip(found, 2.0**-54, 1 - 2.0**-53)

    def _sobol(self, first: int, n: int) -> np.ndarray:
        from scipy.stats import qmc

        points = self._engine(qmc.Sobol)
        if first:
            points.fast_forward(first)
        return np.clip(_quietly(points, n), 2.0**-54, 1 - 2.0**-53)


def _quietly(points: object, n: int) -> np.ndarray:
    """Points, without SciPy's warning that their number is no power of 2."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return points.random(n)  # type: ignore[attr-defined]


def cells(sizes: Sequence[int], first: int, last: int) -> np.ndarray:
    """For runs first … last − 1 the place on each grid (n, grids): all combinations, the last grid running fastest."""
    if not sizes:
        return np.empty((last - first, 0), dtype=int)
    number = np.arange(first, last) % math.prod(sizes)
    return np.stack(np.unravel_index(number, sizes), axis=1)
