"""Random configurations stay within limits and are even; configurations are compared up to the sign of quaternions."""

import numpy as np
import pytest

import polhode as ph
from machines import ALL, random_model


def arm(**limits):
    body = ph.Body("arm", 1.0, (0.1, 0.1, 0.1))
    return ph.Model("arm", bodies=[body], joints=[ph.Joint("j", "cylindrical", "world", "arm", **limits)])


def test_they_are_seeded_and_of_the_shape_asked_for():
    model = random_model(ALL, 1)
    for shape in ((), 0, 7, (2, 3)):
        found = ph.random_configuration(model, shape, seed=4)
        assert found.shape == (*np.atleast_1d(np.array(shape, dtype=int)), model.nq)
        assert np.array_equal(found, ph.random_configuration(model, shape, seed=4))
    rng = np.random.default_rng(4)
    first, second = (ph.random_configuration(model, seed=rng) for _ in range(2))
    assert not np.array_equal(first, second)
    ph.compile(model, target="python").mass_matrix(first)


def test_they_fill_the_limits():
    found = ph.random_configuration(arm(lower=(-0.5, 1.0), upper=(0.25, 3.0)), 10_000)
    np.testing.assert_allclose(found.min(axis=0), [-0.5, 1.0], atol=2e-3)
    np.testing.assert_allclose(found.max(axis=0), [0.25, 3.0], atol=2e-3)
    found = ph.random_configuration(arm(), 10_000, reach=2.0)
    np.testing.assert_allclose(abs(found).max(axis=0), [np.pi, 2.0], atol=2e-3)
    found = ph.random_configuration(arm(lower=(3.0, -np.inf), upper=(np.inf, -4.0)), 1000)
    assert found[:, 0].min() >= 3.0
    assert found[:, 1].max() <= -4.0


def test_quaternions_are_even():
    """The mean of the rotation matrices of all attitudes is 0; so is that of their squared components about 1/4."""
    found = ph.random_configuration(ph.load("heavy-top"), 100_000, seed=2)
    np.testing.assert_allclose(np.sum(found**2, axis=-1), 1, atol=1e-14)
    np.testing.assert_allclose(np.mean(found**2, axis=0), 0.25, atol=5e-3)
    np.testing.assert_allclose(np.mean(ph.quaternion.rotation_matrix(found), axis=0), 0, atol=5e-3)


def test_signs_of_quaternions_do_not_matter_and_whole_turns_do():
    model = random_model(["free", "revolute"], 2, shuffle=False)
    q = ph.random_configuration(model, 3)
    other = q.copy()
    other[0, 3:7] *= -1
    other[1, 7] += 2 * np.pi
    other[2, 0] += 1e-6
    assert ph.same_configuration(model, q, other).tolist() == [True, False, False]
    assert ph.same_configuration(model, q[2], other[2], 1e-5) is True


def test_mistakes_are_told():
    model = ph.load("heavy-top")
    shapes = [({"shape": shape}, "shape of a batch") for shape in (-1, "3", 1.5)]
    seeds = [({"seed": seed}, "not a seed") for seed in ("one", -1, None)]
    for options, told in [*shapes, *seeds, ({"reach": 0}, "reach")]:
        with pytest.raises(ph.InputError, match=told):
            ph.random_configuration(model, **options)
    with pytest.raises(ph.InputError, match="not a unit quaternion"):
        ph.same_configuration(model, [2, 0, 0, 0], [1, 0, 0, 0])
    with pytest.raises(ph.InputError, match="wrong shape"):
        ph.same_configuration(model, [1, 0, 0], [1, 0, 0, 0])
    with pytest.raises(ph.InputError, match="not a model"):
        ph.random_configuration("heavy-top")
