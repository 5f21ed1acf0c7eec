"""Base parameters: their number, their names, and that torques depend on them alone."""

import numpy as np
import pytest

import polhode as ph
from machines import random_model
from polhode.errors import InputError


def test_a_double_pendulum_has_the_six_of_the_textbooks():
    """Links of 1 m: what hangs below counts as mass at the lower joint."""
    found = ph.base_parameters(ph.load("double-pendulum"))
    names = ["upper.h_x", "upper.h_z - lower.m", "upper.I_yy + lower.m", "lower.h_x", "lower.h_z", "lower.I_yy"]
    assert list(found.names) == names
    assert found.total == 20
    assert repr(found) == "<BaseParameters: 6 of 20>"
    assert "upper.I_yy + lower.m" in found.expressions


@pytest.mark.parametrize("seed", range(2))
def test_torques_depend_on_base_parameters_alone(seed):
    """Y π = Y_b B π for any π, of trees with all kinds of joints; the columns that are kept are independent."""
    model = random_model(["revolute", "spherical", "fixed", "prismatic", "universal"], seed, armature=False)
    found = ph.base_parameters(model)
    system = ph.compile(model)
    q, rng = ph.random_configuration(model, 60, seed=9), np.random.default_rng(9)
    Y = system.torque_regressor(q, *rng.standard_normal((2, 60, model.nv))).reshape(-1, 10 * len(model.bodies))
    np.testing.assert_allclose(Y[:, found.columns] @ found.matrix, Y, atol=1e-9 * np.max(abs(Y)))
    assert np.linalg.matrix_rank(Y, tol=1e-9 * np.max(abs(Y)) * len(Y)) == len(found)
    assert found.gap[0] > 1e-4
    assert found.gap[1] < 1e-11


def test_nothing_that_moves_is_told():
    wall = ph.Model(
        "wall", bodies=[ph.Body("wall", 1.0, (1, 1, 1))], joints=[ph.Joint("fix", "fixed", "world", "wall")]
    )
    with pytest.raises(InputError, match="nothing moves"):
        ph.base_parameters(wall)
