"""Derivatives of graphs: both sweeps give the derivative of what the graph computes, and nothing else."""

import math
import operator

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

import polhode as ph
from close import assert_close, complex_step
from machines import ALL, random_model, random_q
from polhode import quaternion, scalar
from polhode.dynamics import energy, forces, forward, inverse
from polhode.kernel import SNAP, evaluate, trace
from polhode.kernel.differentiate import jacobian, pullback, pushforward, sparsity
from polhode.model import make_tree
from polhode.scalar import Dual, Vec, atan2, cos, exp, log, maximum, sin, sqrt, tan, vec, where

MODES = ["forward", "reverse"]


def total(graph):
    return graph.operations.total()


# ── random programs ──────────────────────────────────────────────────────────────────────────────────

ANALYTIC = {  # without poles near the real axis
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": lambda x, y: x / (y * y + 0.5),
    "neg": lambda x, _: -x,
    "sqrt": lambda x, _: sqrt(x * x + 0.5),
    "sin": lambda x, _: sin(x),
    "cos": lambda x, _: cos(x),
    "tan": lambda x, _: tan(sin(x)),
    "exp": lambda x, _: exp(sin(x)),
    "log": lambda x, _: log(x * x + 0.5),
    "asin": lambda x, _: scalar.asin(sin(x) / 2),
    "acos": lambda x, _: scalar.acos(cos(x) / 2),
}
STEPS = ANALYTIC | {
    "atan2": lambda x, y: atan2(x, y * y + 0.5),
    "abs": lambda x, _: abs(x),
    "where": lambda x, y: where(x < y, x * y, 3 - y),
    "nested": lambda x, y: where((x < y) & (y < 1), where(x < 0, sin(y), x), maximum(x, 0.5 * y)),
}
CONSTANTS = [0.0, 1.0, -1.0, 2.0, -0.3]


def run(program, values):
    """The last three values of a program of steps (name, operand, operand)."""
    values = [*values, *CONSTANTS]
    for name, i, j in program:
        values.append(STEPS[name](values[i % len(values)], values[j % len(values)]))
    return Vec(values[-3:])


def programs(steps, most=20):
    places = st.integers(0, 100)
    return st.lists(st.tuples(st.sampled_from(sorted(steps)), places, places), min_size=3, max_size=most)


POINTS = st.lists(st.floats(-2, 2, width=32), min_size=3, max_size=3)


def derivative(function, mode, x):
    """∂y/∂x of a function of x (3,)."""
    return evaluate(jacobian(trace(function, x=(3,)), mode=mode), x=x)["d_result_d_x"]


def assume_moderate(J):
    """Where derivatives are huge, only rounding would be compared."""
    assume(np.all(np.isfinite(J)) and np.max(abs(J)) < 1e6)


@given(programs(ANALYTIC), POINTS)
def test_the_jacobian_is_that_of_the_complex_step(program, x):
    on_complex = lambda z: np.array([complex(y) for y in run(program, [np.complex128(part) for part in z])])
    with np.errstate(all="ignore"):
        expected = np.transpose([complex_step(on_complex, x, e) for e in np.eye(3)])
    assume_moderate(expected)
    for mode in MODES:
        assert_close(derivative(lambda x: run(program, x), mode, x), expected, condition=1e4)


@given(programs(STEPS), POINTS)
def test_the_jacobian_is_that_of_dual_numbers(program, x):
    with np.errstate(all="ignore"):
        results = run(program, [Dual(a, e) for a, e in zip(x, np.eye(3), strict=True)])
    expected = np.array([y.slope if isinstance(y, Dual) else np.zeros(3) for y in results])
    assume_moderate(expected)
    for mode in MODES:
        assert_close(derivative(lambda x: run(program, x), mode, x), expected, condition=1e4)


@given(programs(STEPS), POINTS, POINTS)
def test_products_with_the_jacobian_need_no_jacobian(program, x, w):
    graph = trace(lambda x: run(program, x), x=(3,))
    J = evaluate(jacobian(graph), x=x)["d_result_d_x"]
    assume_moderate(J)
    assert_close(evaluate(pushforward(graph), x=x, x_dot=w)["result_dot"], J @ w, condition=1e3, scale=np.max(abs(J)))
    assert_close(evaluate(pullback(graph), x=x, result_bar=w)["x_bar"], w @ J, condition=1e3, scale=np.max(abs(J)))


@given(programs(STEPS), POINTS)
def test_what_sparsity_excludes_is_a_constant_zero(program, x):
    graph = trace(lambda x: run(program, x), x=(3,))
    allowed = sparsity(graph)["d_result_d_x"]
    assert allowed.shape == (3, 3)
    assert allowed.dtype == bool
    for mode in MODES:
        slopes = jacobian(graph, mode=mode)
        for entry, k in zip(allowed.ravel(), slopes.outputs[0].nodes, strict=True):
            assert entry or slopes.nodes[k].value == 0.0


@given(programs(ANALYTIC, 10), POINTS)
def test_the_hessian_is_symmetric_and_the_same_by_all_ways(program, x):
    graph = trace(lambda x: run(program, x)[2], x=(3,))
    hessians = [
        evaluate(jacobian(jacobian(graph, mode=first), mode=second), x=x)["d_d_result_d_x_d_x"]
        for first in MODES
        for second in MODES
    ]
    assume_moderate(hessians[0])
    for H in hessians:
        assert_close(H, H.T, condition=1e5)
        assert_close(H, hessians[0], condition=1e5)


def test_second_derivatives_are_the_textbook_ones():
    graph = trace(lambda x, y: sin(x) * y * y, x=(), y=())
    twice = jacobian(jacobian(graph, wrt=["x"]), of=["d_result_d_x"], wrt=["x", "y"])
    found = evaluate(twice, x=0.3, y=2.0)
    assert_close(found["d_d_result_d_x_d_x"], -math.sin(0.3) * 4)
    assert_close(found["d_d_result_d_x_d_y"], math.cos(0.3) * 4)
    along = pushforward(pushforward(graph, "x"), "x", suffix="_ddot")
    assert [port.name for port in along.inputs] == ["x", "y", "x_dot", "x_ddot"]
    found = evaluate(along, x=0.3, y=2.0, x_dot=3.0, x_ddot=0.5)
    assert_close(found["result_dot_ddot"], -math.sin(0.3) * 4 * 3.0 * 0.5)


# ── what the graphs look like ────────────────────────────────────────────────────────────────────────


def text(graph):
    return "; ".join(line.strip() for line in str(graph).splitlines()[1:])


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x + 1, "d_result_d_x = 1.0"),
        (lambda x: 3 - 2 * x, "d_result_d_x = -2.0"),
        (lambda x: x - (x + 1), "d_result_d_x = 0.0"),
        (sin, "v0 = cos(x); d_result_d_x = v0"),
        (exp, "v0 = exp(x); d_result_d_x = v0"),
        (lambda x: x < 1, "d_result_d_x = 0.0"),
        (lambda x: where(x < 1, 2.0, 3.0), "d_result_d_x = 0.0"),
        (lambda x: where(x < 1, 2 * x, 3.0), "v0 = x < 1.0; v1 = where(v0, 2.0, 0.0); d_result_d_x = v1"),
        (lambda x: abs(x) + 1, "v0 = x < 0.0; v1 = where(v0, -1.0, 1.0); d_result_d_x = v1"),
    ],
)
def test_constants_fold_and_values_are_shared(function, expected):
    for mode in MODES:
        assert text(jacobian(trace(function, x=()), mode=mode)) == expected


def test_zeros_of_the_structure_cost_nothing():
    """n squares have n derivatives; a chain of neighbours has the band of its matrix."""
    n = 30
    squares = trace(lambda x: Vec([part * part for part in x]), x=(n,))
    for mode in MODES:
        assert total(jacobian(squares, mode=mode)) <= n
    chain = trace(lambda x: Vec([x[k] * x[k + 1] for k in range(n - 1)]), x=(n,))
    assert np.array_equal(sparsity(chain)["d_result_d_x"], np.eye(n - 1, n) + np.eye(n - 1, n, 1))
    for mode in MODES:
        assert total(jacobian(chain, mode=mode)) == 0


def test_a_condition_is_no_dependence():
    graph = trace(lambda x, y, z: where(x < 0, y, z), x=(), y=(), z=())
    assert {name: bool(a) for name, a in sparsity(graph).items()} == {
        "d_result_d_x": False, "d_result_d_y": True, "d_result_d_z": True,
    }  # fmt: skip


def test_auto_is_the_smaller_one():
    gradient = trace(lambda x: sin(scalar.square(x)) * x[0] * x[1], x=(20,))
    curve = trace(lambda t: Vec([sin(k * t) * t for k in range(20)]), t=())
    for graph, better in ((gradient, "reverse"), (curve, "forward")):
        counts = {mode: total(jacobian(graph, mode=mode)) for mode in MODES}
        assert total(jacobian(graph)) == counts[better] == min(counts.values())


def test_ports_are_chosen_and_named():
    graph = trace(lambda a, b: {"y": vec(a[0] * b, a[1]), "z": [[a[0], b, b]], "c": b < 1}, a=(2,), b=())
    slopes = jacobian(graph, of=["z", "y"], wrt="b", values=True)
    shapes = {port.name: port.shape for port in slopes.outputs}
    assert shapes == {"y": (2,), "z": (1, 3), "c": (), "d_z_d_b": (1, 3), "d_y_d_b": (2,)}
    found = evaluate(slopes, a=[2.0, 3.0], b=0.5)
    assert found["d_y_d_b"].tolist() == [2.0, 0.0]
    assert found["d_z_d_b"].tolist() == [[0.0, 1.0, 1.0]]
    assert found["y"].tolist() == [1.0, 3.0]
    assert found["c"] is True
    assert jacobian(graph, of="z", wrt="a").outputs[0].shape == (1, 3, 2)
    assert sparsity(graph, "z", "a")["d_z_d_a"].tolist() == [[[True, False], [False, False], [False, False]]]
    back = pullback(graph, ["z", "y"])
    assert [str(port) for port in back.inputs] == ["a[2]", "b", "z_bar[1,3]", "y_bar[2]"]
    assert [str(port) for port in back.outputs] == ["a_bar[2]", "b_bar"]
    found = evaluate(back, a=[2.0, 3.0], b=0.5, z_bar=[[1.0, 10.0, 100.0]], y_bar=[1000.0, 7.0])
    assert found["a_bar"].tolist() == [501.0, 7.0]
    assert found["b_bar"] == 2110.0
    along = pushforward(graph, "a", values=True)
    assert [port.name for port in along.outputs] == ["y", "z", "c", "y_dot", "z_dot", "c_dot"]


def test_a_batch_of_points_gives_a_batch_of_jacobians():
    slopes = jacobian(trace(lambda x: vec(x[0] * x[1], 2.0), x=(2,)))
    found = evaluate(slopes, x=[[1.0, 2.0], [3.0, 4.0]])["d_result_d_x"]
    assert found.tolist() == [[[2.0, 1.0], [0.0, 0.0]], [[4.0, 3.0], [0.0, 0.0]]]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda g: jacobian(g, of="z"), ["jacobian of", "no output", "'z'", "expected result"]),
        (lambda g: jacobian(g, wrt=["x", "w"]), ["no input", "'w'", "expected x, x_dot"]),
        (lambda g: jacobian(g, mode="sideways"), ["unknown mode", "'sideways'", "auto, forward, reverse"]),
        (lambda g: pushforward(g, "w"), ["pushforward of", "'w'", "expected x, x_dot"]),
        (lambda g: pullback(g, "w"), ["pullback of", "'w'", "expected result"]),
        (lambda g: sparsity(g, wrt="w"), ["sparsity of", "'w'", "expected x, x_dot"]),
    ],
)
def test_an_unknown_name_is_told(call, words):
    with pytest.raises(ph.UnknownNameError) as caught:
        call(trace(lambda x, x_dot: x * x_dot, x=(), x_dot=()))
    for word in words:
        assert word in str(caught.value)


def test_names_that_would_meet_are_told():
    graph = trace(lambda x, x_dot: x * x_dot, x=(), x_dot=())
    with pytest.raises(ph.InputError, match="x_dot"):
        pushforward(graph, "x")
    assert evaluate(pushforward(graph, "x", "_eps"), x=1.0, x_dot=2.0, x_eps=3.0) == {"result_eps": 6.0}


# ── the branch that is taken ─────────────────────────────────────────────────────────────────────────


def sinc(x):
    return where(abs(x) < 1e-4, 1 - x * x / 6, sin(x) / x)


@pytest.mark.parametrize(
    ("function", "x", "expected"),
    [
        (sinc, 0.0, 0.0),
        (sinc, 1.0, math.cos(1) - math.sin(1)),
        (lambda x: where(x > 0, sqrt(x), 0.0), 0.0, 0.0),
        (lambda x: where(x > 0, sqrt(x), 0.0), 4.0, 0.25),
        (lambda x: where(x > 0, sin(sqrt(x) * sqrt(x)) + sqrt(x), 3 * x), -2.0, 3.0),
        (lambda x: where(x > 0, 1 / x, 0.0) + where(x > -1, x, log(x)) + where(x > 1, 1 / x, x), 0.0, 2.0),
        (lambda x: where(x > -1, where(x > 0, 1 / x, 2 * x), log(x)) + log(x + 1), 0.0, 3.0),
        (lambda x: where(x > 0, where(x > 1, log(x - 1), sqrt(x) / x), 5 * x) * x, -1.0, -10.0),
    ],
)
@pytest.mark.parametrize("mode", MODES)
def test_a_branch_that_is_not_taken_has_no_effect(function, x, expected, mode):
    """Though it may be infinite or undefined there."""
    slopes = jacobian(trace(function, x=()), mode=mode)
    assert_close(evaluate(slopes, x=x)["d_result_d_x"], expected)


@pytest.mark.parametrize("mode", MODES)
def test_both_branches_of_a_choice_are_one_choice_again(mode):
    slopes = jacobian(trace(lambda x: 3 * where(x < 1, sin(x) * x, exp(2 * x)), x=()), mode=mode)
    assert slopes.operations["select"] == 1
    assert not {*slopes.operations} & {"and", "or", "not"}


@pytest.mark.parametrize("mode", MODES)
def test_rotations_have_derivatives_at_the_identity(mode):
    slopes = jacobian(trace(quaternion.exp, x=(3,)), mode=mode)
    assert_close(evaluate(slopes, x=[0.0, 0.0, 0.0])["d_result_d_x"], np.eye(4, 3, -1))
    slopes = jacobian(trace(quaternion.log, p=(4,)), mode=mode)
    assert_close(evaluate(slopes, p=[1.0, 0.0, 0.0, 0.0])["d_result_d_p"][:, 1:], np.eye(3))


# ── size ─────────────────────────────────────────────────────────────────────────────────────────────


def chain(x, steps):
    a, b, c = x
    for k in range(steps):
        a, b, c = b + 0.01 * k, c * a, sin(a) - b
    return a + b + c


def running(x):
    most = x[0]
    for part in x:
        most = maximum(most, part * part)
    return most


@pytest.mark.parametrize("kind", [pytest.param("forward", marks=pytest.mark.long), "reverse", "pullback"])
def test_fifty_thousand_operations_grow_by_a_small_factor(kind):
    graph = trace(lambda x: chain(x, 12_500), x=(3,))
    assert total(graph) >= 50_000
    slopes = pullback(graph) if kind == "pullback" else jacobian(graph, mode=kind)
    assert total(slopes) < (11 if kind == "forward" else 5) * total(graph)


def test_choices_within_choices_stay_linear():
    for n in (200, 2000):
        graph = trace(running, x=(n,))
        assert total(jacobian(graph)) < 10 * n
    x = np.random.default_rng(0).normal(size=2000)
    found = evaluate(jacobian(graph), x=x)["d_result_d_x"]
    best = np.argmax(x * x)
    assert found.tolist() == [2 * x[k] if k == best else 0.0 for k in range(2000)]


# ── the physics of trees ─────────────────────────────────────────────────────────────────────────────

SPRING = ph.Spring("s", "world", "b0", (1.0, 0, 0), (0, 0.2, 0), stiffness=3.0, damping=0.5, rest=0.4)
FORCE = ph.Force("f", "b1", force=lambda t: (ph.sin(t), 0.0, 1.0), axes="body")
MODELS = [random_model([kind, "revolute"], k, forces=[SPRING, FORCE]) for k, kind in enumerate(ALL)]
MODELS.append(random_model(["free", "revolute", "spherical", "universal"], 20))
IDS = [m.joints[0].type + str(len(m.joints)) for m in MODELS]


def tau_of(tree):
    def inverse_dynamics(q, v, vd):
        acting = forces.acting(tree, 0.3, q, v)
        return inverse.inverse_dynamics(tree, q, v, vd, wrenches=acting.wrenches) - acting.generalized

    return inverse_dynamics


def vd_of(tree):
    def forward_dynamics(q, v, tau):
        acting = forces.acting(tree, 0.3, q, v)
        return forward.forward_dynamics(tree, q, v, tau + acting.generalized, acting.wrenches)

    return forward_dynamics


@pytest.mark.parametrize("model", MODELS, ids=IDS)
@pytest.mark.parametrize("mode", MODES)
def test_derivatives_of_dynamics_are_those_of_the_system(model, mode):
    """By the raw coordinates times F, the rates q̇ of unit velocities: the tangent derivatives of `System`."""
    system, tree, rng = ph.compile(model, target="python"), make_tree(model), np.random.default_rng(1)
    q, v, w = random_q(model, rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
    F = np.array([system.rate(q, e) for e in np.eye(model.nv)]).T
    shapes = {"q": (model.nq,), "v": (model.nv,)}
    for function, name in ((tau_of(tree), "vd"), (vd_of(tree), "tau")):
        slopes = jacobian(trace(function, **shapes, **{name: (model.nv,)}), mode=mode)
        found = evaluate(slopes, q=q, v=v, **{name: w})
        expected = getattr(system, f"{function.__name__}_derivatives")(q, v, w, t=0.3)
        condition = np.linalg.cond(system.mass_matrix(q))
        assert_close(found["d_result_d_q"] @ F, expected.dq, condition=10 * condition, scale=10)
        assert_close(found["d_result_d_v"], expected.dv, condition=10 * condition, scale=10)
        assert_close(found[f"d_result_d_{name}"], getattr(expected, f"d{name}"), condition=condition, scale=10)
        if name == "vd":
            assert_close(found["d_result_d_vd"], system.mass_matrix(q), scale=10)


@settings(max_examples=10)
@given(st.integers(0, 1000))
def test_the_hessian_of_the_kinetic_energy_is_the_mass_matrix(seed):
    model = random_model(["revolute", "spherical", "prismatic"], seed)
    tree, system, rng = make_tree(model), ph.compile(model, target="python"), np.random.default_rng(seed)
    graph = trace(lambda q, v: energy.energy(tree, q, v)[0], q=(model.nq,), v=(model.nv,))
    q, v = random_q(model, rng), rng.normal(size=model.nv)
    slopes = jacobian(jacobian(graph, wrt="v"), wrt="v")
    assert_close(evaluate(slopes, q=q, v=v)["d_d_result_d_v_d_v"], system.mass_matrix(q), condition=10, scale=10)


def test_derivatives_of_an_arm_cost_a_few_times_the_arm():
    """Central differences by q and v would take 28 times the arm."""
    tree, n = make_tree(ph.load("arm-7")), 7
    function = lambda q, v, vd: inverse.inverse_dynamics(tree, q, v, vd)
    graph = trace(function, SNAP, q=(n,), v=(n,), vd=(n,))
    counts = {mode: total(jacobian(graph, wrt=["q", "v"], mode=mode)) for mode in MODES}
    assert total(jacobian(graph, wrt=["q", "v"])) == min(counts.values())
    assert min(counts.values()) < 8 * total(graph)
    assert total(pushforward(graph)) < 3 * total(graph)
    assert total(pullback(graph)) < 3 * total(graph)
