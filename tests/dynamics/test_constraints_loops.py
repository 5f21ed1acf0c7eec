"""A joint that closes a loop does what the same joint does in a tree."""

import numpy as np
import pytest

import polhode as ph
from close import assert_close
from opened_loops import KINDS, opened, pair, state, widened

SEEDS = range(2)


@pytest.fixture(
    scope="module", params=[(kind, seed) for kind in KINDS for seed in SEEDS], ids=lambda p: f"{p[0]}-{p[1]}"
)
def machine(request):
    kind, seed = request.param
    two = pair(kind, seed)
    tree, cut = ph.compile(two.tree), ph.compile(two.cut)
    return tree, cut, *state(two.tree, seed + 100)


def condition(cut, q):
    return np.linalg.cond(cut.mass_matrix(q))


def test_states_of_the_tree_fulfil_the_constraint(machine):
    tree, cut, q, v = machine
    missed = cut.constraint_residuals(*opened(tree, q, v))
    assert np.max(abs(missed.positions)) < 1e-14
    assert np.max(abs(missed.rates)) < 1e-13


def test_accelerations_are_those_of_the_tree(machine):
    tree, cut, q, v = machine
    tau = np.array([0.7, -0.4])
    free = tree.forward_dynamics(q, v, np.array([*tau, *np.zeros(tree.nv - 2)]))
    q_cut, v_cut = opened(tree, q, v)
    found = cut.forward_dynamics(q_cut, v_cut, np.array([*tau, *np.zeros(6)]))
    assert_close(found[:2], free[:2], condition(cut, q_cut))
    for body in "ab":
        of_tree, of_cut = tree.acceleration(q, v, free, body), cut.acceleration(q_cut, v_cut, found, body)
        assert_close(of_cut.linear, of_tree.linear, condition(cut, q_cut))
        assert_close(of_cut.angular, of_tree.angular, condition(cut, q_cut))


def test_the_force_of_the_constraint_is_what_the_motion_needs(machine):
    tree, cut, q, v = machine
    q_cut, v_cut = opened(tree, q, v)
    tau = np.random.default_rng(5).normal(size=8)
    found = cut.constraint_forces(q_cut, v_cut, tau)
    needed = cut.inverse_dynamics(q_cut, v_cut, cut.forward_dynamics(q_cut, v_cut, tau)) - tau
    assert_close(found.generalized, needed, condition(cut, q_cut))
    assert_close(found.multipliers @ cut.constraint_rows(q_cut, v_cut).A, found.generalized)
    assert found.rank == len(cut.constraint_names) == 8 - tree.nv
    # it does no work in any motion that the joint allows
    assert_close(widened(tree, q).T @ found.generalized, np.zeros(tree.nv), condition(cut, q_cut), 100.0)


def test_projected_velocities_are_the_nearest_of_the_tree(machine):
    tree, cut, q, _ = machine
    T, M = widened(tree, q), cut.mass_matrix(opened(tree, q, np.zeros(tree.nv))[0])
    v = np.random.default_rng(7).normal(size=8)
    nearest = T @ np.linalg.solve(T.T @ M @ T, T.T @ M @ v)
    q_cut, _ = opened(tree, q, np.zeros(tree.nv))
    found = cut.project(q_cut, v)
    assert_close(cut.difference(q_cut, found.q), np.zeros(8))
    assert_close(found.v, nearest, condition(cut, q_cut))


@pytest.mark.parametrize("kind", ["fixed", "universal", "screw"])
def test_a_run_of_the_cut_machine_is_that_of_the_tree(kind):
    two = pair(kind, 3)
    tree, (q, v) = ph.compile(two.tree), state(two.tree, 4)
    options = {"duration": 0.5, "tolerance": 1e-11, "samples": 3}
    by_tree = ph.simulate(two.tree, q, v, **options)
    by_cut = ph.simulate(two.cut, *opened(tree, q, v), **options)
    assert by_cut.attrs["status"] == "finished"
    for name in ("position", "velocity", "omega_world"):
        assert np.max(abs(by_cut[name].values - by_tree[name].values)) < 1e-7


def test_a_screw_goes_through_many_turns():
    two = pair("screw", 1)
    tree, cut = ph.compile(two.tree), ph.compile(two.cut)
    for angle in (-20.0, -3.2, 3.1, 3.2, 40.0):
        missed = cut.constraint_residuals(*opened(tree, np.array([0.3, 0.2, angle]), np.array([1.0, 2, 3])))
        assert np.max(abs(missed.positions)) < 1e-13


def test_a_screw_without_pitch_is_a_hinge():
    two, hinge = pair("screw", 1), pair("revolute", 1)
    data = {**two.cut.constraints[0].data, "pitch": 0.0}
    screw = ph.Model(
        "s", bodies=two.cut.bodies, joints=two.cut.joints, constraints=[ph.Constraint("loop", "screw", data)]
    )
    tree = ph.compile(hinge.tree)
    q, v = opened(tree, *state(hinge.tree, 2))
    tau = np.zeros(8)
    assert_close(ph.compile(screw).forward_dynamics(q, v, tau), ph.compile(hinge.cut).forward_dynamics(q, v, tau), 100)


@pytest.mark.parametrize("axis", [(0, 0, 1), (0, 0, -2), (1, 0, 0), (0, -1, 0), (1, 2, 3), (0.01, 0, -1)])
def test_an_axis_says_what_an_orientation_says(axis):
    two = pair("cylindrical", 2)
    flying = {"body_a": "a", "body_b": "b"}
    by_axis = ph.Constraint("loop", "cylindrical", {**flying, "axis_a": axis, "axis_b": axis})
    model = ph.Model("m", bodies=two.cut.bodies, joints=two.cut.joints, constraints=[by_axis])
    system = ph.compile(model)
    tree = ph.Model(
        "t", bodies=two.cut.bodies, joints=[two.tree.joints[0], ph.Joint("second", "cylindrical", "a", "b", axis=axis)]
    )
    q, v = opened(ph.compile(tree), *state(tree, 1))
    missed = system.constraint_residuals(q, v)
    assert np.max(abs(missed.positions)) < 1e-14
    assert np.max(abs(missed.rates)) < 1e-13
