"""Distances of attitudes."""

import numpy as np

from attitudes import attitudes, scipys
from close import assert_close
from polhode import quaternion


def test_the_chordal_distance_is_that_of_matrices():
    p, q = attitudes(60), attitudes(60, seed=1)
    expected = np.linalg.norm(scipys(p).as_matrix() - scipys(q).as_matrix(), axis=(1, 2))
    assert_close(quaternion.chordal_distance(p, q), expected)


def test_distances_are_sines_of_the_angle_between():
    p, q = attitudes(60), attitudes(60, seed=1)
    angle = (scipys(p).inv() * scipys(q)).magnitude()
    assert_close(quaternion.angle_between(p, q), angle)
    assert_close(quaternion.chordal_distance(p, q), 2 * np.sqrt(2) * np.sin(angle / 2))
    assert_close(quaternion.quaternion_distance(p, q), 2 * np.sin(angle / 4))


def test_small_distances_keep_their_digits():
    p = attitudes(9)
    small = 1e-9 * np.array([0.6, 0.0, 0.8])
    q = quaternion.integrate(p, small)
    np.testing.assert_allclose(quaternion.chordal_distance(p, q), np.sqrt(2) * 1e-9, rtol=1e-6)
    np.testing.assert_allclose(quaternion.quaternion_distance(p, -q), 0.5e-9, rtol=1e-6)
