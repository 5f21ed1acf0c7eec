"""Quantities of the whole machine, or of what a body carries: energies, powers, momenta, mass centre."""

from collections.abc import Callable

from polhode.dynamics import centroidal, energy as of_bodies, with_forces
from polhode.dynamics.centroidal import CompositeInertia
from polhode.dynamics.energy import Energy, Momentum
from polhode.dynamics.power import Powers, powers_by_kind
from polhode.dynamics.state_inertia import with_masses
from polhode.model import Tree
from polhode.scalar import Vec
from polhode.spatial import ORIGIN
from polhode.system.algorithms import slopes_by_duals, slopes_by_graph
from polhode.system.catalogue.record import FACTORS, FRAMES, POINT, SCALAR, SIX_ROWS, TAU, VD, VECTOR, Q, V, quantity
from polhode.system.quantity import Algorithm, Request
from polhode.system.records import CenterOfMassVelocityDerivatives, CentroidalDerivatives

MATRIX = (3, 3)
COMPOSITES = "composite bodies in link frames; Orin (2013), BEYOND §1"
LINKS = "momenta in link frames, handed to the root"


def _masses(r: Request) -> Tree:
    """The tree of a request, with the masses that it is asked of alone."""
    return centroidal.subtree(r.x.tree, r.subject.body)


def _masses_now(r: Request) -> Tree:
    """The same with the masses of the state."""
    return centroidal.subtree(with_masses(r.x.tree, r.x.v), r.subject.body)


@quantity((Q, V), SCALAR, SCALAR, by=FRAMES, record=Energy)
def energy(r: Request) -> Energy:
    """The kinetic and the potential energy."""
    return of_bodies.energy(r.x.tree, r.x.q, r.x.v)


def _powers(r: Request) -> Powers:
    x = r.x
    if r.spec.constrained:
        return powers_by_kind(x, r.constrained.forward, constraints=True)
    return powers_by_kind(x, with_forces.forward_dynamics)


@quantity(
    (Q, V, TAU),
    *[SCALAR] * 5,
    by="forces and velocities of all that acts",
    record=Powers,
    applies=lambda spec: spec.constrained is None,
    also=(
        Algorithm(
            "forces and velocities of all that acts, constraints included",
            _powers,
            applies=lambda spec: spec.constrained is not None,
            by_graph=True,
        ),
    ),
)
def powers(r: Request) -> Powers:
    """The powers of all that acts, by its kind."""
    return _powers(r)


@quantity((Q, V), VECTOR, VECTOR, by=FRAMES, record=Momentum, of_subtree=True)
def momentum(r: Request) -> Momentum:
    """The linear momentum, and the angular momentum about the world's origin."""
    return of_bodies.momentum(centroidal.subtree(r.x.tree, r.subject.body), r.x.q, r.x.v)


@quantity((Q, V, POINT), VECTOR, VECTOR, by=LINKS, record=Momentum, of_subtree=True)
def momentum_about(r: Request) -> Momentum:
    """The linear momentum, and the angular momentum about a point in the world."""
    return centroidal.momentum_about(_masses_now(r), r.x.q, r.x.v, r.x.point)


@quantity((Q,), VECTOR, by=FRAMES, of_subtree=True, divides_by_mass=True)
def center_of_mass(r: Request) -> Vec:
    """The mass centre."""
    return of_bodies.center_of_mass(_masses(r), r.x.q)


@quantity((Q, V), VECTOR, by=LINKS, of_subtree=True, divides_by_mass=True)
def center_of_mass_velocity(r: Request) -> Vec:
    """The velocity of the mass centre."""
    tree = _masses_now(r)
    return centroidal.momentum_about(tree, r.x.q, r.x.v, ORIGIN).linear / centroidal.total_mass(tree)


@quantity((Q, V, VD), VECTOR, by="recursive Newton–Euler in link frames", of_subtree=True, divides_by_mass=True)
def center_of_mass_acceleration(r: Request) -> Vec:
    """The acceleration of the mass centre."""
    tree, x = _masses_now(r), r.x
    return centroidal.centroidal_momentum_rate(tree, x.q, x.v, x.vd).linear / centroidal.total_mass(tree)


@quantity((Q,), (3, "nv"), by=COMPOSITES, of_subtree=True, divides_by_mass=True)
def center_of_mass_jacobian(r: Request) -> Vec:
    """The Jacobian of the mass centre."""
    return centroidal.center_of_mass_jacobian(_masses(r), r.x.q)


def _center_of_mass_velocity(r: Request) -> Vec:
    return Vec([*center_of_mass_velocity.algorithms[0].function(r)])


@quantity(
    (Q, V),
    (3, "nv"),
    (3, "nv"),
    by="differentiating the graph of the velocity along the frame fields; BEYOND §3",
    record=CenterOfMassVelocityDerivatives,
    of_subtree=True,
    divides_by_mass=True,
    on_numbers=slopes_by_duals(_center_of_mass_velocity, "v"),
)
def center_of_mass_velocity_derivatives(r: Request) -> tuple[Vec, ...]:
    """The derivatives of the velocity of the mass centre along the tangent directions of q and by v."""
    return slopes_by_graph(_center_of_mass_velocity, "v")(r)


@quantity((Q,), SCALAR, VECTOR, MATRIX, by=FRAMES, record=CompositeInertia, of_subtree=True, divides_by_mass=True)
def composite_inertia(r: Request) -> CompositeInertia:
    """The mass, the mass centre and the inertia about it of all bodies as one."""
    return centroidal.composite_inertia(_masses(r), r.x.q)


@quantity((Q, FACTORS), SCALAR, VECTOR, MATRIX, by=FRAMES, record=CompositeInertia)
def inertia_of_bodies(r: Request) -> CompositeInertia:
    """The mass, the mass centre and the inertia about it of some bodies as one."""
    tree, bodies = r.x.tree, r.spec.model.bodies
    factors = {tree.element(body.name): f for body, f in zip(bodies, r.x.factors, strict=True)}
    return centroidal.composite_inertia(centroidal.with_mass_factors(tree, factors), r.x.q)


@quantity((Q,), SIX_ROWS, by=COMPOSITES, of_subtree=True, divides_by_mass=True)
def centroidal_map(r: Request) -> Vec:
    """The map from velocities to the momentum about the mass centre, linear rows first."""
    return centroidal.centroidal_map(_masses(r), r.x.q)


@quantity((Q, V), SIX_ROWS, by=COMPOSITES, of_subtree=True, divides_by_mass=True)
def centroidal_map_rate(r: Request) -> Vec:
    """The time derivative of the map from velocities to the momentum about the mass centre."""
    return centroidal.centroidal_map_rate(_masses(r), r.x.q, r.x.v)


@quantity((Q, V), VECTOR, VECTOR, by=LINKS, record=Momentum, of_subtree=True, divides_by_mass=True)
def centroidal_momentum(r: Request) -> Momentum:
    """The linear momentum, and the angular momentum about the mass centre."""
    return centroidal.centroidal_momentum(_masses_now(r), r.x.q, r.x.v)


@quantity(
    (Q, V, VD),
    VECTOR,
    VECTOR,
    by="recursive Newton–Euler in link frames",
    record=Momentum,
    of_subtree=True,
    divides_by_mass=True,
)
def centroidal_momentum_rate(r: Request) -> Momentum:
    """The time derivative of the momentum about the mass centre."""
    x = r.x
    return centroidal.centroidal_momentum_rate(_masses_now(r), x.q, x.v, x.vd)


def _momentum_and_rate(r: Request) -> Vec:
    x, tree = r.x, _masses(r)
    found = *centroidal.centroidal_momentum(tree, x.q, x.v), *centroidal.centroidal_momentum_rate(tree, x.q, x.v, x.vd)
    return Vec([value for part in found for value in part])


def _in_parts(slopes: Callable[[Request], tuple[Vec, ...]]) -> Callable[[Request], tuple[Vec, ...]]:
    """The derivatives of momentum and rate, twelve rows, as those of each."""

    def found(r: Request) -> tuple[Vec, ...]:
        dq, dv, dvd = slopes(r)
        return Vec(dq[:6]), Vec(dq[6:]), Vec(dv[6:]), Vec(dvd[6:])

    return found


@quantity(
    (Q, V, VD),
    *[SIX_ROWS] * 4,
    by="differentiating the graph of momentum and rate along the frame fields; BEYOND §3",
    record=CentroidalDerivatives,
    of_subtree=True,
    divides_by_mass=True,
    on_numbers=_in_parts(slopes_by_duals(_momentum_and_rate, "v", "vd")),
)
def centroidal_derivatives(r: Request) -> tuple[Vec, ...]:
    """The derivatives of the momentum about the mass centre, and of its rate."""
    return _in_parts(slopes_by_graph(_momentum_and_rate, "v", "vd"))(r)
