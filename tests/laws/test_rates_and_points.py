"""Angular velocities and accelerations, and the motion of body points."""

import numpy as np
from hypothesis import given, strategies as st

import plain
from close import assert_close, complex_step
from indexing import equation
from polhode import quaternion
from strategies import quaternions, states, tangents, vectors


def matrix_rate(p, pdot):
    return complex_step(plain.matrix_normalised, p, pdot)


@equation("Sherif 14, 15", of="quaternion.angular_velocity_of_matrix")
@given(states())
def test_body_rates_come_from_the_moving_matrix(state):
    p, pdot = state
    A, Adot = plain.matrix(p), matrix_rate(p, pdot)
    assert_close(A.T @ Adot, -(A.T @ Adot).T)
    assert_close(quaternion.angular_velocity_of_matrix(A, Adot), 2 * quaternion.L(p) @ pdot)


@equation("Schwab-Meijaard 8-10; Schwab 4", of="quaternion.angular_velocity_space_of_matrix", note="space axes")
@given(states(), vectors())
def test_space_rates_come_from_the_moving_matrix(state, x):
    p, pdot = state
    A, Adot = plain.matrix(p), matrix_rate(p, pdot)
    omega_s = quaternion.angular_velocity_space_of_matrix(A, Adot)
    assert_close(np.cross(omega_s, A @ x), Adot @ x)


@equation("Sherif 14, 15", of="quaternion.rotation_matrix_rate")
@given(states())
def test_matrix_turns_with_its_angular_velocity(state):
    p, pdot = state
    assert_close(quaternion.rotation_matrix_rate(p, plain.omega(p, pdot)), matrix_rate(p, pdot))


@equation("Sherif 16", of="quaternion.angular_velocity_tensor")
@given(states())
def test_tensor_of_the_angular_velocity(state):
    p, pdot = state
    assert_close(quaternion.angular_velocity_tensor(p, pdot), plain.skew(plain.omega(p, pdot)))


@equation(
    'Sherif "off the sphere: rates"',
    of="quaternion.angular_velocity_tensor",
    note="EQUATIONS §10: 2 L L̇ᵀ = ω̃ + 2 (p·ṗ) I; p/s turns with 2 L ṗ/s²",
)
@given(states(), st.floats(0.5, 2.0), st.floats(-1, 1))
def test_rates_off_the_unit_sphere(state, s, radial):
    p, pdot = s * state[0], state[1] + radial * state[0]
    omega = plain.omega(p, pdot)
    assert_close(quaternion.angular_velocity(p, pdot, unit=False), s * s * omega, scale=10)
    expected = plain.skew(s * s * omega) + 2 * (p @ pdot) * np.eye(3)
    assert_close(quaternion.angular_velocity_tensor(p, pdot), expected, scale=10)


@equation("Sherif 17", of="quaternion.angular_velocity")
@given(states())
def test_body_rates_from_pdot(state):
    assert_close(quaternion.angular_velocity(*state), plain.omega(*state))


@equation("Udwadia 1, 32; Schwab-Meijaard 35; Schwab 15", of="quaternion.four_rates")
@given(states())
def test_four_vector_of_body_rates(state):
    p, pdot = state
    rates = quaternion.four_rates(p, pdot)
    assert_close(rates, plain.pure(plain.omega(p, pdot)))
    assert_close(rates, -2 * quaternion.E(pdot) @ p)


@equation("Schwab-Meijaard 31, 32; Schwab 11, 12", of="quaternion.angular_velocity_space")
@given(states(), vectors())
def test_a_turning_vector_moves_by_the_product_rule(state, x):
    p, pdot = state
    moved = plain.ham(plain.ham(pdot, plain.pure(x)), plain.star(p))
    moved = moved + plain.ham(plain.ham(p, plain.pure(x)), plain.star(pdot))
    assert_close(moved, plain.pure(np.cross(quaternion.angular_velocity_space(p, pdot), plain.turn(p, x))))
    assert_close(plain.ham(pdot, plain.star(p)), plain.pure(quaternion.angular_velocity_space(p, pdot)) / 2)


@equation("Schwab-Meijaard 33; Schwab 13", of="quaternion.four_rates_space")
@given(states())
def test_four_vector_of_space_rates(state):
    p, pdot = state
    assert_close(quaternion.four_rates_space(p, pdot), plain.pure(plain.matrix(p) @ plain.omega(p, pdot)))


@equation("Schwab-Meijaard 34; Schwab 14", of="quaternion.rate_from_space")
@given(states())
def test_pdot_from_space_rates(state):
    p, pdot = state
    assert_close(quaternion.rate_from_space(p, plain.matrix(p) @ plain.omega(p, pdot)), pdot)


@equation("Schwab-Meijaard 36; Schwab 16", of="quaternion.rate")
@given(states())
def test_pdot_from_body_rates(state):
    p, pdot = state
    assert_close(quaternion.rate(p, plain.omega(p, pdot)), pdot)


def curve(p, pdot, alpha):
    """p̈ of a motion on the sphere with angular acceleration α, by the product rule on ṗ = ½ p∘(0, ω)."""
    omega = plain.omega(p, pdot)
    return (plain.ham(pdot, plain.pure(omega)) + plain.ham(p, plain.pure(alpha))) / 2


@equation("Schwab-Meijaard 38; Schwab 18", of="quaternion.four_accelerations")
@given(states(), vectors())
def test_four_vector_of_body_accelerations(state, alpha):
    p, pdot = state
    assert_close(quaternion.four_accelerations(p, pdot, curve(p, pdot, alpha)), plain.pure(alpha), scale=10)


@equation("Schwab-Meijaard 37; Schwab 17", of="quaternion.four_accelerations_space")
@given(states(), vectors())
def test_four_vector_of_space_accelerations(state, alpha):
    p, pdot = state
    expected = plain.pure(plain.matrix(p) @ alpha)
    assert_close(quaternion.four_accelerations_space(p, pdot, curve(p, pdot, alpha)), expected, scale=10)


@equation("Sherif 12; Schwab-Meijaard 38; Schwab 18", of="quaternion.second_rate")
@given(states(), vectors())
def test_second_rate_of_an_attitude(state, alpha):
    p, pdot = state
    assert_close(quaternion.second_rate(p, plain.omega(p, pdot), alpha), curve(p, pdot, alpha), scale=10)


@given(states(), vectors())
def test_accelerations_go_both_ways(state, alpha):
    p, pdot = state
    pddot = curve(p, pdot, alpha)
    A = plain.matrix(p)
    assert_close(quaternion.angular_acceleration(p, pddot), alpha, scale=10)
    assert_close(quaternion.angular_acceleration_space(p, pddot), A @ alpha, scale=10)
    again = quaternion.second_rate_from_space(p, A @ plain.omega(p, pdot), A @ alpha)
    assert_close(again, pddot, scale=10)


@equation("Sherif 33; Udwadia 11", of="quaternion.norm_acceleration_residual")
@given(states(), vectors())
def test_motions_on_the_sphere_have_no_norm_acceleration(state, alpha):
    p, pdot = state
    assert_close(quaternion.norm_acceleration_residual(p, pdot, curve(p, pdot, alpha)), 0.0, scale=10)


@equation("Schwab-Meijaard 41; Schwab 22; Sherif 21", of="quaternion.norm_rate_residual")
@given(states(), vectors(4))
def test_norm_rate_has_the_gradient_two_p(state, x):
    p, pdot = state
    assert_close(quaternion.norm_rate_residual(p, pdot), 0.0)
    assert_close(quaternion.norm_rate_residual(p, x), complex_step(lambda y: y @ y - 1, p, x))


@equation("Sherif 19, 21; Udwadia 33-35", of="quaternion.virtual_rotation")
@given(states(), vectors())
def test_virtual_rotation_moves_points_like_a_rotation(state, x):
    p, dp = state
    moved = complex_step(lambda y: plain.matrix_normalised(y) @ x, p, dp)
    dtheta = quaternion.virtual_rotation(p, dp)
    assert_close(moved, plain.matrix(p) @ np.cross(dtheta, x))
    assert_close(plain.pure(dtheta), 2 * quaternion.E(p) @ dp)


@equation("Udwadia 21, 36, 37; Sherif 11", of="quaternion.tangent")
@given(quaternions(), vectors(4))
def test_tangent_part_and_radial_part_make_the_whole(p, x):
    part = quaternion.tangent(p, x)
    assert_close(part + p * (p @ x), x)
    assert_close(p @ part, 0.0)


@given(states(), st.floats(0.9, 1.1), st.floats(-0.1, 0.1))
def test_projection_returns_to_the_sphere_and_keeps_the_attitude(state, s, radial):
    p, pdot = state
    back = quaternion.project(s * p, pdot + radial * p)
    assert_close(back.p, p)
    assert_close(back.pdot, pdot / s, scale=10)
    assert_close(quaternion.project(p, pdot).pdot, tangents(p, pdot))


@given(vectors(3, 2.5), vectors())
def test_rotation_vector_turns_with_the_angular_velocity(r, omega):
    rdot = quaternion.rotation_vector_rate(r, omega)
    h = 1e-6
    p0, p1 = quaternion.exp((r - h * rdot) / 2), quaternion.exp((r + h * rdot) / 2)
    found = plain.omega(quaternion.exp(r / 2), (p1 - p0) / (2 * h))
    assert np.max(abs(found - omega)) < 1e-8 * (1 + np.max(abs(omega))) * 10


@given(vectors(3, 1.0).filter(lambda x: np.linalg.norm(x) > 0.1), vectors())
def test_series_and_closed_form_of_the_rotation_vector_rate_meet(direction, omega):
    unit = direction / np.linalg.norm(direction)
    below, above = (quaternion.rotation_vector_rate(0.1 * f * unit, omega) for f in (1 - 1e-13, 1 + 1e-13))
    assert_close(below, above, scale=10)


# body points


@equation("Sherif 1, 42", of="quaternion.point_position")
@given(vectors(), quaternions(), vectors())
def test_position_of_a_body_point(R, p, u):
    assert_close(quaternion.point_position(R, p, u), R + plain.matrix(p) @ u)


@equation("Sherif 47, 48", of="quaternion.point_velocity")
@given(vectors(), states(), vectors())
def test_velocity_of_a_body_point(Rdot, state, u):
    p, pdot = state
    expected = Rdot + matrix_rate(p, pdot) @ u
    assert_close(quaternion.point_velocity(Rdot, p, plain.omega(p, pdot), u), expected, scale=10)


@given(vectors(), states(), vectors(), vectors())
def test_acceleration_of_a_body_point(Rddot, state, alpha, u):
    """A u for p(t) = p + ṗ t + p̈ t²/2, differentiated twice: once by hand, once by a complex step."""
    p, pdot = state
    omega, pddot = plain.omega(p, pdot), curve(p, pdot, alpha)
    velocity = lambda t: 2 * plain.ham(plain.ham(pdot + t * pddot, plain.pure(u)), plain.star(p + t * pdot))[..., 1:]
    expected = Rddot + complex_step(velocity, np.array(0.0), np.array(1.0))
    assert_close(quaternion.point_acceleration(Rddot, p, omega, alpha, u), expected, scale=100)


@equation("Sherif 50-52", of="quaternion.B1", note="the Jacobian of A(p/‖p‖) u")
@given(states(), vectors())
def test_B1_is_the_jacobian_of_the_normalised_rotation(state, u):
    p, pdot = state
    B1 = quaternion.B1(p, u)
    columns = [complex_step(lambda y: plain.matrix_normalised(y) @ u, p, e) for e in np.eye(4)]
    assert_close(B1, np.array(columns).T)
    assert_close(B1 @ pdot, matrix_rate(p, pdot) @ u)


def sherif_5(p):
    e0, e = p[0], p[1:]
    return (2 * e0**2 - 1) * np.eye(3) + 2 * (np.outer(e, e) + e0 * plain.skew(e))


@equation("Sherif 53-56, 64", of="quaternion.B2", note="the Jacobian of A u with A of (5)")
@given(states(), vectors())
def test_B2_is_the_jacobian_of_sherifs_matrix(state, u):
    p, pdot = state
    B2 = quaternion.B2(p, u)
    columns = [complex_step(lambda y: sherif_5(y) @ u, p, e) for e in np.eye(4)]
    assert_close(B2, np.array(columns).T)
    assert_close(B2 @ pdot, matrix_rate(p, pdot) @ u)


@equation("Sherif 57", of="quaternion.B1")
@given(quaternions(), vectors(), vectors(4))
def test_the_jacobians_differ_only_along_p(p, u, x):
    difference = quaternion.B1(p, u) - quaternion.B2(p, u)
    assert_close(difference @ tangents(p, x), np.zeros(3), scale=10)
    assert_close(difference @ p, -2 * (plain.matrix(p) + np.eye(3)) @ u, scale=10)


@equation("Sherif 66, 68", of="quaternion.B_homogeneous")
@given(quaternions(), vectors())
def test_the_homogeneous_jacobian_is_that_of_the_quadratic_map(p, u):
    columns = [complex_step(lambda y: plain.matrix(y) @ u, p, e) for e in np.eye(4)]
    assert_close(quaternion.B_homogeneous(p, u), np.array(columns).T)


@equation("Sherif 66, 68", of="quaternion.B2")
@given(quaternions(), vectors())
def test_B2_is_the_homogeneous_jacobian_and_a_part_along_p(p, u):
    expected = 2 * quaternion.G(p) @ quaternion.H(u) + 2 * np.outer(u, p)
    assert_close(quaternion.B2(p, u), expected)


@equation("Sherif 73, 74", of="quaternion.B1")
@given(quaternions(), vectors())
def test_B1_is_the_homogeneous_jacobian_and_a_part_along_p(p, u):
    GH = 2 * quaternion.G(p) @ quaternion.H(u)
    assert_close(quaternion.B1(p, u), GH - 2 * np.outer(plain.matrix(p) @ u, p))
