"""Quantities that are linear in inertial parameters: regressors of forces, energies, momenta and places."""

from polhode.dynamics import regressors
from polhode.dynamics.regressors import EnergyRegressors
from polhode.scalar import Vec
from polhode.system.catalogue.record import FRAMES, POINT, VD, Q, V, quantity
from polhode.system.quantity import Request

PARAMETERS = ("parameters",)
LINKS = "unit motions and accelerations in link frames; Atkeson (1986)"


def _bodies(r: Request) -> list[int]:
    """The elements that carry the bodies of the model, in its order."""
    return [r.x.tree.of_body[body.name] for body in r.spec.model.bodies]


@quantity((Q, V, VD), ("nv", "parameters"), by=LINKS)
def torque_regressor(r: Request) -> Vec:
    """The matrix Y of τ = Y π, of inertial parameters."""
    return regressors.torque_regressor(r.x.tree, r.x.q, r.x.v, r.x.vd, _bodies(r))


@quantity((Q, V, VD), (6, 10), by=LINKS, of_body=True)
def body_regressor(r: Request) -> Vec:
    """The force and the moment that a body needs, per inertial parameter."""
    return regressors.body_regressor(r.x.tree, r.x.q, r.x.v, r.x.vd, r.place)


@quantity((Q, V), PARAMETERS, PARAMETERS, by=FRAMES, record=EnergyRegressors)
def energy_regressors(r: Request) -> EnergyRegressors:
    """The kinetic and the potential energy, per inertial parameter."""
    return regressors.energy_regressors(r.x.tree, r.x.q, r.x.v, _bodies(r))


@quantity((Q, V), (6, "parameters"), by=FRAMES)
def momentum_regressor(r: Request) -> Vec:
    """The linear momentum, and the angular momentum about the world's origin, per inertial parameter."""
    return regressors.momentum_regressor(r.x.tree, r.x.q, r.x.v, _bodies(r))


@quantity((Q,), (3, "mass_parameters"), by=FRAMES, divides_by_mass=True)
def static_regressor(r: Request) -> Vec:
    """The mass centre, per mass and first moment of each body."""
    return regressors.static_regressor(r.x.tree, r.x.q, _bodies(r))


@quantity((Q, POINT), (6, "placements"), by=FRAMES, of_body=True, choices=("axes",))
def kinematic_regressor(r: Request) -> Vec:
    """The motion of a point of a body, per change of where joints are."""
    joints = [joint.name for joint in r.spec.model.joints]
    return regressors.kinematic_regressor(r.x.tree, r.x.q, joints, r.place, r.subject.axes)
