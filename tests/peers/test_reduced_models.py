"""Pinocchio's reduced models: joints locked by `buildReducedModel`."""

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import polhode as ph
from machines import random_model, random_q
from pinocchio_model import Peer

RELATIVE = 1e-10
KINDS = ("free", "spherical", "screw", "revolute", "prismatic", "revolute", "spherical")
PANDA = Path(pin.__file__).resolve().parents[4] / "share/example-robot-data/robots/panda_description/urdf/panda.urdf"


def reduced_peer(whole, found, names, q):
    """Pinocchio's reduced model, its numbers matched to ours by the names of joints."""
    peer = Peer(found)
    peer.model = pin.buildReducedModel(whole.model, [whole.model.getJointId(name) for name in names], whole.q(q))
    peer.data = peer.model.createData()
    q_at = dict(zip([j.name for j in found.joints], np.cumsum([0, *(j.nq for j in found.joints)]), strict=False))
    v_at = dict(zip([j.name for j in found.joints], np.cumsum([0, *(j.nv for j in found.joints)]), strict=False))
    peer.q_map, peer.v_map, peer.free, peer.quaternions = [], [], [], []
    for name in list(peer.model.names)[1:]:
        joint = found.joint(name)
        if joint.kind.has_quaternion:
            peer.quaternions.append(len(peer.q_map) + joint.nq - 4)
        if joint.type == "free":
            peer.free.append((len(peer.v_map), q_at[name] + 3))
        peer.q_map += range(q_at[name], q_at[name] + joint.nq)
        peer.v_map += range(v_at[name], v_at[name] + joint.nv)
    return peer


def compare(model, names, seed):
    rng = np.random.default_rng(seed)
    q = random_q(model, rng)
    at, locked = 0, {}
    for joint in model.joints:
        if joint.name in names:
            locked[joint.name] = q[at : at + joint.nq]
        at += joint.nq
    found = model.with_locked(locked)
    peer, ours = reduced_peer(Peer(model), found, names, q), ph.compile(found, target="python")
    q, v, tau = random_q(found, rng), rng.normal(size=found.nv), rng.normal(size=found.nv)
    for expected, given in (
        (peer.mass_matrix(q), ours.mass_matrix(q)),
        (peer.inverse_dynamics(q, v, tau), ours.inverse_dynamics(q, v, tau)),
        (peer.forward_dynamics(q, v, tau), ours.forward_dynamics(q, v, tau)),
    ):
        np.testing.assert_allclose(given, expected, atol=RELATIVE * (1 + np.max(abs(expected))), rtol=0)
    return found


@pytest.mark.parametrize("seed", range(8))
def test_a_random_tree_with_locked_joints_is_pinocchios(seed):
    model = random_model(list(KINDS), seed, armature=False)
    names = [joint.name for joint in np.random.default_rng(seed).permutation(np.array(model.joints, dtype=object))[:3]]
    compare(model, names, seed)


def test_the_panda_with_locked_fingers_is_pinocchios():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ph.load(PANDA, mimic="free").merged()
        model = replace(model, joints=[replace(joint, damping=0.0) for joint in model.joints])  # rnea has none
        fingers = [joint.name for joint in model.joints if "finger" in joint.name]
        found = compare(model, fingers, 1)
    assert (len(fingers), found.nv) == (2, 7)
