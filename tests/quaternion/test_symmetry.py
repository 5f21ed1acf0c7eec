"""Attitudes of symmetric bodies."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from attitudes import attitudes, scipys, wxyz
from close import assert_close
from polhode import InputError, quaternion

NAMES = ("C1", "C2", "C5", "D1", "D2", "D3", "D6", "T", "O", "I")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("axis", [1, 2, 3])
def test_groups_are_scipys(name, axis):
    ours, theirs = quaternion.symmetry_group(name, axis), wxyz(Rotation.create_group(name, axis="xyz"[axis - 1]))
    near = abs(ours @ theirs.T) > 1 - 1e-12
    assert ours.shape == theirs.shape
    np.testing.assert_array_equal(np.sum(near, axis=0), 1)
    np.testing.assert_array_equal(np.sum(near, axis=1), 1)
    assert list(ours[0]) == [1, 0, 0, 0]


def test_the_smallest_equivalent_rotation_is_scipys():
    p, body, space = attitudes(40), quaternion.random(10, seed=1), quaternion.random(5, seed=2)
    found = quaternion.reduced(p, body, space)
    theirs, of_space, of_body = scipys(p).reduce(scipys(space), scipys(body), return_indices=True)
    assert_close(quaternion.angle_between(found.attitude, wxyz(theirs)), np.zeros(40))
    np.testing.assert_array_equal(found.body, of_body)
    np.testing.assert_array_equal(found.space, of_space)
    alone = quaternion.reduced(p)
    assert_close(alone.attitude, p * np.where(p[:, :1] < 0, -1, 1))


def test_equivalent_attitudes_are_no_distance_apart():
    p, q = attitudes(12), attitudes(12, seed=1)
    body, space = quaternion.symmetry_group("O"), quaternion.symmetry_group("D3")
    distance = quaternion.symmetric_angle(p, q, body, space)
    for b, s in zip(body[[3, 10, 22]], space[[1, 4, 5]], strict=True):
        again = quaternion.product(s, quaternion.product(q, b))
        assert_close(quaternion.symmetric_angle(p, again, body, space), distance)
        assert_close(quaternion.symmetric_angle(again, p, body, space), distance)
        assert_close(quaternion.symmetric_angle(q, again, body, space), np.zeros(12))
    every = scipys(quaternion.product(np.asarray(q)[:, None], body))
    closest = np.min((scipys(p[:, None]).inv() * every).magnitude(), axis=1)
    assert_close(quaternion.symmetric_angle(p, q, body), closest)
    assert_close(quaternion.symmetric_angle(p, q), quaternion.angle_between(p, q))


def test_no_attitude_of_a_cube_is_further_than_its_largest_angle():
    p = quaternion.random(2000, seed=1)
    angle = quaternion.symmetric_angle(p, [1, 0, 0, 0], quaternion.symmetry_group("O"))
    assert 1.0 < np.max(angle) < np.radians(62.8)  # MacKenzie: 62.80° for cubes


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (lambda: quaternion.symmetry_group("X"), "argument name: no such group"),
        (lambda: quaternion.symmetry_group("C0"), "argument name: no such group"),
        (lambda: quaternion.symmetry_group("C5000"), "argument name: no such group"),
        (lambda: quaternion.symmetry_group(4), "argument name: no such group"),
        (lambda: quaternion.symmetry_group("C4", axis="z"), "argument axis: no such axis"),
        (lambda: quaternion.reduced([1, 0, 0, 0], body=[1, 0, 0, 0]), "argument body: not a list"),
        (lambda: quaternion.reduced([1, 0, 0, 0], space=np.zeros((0, 4))), "argument space: not a list"),
        (
            lambda: quaternion.symmetric_angle([1, 0, 0, 0], [0, 1, 0, 0], quaternion.random(3, seed=1)),
            "argument body: not a group",
        ),
    ],
)
def test_what_is_no_group_is_named(given, words):
    with pytest.raises(InputError, match=words):
        given()
