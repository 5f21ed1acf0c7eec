"""Quaternions as numbers: products, norms and the matrices of the product."""

import numpy as np
from hypothesis import given

import plain
from close import assert_close
from indexing import equation
from polhode import quaternion
from strategies import quaternions, vectors

fours = vectors(4)


@equation("Schwab-Meijaard 22; Schwab 1", of="quaternion.add")
@given(fours, fours)
def test_sum_acts_on_components(a, b):
    assert_close(quaternion.add(a, b), a + b)


@equation("Schwab-Meijaard 23; Schwab 2", of="quaternion.product")
@given(fours, fours)
def test_product_follows_hamiltons_table(a, b):
    assert_close(quaternion.product(a, b), plain.ham(a, b))


@given(fours, fours, fours)
def test_product_is_associative_but_conjugates_turn_its_order(a, b, c):
    ab = quaternion.product(a, b)
    assert_close(quaternion.product(ab, c), quaternion.product(a, quaternion.product(b, c)), scale=100)
    assert_close(quaternion.conjugate(ab), quaternion.product(quaternion.conjugate(b), quaternion.conjugate(a)))


@equation("Schwab-Meijaard 24; Schwab 3", of="quaternion.Q")
@given(fours, fours)
def test_left_matrix_multiplies_from_the_left(a, b):
    assert_close(quaternion.Q(a) @ b, plain.ham(a, b))
    assert_close(quaternion.Q(quaternion.conjugate(a)), quaternion.Q(a).T)


@equation("Schwab-Meijaard 24; Schwab 3", of="quaternion.Qbar")
@given(fours, fours)
def test_right_matrix_multiplies_from_the_right(a, b):
    assert_close(quaternion.Qbar(a) @ b, plain.ham(b, a))
    assert_close(quaternion.Q(b) @ quaternion.Qbar(a), quaternion.Qbar(a) @ quaternion.Q(b))


@equation("Sherif 2", of="quaternion.vector_part", note="layout (e0, e), scalar first")
@given(fours)
def test_layout_is_scalar_first(p):
    assert_close(quaternion.vector_part(p), p[1:])
    assert_close(quaternion.pure(p[1:]), np.array([0.0, *p[1:]]))


@equation("Sherif 3; Schwab-Meijaard 30; Schwab 10", of="quaternion.norm")
@given(fours)
def test_norm_is_the_length(p):
    assert_close(quaternion.norm(p), np.linalg.norm(p))


@equation("Sherif 4; Schwab-Meijaard 39; Schwab 20", of="quaternion.norm_residual")
@given(fours)
def test_norm_residual_vanishes_on_the_unit_sphere(p):
    assert_close(quaternion.norm_residual(p), p @ p - 1)


@equation("Udwadia 3", of="quaternion.squared_norm")
@given(quaternions())
def test_squared_norm_of_a_rotation_is_one(p):
    assert_close(quaternion.squared_norm(p), 1.0)


@given(fours.filter(lambda p: np.linalg.norm(p) > 1e-3))
def test_inverse_undoes_the_product(p):
    assert_close(plain.ham(p, quaternion.inverse(p)), np.array([1.0, 0, 0, 0]), condition=10)
    assert_close(quaternion.normalise(p) * np.linalg.norm(p), p)


@equation("Sherif 6, 49, 65", of="quaternion.skew")
@given(vectors(), vectors(), vectors())
def test_skew_matrix_is_the_cross_product(x, y, z):
    X, Y = quaternion.skew(x), quaternion.skew(y)
    assert_close(X @ z, np.cross(x, z))
    assert_close(X @ z, -quaternion.skew(z) @ x)
    assert_close(X @ Y, np.outer(y, x) - (x @ y) * np.eye(3), scale=10)
    assert_close(quaternion.unskew(X), x)


@equation("Sherif 8", of="quaternion.G")
@given(fours)
def test_G_is_made_of_the_components(p):
    expected = np.column_stack([-p[1:], p[0] * np.eye(3) + plain.skew(p[1:])])
    assert_close(quaternion.G(p), expected)
    assert_close(quaternion.G(p), quaternion.Qbar(p).T[1:])


@equation("Sherif 9", of="quaternion.L")
@given(fours)
def test_L_is_made_of_the_components(p):
    expected = np.column_stack([-p[1:], p[0] * np.eye(3) - plain.skew(p[1:])])
    assert_close(quaternion.L(p), expected)
    assert_close(quaternion.L(p), quaternion.Q(p).T[1:])


@equation("Sherif 10-12", of="quaternion.G")
@given(quaternions(), fours)
def test_rows_of_G_are_orthonormal_and_tangent(p, pdot):
    G = quaternion.G(p)
    assert_close(G @ G.T, np.eye(3))
    assert_close(G.T @ G, np.eye(4) - np.outer(p, p))
    assert_close(G @ p, np.zeros(3))
    assert_close(quaternion.G(pdot) @ pdot, np.zeros(3))


@equation("Sherif 10-12", of="quaternion.L")
@given(quaternions(), fours)
def test_rows_of_L_are_orthonormal_and_tangent(p, pdot):
    L = quaternion.L(p)
    assert_close(L @ L.T, np.eye(3))
    assert_close(L.T @ L, np.eye(4) - np.outer(p, p))
    assert_close(L @ p, np.zeros(3))
    assert_close(quaternion.L(pdot) @ pdot, np.zeros(3))


@equation('Sherif "off the sphere: L"', of="quaternion.L", note="EQUATIONS §10: L Lᵀ = s² I, L p = 0, L̇ p = −L ṗ")
@given(fours, fours)
def test_L_off_the_unit_sphere(p, pdot):
    L, ss = quaternion.L(p), p @ p
    assert_close(L @ L.T, ss * np.eye(3), scale=10)
    assert_close(L.T @ L, ss * np.eye(4) - np.outer(p, p), scale=10)
    assert_close(quaternion.L(pdot) @ p, -L @ pdot, scale=10)


@equation("Udwadia 2", of="quaternion.E")
@given(quaternions())
def test_E_is_orthogonal_with_p_as_its_first_row(p):
    E = quaternion.E(p)
    assert_close(E @ E.T, np.eye(4))
    assert_close(E[0], p)
    assert_close(E, quaternion.Q(p).T)


@equation("Udwadia 23, 24", of="quaternion.E")
@given(quaternions(), vectors(4))
def test_E_times_its_rate_holds_the_angular_velocity(p, x):
    pdot = x - p * (p @ x)
    w = plain.omega(p, pdot)
    expected = np.zeros((4, 4))
    expected[0, 1:], expected[1:, 0], expected[1:, 1:] = -w, w, plain.skew(w)
    assert_close(quaternion.E(p) @ quaternion.E(pdot).T, expected / 2)


@equation("Sherif 67", of="quaternion.H")
@given(vectors())
def test_H_is_skew_and_the_right_product_with_a_vector(u):
    H = quaternion.H(u)
    expected = np.zeros((4, 4))
    expected[0, 1:], expected[1:, 0], expected[1:, 1:] = -u, u, -plain.skew(u)
    assert_close(H, expected)
    assert_close(H, -H.T)


@equation("Sherif 71, 72", of="quaternion.H")
@given(quaternions(), vectors())
def test_H_commutes_with_L_up_to_a_part_along_p(p, u):
    L = quaternion.L(p)
    assert_close(L @ quaternion.H(u), -plain.skew(u) @ L + np.outer(u, p))
