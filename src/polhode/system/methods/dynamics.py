"""Methods of System: dynamics."""

from typing import Any

from polhode.scalar import Array
from polhode.system.catalogue import dynamics
from polhode.system.methods.base import QuantityMethods
from polhode.system.records import ForwardDerivatives, InverseDerivatives


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
