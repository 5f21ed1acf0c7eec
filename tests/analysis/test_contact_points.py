"""Least generalised forces under constraints and contacts, and impacts at points."""

import numpy as np
import pinocchio as pin
import pytest

import polhode as ph
from machines import random_model
from pinocchio_model import Peer


@pytest.fixture(scope="module")
def loop():
    model = ph.load("four-bar")
    system, start = ph.compile(model, target="python"), ph.consistent_start(model, v=[0.7] * model.nv)
    return system, start.q, start.v, system.forward_dynamics(start.q, start.v, np.linspace(-1, 2, model.nv))


def test_the_forces_give_the_motion_and_are_the_least(loop):
    system, q, v, vd = loop
    found = ph.actuation(system, q, v, vd)
    np.testing.assert_allclose(system.forward_dynamics(q, v, found.tau), vd, atol=1e-8)
    assert found.residual < 1e-9
    A = system.constraint_rows(q, v).A
    np.testing.assert_allclose(A @ found.tau, 0, atol=1e-9)  # no part that the constraints would give


def test_one_drive_is_enough_for_a_linkage(loop):
    system, q, v, vd = loop
    motor = system.model.joints[0].name
    found, least = ph.actuation(system, q, v, vd, actuated=[motor]), ph.actuation(system, q, v, vd)
    assert found.residual < 1e-8
    assert np.count_nonzero(found.tau) == 1
    assert np.linalg.norm(found.tau) >= np.linalg.norm(least.tau)
    np.testing.assert_allclose(system.forward_dynamics(q, v, found.tau), vd, atol=1e-7)
    assert ph.actuation(system, q, v, vd, actuated=[]).residual > 1e-3


def test_contacts_carry_the_weight_and_one_foot_is_not_enough():
    body = ph.Body("block", 2.0, (1, 1, 1))
    system = ph.compile(ph.Model("block", bodies=[body], joints=[ph.Joint("fly", "free", "world", "block")]), "python")
    q, feet = np.array([0, 0, 1, 1.0, 0, 0, 0]), [("block", (x, y, -1.0)) for x, y in ((1, 0), (-1, 1), (-1, -1))]
    found = ph.actuation(system, np.tile(q, (4, 1)), actuated=[], contacts=feet)
    np.testing.assert_allclose(found.contacts.sum(axis=-2), np.tile([0, 0, 2 * 9.81], (4, 1)), atol=1e-9)
    assert found.contacts.shape == (4, 3, 3)
    assert np.all(found.residual < 1e-9)
    assert ph.actuation(system, q, actuated=[], contacts=feet[:1]).residual > 1.0
    none = ph.actuation(system, np.zeros((0, 7)), contacts=feet)
    assert (none.tau.shape, none.contacts.shape) == ((0, 6), (0, 3, 3))
    assert ph.contact_impulse(system, np.zeros((0, 7)), np.zeros(6), feet).v.shape == (0, 6)


def test_impacts_at_points_are_pinocchios():
    model = random_model(["revolute"] * 5, 3, chain=True, armature=False)
    system, rng = ph.compile(model, target="python"), np.random.default_rng(3)
    q, v, point = rng.normal(size=5), rng.normal(size=5), (0.1, 0.2, -0.3)
    J, peer = system.jacobian(q, "b4", point)[:3], Peer(model)
    found = ph.contact_impulse(system, q, v, [("b4", point)], 0.3)
    np.testing.assert_allclose(
        found.v, pin.impulseDynamics(peer.model, peer.data, peer.q(q), v, J, 0.3, 0.0), atol=1e-9
    )
    np.testing.assert_allclose(system.mass_matrix(q) @ (found.v - v), J.T @ found.impulses[0], atol=1e-9)
    elastic = ph.contact_impulse(system, q, v, ["b4"], 1.0)
    assert system.energy(q, elastic.v).kinetic == pytest.approx(system.energy(q, v).kinetic, rel=1e-10)


def test_mistakes_are_told(loop):
    system, q, v, _ = loop
    with pytest.raises(ph.UnknownNameError, match="no such joint"):
        ph.actuation(system, q, actuated=["motr"])
    with pytest.raises(ph.InputError, match="not a contact"):
        ph.actuation(system, q, contacts=[("crank", 1, 2)])
    with pytest.raises(ph.ModelError, match="no such body"):
        ph.contact_impulse(system, q, v, ["foot"])
    for wrong in (-0.1, 1.5, np.nan, "one"):
        with pytest.raises(ph.InputError, match="restitution: out of range"):
            ph.contact_impulse(system, q, v, ["crank"], wrong)
    with pytest.raises(ph.InputError, match="not a System"):
        ph.actuation(system.model, q)
