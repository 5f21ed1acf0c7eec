"""The free joint by roll, pitch and yaw: against Drake's joint of the same angles, and what happens at gimbal lock."""

import math

import numpy as np
import pytest
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import MultibodyForces, RpyFloatingJoint, SpatialInertia, UnitInertia

import polhode as ph
from polhode.model.tree import make_tree

M, CENTER = 1.3, np.array([0.1, -0.2, 0.3])
J = np.array([[0.3, 0.02, -0.03], [0.02, 0.25, 0.04], [-0.03, 0.04, 0.2]])
BODY = ph.Body("box", M, J, CENTER)
MODEL = ph.Model("box", bodies=[BODY], joints=[ph.Joint("fly", "rpy-free", "world", "box")])
STATES = [(0.3, -0.7, 1.1, 0.4, 0.9, -2.0), (0.0, 0.0, 0.0, 3.0, -1.2, 0.5), (1.0, 2.0, 3.0, 0.0, 0.0, 0.0)]


def plant():
    """Drake's, with a RpyFloatingJoint: q = roll, pitch, yaw, x, y, z; v = ω and velocity, in the world's axes."""
    made = MultibodyPlant(0.0)
    # the inertia about the mass centre, moved to the origin
    about = J + M * (CENTER @ CENTER * np.eye(3) - np.outer(CENTER, CENTER))
    G = about / M
    unit = UnitInertia(G[0, 0], G[1, 1], G[2, 2], G[0, 1], G[0, 2], G[1, 2])
    body = made.AddRigidBody("box", SpatialInertia(M, CENTER, unit))
    joint = made.AddJoint(RpyFloatingJoint("fly", made.world_frame(), body.body_frame()))
    made.Finalize()
    return made, body, joint


def rates_to_omega(yaw, pitch):
    """ω in the world's axes = E (yaw rate, pitch rate, roll rate): axes z, y after yaw, x after yaw and pitch."""
    return np.array([
        [0.0, -math.sin(yaw), math.cos(yaw) * math.cos(pitch)],
        [0.0, math.cos(yaw), math.sin(yaw) * math.cos(pitch)],
        [1.0, 0.0, -math.sin(pitch)],
    ])  # fmt: skip


@pytest.mark.parametrize("q", STATES)
def test_it_moves_as_drakes_does(q):
    made, body, joint = plant()
    context = made.CreateDefaultContext()
    x, y, z, yaw, pitch, roll = q
    joint.set_angles(context, [roll, pitch, yaw])
    joint.SetTranslation(context, [x, y, z])
    v, vd = np.random.default_rng(4).uniform(-1, 1, (2, 6))
    T = np.zeros((6, 6))
    T[3:, :3], T[:3, 3:] = np.eye(3), rates_to_omega(yaw, pitch)
    step = 1e-20j  # the rate of T along the motion, by a complex step
    turned = np.array([yaw, pitch]) + step * v[3:5]
    E = np.array([
        [0.0, -np.sin(turned[0]), np.cos(turned[0]) * np.cos(turned[1])],
        [0.0, np.cos(turned[0]), np.sin(turned[0]) * np.cos(turned[1])],
        [1.0, 0.0, -np.sin(turned[1])],
    ])  # fmt: skip
    rate = np.zeros((6, 6))
    rate[:3, 3:] = E.imag / step.imag
    made.SetVelocities(context, T @ v)
    system = ph.compile(MODEL, target="python")
    pose = made.EvalBodyPoseInWorld(context, body)
    r, p = system.pose(q, "box")
    assert np.max(abs(r - pose.translation())) < 1e-15
    assert np.max(abs(np.array(ph.quaternion.rotation_matrix(p)) - pose.rotation().matrix())) < 1e-15
    assert np.max(abs(system.mass_matrix(q) - T.T @ made.CalcMassMatrix(context) @ T)) < 1e-14
    forces = MultibodyForces(made)
    made.CalcForceElementsContribution(context, forces)
    tau = T.T @ made.CalcInverseDynamics(context, T @ vd + rate @ v, forces)
    assert np.max(abs(system.inverse_dynamics(q, v, vd) - tau)) < 1e-13


@pytest.mark.long
def test_it_flies_as_a_quaternion_does():
    """The same throw by angles and by a quaternion, from the same pose with the same velocity."""
    free = ph.Model("box", bodies=[BODY], joints=[ph.Joint("fly", "free", "world", "box")])
    rates = np.array([0.3, 0.2, -0.4])
    E = np.array([[0, 0, 1.0], [0, 1.0, 0], [1.0, 0, 0]])  # at zero angles: ω = (roll, pitch, yaw rates)
    one = ph.simulate(MODEL, v=[1, 2, 3, *rates], duration=1.0)
    other = ph.simulate(free, v=[1, 2, 3, *(E @ rates)], duration=1.0)
    assert np.max(abs(one.position[-1].values - other.position[-1].values)) < 1e-7


def test_a_start_at_gimbal_lock_is_told():
    with pytest.raises(ph.InputError, match=r"joint 'fly': cannot move at the start(.|\n)*gimbal lock(.|\n)*90°"):
        ph.simulate(MODEL, q=[0, 0, 0, 0.4, math.pi / 2, 0], duration=1.0)


def test_angles_of_a_pose_at_gimbal_lock_are_told():
    kind = MODEL.joints[0].kind
    elements, half = make_tree(MODEL).elements, math.sqrt(0.5)
    with pytest.raises(ph.GimbalLockError, match="gimbal lock"):
        kind.from_pose(elements, np.zeros(3), np.array([half, 0.0, half, 0.0]))


def test_a_run_through_gimbal_lock_is_not_called_good():
    run = ph.simulate(MODEL, q=[0, 0, 0, 0, 1.2, 0], v=[0, 0, 0, 0, 2.0, 0.1], duration=3.0, method="rk4", step=1e-2)
    assert run.attrs["verdict"] != "good"
