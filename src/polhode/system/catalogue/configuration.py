"""Quantities of the configuration manifold: rates, steps, differences."""

from polhode.dynamics import kinematics
from polhode.scalar import Vec
from polhode.system.catalogue.record import COORDINATES, Q1, VELOCITIES, Q, V, quantity
from polhode.system.quantity import Request

JOINTS = "the coordinates of each joint"


@quantity((Q, V), COORDINATES, by=JOINTS)
def rate(r: Request) -> Vec:
    """The rates q̇ of the coordinates."""
    return kinematics.rate(r.x.tree, r.x.q, r.x.v)


@quantity((Q, V), COORDINATES, by=JOINTS)
def integrate(r: Request) -> Vec:
    """The configuration q ⊕ v."""
    return kinematics.integrate(r.x.tree, r.x.q, r.x.v)


@quantity((Q, Q1), VELOCITIES, by=JOINTS)
def difference(r: Request) -> Vec:
    """The change v of configuration with q ⊕ v = q1."""
    return kinematics.difference(r.x.tree, r.x.q, r.x.q1)
