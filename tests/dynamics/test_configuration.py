"""Steps between configurations, their derivatives and distances, beside Pinocchio's and finite steps."""

import numpy as np
import pinocchio as pin
import pytest

import polhode as ph
from complex_steps import along_q
from machines import ALL, random_model, random_q
from pinocchio_model import Peer
from polhode.dynamics import configuration, kinematics
from polhode.model import make_tree
from polhode.scalar import Vec


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(1)
    model = random_model([*ALL, "spherical"], 1)
    return ph.compile(model, target="python"), random_q(model, rng), random_q(model, rng), rng.normal(size=model.nv)


def test_rates_go_there_and_back(case):
    system, q, _, v = case
    qdot = system.rate(q, v)
    np.testing.assert_allclose(system.rate_matrix(q) @ v, qdot, atol=1e-14)
    np.testing.assert_allclose(system.velocity_from_rate(q, qdot), v, atol=1e-14)


def test_derivatives_of_steps_are_those_of_complex_steps(case):
    system, q, _, v = case
    tree, there = make_tree(system.model), system.integrate(q, v)

    def end(q):
        return np.array(kinematics.integrate(tree, Vec(q), Vec(v)))

    Q = system.rate_matrix(there)
    found = system.integrate_derivatives(q, v)
    np.testing.assert_allclose(Q @ found.dq, along_q(tree, end, q), atol=1e-13)
    steps = [np.array(kinematics.integrate(tree, Vec(q), Vec(v + 1e-30j * e))).imag / 1e-30 for e in np.eye(system.nv)]
    np.testing.assert_allclose(Q @ found.dv, np.array(steps).T, atol=1e-13)


def test_derivatives_of_differences_undo_those_of_steps(case):
    system, q0, q1, _ = case
    found, step = system.difference_derivatives(q0, q1), system.difference(q0, q1)
    there = system.integrate_derivatives(q0, step)
    np.testing.assert_allclose(found.dq1 @ there.dv, np.eye(system.nv), atol=1e-12)
    np.testing.assert_allclose(found.dq0 + found.dq1 @ there.dq, 0, atol=1e-12)


def test_derivatives_steps_and_distances_are_pinocchios():
    model = random_model(["spherical", "revolute", "prismatic", "screw", "spherical"], 3, shuffle=False)
    system, peer, rng = ph.compile(model, target="python"), Peer(model), np.random.default_rng(3)
    q0, q1, v = random_q(model, rng), random_q(model, rng), rng.normal(size=model.nv)
    a, b, T = peer.q(q0), peer.q(q1), peer.T(q0)
    for found, expected in zip(system.integrate_derivatives(q0, v), pin.dIntegrate(peer.model, a, T @ v), strict=True):
        np.testing.assert_allclose(found, T.T @ expected @ T, atol=1e-12)
    for found, expected in zip(system.difference_derivatives(q0, q1), pin.dDifference(peer.model, a, b), strict=True):
        np.testing.assert_allclose(found, T.T @ expected @ T, atol=1e-11)
    between = peer.q(system.interpolate(q0, q1, 0.3))
    assert pin.isSameConfiguration(peer.model, between, pin.interpolate(peer.model, a, b, 0.3), 1e-12)
    np.testing.assert_allclose(system.distance(q0, q1), pin.distance(peer.model, a, b), rtol=1e-12)
    np.testing.assert_allclose(system.squared_distance(q0, q1), sum(pin.squaredDistance(peer.model, a, b)), rtol=1e-12)


def test_ends_and_batches_of_interpolations(case):
    system, q0, q1, _ = case
    parts = np.linspace(0, 1, 7)
    found = system.interpolate(q0, q1, parts)
    assert ph.same_configuration(system.model, found[0], q0)
    assert ph.same_configuration(system.model, found[-1], q1, 1e-10)
    np.testing.assert_allclose(system.distance(q0, found), parts * system.distance(q0, q1), atol=1e-12)
    assert system.distance(q0, q0) == 0
    assert system.distance(np.zeros((0, system.nq)), q0).shape == (0,)


def test_compiled_kernels_are_the_oracles():
    model = random_model(["free", "revolute"], 5)
    oracle, system, rng = ph.compile(model, target="python"), ph.compile(model), np.random.default_rng(3)
    q0, q1, v = random_q(model, rng, (3,)), random_q(model, rng, (3,)), rng.normal(size=(3, model.nv))
    calls = {"integrate_derivatives": (q0, v), "difference_derivatives": (q0, q1), "interpolate": (q0, q1, 0.2)}
    for name, values in calls.items():
        found, expected = (getattr(s, name)(*values) for s in (system, oracle))
        for a, b in zip(*(x if isinstance(x, tuple) else (x,) for x in (found, expected)), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-12)


def test_the_distance_is_that_of_the_tree(case):
    system, q0, q1, _ = case
    tree = make_tree(system.model)
    assert configuration.distance(tree, Vec(q0), Vec(q1)) == pytest.approx(system.distance(q0, q1), rel=1e-14)
