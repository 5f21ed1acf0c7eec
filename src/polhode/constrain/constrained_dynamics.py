"""Machines under constraints: the fundamental equation of constrained motion as the engine, or another one.

    minimise (v̇ − a₀)ᵀ M (v̇ − a₀)  subject to  A v̇ = b                     Udwadia (12), (45)

Conditions of any rank: dependent rows are found, relative to the natural size of each row, and left out.
The same minimum, on positions and on velocities, brings a state back to where the conditions hold.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import islice
from typing import Any, NamedTuple

from polhode.constrain.absolute_coordinates import AbsoluteCoordinates
from polhode.constrain.constraint_policy import DEFAULT, MOST, ConstraintPolicy
from polhode.constrain.multiplier_forces import forces_of_multipliers
from polhode.constrain.row_scales import Scales
from polhode.constrain.shared_matrices import Matrices, SharedMatrices
from polhode.dynamics import constraints, forces, inertia, inverse, kinematics, normal_forces
from polhode.dynamics.arguments import Arguments
from polhode.dynamics.coupled_inertia import is_coupled
from polhode.dynamics.reactions import Reaction, on_bodies
from polhode.dynamics.state_inertia import at_state, is_fixed
from polhode.dynamics.sweeps import Sweep
from polhode.dynamics.with_forces import needed
from polhode.integrate.method import StepConstraints
from polhode.linalg.augmented import by_multipliers
from polhode.linalg.constrained import (
    UNROLLED,
    ConstrainedProblem,
    ConstrainedSolution,
    FactorSweeps,
    admissible,
    admissible_by_sweeps,
    constrained_by_sweeps,
    constrained_each,
    pivots,
    pivots_by_sweeps,
    weighted_metric,
)
from polhode.linalg.null_space import by_null_space
from polhode.model import Constraint, Tree
from polhode.model.constraints.base import ConstraintCondition
from polhode.model.state import HELD
from polhode.scalar import (
    RecordedFunction,
    Scalar,
    SharedFunction,
    Vec,
    flat,
    identity,
    is_zero,
    iterate,
    jacobian,
    maximum,
    minimum,
    where,
)
from polhode.spatial import ORIGIN

TOLERANCE_PER_VIOLATION = 10.0
"""The rank tolerance per violation, at most MOST: where positions are off by ε, rows that would be dependent differ by
about ε, times lever ratios of the machine that a factor of 10 covers."""

CORRECTIONS = 2
"""Newton steps of the projection of positions: each squares the violation, and one step of a run leaves it small."""

MORE_CORRECTIONS = 30
"""Further ones, at most, of a state that may be anywhere (`System.project`), up to SETTLED. From farther away Newton's
method does not arrive; `consistent_start` goes in bounded steps."""

SETTLED = 1e-13
"""The violation, in natural units of the rows, up to which positions are corrected: some hundred roundings."""

CONTRADICTION = 1e-6
"""The residual of dependent rows in velocities, relative to the speed of the machine, beyond which they contradict each
other: that of `check.diagnosis.CONSISTENT` at the start."""

SHARED = 30
"""Numbers in A from which on accelerations and projections of a model are routines that all its kernels share: that of
`bicycle` has 54. Smaller ones, as of a four-bar, are written out: a call of them takes as long as they do."""

NO_MOTION = 1e200
"""The velocity where no motion meets the conditions: beyond all bounds, so that a run ends there."""

MATRIX, SWEPT, SWEEP = 12, 120, 60
"""About the operations of an entry of the mass matrix; of an articulated body; of a body in a sweep over them. Counts
of traced steps, rounded: they only decide which of two algorithms with one result is cheaper."""


class Reactions(NamedTuple):
    """Reactions: multipliers λ (..., k) by row, their force Aᵀλ (..., nv), rank, dependent rows (..., k)."""

    multipliers: Any
    generalized: Any
    rank: Any
    dependent: Any


class Residuals(NamedTuple):
    """Constraint violation: φ (..., k) of positions, r (..., k) of all rates."""

    positions: Any
    rates: Any


class ConditionRows(NamedTuple):
    """Conditions on accelerations: A v̇ = b, A (..., k, nv), b (..., k)."""

    A: Any
    b: Any


class Projected(NamedTuple):
    """A state brought back to where the constraints hold."""

    q: Any
    v: Any


class Impact(NamedTuple):
    """The velocities (..., nv) after an impact, the impulses (..., k) of the rows, N s or N m s, and their rank."""

    v: Any
    impulses: Any
    rank: Any


class Projection(NamedTuple):
    """A state brought back; the square of what dependent rows miss, and that up to which they agree; what rows have
    left there, in the order of elimination."""

    q: Vec
    v: Vec
    missed: Scalar
    allowed: Scalar
    pivots: Vec


class Correction(NamedTuple):
    """The least change that brings a state back, the residual of dependent rows, the tolerance of their rank, and what
    rows had left in its elimination."""

    change: Vec
    residual: Vec
    tolerance: Scalar
    pivots: Vec


class RecordedRows(NamedTuple):
    """The rows of all conditions on a tree whose numbers are no symbols, as functions that are traced once.

    rows       of t (1,), q, v: `ConstraintRows`
    residuals  of t (1,), q, v: φ and r
    routines   what kernels of the model share, by name and by what it depends on besides
    """

    tree: Tree
    rows: RecordedFunction
    residuals: RecordedFunction
    routines: dict[tuple, SharedFunction]

    @classmethod
    def of(cls, tree: Tree, found: list[ConstraintCondition]) -> "RecordedRows":
        """Those of some conditions."""
        return cls(
            tree,
            RecordedFunction(lambda t, q, v: constraints.rows(tree, found, t[0], q, v)),
            RecordedFunction(
                lambda t, q, v: (
                    constraints.positions(tree, found, t[0], q),
                    constraints.speeds(tree, found, t[0], q, v),
                )
            ),
            {},
        )


@dataclass(frozen=True)
class ConstrainedDynamics:
    """The dynamics of a model under its constraints: conditions, and how accelerations that meet them are found."""

    conditions: tuple[ConstraintCondition, ...]
    scales: Scales
    policy: ConstraintPolicy
    absolute: AbsoluteCoordinates
    recorded: RecordedRows | None = None
    """The conditions on the model's own tree, traced once; None where functions of users are among them."""
    between: tuple[Constraint, ...] = ()
    """The constraints between two bodies."""

    def with_scales(self, numbers: Vec) -> "ConstrainedDynamics":
        """The same with other scalars for the natural sizes of its rows, and for their units after them."""
        count = len(self.scales.sizes)
        scales = Scales(tuple(numbers[:count]), tuple(numbers[count:]), self.scales.singular_mass)
        return replace(self, scales=scales, recorded=None)

    @property
    def sizes(self) -> tuple[float, ...]:
        """The natural size of every row."""
        return self.scales.sizes

    @cached_property
    def names(self) -> list[str]:
        """The rows by name, as in "loop.x"."""
        return [f"{c.name}.{row}" for c in constraints.in_row_order(self.conditions) for row in c.rows]

    @cached_property
    def holonomic(self) -> int:
        """How many rows are of positions."""
        return sum(len(c.rows) for c in self.conditions if c.holonomic)

    def rows(self, x: Arguments) -> constraints.ConstraintRows:
        """φ, r, A and b of the arguments of a call."""
        known = self.recorded
        if known and x.tree is known.tree:
            found = known.rows(Vec([x.t]), x.q, x.v)
        else:
            found = constraints.rows(x.tree, list(self.conditions), x.t, x.q, x.v)
        return found._replace(b=found.b - self._pull(found)) if self.policy.baumgarte else found

    def _pull(self, rows: constraints.ConstraintRows) -> Vec:
        """Baumgarte's term of each row, subtracted from b."""
        if self.policy.baumgarte is None:
            return Vec([0.0] * len(rows.b))
        alpha, beta = self.policy.baumgarte
        pull = [2 * alpha * r + beta**2 * phi for r, phi in zip(rows.r, rows.phi, strict=False)]
        return Vec([*pull, *(alpha * r for r in rows.r[self.holonomic :])])

    def accelerate(self, x: Arguments) -> tuple[ConstrainedSolution, constraints.ConstraintRows]:
        """v̇ of the arguments of a call, with multipliers and rank, and the rows."""
        rows = self.rows(x)
        if self.policy.engine == "absolute":
            pull, tolerance = self._pull(rows), self.tolerance(rows.phi)
            return self.absolute.accelerate(x, constraints.in_row_order(self.conditions), pull, tolerance), rows
        return self._solved(self.with_normals(x, rows), rows), rows

    def _solved(self, x: Arguments, rows: constraints.ConstraintRows) -> ConstrainedSolution:
        """v̇ and multipliers, where normal forces are known."""
        force = x.tau - needed(x, Vec([0.0] * x.tree.nv))
        M, A, phi = self._matrices(x.tree, x.t, x.q, rows)
        M = M if is_zero(x.ahead) else None  # damping changes it
        return self.constrained(at_state(x).tree, x.q, [(force, rows.b)], A, self.tolerance(phi), M)[0]

    def _matrices(self, tree: Tree, t: Scalar, q: Vec, rows: constraints.ConstraintRows) -> tuple[Vec | None, Vec, Vec]:
        """M, if it is known, A and φ; compact: of one routine, where equations are solved by one."""
        of_positions = rows.phi
        if not self._has_shared_matrices(tree, len(rows.A)):
            return None, rows.A, of_positions
        known = self._own_matrices.get("last")
        if known is None or known.tree is not tree:

            def matrices(t: Scalar, q: Vec) -> Matrices:
                found = self.rows(Arguments(tree, q, Vec([0.0 * q[0]] * tree.nv), t=t))
                return inertia.mass_matrix(tree, q), found.A, found.phi

            known = self._own_matrices["last"] = SharedMatrices(tree, matrices)
        return known(t, q)

    def _has_shared_matrices(self, tree: Tree, k: int) -> bool:
        """Whether M, A and φ are a routine of their own."""
        is_plain = self.policy.engine == DEFAULT and is_fixed(tree) and not self.scales.singular_mass
        return self.policy.compact and is_plain and k * tree.nv > UNROLLED and not self._by_sweeps(tree, k)

    @cached_property
    def _own_matrices(self) -> dict[str, SharedMatrices]:
        """The matrices of the tree that was last asked for; its numbers may be symbols of a trace."""
        return {}

    def with_normals(self, x: Arguments, rows: constraints.ConstraintRows | None = None) -> Arguments:
        """The arguments of a call with the normal forces of joints, where elements depend on them.

        Rows that depend on others bear nothing.
        """
        if x.normals is not None or not normal_forces.loaded_joints(x.tree):
            return x
        known = rows or self.rows(x)
        state = kinematics.machine_state(x.tree, x.t, x.q, x.v)

        def motion(normals: Mapping[str, Scalar]) -> tuple[Vec, inverse.Wrenches]:
            found = self._solved(x._replace(normals=normals), known)
            wrenches = forces.acting(x.tree, x.t, x.q, x.v, x.wrench, normals).wrenches
            on_bodies(x.tree, state, self.forces_on_bodies(x, found.multipliers), wrenches)
            return found.a, wrenches

        return x._replace(normals=normal_forces.solved(x, motion))

    def forces_on_bodies(self, x: Arguments, lam: Vec) -> list[tuple[Constraint, Reaction]]:
        """The reactions of all constraints between two bodies, from the multipliers of all rows."""
        return forces_of_multipliers(self.conditions, self.between, x, lam)

    def forward(self, x: Arguments) -> Vec:
        """v̇ alone."""
        if not self.is_shared(x):
            return self.accelerate(x)[0].a
        tree = x.tree

        def acceleration(t: Vec, q: Vec, v: Vec, tau: Vec) -> Vec:
            return self.accelerate(Arguments(tree, q, v, tau=tau, t=t[0]))[0].a

        return self._routine("acceleration", acceleration)(Vec([x.t]), x.q, x.v, x.tau)

    def is_shared(self, x: Arguments) -> bool:
        """Whether v̇ is one routine of all kernels: on the model's own tree, where it is not small."""
        return not x.wrench and x.normals is None and not x.rolled and is_zero(x.ahead) and self._shares(x.tree)

    def _shares(self, tree: Tree) -> bool:
        """Whether kernels share routines on a tree."""
        return bool(self.recorded and tree is self.recorded.tree and len(self.names) * tree.nv > SHARED)

    def _routine(self, name: str, function: Callable[..., Vec], *more: Any) -> SharedFunction:
        """A function that all kernels of the model share; more: what it depends on besides its arguments."""
        assert self.recorded
        policy = self.policy
        key = name, policy.engine, policy.rank_tolerance, policy.baumgarte, policy.compact, *more
        return self.recorded.routines.setdefault(key, SharedFunction(name, function))

    def forward_slopes(self, x: Arguments) -> tuple[Vec, Vec, Vec]:
        """∂v̇/∂q (tangent), ∂v̇/∂v, ∂v̇/∂τ, at the rank that is found here.                           BEYOND §9

        With v̇ and λ held:  M δv̇ − Aᵀδλ = δτ − δ(M v̇ + bias − Aᵀλ),  A δv̇ = −δ(A v̇ − b)
        """
        tree, n = x.tree, x.tree.nv
        if normal_forces.loaded_joints(tree):
            return self._slopes_with_normals(x)
        found, rows = self.accelerate(x)

        def residual(z: Vec) -> Vec:
            moved = x._replace(q=x.q + kinematics.rate(tree, x.q, Vec(z[:n])), v=Vec(z[n:]))
            there = self.rows(moved)
            left = needed(moved, found.a) - found.multipliers @ there.A
            return Vec((*left, *(there.A @ found.a - there.b)))

        _, slopes = jacobian(residual, Vec((*[0.0 * x.q[0]] * n, *x.v)))
        columns = slopes.T
        sides = [(-Vec(column[:n]), -Vec(column[n:])) for column in columns]
        sides += [(unit, Vec([0.0] * len(rows.b))) for unit in identity(n)]
        turned = [side.a for side in self.constrained(at_state(x).tree, x.q, sides, rows.A, self.tolerance(rows.phi))]
        return Vec(turned[:n]).T, Vec(turned[n : 2 * n]).T, Vec(turned[2 * n :]).T

    def _slopes_with_normals(self, x: Arguments) -> tuple[Vec, Vec, Vec]:
        """The same where normal forces depend on v̇ and λ: the derivatives of the whole solution."""
        tree, n = x.tree, x.tree.nv

        def moved(z: Vec) -> Vec:
            q = x.q + kinematics.rate(tree, x.q, Vec(z[:n]))
            return self.forward(x._replace(q=q, v=Vec(z[n : 2 * n]), tau=Vec(z[2 * n :])))

        _, slopes = jacobian(moved, Vec((*[0.0 * x.q[0]] * n, *x.v, *x.tau)))
        columns = slopes.T
        return Vec(columns[:n]).T, Vec(columns[n : 2 * n]).T, Vec(columns[2 * n :]).T

    def reactions(self, x: Arguments) -> Reactions:
        """Multipliers and the force they make."""
        found, rows = self.accelerate(x)
        return Reactions(found.multipliers, found.multipliers @ rows.A, found.rank, found.dependent)

    def impact(self, x: Arguments, restitution: Scalar) -> Impact:
        """The velocities after an impact on the constraints: their rates r become −e r.

        v⁺ = v − (1 + e) M⁻¹Aᵀ(A M⁻¹Aᵀ)⁺r
        """
        rows, tree = self.rows(x), at_state(x).tree
        side = Vec([0.0] * tree.nv), -(1 + restitution) * rows.r
        found = self.by_fundamental_equation(tree, x.q, [side], rows.A, self.tolerance(rows.phi))[0]
        return Impact(x.v + found.a, found.multipliers, found.rank)

    def impact_slopes(self, x: Arguments, restitution: Scalar) -> tuple[Vec, Vec, Vec, Vec]:
        """∂v⁺/∂q (tangent), ∂v⁺/∂v, ∂Λ/∂q, ∂Λ/∂v of an impact, at the rank that is found here.

        With w = v⁺ − v and Λ held:  M δw − AᵀδΛ = −δ(M w − AᵀΛ),  A δw = −δ(A w + (1 + e) r)
        """
        tree, n = x.tree, x.tree.nv
        found = self.impact(x, restitution)
        w, still, rows = found.v - x.v, Vec([0.0] * n), self.rows(x)

        def residual(z: Vec) -> Vec:
            moved = x._replace(q=x.q + kinematics.rate(tree, x.q, Vec(z[:n])), v=Vec(z[n:]))
            there = self.rows(moved)
            left = needed(moved, w) - needed(moved, still) - found.impulses @ there.A
            return Vec((*left, *(there.A @ w + (1 + restitution) * there.r)))

        _, slopes = jacobian(residual, Vec((*[0.0 * x.q[0]] * n, *x.v)))
        sides = [(-Vec(column[:n]), -Vec(column[n:])) for column in slopes.T]
        solved = self.by_fundamental_equation(at_state(x).tree, x.q, sides, rows.A, self.tolerance(rows.phi))
        of_q, of_v = solved[:n], solved[n:]
        dv = [unit + side.a for unit, side in zip(identity(n), of_v, strict=True)]
        by_q, by_v = (Vec([side.multipliers for side in part]).T for part in (of_q, of_v))
        return Vec([side.a for side in of_q]).T, Vec(dv).T, by_q, by_v

    def rows_at_rest(self, x: Arguments) -> Vec:
        """A (k, nv) of the constraints A v̇ = b: it depends on t and q alone."""
        return self.rows(x._replace(v=Vec([0.0 * x.q[0]] * x.tree.nv))).A

    def step_constraints(self, tree: Tree, given: Callable[[Scalar, Vec, Vec], Vec]) -> StepConstraints:
        """What methods that solve for multipliers see of the constraints; given: τ of (t, q, v)."""
        still = Vec([0.0] * tree.nv)

        def residuals(t: Scalar, q: Vec, v: Vec) -> tuple[Vec, Vec]:
            return self.residuals(tree, t, q, v)

        def rows(t: Scalar, q: Vec) -> Vec:
            return self.rows(Arguments(tree, q, Vec([0.0 * q[0]] * tree.nv), t=t)).A

        def force(t: Scalar, q: Vec, lam: Vec) -> Vec:
            return lam @ rows(t, q)

        def required_force(t: Scalar, q: Vec, v: Vec, vd: Vec) -> Vec:
            return needed(Arguments(tree, q, v, t=t), vd) - given(t, q, v)

        def dependent(t: Scalar, q: Vec, v: Vec) -> Vec:
            return self.accelerate(Arguments(tree, q, v, tau=still, t=t))[0].dependent

        def velocity(t: Scalar, q: Vec, v: Vec) -> Vec:
            found = self.rows(Arguments(tree, q, v, t=t))
            side = still, -found.r
            return v + self.by_fundamental_equation(tree, q, [side], found.A, self.tolerance(found.phi))[0].a

        return StepConstraints(self.holonomic, residuals, required_force, rows, force, dependent, velocity)

    def residuals(self, tree: Tree, t: Scalar, q: Vec, v: Vec) -> tuple[Vec, Vec]:
        """φ of the positions and r of all rates."""
        if self.recorded and tree is self.recorded.tree:
            return self.recorded.residuals(Vec([t]), q, v)
        found = list(self.conditions)
        return constraints.positions(tree, found, t, q), constraints.speeds(tree, found, t, q, v)

    def landing(self, tree: Tree, t: Scalar, q: Vec, v: Vec) -> tuple[Vec, Vec, Vec]:
        """The end of a step brought back, q and v, and what rows have left there (k); where dependent rows contradict
        each other, velocities become NO_MOTION."""
        found = self._projection(tree, t, q, v, CORRECTIONS)
        new = where(found.missed > found.allowed, Vec([NO_MOTION] * tree.nv), found.v)
        return found.q, new, found.pivots

    def projected(
        self, tree: Tree, t: Scalar, q: Vec, v: Vec, corrections: int = CORRECTIONS, more: int = 0
    ) -> tuple[Vec, Vec]:
        """The state brought back, by the least change in the metric of the mass matrix.           BEYOND §7

        δ = −M⁻¹Aᵀ(A M⁻¹Aᵀ)⁺φ,  q ← q ⊕ δ;   v ← v − M⁻¹Aᵀ(A M⁻¹Aᵀ)⁺r

        more  further corrections, at most, while positions are off by more than SETTLED
        """
        found = (
            self._projected(tree, t, q, v, corrections, more) if more else self._projection(tree, t, q, v, corrections)
        )
        return found.q, found.v

    def _projection(self, tree: Tree, t: Scalar, q: Vec, v: Vec, corrections: int) -> Projection:
        """The state brought back, by a routine that kernels share where they share any."""
        if not self._shares(tree):
            return self._projected(tree, t, q, v, corrections)

        def projection(t: Vec, q: Vec, v: Vec) -> Vec:
            return Vec(flat(self._projected(tree, t[0], q, v, corrections)))

        found = iter(self._routine("projection", projection, corrections)(Vec([t]), q, v))
        new_q, new = (Vec(islice(found, len(x))) for x in (q, v))
        return Projection(new_q, new, next(found), next(found), Vec(found))

    def _projected(self, tree: Tree, t: Scalar, q: Vec, v: Vec, corrections: int, more: int = 0) -> Projection:
        """The state brought back, written out."""
        holonomic, nothing = self.holonomic, Vec([0.0] * tree.nv)
        is_large = holonomic * tree.nv > UNROLLED
        shared = self._correction(tree, t, q, v) if is_large and holonomic == len(self.names) else None

        def is_off(q: Vec) -> Any:
            return self._violation(self.residuals(tree, t, q, v)[0]) > SETTLED

        def settled(q: Vec) -> tuple[Vec, Any]:
            q, _ = corrected(q)
            return q, where(is_off(q), 1.0, 0.0)

        def corrected(q: Vec) -> tuple[Vec, Any]:
            if shared:
                return kinematics.integrate(tree, q, shared(q, self.residuals(tree, t, q, v)[0]).change), True
            rows = self.rows(Arguments(tree, q, Vec([0.0 * q[0]] * tree.nv), t=t))
            sides, A = [(nothing, -rows.phi)], Vec(rows.A[:holonomic])
            change = self.by_fundamental_equation(tree, q, sides, A, self.tolerance(rows.phi))[0].a
            return kinematics.integrate(tree, q, change), True

        if not is_large:  # written out, so that there is a way back for adjoints
            for _ in range(corrections if holonomic else 0):
                q, _ = corrected(q)
        else:
            q = iterate(corrected, q, corrections)
        if more and holonomic:
            q = iterate(settled, q, where(is_off(q), more, 0))
        if shared:
            change, residual, tolerance, left = shared(q, self.residuals(tree, t, q, v)[1])
        else:
            rows = self.rows(Arguments(tree, q, v, t=t))
            tolerance = self.tolerance(rows.phi)
            found = self.by_fundamental_equation(tree, q, [(nothing, -rows.r)], rows.A, tolerance)[0]
            change, residual, left = found.a, found.residual, found.pivots
        new = v + change
        slow = reduce(maximum, [unit / size for unit, size in zip(self.scales.units, self.scales.sizes, strict=True)])
        part, twice = (
            CONTRADICTION + TOLERANCE_PER_VIOLATION * tolerance,
            new @ inverse.inverse_dynamics(tree, q, nothing, new, ORIGIN),
        )
        pivots = Vec([*left, *[0.0] * (len(self.names) - len(left))])
        return Projection(q, new, residual @ residual, part * part * (twice + (1e-3 * slow) ** 2), pivots)

    def _correction(self, tree: Tree, t: Scalar, q: Vec, v: Vec) -> Callable[[Vec, Vec], Correction]:
        """−M⁻¹Aᵀ(A M⁻¹Aᵀ)⁺ of (q, violation): one routine for positions and velocities, of the same rows."""
        now = self.rows(Arguments(tree, q, v, t=t))
        kept = _rows_in_play(now.A, now.phi, now.r)

        def correction(t: Vec, q: Vec, violation: Vec) -> Vec:
            rows = self.rows(Arguments(tree, q, Vec([0.0 * q[0]] * tree.nv), t=t[0]))
            whole: list[Scalar] = [0.0] * len(now.r)
            for i, value in zip(kept, violation, strict=True):
                whole[i] = -value
            M, A, phi = self._matrices(tree, t[0], q, rows)
            tolerance, nothing = self.tolerance(phi), Vec([0.0] * tree.nv)
            found = self.by_fundamental_equation(tree, q, [(nothing, Vec(whole))], A, tolerance, M)[0]
            return Vec((*found.a, tolerance, *(found.residual[i] for i in kept), *found.pivots[: len(kept)]))

        n, own = tree.nv, self.recorded and tree is self.recorded.tree
        routine = self._routine("correction", correction, *kept) if own else SharedFunction("correction", correction)

        def asked(q: Vec, violation: Vec) -> Correction:
            found = routine(Vec([t]), q, Vec([violation[i] for i in kept]))
            change, tolerance, rows = Vec(found[:n]), found[n], found[n + 1 :]
            return Correction(change, Vec(rows[: len(kept)]), tolerance, Vec(rows[len(kept) :]))

        return asked

    def tangent(self, tree: Tree, t: Scalar, q: Vec, v: Vec, changes: list[Vec]) -> list[Vec]:
        """The parts of small changes of (q, v) that a projection leaves: those along the conditions.

        changes  nq + nv numbers each
        """
        nq = tree.nq
        rows = self.rows(Arguments(tree, q, v, t=t))
        steps = [kinematics.tangent(tree, q, Vec(change[:nq])) for change in changes]
        speeds = [Vec(change[nq:]) for change in changes]
        kept, (M, A, phi) = _rows_in_play(rows.A, rows.b), self._matrices(tree, t, q, rows)
        of_positions, tolerance = [i for i in kept if i < self.holonomic], self.tolerance(phi)
        if len(of_positions) == len(kept):
            found = self._admissible(tree, q, kept, A, [*steps, *speeds], tolerance, M)
        else:
            found = self._admissible(tree, q, of_positions, A, steps, tolerance, M)
            found += self._admissible(tree, q, kept, A, speeds, tolerance, M)
        pairs = zip(found[: len(changes)], found[len(changes) :], strict=True)
        return [Vec((*kinematics.rate(tree, q, step), *speed)) for step, speed in pairs]

    def _admissible(
        self, tree: Tree, q: Vec, kept: list[int], rows: Vec, vectors: list[Vec], tolerance: Scalar, M: Vec | None
    ) -> list[Vec]:
        if not kept:
            return vectors
        A, sizes = Vec([rows[i] for i in kept]), [self.scales.sizes[i] for i in kept]
        if self._by_sweeps(tree, len(kept)):
            return admissible_by_sweeps(_sweeps(tree, q), A, vectors, sizes, tolerance)
        return admissible(self._problem(tree, q, kept, A, tolerance, M), vectors)

    def pivots(self, x: Arguments) -> Vec:
        """(k)  What each row has left after elimination, in its order and relative to natural sizes; 0: dependent."""
        rows = self.rows(x._replace(v=Vec([0.0 * x.q[0]] * x.tree.nv)))
        kept, tolerance = _rows_in_play(rows.A), self.tolerance(rows.phi)
        A, sizes = Vec([rows.A[i] for i in kept]), [self.scales.sizes[i] for i in kept]
        if not kept:
            found = Vec([])
        elif self._by_sweeps(x.tree, len(kept)):
            found = pivots_by_sweeps(_sweeps(x.tree, x.q), A, sizes, tolerance)
        else:
            found = pivots(self._problem(x.tree, x.q, kept, A, tolerance))
        return Vec([*found, *[0.0] * (len(rows.A) - len(kept))])

    def tolerance(self, phi: Vec) -> Scalar:
        """Rank tolerance of rows at positions that violate the conditions by phi.                    BEYOND §5"""
        off = self._violation(phi, TOLERANCE_PER_VIOLATION)
        return maximum(minimum(off, MOST), self.policy.rank_tolerance) if phi else self.policy.rank_tolerance

    def _violation(self, phi: Vec, factor: float = 1.0) -> Scalar:
        """The largest violation of positions, in natural units of the rows, times a factor."""
        off: Scalar = 0.0
        for value, unit in zip(phi, self.scales.units, strict=False):
            off = maximum(off, abs(value) * (factor / unit))
        return off

    def constrained(
        self, tree: Tree, q: Vec, sides: list[tuple[Vec, Vec]], rows: Vec, tolerance: Scalar, M: Vec | None = None
    ) -> list[ConstrainedSolution]:
        """a, λ with M a = f + Aᵀλ, A a = b of some forces f and values b, by the engine that was chosen.

        M  the mass matrix, where it is known
        """
        if self.policy.engine in (DEFAULT, "absolute"):
            return self.by_fundamental_equation(tree, q, sides, rows, tolerance, M)
        kept = _rows_in_play(rows, *(b for _, b in sides))
        A, sizes = Vec([rows[i] for i in kept]), [self.scales.sizes[i] for i in kept]
        fewer = [(f, Vec([b[i] for i in kept])) for f, b in sides]
        solved = by_multipliers if self.policy.engine == "multipliers" else by_null_space
        M, s = M or inertia.mass_matrix(tree, q), None
        if not is_fixed(tree):  # in units in which an axis that is held has a common inertia: a = s ã
            s = Vec([where(row[i] > HELD / 2, HELD**-0.5, 1.0) for i, row in enumerate(M)])
            M, A = Vec([_each(row, s) * s_i for row, s_i in zip(M, s, strict=True)]), Vec([_each(row, s) for row in A])
            fewer = [(_each(f, s), b) for f, b in fewer]
        found = solved(ConstrainedProblem(M, A, sizes, tolerance), fewer)
        found = [x._replace(a=_each(x.a, s)) for x in found] if s else found
        return [self._spread(x, kept, len(rows)) for x in found]

    def by_fundamental_equation(
        self, tree: Tree, q: Vec, sides: list[tuple[Vec, Vec]], rows: Vec, tolerance: Scalar, M: Vec | None = None
    ) -> list[ConstrainedSolution]:
        """The constrained vectors of some forces f and values b of the first rows; rows of zeros take no part."""
        kept = _rows_in_play(rows, *(b for _, b in sides))
        A, sizes = Vec([rows[i] for i in kept]), [self.scales.sizes[i] for i in kept]
        fewer = [(f, Vec([b[i] for i in kept])) for f, b in sides]
        if self._by_sweeps(tree, len(kept)):
            K = _sweeps(tree, q)
            found = [constrained_by_sweeps(K, f, A, b, sizes, tolerance) for f, b in fewer]
        else:
            found = constrained_each(self._problem(tree, q, kept, A, tolerance, M), fewer)
        if self.scales.singular_mass:
            found = [_with_multipliers_of_mass(x, b, sizes) for x, (_, b) in zip(found, fewer, strict=True)]
        return [self._spread(x, kept, len(rows)) for x in found]

    def _problem(
        self, tree: Tree, q: Vec, kept: list[int], A: Vec, tolerance: Scalar, M: Vec | None = None
    ) -> ConstrainedProblem:
        """The problem of some rows; compact: the solutions of all problems of the same rows are one routine."""
        sizes = [self.scales.sizes[i] for i in kept]
        metric = M or self._metric(tree, q, A, sizes)
        if not self.policy.compact:
            return ConstrainedProblem(metric, A, sizes, tolerance)
        routines = self.recorded.routines if self.recorded and tree is self.recorded.tree else self._own_routines

        def routine(function: Callable[..., Vec], zeros: tuple[int, ...]) -> SharedFunction:
            return routines.setdefault(("constrained", *kept, *zeros), SharedFunction("constrained", function))

        return ConstrainedProblem(metric, A, sizes, tolerance, routine)

    @cached_property
    def _own_routines(self) -> dict[tuple, SharedFunction]:
        """Those of trees other than the model's own, whose numbers may be symbols of a trace."""
        return {}

    def _metric(self, tree: Tree, q: Vec, A: Vec, sizes: list[float]) -> Vec:
        """M, or M + AᵀWA where M alone is singular."""
        M = inertia.mass_matrix(tree, q)
        return weighted_metric(M, A, [1 / (s * s) for s in sizes]) if self.scales.singular_mass and A else M

    def _by_sweeps(self, tree: Tree, k: int) -> bool:
        """Whether sweeps over the tree take fewer operations than its mass matrix: on long branches with few loops."""
        if is_coupled(tree):
            return False
        depths = [len(path) for path in inertia.carriers(tree)]
        matrix = sum(MATRIX * d + d * d for d in depths) + 2 * k * sum(depths)
        return not (self.scales.singular_mass or tree.shares) and k > 0 and matrix > tree.nv * (SWEPT + SWEEP * (k + 2))

    def _spread(self, found: ConstrainedSolution, kept: list[int], k: int) -> ConstrainedSolution:
        """The solution of some rows as that of all: the others are dependent, with residual 0."""
        place = {i: p for p, i in enumerate(kept)}

        def spread(values: Vec, other: float) -> Vec:
            return Vec([values[place[i]] if i in place else other for i in range(k)])

        lam, dependent, residual = found.multipliers, found.dependent, found.residual
        return found._replace(
            multipliers=spread(lam, 0.0), dependent=spread(dependent, 1.0), residual=spread(residual, 0.0),
            pivots=Vec([*found.pivots, *[0.0] * (k - len(kept))]),
        )  # fmt: skip


def _each(x: Vec, factors: Vec) -> Vec:
    return Vec([a * s for a, s in zip(x, factors, strict=True)])


def _rows_in_play(A: Vec, *sides: Vec) -> list[int]:
    """The rows that are not zero for every state, or that some b is not zero for."""
    return [i for i, row in enumerate(A) if not (all(map(is_zero, row)) and all(is_zero(b[i]) for b in sides))]


def _sweeps(tree: Tree, q: Vec) -> FactorSweeps:
    sweep = Sweep(tree, q)
    return FactorSweeps(sweep.over, sweep.under, sweep.times)


def _with_multipliers_of_mass(found: ConstrainedSolution, b: Vec, sizes: list[float]) -> ConstrainedSolution:
    """The solution with the multipliers of M in the place of those of M + AᵀWA: (M + AᵀWA) a = f + Aᵀλ + AᵀWb."""
    lam = [x - value / (size * size) for x, value, size in zip(found.multipliers, b, sizes, strict=True)]
    return found._replace(multipliers=Vec(lam))
