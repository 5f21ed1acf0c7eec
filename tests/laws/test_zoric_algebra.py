"""Quaternions as the paper on chains uses them: algebra, rotation, rotation about a moving axis."""

import numpy as np
from hypothesis import assume, given, strategies as st

import plain
from close import assert_close
from indexing import equation
from polhode import quaternion
from strategies import directions, quaternions, vectors

fours = vectors(4)
angles = st.floats(-6.0, 6.0)
ONE, *UNITS = np.eye(4)


def turned(axis, angle, x):
    """Rodrigues' formula."""
    return np.cos(angle) * x + np.sin(angle) * np.cross(axis, x) + (1 - np.cos(angle)) * (axis @ x) * axis


@equation("Zoric 1", of="quaternion.product")
def test_squares_of_the_units_are_minus_one():
    i, j, k = UNITS
    ijk = quaternion.product(quaternion.product(i, j), k)
    for found in [*(quaternion.product(u, u) for u in UNITS), ijk]:
        assert_close(found, -ONE)


@equation("Zoric 2, 4", of="quaternion.add")
@given(fours, fours)
def test_sum_acts_on_components(p, q):
    whole = q[0] * ONE
    for component, unit in zip(q[1:], UNITS, strict=True):
        whole = quaternion.add(whole, component * unit)
    assert_close(whole, q)
    assert_close(quaternion.add(p, q), p + q)


@equation("Zoric 3", of="quaternion.vector_part")
@given(fours)
def test_pure_part_has_the_last_three_components(q):
    assert_close(quaternion.vector_part(q), q[1:])


@equation("Zoric 5", of="quaternion.product")
@given(st.floats(-3, 3), fours)
def test_real_quaternions_multiply_as_scalars(c, q):
    assert_close(quaternion.product(c * ONE, q), c * q)
    assert_close(quaternion.product(q, c * ONE), c * q)


@equation("Zoric 6", of="quaternion.product")
@given(fours, fours)
def test_product_of_scalar_and_vector_parts(p, q):
    scalar = p[0] * q[0] - p[1:] @ q[1:]
    vector = p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:])
    assert_close(quaternion.product(p, q), np.array([scalar, *vector]))


@equation("Zoric 7", of="quaternion.conjugate")
@given(fours)
def test_conjugate_turns_the_vector_part(q):
    assert_close(quaternion.conjugate(q), np.array([q[0], -q[1], -q[2], -q[3]]))


@equation("Zoric 8", of="quaternion.conjugate")
@given(fours, fours)
def test_conjugate_turns_the_order_of_a_product(p, q):
    found = quaternion.conjugate(plain.ham(p, q))
    assert_close(found, plain.ham(quaternion.conjugate(q), quaternion.conjugate(p)))


@equation("Zoric 9", of="quaternion.norm", note="N(q) is the norm itself in this paper")
@given(fours)
def test_norm_is_the_root_of_the_product_with_the_conjugate(q):
    assert_close(quaternion.norm(q) ** 2 * ONE, plain.ham(q, plain.star(q)))


@equation("Zoric 10", of="quaternion.inverse")
@given(fours)
def test_inverse_undoes_a_product(q):
    assume(np.linalg.norm(q) > 1e-3)
    assert_close(plain.ham(q, quaternion.inverse(q)), ONE)
    assert_close(plain.ham(quaternion.inverse(q), q), ONE)


@equation("Zoric 11, 12", of="quaternion.rotation_matrix", note="its columns are the body axes λ, μ, ν")
@given(quaternions(), vectors())
def test_a_vector_is_the_sum_of_its_components_along_the_body_axes(q, components):
    axes = quaternion.rotation_matrix(q)
    along = [component * axis for component, axis in zip(components, axes.T, strict=True)]
    assert_close(sum(along), plain.turn(q, components))


@equation("Zoric 13", of="quaternion.pure")
@given(vectors())
def test_a_vector_is_a_pure_quaternion(r):
    assert_close(quaternion.pure(r), np.array([0, *r]))


@equation("Zoric 14", of="quaternion.rotate")
@given(directions(), angles, vectors())
def test_rotation_takes_body_components_to_space(e, angle, r):
    q = np.array([np.cos(angle / 2), *(np.sin(angle / 2) * e)])
    assert_close(quaternion.rotate(q, r), turned(e, angle, r))
    assert_close(quaternion.rotate(q, e), e)


@equation("Zoric 15", of="quaternion.from_axis_angle")
@given(directions(), angles, vectors())
def test_axis_and_angle_give_a_unit_quaternion(e, angle, r):
    q = quaternion.from_axis_angle(e, angle)
    assert_close(q @ q, 1.0)
    assert_close(plain.turn(q, r), turned(e, angle, r))


@equation("Zoric 16, 18", of="quaternion.rotate")
@given(directions(), angles, directions(), angles, vectors())
def test_a_moving_axis_is_carried_by_the_first_rotation(e1, angle1, e2, angle2, r):
    q1, q2 = (np.array([np.cos(a / 2), *(np.sin(a / 2) * e)]) for e, a in ((e1, angle1), (e2, angle2)))
    middle = quaternion.rotate(q2, r)
    assert_close(middle, turned(e2, angle2, r))
    axis = turned(e1, angle1, e2)  # in space
    assert_close(quaternion.rotate(q1, middle), turned(axis, angle2, turned(e1, angle1, r)))


@equation("Zoric 17, 19", of="quaternion.from_axis_angle")
@given(directions(), angles, directions(), angles, vectors())
def test_both_rotations_from_axis_and_angle(e1, angle1, e2, angle2, r):
    q1, q2 = quaternion.from_axis_angle(e1, angle1), quaternion.from_axis_angle(e2, angle2)
    assert_close(plain.turn(q1, plain.turn(q2, r)), turned(e1, angle1, turned(e2, angle2, r)))
    for q, e in ((q1, e1), (q2, e2)):  # the axis has the same components before and after
        assert_close(plain.turn(q, e), e)


@equation("Zoric 20, 21", of="quaternion.compose")
@given(quaternions(), quaternions(), vectors())
def test_composite_quaternion_does_both_rotations(q1, q2, r):
    q = quaternion.compose(q1, q2)
    assert_close(q, plain.ham(q1, q2))
    assert_close(plain.turn(q, r), plain.turn(q1, plain.turn(q2, r)))


@equation("Zoric 43", of="quaternion.product")
@given(directions())
def test_minus_the_square_of_an_axis_is_one(e):
    assert_close(-quaternion.product(plain.pure(e), plain.pure(e)), ONE)
