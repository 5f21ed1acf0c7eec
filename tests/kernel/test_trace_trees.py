"""The physics of trees is traceable: every quantity of every kind of model evaluates to the same numbers."""

import numpy as np
import pytest
import sympy

import polhode as ph
from close import assert_close
from machines import ALL, random_model, random_q
from polhode.dynamics import body_points, covariant, energy, forces, forward, inertia, inverse, kinematics
from polhode.kernel import evaluate, trace
from polhode.model import make_tree
from polhode.scalar import Vec, vec

SPRING = ph.Spring("s", "world", "b0", (1.0, 0, 0), (0, 0.2, 0), stiffness=3.0, damping=0.5, rest=0.4)
FORCE = ph.Force("f", "b1", force=lambda t: (ph.sin(t), 0.0, 1.0), axes="body")
MODELS = [random_model([kind, "revolute"], k, forces=[SPRING, FORCE]) for k, kind in enumerate(ALL)]
MODELS.append(random_model([*ALL, "spherical"], 20))


def quantities(tree, body):
    """Each quantity as a function of symbols, with the System call that it must equal."""
    at = body_points.BodyPoint(tree.of_body[body], vec(0.0, 0.0, 0.0))

    def biased(q, v, vd, t):
        acting = forces.acting(tree, t, q, v)
        return inverse.inverse_dynamics(tree, q, v, vd, wrenches=acting.wrenches) - acting.generalized

    def accelerated(q, v, vd, t):
        acting = forces.acting(tree, t, q, v)
        return forward.forward_dynamics(tree, q, v, vd + acting.generalized, acting.wrenches)

    return {
        "mass_matrix": (lambda q: inertia.mass_matrix(tree, q), "q"),
        "christoffel": (lambda q: covariant.christoffel(tree, q), "q"),
        "coriolis": (lambda q, v: covariant.coriolis(tree, q, v), "qv"),
        "inverse_dynamics": (biased, "qvwt"),
        "forward_dynamics": (accelerated, "qvwt"),
        "energy": (lambda q, v: energy.energy(tree, q, v), "qv"),
        "momentum": (lambda q, v: energy.momentum(tree, q, v), "qv"),
        "center_of_mass": (lambda q: energy.center_of_mass(tree, q), "q"),
        "rate": (lambda q, v: kinematics.rate(tree, q, v), "qv"),
        "integrate": (lambda q, v: kinematics.integrate(tree, q, v), "qv"),
        "jacobian": (lambda q: body_points.jacobian(tree, q, at, "world-aligned"), "q"),
        "jacobian_rate": (lambda q, v: body_points.jacobian_rate(tree, q, v, at, "world-aligned"), "qv"),
    }


@pytest.mark.parametrize("model", MODELS, ids=[m.joints[0].type + str(len(m.joints)) for m in MODELS])
def test_every_quantity_traces_to_the_same_numbers(model):
    system, tree = ph.compile(model, target="python"), make_tree(model)
    rng = np.random.default_rng(0)
    body = model.bodies[-1].name
    values = {"q": random_q(model, rng), "v": rng.normal(size=model.nv), "w": rng.normal(size=model.nv), "t": 0.3}
    names = {"q": "q", "v": "v", "w": "vd", "t": "t"}
    for name, (function, letters) in quantities(tree, body).items():
        shapes = {names[x]: np.shape(values[x]) for x in letters}
        graph = trace(function, **shapes)
        found = evaluate(graph, **{names[x]: values[x] for x in letters})
        args = [values[x] for x in letters if x != "t"]
        options = {"t": 0.3} if "t" in letters else {}
        if name.startswith("jacobian"):
            args.append(body)
        expected = getattr(system, name)(*args, **options)
        for a, b in zip(*((x if isinstance(x, tuple) else (x,)) for x in (found, expected)), strict=True):
            assert_close(np.asarray(a), b, condition=1e3)


def test_folding_leaves_few_operations_of_an_axis_aligned_arm():
    """Zeros and ones of axes, frames and inertias cost nothing: a planar pendulum is a handful of operations."""
    arm = ph.Model(
        "pendulum",
        bodies=[ph.Body("b", 1.0, (0.1, 0.1, 0.1), (0, 0, -1))],
        joints=[ph.Joint("j", "revolute", "world", "b", axis=(0, 1, 0))],
    )
    tree = make_tree(arm)
    graph = trace(lambda q, v, vd: inverse.inverse_dynamics(tree, q, v, vd), q=(1,), v=(1,), vd=(1,))
    assert sum(graph.operations.values()) < 16
    found = evaluate(graph, q=[0.3], v=[2.0], vd=[0.5])
    assert_close(found, [1.1 * 0.5 + 9.81 * np.sin(0.3)])


def test_parameters_become_symbols():
    model = random_model(["revolute", "spherical"], 3)

    def biased(q, v, m, g):
        tree = make_tree(model, {"bodies.b1.mass": m, "gravity": g})
        return inverse.inverse_dynamics(tree, q, v, Vec([0.0] * 4))

    graph = trace(biased, q=(5,), v=(4,), m=(), g=(3,))
    rng = np.random.default_rng(1)
    q, v = random_q(model, rng), rng.normal(size=4)
    system = ph.compile(model, target="python", parameters=["bodies.b1.mass", "gravity"])
    for m, g in ((1.0, (0, 0, -9.81)), (3.0, (1.0, 2.0, 0.0))):
        expected = system.bias(q, v, parameters={"bodies.b1.mass": m, "gravity": g})
        assert_close(evaluate(graph, q=q, v=v, m=m, g=g), expected)


def test_the_double_pendulum_in_symbols_is_the_textbook_one():
    m1, m2, l1, l2, g = sympy.symbols("m1 m2 l1 l2 g", positive=True)
    a, b = sympy.symbols("a b", real=True)
    model = ph.Model(
        "double",
        bodies=[ph.Body(n, ph.Parameter(f"m_{n}", 1.0), (0, 0, 0), (0, 0, ph.Parameter(f"l_{n}", -1.0))) for n in "ab"],
        joints=[
            ph.Joint("one", "revolute", "world", "a", axis=(0, 1, 0)),
            ph.Joint("two", "revolute", "a", "b", axis=(0, 1, 0), position=(0, 0, ph.Parameter("l_a", -1.0))),
        ],
    )
    values = {"m_a": m1, "m_b": m2, "l_a": -l1, "l_b": -l2, "gravity": vec(0, 0, -g)}
    tree = make_tree(model, values)
    M = inertia.mass_matrix(tree, vec(a, b))
    expected = m1 * l1**2 + m2 * (l1**2 + l2**2 + 2 * l1 * l2 * sympy.cos(b))
    assert sympy.simplify(M[0][0] - expected) == 0
    assert sympy.simplify(M[1][1] - m2 * l2**2) == 0
    G = covariant.christoffel(tree, vec(a, b))
    assert sympy.simplify(G[0][0][1] - m2 * l1 * l2 * sympy.sin(b)) == 0
    weight = inverse.inverse_dynamics(tree, vec(a, b), vec(0, 0), vec(0, 0))
    assert sympy.simplify(weight[1] - m2 * g * l2 * sympy.sin(a + b)) == 0
