"""Methods of System: the configuration manifold."""

from typing import Any

from polhode.scalar import Array
from polhode.system.catalogue import configuration
from polhode.system.methods.base import QuantityMethods
from polhode.system.records import ConfigurationDifferenceDerivatives, ConfigurationStepDerivatives


class ConfigurationMethods(QuantityMethods):
    """The methods of the configuration manifold."""

    def rate(self, q: Array, v: Array, **options: Any) -> Any:
        """q̇ (..., nq) of a velocity v."""
        return self._call(configuration.rate, options, q, v)

    def integrate(self, q: Array, dv: Array, **options: Any) -> Any:
        """q ⊕ dv (..., nq): quaternions turn by exp(dv/2), everything else adds."""
        return self._call(configuration.integrate, options, q, dv)

    def difference(self, q0: Array, q1: Array, **options: Any) -> Any:
        """dv (..., nv) with integrate(q0, dv) = q1, the shorter way round."""
        return self._call(configuration.difference, options, q0, q1)

    def velocity_from_rate(self, q: Array, qdot: Array, **options: Any) -> Any:
        """v (..., nv) of rates q̇ (..., nq), the inverse of `rate`: a part of q̇ along a quaternion is dropped."""
        return self._call(configuration.velocity_from_rate, options, q, qdot)

    def rate_matrix(self, q: Array, **options: Any) -> Any:
        """(..., nq, nv): q̇ per v."""
        return self._call(configuration.rate_matrix, options, q)

    def integrate_derivatives(self, q: Array, dv: Array, **options: Any) -> ConfigurationStepDerivatives:
        """∂/∂q (tangent) and ∂/∂dv of `integrate`, (..., nv, nv) each, in tangent directions at its result: times a
        matrix of velocities at q (or of steps) they carry it there."""
        return self._call(configuration.integrate_derivatives, options, q, dv)

    def difference_derivatives(self, q0: Array, q1: Array, **options: Any) -> ConfigurationDifferenceDerivatives:
        """∂/∂q0 and ∂/∂q1 (tangent) of `difference`, (..., nv, nv) each."""
        return self._call(configuration.difference_derivatives, options, q0, q1)

    def interpolate(self, q0: Array, q1: Array, part: Array, **options: Any) -> Any:
        """(..., nq): q0 at part 0, q1 at part 1, the shorter way round, at constant rates of the joints."""
        return self._call(configuration.interpolate, options, q0, q1, part)

    def distance(self, q0: Array, q1: Array, **options: Any) -> Any:
        """The length (...) of `difference`: rad and m counted alike, rotations by their angle."""
        return self._call(configuration.distance, options, q0, q1)

    def squared_distance(self, q0: Array, q1: Array, **options: Any) -> Any:
        """The square (...) of `distance`, smooth where they meet."""
        return self._call(configuration.squared_distance, options, q0, q1)
