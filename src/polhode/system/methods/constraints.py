"""Methods of System: constraints."""

from typing import Any

import numpy as np

from polhode.constrain.constrained_dynamics import (
    ConditionRows,
    ConstrainedDynamics,
    Impact,
    Projected,
    Reactions,
    Residuals,
)
from polhode.constrain.reactions import ConstraintReactions, JointReactions, connecting
from polhode.errors import message, warn_caller
from polhode.scalar import Array
from polhode.system.catalogue import constraints
from polhode.system.methods.base import QuantityMethods
from polhode.system.records import ImpactDerivatives

POSITIONS_LEFT = 1e-9
"""The violation, in natural units of the rows, that a projection is told to have left: where Newton's method arrives it
leaves some 1e-13, and where it does not, more than 1e-3 of nearly all states."""

RATES_LEFT = 1e3
"""The same of rates, over that of positions, at velocities of 1: rows that contradict each other leave some."""


class ConstraintMethods(QuantityMethods):
    """The methods of constraints."""

    @property
    def conditions(self) -> ConstrainedDynamics | None:
        """The conditions of its constraints; None without constraints."""
        return self._spec.constrained

    @property
    def constraint_names(self) -> list[str]:
        """The rows of all constraints, as in "loop.x"; those of positions come first."""
        return self._spec.constrained.names if self._spec.constrained else []

    def constraint_forces(self, q: Array, v: Array, tau: Array, **options: Any) -> Reactions:
        """Multipliers λ by row, their generalised force Aᵀλ, rank, dependent rows. Takes t, wrench."""
        return self._call(constraints.constraint_forces, options, q, v, tau)

    def constraint_reactions(self, q: Array, v: Array, tau: Array, **options: Any) -> ConstraintReactions:
        """Multipliers, rank, and the force and torque on body b of each constraint between two bodies (those of
        `connection_names`), in the axes of its frame on body a. Takes t, wrench."""
        if not self.connection_names:
            found = self.constraint_forces(q, v, tau, **options)
            none = np.zeros((*np.shape(found.multipliers)[:-1], 0, 3))
            return ConstraintReactions(found.multipliers, found.rank, none, none)
        return self._call(constraints.constraint_reactions, options, q, v, tau)

    @property
    def connection_names(self) -> list[str]:
        """The constraints between two bodies, in their order."""
        return [constraint.name for constraint in connecting(self.model)]

    def joint_reactions(self, q: Array, v: Array, tau: Array, **options: Any) -> JointReactions:
        """The force and torque that each joint gives to its child, its drive included, in the axes of the joint
        frame, at the child's origin: (..., joints, 3) each. Takes t, wrench."""
        return self._call(constraints.joint_reactions, options, q, v, tau)

    def constraint_residuals(self, q: Array, v: Array, **options: Any) -> Residuals:
        """Constraint residuals: φ (..., k) of positions, r (..., k) of all rates, those of positions first. Takes t."""
        if not self._spec.sizes["positions"]:
            rates = self.constraint_rates(q, v, **options)
            return Residuals(np.zeros((*np.shape(rates)[:-1], 0)), rates)
        return self._call(constraints.constraint_residuals, options, q, v)

    def constraint_rates(self, q: Array, v: Array, **options: Any) -> Any:
        """Constraint residuals in velocities, r (..., k): rates of positions first; A v, without the matrix, where no
        constraint depends on time. Takes t."""
        return self._call(constraints.constraint_rates, options, q, v)

    def constraint_rows(self, q: Array, v: Array, **options: Any) -> ConditionRows:
        """Rows of the constraints on accelerations, A v̇ = b: A (..., k, nv), b (..., k). Takes t."""
        return self._call(constraints.constraint_rows, options, q, v)

    def generalized_constraint_force(self, q: Array, multipliers: Array, **options: Any) -> Any:
        """Generalised force Aᵀλ (..., nv) of multipliers λ by row, without the matrix. Takes t.

        multipliers  (..., k)  in the order of `constraint_names`; N for rows of lengths, N m for rows of angles
        """
        return self._call(constraints.generalized_constraint_force, options, q, multipliers)

    def constraint_pivots(self, q: Array, **options: Any) -> Any:
        """What rows of the constraints have left when others were taken from them, in the order of their elimination
        and relative to their natural sizes (..., k): 0 for dependent rows; one of them passes through 0 at a singular
        position. Takes t."""
        return self._call(constraints.constraint_pivots, options, q)

    def project(self, q: Array, v: Array, **options: Any) -> Projected:
        """The state brought to where the constraints hold, by the least change in the mass metric. Takes t.

        Newton's method, to rounding. It does not arrive from everywhere: a warning then says how many states it left,
        which constraint they violate most and by how much. `ph.consistent_start` looks farther, and refuses what it
        cannot bring there.
        """
        same = {name: options[name] for name in ("t", "parameters") if name in options}
        found = self._call(constraints.project, options, q, v)
        self._tell_left(self.constraint_residuals(found.q, found.v, **same), found.v)
        return found

    def _tell_left(self, left: Residuals, v: Any) -> None:
        """Warn of states (..., nv) that a projection did not bring to where the constraints hold."""
        assert self._spec.constrained is not None
        units = self._spec.constrained.scales.units
        rates, v = _on_host(left.rates), _on_host(v)
        speed = 1 + np.max(abs(v), axis=-1, initial=0.0, keepdims=True)
        parts = {"m or rad": (_on_host(left.positions), 1.0), "per second": (rates, RATES_LEFT * speed)}
        for unit, (values, scale) in parts.items():
            size = abs(values) / (POSITIONS_LEFT * scale * np.array(units[: values.shape[-1]]))
            count = int(np.sum(np.any(size > 1, axis=-1)))
            if not count:
                continue
            *state, row = np.unravel_index(int(np.argmax(np.nan_to_num(size))), size.shape)
            where = f"state {', '.join(map(str, state))}, " if state else ""
            worst = f"{where}constraint row '{self.constraint_names[row]}' is off by {values[(*state, row)]:.3g} {unit}"
            found = f"{count} of {int(np.prod(size.shape[:-1], dtype=int))} states left: {worst}"
            fix = "Begin nearer, or take ph.consistent_start, which goes in bounded steps."
            warn_caller(message("System.project", "constraints do not hold", found, "positions to rounding", fix))
            return

    def project_step(self, q: Array, v: Array, **options: Any) -> Projected:
        """Two corrections of positions, then one of velocities: what a run does after each of its steps. Takes t.

        Each correction squares a small violation; `project` goes on until positions hold to rounding.
        """
        return self._call(constraints.project_step, options, q, v)

    def impact(self, q: Array, v: Array, restitution: Array = 0.0, **options: Any) -> Impact:
        """Velocities after an impact on the constraints, whose rates r become −e r, and the impulses of their rows.

        restitution  (...)  e: 0 for a plastic impact, 1 for one that keeps the energy. Takes t.
        """
        return self._call(constraints.impact, options, q, v, restitution)

    def impact_derivatives(self, q: Array, v: Array, restitution: Array = 0.0, **options: Any) -> ImpactDerivatives:
        """∂/∂q (tangent) and ∂/∂v of the velocities after an `impact`, (..., nv, nv) each, and of its impulses,
        (..., k, nv) each, at the rank of the rows. Takes t."""
        return self._call(constraints.impact_derivatives, options, q, v, restitution)

    def delassus_matrix(self, q: Array, **options: Any) -> Any:
        """Delassus' matrix A M⁻¹ Aᵀ (..., k, k) of the rows of the constraints. Takes t."""
        return self._call(constraints.delassus_matrix, options, q)

    def delassus_factor(self, q: Array, damping: Array = 0.0, **options: Any) -> Any:
        """K (..., k, k), lower triangular, of K Kᵀ = A M⁻¹ Aᵀ + μ; NaN where rows depend on others and nothing damps.

        damping  (...)  μ, of the units of A M⁻¹ Aᵀ. Takes t.
        """
        return self._call(constraints.delassus_factor, options, q, damping)

    def kkt_matrix(self, q: Array, damping: Array = 0.0, **options: Any) -> Any:
        """[[M, Aᵀ], [A, −μ]] (..., nv + k, nv + k): times (v̇, −λ) it gives (τ − bias, b). Takes t."""
        return self._call(constraints.kkt_matrix, options, q, damping)

    def kkt_inverse(self, q: Array, damping: Array = 0.0, **options: Any) -> Any:
        """The inverse of `kkt_matrix` (..., nv + k, nv + k), by blocks; its last k rows and columns are
        −(A M⁻¹ Aᵀ + μ)⁻¹. NaN where rows depend on others and nothing damps. Takes t."""
        return self._call(constraints.kkt_inverse, options, q, damping)


def _on_host(values: Any) -> np.ndarray:
    """Numbers of whatever backend as an array of NumPy."""
    return np.asarray(values.get() if hasattr(values, "get") else values)
