"""Random attitudes."""

import numpy as np
import pytest

from polhode import InputError, quaternion


def test_uniform_attitudes_turn_vectors_everywhere_alike():
    """Means of the entries of p pᵀ ⊗ p pᵀ on the sphere are 1/8 (4th powers) and 1/24 (pairs of squares)."""
    p = quaternion.random(40_000, seed=1)
    np.testing.assert_allclose(np.linalg.norm(p, axis=1), 1, atol=1e-15)
    assert np.max(abs(np.mean(p, axis=0))) < 0.012  # five standard deviations, 0.5/√n each
    squares = p * p
    expected = np.where(np.eye(4) == 1, 1 / 8, 1 / 24)
    assert np.max(abs(squares.T @ squares / len(p) - expected)) < 5 * 0.14 / 200


@pytest.mark.parametrize("shape", [(), 0, 1, 7, (2, 3), (4, 0)])
def test_shapes_are_those_asked_for(shape):
    batch = shape if isinstance(shape, tuple) else (shape,)
    assert quaternion.random(shape, seed=1).shape == (*batch, 4)
    assert quaternion.random_near([[1, 0, 0, 0]] * 2, 0.1, shape, seed=1).shape == (2, *batch, 4)


def test_a_seed_gives_the_same_draws_and_a_generator_goes_on():
    np.testing.assert_array_equal(quaternion.random(5, seed=3), quaternion.random(5, seed=3))
    rng = np.random.default_rng(3)
    first, second = quaternion.random(5, seed=rng), quaternion.random(5, seed=rng)
    np.testing.assert_array_equal(first, quaternion.random(5, seed=3))
    assert not np.any(first == second)
    assert not np.any(quaternion.random(5) == quaternion.random(5))


@pytest.mark.parametrize(
    ("spread", "covariance"),
    [
        (0.1, 0.01 * np.eye(3)),
        ([0.1, 0.2, 0.0], np.diag([0.01, 0.04, 0.0])),
        ([[0.02, 0.01, 0], [0.01, 0.02, 0], [0, 0, 0.01]], [[0.02, 0.01, 0], [0.01, 0.02, 0], [0, 0, 0.01]]),
    ],
)
def test_attitudes_near_a_mean_scatter_as_asked_for(spread, covariance):
    mean = quaternion.random(seed=9)
    p = quaternion.random_near(mean, spread, 20_000, seed=2)
    found = quaternion.covariance(p, mean)
    assert np.max(abs(found - covariance)) < 5 * np.sqrt(2 / 20_000) * 0.04


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (lambda: quaternion.random(-1), "argument shape: not a shape"),
        (lambda: quaternion.random(2.5), "argument shape: not a shape"),
        (lambda: quaternion.random(3, seed="a"), "argument seed: not a seed"),
        (lambda: quaternion.random(3, seed=-1), "argument seed: not a seed"),
        (lambda: quaternion.random_near([1, 0, 0, 0], -0.1), "argument spread: a negative spread"),
        (lambda: quaternion.random_near([1, 0, 0, 0], [0.1, 0.2]), "argument spread: wrong shape"),
        (lambda: quaternion.random_near([1, 0, 0, 0], -np.eye(3)), "argument spread: not a covariance"),
        (lambda: quaternion.random_near([1, 0, 0, 1], 0.1), "argument mean: not a unit quaternion"),
        (lambda: quaternion.random_near([1, 0, 0, 0], np.nan), "argument spread: not finite"),
    ],
)
def test_bad_arguments_are_named(given, words):
    with pytest.raises(InputError, match=words):
        given()
