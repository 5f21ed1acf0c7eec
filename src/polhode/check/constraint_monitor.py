"""Constraints over the samples of a run: violation, reaction forces, rank, and the distance from losing rank."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from polhode.check.diagnosis import PRESENT, Violations, violations
from polhode.dynamics import kinematics
from polhode.linalg.rank import (
    left_null_parts,
    left_singular_vectors,
    metric_factor,
    rank_of,
    scaled_rows,
    singular_values,
)
from polhode.model import make_tree
from polhode.result.deferred import DOUBLE, DeferredGroup
from polhode.result.labels import force_units
from polhode.scalar import Vec
from polhode.system.shared import once_per_system
from polhode.system.system import System

VIOLATIONS = ("constraint_residual", "constraint_rate")
FORCES = ("multiplier", "reaction_force", "reaction_torque")
STRENGTH = ("determined", "rank", "degrees_of_freedom", "smallest_singular_value")
JOINTS = ("joint_force", "joint_torque")
"""Variables of a Dataset under constraints, grouped by the call that computes them; those of joints only on request."""

BLOCK = 2**25
"""Bytes of the matrices that are decomposed together: large enough for NumPy's batches, small beside main memory."""


class Strength(NamedTuple):
    """For each sample: singular values of the rows, relative to their natural sizes (n, m); rank (n,); whether each
    multiplier is determined (n, k)."""

    singular: np.ndarray
    rank: np.ndarray
    determined: np.ndarray


class ConstraintMonitor:
    """Computes the variables of constraints at samples of a motion."""

    def __init__(self, system: System) -> None:
        self.system, self.labels = system, _labels(system)
        """Names along the dimensions of the variables."""
        self.generic = 0
        """The largest rank so far."""
        self._last: tuple[np.ndarray | None, np.ndarray | None, np.ndarray | None, Violations | None] = (None,) * 4

    def violations(self, time: np.ndarray, q: np.ndarray, v: np.ndarray) -> Violations:
        """The violations at samples; those of the arrays that were asked for last are known."""
        *last, found = self._last
        if found is None or time is not last[0] or q is not last[1] or v is not last[2]:
            found = violations(self.system, time, q, v)
            self._last = time, q, v, found
        return found

    def __call__(
        self, arrays: Mapping[str, np.ndarray], tau: np.ndarray, wanted: Sequence[str]
    ) -> dict[str, np.ndarray]:
        """The wanted variables by their names in a Dataset."""
        system, found = self.system, dict[str, np.ndarray]()
        time, q, v = (arrays[name] for name in ("time", "q", "v"))
        if system.conditions and set(VIOLATIONS) & {*wanted}:
            found |= self._violations(time, q, v)
        if system.conditions and set(FORCES) & {*wanted}:
            forces = system.constraint_reactions(q, v, tau, t=time)
            found["multiplier"] = forces.multipliers
            if system.connection_names:
                found |= {"reaction_force": forces.force, "reaction_torque": forces.torque}
        if system.conditions and set(STRENGTH) & {*wanted}:
            found |= self._strength(time, q, v)
        if set(JOINTS) & {*wanted}:
            loads = system.joint_reactions(q, v, tau, t=time)
            found |= {"joint_force": loads.force, "joint_torque": loads.torque}
        return {name: values for name, values in found.items() if name in wanted}

    def deferred(
        self, arrays: Mapping[str, np.ndarray], kept: Mapping[str, np.ndarray], tau: np.ndarray, wanted: Sequence[str]
    ) -> tuple[dict[str, np.ndarray], list[DeferredGroup]]:
        """The wanted variables that a grade needs, and groups of those that are computed when they are read.

        kept  copies of the samples, which nobody changes, for those groups
        """
        found: dict[str, np.ndarray] = {}
        if self.system.conditions:
            seen = self.violations(arrays["time"], arrays["q"], arrays["v"])
            values = seen.positions, seen.rates
            found = {name: x for name, x in zip(VIOLATIONS, values, strict=True) if name in wanted}
        groups = _deferred_groups(tuple(wanted), bool(self.labels["constraint"]), bool(self.labels["connection"]))
        return found, [DeferredGroup(partial(self, kept, tau, [*kinds]), kinds) for kinds in groups]

    def _violations(self, time: np.ndarray, q: np.ndarray, v: np.ndarray) -> dict[str, np.ndarray]:
        seen = self.violations(time, q, v)
        return {"constraint_residual": seen.positions, "constraint_rate": seen.rates}

    def _strength(self, time: np.ndarray, q: np.ndarray, v: np.ndarray) -> dict[str, np.ndarray]:
        found = strength(self.system, time, q, v)
        self.generic = max(self.generic, int(np.max(found.rank, initial=0)))
        weakest = found.singular[:, self.generic - 1] if self.generic else np.zeros(len(time))
        return {
            "determined": found.determined,
            "rank": found.rank,
            "degrees_of_freedom": self.system.model.joint_velocities - found.rank,
            "smallest_singular_value": weakest,
        }

    @property
    def multiplier_units(self) -> tuple[str, ...]:
        """The unit of each row's multiplier: its power with the rate of the row is in watts."""
        return _multiplier_units(self.system)

    @property
    def idle(self) -> tuple[str, ...]:
        """Names of the rows that hold by themselves: their entries of A are zero at random configurations."""
        return idle_rows(self.system)

    @property
    def idle_text(self) -> str:
        """The same as JSON."""
        return _idle_text(self.system)


@once_per_system
def _labels(system: System) -> dict[str, tuple[str, ...]]:
    """The names of the rows of constraints, and of the constraints between two bodies."""
    return {"constraint": tuple(system.constraint_names), "connection": tuple(system.connection_names)}


KINDS = {"determined": np.dtype(np.int8), "rank": np.dtype(int), "degrees_of_freedom": np.dtype(int)}
"""The types of variables that hold no doubles."""


@lru_cache(maxsize=64)
def _deferred_groups(wanted: tuple[str, ...], has_rows: bool, has_connections: bool) -> list[dict[str, np.dtype]]:
    """The variables that are computed when they are read, group by group: their types by name."""
    found = []
    for names in (FORCES, STRENGTH, JOINTS):
        asked = [name for name in names if name in wanted and (name in JOINTS or has_rows)]
        asked = [name for name in asked if has_connections or not name.startswith("reaction")]
        found.append({name: KINDS.get(name, DOUBLE) for name in asked})
    return [group for group in found if group]


@once_per_system
def _multiplier_units(system: System) -> tuple[str, ...]:
    model, found = system.model, list[str]()
    joints = iter(force_units(model))
    units = {joint.name: [next(joints) for _ in range(joint.nv)] for joint in model.joints}
    kinds = {constraint.name: constraint for constraint in model.constraints}
    for name in system.constraint_names:
        constraint = next(kinds[head] for head in _heads(name) if head in kinds)
        row = name.removeprefix(f"{constraint.name}.")
        found.append(constraint.kind.multiplier_unit(row, constraint.data, units))
    return tuple(found)


@once_per_system
def idle_rows(system: System) -> tuple[str, ...]:
    """The names of the rows that hold by themselves."""
    rng, tree, zero = np.random.default_rng(0), make_tree(system.model), np.zeros(system.nv)
    steps = [Vec(rng.normal(size=system.nv).tolist()) for _ in range(3)]
    q = np.array([kinematics.integrate(tree, Vec(system.model.zero), step) for step in steps], dtype=float)
    A = system.constraint_rows(q, zero).A
    still = ~np.any(abs(A) > 1e-12, axis=(0, 2))
    return tuple(name for name, yes in zip(system.constraint_names, still, strict=True) if yes)


@once_per_system
def _idle_text(system: System) -> str:
    return json.dumps(idle_rows(system))


def _heads(name: str) -> Iterator[str]:
    """The parts of a name before each of its dots, the longest first."""
    while "." in name:
        name = name.rpartition(".")[0]
        yield name


def strength(system: System, time: np.ndarray, q: np.ndarray, v: np.ndarray) -> Strength:
    """Singular values, rank and determined multipliers at samples; NaN, 0 and none where a sample is not finite."""
    n, k, nv = len(time), len(system.constraint_names), system.nv
    found = Strength(np.full((n, min(k, nv)), np.nan), np.zeros(n, dtype=int), np.zeros((n, k), dtype=bool))
    size = max(BLOCK // (8 * (nv * nv + 2 * k * nv + k * k)), 1)
    for at in range(0, n, size):
        part = slice(at, at + size)
        for whole, values in zip(found, _strength(system, time[part], q[part], v[part]), strict=True):
            whole[part] = values
    return found


def _strength(system: System, time: np.ndarray, q: np.ndarray, v: np.ndarray) -> Strength:
    constrained = system.conditions
    assert constrained is not None
    sizes, nv = np.array(constrained.scales.sizes), system.nv
    A, M = system.constraint_rows(q, v, t=time).A, system.mass_matrix(q)
    positions = system.constraint_residuals(q, v, t=time).positions
    n, k = A.shape[:2]
    good = np.all(np.isfinite(A), axis=(1, 2)) & np.all(np.isfinite(M), axis=(1, 2))
    singular, determined = np.full((n, min(k, nv)), np.nan), np.zeros((n, k), dtype=bool)
    if not np.any(good):
        return Strength(singular, np.zeros(n, dtype=int), determined)
    kept = np.any(A[good] != 0, axis=(0, 2))
    K = metric_factor(M[good], *((A[good], sizes) if constrained.scales.singular_mass else ()))
    B = scaled_rows(A[good][:, kept], K, sizes[kept])
    values = np.zeros((int(good.sum()), min(k, nv)))
    short = singular_values(B)
    values[:, : short.shape[1]] = short
    rank = rank_of(values, np.broadcast_to(constrained.tolerance(Vec(positions[good].T)), len(values)))
    free = np.zeros((len(values), int(kept.sum())), dtype=bool)
    free[rank == kept.sum()] = True
    (lost,) = np.nonzero(rank < kept.sum())
    if len(lost):
        free[lost] = left_null_parts(left_singular_vectors(B[lost]), rank[lost]) <= PRESENT
    singular[good] = values
    all_rows = np.zeros((len(values), k), dtype=bool)
    all_rows[:, kept] = free
    determined[good] = all_rows
    ranks = np.zeros(n, dtype=int)
    ranks[good] = rank
    return Strength(singular, ranks, determined)
