"""Quantities of the configuration manifold: rates, steps, differences, distances."""

from polhode.dynamics import configuration, kinematics
from polhode.scalar import Scalar, Vec
from polhode.system.catalogue.record import COORDINATES, PART, Q1, QDOT, SCALAR, SQUARE, VELOCITIES, Q, V, quantity
from polhode.system.quantity import Request
from polhode.system.records import ConfigurationDifferenceDerivatives, ConfigurationStepDerivatives

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


@quantity((Q, QDOT), VELOCITIES, by=JOINTS)
def velocity_from_rate(r: Request) -> Vec:
    """The velocity v of rates q̇ of the coordinates."""
    return kinematics.tangent(r.x.tree, r.x.q, r.x.qdot)


@quantity((Q,), ("nq", "nv"), by=JOINTS)
def rate_matrix(r: Request) -> Vec:
    """The matrix of the rates of the coordinates per velocity."""
    return configuration.rate_matrix(r.x.tree, r.x.q)


@quantity((Q, V), SQUARE, SQUARE, by=JOINTS, record=ConfigurationStepDerivatives)
def integrate_derivatives(r: Request) -> ConfigurationStepDerivatives:
    """The derivatives of the configuration q ⊕ v along the tangent directions of q and by v."""
    return ConfigurationStepDerivatives(*configuration.integrate_derivatives(r.x.tree, r.x.q, r.x.v))


@quantity((Q, Q1), SQUARE, SQUARE, by=JOINTS, record=ConfigurationDifferenceDerivatives)
def difference_derivatives(r: Request) -> ConfigurationDifferenceDerivatives:
    """The derivatives of the change of configuration along the tangent directions of q and of q1."""
    return ConfigurationDifferenceDerivatives(*configuration.difference_derivatives(r.x.tree, r.x.q, r.x.q1))


@quantity((Q, Q1, PART), COORDINATES, by=JOINTS)
def interpolate(r: Request) -> Vec:
    """The configuration between two others."""
    return configuration.interpolate(r.x.tree, r.x.q, r.x.q1, r.x.part)


@quantity((Q, Q1), SCALAR, by=JOINTS)
def distance(r: Request) -> Scalar:
    """The length of the change of configuration."""
    return configuration.distance(r.x.tree, r.x.q, r.x.q1)


@quantity((Q, Q1), SCALAR, by=JOINTS)
def squared_distance(r: Request) -> Scalar:
    """The square of the length of the change of configuration."""
    return configuration.squared_distance(r.x.tree, r.x.q, r.x.q1)
