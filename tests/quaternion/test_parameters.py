"""Modified Rodrigues parameters and the Gibbs vector."""

import numpy as np
import pytest

from attitudes import apart, attitudes
from close import assert_close
from polhode import InputError, quaternion

RNG = np.random.default_rng(0)


def test_the_shadow_is_the_same_attitude_by_the_other_sign():
    sigma = RNG.standard_normal((30, 3))
    shadow = quaternion.shadow_mrp(sigma)
    assert_close(quaternion.mrp_to_wxyz(shadow), -quaternion.mrp_to_wxyz(sigma))
    assert_close(quaternion.shadow_mrp(shadow), sigma)
    with pytest.raises(InputError, match="shadow_mrp, argument sigma: is zero"):
        quaternion.shadow_mrp([0, 0, 0])


def test_the_short_set_is_within_the_unit_ball():
    sigma = 3 * RNG.standard_normal((40, 3))
    short = quaternion.short_mrp(sigma)
    assert np.all(np.linalg.norm(short, axis=1) <= 1)
    assert apart(quaternion.mrp_to_wxyz(short), quaternion.mrp_to_wxyz(sigma)) < 1e-12
    assert list(quaternion.short_mrp([0, 1, 0])) == [0, 1, 0]
    assert list(quaternion.short_mrp([0, 0, 0])) == [0, 0, 0]


def test_products_of_parameters_are_products_of_attitudes():
    p, q = attitudes(30), attitudes(30, seed=1)
    found = quaternion.mrp_product(quaternion.wxyz_to_mrp(p), quaternion.wxyz_to_mrp(q))
    assert apart(quaternion.mrp_to_wxyz(found), quaternion.product(p, q)) < 1e-12
    a, b = RNG.standard_normal((2, 30, 3))
    closed = (a + b + np.cross(a, b)) / (1 - np.sum(a * b, axis=1))[:, None]
    assert_close(quaternion.gibbs_product(a, b), closed, condition=100)
    with pytest.raises(InputError, match="half a turn"):
        quaternion.gibbs_product([1.0, 0, 0], [1.0, 0, 0])


@pytest.mark.parametrize("name", ["mrp", "gibbs"])
def test_rates_follow_those_of_the_quaternion(name):
    to, back = getattr(quaternion, f"{name}_to_wxyz"), getattr(quaternion, f"wxyz_to_{name}")
    x, omega = RNG.standard_normal((2, 20, 3))
    x /= 1 + np.linalg.norm(x, axis=1, keepdims=True)  # of the short set
    p, h = to(x), 1e-30
    step = p + 1j * h * quaternion.rate(p, omega)
    expected = np.imag(step[:, 1:] / (step[:, :1] + (1 if name == "mrp" else 0))) / h
    rate = getattr(quaternion, f"{name}_rate")(x, omega)
    assert_close(back(p), x)
    assert_close(rate, expected)
    assert_close(getattr(quaternion, f"{name}_angular_velocity")(x, rate), omega)
