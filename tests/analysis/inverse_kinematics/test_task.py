"""Errors of targets and their derivatives."""

import numpy as np
import pytest

from machines import random_model, random_q
from polhode.analysis.inverse_kinematics.targets import TargetShape
from polhode.analysis.inverse_kinematics.task import Task
from polhode.dynamics import kinematics
from polhode.formats.load import load
from polhode.kernel import evaluate, trace
from polhode.model import make_tree
from polhode.scalar import Vec, derivative_along
from polhode.system.constrained_model import constrained_dynamics

KINDS = ["revolute", "spherical", "prismatic", "universal", "screw", "free", "planar", "cylindrical"]


@pytest.mark.parametrize("first", range(3))
def test_columns_are_the_derivatives_of_the_rows(first):
    """Of all joints, all kinds of targets, by dual numbers."""
    model = random_model(KINDS[first:] + KINDS[:first], seed=first, chain=True)
    rng, body = np.random.default_rng(first), model.bodies[-1].name
    point, axis = (0.1, -0.3, 0.2), (0.6, 0.0, 0.8)
    shapes = (
        TargetShape(body, ("position", "orientation"), point, axis, (2.0, 3.0)),
        TargetShape(model.bodies[3].name, ("direction",), point, axis, (1.0, 0.5)),
    )
    task = Task(make_tree(model), None, shapes, 1.7, frozenset({2}))
    quaternion = rng.standard_normal(4)
    numbers = [*rng.standard_normal(3), *(quaternion / np.linalg.norm(quaternion)), 0.0, 0.6, -0.8]
    q, wanted = Vec(random_q(model, rng).tolist()), task.wanted(Vec(numbers))
    found = task.errors(q, wanted)
    assert 2 not in task.moving
    for k, unit, column in zip(task.moving, task.units, found.columns, strict=True):
        rate = kinematics.rate(task.tree, q, Vec([unit if i == k else 0.0 for i in range(task.tree.nv)]))
        _, slopes = derivative_along(lambda x: task.errors(x, wanted).rows, q, rate)
        np.testing.assert_allclose(column, slopes, atol=1e-12)


def test_constraints_are_rows_by_their_natural_sizes():
    model = load("four-bar")
    constrained = constrained_dynamics(model)
    body = model.bodies[1].name
    task = Task(
        make_tree(model), constrained, (TargetShape(body, ("position",), (0, 0, 0), (0, 0, 1), (1.0, 1.0)),), 1.0
    )
    q, wanted = [0.3, 0.2, -0.4], task.wanted(Vec([0.0, 0.0, 0.0]))
    phi = constrained.residuals(task.tree, 0.0, Vec(q), Vec([0.0] * 3))[0]
    rows = evaluate(trace(lambda q: task.errors(q, wanted, 10.0).rows, q=(3,)), q=q)[3:]
    np.testing.assert_allclose(rows, [10 * x / size for x, size in zip(phi, constrained.sizes, strict=False)])
