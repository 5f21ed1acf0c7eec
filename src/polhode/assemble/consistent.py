"""Starts that fit the constraints: found, or refused by name."""

from typing import NamedTuple

import numpy as np

from polhode.assemble.starting import start_of
from polhode.assemble.system import System
from polhode.errors import InputError, message
from polhode.model import Model
from polhode.scalar import Array

CONSISTENT = 1e-6
"""The residual, m or rad (per second), up to which a start counts as consistent."""

ROUNDS = 50
"""Projections that are tried."""


class Consistent(NamedTuple):
    """A state on the constraints; the residual of each row that was moved; the largest residual that is left."""

    q: np.ndarray
    v: np.ndarray
    moved: dict[str, float]
    residual: float


def residuals(system: System, q: np.ndarray, v: np.ndarray) -> dict[str, float]:
    """What every row misses: positions by name, rates by name with "rate of " before it."""
    found, names = system.constraint_residuals(q, v), system.constraint_names
    held = len(found.positions)
    rates = {
        f"rate of {name}" if i < held else name: float(x)
        for i, (name, x) in enumerate(zip(names, found.rates, strict=True))
    }
    return {**{name: float(x) for name, x in zip(names, found.positions, strict=False)}, **rates}


def consistent_start(
    model: Model, q: Array | None = None, v: Array | None = None, tolerance: float = 1e-11
) -> Consistent:
    """The consistent state nearest to a given one, in the metric of the mass matrix.

    q, v  the model's start unless given
    ->    `moved` says which rows were violated, and by how much
    """
    system = System(model)
    q, v = start_of(model, q, v)
    before = residuals(system, q, v)
    for _ in range(ROUNDS):
        found = system.project(q, v)
        q, v = found.q, found.v
        left = max(map(abs, residuals(system, q, v).values()), default=0.0)
        if not left > tolerance:
            break
    if not left <= 1e3 * tolerance:
        name, worst = _worst(residuals(system, q, v))
        where, fix = (
            f"consistent_start, constraint '{name}'",
            "Start closer to a closed configuration; look for contradictions.",
        )
        raise InputError(message(where, "cannot be met", f"residual {worst:.3g} after {ROUNDS} rounds", "0", fix))
    return Consistent(q, v, {name: x for name, x in before.items() if abs(x) > tolerance}, left)


def check_start(model: Model, q: np.ndarray, v: np.ndarray) -> None:
    """Refuse a start that violates a constraint."""
    if not model.constraints:
        return
    name, worst = _worst(residuals(System(model), q, v))
    if not abs(worst) <= CONSISTENT:
        where, fix = f"simulate, constraint '{name}'", "Move the start: ph.consistent_start(model, q, v)."
        raise InputError(
            message(where, "violated at the start", f"residual {worst:.6g}", f"0, up to {CONSISTENT:g}", fix)
        )


def _worst(found: dict[str, float]) -> tuple[str, float]:
    name = max(found, key=lambda key: abs(found[key]) if np.isfinite(found[key]) else np.inf)
    return name, found[name]
