"""Regressors times parameters are the quantities themselves, for every kind of joint."""

from dataclasses import replace

import numpy as np
import pytest

import polhode as ph
from machines import random_model, random_q

KINDS = ["revolute", "spherical", "prismatic", "universal", "screw", "fixed", "free", "planar", "cylindrical"]


@pytest.fixture(scope="module", params=range(3))
def machine(request):
    """A System of a random tree, and seven states of it."""
    rng = np.random.default_rng(request.param)
    model = random_model(list(rng.permutation(KINDS)), seed=request.param, armature=False)
    q = random_q(model, rng, (7,))
    return ph.compile(model, target="python"), q, *rng.standard_normal((2, 7, model.nv))


def assert_close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * max(1.0, np.max(abs(expected))))


def test_torques_are_those_of_inverse_dynamics(machine):
    system, q, v, vd = machine
    Y = system.torque_regressor(q, v, vd)
    assert Y.shape == (7, system.nv, 10 * len(system.model.bodies))
    assert_close(Y @ system.inertial_parameters, system.inverse_dynamics(q, v, vd))


def test_energies_and_momenta_are_those_of_the_machine(machine):
    system, q, v, _ = machine
    parameters, energy, momentum = system.inertial_parameters, system.energy(q, v), system.momentum(q, v)
    rows = system.energy_regressors(q, v)
    assert_close(rows.kinetic @ parameters, energy.kinetic)
    assert_close(rows.potential @ parameters, energy.potential)
    both = np.concatenate([momentum.linear, momentum.angular], axis=-1)
    assert_close(system.momentum_regressor(q, v) @ parameters, both)


def test_the_mass_centre_is_that_of_the_machine(machine):
    system, q, _, _ = machine
    first = system.inertial_parameters.reshape(-1, 10)[:, :4].reshape(-1)
    assert_close(system.static_regressor(q) @ first, system.center_of_mass(q))


def test_what_bodies_need_is_what_moves_the_machine(machine):
    """τ = Σ Jᵀ (wrench of each body), in its own axes."""
    system, q, v, vd = machine
    tau = 0.0
    for body, parameters in zip(system.model.bodies, system.inertial_parameters.reshape(-1, 10), strict=True):
        wrench = system.body_regressor(q, v, vd, body.name) @ parameters
        J = system.jacobian(q, body.name, axes="local")
        tau = tau + np.einsum("...ra,...r->...a", J, wrench)
    assert_close(tau, system.inverse_dynamics(q, v, vd))


def test_parameters_are_named_and_those_of_the_bodies():
    body = ph.Body("arm", 2.0, (0.3, 0.4, 0.5), center=(0.1, 0.2, -0.3))
    system = ph.compile(ph.Model("one", bodies=[body], joints=[ph.Joint("hinge", "revolute", "world", "arm")]))
    names = ["m", "h_x", "h_y", "h_z", "I_xx", "I_xy", "I_yy", "I_xz", "I_yz", "I_zz"]
    assert system.inertial_parameter_names == [f"arm.{name}" for name in names]
    expected = [2, 0.2, 0.4, -0.6, 0.3 + 0.26, -0.04, 0.4 + 0.2, 0.06, 0.12, 0.5 + 0.1]
    np.testing.assert_allclose(system.inertial_parameters, expected, atol=1e-15)


@pytest.mark.parametrize("axes", ["world-aligned", "local", "world"])
def test_kinematic_regressors_are_derivatives_by_the_places_of_joints(axes):
    """A joint moved by a small ε along its own axes moves a point by ε times its column: central differences."""
    model = random_model(["revolute", "universal", "fixed", "screw"], seed=4, chain=True, shuffle=False)
    system, rng, eps = ph.compile(model, target="python"), np.random.default_rng(0), 1e-6
    q, body, point = random_q(model, rng), model.bodies[-1].name, np.array([0.2, -0.1, 0.3])
    Y = system.kinematic_regressor(q, body, point, axes=axes).reshape(6, len(model.joints), 6)
    now = system.pose(q, body)
    R = ph.quaternion.rotation_matrix(now.quaternion)

    def moved(k, column, step):
        joint, change = model.joints[k], step * np.eye(6)[column]
        turn = ph.quaternion.exp(change[3:] / 2)
        position = np.add(joint.position, ph.quaternion.rotate(np.array(joint.orientation), change[:3]))
        orientation = ph.quaternion.product(np.array(joint.orientation), turn)
        joints = list(model.joints)
        joints[k] = replace(joint, position=tuple(position), orientation=tuple(orientation))
        pose = ph.compile(replace(model, joints=joints), target="python").pose(q, body)
        return pose.position + ph.quaternion.rotate(pose.quaternion, point), pose.quaternion

    for k in range(len(model.joints)):
        for column in range(6):
            (x1, p1), (x0, p0) = moved(k, column, eps), moved(k, column, -eps)
            linear = (x1 - x0) / (2 * eps)
            angular = 2 * ph.quaternion.product(p1, ph.quaternion.conjugate(p0))[1:] / (2 * eps)
            if axes == "local":
                linear, angular = R.T @ linear, R.T @ angular
            elif axes == "world":
                linear = linear - np.cross(angular, now.position + R @ point)
            np.testing.assert_allclose(Y[:, k, column], [*linear, *angular], atol=1e-8)
