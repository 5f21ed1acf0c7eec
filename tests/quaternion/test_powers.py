"""Exponential, logarithm and powers of quaternions of any length."""

import mpmath
import numpy as np
import pytest

from attitudes import apart, attitudes, scipys, wxyz
from close import assert_close
from polhode import InputError, quaternion


def matrix_of(p):
    """Left product matrix, in digits of mpmath."""
    w, x, y, z = (mpmath.mpf(float(c)) for c in p)
    return mpmath.matrix([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])


def test_the_exponential_is_that_of_the_product_matrix():
    rng = np.random.default_rng(0)
    for p in [*rng.standard_normal((4, 4)), *(1e-6 * rng.standard_normal((2, 4))), np.zeros(4), [2.0, 0, 0, 0]]:
        column = [float(x) for x in mpmath.expm(matrix_of(p))[:, 0]]
        assert_close(quaternion.full_exp(p), column)


def test_the_logarithm_undoes_the_exponential():
    rng = np.random.default_rng(1)
    x = rng.standard_normal((50, 4))
    x[:, 1:] *= (3 * rng.random(50) / np.linalg.norm(x[:, 1:], axis=1))[:, None]
    assert_close(quaternion.full_log(quaternion.full_exp(x)), x, condition=20)


def test_negative_numbers_have_a_logarithm_about_z():
    assert_close(quaternion.full_log([-1.0, 0, 0, 0]), [0, 0, 0, np.pi])
    assert_close(quaternion.full_exp(quaternion.full_log([-3.0, 0, 0, 0])), [-3.0, 0, 0, 0])
    with pytest.raises(InputError, match=r"quaternion.log, argument p: a logarithm about every axis"):
        quaternion.log([[1, 0, 0, 0], [-1, 0, 0, 0]])


@pytest.mark.parametrize("s", [-2.0, -1.0, -0.3, 0.0, 0.5, 1.0, 2.0, 3.0])
def test_powers_of_attitudes_are_scipys(s):
    p = attitudes(60)
    p = p[abs(p[:, 0]) > 1e-6]  # nearer to half a turn both ways round are equally short
    assert apart(quaternion.power(quaternion.canonical(p), s), wxyz(scipys(p) ** s)) < 1e-12


def test_whole_powers_are_products_whatever_the_length_and_sign():
    p = np.random.default_rng(2).standard_normal((20, 4))
    p[0] = [-2, 0, 0, 0]
    assert_close(quaternion.power(p, 2), quaternion.product(p, p), condition=10)
    assert_close(quaternion.power(p, -1), quaternion.inverse(p), condition=10)
    assert_close(quaternion.power(quaternion.power(p, 1 / 3), 3), p, condition=10)


def test_zero_has_neither_logarithm_nor_power():
    for function in (quaternion.full_log, lambda p: quaternion.power(p, 0.5)):
        with pytest.raises(InputError, match="is zero"):
            function([[1.0, 0, 0, 0], [0, 0, 0, 0]])
