"""Regressors against Pinocchio's, on random trees and on the Panda."""

import importlib.metadata
import warnings
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import polhode as ph
from machines import random_model, random_q
from pinocchio_model import Peer
from polhode.model.topology import parent_first

KINDS = ["revolute", "spherical", "prismatic", "screw", "free"]
TOLERANCE = 1e-10


def columns(model, each):
    """The columns of a matrix by bodies, each so many, in the order of Pinocchio's joints."""
    links = [(j.name, j.parent, j.child) for j in model.joints]
    order = parent_first(model.name, [b.name for b in model.bodies], links)
    place = {body.name: k for k, body in enumerate(model.bodies)}
    return [each * place[model.joints[k].child] + c for k in order for c in range(each)]


@pytest.mark.parametrize("seed", range(3))
def test_regressors_of_random_trees(seed):
    rng = np.random.default_rng(seed)
    model = random_model(list(rng.permutation(KINDS)), seed=seed, armature=False)
    system, peer = ph.compile(model, target="python"), Peer(model)
    q, (v, vd) = random_q(model, rng), rng.standard_normal((2, model.nv))
    T, place = peer.T(q), columns(model, 10)
    there = peer.model, peer.data, peer.q(q)
    velocities = T @ v, T @ vd + peer.T_rate(q, v) @ v
    pairs = {
        "torque": (
            T.T @ pin.computeJointTorqueRegressor(*there, *velocities),
            system.torque_regressor(q, v, vd)[:, place],
        ),
        "kinetic": (pin.computeKineticEnergyRegressor(*there, T @ v), system.energy_regressors(q, v).kinetic[place]),
        "potential": (pin.computePotentialEnergyRegressor(*there), system.energy_regressors(q, v).potential[place]),
        "static": (pin.computeStaticRegressor(*there), system.static_regressor(q)[:, columns(model, 4)]),
    }
    for name, (theirs, ours) in pairs.items():
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=TOLERANCE * max(1, np.max(abs(theirs))), err_msg=name)
    pin.computeJointTorqueRegressor(*there, *velocities)
    for joint in model.joints:
        theirs = pin.jointBodyRegressor(peer.model, peer.data, peer.model.getJointId(joint.name))
        ours = system.body_regressor(q, v, vd, joint.child)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=TOLERANCE * max(1, np.max(abs(theirs))))


@pytest.mark.parametrize("axes", ["world-aligned", "local", "world"])
def test_kinematic_regressors_of_random_trees(axes):
    model = random_model(KINDS, seed=5, armature=False)
    system, peer, rng = ph.compile(model, target="python"), Peer(model), np.random.default_rng(5)
    q, body, point = random_q(model, rng), model.bodies[2].name, (0.1, -0.2, 0.3)
    place = {joint.name: k for k, joint in enumerate(model.joints)}
    order = [6 * place[name] + c for name in list(peer.model.names)[1:] for c in range(6)]
    pin.forwardKinematics(peer.model, peer.data, peer.q(q))
    frame = {"world-aligned": "LOCAL_WORLD_ALIGNED", "local": "LOCAL", "world": "WORLD"}[axes]
    joint = peer.model.frames[peer.frames[body]].parentJoint
    at = pin.SE3(np.eye(3), np.array(point))
    theirs = pin.computeJointKinematicRegressor(peer.model, peer.data, joint, getattr(pin.ReferenceFrame, frame), at)
    ours = system.kinematic_regressor(q, body, point, axes=axes)[:, order]
    np.testing.assert_allclose(ours, theirs, atol=TOLERANCE)


def test_the_torque_regressor_of_the_panda():
    """Moving links have the frames of Pinocchio's joints; what is fixed to them has columns of its own here."""
    found = importlib.metadata.files("example-robot-data")
    path = next(str(f.locate()) for f in found if str(f).endswith("panda_description/urdf/panda.urdf"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ph.PolhodeWarning)
        model = ph.load(path)
    peer, system = pin.buildModelFromUrdf(path), ph.compile(model, target="python")
    q, v, vd = np.random.default_rng(0).uniform(-1, 1, (3, 9))
    theirs = pin.computeJointTorqueRegressor(peer, peer.createData(), q, v, vd)
    moving = {joint.name: joint.child for joint in model.joints}
    names = system.inertial_parameter_names
    place = [names.index(f"{moving[name]}.m") + c for name in list(peer.names)[1:] for c in range(10)]
    ours = system.torque_regressor(q, v, vd)
    np.testing.assert_allclose(ours[:, place], theirs, atol=TOLERANCE * np.max(abs(theirs)))
    damping = [joint.damping for joint in model.joints if joint.nv]
    hand = replace(model, frames=[ph.BodyFrame("tool", "panda_link7", (0.1, 0.2, 0.3), (0.8, 0.0, 0.6, 0.0))])
    joint = peer.getJointId("panda_joint7")
    at = pin.SE3(pin.Quaternion(0.8, 0.0, 0.6, 0.0).matrix(), np.array((0.1, 0.2, 0.3)))
    frame = peer.addFrame(pin.Frame("tool", joint, at, pin.FrameType.OP_FRAME))
    data = peer.createData()
    pin.computeJointTorqueRegressor(peer, data, q, v, vd)
    theirs = pin.frameBodyRegressor(peer, data, frame)
    tool = ph.compile(hand, target="python").body_regressor(q, v, vd, "tool")
    np.testing.assert_allclose(tool, theirs, atol=TOLERANCE * np.max(abs(theirs)))
    rest = system.inverse_dynamics(q, v, vd) - ours @ system.inertial_parameters - damping * v
    np.testing.assert_allclose(rest, 0.0, atol=1e-12 * np.max(abs(ours)))
