"""Starts that fit the constraints: found, or refused by name."""

from typing import NamedTuple

import numpy as np

from polhode.assemble.diagnose import CONSISTENT, contradictions, residuals
from polhode.assemble.starting import start_of
from polhode.assemble.system import System
from polhode.assemble.way import TOLERANCE
from polhode.errors import InputError, message
from polhode.model import Model
from polhode.scalar import Array

ASIDE, ASIDE_TRIES, JUMP = 1e-8, 3, 1e-2
"""How far aside of the start functions are looked at, how often, and which part of a derivative may not jump."""

ROUNDS = 50
"""Projections that are tried."""


class Consistent(NamedTuple):
    """A state on the constraints; the residual of each row that was moved; the largest residual that is left."""

    q: np.ndarray
    v: np.ndarray
    moved: dict[str, float]
    residual: float


def consistent_start(
    model: Model,
    q: Array | None = None,
    v: Array | None = None,
    tolerance: float = 1e-11,
    t: float = 0.0,
    rank_tolerance: float = TOLERANCE,
) -> Consistent:
    """The consistent state nearest to a given one, in the metric of the mass matrix.

    q, v       the model's start unless given
    tolerance  of residuals, in lengths of the machine or radians (per second)
    rank_tolerance  what is left of a row, relative to its size, below which it counts as dependent
    ->         `moved` says which rows were violated, and by how much
    """
    q, v = start_of(model, q, v)
    if not model.constraints:
        return Consistent(q, v, {}, 0.0)
    system = System(model, rank_tolerance=rank_tolerance)
    _check_rows("consistent_start", system, q, v, t)
    before = residuals(system, q, v, t)
    for _ in range(ROUNDS):
        found = system.project(q, v, t=t)
        if not (np.all(np.isfinite(found.q)) and np.all(np.isfinite(found.v))):
            break
        q, v = found.q, found.v
        left = residuals(system, q, v, t)
        if all(abs(x) <= tolerance * scale for x, scale in left.values()):
            break
    left = residuals(system, q, v, t)
    name, worst = _worst(left)
    if not abs(worst) <= 1e3 * tolerance * left[name][1]:
        _refuse_contradictions("consistent_start", system, q, v, t)
        where, fix = f"consistent_start, constraint '{name}'", "Start closer to a configuration that fits."
        raise InputError(message(where, "cannot be met", f"residual {worst:.3g} after {ROUNDS} rounds", "0", fix))
    _refuse_contradictions("consistent_start", system, q, v, t)
    moved = {name: x for name, (x, scale) in before.items() if abs(x) > tolerance * scale}
    return Consistent(q, v, moved, max(abs(x) for x, _ in left.values()))


def check_start(model: Model, q: np.ndarray, v: np.ndarray) -> None:
    """Refuse a start that violates a constraint, or constraints that contradict each other there."""
    if not model.constraints:
        return
    system = System(model)
    _check_rows("simulate", system, q, v, 0.0)
    left = residuals(system, q, v)
    name, worst = _worst(left)
    if not abs(worst) <= CONSISTENT * left[name][1]:
        _refuse_contradictions("simulate", system, q, v, 0.0)
        where, fix = (
            f"simulate, constraint '{name}'",
            "Move it: move_start=True (polhode run --move-start), or ph.consistent_start(model, q, v).",
        )
        expected = f"0, up to {CONSISTENT * left[name][1]:.3g}"
        raise InputError(message(where, "violated at the start", f"residual {worst:.6g}", expected, fix))
    _refuse_contradictions("simulate", system, q, v, 0.0)


def _check_rows(where: str, system: System, q: np.ndarray, v: np.ndarray, t: float) -> None:
    """Refuse residuals and derivatives that are no numbers, and a motion that nothing determines."""
    (positions, rates), (A, b) = system.constraint_residuals(q, v, t=t), system.constraint_rows(q, v, t=t)
    values = np.concatenate([positions, np.zeros(len(rates) - len(positions))]), A, rates, b
    for what, value in zip(("residual", "derivative", "rate", "second derivative"), values, strict=True):
        for name, row in zip(system.constraint_names, value, strict=True):
            if not np.all(np.isfinite(row)):
                place = f"{where}, constraint '{name}'"
                missed = "" if what == "residual" else f" where its residual is {_residual(system, name, q, v, t):.6g}"
                shown, expected = f"{row}{missed}", "finite numbers at the start"
                raise InputError(message(place, f"its {what} is not finite", shown, expected))
    _check_smooth(where, system, q, v, t)
    if not np.all(np.isfinite(system.forward_dynamics(q, v, np.zeros(system.nv), t=t))):
        fix = "Give every body that the constraints leave free mass and inertia."
        found = "no finite acceleration"
        raise InputError(
            message(f"{where}, model '{system.model.name}'", "the motion is not determined", found, "one", fix)
        )


def _check_smooth(where: str, system: System, q: np.ndarray, v: np.ndarray, t: float) -> None:
    """Refuse a function whose derivative jumps at the start: it has no tangent there."""
    functions = {c.name for c in system.model.constraints if any(map(callable, c.data.values()))}
    named = [k for k, name in enumerate(system.constraint_names) if name.rpartition(".")[0] in functions]
    if not named:
        return
    rng, jump = np.random.default_rng(0), np.zeros(len(named))
    for _ in range(ASIDE_TRIES):
        step = ASIDE * rng.normal(size=system.nv)
        sides = [system.constraint_rows(system.integrate(q, sign * step), v, t=t + sign * ASIDE).A for sign in (-1, 1)]
        before, after = (A[named] for A in sides)
        size = np.linalg.norm(before, axis=1) + np.linalg.norm(after, axis=1)
        jump = np.fmax(jump, np.linalg.norm(after - before, axis=1) / np.fmax(size, JUMP))
    if np.any(jump > JUMP):
        name = system.constraint_names[named[int(np.argmax(jump))]]
        found = (
            f"a jump of {np.max(jump):.2g} times itself, where its residual is {_residual(system, name, q, v, t):.6g}"
        )
        fix = "Write it without abs, minimum, maximum or where at the start; sqrt(x*x + e) rounds a corner."
        what, expected = "its derivative is not continuous", "a smooth function"
        raise InputError(message(f"{where}, constraint '{name}'", what, found, expected, fix))


def _residual(system: System, name: str, q: np.ndarray, v: np.ndarray, t: float) -> float:
    """What a row misses: of positions if it is one of them, else of velocities."""
    positions, rates = system.constraint_residuals(q, v, t=t)
    k = system.constraint_names.index(name)
    return float(positions[k] if k < len(positions) else rates[k])


def _refuse_contradictions(where: str, system: System, q: np.ndarray, v: np.ndarray, t: float) -> None:
    found = contradictions(system, q, v, t)
    if found:
        names = ", ".join(f"'{name}' by {value:.3g}" for name, value in found.items())
        fix = "Take one of them away, or make them agree; ph.diagnose(model, q) tells more."
        raise InputError(
            message(f"{where}, constraints", "contradict each other", f"missed: {names}", "one motion", fix)
        )


def _worst(found: dict[str, tuple[float, float]]) -> tuple[str, float]:
    def size(name: str) -> float:
        value, scale = found[name]
        return abs(value) / scale if np.isfinite(value) else np.inf

    name = max(found, key=size)
    return name, found[name][0]
