"""Forward dynamics of trees of hinges, sliders and screws in loops: the accelerations of the algorithm written out."""

from dataclasses import replace

import numpy as np
import pytest

import polhode as ph
from close import assert_close
from machines import ONE_AXIS, random_model, random_q
from polhode.bench.machines import machine, random_states
from polhode.dynamics import forward
from polhode.dynamics.large_trees import loops, one_velocity_loops
from polhode.kernel import trace
from polhode.kernel.backends.llvm.compile import build
from polhode.model import make_tree, regrouped
from polhode.scalar import Vec

TREES = {
    "chain": (["revolute"] * 9, True),
    "chain of all": (ONE_AXIS * 3, True),
    "hinges": (["revolute"] * 9, False),
    "all": (ONE_AXIS * 3, False),
}


def kernel(function, tree):
    shapes = {"q": (tree.nq,), "v": (tree.nv,), "tau": (tree.nv,)}
    return build(trace(lambda q, v, tau: function(tree, q, v, tau), **shapes))


@pytest.mark.parametrize("reduced", [False, True])
@pytest.mark.parametrize(("kinds", "chain"), TREES.values(), ids=TREES)
def test_loops_give_the_accelerations_of_articulated_bodies(kinds, chain, reduced):
    model = random_model(kinds, 3, chain=chain)
    tree = regrouped(make_tree(model)) if reduced else make_tree(model)
    rng = np.random.default_rng(5)
    given = random_q(model, rng, (11,)), rng.normal(size=(11, model.nv)), rng.normal(size=(11, model.nv))
    in_loops, written_out = (kernel(f, tree) for f in (one_velocity_loops.forward_dynamics, forward.forward_dynamics))
    (found,) = in_loops(*given)
    np.testing.assert_array_equal(found[0], in_loops(*(x[0] for x in given))[0])  # states in lanes, or elements of one
    assert_close(found, written_out(*given)[0], 100)


def test_accelerations_of_a_long_chain_are_those_of_longer_numbers():
    model = machine("chain-100")
    tree, states = make_tree(model), [rows[0] for rows in random_states(model, 1)]
    found, exact = (
        np.array(one_velocity_loops.forward_dynamics(tree, *(Vec([kind(x) for x in rows]) for rows in states)))
        for kind in (float, np.longdouble)
    )
    assert np.max(abs(found - exact)) < 1e-13 * np.max(abs(exact))


def test_a_joint_of_several_velocities_is_left_to_others():
    assert one_velocity_loops.applies(make_tree(random_model(ONE_AXIS, 1)))
    assert not one_velocity_loops.applies(make_tree(random_model(["revolute", "spherical"], 1)))


def test_numbers_of_a_large_chain_stay_inputs_of_its_accelerations(monkeypatch):
    monkeypatch.setattr(loops, "UNROLLED", 0)  # every tree is large
    model = random_model(["revolute"] * 9, 2, chain=True)
    path = "bodies.b4.mass"
    heavier = replace(model, bodies=tuple(replace(b, mass=4.0) if b.name == "b4" else b for b in model.bodies))
    system = ph.compile(model, parameters=[path])
    rng = np.random.default_rng(3)
    q, v, tau = (rng.normal(size=9) for _ in range(3))
    expected = ph.compile(heavier, target="python").forward_dynamics(q, v, tau)
    found = system.forward_dynamics(q, v, tau, parameters={path: 4.0})
    assert "for." in system.source("forward_dynamics")
    assert np.max(abs(found - expected)) < 1e-12 * np.max(abs(expected))
