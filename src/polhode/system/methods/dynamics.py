"""Methods of System: dynamics."""

from typing import Any

from polhode.scalar import Array
from polhode.system.catalogue import dynamics
from polhode.system.methods.base import ALIGNED, ORIGIN, QuantityMethods
from polhode.system.records import (
    ForwardDerivatives,
    ForwardSecondDerivatives,
    InverseDerivatives,
    InverseSecondDerivatives,
)


class DynamicsMethods(QuantityMethods):
    """The methods of dynamics."""

    def mass_matrix(self, q: Array, **options: Any) -> Any:
        """Metric tensor M (..., nv, nv).                                        Zoric (97)–(98)"""
        return self._call(dynamics.mass_matrix, options, q)

    def christoffel(self, q: Array, **options: Any) -> Any:
        """Christoffel symbols Γ (..., nv, nv, nv), [a, b, g].                    Zoric (110), (129)"""
        return self._call(dynamics.christoffel, options, q)

    def coriolis(self, q: Array, v: Array, **options: Any) -> Any:
        """C (..., nv, nv), C[g, b] = Σ_a Γ[a, b, g] v[a]; Ṁ − 2C is skew."""
        return self._call(dynamics.coriolis, options, q, v)

    def bias(self, q: Array, v: Array, **options: Any) -> Any:
        """Coriolis + gravity − all other forces (..., nv): M v̇ + bias = τ. Takes t, wrench."""
        return self._call(dynamics.bias, options, q, v)

    def gravity(self, q: Array, **options: Any) -> Any:
        """Generalised gravity (..., nv), the gradient of the potential energy."""
        return self._call(dynamics.gravity, options, q)

    def inverse_dynamics(self, q: Array, v: Array, vd: Array, **options: Any) -> Any:
        """M v̇ + bias (..., nv). Takes t, wrench."""
        return self._call(dynamics.inverse_dynamics, options, q, v, vd)

    def forward_dynamics(self, q: Array, v: Array, tau: Array, **options: Any) -> Any:
        """v̇ (..., nv), constraints included. Takes t, wrench."""
        return self._call(dynamics.forward_dynamics, options, q, v, tau)

    def forward_dynamics_derivatives(self, q: Array, v: Array, tau: Array, **options: Any) -> ForwardDerivatives:
        """∂v̇/∂q (tangent), ∂v̇/∂v, ∂v̇/∂τ. Takes t, wrench."""
        return self._call(dynamics.forward_dynamics_derivatives, options, q, v, tau)

    def inverse_dynamics_derivatives(self, q: Array, v: Array, vd: Array, **options: Any) -> InverseDerivatives:
        """∂τ/∂q (tangent), ∂τ/∂v, ∂τ/∂v̇. Takes t, wrench."""
        return self._call(dynamics.inverse_dynamics_derivatives, options, q, v, vd)

    def inverse_dynamics_second_derivatives(
        self, q: Array, v: Array, vd: Array, **options: Any
    ) -> InverseSecondDerivatives:
        """∂²τ/∂q∂q, ∂²τ/∂v∂q, ∂²τ/∂v∂v, ∂M/∂q, each (..., nv, nv, nv). Takes t, wrench."""
        return self._call(dynamics.inverse_dynamics_second_derivatives, options, q, v, vd)

    def forward_dynamics_second_derivatives(
        self, q: Array, v: Array, tau: Array, **options: Any
    ) -> ForwardSecondDerivatives:
        """∂²v̇/∂q∂q, ∂²v̇/∂v∂q, ∂²v̇/∂v∂v, ∂²v̇/∂τ∂q, each (..., nv, nv, nv), constraints included. Takes t, wrench."""
        return self._call(dynamics.forward_dynamics_second_derivatives, options, q, v, tau)

    def inverse_mass_matrix(self, q: Array, **options: Any) -> Any:
        """M⁻¹ (..., nv, nv), symmetric to the last bit."""
        return self._call(dynamics.inverse_mass_matrix, options, q)

    def solve_mass_matrix(self, q: Array, tau: Array, **options: Any) -> Any:
        """x (..., nv) of M x = τ; M is not formed."""
        return self._call(dynamics.solve_mass_matrix, options, q, tau)

    def mobility(self, q: Array, body: str, point: Array = ORIGIN, axes: str = ALIGNED, **options: Any) -> Any:
        """J M⁻¹ Jᵀ (..., 6, 6) of `jacobian`: the accelerations of a point per force and couple there, at rest."""
        return self._call(dynamics.mobility, options, q, self._point(point), of=(body, axes))

    def operational_space_inertia(
        self, q: Array, body: str, point: Array = ORIGIN, axes: str = ALIGNED, **options: Any
    ) -> Any:
        """(J M⁻¹ Jᵀ)⁻¹ (..., 6, 6): force and couple at a point per acceleration of it, at rest; NaN, or beyond all
        bounds, where fewer than six motions of the body are free: `mobility` is finite there."""
        return self._call(dynamics.operational_space_inertia, options, q, self._point(point), of=(body, axes))
