"""Pinocchio agrees on random trees with every joint kind it has."""

import numpy as np
import pytest

import polhode as ph
from machines import random_model, random_q
from pinocchio_model import Peer

KINDS = ["revolute", "prismatic", "screw", "spherical", "free", "fixed"]
RELATIVE = 1e-10


def close(found, expected, condition=1.0):
    size = max(1.0, float(np.max(abs(expected), initial=0.0)))
    assert np.max(abs(found - expected), initial=0.0) <= RELATIVE * condition * size


@pytest.mark.parametrize("seed", range(30))
def test_dynamics_and_kinematics_agree_on_random_trees(seed):
    rng = np.random.default_rng(seed)
    types = list(rng.choice(KINDS, size=rng.integers(1, 9)))
    types[0] = ["free", "spherical", "revolute"][seed % 3]
    model = random_model(types, seed, armature=False)
    system, peer = ph.compile(model, target="python"), Peer(model)
    q, v, w = random_q(model, rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
    M = peer.mass_matrix(q)
    close(system.mass_matrix(q), M)
    close(system.bias(q, v), peer.inverse_dynamics(q, v, 0 * w))
    close(system.inverse_dynamics(q, v, w), peer.inverse_dynamics(q, v, w))
    close(system.forward_dynamics(q, v, w), peer.forward_dynamics(q, v, w), np.linalg.cond(M))
    close(system.coriolis(q, v), peer.coriolis(q, v))
    close(system.christoffel(q), peer.christoffel(q))
    for body in model.bodies:
        place = peer.pose(q, body.name)
        pose = system.pose(q, body.name)
        close(pose.position, place.translation)
        close(ph.quaternion.rotation_matrix(pose.quaternion), place.rotation)
        close(system.jacobian(q, body.name), peer.jacobian(q, body.name))
        close(np.concatenate(system.velocity(q, v, body.name)), peer.velocity(q, v, body.name))


@pytest.mark.parametrize("seed", range(6))
def test_armature_agrees(seed):
    rng = np.random.default_rng(seed)
    model = random_model(list(rng.choice(["revolute", "prismatic"], size=5)), seed)
    system, peer = ph.compile(model, target="python"), Peer(model)
    q, v, w = (rng.normal(size=model.nv) for _ in range(3))
    close(system.mass_matrix(q), peer.mass_matrix(q))
    close(system.forward_dynamics(q, v, w), peer.forward_dynamics(q, v, w), np.linalg.cond(peer.mass_matrix(q)))
