"""Matrices in turned axes: R M Rᵀ, with fewer products where R takes a coordinate axis to another."""

from itertools import permutations, product

import numpy as np
import pytest

from polhode.kernel import trace
from polhode.kernel.schedule import fused
from polhode.quaternion import rotation_matrix
from polhode.scalar import Vec, cos, sin, vec
from polhode.spatial import congruence, turned

ROUNDING = 8 * np.finfo(float).eps
SIGNED = [
    np.array(signs)[:, None] * np.eye(3)[list(order)]
    for order in permutations(range(3))
    for signs in product((1.0, -1.0), repeat=3)
]
TURNS = [F for F in SIGNED if np.linalg.det(F) > 0]
"""The 24 rotations that take coordinate axes to coordinate axes."""


def as_vec(M):
    return Vec([Vec(map(float, row)) for row in M])


@pytest.mark.parametrize("axis", range(3))
def test_about_any_axis_and_with_any_axes_it_is_the_product(axis):
    rng = np.random.default_rng(axis)
    for F in TURNS:
        half = rng.uniform(-np.pi, np.pi) / 2
        R = F @ rotation_matrix(np.array([np.cos(half), *np.sin(half) * np.eye(3)[axis]]))
        R[:, axis] = F[:, axis]  # as joints have it, without rounding
        M = rng.normal(size=(3, 3))
        for S, found in ((M, turned(as_vec(R), as_vec(M))), (M + M.T, congruence(as_vec(R), as_vec(M + M.T)))):
            np.testing.assert_allclose(found, R @ S @ R.T, rtol=0, atol=ROUNDING * np.max(abs(S)))


def test_a_rotation_that_keeps_no_axis_is_multiplied_out():
    rng = np.random.default_rng(0)
    p = rng.normal(size=4)
    R, M = rotation_matrix(p / np.linalg.norm(p)), rng.normal(size=(3, 3))
    np.testing.assert_allclose(turned(as_vec(R), as_vec(M)), R @ M @ R.T, rtol=0, atol=ROUNDING * np.max(abs(M)))


def test_a_small_angle_whose_cosine_is_one_is_not_taken_for_none():
    angle = 1e-9
    R = vec(vec(1.0, -angle, 0.0), vec(angle, 1.0, 0.0), vec(0.0, 0.0, 1.0))
    assert np.cos(angle) == 1.0
    assert congruence(R, as_vec(np.diag([2.0, 1.0, 3.0])))[0][1] == pytest.approx(angle, rel=1e-12)


def test_products_of_a_turn_about_an_axis_are_less_than_half():
    def axes(q):
        return vec(vec(cos(q), -sin(q), 0.0), vec(0.0, 0.0, -1.0), vec(sin(q), cos(q), 0.0))

    def products(function):
        count = fused(trace(lambda q, M: function(axes(q), M), q=(), M=(3, 3))).operations
        return count["mul"] + count["fma"]

    assert 2 * products(turned) <= products(lambda R, M: R @ M @ R.T)
