"""Methods of System: the whole machine, or what a body carries: energies, powers, momenta, mass centre."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from polhode.dynamics.centroidal import CompositeInertia
from polhode.dynamics.energy import Energy, Momentum
from polhode.dynamics.power import Powers
from polhode.errors import InputError, message
from polhode.model import Model, plain
from polhode.scalar import Array
from polhode.system.catalogue import centroidal
from polhode.system.methods.base import QuantityMethods
from polhode.system.records import CenterOfMassVelocityDerivatives, CentroidalDerivatives


class CentroidalMethods(QuantityMethods):
    """The methods of the whole machine: energies, powers, momenta, mass centre.

    body  where it is given: of the subtree that it carries, itself included, in place of the whole machine
    """

    def energy(self, q: Array, v: Array, **options: Any) -> Energy:
        """Kinetic and potential energy (zero at the world origin)."""
        return self._call(centroidal.energy, options, q, v)

    def powers(self, q: Array, v: Array, tau: Array, **options: Any) -> Powers:
        """Powers (...), W: conservative, dissipated, applied, actuated, constrained; the kinetic energy grows by their
        sum. Takes t."""
        return self._call(centroidal.powers, options, q, v, tau)

    def momentum(self, q: Array, v: Array, body: str | None = None, **options: Any) -> Momentum:
        """Linear momentum and angular momentum about the world origin, world axes."""
        return self._call(centroidal.momentum, options, q, v, of=_subtree(body))

    def momentum_about(self, q: Array, v: Array, point: Array, body: str | None = None, **options: Any) -> Momentum:
        """Linear momentum and angular momentum about a point (..., 3) at rest in the world, world axes."""
        return self._call(centroidal.momentum_about, options, q, v, point, of=_subtree(body))

    def center_of_mass(self, q: Array, body: str | None = None, **options: Any) -> Any:
        """Mass centre of the whole machine (..., 3), or of a subtree, world axes."""
        return self._call(centroidal.center_of_mass, options, q, of=_subtree(body))

    def center_of_mass_velocity(self, q: Array, v: Array, body: str | None = None, **options: Any) -> Any:
        """Velocity of the mass centre (..., 3), world axes."""
        return self._call(centroidal.center_of_mass_velocity, options, q, v, of=_subtree(body))

    def center_of_mass_acceleration(
        self, q: Array, v: Array, vd: Array, body: str | None = None, **options: Any
    ) -> Any:
        """Acceleration of the mass centre (..., 3), world axes."""
        return self._call(centroidal.center_of_mass_acceleration, options, q, v, vd, of=_subtree(body))

    def center_of_mass_jacobian(self, q: Array, body: str | None = None, **options: Any) -> Any:
        """Jacobian of the mass centre (..., 3, nv): its velocity per v, world axes."""
        return self._call(centroidal.center_of_mass_jacobian, options, q, of=_subtree(body))

    def center_of_mass_velocity_derivatives(
        self, q: Array, v: Array, body: str | None = None, **options: Any
    ) -> CenterOfMassVelocityDerivatives:
        """∂/∂q (tangent) and ∂/∂v of the velocity of the mass centre, (..., 3, nv) each."""
        return self._call(centroidal.center_of_mass_velocity_derivatives, options, q, v, of=_subtree(body))

    def composite_inertia(self, q: Array, body: str | None = None, **options: Any) -> CompositeInertia:
        """All bodies as one rigid body: mass, mass centre, and inertia about it, world axes."""
        return self._call(centroidal.composite_inertia, options, q, of=_subtree(body))

    def inertia_of_bodies(self, q: Array, bodies: Sequence[str] | Array, **options: Any) -> CompositeInertia:
        """Some bodies as one rigid body: mass, mass centre, and inertia about it, world axes.

        bodies  their names, or those of frames of them; or factors (..., bodies) of the masses of all bodies, in the
                order of the model, as 0 and 1
        """
        return self._call(centroidal.inertia_of_bodies, options, q, _factors(self.model, bodies))

    def centroidal_map(self, q: Array, body: str | None = None, **options: Any) -> Any:
        """Map A_G (..., 6, nv) from v to the linear momentum and the angular momentum about the mass centre."""
        return self._call(centroidal.centroidal_map, options, q, of=_subtree(body))

    def centroidal_map_rate(self, q: Array, v: Array, body: str | None = None, **options: Any) -> Any:
        """The time derivative of `centroidal_map` along the motion (..., 6, nv)."""
        return self._call(centroidal.centroidal_map_rate, options, q, v, of=_subtree(body))

    def centroidal_momentum(self, q: Array, v: Array, body: str | None = None, **options: Any) -> Momentum:
        """Linear momentum and angular momentum about the mass centre, world axes: `centroidal_map` times v."""
        return self._call(centroidal.centroidal_momentum, options, q, v, of=_subtree(body))

    def centroidal_momentum_rate(
        self, q: Array, v: Array, vd: Array, body: str | None = None, **options: Any
    ) -> Momentum:
        """The time derivative of `centroidal_momentum`: the force that the motion needs in all, and its moment."""
        return self._call(centroidal.centroidal_momentum_rate, options, q, v, vd, of=_subtree(body))

    def centroidal_derivatives(
        self, q: Array, v: Array, vd: Array, body: str | None = None, **options: Any
    ) -> CentroidalDerivatives:
        """∂h/∂q, ∂ḣ/∂q (tangent), ∂ḣ/∂v, ∂ḣ/∂v̇ of the centroidal momentum h, (..., 6, nv) each; ∂h/∂v is the last."""
        return self._call(centroidal.centroidal_derivatives, options, q, v, vd, of=_subtree(body))


def _subtree(body: str | None) -> tuple:
    """The subject of a call: a body, or the whole machine."""
    return () if body is None else (body,)


def _factors(model: Model, bodies: Any) -> Any:
    """1 for bodies that are named and 0 for all others, by body; factors as they are given."""
    where = "inertia_of_bodies, bodies"
    if isinstance(bodies, str):
        raise InputError(message(where, "one name", repr(bodies), f"a list of names, as [{bodies!r}]"))
    if not isinstance(bodies, (list, tuple, set, frozenset)):
        return bodies
    if not bodies:
        raise InputError(message(where, "no bodies", repr(bodies), "the names of one or more"))
    if not any(isinstance(name, str) for name in bodies):
        return bodies
    named = {body.name: body for body in (model.body(model.frame(x).body) for x in bodies)}  # refuses unknown names
    if len(named) < len(bodies):
        twice = next(name for name, count in Counter(bodies).items() if count > 1)
        raise InputError(message(where, "a body named twice", repr(twice), "each body once"))
    if not sum(plain(body.mass) for body in named.values()) > 0:
        raise InputError(message(where, "no mass", "0 kg", "above 0: they have no mass centre"))
    return np.array([float(body.name in named) for body in model.bodies])
