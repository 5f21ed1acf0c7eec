"""Swing and twist."""

import numpy as np

from attitudes import attitudes
from close import assert_close
from polhode import quaternion


def test_a_rotation_is_its_twist_and_then_its_swing():
    p = attitudes(40)
    axis = np.array([1.0, -2.0, 0.5])
    swing, twist = quaternion.swing_twist(p, axis)
    n = axis / np.linalg.norm(axis)
    assert_close(quaternion.product(swing, twist), p)
    assert_close(np.cross(twist[:, 1:], n), np.zeros((40, 3)))
    assert_close(swing[:, 1:] @ n, np.zeros(40))
    assert np.all(swing[:, 0] >= 0)


def test_a_swing_by_half_a_turn_has_no_twist():
    swing, twist = quaternion.swing_twist([0, 1, 0, 0], [0, 0, 1])
    assert list(twist) == [1, 0, 0, 0]
    assert list(swing) == [0, 1, 0, 0]
