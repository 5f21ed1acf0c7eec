"""Left and right Jacobians of the rotation group, and derivatives of steps and differences."""

import mpmath
import mujoco
import numpy as np
import pytest

from attitudes import apart, attitudes
from close import assert_close, complex_step
from polhode import quaternion
from polhode.quaternion.jacobians import COTANGENT, CUBIC
from polhode.scalar import Dual, Vec

ANGLES = [1e-12, 1e-8, 1e-4, 9.9e-3, 1.1e-2, 0.1, 0.5, 0.999, 1.001, 2.0, 3.0, np.pi, 4.0, 6.0]


def rotation_vectors(angle):
    axes = np.random.default_rng(3).standard_normal((3, 3))
    return angle * axes / np.linalg.norm(axes, axis=1, keepdims=True)


def in_many_digits(r):
    """Jr and its inverse from the defining formulas, with 60 digits."""
    with mpmath.workdps(60):
        x, y, z = (mpmath.mpf(float(c)) for c in r)
        S, t = mpmath.matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]]), mpmath.sqrt(x * x + y * y + z * z)
        J = mpmath.eye(3) - (1 - mpmath.cos(t)) / t**2 * S + (t - mpmath.sin(t)) / t**3 * S * S
        return (np.array(M.tolist(), dtype=float) for M in (J, J**-1))


@pytest.mark.parametrize("angle", ANGLES)
def test_jacobians_are_right_to_the_last_digits(angle):
    for r in rotation_vectors(angle):
        J, inverse = in_many_digits(r)
        size = np.eye(3) + min(1.0, angle) * (1 - np.eye(3))  # off the diagonal they are as small as the angle
        assert np.max(abs(quaternion.right_jacobian(r) - J) / size) < 1e-15
        assert np.max(abs(quaternion.left_jacobian(r) - J.T) / size) < 1e-15
        worst = max(1.0, float(np.max(abs(inverse))))
        assert np.max(abs(quaternion.right_jacobian_inverse(r) - inverse) / size) < 4e-15 * worst**2
        assert np.max(abs(quaternion.left_jacobian_inverse(r) - inverse.T) / size) < 4e-15 * worst**2


def test_series_have_the_coefficients_of_their_functions():
    with mpmath.workdps(40):
        cubic = mpmath.taylor(lambda x: sum((-x) ** k / mpmath.factorial(2 * k + 3) for k in range(12)), 0, 8)
        bernoulli = [abs(mpmath.bernoulli(2 * k)) / mpmath.factorial(2 * k) for k in range(1, 12)]
    np.testing.assert_allclose(CUBIC, np.array(cubic, dtype=float), rtol=1e-15)
    np.testing.assert_allclose(COTANGENT, np.array(bernoulli, dtype=float), rtol=1e-15)


def test_jacobians_are_derivatives_of_the_exponential():
    r, delta = np.random.default_rng(0).standard_normal((2, 3))
    p = quaternion.rotation_vector_to_wxyz(r)
    slope = complex_step(quaternion.rotation_vector_to_wxyz, r, delta)
    assert_close(quaternion.right_jacobian(r) @ delta, quaternion.angular_velocity(p, slope))
    assert_close(quaternion.left_jacobian(r) @ delta, quaternion.angular_velocity_space(p, slope))


def test_no_rotation_has_unit_jacobians_with_derivatives():
    for function in (quaternion.right_jacobian, quaternion.right_jacobian_inverse):
        np.testing.assert_array_equal(function([0.0, 0, 0]), np.eye(3))
        slope = np.array([[x.slope for x in row] for row in function(Vec([Dual(0.0, s) for s in (1.0, 0.0, 0.0)]))])
        assert_close(abs(slope), abs(np.array([[0, 0, 0], [0, 0, 0.5], [0, 0.5, 0]])))


def test_rates_of_the_rotation_vector_go_both_ways():
    r, omega = np.random.default_rng(1).standard_normal((2, 20, 3))
    rate = quaternion.rotation_vector_rate(r, omega)
    assert_close(quaternion.rotation_vector_angular_velocity(r, rate), omega, condition=10)
    assert_close((quaternion.right_jacobian(r) @ rate[..., None])[..., 0], omega, condition=10)


@pytest.mark.parametrize("scale", [1e-5, 0.3, 1.5])
def test_the_angular_acceleration_is_the_derivative_of_the_angular_velocity(scale):
    r, rdot, rddot = scale * np.random.default_rng(2).standard_normal((3, 3))
    t = 1e-30j
    moved = quaternion.rotation_vector_angular_velocity(r + t * rdot, rdot + t * rddot)
    found = quaternion.rotation_vector_angular_acceleration(r, rdot, rddot)
    assert_close(found, np.imag(moved) / 1e-30, condition=10)


def test_a_step_and_a_difference_undo_each_other():
    p, q = attitudes(40), attitudes(40, seed=1)
    assert apart(quaternion.integrate(p, quaternion.difference(p, q)), q) < 1e-12
    r = rotation_vectors(2.0)
    assert_close(quaternion.difference(p[:3], quaternion.integrate(p[:3], r)), r)


def test_derivatives_of_steps_and_differences_are_mujocos():
    p, q = quaternion.random((2, 5), seed=4)
    r = rotation_vectors(1.3)[0]
    of_attitude, of_velocity, of_scale = np.zeros((3, 3)), np.zeros((3, 3)), np.zeros(3)
    mujoco.mjd_quatIntegrate(r / 0.2, 0.2, of_attitude.ravel(), of_velocity.ravel(), of_scale)
    found = quaternion.integrate_derivatives(r)
    assert_close(found.attitude, of_attitude)
    assert_close(found.rotation_vector, of_velocity)  # MuJoCo's is by velocity times scale
    assert_close(r / 0.2, of_scale)
    for a, b in zip(p, q, strict=True):
        end, start = np.zeros((3, 3)), np.zeros((3, 3))
        mujoco.mjd_subQuat(b, a, end.ravel(), start.ravel())
        found = quaternion.difference_derivatives(a, b)
        assert_close(found.end, end, condition=10)
        assert_close(found.start, start, condition=10)


def test_derivatives_of_steps_and_differences_are_the_complex_steps():
    p, q = quaternion.random(2, seed=5)
    r, delta = np.random.default_rng(6).standard_normal((2, 3))
    end = quaternion.integrate(p, r)
    turned = quaternion.rate(p, delta)  # p∘exp(δ/2) to first order
    by_attitude = complex_step(lambda x: quaternion.integrate(x, r), p, turned)
    by_vector = complex_step(lambda x: quaternion.integrate(p, x), r, delta)
    found = quaternion.integrate_derivatives(r)
    assert_close(found.attitude @ delta, quaternion.angular_velocity(end, by_attitude))
    assert_close(found.rotation_vector @ delta, quaternion.angular_velocity(end, by_vector))
    found = quaternion.difference_derivatives(p, q)
    assert_close(found.start @ delta, complex_step(lambda x: quaternion.difference(x, q), p, turned), condition=10)
    turned = quaternion.rate(q, delta)
    assert_close(found.end @ delta, complex_step(lambda x: quaternion.difference(p, x), q, turned), condition=10)
