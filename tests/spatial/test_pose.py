"""Poses: products, exponential and logarithm, moved spatial vectors, beside Pinocchio's; paths; dual quaternions."""

import numpy as np
import pinocchio as pin
import pytest

import polhode as ph
from polhode.kernel import evaluate, trace
from polhode.spatial import rigid_motion

ANGLES = [0.0, 1e-9, 1e-4, 0.1, 0.4999, 0.5001, 1.0, 2.5, 3.1, np.pi - 1e-9]


def motion(angle, seed=0):
    m = np.random.default_rng(seed).normal(size=6)
    m[3:] *= angle / np.linalg.norm(m[3:])
    return m


def peers(pose):
    w, x, y, z = pose.quaternion
    return pin.SE3(pin.Quaternion(w, x, y, z), np.asarray(pose.position))


A, B = ph.Pose.exp(motion(1.3, 1)), ph.Pose.exp(motion(2.7, 2))


@pytest.mark.parametrize("angle", ANGLES)
def test_exponential_and_logarithm_are_pinocchios_and_undo_each_other(angle):
    m = motion(angle)
    pose = ph.Pose.exp(m)
    np.testing.assert_allclose(pose.matrix(), pin.exp6(pin.Motion(m)).homogeneous, atol=1e-13)
    np.testing.assert_allclose(pose.log(), m, atol=1e-13 if angle < 3 else 1e-11)
    flipped = ph.Pose(pose.position, -np.asarray(pose.quaternion))
    np.testing.assert_allclose(flipped.log(), pose.log(), atol=1e-13)


def test_series_and_closed_forms_meet():
    """Just below and above the angle where they change, to rounding."""
    e = 1e-12
    low, high = (ph.Pose.exp(motion(0.5 + s * e)) for s in (-1, 1))
    np.testing.assert_allclose(low.position, high.position, atol=5e-12)
    np.testing.assert_allclose(low.log()[:3], motion(0.5)[:3], atol=3e-15)
    np.testing.assert_allclose(high.log()[:3], motion(0.5)[:3], atol=3e-15)


def test_products_inverses_and_points_are_pinocchios():
    a, b, x = peers(A), peers(B), np.array([0.3, -2.0, 1.0])
    np.testing.assert_allclose((A @ B).matrix(), (a * b).homogeneous, atol=1e-14)
    np.testing.assert_allclose(A.inverse().matrix(), a.inverse().homogeneous, atol=1e-14)
    np.testing.assert_allclose(A.relative(B).matrix(), a.actInv(b).homogeneous, atol=1e-14)
    np.testing.assert_allclose(A.apply(x), a.act(x), atol=1e-14)
    assert (A @ A.inverse()).is_same(ph.Pose.identity())
    assert not A.is_same(B)


def test_spatial_vectors_and_inertias_move_as_pinocchios():
    a, m = peers(A), motion(1.0, 5)
    np.testing.assert_allclose(A.adjoint(), a.action, atol=1e-14)
    np.testing.assert_allclose(A.move_motion(m), a.act(pin.Motion(m)).vector, atol=1e-14)
    np.testing.assert_allclose(A.move_force(m), a.act(pin.Force(m)).vector, atol=1e-14)
    body = pin.Inertia.Random()
    own = ph.spatial.spatial_inertia(body.mass, body.lever, body.inertia)
    np.testing.assert_allclose(own, body.matrix(), atol=1e-13)
    np.testing.assert_allclose(A.move_inertia(own), a.act(body).matrix(), atol=1e-12)
    power = m @ A.inverse().move_force(motion(2.0, 6))
    np.testing.assert_allclose(A.move_motion(m) @ motion(2.0, 6), power, atol=1e-13)


def test_a_screw_has_a_constant_motion_and_a_decoupled_path_a_straight_line():
    s = np.linspace(0, 1, 11)
    screw = A.interpolate(B, s)
    steps = ph.Pose(*(x[:-1] for x in screw)).relative(ph.Pose(*(x[1:] for x in screw))).log()
    np.testing.assert_allclose(steps, np.tile(steps[0], (10, 1)), atol=1e-13)
    line = A.interpolate(B, s, "decoupled")
    np.testing.assert_allclose(np.diff(line.position, 2, axis=0), 0, atol=1e-14)
    np.testing.assert_allclose(line.quaternion, ph.quaternion.slerp(A.quaternion, B.quaternion, s), atol=1e-14)
    for path in (screw, line):
        assert ph.Pose(path.position[0], path.quaternion[0]).is_same(A)
        assert ph.Pose(path.position[-1], path.quaternion[-1]).is_same(B, 1e-11)


def test_dual_quaternions_multiply_as_poses_do():
    def product(x, y):
        p = ph.quaternion.product
        return np.append(p(x[:4], y[:4]), p(x[:4], y[4:]) + p(x[4:], y[:4]))

    found = ph.Pose.from_dual_quaternion(product(A.dual_quaternion(), B.dual_quaternion()))
    assert found.is_same(A @ B)
    assert ph.Pose.from_matrix(A.matrix()).is_same(A)


@pytest.mark.parametrize("size", [0, 1, 7])
def test_batches_are_what_their_entries_are(size):
    poses = ph.Pose.exp(np.array([motion(1.0, k) for k in range(size)]).reshape(size, 6))
    found = (poses @ A).log()
    assert found.shape == (size, 6)
    for k in range(size):
        one = ph.Pose(poses.position[k], poses.quaternion[k]) @ A
        np.testing.assert_allclose(found[k], one.log(), atol=1e-14)


def test_formulas_are_traced():
    graph = trace(lambda m: rigid_motion.log6(*rigid_motion.exp6(m)), m=(6,))
    for angle in (1e-6, 0.3, 2.0):
        np.testing.assert_allclose(evaluate(graph, m=motion(angle)), motion(angle), atol=1e-13)


def test_the_pose_of_a_body_is_one():
    top = ph.compile(ph.load("heavy-top"), target="python")
    pose = top.pose([0.6, 0.0, 0.8, 0.0], "top")
    assert isinstance(pose, ph.Pose)
    np.testing.assert_allclose(pose.matrix()[:3, :3], ph.quaternion.rotation_matrix([0.6, 0.0, 0.8, 0.0]))


def test_mistakes_are_told():
    with pytest.raises(ph.InputError, match="not a unit quaternion"):
        ph.Pose((0, 0, 0), (2, 0, 0, 0)).log()
    with pytest.raises(ph.InputError, match="wrong shape"):
        ph.Pose.exp([1, 2, 3])
    with pytest.raises(ph.InputError, match="not finite"):
        ph.Pose((np.nan, 0, 0), (1, 0, 0, 0)).inverse()
    with pytest.raises(ph.InputError, match="not a pose"):
        A @ np.eye(4)
    with pytest.raises(ph.InputError, match="no such path"):
        A.interpolate(B, 0.5, "straight")
    with pytest.raises(ph.InputError, match="last row"):
        ph.Pose.from_matrix(np.diag([1.0, 1.0, 1.0, 2.0]))
    with pytest.raises(ph.InputError, match="reflection"):
        ph.Pose.from_matrix(np.diag([1, 1, -1, 1.0]))
    with pytest.raises(ph.InputError, match="not a unit dual quaternion"):
        ph.Pose.from_dual_quaternion([1, 0, 0, 0, 1, 0, 0, 0])
