"""Scalars that carry derivatives: exact against complex steps, on batches, through every function."""

import math

import numpy as np
import pytest

import polhode as ph
from close import assert_close
from polhode import scalar
from polhode.scalar import Dual


@pytest.mark.parametrize("name", ["sin", "cos", "tan", "asin", "acos", "exp", "log", "sqrt"])
def test_each_function_has_its_derivative(name):
    function = getattr(scalar, name)
    x = np.array([0.1, 0.4, 0.8])
    found = function(Dual(x, np.ones((1, 3))))
    assert_close(found.value, function(x))
    assert_close(found.slope[0], np.imag(function(x + 1e-30j)) / 1e-30)


def test_arithmetic_follows_the_product_and_quotient_rules():
    x, y = Dual(2.0, np.array([1.0, 0.0])), Dual(3.0, np.array([0.0, 1.0]))
    found = (x * y - x / y + 1) / (2 - x * 3.0) + 5 / y - (-x)
    exact = lambda a, b: (a * b - a / b + 1) / (2 - 3 * a) + 5 / b + a
    h = 1e-30
    assert_close(found.value, exact(2.0, 3.0))
    assert_close(found.slope, [np.imag(exact(2 + h * 1j, 3.0)) / h, np.imag(exact(2.0, 3 + h * 1j)) / h])


def test_branches_take_the_derivative_of_the_side_they_are_on():
    x = Dual(np.array([-2.0, 3.0]), np.ones((1, 2)))
    assert scalar.where(x > 0, x * x, -5 * x).slope.tolist() == [[-5, 6]]
    assert abs(x).slope.tolist() == [[-1, 1]]
    assert scalar.maximum(x, 1.0).slope.tolist() == [[0, 1]]
    both = (x > -3) & (x <= 0)
    assert scalar.where(both, 2 * x, x).slope.tolist() == [[2, 1]]
    assert scalar.where((x >= 0) & (x < 9), 7 * x, 1.0).slope.tolist() == [[0, 7]]


def test_angles_of_points_have_the_derivative_of_atan2():
    y, x = Dual(0.3, np.array([1.0, 0.0])), Dual(-0.7, np.array([0.0, 1.0]))
    r2 = 0.3**2 + 0.7**2
    assert_close(scalar.atan2(y, x).slope, [-0.7 / r2, -0.3 / r2])
    assert_close(scalar.atan2(0.3, x).slope, [0, -0.3 / r2])
    assert_close(scalar.atan2(y, -0.7).slope, [-0.7 / r2, 0])


def test_a_function_of_plain_numbers_is_told():
    with pytest.raises(ph.CompileError, match=r"a plain number is needed.*\n.*`math`"):
        math.sin(Dual(1.0, np.ones(1)))
