"""Quantities of the whole machine: energies, momenta, mass centre."""

from polhode.dynamics import energy as of_bodies
from polhode.dynamics.energy import Energy, Momentum
from polhode.scalar import Vec
from polhode.system.catalogue.record import FRAMES, SCALAR, VECTOR, Q, V, quantity
from polhode.system.quantity import Request


@quantity((Q, V), SCALAR, SCALAR, by=FRAMES, record=Energy)
def energy(r: Request) -> Energy:
    """The kinetic and the potential energy."""
    return of_bodies.energy(r.x.tree, r.x.q, r.x.v)


@quantity((Q, V), VECTOR, VECTOR, by=FRAMES, record=Momentum)
def momentum(r: Request) -> Momentum:
    """The linear momentum, and the angular momentum about the world's origin."""
    return of_bodies.momentum(r.x.tree, r.x.q, r.x.v)


@quantity((Q,), VECTOR, by=FRAMES)
def center_of_mass(r: Request) -> Vec:
    """The mass centre."""
    return of_bodies.center_of_mass(r.x.tree, r.x.q)
