"""Bounds of the errors of eigenvalues, clusters included, and the words that follow from them."""

import math

import numpy as np
import pytest

import polhode as ph
from analysis_cases import G, disk, furthest, rolling, top
from polhode.analysis.spectrum import EPSILON, spectrum

THIN = disk(1.0, 0.3, 0.25 * 0.09, 0.5 * 0.09)
CRITICAL = math.sqrt(G / (3 * 0.3))
"""The spin above which a thin disk rolls upright, ω² = g/(3 r), rad/s."""


def block(value, size):
    """A Jordan block."""
    return value * np.eye(size) + np.eye(size, k=1)


def turned(J, seed):
    """A matrix with the Jordan form J, its entries good to rounding, and what they may be off by."""
    X = np.linalg.qr(np.random.default_rng(seed).normal(size=J.shape))[0]
    return X @ J @ X.T, len(J) * EPSILON * abs(X) @ abs(J) @ abs(X.T)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_a_chain_of_eigenvalues_is_known_to_a_root_of_rounding(size):
    for seed in range(20):
        J = np.zeros((size + 3, size + 3))
        J[:size, :size] = block(0.0, size)
        J[size:, size:] = np.diag([-1.0, -2.0, 3.0])
        found = spectrum(*turned(J, seed))
        truth = np.diag(J)
        assert furthest(found.values, truth) < found.bounds.max()
        inside = abs(found.values) < 0.1
        assert np.all(abs(found.values[inside]) < found.bounds[inside])
        assert found.bounds[inside].max() < 10 * 1e-12 ** (1 / size)
        assert found.bounds[~inside].max() < 1e-11  # others are not spoiled
        assert found.nullity == 1
        assert np.sum(found.is_zero) == size


def test_every_eigenvalue_is_within_its_bound():
    """Of matrices far from normal, their eigenvalues written down."""
    rng = np.random.default_rng(1)
    for _ in range(100):
        n = int(rng.integers(2, 9))
        T = np.triu(rng.normal(size=(n, n)) * 10 ** rng.uniform(0, 2), 1) + np.diag(rng.integers(-2, 3, n))
        scale = 10.0 ** rng.integers(-3, 4, n)
        A, error = turned(T, int(rng.integers(1000)))
        found = spectrum(A * scale / scale[:, None], error * scale / scale[:, None])
        for value, bound in zip(found.values, found.bounds, strict=True):
            assert min(abs(value - np.diag(T))) <= bound


@pytest.mark.parametrize(
    ("J", "word"),
    [
        (block(0.0, 2), "marginal"),
        (np.zeros((3, 3)), "marginal"),  # nothing dies out
        (np.diag([0.0, -1.0]), "stable"),  # up to a steady motion nearby
        (np.block([[block(0.0, 2), np.zeros((2, 1))], [np.zeros((1, 2)), -np.eye(1)]]), "marginal"),
        (block(-1.0, 6), "stable"),
        (block(1.0, 6), "unstable"),
        (np.array([[0.0, 1.0], [-1.0, -1e-11]]), "stable"),  # damped by very little
        (np.array([[0.0, 1.0], [-1.0, 1e-11]]), "unstable"),
        (np.array([[0.0, 1.0], [-1.0, -1e-16]]), "marginal"),
        (np.zeros((0, 0)), "marginal"),
    ],
)
def test_words_hold_beyond_rounding(J, word):
    assert spectrum(J).stability == word
    for seed in range(5):
        A, error = turned(J, seed)
        scale = 10.0 ** np.random.default_rng(seed).integers(-4, 5, len(A))
        assert spectrum(A, error).stability == word
        assert spectrum(A * scale / scale[:, None], error * scale / scale[:, None]).stability == word


def test_a_pair_of_equal_frequencies_that_feed_each_other_is_marginal():
    """A chain of two pairs ±i: computed real parts are 1e-8, of either sign."""
    J = np.zeros((4, 4))
    J[:2, :2] = J[2:, 2:] = [[0, 1], [-1, 0]]
    J[:2, 2:] = np.eye(2)
    found = [spectrum(*turned(J, seed)) for seed in range(30)]
    assert max(float(one.values.real.max()) for one in found) > 1e-9  # no rounding to be told by its size
    assert {one.stability for one in found} == {"marginal"}


# ---- machines


def test_a_disk_that_rolls_upright_is_never_stable():
    """Unstable below the critical spin, marginal above: it has no friction."""
    for part in np.random.default_rng(2).uniform(0.0, 6.0, 60):
        small = ph.linearize(THIN, *rolling(0.3, 0.0, 0.0, part * CRITICAL))
        assert small.stability == ("unstable" if part < 1 else "marginal"), part
    for part in (1 - 1e-6, 1 + 1e-6):
        small = ph.linearize(THIN, *rolling(0.3, 0.0, 0.0, part * CRITICAL))
        assert small.stability == ("unstable" if part < 1 else "marginal")


def test_a_sleeping_top_is_marginal_where_its_pairs_meet_and_above():
    TOP = top()
    rate = ph.exact.sleeping_top_rate(0.2, 0.05, 1.5 * G * 0.3)
    for part, word in ((0.999, "unstable"), (1.0, "marginal"), (1.001, "marginal"), (2.5, "marginal")):
        assert ph.linearize(TOP, [1, 0, 0, 0], [0, 0, part * rate]).stability == word


def pendulum(**hinge):
    rod = ph.Body("rod", 1.2, (0.04, 0.04, 0.01), center=(0, 0, -0.6))
    return ph.Model(
        "pendulum", bodies=[rod], joints=[ph.Joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0), **hinge)]
    )


@pytest.mark.parametrize(
    ("damping", "angle", "word"),
    [
        (0.0, 0.0, "marginal"),
        (0.0, math.pi, "unstable"),
        (0.3, 0.0, "stable"),
        (1e-9, 0.0, "stable"),
        (0.3, math.pi, "unstable"),
    ],
)
def test_a_pendulum(damping, angle, word):
    small = ph.linearize(pendulum(damping=damping), [angle], [0.0])
    assert small.stability == word
    assert [mode.bound < 1e-12 for mode in small.modes()] == [True] * len(small.modes())


def test_a_free_body_is_marginal_but_about_its_middle_axis():
    free = ph.Model(
        "free", gravity=(0, 0, 0), bodies=[ph.Body("b", 1.0, (1, 2, 2.5))], joints=[ph.Joint("j", "free", "world", "b")]
    )
    for omega, word in (
        ((0, 0, 0), "marginal"),
        ((3, 0, 0), "marginal"),
        ((0, 3, 0), "unstable"),
        ((0, 0, 3), "marginal"),
    ):
        assert ph.linearize(free, [0, 0, 0, 1, 0, 0, 0], [0, 0, 0, *omega]).stability == word
