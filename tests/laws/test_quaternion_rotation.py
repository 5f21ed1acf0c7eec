"""Unit quaternions as rotations."""

import numpy as np
import pytest
from hypothesis import example, given, strategies as st
from scipy.spatial.transform import Rotation

import plain
from close import assert_close
from indexing import equation
from polhode import quaternion
from strategies import directions, quaternions, vectors


@equation("Schwab-Meijaard 25, 26; Schwab 5, 6", of="quaternion.rotate")
@given(quaternions(), vectors())
def test_a_vector_turns_by_two_products(p, x):
    assert_close(quaternion.rotate(p, x), plain.turn(p, x))


@equation("Sherif 5", of="quaternion.rotation_matrix_inhomogeneous")
@given(quaternions())
def test_sherifs_rotation_matrix_turns_vectors(p):
    assert_close(quaternion.rotation_matrix_inhomogeneous(p), plain.matrix(p))


@equation("Sherif 7; Schwab-Meijaard 27, 28; Schwab 7, 8", of="quaternion.rotation_matrix_homogeneous")
@given(quaternions())
def test_homogeneous_rotation_matrix_turns_vectors(p):
    A = quaternion.rotation_matrix_homogeneous(p)
    assert_close(A, plain.matrix(p))
    assert_close(A, quaternion.G(p) @ quaternion.L(p).T)
    QQ = quaternion.Q(p) @ quaternion.Qbar(p).T
    assert_close(QQ[1:, 1:], A)
    assert_close(QQ[0], np.array([1.0, 0, 0, 0]))


@equation("Sherif 13", of="quaternion.rotation_matrix")
@given(quaternions())
def test_rotation_matrix_is_orthogonal(p):
    A = quaternion.rotation_matrix(p)
    assert_close(A.T @ A, np.eye(3))
    assert_close(np.linalg.det(A), 1.0)


@equation(
    'Sherif "off the sphere: rotation matrices"',
    of="quaternion.rotation_matrix_inhomogeneous",
    note="EQUATIONS §10: (7) = s² A, (5) = (7) + (s² − 1) I",
)
@given(quaternions(), st.floats(0.5, 2.0))
def test_the_three_matrices_part_off_the_unit_sphere(p, s):
    A = plain.matrix(p)
    assert_close(quaternion.rotation_matrix(s * p, unit=False), A)
    assert_close(quaternion.rotation_matrix_homogeneous(s * p, unit=False), s * s * A)
    expected = s * s * A + (s * s - 1) * np.eye(3)
    assert_close(quaternion.rotation_matrix_inhomogeneous(s * p, unit=False), expected)


@given(quaternions())
def test_matrix_and_back_is_the_same_attitude(p):
    again = quaternion.from_matrix(plain.matrix(p))
    assert_close(again * np.sign(again @ p), p)
    assert_close(quaternion.norm(again), 1.0)


@pytest.mark.parametrize("axis", np.vstack([np.eye(3), -np.eye(3), [[1, 1, 0], [1, -1, 1]]]))
@pytest.mark.parametrize("offset", [0.0, 1e-16, 1e-9, -1e-9, 1e-5])
def test_matrix_to_quaternion_holds_at_half_a_turn(axis, offset):
    axis = axis / np.linalg.norm(axis)
    half = (np.pi + offset) / 2
    p = np.array([np.cos(half), *(np.sin(half) * axis)])
    again = quaternion.from_matrix(plain.matrix(p))
    assert_close(again * np.sign(again @ p), p)


@equation("Schwab-Meijaard 29; Schwab 9", of="quaternion.from_axis_angle")
@given(directions(), st.floats(-6, 6))
def test_axis_and_angle_are_those_of_scipy(axis, angle):
    p = quaternion.from_axis_angle(2.5 * axis, angle)
    assert_close(p, np.array([np.cos(angle / 2), *(np.sin(angle / 2) * axis)]))
    assert_close(quaternion.rotation_matrix(p), Rotation.from_rotvec(angle * axis).as_matrix())


@equation("Schwab-Meijaard 29; Schwab 9", of="quaternion.axis_angle")
@given(quaternions())
def test_axis_and_angle_of_a_quaternion_give_it_back(p):
    axis, angle = quaternion.axis_angle(p)
    assert 0 <= angle <= np.pi
    again = np.array([np.cos(angle / 2), *(np.sin(angle / 2) * axis)])
    assert_close(again * np.sign(again @ p), p)


def test_no_rotation_has_an_axis_all_the_same():
    axis, angle = quaternion.axis_angle([1, 0, 0, 0])
    assert angle == 0
    assert list(axis) == [0, 0, 1]


@given(vectors(3, 3.0).filter(lambda x: np.linalg.norm(x) < 3.1))
@example(np.array([1e-9, 0, 0]))
@example(np.array([3e-3, -8e-3, 5e-3]))
@example(np.zeros(3))
def test_log_undoes_exp(x):
    p = quaternion.exp(x)
    assert_close(quaternion.norm(p), 1.0)
    assert_close(quaternion.log(p), x, condition=1 / (3.15 - np.linalg.norm(x)))


@given(vectors(3, 3.0))
def test_exp_is_the_rotation_by_twice_its_argument(x):
    assert_close(quaternion.rotation_matrix(quaternion.exp(x)), Rotation.from_rotvec(2 * x).as_matrix(), condition=10)


@equation('Schwab-Meijaard "under 30: composition"; Schwab "under 10: composition"', of="quaternion.compose")
@given(quaternions(), quaternions(), vectors())
def test_composition_turns_twice(p, q, x):
    assert_close(plain.turn(quaternion.compose(p, q), x), plain.turn(p, plain.turn(q, x)))


@equation('Schwab-Meijaard "under 30: relative"; Schwab "under 10: relative"', of="quaternion.relative")
@given(quaternions(), quaternions())
def test_relative_rotation_leads_from_one_attitude_to_the_other(p, q):
    assert_close(plain.ham(p, quaternion.relative(p, q)), q)


@given(quaternions(), quaternions())
def test_slerp_turns_at_constant_rate_the_shorter_way(p, q):
    whole = quaternion.angle_between(p, q)
    third = quaternion.slerp(p, q, 1 / 3)
    assert_close(quaternion.angle_between(p, third), whole / 3, condition=10)
    assert_close(quaternion.angle_between(third, q), 2 * whole / 3, condition=10)
    assert_close(quaternion.slerp(p, q, 0.0), p)


@given(quaternions())
def test_foreign_forms_come_back(p):
    back = [
        quaternion.xyzw_to_wxyz(quaternion.wxyz_to_xyzw(p)),
        quaternion.scipy_to_wxyz(quaternion.wxyz_to_scipy(p)),
        quaternion.rotation_vector_to_wxyz(quaternion.wxyz_to_rotation_vector(p)),
        quaternion.mrp_to_wxyz(quaternion.wxyz_to_mrp(p)),
    ]
    for again in back:
        assert_close(again * np.sign(again @ p), p)
    rotation = Rotation.from_matrix(plain.matrix(p))
    if abs(p[0]) > 1e-6:  # nearer to half a turn both ways round are equally short
        assert_close(quaternion.wxyz_to_mrp(p), rotation.as_mrp(), condition=10)
    if abs(p[0]) > 1e-3:
        g = quaternion.wxyz_to_gibbs(p)
        assert_close(g, p[1:] / p[0])
        again = quaternion.gibbs_to_wxyz(g)
        assert_close(again * np.sign(again @ p), p, condition=1e3)


def test_scalar_last_is_named_in_both_directions():
    assert list(quaternion.wxyz_to_xyzw([1.0, 2, 3, 4])) == [2, 3, 4, 1]
    assert list(quaternion.xyzw_to_wxyz([2.0, 3, 4, 1])) == [1, 2, 3, 4]


@given(quaternions(), vectors())
def test_both_signs_are_one_attitude(p, x):
    assert_close(quaternion.rotate(p, x), quaternion.rotate(-p, x))
    assert_close(quaternion.rotation_matrix(p), quaternion.rotation_matrix(-p))


@given(directions(), directions(), st.sampled_from([0.0, 1e-9, 1e-5, 1.0]))
def test_the_shortest_rotation_takes_one_direction_to_another(a, other, away):
    """Also where both point (nearly) opposite ways; its angle is that between them."""
    b = away * other - a
    if not np.linalg.norm(b) > 0.1:
        return
    b = b / np.linalg.norm(b)
    p = quaternion.shortest_rotation(a, b)
    assert_close(np.linalg.norm(p), 1.0)
    assert_close(quaternion.rotate(p, a), b)
    angle = np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b)
    assert_close(quaternion.axis_angle(p).angle, angle)


def test_the_shortest_rotation_of_an_axis_to_itself_is_none_and_to_its_opposite_a_half_turn():
    z = np.array([0.0, 0, 1])
    found = quaternion.shortest_rotation(z, [z, -z])
    np.testing.assert_array_equal(found, [[1, 0, 0, 0], [0, 1, 0, 0]])
    for a in np.vstack([np.eye(3), -np.eye(3)]):
        assert_close(quaternion.rotate(quaternion.shortest_rotation(a, -a), a), -a)
