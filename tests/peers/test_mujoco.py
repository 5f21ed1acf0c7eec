"""MuJoCo agrees on the dynamics of MJCF models: ball, free, several joints on one body, armature, springs."""

import warnings

import mujoco
import numpy as np
import pytest

import polhode as ph
from polhode.formats.mjcf.reader import load_mjcf
from polhode.model import JOINTS

PENDULUM = """
<mujoco model="arms"><compiler angle="radian"/><option gravity="0.3 -0.2 -9.81"/>
<worldbody>
  <body name="a" pos="0.1 0.2 0.3" euler="0.3 0.2 0.1">
    <joint name="a1" type="hinge" axis="0 1 0" pos="0.05 0 0.1" armature="0.2" damping="0.3"/>
    <joint name="a2" type="slide" axis="1 1 0" stiffness="5" springref="0.1"/>
    <inertial pos="0 0.1 -0.2" mass="1.5" fullinertia="0.03 0.02 0.04 0.001 0.002 0.003"/>
    <body name="b" pos="0 0.1 -0.4" quat="0.9 0.1 0.3 0.2">
      <joint name="b1" type="ball" pos="0 0.02 0"/>
      <geom type="capsule" size="0.05 0.2" pos="0 0 -0.2" density="800"/>
      <geom type="box" size="0.1 0.05 0.02" pos="0.1 0 -0.4" euler="0.2 0 0.4" mass="0.7"/>
      <body name="c" pos="0.1 0 -0.5">
        <joint name="c1" type="hinge" axis="1 2 3"/><joint name="c2" type="hinge" axis="0 0 1" pos="0 0.1 0"/>
        <geom type="ellipsoid" size="0.1 0.05 0.07" density="1200"/>
      </body>
    </body>
  </body>
</worldbody></mujoco>"""

FLYING = """
<mujoco model="flyer">
<default><joint armature="0.05"/><geom density="500"/></default>
<worldbody>
  <body name="base" pos="0 0 1">
    <freejoint/>
    <geom type="box" size="0.2 0.1 0.05"/>
    <body name="left" pos="0.1 0.1 0"><joint axis="1 0 0"/><geom type="cylinder" size="0.02 0.2" pos="0 0 -0.2"/>
      <body name="foot" pos="0 0 -0.4"><joint type="ball"/><geom type="sphere" size="0.04" pos="0.02 0 0"/></body>
    </body>
    <body name="right" pos="0.1 -0.1 0"><joint axis="0 1 0" damping="0.4" stiffness="2"/>
      <geom type="cylinder" size="0.02 0.2" pos="0 0 -0.2"/></body>
  </body>
</worldbody></mujoco>"""


@pytest.mark.parametrize("text", [PENDULUM, FLYING], ids=["arms", "flyer"])
@pytest.mark.parametrize("target", ["python", "cpu"])
@pytest.mark.parametrize("seed", range(4))
def test_mujoco_has_the_same_mass_matrix_bias_and_accelerations(text, target, seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ph.PolhodeWarning)
        model = load_mjcf(text)
    system = ph.compile(model, target=target)
    theirs = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(theirs)
    assert (model.nq, model.nv) == (theirs.nq, theirs.nv)
    rng = np.random.default_rng(seed)
    q, at = rng.normal(size=model.nq), 0
    for joint in model.joints:
        at += joint.nq
        if JOINTS[joint.type].has_quaternion:
            q[at - 4 : at] /= np.linalg.norm(q[at - 4 : at])
    v, tau = rng.normal(size=model.nv), rng.normal(size=model.nv)
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, v, tau
    mujoco.mj_forward(theirs, data)
    M = np.zeros((theirs.nv, theirs.nv))
    mujoco.mj_fullM(theirs, data, M)
    assert system.mass_matrix(q) == pytest.approx(M, rel=1e-10, abs=1e-11)
    assert system.bias(q, v) == pytest.approx(data.qfrc_bias - data.qfrc_passive, rel=1e-10, abs=1e-10)
    assert system.forward_dynamics(q, v, tau) == pytest.approx(data.qacc, rel=1e-8, abs=1e-8)
    for k in range(1, theirs.nbody):
        pose = system.pose(q, theirs.body(k).name)
        assert pose.position == pytest.approx(data.xpos[k], abs=1e-12)
        turned = abs(pose.quaternion @ data.xquat[k])
        assert turned == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("text", [PENDULUM, FLYING], ids=["arms", "flyer"])
def test_mujoco_has_the_same_forces_between_bodies(text):
    """cfrc_int: what the parent gives to each body, about the mass centre of its tree, in world axes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ph.PolhodeWarning)
        model = load_mjcf(text)
    system, theirs = ph.compile(model, target="python"), mujoco.MjModel.from_xml_string(text)
    data, rng = mujoco.MjData(theirs), np.random.default_rng(5)
    q, at = rng.normal(size=model.nq), 0
    for joint in model.joints:
        if JOINTS[joint.type].has_quaternion:
            part = slice(at + joint.nq - 4, at + joint.nq)
            q[part] /= np.linalg.norm(q[part])
        at += joint.nq
    v, tau = rng.normal(size=(2, model.nv))
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, v, tau
    mujoco.mj_forward(theirs, data)
    mujoco.mj_rnePostConstraint(theirs, data)
    found = system.joint_reactions(q, v, tau)
    for k, joint in enumerate(model.joints):
        body = mujoco.mj_name2id(theirs, mujoco.mjtObj.mjOBJ_BODY, joint.child)
        if body < 0:
            continue  # a frame between two joints of one body
        turned = ph.quaternion.rotation_matrix(joint.orientation)
        if joint.parent != "world":
            turned = ph.quaternion.rotation_matrix(system.pose(q, joint.parent).quaternion) @ turned
        force, torque = turned @ found.force[k], turned @ found.torque[k]
        centre = data.subtree_com[theirs.body_rootid[body]]
        torque = torque + np.cross(system.pose(q, joint.child).position - centre, force)
        size = 1 + np.max(abs(data.cfrc_int[body]))
        assert np.max(abs(data.cfrc_int[body, 3:] - force)) < 1e-11 * size
        assert np.max(abs(data.cfrc_int[body, :3] - torque)) < 1e-11 * size
