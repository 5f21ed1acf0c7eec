"""Torques and forces as generalised forces."""

import numpy as np
from hypothesis import given

import plain
from close import assert_close, complex_step
from indexing import equation
from polhode.dynamics.single import loads
from strategies import quaternions, states, tangents, vectors


@equation("Sherif 41", of="dynamics.single.loads.moment")
@given(quaternions(), vectors(), vectors())
def test_moment_of_a_space_force_in_body_axes(p, f, u):
    A = plain.matrix(p)
    assert_close(loads.moment(p, f, u), A.T @ np.cross(A @ u, f), scale=10)


@equation("Sherif 43, 60; Udwadia 38, 39", of="dynamics.single.loads.of_torque")
@equation("Udwadia 30, 31", of="dynamics.single.loads.of_torque")
@equation("Schwab-Meijaard 44; Schwab 25", of="dynamics.single.loads.of_torque")
@given(quaternions(), vectors(), vectors(4))
def test_generalised_force_of_a_torque_does_its_virtual_work(p, n, x):
    dp = tangents(p, x)
    dtheta = plain.omega(p, dp)
    Q_p = loads.of_torque(p, n)
    assert_close(Q_p @ dp, n @ dtheta, scale=30)
    assert_close(Q_p @ p, 0.0, scale=10)
    assert_close(Q_p, 2 * plain.ham(p, plain.pure(n)), scale=10)


@equation("Schwab-Meijaard 44; Schwab 25", of="dynamics.single.loads.of_space_torque")
@given(quaternions(), vectors())
def test_generalised_force_of_a_space_torque(p, n):
    assert_close(loads.of_space_torque(p, plain.matrix(p) @ n), 2 * plain.ham(p, plain.pure(n)), scale=10)


@equation("Udwadia 41", of="dynamics.single.loads.torque_of")
@given(quaternions(), vectors(), vectors(1))
def test_the_part_along_p_makes_no_torque(p, n, along):
    Q_p = 2 * plain.ham(p, plain.pure(n)) + along[0] * p
    assert_close(loads.torque_of(p, Q_p), n)


@equation("Sherif 44, 58-60, 75", of="dynamics.single.loads.of_force_q1")
@given(quaternions(), vectors(), vectors())
def test_first_generalised_force_is_the_gradient_of_the_normalised_map(p, f, u):
    expected = [f @ complex_step(lambda y: plain.matrix_normalised(y) @ u, p, e) for e in np.eye(4)]
    assert_close(loads.of_force_q1(p, f, u), expected, scale=100)


@equation("Sherif 58, 59", of="dynamics.single.loads.of_force_b1")
@given(quaternions(), vectors(), vectors())
def test_first_generalised_force_through_the_jacobian(p, f, u):
    A = plain.matrix(p)
    n = A.T @ np.cross(A @ u, f)
    assert_close(loads.of_force_b1(p, f, u), 2 * plain.ham(p, plain.pure(n)), scale=100)


def sherif_5(p):
    e0, e = p[0], p[1:]
    return (2 * e0**2 - 1) * np.eye(3) + 2 * (np.outer(e, e) + e0 * plain.skew(e))


@equation("Sherif 61, 62, 69", of="dynamics.single.loads.of_force_q2")
@given(quaternions(), vectors(), vectors())
def test_second_generalised_force_is_the_gradient_of_sherifs_map(p, f, u):
    expected = [f @ complex_step(lambda y: sherif_5(y) @ u, p, e) for e in np.eye(4)]
    assert_close(loads.of_force_q2(p, f, u), expected, scale=100)


@equation("Sherif 63", of="dynamics.single.loads.of_force_q1")
@given(quaternions(), vectors(), vectors())
def test_the_two_generalised_forces_differ_along_p(p, f, u):
    difference = loads.of_force_q2(p, f, u) - loads.of_force_q1(p, f, u)
    assert_close(difference, 2 * (f @ (plain.matrix(p) + np.eye(3)) @ u) * p, scale=100)


@equation("Sherif 70", of="dynamics.single.loads.of_force_q2_reduced")
@given(quaternions(), vectors(), vectors(), vectors(4))
def test_the_dropped_part_does_no_virtual_work(p, f, u, x):
    reduced = loads.of_force_q2_reduced(p, f, u)
    whole = [f @ complex_step(lambda y: sherif_5(y) @ u, p, e) for e in np.eye(4)]
    assert_close(reduced, np.array(whole) - 2 * (u @ f) * p, scale=100)
    dp = tangents(p, x)
    assert_close(reduced @ dp, whole @ dp, scale=1000)


@equation('Sherif "only mentioned: Q2 reduced"', of="dynamics.single.loads.of_force_q2_reduced", note="is form 82")
@given(quaternions(), vectors(), vectors())
def test_the_reduced_second_force_is_the_homogeneous_one(p, f, u):
    expected = [f @ complex_step(lambda y: plain.matrix(y) @ u, p, e) for e in np.eye(4)]
    assert_close(loads.of_force_q2_reduced(p, f, u), expected, scale=100)
    assert_close(loads.of_force_gh(p, f, u), expected, scale=100)


@equation("Sherif 82", of="dynamics.single.loads.of_force_gh")
@given(quaternions(), vectors(), vectors())
def test_the_homogeneous_force_is_linear_in_p(p, f, u):
    expected = [f @ complex_step(lambda y: plain.matrix(y) @ u, p, e) for e in np.eye(4)]
    assert_close(loads.of_force_gh(p, f, u), expected, scale=100)
    assert_close(loads.of_force_gh(3 * p, f, u, unit=False), 3 * np.array(expected), scale=100)


@equation("Sherif 84", of="dynamics.single.loads.virial")
@given(quaternions(), vectors(), vectors())
def test_the_homogeneous_force_has_twice_the_virial_along_p(p, f, u):
    expected = [f @ complex_step(lambda y: plain.matrix(y) @ u, p, e) for e in np.eye(4)]
    assert_close(2 * loads.virial(p, f, u), p @ expected, scale=100)


@equation("Sherif 45, 46", of="dynamics.single.loads.virtual_work")
@given(states(), vectors(), vectors(), vectors())
def test_virtual_work_of_a_force_at_a_body_point(state, f, u, dR):
    p, dp = state
    dr = dR + complex_step(lambda y: plain.matrix_normalised(y) @ u, p, dp)
    A = plain.matrix(p)
    Q_p = 2 * plain.ham(p, plain.pure(A.T @ np.cross(A @ u, f)))
    assert_close(loads.virtual_work(f, dR, Q_p, dp), f @ dr, scale=100)
