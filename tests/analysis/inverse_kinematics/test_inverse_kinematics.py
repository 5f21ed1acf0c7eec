"""Configurations that reach targets: poses, limits, postures, loops, what cannot be reached; hostile arguments."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import fake_cupy
import polhode as ph
from polhode.errors import InputError, UnknownNameError
from polhode.kernel.backends import cuda

LINK = ph.Body("upper", 1.0, (0.1, 0.1, 0.01)), ph.Body("lower", 1.0, (0.1, 0.1, 0.01))
PLANAR = ph.Model(
    "planar arm",
    bodies=LINK,
    joints=[
        ph.Joint("shoulder", "revolute", "world", "upper", axis=(0, 0, 1), lower=-2.5, upper=2.5),
        ph.Joint("elbow", "revolute", "upper", "lower", axis=(0, 0, 1), position=(1.0, 0, 0), lower=0.1, upper=2.0),
    ],
)
"""Two links of 1 m in a plane."""

TIP = {"point": (1.0, 0.0, 0.0)}


def tip(position, **more):
    """A target of the end of the planar arm."""
    return {"lower": ph.Target(position=position, **TIP, **more)}


@pytest.fixture(scope="module")
def arm():
    """A robot of six joints: the model, 10,000 configurations within its limits, the poses of its flange."""
    model = ph.load("arm-6")
    ends = np.array([(joint.lower, joint.upper) for joint in model.joints])
    q = np.random.default_rng(7).uniform(*ends.T, (10_000, 6))
    return model, ends, ph.compile(model, target="python").pose(q, "flange")


def test_reachable_poses_are_reached_within_limits(arm):
    """≥ 99.5 % of 10,000 to 1e-9 m and rad; what is told is what the poses of the answer say."""
    model, (lower, upper), poses = arm[0], arm[1].T, arm[2]
    found = ph.inverse_kinematics(model, {"flange": poses})
    assert np.mean(found.reached) >= 0.995
    assert np.all((found.q >= lower) & (found.q <= upper))
    assert found.restarts.max() <= 100
    there = ph.compile(model, target="python").pose(found.q, "flange")
    apart = np.linalg.norm(there.position - poses.position, axis=-1)
    one, other = (Rotation.from_quat(pose.quaternion, scalar_first=True) for pose in (there, poses))
    turned = (one * other.inv()).magnitude()
    assert max(apart[found.reached].max(), turned[found.reached].max()) < 1e-9
    np.testing.assert_allclose(found.distance[:, 0], apart, atol=1e-14)
    np.testing.assert_allclose(found.angle[:, 0], turned, atol=1e-14)


def test_a_target_has_one_answer_alone_and_in_any_batch(arm):
    model, _, poses = arm
    whole = ph.inverse_kinematics(model, {"flange": (poses.quaternion[:49], poses.position[:49])})
    few = ph.inverse_kinematics(model, {"flange": (poses.position[5:12], poses.quaternion[5:12])})
    one = ph.inverse_kinematics(model, {"flange": (poses.quaternion[5], poses.position[5])})
    axes = {"flange": (poses.quaternion[:49].reshape(7, 7, 4), poses.position[:49].reshape(7, 7, 3))}
    square = ph.inverse_kinematics(model, axes)
    assert np.array_equal(few.q, whole.q[5:12])
    assert np.array_equal(one.q, whole.q[5])
    assert np.array_equal(square.q, whole.q.reshape(7, 7, 6))
    assert np.array_equal(few.restarts, whole.restarts[5:12])
    assert square.distance.shape == (7, 7, 1)
    assert square.reached.shape == (7, 7)
    none = ph.inverse_kinematics(model, {"flange": np.zeros((0, 3))})
    assert none.q.shape == (0, 6)
    assert none.reached.shape == (0,)


@pytest.mark.parametrize("device", ["python", "cuda"])
def test_every_device_finds_the_same(device, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy)
    cuda.cupy.cache_clear()
    targets = tip([(1.2, 0.8, 0.0), (0.3, 1.4, 0.0), (3.0, 0.0, 0.0)])
    lanes = ph.inverse_kinematics(PLANAR, targets, posture=(0.2, 0.5))
    found = ph.inverse_kinematics(PLANAR, targets, posture=(0.2, 0.5), device=device)
    cuda.cupy.cache_clear()
    assert found.reached.tolist() == lanes.reached.tolist() == [True, True, False]
    np.testing.assert_allclose(found.q[:2], lanes.q[:2], atol=1e-9)
    np.testing.assert_allclose(found.q[2], lanes.q[2], atol=1e-7)  # a minimum is known to √ε of its value


def test_a_planar_arm_bends_as_the_law_of_cosines_says():
    """|x|² = 2 + 2 cos(elbow), and of both bends the one within limits."""
    x = np.array([[1.2, 0.8, 0.0], [0.3, 1.4, 0.0], [-1.0, 1.0, 0.0]])
    found = ph.inverse_kinematics(PLANAR, tip(x))
    assert found.reached.all()
    np.testing.assert_allclose(found.q[:, 1], np.arccos(np.sum(x * x, axis=1) / 2 - 1), atol=1e-8)


def test_what_cannot_be_reached_is_told_with_the_least_distance():
    """Beyond its length, out of its plane, inside of its largest bend: how far the arm stays away is known."""
    far, bent = 2 * np.cos(0.1 / 2), 2 * np.cos(2.0 / 2)  # the longest and the shortest that limits allow
    x = np.array([[3.0, 0.0, 0.0], [0.9, 0.9, 0.25], [0.0, 0.5, 0.0]])
    found = ph.inverse_kinematics(PLANAR, tip(x))
    assert not found.reached.any()
    np.testing.assert_allclose(found.distance[:, 0], [3.0 - far, 0.25, bent - 0.5], atol=1e-9)
    assert np.all(found.restarts == 100)
    assert "0 of 3 reached" in repr(found)


def test_targets_beyond_all_numbers_leave_the_start():
    found = ph.inverse_kinematics(PLANAR, tip([(1e200, 0.0, 0.0), (1.2, 0.8, 0.0)]), start=(0.3, 0.7), restarts=2)
    assert found.reached.tolist() == [False, True]
    assert found.q[0].tolist() == [0.3, 0.7]
    assert found.distance[0, 0] == np.inf


def test_limits_hold_unless_they_are_left_out():
    x = (np.cos(-2.8), np.sin(-2.8), 0.0)
    at = {"upper": ph.Target(position=x, point=(1.0, 0.0, 0.0))}
    held = ph.inverse_kinematics(PLANAR, at)
    assert not held.reached
    assert held.q[0] == -2.5
    assert held.distance[0] == pytest.approx(2 * np.sin(0.15), abs=1e-9)
    free = ph.inverse_kinematics(PLANAR, at, limits=False)
    assert free.reached
    assert np.cos(free.q[0] + 2.8) == pytest.approx(1.0, abs=1e-12)


def test_of_many_answers_the_posture_chooses_the_nearest():
    """Where a position leaves freedom, what is left of the way to the posture is across all motions that keep it."""
    third = ph.Joint("wrist", "revolute", "lower", "hand", axis=(0, 0, 1), position=(1.0, 0, 0), lower=-1.0, upper=1.0)
    model = replace(PLANAR, bodies=[*LINK, replace(LINK[0], name="hand")], joints=[*PLANAR.joints, third])
    system = ph.compile(model, target="python")
    q = np.random.default_rng(1).uniform((-1.2, 0.3, -0.8), (1.2, 1.7, 0.8), (50, 3))
    targets, posture = {"hand": ph.Target(_tip(system, q), **TIP)}, np.array([0.1, 0.5, -0.2])
    found = ph.inverse_kinematics(model, targets, posture=posture)
    assert found.reached.all()
    ends = np.array([(joint.lower, joint.upper) for joint in model.joints]).T
    free = np.all((found.q > ends[0]) & (found.q < ends[1]), axis=1)
    assert free.sum() > 30
    for at, J in zip(found.q[free], system.jacobian(found.q[free], "hand", TIP["point"])[:, :2], strict=True):
        across = np.linalg.svd(J)[2][2]
        assert abs(across @ (posture - at)) < 1e-6
    any_ = ph.inverse_kinematics(model, targets, start=posture)
    assert np.all(np.linalg.norm(found.q - posture, axis=1) <= np.linalg.norm(any_.q - posture, axis=1) + 1e-9)


def _tip(system, q):
    pose = system.pose(q, "hand")
    return pose.position + ph.quaternion.rotate(pose.quaternion, np.broadcast_to(TIP["point"], pose.position.shape))


def test_a_direction_leaves_turns_about_it_free():
    model = ph.load("arm-6")
    target = ph.Target(position=(0.5, 0.2, 0.3), direction=(0, 0, -2.0), point=(0, 0, 0.1))
    found = ph.inverse_kinematics(model, {"flange": target})
    assert found.reached
    pose = ph.compile(model, target="python").pose(found.q, "flange")
    axis = ph.quaternion.rotate(pose.quaternion, (0, 0, 1))
    np.testing.assert_allclose(axis, (0, 0, -1), atol=1e-9)
    np.testing.assert_allclose(pose.position + 0.1 * axis, (0.5, 0.2, 0.3), atol=1e-9)


def test_joints_that_are_held_stay_and_so_do_those_that_do_not_matter():
    start = (0.3, 0.7)
    found = ph.inverse_kinematics(PLANAR, tip((0.5, 1.5, 0.0)), start=start, hold=["shoulder"])
    assert found.q[0] == 0.3
    assert 0.1 <= found.q[1] <= 2.0
    upper = ph.inverse_kinematics(PLANAR, {"upper": ph.Target(direction=(0, 1, 0), axis=(1, 0, 0))}, start=start)
    np.testing.assert_allclose(upper.q, (np.pi / 2, 0.7), atol=1e-9)
    assert upper.q[1] == 0.7


def test_weights_decide_between_targets_that_contradict_each_other():
    """Two points for one place: the answer divides the way between them as the squares of the weights."""
    slide = ph.Joint("slide", "prismatic", "world", "upper", axis=(1, 0, 0))
    model = ph.Model("slide", bodies=LINK[:1], joints=[slide])
    both = [ph.Target(position=(0, 0, 0), weight=2.0), ph.Target(position=(1, 0, 0))]
    found = ph.inverse_kinematics(model, {"upper": both}, restarts=0)
    assert found.q[0] == pytest.approx(0.2, abs=1e-9)
    assert found.targets == ("upper", "upper")
    np.testing.assert_allclose(found.distance, (0.2, 0.8), atol=1e-9)


def test_closed_loops_stay_closed():
    """A four-bar is taken where its crank had been; where it cannot reach, it stays closed and comes as near as any."""
    model = ph.load("four-bar")
    system = ph.compile(model)
    crank = model.joints[0].name
    known = ph.consistent_start(model, np.add(model.start.q, (0.3, 0.0, 0.0)), keep=[f"q.{crank}"])
    x = system.pose(known.q, "coupler").position
    found = ph.inverse_kinematics(model, {"coupler": np.add(x, [(0.0, 0.0, 0.0), (0.5, 0.0, 0.0)])})
    assert found.reached.tolist() == [True, False]
    np.testing.assert_allclose(system.pose(found.q[0], "coupler").position, x, atol=1e-9)
    left = system.constraint_residuals(found.q, np.zeros((2, model.nv))).positions
    assert np.max(abs(left)) < 1e-5
    assert np.max(found.violation) < 1e-5


@pytest.mark.long
def test_a_platform_on_six_legs_goes_to_a_pose():
    """Its legs are then as long as the ways between their ends."""
    model = ph.load("stewart-platform")
    system = ph.compile(model)
    start = np.array(model.start.q)
    pose = system.pose(start, "platform")
    turn = ph.quaternion.product(pose.quaternion, ph.quaternion.from_axis_angle((1, 2, 3), 0.2))
    found = ph.inverse_kinematics(model, {"platform": (turn, np.add(pose.position, (0.05, -0.03, 0.08)))})
    assert found.reached
    assert found.restarts == 0
    assert np.max(abs(system.constraint_residuals(found.q, np.zeros(model.nv)).positions)) < 1e-9


@pytest.mark.parametrize("size", [1e-3, 1e3])
def test_answers_do_not_depend_on_the_unit_of_length(size):
    """A machine of millimetres is reached in as many iterations as the same in metres."""
    joints = [replace(joint, position=tuple(size * x for x in joint.position)) for joint in PLANAR.joints]
    bodies = [replace(body, inertia=tuple(size**2 * x for x in (0.1, 0.1, 0.01))) for body in PLANAR.bodies]
    other = replace(PLANAR, joints=joints, bodies=bodies)
    x = np.array([(1.2, 0.8, 0.0), (0.3, 1.4, 0.0)])
    one = ph.inverse_kinematics(PLANAR, tip(x))
    many = ph.inverse_kinematics(
        other, {"lower": ph.Target(position=size * x, point=(size, 0.0, 0.0))}, tolerance=1e-9 * max(size, 1.0)
    )
    assert many.reached.all()
    assert np.max(abs(many.iterations - one.iterations)) <= 2
    np.testing.assert_allclose(many.q, one.q, atol=1e-6)


FAULTS = {
    "no such body": ({"lover": (1, 0, 0)}, {}, UnknownNameError, "Did you mean 'lower'"),
    "no targets": ({}, {}, InputError, "not targets by name"),
    "a list": ([(1, 0, 0)], {}, InputError, "not targets by name"),
    "a wrong size": ({"lower": (1, 0)}, {}, InputError, "not a target"),
    "not a number": ({"lower": (1, 0, float("nan"))}, {}, InputError, "not finite"),
    "no unit": ({"lower": ((2, 0, 0, 0), (1, 0, 0))}, {}, InputError, "not a unit quaternion"),
    "nothing": ({"lower": ph.Target()}, {}, InputError, "nothing to reach"),
    "both": ({"lower": ph.Target(orientation=(1, 0, 0, 0), direction=(1, 0, 0))}, {}, InputError, "not a target"),
    "no axis": ({"lower": ph.Target(direction=(0, 0, 0))}, {}, InputError, "is zero"),
    "weight": ({"lower": ph.Target((1, 0, 0), weight=0.0)}, {}, InputError, "weight"),
    "weights": ({"lower": ph.Target((1, 0, 0), weight=(1, 2, 3))}, {}, InputError, "a number, or two"),
    "batches": ({"lower": np.zeros((2, 3)), "upper": np.zeros((3, 3))}, {}, InputError, "batch axes"),
    "start": ({"lower": (1, 0, 0)}, {"start": (0, 0, 0)}, InputError, "wrong shape"),
    "posture": ({"lower": (1, 0, 0)}, {"posture": "up"}, InputError, "posture"),
    "hold": ({"lower": (1, 0, 0)}, {"hold": ["elbows"]}, UnknownNameError, "Did you mean 'elbow'"),
    "held all": ({"lower": (1, 0, 0)}, {"hold": ["elbow", "shoulder"]}, InputError, "nothing moves them"),
    "tolerance": ({"lower": (1, 0, 0)}, {"tolerance": 0}, InputError, "tolerance"),
    "restarts": ({"lower": (1, 0, 0)}, {"restarts": 101}, InputError, "from 0 to 100"),
    "device": ({"lower": (1, 0, 0)}, {"device": "tpu"}, InputError, "no such device"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_told_by_name(fault):
    targets, options, error, text = FAULTS[fault]
    with pytest.raises(error, match=text):
        ph.inverse_kinematics(PLANAR, targets, **options)


def test_frames_are_reached_as_bodies_are():
    """The tip of the planar arm as a frame, turned on its body: its position, its orientation, a ph.Pose of it."""
    turn = ph.quaternion.from_axis_angle((1, 2, 3), 0.4)
    model = replace(PLANAR, frames=[ph.BodyFrame("tip", "lower", (1.0, 0.0, 0.0), tuple(turn))])
    system = ph.compile(model, target="python")
    wanted = system.pose((0.4, 1.1), "tip")
    for target in (wanted, wanted.position, wanted.quaternion, ph.Target(direction=_axis(wanted), axis=(0, 1, 0))):
        found = ph.inverse_kinematics(model, {"tip": target}, start=(0.3, 1.0))
        assert found.reached
        there = system.pose(found.q, "tip")
        if not isinstance(target, ph.Target):
            assert ph.quaternion.angle_between(there.quaternion, wanted.quaternion) < 1e-8 or target is wanted.position
        np.testing.assert_allclose(_axis(there), _axis(wanted), atol=1e-8)
    moved = replace(model, frames=[ph.BodyFrame("tip", "lower", (0.5, 0.0, 0.0), tuple(turn))])
    assert not np.allclose(ph.inverse_kinematics(moved, {"tip": wanted.position}).q, (0.4, 1.1), atol=1e-3)


def _axis(pose):
    return ph.quaternion.rotate(pose.quaternion, (0.0, 1.0, 0.0))
