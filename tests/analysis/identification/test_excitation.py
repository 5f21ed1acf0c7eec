"""Motions that tell parameters apart: within limits, exact derivatives, repeatable."""

import numpy as np
import pytest

import polhode as ph
from identified_arm import ARM
from polhode.errors import InputError


@pytest.fixture(scope="module")
def motion():
    return ph.excitation(ARM, trials=20, speed=(1.0, 2.0, 0.3), acceleration=4.0, seed=3)


def test_motions_stay_within_limits_between_samples_too(motion):
    q, v, vd = motion(np.linspace(0.0, motion.period, 20_001))
    for joint, x in zip(ARM.joints, q.T, strict=True):
        assert joint.lower < x.min() < x.max() < joint.upper
    assert np.all(abs(v) < (1.0, 2.0, 0.3))
    assert np.all(abs(vd) < 4.0)
    assert np.max(abs(v[:, 0])) > 0.3  # and are no smaller than they need be


def test_velocities_and_accelerations_are_derivatives(motion):
    t, h = np.array([0.3, 2.7, 9.1]), 1e-4
    (q1, v1, _), (q0, v0, _), (q, v, vd) = motion(t + h), motion(t - h), motion(t)
    np.testing.assert_allclose((q1 - q0) / (2 * h), v, atol=1e-6)
    np.testing.assert_allclose((v1 - v0) / (2 * h), vd, atol=1e-6)
    np.testing.assert_allclose(motion(t + motion.period)[0], q, atol=1e-12)


def test_a_search_is_better_than_chance_and_repeats_itself(motion):
    again = ph.excitation(ARM, trials=20, speed=(1.0, 2.0, 0.3), acceleration=4.0, seed=3)
    assert np.array_equal(again.sine, motion.sine)
    assert motion.condition < ph.excitation(ARM, trials=1, speed=(1.0, 2.0, 0.3), acceleration=4.0, seed=3).condition


@pytest.mark.parametrize(
    "options", [{"period": 0}, {"harmonics": 0}, {"trials": 1.5}, {"speed": -1}, {"speed": (1, 2)}]
)
def test_a_fault_is_told_by_name(options):
    with pytest.raises(InputError, match=next(iter(options))):
        ph.excitation(ARM, **options)


def test_quaternions_are_refused():
    with pytest.raises(InputError, match="one-axis joints"):
        ph.excitation(ph.load("free-body"))
