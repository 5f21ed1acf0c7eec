"""Attitudes between two."""

import numpy as np
import pytest
from scipy.spatial.transform import Slerp

from attitudes import apart, attitudes, scipys, wxyz
from close import assert_close, complex_step
from polhode import InputError, quaternion


def test_the_shorter_way_is_scipys_slerp():
    p, q = attitudes(30), attitudes(30, seed=1)
    for a, b in zip(p, q, strict=True):
        if abs(a @ b) > 1e-6:
            expected = wxyz(Slerp([0, 1], scipys(np.stack([a, b])))([0.2, 0.7]))
            assert apart(quaternion.slerp(a, b, [0.2, 0.7]), expected) < 1e-12


def test_the_longer_way_turns_by_what_is_left_of_a_turn():
    p, q = attitudes(30), attitudes(30, seed=1)
    short, long = (quaternion.slerp_state(p, q, 0.4, way=way) for way in ("shorter", "longer"))
    rates = [np.linalg.norm(quaternion.angular_velocity(*state), axis=1) for state in (short, long)]
    assert_close(rates[0], quaternion.angle_between(p, q))
    assert_close(rates[0] + rates[1], np.full(30, 2 * np.pi))
    assert apart(quaternion.slerp(p, q, 1.0, way="longer"), q) < 1e-12


def test_signs_say_the_way_that_is_as_given():
    p, q = attitudes(30), attitudes(30, seed=1)
    assert_close(quaternion.slerp(p, q, 1.0, way="as given"), q)
    assert_close(quaternion.slerp(p, -q, 1.0, way="as given"), -q)


def test_a_whole_turn_is_about_the_z_axis_of_the_body():
    p = attitudes(6)
    halfway = quaternion.slerp(p, -p, 0.5, way="as given")
    assert_close(halfway, quaternion.product(p, [0, 0, 0, 1]))
    assert_close(quaternion.slerp(p, p, 0.5, way="longer"), halfway)
    assert_close(quaternion.slerp(p, p, 0.5), p)


@pytest.mark.parametrize("way", ["shorter", "longer", "as given"])
def test_the_rate_is_the_derivative_by_s(way):
    p, q = attitudes(9)[3], attitudes(9)[0]
    at, rate = quaternion.slerp_state(p, q, 0.3, way=way)
    assert_close(at, quaternion.slerp(p, q, 0.3, way=way))
    assert_close(rate, complex_step(lambda s: quaternion.slerp(p, q, s, way=way), 0.3, 1.0))


def test_squad_is_a_slerp_of_slerps_by_explicit_sines():
    def slerp(a, b, s):
        angle = np.arccos(a @ b)
        return (np.sin((1 - s) * angle) * a + np.sin(s * angle) * b) / np.sin(angle)

    p, a, b, q = quaternion.continuous_signs(quaternion.random(4, seed=5))
    for s in (0.0, 0.3, 0.8, 1.0):
        expected = slerp(slerp(p, q, s), slerp(a, b, s), 2 * s * (1 - s))
        assert_close(quaternion.squad(p, a, b, q, s), expected, condition=10)


def test_squad_between_its_controls_passes_with_one_rate():
    path = quaternion.continuous_signs(quaternion.random((2, 5), seed=3))
    a = quaternion.squad_controls(path)
    for k in (1, 2, 3):
        before, after = (
            [complex_step(lambda s, c=c: quaternion.squad(*c, s), end, 1.0) for c in corners]
            for end, corners in (
                (1.0, [(x[k - 1], y[k - 1], y[k], x[k]) for x, y in zip(path, a, strict=True)]),
                (0.0, [(x[k], y[k], y[k + 1], x[k + 1]) for x, y in zip(path, a, strict=True)]),
            )
        )
        assert_close(before, after, condition=10)
    np.testing.assert_array_equal(a[:, [0, -1]], path[:, [0, -1]])


def test_an_unknown_way_is_named():
    with pytest.raises(InputError, match=r"argument way: no such way round.*\n.*'short'.*'shorter' or 'longer'"):
        quaternion.slerp([1, 0, 0, 0], [0, 1, 0, 0], 0.5, way="short")
