"""Formulas are the kernels in other words: at random states they give the same numbers."""

import warnings

import numpy as np
import pytest
import sympy
from hypothesis import given, settings, strategies as st

import polhode as ph
from close import assert_close
from machines import random_model, random_q
from polhode.equations_of_motion.coordinates import coordinates
from polhode.model.joints.registry import JOINTS
from stopwatch import Stopwatch

DOUBLE_PENDULUM = 2.0
PUMA = 20.0
"""Seconds of processor time."""
GIMBALS = ((ph.REVOLUTE, "z"), (ph.REVOLUTE, "x"), (ph.REVOLUTE, "z"))


def state(model, seed=0):
    rng = np.random.default_rng(seed)
    return random_q(model, rng), rng.normal(size=model.nv), rng.normal(size=model.nv)


def expected(model, q, v, vd):
    """What the compiled kernels say."""
    system = ph.compile(model)
    G = system.christoffel(q)
    kinetic, potential = system.energy(q, v)
    return {
        "metric": system.mass_matrix(q),
        "christoffel": G,
        "velocity_terms": np.einsum("abg,a,b->g", G, v, v),
        "gravity": system.gravity(q),
        "bias": system.bias(q, v),
        "kinetic": np.reshape(kinetic, 1),
        "potential": np.reshape(potential, 1),
        "newton_euler": system.inverse_dynamics(q, v, vd),
        "composite_bodies": system.mass_matrix(q),
    }


def bundled(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ph.PolhodeWarning)
        return ph.load(name)


@pytest.mark.parametrize("name", ["double-pendulum", "cart-pole", "heavy-top", "free-body", "manipulator", "rprr"])
def test_formulas_of_bundled_machines_are_the_kernels(name):
    model = bundled(name)
    eq = ph.equations(model)
    for seed in (1, 2):
        at = state(model, seed)
        for quantity, value in expected(model, *at).items():
            assert_close(eq.evaluate(quantity, *at), value)


@pytest.mark.long
@settings(max_examples=6)
@given(st.lists(st.sampled_from(["revolute", "prismatic"]), min_size=1, max_size=2), st.integers(0, 2**31))
def test_formulas_of_random_trees_are_the_kernels(types, seed):
    model = random_model(types, seed)
    eq, at = ph.equations(model), state(model, seed)
    for quantity, value in expected(model, *at).items():
        assert_close(eq.evaluate(quantity, *at), value)


@pytest.mark.long
@settings(max_examples=6)
@given(
    st.lists(st.sampled_from(["revolute", "screw", "universal", "free", "planar"]), min_size=1, max_size=5),
    st.integers(0, 2**31),
)
def test_recursions_of_random_trees_are_the_kernels(types, seed):
    model = random_model(types, seed)
    eq, at = ph.equations(model), state(model, seed)
    want = expected(model, *at)
    for quantity in ("newton_euler", "composite_bodies"):
        assert_close(eq.evaluate(quantity, *at), want[quantity], condition=10.0)


def test_springs_dampers_and_forces_stand_on_the_right():
    model = ph.Model(
        "pushed",
        bodies=[ph.Body("a", 1.0, (0.1, 0.1, 0.1), center=(0.3, 0, 0)), ph.Body("b", 2.0, (0.1, 0.2, 0.3))],
        joints=[
            ph.Joint("hinge", "revolute", "world", "a", axis=(0, 1, 0), damping=0.3, stiffness=2.0, rest=0.1),
            ph.Joint("slide", "prismatic", "a", "b", axis=(1, 0, 0), position=(0.5, 0, 0), armature=0.2),
        ],
        forces=[
            ph.Force("push", "b", force=(1.0, 0.0, 2.0), point=(0.1, 0, 0)),
            ph.Spring("pull", "world", "b", point_a=(0, 0, 1.0), stiffness=3.0, damping=0.2, rest=0.7),
            ph.ForceFunction("wave", lambda t, q, v: [ph.sin(t) * v[0], 0.0]),
        ],
    )
    eq, (q, v, vd) = ph.equations(model), state(model)
    system = ph.compile(model)
    assert_close(eq.evaluate("bias", q, v, t=0.4), system.bias(q, v, t=0.4))
    assert_close(eq.evaluate("newton_euler", q, v, vd, t=0.4), system.inverse_dynamics(q, v, vd, t=0.4))
    assert_close(eq.evaluate("potential", q, v), np.reshape(system.energy(q, v).potential, 1))


@pytest.mark.parametrize("name", ["four-bar", "chaplygin-sleigh", "rolling-sphere", "rolling-disk"])
def test_constraints_of_second_order_are_the_kernels(name):
    model = bundled(name)
    eq, (q, v, _) = ph.equations(model), state(model, 3)
    system = ph.compile(model, target="python")
    rows, names = system.constraint_rows(q, v), system.constraint_names
    kept = [names.index(row) for row in eq.conditions.names]
    assert_close(eq.evaluate("A", q, v), rows.A[kept])
    assert_close(eq.evaluate("b", q, v)[:], rows.b[kept])
    missing = [k for k, row in enumerate(names) if row in eq.conditions.empty]
    assert np.max(abs(rows.A[missing]), initial=0.0) < 1e-12
    residuals = system.constraint_residuals(q, v)
    held = np.concatenate([residuals.positions, residuals.rates[len(residuals.positions) :]])
    assert_close(eq.evaluate("residuals", q, v), held[kept])
    steps = eq.evaluate("constraint_steps", q, v)
    assert_close(steps[:, :-1], rows.A)
    assert_close(steps[:, -1], rows.b)


def test_rows_with_multipliers_are_the_constrained_motion():
    model = bundled("four-bar")
    eq, system = ph.equations(model), ph.compile(model)
    q, v = np.array(model.start.q), np.array(model.start.v)
    vd = system.forward_dynamics(q, v, np.zeros(3))
    A, b = eq.evaluate("A", q, v), eq.evaluate("b", q, v)
    force = eq.evaluate("metric", q) @ vd + eq.evaluate("bias", q, v)
    lam = np.linalg.lstsq(A.T, force, rcond=None)[0]
    assert_close(A.T @ lam, force, condition=100.0)
    assert_close(A @ vd, b, condition=100.0)
    assert {"p_a", "p_b", "l_1", "a_3"} <= {s.name for x in eq.conditions.residuals for s in x.free_symbols}
    row = eq.rows[0]
    assert {s.name for s in row.rhs.free_symbols} >= {"tau_1", "lambda_1", "lambda_2"}


def test_choices_and_times_stay_in_the_formulas():
    body = {"inertia": (0.1, 0.2, 0.3), "center": (0.1, 0.2, 0)}
    model = ph.Model(
        "geared",
        bodies=[ph.Body("a", 1.0, **body), ph.Body("b", 2.0, **body), ph.Body("c", 1.0, **body)],
        joints=[
            ph.Joint("one", "revolute", "world", "a"),
            ph.Joint("two", "revolute", "world", "b", position=(1, 0, 0)),
            ph.Joint("three", "prismatic", "b", "c", axis=(1, 0, 0)),
        ],
        forces=[
            ph.ForceFunction("stop", lambda t, q, v: [ph.where(q[0] > 1.0, 5 - 5 * q[0], 0.0), 0.0, ph.exp(-t)]),
        ],
        constraints=[
            ph.Constraint("gear", "gear", {"joint": "two", "source": "one", "multiplier": -2.0, "offset": 0.1}),
            ph.Constraint("drive", "prescribed", {"joint": "three", "value": lambda t: ph.sin(2 * t)}),
        ],
    )
    eq, system = ph.equations(model), ph.compile(model, target="python")
    for first in (0.5, 1.5):  # before and behind the stop
        _, v, vd = state(model)
        q = np.array([first, 0.3, 0.2])
        assert_close(eq.evaluate("bias", q, v, t=0.3), system.bias(q, v, t=0.3))
        assert_close(eq.evaluate("newton_euler", q, v, vd, t=0.3), system.inverse_dynamics(q, v, vd, t=0.3))
        rows = system.constraint_rows(q, v, t=0.3)
        assert_close(eq.evaluate("A", q, v, t=0.3), rows.A)
        assert_close(eq.evaluate("b", q, v, t=0.3), rows.b)
    assert "Piecewise" in str(eq.forces)
    assert r"\begin{cases}" in eq.latex()


def test_numbers_of_ones_own_replace_letters():
    eq = ph.equations(bundled("double-pendulum"), symbolic=())
    assert not eq.words.letters
    assert eq.metric.free_symbols == {eq.q[1]}
    q, v, _ = state(eq.model)
    assert_close(eq.evaluate("bias", q, v), ph.compile(eq.model).bias(q, v))


def test_the_equations_of_lagrange_hold():
    """d/dt ∂T/∂q̇ − ∂T/∂q + ∂V/∂q of the energies is M q̈ + velocity terms + gravity."""
    eq = ph.equations(bundled("cart-pole"))
    q, v, vd, T, V = list(eq.q), list(eq.v), list(eq.vd), eq.kinetic, eq.potential
    for k in range(2):
        momentum = sympy.diff(T, v[k])
        along = sum(sympy.diff(momentum, q[i]) * v[i] + sympy.diff(momentum, v[i]) * vd[i] for i in range(2))
        left = along - sympy.diff(T, q[k]) + sympy.diff(V, q[k])
        assert sympy.simplify(left - eq.rows[k].lhs) == 0


def test_the_equations_of_hamel_hold_for_a_quaternion():
    """d/dt ∂T/∂ω_k − c_ik^j ω_i ∂T/∂ω_j + X_k V, with c the structure constants of turns in body axes."""
    eq = ph.equations(bundled("heavy-top"))
    p, w, wd, T, V = list(eq.q), list(eq.v), list(eq.vd), eq.kinetic, eq.potential
    for k in range(3):
        momentum = sympy.diff(T, w[k])
        rate = sum(sympy.diff(momentum, w[i]) * wd[i] for i in range(3))
        turn = sum(sympy.LeviCivita(i, k, j) * w[i] * sympy.diff(T, w[j]) for i in range(3) for j in range(3))
        slope = sum(sympy.diff(V, e) * along for e, along in zip(p, _half(p, k), strict=True))
        values = dict(zip([*p, *w, *wd], np.random.default_rng(k).normal(size=10), strict=True))
        size = sum(values[e] ** 2 for e in p) ** 0.5
        values |= {e: values[e] / size for e in p} | eq.values
        assert_close(float((rate - turn + slope).subs(values)), float(eq.rows[k].lhs.subs(values)))


def _half(p, k):
    """½ p ∘ e_k."""
    e0, e1, e2, e3 = p
    columns = [(-e1, e0, e3, -e2), (-e2, -e3, e0, e1), (-e3, e2, -e1, e0)]
    return [x / 2 for x in columns[k]]


FORMS = [
    "sherif-23",
    "sherif-29+q2",
    "sherif-29+2p",
    "udwadia-45",
    "schwab-meijaard-42",
    "sherif-25",
    "schwab-meijaard-45",
]


@pytest.mark.parametrize("name", [pytest.param(f, marks=[] if f in FORMS else pytest.mark.long) for f in ph.forms])
@pytest.mark.parametrize("machine", ["heavy-top", "free-body"])
def test_forms_of_one_body_give_its_acceleration_and_multiplier(machine, name):
    model = bundled(machine)
    eq = ph.equations(model, forms=[name])
    (form,) = eq.forms
    rng = np.random.default_rng(5)
    u = rng.uniform(0.3, 1.2, size=3)
    p, omega, tau = ph.euler.to_quaternion("313", u), rng.normal(size=3), rng.normal(size=3)
    pdot = ph.quaternion.rate(p, omega)
    body = model.bodies[0]
    J, c, load = body.inertia_matrix(), np.array(body.center), {"torque": tau}
    if machine == "heavy-top":
        J = J + body.mass * (c @ c * np.eye(3) - np.outer(c, c))
        load |= {"force": body.mass * np.array(model.gravity), "point": c}
    want = ph.acceleration(name, p, pdot, J, **load)
    udot = ph.euler.rates("313", u, omega)
    values = dict(zip(list(eq.q)[-4:], p, strict=True)) | dict(zip(list(eq.v)[-3:], omega, strict=True)) | eq.values
    values |= dict(zip(list(eq.tau)[-3:], tau, strict=True)) | {sympy.Symbol("J_0", positive=True): np.trace(J) / 3}
    for letter, numbers in (("edot", pdot), ("u", u), ("udot", udot)):
        values |= {sympy.Symbol(f"{letter}_{k + (len(numbers) == 3)}", real=True): x for k, x in enumerate(numbers)}
    W, h, Q = (np.array(x.subs(values).tolist(), dtype=float) for x in (form.mass, form.velocity_terms, form.load))
    right = (Q - h)[:, 0]
    if form.gradient is not None:
        g = np.array(form.gradient.subs(values).tolist(), dtype=float)[:, 0]
        whole = np.block([[W, g[:, None]], [g[None], np.zeros((1, 1))]])
        *pddot, multiplier = np.linalg.solve(whole, [*right, -(g @ p) * (pdot @ pdot)])
        assert_close(pddot, want.pddot, condition=100.0)
        assert_close(multiplier, want.multiplier, condition=100.0)
        assert_close(float(form.multiplier.subs(values)), want.predicted, condition=10.0)
    elif W.shape == (3, 4):
        assert_close(np.linalg.solve(np.vstack([W, p]), [*right, -pdot @ pdot]), want.pddot, condition=100.0)
    else:
        assert_close(np.linalg.solve(W, right), want.own, condition=100.0)


def test_the_double_pendulum_takes_less_than_two_seconds():
    model = bundled("double-pendulum")
    with Stopwatch() as watch:
        text = ph.equations(model).markdown()
    assert watch.seconds < DOUBLE_PENDULUM
    assert r"\sin{(\theta_{1} + \theta_{2})}" in text


def test_the_recursion_of_a_six_axis_arm_takes_less_than_twenty_seconds():
    model = bundled("puma-560")
    with Stopwatch() as watch:
        eq = ph.equations(model, factored=True)
        text = eq.markdown()
    assert watch.seconds < PUMA
    at = state(model)
    want = expected(model, *at)
    for quantity in ("newton_euler", "composite_bodies"):
        assert_close(eq.evaluate(quantity, *at), want[quantity])
    assert "Composite" in eq.composite_bodies.title
    assert "composite bodies" in text


@pytest.mark.long
def test_what_is_too_large_says_how_large_and_offers_the_recursion():
    model = bundled("puma-560")
    with Stopwatch() as watch:
        eq = ph.equations(model)
        assert not eq.readable
        text = eq.markdown()
    assert watch.seconds < PUMA
    assert f"{eq.operations:,} operations: too many to read" in text
    assert f"they take {eq.newton_euler.operations}" in text
    assert "Newton–Euler form" in text
    assert ph.equations(model, symbolic=(), limit=5000).readable
    with pytest.raises(ph.InputError, match=r"too large to write out\.\n  found [\d,]+ operations"):
        _ = ph.equations(bundled("arm-7")).velocity_terms


@pytest.fixture
def registered(monkeypatch):
    """Kinds of joints with elements, and letters of their own or none, known during a test."""

    def register(elements, **more):
        count = sum(element.nq for element, _ in elements)
        dofs = sum(element.nv for element, _ in elements)
        # names that end in letters with a meaning of their own: t is time
        names = {"coordinates": ("yaw", "tilt", "spin", *"wxyz")[:count], "dofs": ("omega", "b", "c", *"defg")[:dofs]}
        kind = type("Own", (ph.JointKind,), {"name": "own", "elements": elements, **names, **more})
        monkeypatch.delitem(JOINTS, "own", raising=False)
        monkeypatch.setitem(JOINTS, "own", kind())
        return ph.register_joint(kind)

    return register


@pytest.mark.parametrize(
    ("elements", "letters", "q", "v"),
    [
        (GIMBALS, (), ["theta", "phi", "psi"], ["thetadot", "phidot", "psidot"]),
        (GIMBALS, ("alpha", "beta", "gamma"), ["alpha", "beta", "gamma"], ["alphadot", "betadot", "gammadot"]),
        (((ph.PRISMATIC, "x"), (ph.REVOLUTE, "x")), (), ["d", "theta"], ["ddot", "thetadot"]),
        (((ph.PRISMATIC, "x"), (ph.PRISMATIC, "y")), (), ["x", "y"], ["xdot", "ydot"]),
        (((ph.REVOLUTE, "x"),) * 4, (), ["theta", "phi", "psi", "theta_4"], None),
        (
            ((ph.PRISMATIC, "z"), (ph.BALL, "")), (),
            ["d", "e_0", "e_1", "e_2", "e_3"], ["ddot", "omega_x", "omega_y", "omega_z"],
        ),
    ],
)  # fmt: skip
def test_coordinates_of_a_joint_of_ones_own_have_letters_by_what_they_are(registered, elements, letters, q, v):
    registered(elements, letters=letters)
    model = ph.Model(
        "m", bodies=[ph.Body("b", 1.0, (1.0, 1.0, 1.0))], joints=[ph.Joint("j", "own", "world", "b")]
    )  # fmt: skip
    found = coordinates(model, {}, "numbers")
    assert [c.symbol.name for c in found.q] == q
    assert v is None or [c.symbol.name for c in found.v] == v


def test_letters_are_as_many_as_coordinates(registered):
    with pytest.raises(ph.ModelError, match="letters of its elements"):
        registered(GIMBALS, letters=("alpha",))
