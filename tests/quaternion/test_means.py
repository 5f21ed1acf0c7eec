"""Means of attitudes."""

import numpy as np
import pytest

from attitudes import apart, scipys, wxyz
from close import assert_close
from polhode import InputError, quaternion

RNG = np.random.default_rng(0)
NEAR = quaternion.random_near(quaternion.random(4, seed=1), 0.5, 6, seed=2) * RNG.choice([-1.0, 1.0], (4, 6, 1))
WEIGHTS = RNG.random((4, 6))


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 1)])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["alike", "weighted"])
def test_means_are_scipys(axis, weights):
    expected = wxyz(scipys(NEAR).mean(weights, axis=1 if axis == -1 else axis))
    found = quaternion.mean(NEAR, weights, axis)
    assert found.shape == expected.shape
    assert apart(found, expected) < 1e-9


def test_a_mean_of_one_is_itself_and_signs_do_not_matter():
    p = quaternion.random(seed=3)
    assert apart(quaternion.mean(p), p) < 1e-12
    assert apart(quaternion.mean([p, -p, p]), p) < 1e-12
    many = quaternion.random_near(p, 0.1, 10**5, seed=1)
    assert quaternion.angle_between(quaternion.mean(many), p) < 0.01


def test_the_geodesic_mean_leaves_no_mean_rotation():
    m = quaternion.geodesic_mean(NEAR, WEIGHTS, axis=1)
    left = np.einsum("ij,ijk->ik", WEIGHTS, quaternion.difference(m[:, None], NEAR))
    assert_close(left, np.zeros((4, 3)))
    turns = quaternion.from_axis_angle([0, 0, 1], [0.1, 0.2, 0.6])
    assert_close(quaternion.difference([1, 0, 0, 0], quaternion.geodesic_mean(turns)), [0, 0, 0.3])


def test_the_covariance_is_the_mean_square_of_rotation_vectors():
    m = quaternion.mean(NEAR, axis=1)
    found = quaternion.covariance(NEAR, m)
    for k in range(4):
        phi = (scipys(m[k]).inv() * scipys(NEAR[k])).as_rotvec()
        assert_close(found[k], phi.T @ phi / 6)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (lambda: quaternion.mean(np.eye(4)), "no unique mean"),
        (lambda: quaternion.mean(np.zeros((0, 4))), "nothing to take a mean of"),
        (lambda: quaternion.mean(NEAR, -WEIGHTS), "argument weights: not weights"),
        (lambda: quaternion.mean(NEAR, 0 * WEIGHTS), "argument weights: not weights"),
        (lambda: quaternion.mean(NEAR, WEIGHTS[0, :5]), "argument weights: wrong shape"),
        (lambda: quaternion.mean(NEAR, axis=2), "argument axis: no such axis"),
        (lambda: quaternion.mean(NEAR, axis=(0, -3)), "argument axis: no such axis"),
        (lambda: quaternion.mean(NEAR, axis="x"), "argument axis: no such axis"),
        (lambda: quaternion.mean([1.0, 0, 0]), "argument p: wrong shape"),
    ],
)
def test_what_has_no_mean_is_named(given, words):
    with pytest.raises(InputError, match=words):
        given()
