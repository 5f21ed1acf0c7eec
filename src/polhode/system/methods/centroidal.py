"""Methods of System: the whole machine: energies, momenta, mass centre."""

from typing import Any

from polhode.dynamics.energy import Energy, Momentum
from polhode.scalar import Array
from polhode.system.catalogue import centroidal
from polhode.system.methods.base import QuantityMethods


class CentroidalMethods(QuantityMethods):
    """The methods of the whole machine: energies, momenta, mass centre."""

    def energy(self, q: Array, v: Array, **options: Any) -> Energy:
        """Kinetic and potential energy (zero at the world origin)."""
        return self._call(centroidal.energy, options, q, v)

    def momentum(self, q: Array, v: Array, **options: Any) -> Momentum:
        """Linear momentum and angular momentum about the world origin, world axes."""
        return self._call(centroidal.momentum, options, q, v)

    def center_of_mass(self, q: Array, **options: Any) -> Any:
        """Mass centre of the whole machine (..., 3), world axes."""
        return self._call(centroidal.center_of_mass, options, q)
