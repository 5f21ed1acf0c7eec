"""Derivatives by recursion: those of dual numbers, for all joints, alone and through a System with all that may act."""

from dataclasses import replace

import numpy as np
import pytest

import polhode as ph
from machines import ALL, random_model, random_q
from polhode.dynamics.large_trees import derivatives
from polhode.kernel import trace
from polhode.kernel.backends.llvm.compile import build
from polhode.model import make_tree, regrouped
from polhode.system import algorithms

TREES = {
    "hinges": ["revolute"] * 6,
    "balls": ["spherical"] * 3,
    "flying": ["free", "revolute", "revolute", "prismatic"],
    "all": ALL,
}
WAYS = {
    "inverse_dynamics_derivatives": derivatives.inverse_derivatives,
    "forward_dynamics_derivatives": derivatives.forward_derivatives,
}


def assert_within(found, expected, tolerance=1e-12):
    """Each block within a part of its largest number."""
    for one, other in zip(found, expected, strict=True):
        assert np.max(abs(one - other)) <= tolerance * np.max(abs(other))


def states(model, count, seed=2):
    rng = np.random.default_rng(seed)
    return random_q(model, rng, (count,)), rng.normal(size=(count, model.nv)), rng.normal(size=(count, model.nv))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kinds", TREES.values(), ids=TREES)
def test_recursion_gives_the_derivatives_that_dual_numbers_give(kinds, way):
    model = random_model(kinds, 7)
    tree = regrouped(make_tree(model))
    graph = trace(lambda q, v, x: WAYS[way](tree, q, v, x), q=(model.nq,), v=(model.nv,), x=(model.nv,))
    given = states(model, 9)
    kernel = build(graph)
    found = kernel(*given)
    assert_within(found, getattr(ph.compile(model, target="python"), way)(*given))
    for one, other in zip(found, kernel(*(x[0] for x in given)), strict=True):
        np.testing.assert_array_equal(one[0], other)  # states in lanes, or velocities of one state


@pytest.mark.parametrize("way", WAYS)
def test_derivatives_of_a_machine_far_away_and_fast_have_the_bits_of_those_nearby(way):
    model = random_model(TREES["flying"], 7, chain=True)
    tree = regrouped(make_tree(model))
    kernel = build(trace(lambda q, v, x: WAYS[way](tree, q, v, x), q=(model.nq,), v=(model.nv,), x=(model.nv,)), 1)
    q, v, x = (array[0] for array in states(model, 1))
    far, fast = q.copy(), v.copy()
    far[:3] += (7e6, 1e5, -3e4)
    fast[:3] += (7.5e3, 1e3, -2e3)
    for one, other in zip(kernel(q, v, x), kernel(far, fast, x), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.fixture
def by_recursion(monkeypatch):
    """Every tree goes by recursion."""
    monkeypatch.setattr(algorithms, "DIFFERENTIATED", 0)


@pytest.mark.parametrize("way", WAYS)
def test_all_that_acts_is_part_of_the_derivatives(way, by_recursion):
    model = random_model(["free", "revolute", "spherical", "revolute"], 3, chain=True)
    springs = [replace(joint, damping=0.3, stiffness=0.2 * (joint.type == "revolute")) for joint in model.joints]
    force = ph.Spring("pull", "b0", "b2", point_a=(0.1, 0, 0), stiffness=5.0, damping=0.2, rest=0.3)
    model = replace(model, joints=tuple(springs), forces=(force,))
    system, oracle = ph.compile(model), ph.compile(model, target="python")
    q, v, x = (array[0] for array in states(model, 1))
    wrench = {"b1": (np.array([1.0, 2.0, 3.0]), np.array([0.3, 0.2, 0.1]))}
    found = getattr(system, way)(q, v, x, wrench=wrench)
    assert algorithms.by_recursion(system._spec)
    assert_within(found, getattr(oracle, way)(q, v, x, wrench=wrench))


def test_numbers_stay_inputs_of_the_derivatives(by_recursion):
    model = random_model(["revolute"] * 4, 5)
    path = "bodies.b2.mass"
    heavier = replace(model, bodies=tuple(replace(b, mass=4.0) if b.name == "b2" else b for b in model.bodies))
    q, v, x = (array[0] for array in states(model, 1))
    found = ph.compile(model, parameters=[path]).forward_dynamics_derivatives(q, v, x, parameters={path: 4.0})
    assert_within(found, ph.compile(heavier, target="python").forward_dynamics_derivatives(q, v, x))


def test_deep_trees_go_by_recursion():
    names = ("arm-7", "chain-20")
    assert [algorithms.by_recursion(ph.compile(ph.load(name))._spec) for name in names] == [False, True]
