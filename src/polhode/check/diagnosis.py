"""Constraints at a state: rank, freedoms, and which rows are redundant, contradictory or nearly dependent.

Redundancy belongs to a set of rows: every row in a left null vector of A is named, not only the one that a
pivoting would leave out. Its multiplier is not determined; those of the other rows are.        BEYOND §5
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from polhode.check.given_start import start_of
from polhode.constrain.constrained_dynamics import ConstrainedDynamics
from polhode.constrain.constraint_policy import DEFAULT, MOST, TOLERANCE, constraint_policy_of
from polhode.dynamics import kinematics
from polhode.linalg.rank import RankedRows, left_null_parts, left_over, metric_factor
from polhode.model import Model, check_model, make_tree
from polhode.scalar import Array, Vec, real_number
from polhode.system.shared import once_per_system
from polhode.system.system import System

NEARLY = 1e-5
"""Remainder of a row after elimination, relative to its natural size; below it the row is called nearly dependent."""

CONSISTENT = 1e-6
"""The residual, in lengths of the machine or radians (per second), up to which a row counts as fulfilled."""

PRESENT = 1e-7
"""A part of a null vector, or of a contradiction, that counts."""

ASIDE, TRIES = (0.1, 0.01, 0.001), 2
"""Steps to positions nearby, rad or m (relative to them null vectors differ), and how many of each size are tried."""

CORRECTIONS, REACHED = 12, 1e-12
"""Steps of Newton's method from there to where the constraints hold, and the violation at which they do."""

PART = 0.2
"""The part of a row in the null vectors of a singular position, from which it is named: nearby they differ a little."""


@dataclass(frozen=True)
class Diagnosis:
    """The constraints of a model at a state. Rows have names such as "loop.x".

    rows             all rows, those of positions first
    rank             how many of them are independent here
    nearby           how many of them are independent at positions nearby: more than `rank` at a singular position
    lost             rows that become dependent at this singular position
    velocities       of the tree
    freedoms         velocities − rank: directions in which the machine can move
    configurations   freedoms of the positions alone: more than `freedoms` where wheels roll
    idle             rows that hold by themselves: zero here and nearby
    redundant        rows that others imply, together with those others: their multipliers are not determined
    determined       rows whose multipliers are
    nearly           rows that are nearly dependent on the others, with the remainder of each, relative to its size
    weakest          smallest singular value of the rows that are independent nearby, divided by their sizes: 0 where
                     rank is lost
    contradictory    rows that cannot hold together, with the residual of each
    violated         residuals that are not zero; a rate has "rate of " before its name
    tolerance        rank tolerance: remainder of a row after elimination, relative to its natural size; below it the
                     row counts as dependent
    """

    model: str
    rows: tuple[str, ...]
    rank: int
    nearby: int
    lost: tuple[str, ...]
    velocities: int
    freedoms: int
    configurations: int
    idle: tuple[str, ...]
    redundant: tuple[str, ...]
    determined: tuple[str, ...]
    nearly: dict[str, float]
    weakest: float
    contradictory: dict[str, float]
    violated: dict[str, float]
    tolerance: float

    def __str__(self) -> str:
        freedoms = f"{self.freedoms} degree{'s' if self.freedoms != 1 else ''} of freedom"
        if self.configurations != self.freedoms:
            freedoms += f" ({self.configurations} of positions)"
        lines = [f"{self.model}: {len(self.rows)} rows, rank {self.rank}, {self.velocities} velocities: {freedoms}"]
        if self.nearby > self.rank:
            lost = f"rank {self.rank} here, {self.nearby} in the neighbourhood; lost here: {', '.join(self.lost)}"
            lines.append(f"  a singular position: {lost}; the motion may go on along several branches")
        told = {
            "hold by themselves": ", ".join(self.idle),
            "redundant, their forces not determined one by one": ", ".join(self.redundant),
            "nearly dependent": _told(self.nearly),
            "contradict each other": _told(self.contradictory),
            "violated": _told(self.violated),
        }
        lines += [f"  {what}: {names}" for what, names in told.items() if names]
        dependent = f"rows count as dependent below {self.tolerance:.3g} of their size"
        return "\n".join([*lines, f"  smallest singular value {self.weakest:.3g}; {dependent}"])


def _told(values: dict[str, float]) -> str:
    return ", ".join(f"{name} ({value:.3g})" for name, value in values.items())


def diagnose(
    model: Model,
    q: Array | None = None,
    v: Array | None = None,
    t: float = 0.0,
    rank_tolerance: float = TOLERANCE,
) -> Diagnosis:
    """The diagnosis of a model's constraints at a state: rank, freedoms, redundant and contradictory rows.

    q, v            the model's start unless given; else zero angles, identity quaternions, at rest
    rank_tolerance  remainder of a row after elimination, relative to its natural size; below it the row counts as
                    dependent
    """
    check_model("diagnose", model)
    constraint_policy_of("diagnose", DEFAULT, rank_tolerance)
    t = real_number("diagnose, t", t, "seconds")
    q, v = start_of(model, q, v, "diagnose")
    return examined(System(model, rank_tolerance=rank_tolerance), q, v, t)


def _constrained(system: System) -> ConstrainedDynamics:
    """The constrained dynamics of a System, which has constraints."""
    assert system.conditions is not None
    return system.conditions


def examined(system: System, q: np.ndarray, v: np.ndarray, t: float = 0.0) -> Diagnosis:
    """The diagnosis of a compiled model."""
    found, names = system.constraint_residuals(q, v, t=t), system.constraint_names
    A = system.constraint_rows(q, v, t=t).A
    held = len(found.positions)
    constrained = _constrained(system)
    tolerance = float(constrained.tolerance(found.positions.tolist()))
    sizes = np.array(constrained.scales.sizes)
    K = metric_of(system, q, A)
    whole, positions = (RankedRows(A[:k], K, sizes[:k], tolerance) for k in (len(A), held))
    beside = _beside(system, q, t, whole)
    nearby = beside.rank if beside else whole.rank
    lost = _lost(whole, beside) if beside else np.zeros(len(A), dtype=bool)
    idle = (np.linalg.norm(whole.B, axis=1) <= tolerance) & ~lost
    shared = left_null_parts(whole.U, whole.rank) > PRESENT
    pivots = left_over(whole.B)
    found_residuals = residuals(system, q, v, t)
    return Diagnosis(
        model=system.model.name,
        rows=tuple(names),
        rank=whole.rank,
        nearby=nearby,
        lost=_named(names, lost),
        velocities=system.model.joint_velocities,
        freedoms=system.model.joint_velocities - whole.rank,
        configurations=system.model.joint_velocities - positions.rank,
        idle=_named(names, idle),
        redundant=_named(names, shared & ~idle & ~lost),
        determined=_named(names, ~shared),
        nearly={name: float(x) for name, x in zip(names, pivots, strict=True) if tolerance < x < NEARLY},
        weakest=float(whole.singular[nearby - 1]) if nearby else 0.0,
        contradictory=contradictions(system, q, v, t),
        violated={name: x for name, (x, scale) in found_residuals.items() if not abs(x) <= allowed(system) * scale},
        tolerance=tolerance,
    )


def _beside(system: System, q: np.ndarray, t: float, here: RankedRows) -> RankedRows | None:
    """The rows at a position nearby that fulfils the constraints, if more of them are independent there than here."""
    rng = np.random.default_rng(0)
    for size in ASIDE:
        for _ in range(TRIES):
            found = _fulfilled(system, q, size * rng.normal(size=system.nv), t)
            if found and found.rank > here.rank:
                return found
    return None


def _fulfilled(system: System, q: np.ndarray, step: np.ndarray, t: float) -> RankedRows | None:
    """The rows where a step from q, corrected by Newton's method, fulfils the constraints; None where it fails to."""
    constrained, tree, still = _constrained(system), make_tree(system.model), np.zeros(system.nv)
    sizes = np.array(constrained.scales.sizes)
    for _ in range(CORRECTIONS):
        q = np.array(kinematics.integrate(tree, Vec(q.tolist()), Vec(step.tolist())), dtype=float)
        A, phi = system.constraint_rows(q, still, t=t).A, system.constraint_residuals(q, still, t=t).positions
        if not (np.all(np.isfinite(A)) and np.all(np.isfinite(phi))):
            return None
        held = len(phi)
        K, tolerance = metric_of(system, q, A), float(constrained.tolerance(phi.tolist()))
        if np.max(abs(phi) / np.array(constrained.scales.units)[:held], initial=0.0) < REACHED:
            return RankedRows(A, K, sizes, tolerance)
        step = RankedRows(A[:held], K, sizes[:held], tolerance).constrained(still, -phi)[0]
    return None


def _lost(here: RankedRows, beside: RankedRows) -> np.ndarray:
    """Which rows are in the left null vectors here, but not in those beside."""
    null = here.left_null
    new = null - beside.left_null @ (beside.left_null.T @ null)
    directions, sizes, _ = np.linalg.svd(new, full_matrices=False)
    return (
        np.linalg.norm(directions[:, : beside.rank - here.rank] * (sizes[: beside.rank - here.rank] > 0), axis=1) > PART
    )


def _named(names: list[str], chosen: np.ndarray) -> tuple[str, ...]:
    return tuple(name for name, yes in zip(names, chosen, strict=True) if yes)


def ranked_rows(system: System, q: np.ndarray, v: np.ndarray, t: float = 0.0) -> RankedRows:
    """The rows of all constraints at a state, with their rank."""
    constrained, A = _constrained(system), system.constraint_rows(q, v, t=t).A
    tolerance = float(constrained.tolerance(system.constraint_residuals(q, v, t=t).positions.tolist()))
    return RankedRows(A, metric_of(system, q, A), np.array(constrained.scales.sizes), tolerance)


def metric_of(system: System, q: np.ndarray, A: np.ndarray) -> np.ndarray:
    """K of M = K Kᵀ; of M + AᵀD⁻²A where M alone is singular."""
    constrained = _constrained(system)
    rows = (A, np.array(constrained.scales.sizes)) if constrained.scales.singular_mass else ()
    return metric_factor(system.mass_matrix(q), *rows)


def residuals(system: System, q: np.ndarray, v: np.ndarray, t: float = 0.0) -> dict[str, tuple[float, float]]:
    """The residual of every row with its scale: positions by name, their rates as "rate of " the name."""
    constrained = _constrained(system)
    (positions, rates), names = system.constraint_residuals(q, v, t=t), system.constraint_names
    units = np.array(constrained.scales.units)
    speeds = units + abs(system.constraint_rows(q, v, t=t).A) @ abs(v)
    held = len(positions)
    found = {name: (float(x), float(u)) for name, x, u in zip(names, positions, units, strict=False)}
    for i, name in enumerate(names):
        found[f"rate of {name}" if i < held else name] = float(rates[i]), float(speeds[i])
    return found


class Violations(NamedTuple):
    """Constraint violation at the samples of a run: φ and r (n, k); φ of rows of velocities is NaN."""

    positions: np.ndarray
    rates: np.ndarray
    relative: np.ndarray
    """Everything in lengths of the machine, or radians (per second)."""


def violations(system: System, time: np.ndarray, q: np.ndarray, v: np.ndarray) -> Violations:
    """Constraint violation at the samples of a run."""
    positions, rates = system.constraint_residuals(q, v, t=time)
    units, (n, held) = _units(system), positions.shape
    full, relative = positions, np.empty((n, held + len(units)))
    if held < len(units):
        full = np.full_like(rates, np.nan)
        full[:, :held] = positions
    np.divide(positions, units[:held], out=relative[:, :held])
    np.divide(rates, units, out=relative[:, held:])
    return Violations(full, rates, relative)


@once_per_system
def _units(system: System) -> np.ndarray:
    """What the residual of each row is measured in: a length of the machine, or a radian."""
    return np.array(_constrained(system).scales.units)


AGREEMENT = 10.0
"""Rows that count as dependent up to the rank tolerance may contradict each other up to so many times that."""


def allowed(system: System) -> float:
    """The residual that is allowed at a start, in lengths of the machine or radians (per second)."""
    return max(CONSISTENT, AGREEMENT * system.rank_tolerance)


def advice(part: float) -> str:
    """What to do about rows whose best residual is this part of their size: few digits, or another machine."""
    if not 0 < part < MOST:
        return ""
    tolerance = max(10.0 ** np.ceil(np.log10(part)), 10 * TOLERANCE)
    return f"Data of few digits? rank_tolerance={tolerance:.0e} takes rows as dependent that agree up to {part:.1g}."


def contradictions(system: System, q: np.ndarray, v: np.ndarray, t: float = 0.0) -> dict[str, float]:
    """Rows that cannot hold together near this state, with the least residual of each."""
    return contradiction(system, q, v, t)[0]


def contradiction(system: System, q: np.ndarray, v: np.ndarray, t: float = 0.0) -> tuple[dict[str, float], float]:
    """Rows that cannot hold together, with the least residual of each; and the largest, relative to its row.

    u·A = 0 and u·φ ≠ 0 (or u·r, or u·b): no step (velocity, acceleration) meets the rows of u
    """
    constrained = _constrained(system)
    (positions, rates), names = system.constraint_residuals(q, v, t=t), system.constraint_names
    A, b = system.constraint_rows(q, v, t=t)
    if not (np.all(np.isfinite(A)) and np.all(np.isfinite(b))):
        return {}, 0.0
    sizes, units = np.array(constrained.scales.sizes), np.array(constrained.scales.units)
    held = len(positions)
    K = metric_of(system, q, A)
    near = max(float(constrained.tolerance(positions.tolist())), allowed(system))
    speed = np.linalg.norm(v @ K)
    scales = (units[:held], units + abs(A) @ abs(v), units + abs(b) + np.linalg.norm(A, axis=1) * speed**2)
    found: dict[int, np.ndarray] = {}
    for values, scale, rows in ((positions, scales[0], held), (rates, scales[1], len(A)), (b, scales[2], len(A))):
        if not rows:
            continue
        if rows not in found:
            found[rows] = RankedRows(A[:rows], K, sizes[:rows], near).left_null
        null = found[rows]
        least = (null @ (null.T @ (values / sizes[:rows]))) * sizes[:rows]
        part = float(np.max(abs(least) / scale, initial=0.0))
        if part > allowed(system):
            return {names[i]: float(least[i]) for i in np.flatnonzero(abs(least) > PRESENT * scale)}, part
    return {}, 0.0
