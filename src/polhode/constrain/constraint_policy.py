"""The constraint policy (how constraints are met and kept): one record for compile, simulate, record; and its check."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.errors import InputError, message
from polhode.scalar import is_real, one_of

TOLERANCE = 1e-10
"""Rank tolerance: remainder of a row after elimination, relative to its natural size; below it the row counts as
dependent. The default."""

ENGINES = {
    "fundamental": "the fundamental equation of constrained motion; Udwadia (12), (45)",
    "multipliers": "one system of accelerations and multipliers, dependent rows left out; BEYOND §4",
    "null-space": "accelerations along a basis of what the conditions leave free; BEYOND §5",
    "absolute": "bodies with Euler parameters, joints and unit norms as constraints; BEYOND §4",
}
"""Engines: algorithms for accelerations under constraints."""

DEFAULT = "fundamental"

KEEPING = ("project", "baumgarte", "ggl", "index-3", "none")
"""Stabilisation: what keeps a run where its constraints hold."""

BAUMGARTE = (5.0, 5.0)
"""α and β of Baumgarte's stabilisation, 1/s, unless given: violations fade in a fifth of a second."""

LEAST = 1e-14
"""The least tolerance that doubles can tell from rounding."""

MOST = 1e-3
"""The largest tolerance."""


@dataclass(frozen=True)
class ConstraintPolicy:
    """Constraint policy: engine, rank tolerance, stabilisation."""

    engine: str = DEFAULT
    """A name of ENGINES."""
    rank_tolerance: float = TOLERANCE
    keeping: str = "project"
    """How a run stays where they hold: a name of KEEPING."""
    baumgarte: tuple[float, float] | None = None
    """α, β of φ̈ + 2α φ̇ + β² φ = 0, in the place of φ̈ = 0; of conditions of velocities ṙ + α r = 0."""
    compact: bool = False
    """Whether accelerations and projections call one routine that solves their equations, in place of writing it out in
    each: half the code, a sixth slower on a CPU. Kernels for GPUs are so, whose compiler takes seconds."""

    @property
    def identity(self) -> str:
        """Text that tells two policies apart, for keys of the kernel cache and of recorded runs."""
        text = f"{self.engine} {self.rank_tolerance!r} {self.keeping} {self.baumgarte}"
        return f"{text} compact" if self.compact else text


DEFAULT_POLICY = ConstraintPolicy()


def constraint_policy_of(
    where: str, engine: Any, rank_tolerance: Any, constraints: Any = KEEPING[0], baumgarte: Any = None
) -> ConstraintPolicy:
    """The constraint policy of these options; or an error: no such engine, an invalid tolerance."""
    one_of(f"{where}, engine", engine, ENGINES, "no such engine")
    if not is_real(rank_tolerance) or not LEAST <= rank_tolerance <= MOST:
        expected = f"{LEAST:g} to {MOST:g}, relative to the size of a row"
        raise InputError(message(f"{where}, rank_tolerance", "out of range", repr(rank_tolerance), expected))
    one_of(f"{where}, constraints", constraints, KEEPING, "no such policy")
    if constraints != "baumgarte" and baumgarte is not None:
        found = f"constraints={constraints!r}"
        raise InputError(message(f"{where}, baumgarte", "has no effect", found, "constraints='baumgarte'"))
    pull = None
    if constraints == "baumgarte":
        pull = _pair(f"{where}, baumgarte", BAUMGARTE if baumgarte is None else baumgarte)
    return ConstraintPolicy(engine, float(rank_tolerance), constraints, pull)


def _pair(where: str, value: Any) -> tuple[float, float]:
    """α, β ≥ 0, or an error."""
    expected = "(alpha, beta), 1/s, not below 0"
    try:
        alpha, beta = map(float, value)
    except (TypeError, ValueError):
        raise InputError(message(where, "not two numbers", repr(value), expected)) from None
    if not (0 <= alpha < np.inf and 0 <= beta < np.inf):
        raise InputError(message(where, "out of range", repr(value), expected))
    return alpha, beta
