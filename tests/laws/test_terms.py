"""Terms of the rotational equations: energies, mass matrices, gyroscopic terms, virtual work."""

import numpy as np
from hypothesis import given, strategies as st

import plain
from close import assert_close, complex_step
from indexing import equation
from polhode.dynamics.single import terms, virtual
from strategies import inertias, states, tangents, vectors

J0s = st.floats(0.2, 5.0)


def four(J, J0):
    J4 = np.zeros((4, 4))
    J4[0, 0], J4[1:, 1:] = J0, J
    return J4


def E(p):
    """Rows p, and L from the product: L x is the vector part of p*∘x."""
    return np.array([plain.ham(plain.star(p), e) for e in np.eye(4)]).T


def T_of(p, pdot, J, J0):
    x = E(p) @ pdot
    return 2 * x @ four(J, J0) @ x


@equation("Sherif 26; Schwab-Meijaard 17; Schwab 19", of="dynamics.single.terms.newton_euler")
@given(states(), inertias(), vectors())
def test_newton_euler_is_the_rate_of_the_space_momentum(state, J, alpha):
    p, pdot = state
    omega = plain.omega(p, pdot)
    rate = lambda h: plain.matrix_normalised(p + h * pdot) @ J @ (omega + h * alpha)
    torque = complex_step(rate, np.array(0.0), np.array(1.0))
    assert_close(terms.newton_euler(J, omega, alpha), plain.matrix(p).T @ torque, scale=100)


@equation("Schwab-Meijaard 45", of="dynamics.single.terms.angular_acceleration")
@given(inertias(), vectors(), vectors())
def test_acceleration_balances_the_torque(J, omega, n):
    alpha = terms.angular_acceleration(J, omega, n)
    assert_close(J @ alpha + np.cross(omega, J @ omega), n, condition=np.linalg.cond(J), scale=100)


@equation("Udwadia 4", of="dynamics.single.terms.kinetic_energy")
@given(states(), inertias(), J0s)
def test_kinetic_energy_is_a_sum_over_point_masses(state, J, J0):
    p, pdot = state
    omega = plain.omega(p, pdot)
    Pi = np.trace(J) / 2 * np.eye(3) - J
    values, vectors_ = np.linalg.eigh(Pi)  # two masses on each principal axis
    points = [s * np.sqrt(v / 2) * x for v, x in zip(values, vectors_.T, strict=True) for s in (1, -1)]
    expected = sum(np.sum(np.cross(omega, r) ** 2) for r in points) / 2
    assert_close(terms.kinetic_energy(J, omega), expected, scale=100)


@equation("Udwadia 4", of="dynamics.single.terms.kinetic_energy_of_rates")
@given(states(), inertias(), J0s)
def test_kinetic_energy_of_the_rates(state, J, J0):
    omega = plain.omega(*state)
    assert_close(terms.kinetic_energy_of_rates(*state, J, J0), omega @ J @ omega / 2, scale=100)


@equation("Udwadia 4", of="dynamics.single.terms.kinetic_energy_of_attitude")
@given(states(), inertias(), J0s)
def test_kinetic_energy_of_the_attitude(state, J, J0):
    omega = plain.omega(*state)
    assert_close(terms.kinetic_energy_of_attitude(*state, J, J0), omega @ J @ omega / 2, scale=100)


def lagrange(p, pdot, pddot, J, J0):
    """d/dt ∂T/∂ṗ − ∂T/∂p of T = 2 ṗᵀ Eᵀ J4 E ṗ; T is quadratic in ṗ, so ∂T/∂ṗ is a matrix times ṗ."""
    momentum = lambda h: 4 * E(p + h * pdot).T @ four(J, J0) @ E(p + h * pdot) @ (pdot + h * pddot)
    gradient = [complex_step(lambda y: T_of(y, pdot, J, J0), p, e) for e in np.eye(4)]
    return complex_step(momentum, np.array(0.0), np.array(1.0)) - np.array(gradient)


@equation("Udwadia 5, 8-10", of="dynamics.single.terms.lagrange_derivative")
@equation('Udwadia "off the constraint"', of="dynamics.single.terms.lagrange_derivative", note="(8) − 8 J0 (p·ṗ) ṗ")
@given(vectors(4), vectors(4), vectors(4), inertias(), J0s)
def test_lagranges_derivative_holds_also_off_the_constraint(p, pdot, pddot, J, J0):
    expected = lagrange(p, pdot, pddot, J, J0)
    assert_close(terms.lagrange_derivative(p, pdot, pddot, J, J0), expected, scale=1e4)


@equation("Udwadia 6", of="dynamics.single.terms.momentum_rate")
@given(vectors(4), vectors(4), vectors(4), inertias(), J0s)
def test_rate_of_the_generalised_momentum(p, pdot, pddot, J, J0):
    momentum = lambda h: 4 * E(p + h * pdot).T @ four(J, J0) @ E(p + h * pdot) @ (pdot + h * pddot)
    expected = complex_step(momentum, np.array(0.0), np.array(1.0))
    assert_close(terms.momentum_rate(p, pdot, pddot, J, J0), expected, scale=1e4)


@equation("Udwadia 7", of="dynamics.single.terms.energy_gradient")
@given(states(), inertias(), J0s)
def test_gradient_of_the_kinetic_energy(state, J, J0):
    p, pdot = state
    other = lambda y: 2 * (E(pdot) @ y) @ four(J, J0) @ (E(pdot) @ y)
    expected = [complex_step(other, p, e) for e in np.eye(4)]
    assert_close(terms.energy_gradient(p, pdot, J, J0), expected, scale=100)
    assert_close(terms.energy_gradient(p, pdot, J, J0), -4 * E(pdot).T @ four(J, J0) @ E(p) @ pdot, scale=100)


@equation("Udwadia 10", of="dynamics.single.terms.mass_matrix_udwadia")
@given(states(), inertias(), J0s)
def test_udwadias_mass_matrix_has_four_times_the_moments_as_eigenvalues(state, J, J0):
    M = terms.mass_matrix_udwadia(state[0], J, J0)
    assert_close(np.sort(np.linalg.eigvalsh(M)), np.sort([4 * J0, *(4 * np.linalg.eigvalsh(J))]))


@equation("Udwadia 8-10, 44", of="dynamics.single.terms.gyroscopic_udwadia")
@given(states(), vectors(4), inertias(), J0s)
def test_udwadias_velocity_terms_are_lagranges_derivative_less_the_mass_term(state, pddot, J, J0):
    p, pdot = state
    rest = lagrange(p, pdot, pddot, J, J0) - 4 * E(p).T @ four(J, J0) @ E(p) @ pddot
    assert_close(terms.gyroscopic_udwadia(p, pdot, J, J0), rest, scale=1e3)
    assert_close(E(pdot) @ pdot, np.array([pdot @ pdot, 0, 0, 0]), scale=10)


@equation("Udwadia 14, 15", of="dynamics.single.terms.mass_matrix_udwadia_inverse")
@given(states(), inertias(), J0s)
def test_closed_inverse_of_udwadias_mass_matrix(state, J, J0):
    p = state[0]
    inverse = terms.mass_matrix_udwadia_inverse(p, J, J0)
    expected = np.linalg.inv(E(p).T @ four(J, J0) @ E(p))
    assert_close(inverse, expected, condition=np.linalg.cond(J) * 25)
    assert_close(inverse @ p, p / J0, scale=10)


@equation("Sherif 32", of="dynamics.single.terms.mass_matrix", note="rank 3: refused alone, see form sherif-32")
@given(states(), inertias())
def test_mass_matrix_of_form_23_has_rank_three(state, J):
    M = terms.mass_matrix(state[0], J)
    moments = np.linalg.eigvalsh(M)
    assert_close(moments, np.sort([0.0, *(4 * np.linalg.eigvalsh(J))]))
    assert_close(M @ state[0], np.zeros(4), scale=10)


@equation("Sherif 27", of="dynamics.single.terms.gyroscopic_23")
@given(states(), inertias())
def test_gyroscopic_term_splits_into_tangent_and_radial_part(state, J):
    p, pdot = state
    Lt = E(pdot)[1:].T
    cubic = 8 * Lt @ J @ E(p)[1:] @ pdot
    assert_close(terms.gyroscopic_23(p, pdot, J), cubic - p * (p @ cubic), scale=100)
    omega = plain.omega(p, pdot)
    assert_close(terms.gyroscopic_23(p, pdot, J), 2 * plain.ham(p, plain.pure(np.cross(omega, J @ omega))), scale=100)


@equation("Sherif 30", of="dynamics.single.terms.multiplier_29")
@given(states(), inertias())
def test_multiplier_of_form_29_is_four_times_the_kinetic_energy(state, J):
    omega = plain.omega(*state)
    assert_close(terms.multiplier_29(*state, J), 2 * omega @ J @ omega, scale=100)


@equation("Schwab-Meijaard 43; Schwab 24", of="dynamics.single.terms.multiplier_schwab")
@given(states(), inertias())
def test_multiplier_with_gradient_two_p_is_twice_the_kinetic_energy(state, J):
    omega = plain.omega(*state)
    assert_close(terms.multiplier_schwab(*state, J), omega @ J @ omega, scale=100)


@equation("Sherif 34, 39, 83", of="dynamics.single.terms.augmented_matrix")
@given(states(), inertias(), st.sampled_from([1.0, 2.0]))
def test_augmented_matrix_has_the_eigenvalues_of_the_inertia_and_the_constraint(state, J, gradient):
    matrix = terms.augmented_matrix(state[0], J, gradient)
    expected = np.sort([-gradient, gradient, *(4 * np.linalg.eigvalsh(J))])
    assert_close(np.linalg.eigvalsh(matrix), expected)
    assert_close(matrix[4, :4], gradient * state[0])
    assert_close(matrix[4, 4], 0.0)


@equation("Sherif 35", of="dynamics.single.terms.augmented_inverse", note="also for ‖p‖ = s")
@given(states(), inertias(), st.floats(0.5, 2.0))
def test_closed_inverse_of_the_augmented_matrix(state, J, s):
    p = s * state[0]
    M = 4 * E(p)[1:].T @ J @ E(p)[1:]
    matrix = np.block([[M, p[:, None]], [p[None, :], np.zeros((1, 1))]])
    assert_close(terms.augmented_inverse(p, J) @ matrix, np.eye(5), condition=np.linalg.cond(matrix))


@equation("Udwadia 25-28", of="dynamics.single.terms.explicit_terms")
@given(states(), inertias(), vectors(4), J0s)
def test_the_four_terms_of_the_explicit_acceleration(state, J, gamma, J0):
    p, pdot = state
    inverse = E(p).T @ np.linalg.inv(four(J, J0)) @ E(p)
    omega = plain.omega(p, pdot)
    expected = [
        -2 * inverse @ E(pdot).T @ four(J, J0) @ E(p) @ pdot,
        -J0 * (pdot @ pdot) * inverse @ p,
        inverse @ tangents(p, gamma) / 4,
        -(omega @ J @ omega) / 2 * inverse @ p,
    ]
    found = terms.explicit_terms(p, pdot, J, gamma, J0)
    assert_close(np.array(found), np.array(expected), condition=np.linalg.cond(J), scale=1e3)


@equation("Udwadia 17", of="dynamics.single.terms.explicit_terms", note="b − A a_u from the terms")
@given(states(), inertias(), vectors(4), J0s)
def test_violation_of_the_constraint_by_the_free_motion(state, J, gamma, J0):
    """b_u − A_u a_u = −(p·Γ_u/4 + ½ ω·J ω)/J0, with a_u = (22) less its constraint term, Γ_u whole."""
    p, pdot = state
    found = terms.explicit_terms(p, pdot, J, gamma, J0)
    a_u = found.gyroscopic + found.centripetal + found.load + p * (p @ gamma) / (4 * J0)
    omega = plain.omega(p, pdot)
    expected = -(p @ gamma / 4 + omega @ J @ omega / 2) / J0
    assert_close(-pdot @ pdot - p @ a_u, expected, condition=np.linalg.cond(J), scale=1e3)


# virtual work and power: zero in a motion, whatever the variation


@equation("Sherif 18", of="dynamics.single.virtual.work_of_free_body")
@given(states(), inertias(), vectors(), vectors(), vectors(), vectors(), vectors(), vectors())
def test_virtual_work_of_a_cloud_of_point_masses(state, J, Rddot, alpha, f, n, dR, dtheta):
    p, pdot = state
    omega, A, m = plain.omega(p, pdot), plain.matrix(p), 1.7
    Pi = np.trace(J) / 2 * np.eye(3) - J
    values, axes = np.linalg.eigh(Pi)
    points = [s * np.sqrt(3 * v / m) * x for v, x in zip(values, axes.T, strict=True) for s in (1, -1)]
    work = -f @ dR - n @ dtheta
    for r in points:
        a = Rddot + A @ (np.cross(alpha, r) + np.cross(omega, np.cross(omega, r)))
        work += m / 6 * a @ (dR + A @ np.cross(dtheta, r))
    found = virtual.work_of_free_body(m, J, Rddot, omega, alpha, f, n, dR, dtheta)
    assert_close(found, work, scale=1e3)


@equation("Sherif 20, 76", of="dynamics.single.virtual.work_of_rotation_23")
@equation("Sherif 77, 78, 80, 81", of="dynamics.single.virtual.work_of_rotation_23", note="with the force of a point")
@given(states(), vectors(4), inertias(), vectors(), vectors(), vectors(4))
def test_virtual_work_of_form_23_is_that_of_newton_and_euler(state, pddot, J, f, u, x):
    p, pdot = state
    dp = tangents(p, x)
    A, omega = plain.matrix(p), plain.omega(p, pdot)
    n = A.T @ np.cross(A @ u, f)
    alpha = 2 * plain.ham(plain.star(p), pddot)[1:]
    expected = (J @ alpha + np.cross(omega, J @ omega) - n) @ plain.omega(p, dp)
    gh = np.array([f @ complex_step(lambda y: plain.matrix(y) @ u, p, e) for e in np.eye(4)])
    for Q_p in (2 * plain.ham(p, plain.pure(n)), gh - 2 * p * (f @ A @ u), gh):  # (77)–(78), (80), (81)
        assert_close(virtual.work_of_rotation_23(p, pdot, pddot, J, Q_p, dp), expected, scale=1e4)


@equation("Sherif 28", of="dynamics.single.virtual.work_of_rotation_29")
@given(states(), vectors(4), inertias(), vectors(), vectors(4))
def test_virtual_work_of_form_29_is_that_of_newton_and_euler(state, pddot, J, n, x):
    p, pdot = state
    dp = tangents(p, x)
    omega, alpha = plain.omega(p, pdot), 2 * plain.ham(plain.star(p), pddot)[1:]
    expected = (J @ alpha + np.cross(omega, J @ omega) - n) @ plain.omega(p, dp)
    Q_p = 2 * plain.ham(p, plain.pure(n))
    assert_close(virtual.work_of_rotation_29(p, pdot, pddot, J, Q_p, dp), expected, scale=1e4)


@equation("Sherif 22", of="dynamics.single.virtual.work_of_constraint")
@given(states(), vectors(1))
def test_the_constraint_force_does_no_virtual_work(state, multiplier):
    assert_close(virtual.work_of_constraint(state[0], multiplier[0], state[1]), 0.0, scale=10)


@equation("Schwab-Meijaard 40; Schwab 21", of="dynamics.single.virtual.power_of_rotation")
@given(states(), inertias(), vectors(), vectors())
def test_virtual_power_of_a_motion_vanishes(state, J, n, domega):
    p, pdot = state
    pddot = plain.pddot(p, pdot, J, n)
    alpha = 2 * plain.ham(plain.star(p), pddot)[1:]
    found = virtual.power_of_rotation(J, plain.omega(p, pdot), alpha, n, domega)
    assert_close(found, 0.0, condition=np.linalg.cond(J), scale=1e3)
