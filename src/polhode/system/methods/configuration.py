"""Methods of System: the configuration manifold."""

from typing import Any

from polhode.scalar import Array
from polhode.system.catalogue import configuration
from polhode.system.methods.base import QuantityMethods


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
