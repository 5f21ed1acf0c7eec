"""The two signs of an attitude."""

import numpy as np
import pytest

from attitudes import attitudes, scipys
from polhode import InputError, quaternion


def test_the_canonical_sign_is_scipys():
    p = np.vstack([attitudes(60), [[0, -1, 0, 0], [0, 0, -1, 0], [0, 0, 0, -1], [0, -0.6, 0.8, 0], [-1, 0, 0, 0]]])
    expected = np.roll(scipys(p).as_quat(canonical=True), 1, axis=-1)
    np.testing.assert_allclose(quaternion.canonical(p), expected, atol=1e-15)
    np.testing.assert_array_equal(quaternion.canonical(-p), quaternion.canonical(p))


def test_the_sign_of_a_reference_is_taken():
    p, reference = attitudes(40), attitudes(40, seed=1)
    found = quaternion.same_sign(p, reference)
    assert np.all(np.sum(found * reference, axis=1) >= 0)
    np.testing.assert_array_equal(abs(found), abs(p))
    assert list(quaternion.same_sign([0, 1, 0, 0], [1, 0, 0, 0])) == [0, 1, 0, 0]  # both are as near


def test_signs_along_a_path_never_turn_against_the_one_before():
    t = np.linspace(0, 9, 50)
    path = np.column_stack([np.cos(t), np.sin(t), 0 * t, 0 * t])
    broken = path * np.random.default_rng(0).choice([-1.0, 1.0], 50)[:, None]
    broken[0] = path[0]
    np.testing.assert_array_equal(quaternion.continuous_signs(broken), path)
    batch = quaternion.continuous_signs(np.stack([broken, -broken]))
    np.testing.assert_array_equal(batch, np.stack([path, -path]))
    assert quaternion.continuous_signs(np.zeros((0, 4))).shape == (0, 4)


def test_one_attitude_is_no_path():
    with pytest.raises(InputError, match=r"continuous_signs, argument p: not a path.*\n.*\(4,\)"):
        quaternion.continuous_signs([1, 0, 0, 0])
