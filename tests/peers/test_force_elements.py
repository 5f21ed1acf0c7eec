"""Other programs agree on springs, cables and bushings, as far as their laws are the same."""

import mujoco
import numpy as np
import pytest

import polhode as ph
from close import assert_close
from polhode import quaternion

K, D = (50.0, 60.0, 70.0, 5.0, 6.0, 7.0), (1.0, 2.0, 3.0, 0.4, 0.5, 0.6)
POINT_A, POINT_B, M, J = (0.1, 0.2, 0.0), (0.0, 0.0, -0.3), 2.0, (0.3, 0.4, 0.5)


def flying(*forces):
    joint = ph.Joint("air", "free", "world", "b")
    return ph.compile(ph.Model("flying", (0, 0, 0), [ph.Body("b", M, J)], [joint], forces))


def displaced(size, seed=1):
    """Position, attitude, velocity and angular velocity of the body, displaced by about this size."""
    rng = np.random.default_rng(seed)
    turn = quaternion.from_axis_angle(rng.normal(size=3), size)
    return size * rng.normal(size=3), np.asarray(turn), size * rng.normal(size=3), size * rng.normal(size=3)


MUJOCO = """
<mujoco><option gravity="0 0 0"/>
<worldbody>
  <site name="a" pos="0.1 0.2 0"/>
  <body name="b"><freejoint/><inertial pos="0 0 0" mass="2" diaginertia="0.3 0.4 0.5"/>
    <site name="b" pos="0 0 -0.3"/></body>
</worldbody>
<tendon><spatial stiffness="50" {0}><site site="a"/><site site="b"/></spatial></tendon>
</mujoco>"""


@pytest.mark.parametrize(
    ("written", "numbers"),
    [
        ('springlength="0.8" damping="3"', {"rest": 0.8, "damping": 3.0}),
        ('springlength="0 0.8"', {"rest": 0.8, "only": "pull"}),
        ('springlength="0.8 9"', {"rest": 0.8, "only": "push"}),
    ],
    ids=["spring and damper", "cable", "prop"],
)
def test_mujoco_has_the_same_spring_cable_and_prop(written, numbers):
    theirs = mujoco.MjModel.from_xml_string(MUJOCO.format(written))
    data, system = mujoco.MjData(theirs), flying(ph.Spring("s", "world", "b", POINT_A, POINT_B, 50.0, **numbers))
    acts = 0
    for seed in range(8):
        p, turn, u, w = displaced(0.7, seed)
        data.qpos[:], data.qvel[:] = [*p, *turn], [*u, *w]
        mujoco.mj_forward(theirs, data)
        assert_close(system.forward_dynamics([*p, *turn], [*u, *w], np.zeros(6)), data.qacc, condition=10, scale=10)
        acts += bool(np.any(abs(data.qacc[:3]) > 1e-9))
    assert acts == 8 if numbers.get("only") is None else 0 < acts < 8


def test_mujoco_has_the_same_torque_of_a_ball_joint_at_any_angle():
    """Its spring is linear in the rotation vector, as a bushing of three equal stiffnesses."""
    text = MUJOCO[: MUJOCO.index("<tendon>")] + "</mujoco>"
    theirs = mujoco.MjModel.from_xml_string(text.replace("<freejoint/>", '<joint type="ball" stiffness="7"/>'))
    joint, spring = (
        ph.Joint("ball", "spherical", "world", "b"),
        ph.Bushing("u", "world", "b", stiffness=(0, 0, 0, 7, 7, 7)),
    )
    system = ph.compile(ph.Model("ball", (0, 0, 0), [ph.Body("b", M, J)], [joint], [spring]))
    data = mujoco.MjData(theirs)
    for angle in (0.01, 0.5, 2.0, 3.0):
        _, turn, _, w = displaced(angle)
        data.qpos[:], data.qvel[:] = turn, w
        mujoco.mj_forward(theirs, data)
        assert_close(system.forward_dynamics(turn, w, np.zeros(3)), data.qacc, condition=10, scale=100)


@pytest.mark.parametrize(("at", "intrinsic"), [("first", False), ("midway", True)])
def test_exudyn_has_the_same_bushing_at_small_angles(at, intrinsic):
    """Its connector between rigid bodies: by angles in the first frame, or by the rotation vector midway.

    The ends are far apart, so that the two differ much; from Exudyn's midway ours differs by terms of the size of the
    angle.
    """
    p, turn, u, w = displaced(1e-3)
    system = flying(ph.Bushing("u", "world", "b", POINT_A, POINT_B, stiffness=K, damping=D, at=at))
    found = system.forward_dynamics([*p, *turn], [*u, *w], np.zeros(6))
    expected, other = (exudyn_acceleration(p, turn, u, w, way) for way in (intrinsic, not intrinsic))
    assert np.max(abs(found - expected)) < 1e-4 * np.max(abs(expected))
    assert np.max(abs(found - other)) > 1e-2 * np.max(abs(expected))


def exudyn_acceleration(p, turn, u, w, intrinsic, h=1e-7):
    """The acceleration in Exudyn, by one step of Euler's method."""
    import exudyn
    from exudyn import itemInterface as items
    from exudyn.rigidBodyUtilities import RigidBodyInertia

    mbs = exudyn.SystemContainer().AddSystem()
    body = mbs.CreateRigidBody(
        referencePosition=[0, 0, 0], initialDisplacement=list(p), initialVelocity=list(u),
        initialAngularVelocity=list(w), initialRotationMatrix=np.asarray(quaternion.rotation_matrix(turn)),
        inertia=RigidBodyInertia(mass=M, inertiaTensor=np.diag(J)), nodeType=exudyn.NodeType.RotationRotationVector,
        returnDict=True,
    )["bodyNumber"]  # fmt: skip
    ends = (mbs.AddObject(items.ObjectGround()), POINT_A), (body, POINT_B)
    markers = [mbs.AddMarker(items.MarkerBodyRigid(bodyNumber=n, localPosition=list(at))) for n, at in ends]
    mbs.AddObject(
        items.ObjectConnectorRigidBodySpringDamper(
            markerNumbers=markers, stiffness=np.diag(K), damping=np.diag(D), useIntrinsicFormulation=intrinsic
        )
    )
    mbs.Assemble()
    settings = exudyn.SimulationSettings()
    settings.timeIntegration.numberOfSteps, settings.timeIntegration.endTime = 1, h
    settings.timeIntegration.verboseMode, settings.solution.file.write = 0, False
    mbs.SolveDynamic(settings, solverType=exudyn.DynamicSolverType.ExplicitEuler)
    kinds = exudyn.OutputVariableType
    after = [mbs.GetObjectOutputBody(body, x, [0, 0, 0]) for x in (kinds.Velocity, kinds.AngularVelocityLocal)]
    return np.concatenate([np.array(after[0]) - u, np.array(after[1]) - w]) / h


@pytest.mark.parametrize("at", ["first", "midway"])
def test_drake_has_the_same_bushing_at_small_displacements(at):
    """Its bushing acts halfway, by roll, pitch and yaw."""
    size = 1e-5
    p, turn, u, w = displaced(size)
    system = flying(ph.Bushing("u", "world", "b", stiffness=K, damping=D, at=at))
    found = system.forward_dynamics([*p, *turn], [*u, *w], np.zeros(6))
    expected = drake_acceleration(p, turn, u, w)
    assert np.max(abs(found - expected)) < 1e-4 * np.max(abs(expected))


def drake_acceleration(p, turn, u, w):
    """The acceleration in Drake: of the position in world axes, of the angular velocity in body axes."""
    from pydrake.multibody import plant as plants, tree

    plant = plants.MultibodyPlant(time_step=0.0)
    plant.mutable_gravity_field().set_gravity_vector([0, 0, 0])
    unit = tree.UnitInertia(*(x / M for x in J))
    body = plant.AddRigidBody("b", tree.SpatialInertia(M, [0, 0, 0], unit))
    springs = K[3:], D[3:], K[:3], D[:3]
    plant.AddForceElement(tree.LinearBushingRollPitchYaw(plant.world_frame(), body.body_frame(), *springs))
    plant.Finalize()
    context, R = plant.CreateDefaultContext(), np.asarray(quaternion.rotation_matrix(turn))
    plant.SetPositions(context, [*turn, *p])
    plant.SetVelocities(context, [*(R @ w), *u])
    found = plant.get_generalized_acceleration_output_port().Eval(context)
    return np.concatenate([found[3:], R.T @ found[:3]])


PENDULUM_LENGTH, PENDULUM_MASS, RUBBING, ZONE = 0.8, 2.5, 1.0, 1e-3


def exudyn_pendulum_angle(duration, steps):
    """The angle of Exudyn's `pendulumFriction`: a force of constant size on the tip, against its velocity.

    Below the speed ZONE the force is in proportion to it.
    """
    import exudyn
    from exudyn import itemInterface as items

    L, m = PENDULUM_LENGTH, PENDULUM_MASS

    def rub(mbs, t, number, displacement, velocity, stiffness, damping, offset):
        speed = np.linalg.norm(velocity)
        return [RUBBING / max(speed, ZONE) * x for x in velocity]

    mbs = exudyn.SystemContainer().AddSystem()
    ground = mbs.AddObject(items.ObjectGround())
    node = mbs.AddNode(items.NodeRigidBody2D(referenceCoordinates=[L / 2, 0, 0]))
    bar = mbs.AddObject(items.ObjectRigidBody2D(nodeNumber=node, mass=m, inertia=m * (L**2 + (L / 32) ** 2) / 12))
    hinge, foot, tip, center = (
        mbs.AddMarker(items.MarkerBodyPosition(bodyNumber=body, localPosition=[x, 0, 0]))
        for body, x in ((ground, 0), (bar, -L / 2), (bar, L / 2), (bar, 0))
    )
    mbs.AddObject(items.ObjectJointRevolute2D(markerNumbers=[hinge, foot]))
    mbs.AddLoad(items.LoadForceVector(markerNumber=center, loadVector=[0, -m * 9.81, 0]))
    mbs.AddObject(
        items.ObjectConnectorCartesianSpringDamper(
            markerNumbers=[hinge, tip], stiffness=[0, 0, 0], damping=[0, 0, 0], springForceUserFunction=rub
        )
    )
    mbs.Assemble()
    settings = exudyn.SimulationSettings()
    settings.timeIntegration.numberOfSteps, settings.timeIntegration.endTime = steps, duration
    settings.timeIntegration.verboseMode, settings.solution.file.write = 0, False
    settings.timeIntegration.generalizedAlpha.spectralRadius = 1.0
    mbs.SolveDynamic(settings)
    return float(mbs.GetNodeOutput(node, exudyn.OutputVariableType.Coordinates)[2])


def pendulum(*forces):
    L, m = PENDULUM_LENGTH, PENDULUM_MASS
    inertia = m * (L**2 + (L / 32) ** 2) / 12
    bar = ph.Body("bar", m, (0.0, inertia, inertia), center=(L / 2, 0, 0))
    hinge = ph.Joint("hinge", "revolute", "world", "bar", axis=(0, -1, 0))
    return ph.Model("pendulum", bodies=[bar], joints=[hinge], forces=forces)


def test_exudyn_has_the_same_pendulum_with_friction():
    """Its law by `ph.BodyForce`, to the error of its steps; by `ph.JointFriction` but for the zone about rest."""

    def rub(t, body):
        return -RUBBING / ph.maximum(ph.length(body.velocity), ZONE) * body.velocity

    coarse, fine = (exudyn_pendulum_angle(0.4, steps) for steps in (4000, 8000))
    torque, creep = RUBBING * PENDULUM_LENGTH, ZONE / PENDULUM_LENGTH
    for element, near in (
        (ph.BodyForce("rub", rub, "bar", point=(PENDULUM_LENGTH, 0, 0)), 1e-6),
        (ph.JointFriction("rub", "hinge", torque, creep_speed=creep), 1e-5),
        (ph.JointFriction("rub", "hinge", torque, method="events"), 2e-5),
    ):
        run = ph.simulate(pendulum(element), duration=0.4, tolerance=1e-10)
        assert run.attrs["verdict"] == "good"
        assert float(run.q[-1, 0]) == pytest.approx(fine + (fine - coarse) / 3, abs=near)
    assert abs(fine - float(ph.simulate(pendulum(), duration=0.4).q[-1, 0])) > 0.01  # friction tells
