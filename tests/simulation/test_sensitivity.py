"""Derivatives of motions, forward against complex steps and closed forms, and back against forward."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import polhode as ph
from close import assert_close
from machines import random_model, random_q
from polhode.dynamics import kinematics
from polhode.dynamics.large_trees import loops
from polhode.integrate.methods import METHODS
from polhode.model import make_tree
from polhode.quaternion import normalise
from polhode.result.files import load, save
from polhode.scalar import Vec
from polhode.simulation.derivatives import replayed_steps
from polhode.simulation.derivatives.directions import directions
from polhode.simulation.derivatives.gradient import Adjoint
from polhode.simulation.derivatives.sensitivity import Tangents
from polhode.simulation.machine import machine
from polhode.simulation.run import Run
from polhode.simulation.run_options import RunOptions
from polhode.simulation.scenario import Scenario

GROWTH = 1e2
"""How far these motions spread small differences, at most."""


class Complex:
    """Complex numbers (one for each direction) with one real part, compared by that: a step through any function."""

    def __init__(self, value):
        self.value = np.asarray(value, dtype=complex)

    def _with(operation):
        def method(self, other):
            value = getattr(other, "value", other)
            known = isinstance(value, (int, float, np.ndarray))
            return Complex(operation(self.value, value)) if known else NotImplemented

        return method

    __add__, __radd__ = _with(lambda a, b: a + b), _with(lambda a, b: b + a)
    __sub__, __rsub__ = _with(lambda a, b: a - b), _with(lambda a, b: b - a)
    __mul__, __rmul__ = _with(lambda a, b: a * b), _with(lambda a, b: b * a)
    __truediv__, __rtruediv__ = _with(lambda a, b: a / b), _with(lambda a, b: b / a)

    @property
    def real(self):
        return float(self.value.flat[0].real)

    def _compared(operation):
        return lambda self, other: operation(self.real, getattr(other, "real", other))

    __lt__, __gt__ = _compared(lambda a, b: a < b), _compared(lambda a, b: a > b)
    __le__, __ge__ = _compared(lambda a, b: a <= b), _compared(lambda a, b: a >= b)

    def __neg__(self):
        return Complex(-self.value)

    def __abs__(self):
        return -self if self.real < 0 else self

    def _function(function):
        return lambda self: Complex(function(self.value))

    sin, cos, sqrt, exp, log = map(_function, (np.sin, np.cos, np.sqrt, np.exp, np.log))


TINY = 1e-30


def complex_run(tree, q, v, tau, method, h, steps):
    """q, v after a run in plain Python, on complex numbers."""
    plant = machine(tree, lambda t, q, v: tau)
    for k in range(steps):
        q, v, *_ = METHODS[method].step(plant, k * h, q, v, h)
    return q, v


def slopes(vector):
    """The derivatives (D, n) that steps of TINY in imaginary direction have left."""
    return np.stack([x.value.imag / TINY for x in vector], axis=-1)


@cache
def tree():
    """A ball joint, a free body and a hinge, with damping, armature and a spring between bodies."""
    model = random_model(["spherical", "revolute", "free"], 5)
    joints = [replace(joint, damping=0.3) for joint in model.joints]
    spring = ph.Spring("rope", "b0", "b2", (0.1, 0.2, 0.3), (0.0, -0.4, 0.2), 2.0, 0.1, 0.5)
    rng = np.random.default_rng(11)
    model = replace(model, joints=tuple(joints), forces=(spring,))
    return model, random_q(model, rng), rng.normal(size=model.nv), rng.normal(size=model.nv)


PATHS = [
    "bodies.b0.mass", "bodies.b2.inertia.0.1", "bodies.b1.inertia.2.2", "bodies.b0.center.1", "gravity.2",
    "joints.j0.position.2", "joints.j1.axis.0", "joints.j1.orientation.1", "joints.j2.armature", "joints.j0.damping",
    "forces.rope.stiffness", "forces.rope.rest", "forces.rope.point_a.2",
]  # fmt: skip


def numbers_of(model, names):
    """Numbers for the tree, with an imaginary part along the direction of their name."""
    step = lambda name: np.array([TINY if name == other else 0.0 for other in names]) * 1j
    values = {}
    for path in PATHS:
        number = model.numbers()[path]
        values[path] = Complex(number + step(path))
    mirrored = "bodies.b2.inertia.1.0"  # a symmetric matrix stays symmetric
    values[mirrored] = values["bodies.b2.inertia.0.1"]
    turn = "joints.j1.orientation"  # a quaternion keeps its length
    parts = [values.pop(f"{turn}.{k}", model.numbers()[f"{turn}.{k}"]) for k in range(4)]
    values[turn] = normalise(Vec(parts))
    return values, step


@pytest.mark.parametrize("method", ["rk4", "dop853", "rkmk4"])
def test_sensitivities_are_the_derivatives_that_complex_steps_find(method):
    model, q, v, tau = tree()
    h, steps, paths = 0.02, 4, [*PATHS, "start.q", "start.v", "tau"]
    run = ph.simulate(model, q, v, h * steps, tau, h, method, sensitivities=paths, every=1)
    values, step = numbers_of(model, run.parameter.values)
    along = lambda root: Vec([Complex(step(f"{root}.{dof}")) for dof in run.dof.values])
    start = Vec(q.tolist()) + kinematics.rate(make_tree(model), Vec(q.tolist()), along("start.q"))
    v, tau = Vec(v.tolist()) + along("start.v"), Vec(tau.tolist()) + along("tau")
    q, v = complex_run(make_tree(model, values), start, v, tau, method, h, steps)
    last = run.isel(time=-1)
    found = kinematics.rate(make_tree(model), Vec([x.real for x in q]), Vec(last.sensitivity_q.values))
    assert_close(np.stack(found, axis=-1), slopes(q), GROWTH)
    assert_close(last.sensitivity_v.values.T, slopes(v), GROWTH)


def test_at_the_start_only_the_start_matters():
    model, q, v, tau = tree()
    run = ph.simulate(model, q, v, 0.1, tau, 0.02, "rk4", sensitivities=["gravity", "start.q", "start.v"])
    first, n, none = run.isel(time=0), model.nv, np.zeros((model.nv, 3))
    assert_close(first.sensitivity_q, np.hstack([none, np.eye(n), np.zeros((n, n))]))
    assert_close(first.sensitivity_v, np.hstack([none, np.zeros((n, n)), np.eye(n)]))


def slope(function, x, h):
    """A derivative by differences of fourth order."""
    return (8 * (function(x + h) - function(x - h)) - function(x + 2 * h) + function(x - 2 * h)) / (12 * h)


def test_a_pendulum_changes_as_its_closed_form_does():
    m, J, l, g, theta, rate = 1.3, 0.2, 0.7, 9.81, 2.0, 1.0
    bob = ph.Body("bob", m, (J, J, J), center=(0, 0, -l))
    model = ph.Model("pendulum", bodies=[bob], joints=[ph.Joint("hinge", "revolute", "world", "bob", axis=(0, 1, 0))])
    paths = ["bodies.bob.mass", "bodies.bob.center.2", "bodies.bob.inertia.1", "gravity.2", "start.q", "start.v"]
    run = ph.simulate(model, [theta], [rate], 5.0, tolerance=1e-13, samples=20, sensitivities=paths)

    def exact(m=m, l=l, J=J, g=g, theta=theta, rate=rate):
        return ph.exact.pendulum(theta, rate, run.time.values, np.sqrt(m * g * l / (J + m * l * l))).angle

    given = {"m": m, "l": l, "J": J, "g": g, "theta": theta, "rate": rate}
    signs = [1, -1, 1, -1, 1, 1]  # the mass centre and gravity point down
    for path, (name, value), sign in zip(run.parameter.values, given.items(), signs, strict=True):
        expected = sign * slope(lambda x, name=name: exact(**{name: x}), value, 1e-3)
        assert_close(run.sensitivity_q.sel(parameter=path).values[:, 0], expected, 1e4)  # differences, h⁴ = 1e-12
    assert list(run.parameter_units.values) == ["kg", "m", "kg m2", "m/s2", "rad", "rad/s"]


def test_a_free_body_changes_as_its_closed_form_does():
    J, omega = np.array([1.0, 2.0, 2.5]), np.array([0.3, 2.0, -0.4])
    model = ph.Model("free", gravity=(0, 0, 0), bodies=[ph.Body("b", 1.0, J)],
                     joints=[ph.Joint("j", "spherical", "world", "b")])  # fmt: skip
    paths = ["bodies.b.inertia", "start.v"]
    run = ph.simulate(model, [1, 0, 0, 0], omega, 6.0, tolerance=1e-13, samples=30, sensitivities=paths)
    t = run.time.values

    def turned(change):
        motion = ph.exact.free_body(J + change[:3], omega + change[3:], t)
        return motion.p, motion.omega

    for d in range(6):
        unit = np.eye(6)[d]
        p = slope(lambda x, unit=unit: turned(x * unit)[0], 0.0, 1e-3)
        rates = slope(lambda x, unit=unit: turned(x * unit)[1], 0.0, 1e-3)
        one = run.isel(parameter=d)
        assert_close(one.sensitivity_v.values, rates, 1e4)
        pdot = ph.quaternion.product(run.q.values, np.pad(one.sensitivity_q.values, ((0, 0), (1, 0)))) / 2
        assert_close(pdot, p, 1e4)


def test_the_variational_equation_gives_the_same():
    """δ̇ = δv − [v, δ],  δv̇ = ∂v̇/∂q δ + ∂v̇/∂v δv                                                   BEYOND §3"""
    from scipy.integrate import solve_ivp

    model = random_model(["spherical", "revolute"], 8)
    rng = np.random.default_rng(2)
    q, v = random_q(model, rng), rng.normal(size=model.nv)
    system, n = ph.compile(model), model.nv
    run = ph.simulate(model, q, v, 1.0, tolerance=1e-12, samples=5, sensitivities=["start.q", "start.v"])
    balls = [e.v for e in make_tree(model).elements if e.kind.quaternion]

    def rhs(t, y):
        q, v, S = y[: model.nq], y[model.nq : model.nq + n], y[model.nq + n :].reshape(2 * n, -1)
        by_q, by_v, _ = system.forward_dynamics_derivatives(q, v, np.zeros(n))
        delta = S[n:].copy()
        for triple in balls:
            delta[list(triple)] -= np.cross(v[list(triple)], S[list(triple)], axis=0)
        slopes = np.concatenate([delta, by_q @ S[:n] + by_v @ S[n:]])
        vd = system.forward_dynamics(q, v, np.zeros(n))
        return np.concatenate([system.rate(q, v), vd, slopes.ravel()])

    begin = np.concatenate([q, v, np.eye(2 * n).ravel()])
    found = solve_ivp(rhs, (0, 1), begin, "DOP853", run.time.values, rtol=1e-12, atol=1e-12).y.T[:, model.nq + n :]
    expected = found.reshape(-1, 2 * n, 2 * n)
    assert_close(run.sensitivity_q.values, expected[:, :n], 1e4)  # the tolerance, grown
    assert_close(run.sensitivity_v.values, expected[:, n:], 1e4)


TREES = {
    "ball, hinge, ball": ["spherical", "revolute", "spherical"],
    "free, universal, ball": ["free", "universal", "spherical"],
    "slider, free, screw": ["prismatic", "free", "screw"],
    "hinge, ball": ["revolute", "spherical"],
}
HOW = {
    "fixed": {"step": 0.01, "method": "rk4"},
    "adaptive": {"tolerance": 1e-8},
    "group": {"step": 0.013, "method": "rkmk4"},
    "group, adaptive": {"tolerance": 1e-8, "method": "rkmk-dopri54"},
}
SOME = ["bodies.b0.inertia.0.1", "bodies.b1.mass", "joints.j1.damping", "joints.j0.position", "start.q", "start.v"]
EVERYTHING = ["bodies", "joints", "gravity", "start.q", "start.v", "tau"]


def scenario(types="hinge, ball", seed=4):
    model = random_model(TREES[types], seed)
    rng = np.random.default_rng(seed)
    model = replace(model, joints=tuple(replace(joint, damping=0.2) for joint in model.joints))
    return model, {"q": random_q(model, rng), "v": rng.normal(size=model.nv), "tau": rng.normal(size=model.nv)}, rng


@pytest.mark.parametrize(("types", "how", "paths"), [
    ("ball, hinge, ball", "fixed", SOME),
    ("free, universal, ball", "adaptive", SOME),
    ("slider, free, screw", "group", SOME),
    ("ball, hinge, ball", "group, adaptive", SOME),
    ("hinge, ball", "fixed", EVERYTHING),
])  # fmt: skip
def test_the_way_back_gives_what_the_way_forward_gives(types, how, paths):
    model, start, rng = scenario(types, len(how))
    weights = Vec(rng.normal(size=model.nq + model.nv).tolist())

    def objective(q, v):
        return sum((w * x * x for w, x in zip(weights, (*q, *v), strict=True)), 0.0)

    kwargs = {**start, "duration": 0.3, **HOW[how]}
    found = ph.gradient(model, objective, paths, **kwargs)
    run = ph.simulate(model, **kwargs, samples=2 if "step" not in kwargs else None, sensitivities=paths)
    q, v = run.q.values[-1], run.v.values[-1]
    raw = [kinematics.rate(make_tree(model), Vec(q), Vec(d)) for d in run.sensitivity_q.values[-1].T]
    expected = 2 * (np.array(weights[: model.nq]) * q) @ np.array(raw).T
    expected = expected + 2 * (np.array(weights[model.nq :]) * v) @ run.sensitivity_v.values[-1]
    assert list(found.derivatives) == list(run.parameter.values)
    assert found.value == pytest.approx(objective(q, v), rel=1e-9)
    assert_close(list(found.derivatives.values()), expected, GROWTH)  # asked for: 1e-10


@pytest.mark.parametrize("method", ["rk4", "cf4"])
def test_the_integral_of_a_speed_is_the_change_of_its_angle(method):
    """The method integrates both alike, so that derivatives agree too, not only for small steps."""
    model, paths = ph.load("double-pendulum"), ["bodies", "gravity", "start.q", "start.v"]
    kwargs = {"q": [1.0, 0.5], "v": [0.3, -1.0], "duration": 1.0, "step": 0.05, "method": method}
    by_angle = ph.gradient(model, lambda q, v: q[1], paths, **kwargs)
    by_speed = ph.gradient(model, None, paths, lambda t, q, v: v[1], **kwargs)
    assert by_speed.value == pytest.approx(by_angle.value - 0.5, abs=1e-13)
    one, other = (np.array(list(x.derivatives.values())) for x in (by_angle, by_speed))
    other[list(by_angle.derivatives).index(f"start.q.{model.joints[1].name}")] += 1.0
    assert_close(other, one, GROWTH)


def test_an_integral_and_an_end_add_up():
    model, start, _ = scenario()
    kwargs = {**start, "duration": 0.5, "tolerance": 1e-10}
    end, running = (lambda q, v: v[0] * q[1]), (lambda t, q, v: ph.cos(t) * (v[0] * v[0] + ph.sin(q[1])))
    both = ph.gradient(model, end, ["gravity", "start.v"], running, **kwargs)
    parts = [ph.gradient(model, end, ["gravity", "start.v"], **kwargs),
             ph.gradient(model, None, ["gravity", "start.v"], running, **kwargs)]  # fmt: skip
    assert both.value == pytest.approx(sum(x.value for x in parts), rel=1e-13)
    for name, slope_ in both.derivatives.items():
        assert slope_ == pytest.approx(sum(x.derivatives[name] for x in parts), rel=1e-10, abs=1e-12)
    run = ph.simulate(model, **kwargs, samples=2001)
    q, v = Vec(run.q.values.T), Vec(run.v.values.T)
    from scipy.integrate import simpson

    assert parts[1].value == pytest.approx(simpson(running(run.time.values, q, v), x=run.time.values), rel=1e-8)


def test_a_parameter_is_the_sum_of_its_places():
    m = ph.Parameter("m", 1.4)
    bodies = [ph.Body(name, m, (0.1, 0.1, 0.1), center=(0, 0, -0.5)) for name in ("a", "b")]
    joints = [ph.Joint("one", "revolute", "world", "a", axis=(0, 1, 0)),
              ph.Joint("two", "spherical", "a", "b", position=(0, 0, -1))]  # fmt: skip
    model = ph.Model("twins", bodies=bodies, joints=joints)
    paths = ["m", "bodies.a.mass", "bodies.b.mass"]
    kwargs = {"q": [1.0, 1.0, 0, 0, 0], "v": [0.5, 1, 2, 0], "duration": 1.0}
    run = ph.simulate(model, **kwargs, samples=3, sensitivities=paths)
    whole, *parts = (run.sensitivity_v.sel(parameter=path).values for path in paths)
    assert_close(whole, parts[0] + parts[1], GROWTH)
    alone = ph.simulate(model, **kwargs, samples=3, sensitivities=["m"])
    assert_close(alone.sensitivity_v.values[..., 0], whole, GROWTH)
    back = ph.gradient(model, lambda q, v: v[0], paths, **kwargs).derivatives
    assert back["m"] == pytest.approx(back["bodies.a.mass"] + back["bodies.b.mass"], rel=1e-10)
    assert back["m"] == pytest.approx(whole[-1, 0], rel=1e-10)


@pytest.mark.parametrize("how", ["fixed", "adaptive"])
def test_blocks_of_steps_leave_no_trace(how, monkeypatch):
    model, start, _ = scenario()
    kwargs = {**start, "duration": 0.4, **HOW[how]}
    ask = lambda: (
        ph.simulate(model, **kwargs, sensitivities=["gravity", "start.v"]),
        ph.gradient(model, lambda q, v: v[0], ["gravity", "start.v"], lambda t, q, v: v[1], **kwargs),
    )
    (run, back), _ = ask(), monkeypatch.setattr(replayed_steps, "MOST", 3)
    again, back_again = ask()
    np.testing.assert_array_equal(again.sensitivity_v.values, run.sensitivity_v.values)
    assert not np.any(np.isnan(run.sensitivity_v.values))
    assert back_again.derivatives == back.derivatives
    assert back_again.value == pytest.approx(back.value, rel=1e-14)


def test_one_direction_has_the_bits_of_many():
    model, start, _ = scenario()
    kwargs = {**start, "duration": 0.4, "step": 0.01, "method": "rk4"}
    many = ph.simulate(model, **kwargs, sensitivities=["start.v"])
    one = ph.simulate(model, **kwargs, sensitivities=[many.parameter.values[2]])
    np.testing.assert_array_equal(one.sensitivity_v[..., 0], many.sensitivity_v[..., 2])


@pytest.mark.long
def test_samples_within_a_step_are_as_good_as_at_its_end():
    model, start, _ = scenario()
    kwargs = {**start, "duration": 1.0, "tolerance": 1e-11, "sensitivities": ["bodies.b1.mass", "start.q"]}
    few, many = ph.simulate(model, **kwargs, samples=2), ph.simulate(model, **kwargs, samples=101)
    exact = ph.simulate(model, **{**kwargs, "tolerance": 1e-14}, samples=101)
    assert_close(few.sensitivity_v.values[-1], many.sensitivity_v.values[-1], GROWTH)
    assert_close(many.sensitivity_v.values, exact.sensitivity_v.values, 1e4)
    assert_close(many.sensitivity_q.values, exact.sensitivity_q.values, 1e4)


def differences(model, v, **kwargs):
    """∂v by the first velocity at the start, by differences of whole runs."""
    at = lambda x: ph.simulate(model, v=[x, *v[1:]], **kwargs).v.values
    return slope(at, v[0], 1e-3)


@pytest.mark.parametrize("method", ["radau2", "generalized-alpha"])
def test_implicit_methods_go_forward_and_say_that_there_is_no_way_back(method):
    """The last step is shorter: what generalized-alpha carries on begins anew there."""
    model, start, _ = scenario()
    kwargs = {**start, "duration": 0.105, "step": 0.02, "method": method, "every": 1}
    run = ph.simulate(model, **kwargs, sensitivities=["start.v"])
    assert_close(run.sensitivity_v[..., 0], differences(model, **kwargs), 1e4)
    del kwargs["every"]
    with pytest.raises(ph.CompileError, match=f"no way back through a step of '{method}'"):
        ph.gradient(model, lambda q, v: v[0], ["start.v"], **kwargs)


def inputs():
    times = np.linspace(0, 1, 7)
    return {
        "constant": np.array([0.5, -1.0]),
        "by joint": {"shoulder": 0.7},
        "table": ph.Table(times, np.stack([np.sin(9 * times), times], axis=1)),
        "held table": ph.Table(np.array([0.0, 0.1, 0.32]), np.array([[1.0, 0], [0, 2], [-3, 1]]), hold=True),
        "held between steps": ph.Table(np.array([0.0, 0.107]), np.array([[1.0, 0], [0, 2]]), hold=True),
        "function": lambda t, q, v: Vec([ph.sin(3 * t) * q[0], -v[1] * t]),
        "PD": ph.PD(3.0, 0.5, target=[0.2, -0.3]),
    }


def two_links():
    bodies = [ph.Body(name, 1.0, (0.1, 0.2, 0.15), center=(0.1, 0, -0.5)) for name in ("upper", "lower")]
    joints = [ph.Joint("shoulder", "revolute", "world", "upper", axis=(0, 1, 0)),
              ph.Joint("elbow", "revolute", "upper", "lower", axis=(0, 1, 0), position=(0, 0, -1))]  # fmt: skip
    return ph.Model("two links", bodies=bodies, joints=joints)


@pytest.mark.parametrize("kind", list(inputs()))
def test_inputs_of_every_kind_can_be_differentiated_through(kind):
    kwargs = {"q": [0.5, 0.1], "v": [0.1, 0.4], "tau": inputs()[kind], "duration": 0.5, "step": 0.02, "method": "rk4"}
    run = ph.simulate(two_links(), **kwargs, sensitivities=["start.v", "gravity.2"])
    assert_close(run.sensitivity_v[..., 0], differences(two_links(), **kwargs), 1e4)
    back = ph.gradient(two_links(), lambda q, v: v[1], ["start.v", "gravity.2"], **kwargs)
    assert_close(list(back.derivatives.values()), run.sensitivity_v.values[-1, 1], GROWTH)


def test_a_controller_that_knows_its_machine_does_not_feel_its_numbers():
    tau = ph.ComputedTorque(4.0, 1.0, target=[0.2, -0.3])
    kwargs = {"q": [0.5, 0.1], "tau": tau, "duration": 1.0, "tolerance": 1e-10}
    run = ph.simulate(two_links(), **kwargs, samples=5, sensitivities=["gravity.2", "bodies.lower.mass"])
    assert_close(run.sensitivity_v, np.zeros((5, 2, 2)), GROWTH)


def test_lengths_that_are_left_alone_can_be_differentiated_too():
    model, start, _ = scenario()
    kwargs = {**start, "duration": 0.2, "step": 0.02, "method": "rk4", "norm": "none"}
    run = ph.simulate(model, **kwargs, sensitivities=["start.v"])
    assert_close(run.sensitivity_v[..., 0], differences(model, **kwargs), 1e4)


def test_under_constraints_a_motion_goes_forward_and_back_too():
    follow = ph.Constraint("follow", "mimic", {"joint": "elbow", "source": "shoulder", "multiplier": 2.0})
    model = replace(two_links(), constraints=(follow,))
    kwargs = {"q": [0.5, 1.0], "v": [0.3, 0.6], "duration": 0.3, "step": 0.02, "method": "rk4"}
    run = ph.simulate(model, **kwargs, sensitivities=["gravity.2", "bodies.lower.mass"])
    at = lambda x: ph.simulate(replace(model, gravity=(0, 0, x)), **kwargs).v.values
    assert_close(run.sensitivity_v[..., 0], slope(at, -9.81, 1e-2), 1e4)
    assert_close(run.sensitivity_v[:, 1], 2 * run.sensitivity_v[:, 0], GROWTH)
    back = ph.gradient(model, lambda q, v: v[1], ["gravity.2", "bodies.lower.mass"], **kwargs)
    assert_close(list(back.derivatives.values()), run.sensitivity_v.values[-1, 1], GROWTH)


@pytest.mark.long
def test_large_machines_go_forward_in_loops_and_back_written_out(monkeypatch):
    model, start, _ = scenario()
    kwargs = {**start, "duration": 0.1, "step": 0.02, "method": "rkmk4"}  # unit quaternions
    ask = lambda: (
        ph.simulate(model, **kwargs, sensitivities=["bodies.b1.mass", "start.v"]),
        ph.gradient(model, lambda q, v: v[0], ["bodies.b1.mass", "start.v"], **kwargs),
    )
    (run, back), _ = ask(), monkeypatch.setattr(loops, "UNROLLED", 0)
    again, back_again = ask()
    assert_close(again.sensitivity_v.values, run.sensitivity_v.values, GROWTH)
    assert_close(list(back_again.derivatives.values()), list(back.derivatives.values()), GROWTH)


def test_forward_work_grows_with_the_parameters_and_the_way_back_does_not():
    """Operations of one step: all derivatives by one way back, against as many directions forward."""
    model = ph.load("arm-7")
    course = Run(Scenario.of(model, None, None, None, RunOptions(duration=1.0, step=0.01, method="rk4"))).replayed(
        "test"
    )

    def work(paths):
        along = directions(model, course.q, None, paths, "test")
        graphs = Adjoint(course, along, lambda q, v: v[0], None).graph(), Tangents(course, along).graph()
        back, forward = (
            sum(node.value.size if node.op == "call" else bool(node.args) for node in graph.nodes) for graph in graphs
        )
        return len(along.names), back, forward * len(along.names)

    few, back_few, forward_few = work([f"bodies.{model.bodies[0].name}.mass"])
    many, back_many, forward_many = work(["bodies", "gravity", "start.q", "start.v"])
    assert (few, many) == (1, 66)
    assert back_many < 4 * back_few
    assert forward_many > many * forward_few
    assert back_many < forward_many / 30


def test_a_run_with_sensitivities_is_the_run_without(tmp_path):
    model, start, _ = scenario()
    kwargs = {**start, "duration": 0.2}
    with_, without = ph.simulate(model, **kwargs, sensitivities=["gravity"]), ph.simulate(model, **kwargs)
    for name in without:
        np.testing.assert_array_equal(with_[name].values, without[name].values)
    assert with_.sensitivity_q.dims == with_.sensitivity_v.dims == ("time", "dof", "parameter")
    assert list(with_.parameter.values) == ["gravity.0", "gravity.1", "gravity.2"]
    assert with_.sensitivity_q.units == "rad / (m/s2)"
    assert with_.sensitivity_v.units == "rad/s / (m/s2)"
    save(with_, tmp_path / "run.nc")
    again = load(tmp_path / "run.nc")
    np.testing.assert_array_equal(again.sensitivity_v.values, with_.sensitivity_v.values)
    assert list(again.parameter.values) == list(with_.parameter.values)


def test_a_motion_that_ends_early_has_derivatives_up_to_there():
    stop = ph.Event("low", lambda t, q, v: q[0] - 0.2, terminal=True)
    model, kwargs = two_links(), {"q": [0.5, 0.1], "duration": 5.0, "tolerance": 1e-11}
    run = ph.simulate(model, **kwargs, events=[stop], sensitivities=["gravity.2"])
    assert run.attrs["status"] == "stopped"
    plain = ph.simulate(model, **kwargs, samples=run.time.values, sensitivities=["gravity.2"])
    assert_close(run.sensitivity_v.values, plain.sensitivity_v.values[: run.sizes["time"]], 1e5)  # other steps


def test_units_are_told_where_they_are_known():
    model, q, _, _ = tree()
    paths = [*(f"joints.{name}.damping" for name in ("j0", "j1", "j2")), "joints.j2.armature", "forces.rope"]
    along = directions(model, q, None, paths, "test")
    found = dict(zip(along.names, along.units, strict=True))
    assert found["joints.j0.damping"] == found["joints.j1.damping"] == "N m s/rad"
    assert found["joints.j2.damping"] == ""  # a free joint: N s/m and N m s/rad
    assert found["joints.j2.armature"] == "kg m2"
    assert found["forces.rope.stiffness"] == "N/m"
    assert found["forces.rope.point_a.0"] == found["forces.rope.rest"] == "m"


def branching(t, q, v):
    return [1.0, 0.0] if q[0] > 0 else [0.0, 0.0]


def test_faults_are_told():
    model = two_links()
    kwargs = {"duration": 0.1, "step": 0.01, "method": "rk4"}
    ask = lambda *paths, **more: ph.simulate(model, **{**kwargs, **more}, sensitivities=paths)
    with pytest.raises(ph.UnknownNameError, match=r"Did you mean 'bodies\.lower\.mass'"):
        ask("bodies.lower.mas")
    with pytest.raises(ph.UnknownNameError, match=r"start\.q\.elbow"):
        ask("start.q.elbo")
    bounded = replace(model, joints=(model.joints[0], replace(model.joints[1], upper=2.0)))
    with pytest.raises(ph.InputError, match="does not depend on it"):
        ph.simulate(bounded, **kwargs, sensitivities=["joints.elbow.upper"])
    with pytest.raises(ph.InputError, match="tau is not constant"):
        ask("tau", tau=lambda t, q, v: Vec([t, t]))
    with pytest.raises(ph.InputError, match="in Python"):
        ask("gravity", tau=ph.Sampled(branching, 0.05))
    with pytest.raises(ph.InputError, match="in Python"), pytest.warns(ph.PolhodeWarning, match="slow"):
        ask("gravity", tau=branching)
    bounce = ph.Event("floor", lambda t, q, v: q[0] + 1.0, reset=lambda t, q, v: (q, -v))
    with pytest.raises(ph.InputError, match="reset at event 'floor'"):
        ask("gravity", events=[bounce])
    back = lambda *given, **more: ph.gradient(model, *given, **{**kwargs, **more})
    with pytest.raises(ph.InputError, match="not one number"):
        back(lambda q, v: v, ["gravity"])
    with pytest.raises(ph.InputError, match="not one number"):
        back(None, ["gravity"], lambda t, q, v: (q[0],))
    with pytest.raises(ph.InputError, match="not one number"):
        back(lambda q, v: q[0] > 0, ["gravity"])
    with pytest.raises(ph.InputError, match="cannot be differentiated"):
        back(lambda q, v: 1.0 if q[0] > 0 else 0.0, ["gravity"])
    with pytest.raises(ph.InputError, match="cannot be differentiated"):
        back(np.zeros((2, 2)), ["gravity"])
    with pytest.raises(ph.InputError, match="nothing to differentiate"):
        back(None, ["gravity"])
    with pytest.raises(ph.UnknownNameError, match="no such number"):
        back(lambda q, v: v[0], ["weight"])
    with pytest.raises(ph.InputError, match="in Python"):
        back(lambda q, v: v[0], ["gravity"], tau=ph.Sampled(branching, 0.05))


def test_a_motion_that_fails_has_no_gradient_but_sensitivities_up_to_there():
    model = ph.Model("runaway", gravity=(0, 0, 0), bodies=[ph.Body("b", 1.0, (1, 1, 1))],
                     joints=[ph.Joint("j", "prismatic", "world", "b")])  # fmt: skip
    explode = lambda t, q, v: Vec([v[0] * v[0] * v[0]])
    kwargs = {"q": [0.0], "v": [1.0], "duration": 2.0, "tau": explode}
    with pytest.raises(ph.IntegrationError, match=r"only to t = 0\.(5|49)"):
        ph.gradient(model, lambda q, v: q[0], ["start.v"], **kwargs)
    run = ph.simulate(model, **kwargs, samples=201, sensitivities=["start.v"])
    assert run.attrs["status"] == "failed"
    t, good = run.time.values, run.time.values < 0.4
    # v = 1/√(v₀⁻² − 2t), so ∂v/∂v₀ = v³/v₀³
    assert_close(run.sensitivity_v.values[good, 0, 0], (1 - 2 * t[good]) ** -1.5, 1e5)


RAIL = ph.Model(
    "cart",
    (0, 0, 0),
    [ph.Body("cart", 1.0, (1, 1, 1))],
    [ph.Joint("rail", "prismatic", "world", "cart", axis=(1, 0, 0))],
)


def brake(t, q, v):
    """A force that begins at x = 1."""
    return [ph.where(q[0] < 1, 0.0, -3.0)]


@pytest.mark.parametrize(("duration", "verdict"), [(0.4, "good"), (1.5, "unchecked")])
def test_sensitivities_beyond_a_switch_are_not_called_good(duration, verdict):
    """They leave out that the brake begins earlier: by the speed at the start they are 1.5 in place of 0.75."""
    run = ph.simulate(RAIL, [0.0], [2.0], duration=duration, tau=brake, sensitivities=["start.v.rail"])
    assert run.attrs["verdict"] == verdict
    assert ("from t = 0.5 on, where tau 'brake' switches" in run.attrs["grade"]) == (verdict == "unchecked")


def test_a_gradient_warns_of_conditions_of_the_state():
    with pytest.warns(ph.PolhodeWarning, match=r"conditions of the state in tau 'brake'; where one switches"):
        ph.gradient(RAIL, lambda q, v: q[0], ["start.v.rail"], q=[0.0], v=[2.0], duration=0.4, tau=brake)
