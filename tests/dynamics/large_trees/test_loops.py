"""Large machines in loops: the same numbers as when every element is written out."""

import numpy as np
import pytest

import polhode as ph
from close import assert_close
from machines import ALL, random_model, random_q
from polhode.dynamics import forward, inertia, inverse
from polhode.dynamics.large_trees import loops, subtree_rows
from polhode.kernel import evaluate, trace
from polhode.kernel.backends.llvm.compile import build
from polhode.kernel.schedule import fused
from polhode.model import make_tree, regrouped

KINDS = {"arm": ["revolute"] * 5, "all": ALL, "mixed": ["free", "spherical", "revolute", "prismatic", "spherical"]}


def traced(function, tree, count):
    """The graph of a function of the tree, q and `count` vectors like v."""
    shapes = {"q": (tree.nq,), **dict.fromkeys(("v", "w")[:count], (tree.nv,))}
    return trace(lambda **given: function(tree, *given.values()), **shapes)


@pytest.mark.parametrize("kinds", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("reduced", [False, True])
@pytest.mark.parametrize(
    ("in_loops", "written_out", "count"),
    [
        (loops.inverse_dynamics, inverse.inverse_dynamics, 2),
        (loops.forward_dynamics, forward.forward_dynamics, 2),
        (subtree_rows.mass_matrix, inertia.mass_matrix, 0),
    ],
)
def test_loops_compute_what_written_out_operations_do(kinds, reduced, in_loops, written_out, count):
    model = random_model(list(kinds), 3)
    tree = regrouped(make_tree(model)) if reduced else make_tree(model)
    rng = np.random.default_rng(5)
    given = [random_q(model, rng, (9,)), *(rng.normal(size=(9, model.nv)) for _ in range(count))]
    (found,), (expected,) = (build(traced(f, tree, count))(*given) for f in (in_loops, written_out))
    assert_close(found, expected, 10)  # a few roundings more


def test_the_bits_of_a_large_machine_do_not_depend_on_the_lanes():
    model = random_model(KINDS["mixed"], 4)
    graph = fused(traced(loops.forward_dynamics, regrouped(make_tree(model)), 2))
    rng = np.random.default_rng(1)
    q, v, w = random_q(model, rng, (11,)), rng.normal(size=(11, model.nv)), rng.normal(size=(11, model.nv))
    one, *others = (build(graph, width)(q, v, w)[0] for width in (1, 2, 4, 8))
    for other in others:
        np.testing.assert_array_equal(one, other)
    assert_close(one, np.asarray(evaluate(graph, q=q, v=v, w=w)))


def chain(n):
    """A chain of n links about all axes in turn, no two links equal."""
    bodies = [ph.Body(f"b{i}", 1 + i / n, (0.1, 0.2, 0.15 + i / n / 10), center=(0.1, 0.02, -0.3)) for i in range(n)]
    axes = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
    joints = [
        ph.Joint(f"j{i}", "revolute", parent, f"b{i}", axis=axes[i % 3], position=(0, 0.02, -0.5))
        for i, parent in enumerate(["world", *(body.name for body in bodies[:-1])])
    ]
    return ph.Model(f"chain-{n}", bodies=bodies, joints=joints)


@pytest.mark.long
def test_a_chain_of_500_joints_is_compiled_and_its_forces_give_its_accelerations():
    arm, n = ph.compile(chain(500)), 500
    rng = np.random.default_rng(2)
    q, v, vd = (0.1 * rng.normal(size=(3, n)) for _ in range(3))
    tau = arm.inverse_dynamics(q, v, vd)
    assert_close(tau[0], ph.compile(arm.model, target="python").inverse_dynamics(q[0], v[0], vd[0]), 100)
    M = arm.mass_matrix(q[0])
    assert_close(M, M.T, 100)
    assert_close(M @ vd[0], tau[0] - arm.bias(q[0], v[0]), 1e3)
    found = arm.forward_dynamics(q, v, tau)
    residual = arm.inverse_dynamics(q, v, found) - tau
    assert np.max(abs(residual)) < 1e-9 * np.max(abs(tau))  # the chain is ill-conditioned, its forces are not
    assert "for." in arm.source("forward_dynamics")


def test_parameters_of_a_large_machine_stay_inputs():
    model = chain(90)
    paths = ["bodies.b7.mass", "joints.j40.position", "bodies.b89.inertia"]
    plain, open_ = ph.compile(model), ph.compile(model, parameters=paths)
    rng = np.random.default_rng(3)
    q, v, vd = (0.1 * rng.normal(size=90) for _ in range(3))
    assert_close(open_.inverse_dynamics(q, v, vd), plain.inverse_dynamics(q, v, vd))
    heavier = open_.inverse_dynamics(q, v, vd, parameters={"bodies.b7.mass": 50.0})
    assert np.max(abs(heavier - plain.inverse_dynamics(q, v, vd))) > 1
