"""Attitudes from directions, axes and matrices."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from attitudes import apart, attitudes, scipys, wxyz
from close import assert_close
from polhode import InputError, quaternion

RNG = np.random.default_rng(0)
BODY = RNG.standard_normal((6, 8, 3))
TRUE = attitudes(6)
SPACE = quaternion.rotate(TRUE[:, None], BODY) + 0.1 * RNG.standard_normal((6, 8, 3))
WEIGHTS = RNG.uniform(0.5, 2, (6, 8))


def test_wahbas_attitude_loss_and_covariance_are_scipys():
    fit = quaternion.wahba(BODY, SPACE, WEIGHTS)
    for k in range(6):
        rotation, rssd, sensitivity = Rotation.align_vectors(SPACE[k], BODY[k], WEIGHTS[k], return_sensitivity=True)
        A = rotation.as_matrix()
        assert apart(fit.attitude[k], wxyz(rotation)) < 1e-12
        assert_close(np.sqrt(2 * fit.loss[k]), rssd)
        assert_close(A @ fit.covariance[k] @ A.T, sensitivity / np.mean(WEIGHTS[k]), condition=10)


def test_an_infinite_weight_is_met_exactly_as_scipy_does():
    weights = WEIGHTS.copy()
    weights[np.arange(6), [0, 1, 2, 3, 4, 7]] = np.inf
    fit = quaternion.wahba(BODY, SPACE, weights)
    for k in range(6):
        rotation, _ = Rotation.align_vectors(SPACE[k], BODY[k], weights[k])
        assert apart(fit.attitude[k], wxyz(rotation)) < 1e-12
        i = int(np.argmax(weights[k]))
        turned, aim = quaternion.rotate(fit.attitude[k], BODY[k, i]), SPACE[k, i]
        assert_close(np.cross(turned, aim), np.zeros(3))
        along = np.linalg.eigh(fit.covariance[k])[1][:, -1]
        assert_close(abs(along @ BODY[k, i]), np.linalg.norm(BODY[k, i]))
    heavy = np.where(np.isinf(weights), 1e10, weights)
    heavy_fit = quaternion.wahba(BODY, SPACE, heavy)
    assert apart(heavy_fit.attitude, fit.attitude) < 1e-8  # what the others weigh, of 1e10


def test_weights_far_apart_cost_no_digits():
    """Vectors that fit exactly, one of them weighing 1e10 times as much: the attitude is still exact."""
    space = scipys(TRUE).as_matrix() @ np.swapaxes(BODY, -1, -2)
    fit = quaternion.wahba(BODY, np.swapaxes(space, -1, -2), [1e10, 1, 1, 1, 1, 1, 1, 1])
    assert apart(fit.attitude, TRUE) < 1e-14


def test_the_covariance_is_the_scatter_of_many_fits():
    sigma, n = 0.01, 4000
    b = BODY[0]
    noisy = scipys(TRUE[0]).apply(b) + sigma * RNG.standard_normal((n, 8, 3))
    fits = quaternion.wahba(b, noisy, np.full(8, 1 / sigma**2))
    scatter = quaternion.covariance(fits.attitude, TRUE[0])
    assert np.max(abs(scatter - fits.covariance[0])) < 0.15 * np.max(fits.covariance[0])


def test_without_noise_two_pairs_are_enough():
    exact = scipys(TRUE).as_matrix()
    space = np.einsum("kij,knj->kni", exact, BODY)
    assert apart(quaternion.wahba(BODY[:, :2], space[:, :2]).attitude, TRUE) < 1e-9
    found = quaternion.from_two_pairs(BODY[:, 0], 3 * space[:, 0], BODY[:, 1], 0.1 * space[:, 1])
    assert apart(found, TRUE) < 1e-9


def test_the_first_pair_is_exact_and_the_second_in_its_plane():
    p = quaternion.from_two_pairs(BODY[:, 0], SPACE[:, 0], BODY[:, 1], SPACE[:, 1])
    first, second = (quaternion.rotate(p, BODY[:, k]) for k in (0, 1))
    assert_close(np.cross(first, SPACE[:, 0]), np.zeros((6, 3)), condition=10)
    normal = np.cross(SPACE[:, 0], SPACE[:, 1])
    assert_close(np.sum(second * normal, axis=1), np.zeros(6), condition=10)
    assert np.all(np.sum(np.cross(first, second) * normal, axis=1) > 0)


def test_two_axes_are_gram_schmidts_columns():
    x, y = RNG.standard_normal((2, 5, 3))
    found = quaternion.rotation_matrix(quaternion.from_two_axes(x, y))
    e1 = x / np.linalg.norm(x, axis=1, keepdims=True)
    e2 = y - np.sum(e1 * y, axis=1, keepdims=True) * e1
    e2 /= np.linalg.norm(e2, axis=1, keepdims=True)
    assert_close(found, np.stack([e1, e2, np.cross(e1, e2)], axis=-1), condition=10)


def test_vectors_of_any_length_have_a_shortest_rotation():
    a, b = RNG.standard_normal((2, 40, 3)) * 10.0 ** RNG.uniform(-5, 5, (2, 40, 1))
    b[:5] = -3 * a[:5]
    p = quaternion.from_two_vectors(a, b)
    angle = np.arctan2(np.linalg.norm(np.cross(a, b), axis=1), np.sum(a * b, axis=1))
    assert_close(quaternion.axis_angle(p).angle, angle)
    turned = quaternion.rotate(p, a / np.linalg.norm(a, axis=1, keepdims=True))
    assert_close(turned, b / np.linalg.norm(b, axis=1, keepdims=True))
    with pytest.raises(InputError, match=r"shortest_rotation, argument a: not a unit vector(.|\n)*from_two_vectors"):
        quaternion.shortest_rotation([2, 0, 0], [0, 1, 0])


def test_the_nearest_rotation_is_that_of_the_singular_vectors():
    M = np.concatenate([RNG.standard_normal((20, 3, 3)), scipys(TRUE).as_matrix() + 1e-3 * RNG.random((6, 3, 3))])
    U, _, Vt = np.linalg.svd(M)
    U[:, :, 2] *= np.sign(np.linalg.det(U @ Vt))[:, None]
    found = quaternion.nearest_rotation(M)
    assert_close(quaternion.rotation_matrix(found), U @ Vt, condition=1e3)
    assert apart(quaternion.nearest_rotation(7 * scipys(TRUE).as_matrix()), TRUE) < 1e-12


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (lambda: quaternion.wahba([[1, 0, 0]], [[0, 1, 0]]), r"no pairs of vectors(.|\n)*from_two_vectors"),
        (lambda: quaternion.wahba(BODY[0], SPACE[0, :3]), "no pairs of vectors"),
        (lambda: quaternion.wahba([[1, 0, 0], [-2, 0, 0]], np.eye(3)[:2]), "several attitudes fit these pairs alike"),
        (lambda: quaternion.wahba(np.zeros((3, 3)), np.eye(3)), "several attitudes fit these pairs alike"),
        (lambda: quaternion.wahba(np.eye(3), np.eye(3), [np.inf, np.inf, 1]), "argument weights: not weights"),
        (lambda: quaternion.wahba(np.eye(3), np.eye(3), [1, -1, 1]), "argument weights: not weights"),
        (lambda: quaternion.wahba(np.eye(3), np.eye(3), [1, np.nan, 1]), "argument weights: not weights"),
        (lambda: quaternion.wahba(np.eye(3), np.eye(3), [1, 1]), "argument weights: wrong shape"),
        (lambda: quaternion.wahba(np.eye(3)[[0, 0]], np.eye(3)[:2], [np.inf, 1]), "several attitudes fit these pairs"),
        (lambda: quaternion.from_two_pairs([1, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1, 0]), "parallel directions"),
        (lambda: quaternion.from_two_axes([1, 0, 0], [0, 0, 0]), "is zero"),
        (lambda: quaternion.nearest_rotation(-np.eye(3)), "several attitudes fit this matrix alike"),
        (lambda: quaternion.nearest_rotation(np.zeros((2, 3, 3))), "several attitudes"),
        (lambda: quaternion.nearest_rotation(np.eye(2)), "argument M: wrong shape"),
    ],
)
def test_what_does_not_determine_an_attitude_is_named(given, words):
    with pytest.raises(InputError, match=words):
        given()


def test_empty_batches_stay_empty():
    assert quaternion.wahba(np.zeros((0, 3, 3)), np.zeros((0, 3, 3))).covariance.shape == (0, 3, 3)
    assert quaternion.nearest_rotation(np.zeros((0, 3, 3))).shape == (0, 4)
    assert quaternion.from_two_pairs(*np.zeros((4, 0, 3))).shape == (0, 4)
