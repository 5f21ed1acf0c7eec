"""Initial states: the nearest one that is consistent with the constraints, and checks of a given one."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from polhode.check.diagnosis import AGREEMENT, advice, allowed, contradiction, residuals
from polhode.check.given_start import start_of
from polhode.constrain.constrained_dynamics import Projected
from polhode.constrain.constraint_policy import DEFAULT, DEFAULT_POLICY, TOLERANCE, constraint_policy_of
from polhode.dynamics import fundamental
from polhode.errors import InputError, did_you_mean, message
from polhode.kernel.ahead import made_ahead
from polhode.model import Model, check_model
from polhode.model.per_model_cache import once_each
from polhode.result.labels import dof_names
from polhode.scalar import Array, real_number
from polhode.system.identity import identity_text
from polhode.system.shared import shared_system
from polhode.system.system import System

ASIDE, ASIDE_TRIES, JUMP = 1e-8, 3, 1e-2
"""Trial points of the check that functions have a tangent at the start: their distance from it, their number, and the
largest jump of a derivative, relative to it."""

ROUNDS = 50
"""Projections at most, before a start counts as impossible to move onto the constraints."""


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
    keep: Sequence[str] = (),
) -> Consistent:
    """The consistent state nearest to a given one, in the metric of the mass matrix.

    q, v       the model's start unless given
    tolerance  of residuals, in lengths of the machine or radians (per second)
    rank_tolerance  remainder of a row after elimination, relative to its natural size; below it the row counts as
                    dependent
    keep       joints, or velocities by name, that stay just as given: "crank" keeps its coordinates and its rates,
               "q.crank" the first alone, "v.crank" the second; all others follow
    ->         `moved` says which rows were violated, and by how much
    """
    check_model("consistent_start", model)
    tolerance = real_number("consistent_start, tolerance", tolerance, "a number above 0, below 1", 0.0, 1.0)
    t = real_number("consistent_start, t", t, "seconds")
    constraint_policy_of("consistent_start", DEFAULT, rank_tolerance)
    q, v = start_of(model, q, v, "consistent_start")
    free = _free("consistent_start, keep", model, keep)
    if not model.constraints:
        return Consistent(q, v, {}, 0.0)
    system = System(model, rank_tolerance=rank_tolerance)
    _check_rows("consistent_start", system, q, v, t)
    before = residuals(system, q, v, t)
    for _ in range(ROUNDS):
        found = _projected(system, q, v, t, *free) if len(keep) else system.project_step(q, v, t=t)
        if not (np.all(np.isfinite(found.q)) and np.all(np.isfinite(found.v))):
            break
        q, v = found.q, found.v
        left = residuals(system, q, v, t)
        if all(abs(x) <= tolerance * scale for x, scale in left.values()):
            break
    left = residuals(system, q, v, t)
    name, worst = _worst(left)
    most = max(1e3 * tolerance, AGREEMENT * rank_tolerance)
    if not abs(worst) <= most * left[name][1]:
        _refuse_contradictions("consistent_start", system, q, v, t)
        where, fix = f"consistent_start, constraint '{name}'", "Start closer to a configuration that fits."
        fix = advice(abs(worst) / left[name][1]) or fix
        fix = "Keep fewer coordinates or rates, or give others." if len(keep) else fix
        raise InputError(message(where, "cannot be met", f"residual {worst:.3g} after {ROUNDS} rounds", "0", fix))
    _refuse_contradictions("consistent_start", system, q, v, t)
    moved = {name: x for name, (x, scale) in before.items() if abs(x) > tolerance * scale}
    return Consistent(q, v, moved, max(abs(x) for x, _ in left.values()))


def _free(where: str, model: Model, keep: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Which directions of q (nv) and which velocities (nv) may change."""
    dofs, free = dof_names(model), {"q": np.ones(model.nv, dtype=bool), "v": np.ones(model.nv, dtype=bool)}
    if isinstance(keep, str) or not isinstance(keep, Sequence):
        raise InputError(message(where, "not a list", repr(keep)[:60], "a list of names of joints or velocities"))
    for name in keep:
        head, _, rest = str(name).partition(".")
        for kinds, asked in (("qv", str(name)), (head if head in ("q", "v") else "", rest)):
            own = [k for k, dof in enumerate(dofs) if dof == asked or dof.startswith(f"{asked}.")]
            if kinds and own:
                for kind in kinds:
                    free[kind][own] = False
                break
        else:
            fix = did_you_mean(
                name, [*dofs, *(joint.name for joint in model.joints)], f"Velocities are: {', '.join(dofs[:12])}."
            )
            raise InputError(message(where, "no such joint or velocity", repr(name), "a name", fix))
    return free["q"], free["v"]


def _projected(
    system: System, q: np.ndarray, v: np.ndarray, t: float, free_q: np.ndarray, free_v: np.ndarray
) -> Projected:
    """A state nearer to the constraints, of which only some directions and velocities are changed."""
    positions = system.constraint_residuals(q, v, t=t).positions
    A = system.constraint_rows(q, v, t=t).A[: len(positions)]
    q = system.integrate(q, _least_change(system, q, A, -positions, free_q))
    A, rates = system.constraint_rows(q, v, t=t).A, system.constraint_residuals(q, v, t=t).rates
    return Projected(q, v + _least_change(system, q, A, -rates, free_v))


def _least_change(system: System, q: np.ndarray, A: np.ndarray, wanted: np.ndarray, free: np.ndarray) -> np.ndarray:
    """δ (nv) with A δ nearest to what is wanted, zero but where free, the shortest in the metric of the mass matrix."""
    found = np.zeros(system.nv)
    if len(wanted) and np.any(free):
        M = system.mass_matrix(q)[np.ix_(free, free)]
        none = np.zeros(len(M))
        found[free] = fundamental.solve(M, none, A[:, free], wanted, tolerance=system.rank_tolerance).acceleration
    return found


def check_start(model: Model, q: np.ndarray, v: np.ndarray, rank_tolerance: float = TOLERANCE) -> None:
    """Refuse a start that violates a constraint, or constraints that contradict each other there."""
    if not model.constraints:
        return
    if known := _known_check(model):
        known(q.tobytes(), v.tobytes(), rank_tolerance)
    else:
        _check_constrained_start(model, q, v, rank_tolerance)


@once_each
def _known_check(model: Model) -> Callable[[bytes, bytes, float], None] | None:
    """The check of starts of a model, given as bytes; those that were found good lately are known. None with user
    functions, which may have changed."""
    if not identity_text(model):
        return None

    @lru_cache(maxsize=64)
    def check(q: bytes, v: bytes, rank_tolerance: float) -> None:
        _check_constrained_start(model, np.frombuffer(q), np.frombuffer(v), rank_tolerance)

    return check


def _check_constrained_start(model: Model, q: np.ndarray, v: np.ndarray, rank_tolerance: float) -> None:
    system = shared_system(model, replace(DEFAULT_POLICY, rank_tolerance=rank_tolerance))
    asked = (
        lambda: system.constraint_rows(q, v, t=0.0),
        lambda: system.forward_dynamics(q, v, np.zeros(system.nv), t=0.0),
        lambda: system.mass_matrix(q),
    )
    with made_ahead(*asked):
        _check_rows("simulate", system, q, v, 0.0)
    left = residuals(system, q, v)
    name, worst = _worst(left)
    most = allowed(system) * left[name][1]
    if not abs(worst) <= most:
        _refuse_contradictions("simulate", system, q, v, 0.0)
        where, fix = (
            f"simulate, constraint '{name}'",
            "Move it: move_start=True (polhode run --move-start), or ph.consistent_start(model, q, v).",
        )
        expected = f"0, up to {most:.3g}"
        raise InputError(message(where, "violated at the start", f"residual {worst:.6g}", expected, fix))
    _refuse_contradictions("simulate", system, q, v, 0.0)


def _check_rows(where: str, system: System, q: np.ndarray, v: np.ndarray, t: float) -> None:
    """Refuse residuals and derivatives that are no numbers, and a motion that nothing determines."""
    (positions, rates), (A, b) = system.constraint_residuals(q, v, t=t), system.constraint_rows(q, v, t=t)
    values = np.concatenate([positions, np.zeros(len(rates) - len(positions))]), A, rates, b
    for what, value in zip(("residual", "derivative", "rate", "second derivative"), values, strict=True):
        if np.all(np.isfinite(value)):
            continue
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
    """The residual of a row: of positions if it is one of them, else of velocities."""
    positions, rates = system.constraint_residuals(q, v, t=t)
    k = system.constraint_names.index(name)
    return float(positions[k] if k < len(positions) else rates[k])


def _refuse_contradictions(where: str, system: System, q: np.ndarray, v: np.ndarray, t: float) -> None:
    found, part = contradiction(system, q, v, t)
    if found:
        names = ", ".join(f"'{name}' by {value:.3g}" for name, value in found.items())
        fix = advice(part) or "Take one of them away, or make them agree; ph.diagnose(model, q) tells more."
        raise InputError(
            message(f"{where}, constraints", "contradict each other", f"missed: {names}", "one motion", fix)
        )


def _worst(found: dict[str, tuple[float, float]]) -> tuple[str, float]:
    def size(name: str) -> float:
        value, scale = found[name]
        return abs(value) / scale if np.isfinite(value) else np.inf

    name = max(found, key=size)
    return name, found[name][0]
