"""Numbers and expressions in constraints: parameters, sensitivities, --set, motions as expressions of time in files."""

import numpy as np
import pytest

import polhode as ph
from polhode.formats.overrides import overridden
from polhode.formats.yaml import model_from_yaml, to_yaml

BOB = ph.Body("bob", 1.0, (0.1, 0.1, 0.1))
PLANE = ph.Joint("plane", "planar", "world", "bob")


def pendulum(length=1.0, **more):
    rod = ph.Constraint("rod", "distance", body_b="bob", position_a=(0.1, 0.2, 0), length=length, **more)
    return ph.Model("rod", (0, -9.81, 0), [BOB], [PLANE], constraints=[rod])


def test_every_number_of_a_constraint_has_a_path():
    numbers = pendulum(1.5).numbers()
    assert numbers["constraints.rod.length"] == 1.5
    assert [numbers[f"constraints.rod.position_a.{k}"] for k in range(3)] == [0.1, 0.2, 0.0]


@pytest.mark.parametrize("path", ["constraints.rod.position_a", "l"])
def test_numbers_of_constraints_may_be_inputs_of_kernels(path):
    """A residual moves with its own numbers: what the rod misses, for a batch of them."""
    model = pendulum(ph.Parameter("l", 1.0))
    system = ph.compile(model, parameters=[path])
    values = np.array([[0.1, 0.2, 0], [0.4, 0.1, 0]]) if path.endswith("a") else np.array([1.0, 2.0])
    q, v = [0.9, -0.4, 0], [1, 0.5, 0]
    found = system.constraint_residuals(q, v, parameters={path: values})
    for k, value in enumerate(values):
        at, length = (value, 1.0) if path.endswith("a") else ((0.1, 0.2, 0), value)
        d = np.array([0.9, -0.4, 0]) - at
        assert found.positions[k, 0] == pytest.approx((d @ d - length**2) / (2 * length), rel=1e-14)
        assert found.rates[k, 0] == pytest.approx(d @ [1, 0.5, 0] / length, rel=1e-14)


@pytest.mark.parametrize("axis", [(0.3, 0.4, 0.8), (0.1, 0.2, -0.95)])
def test_the_axis_of_a_hinge_may_be_an_input(axis):
    def hinged(a):
        hinge = ph.Constraint("h", "revolute", body_b="bob", axis_a=a, axis_b=(0, 0, 1))
        return ph.Model("m", bodies=[BOB], joints=[ph.Joint("j", "free", "world", "bob")], constraints=[hinge])

    system = ph.compile(hinged((0.0, 0.0, 1.0)), target="python", parameters=["constraints.h.axis_a"])
    state = [0.1, 0.2, 0.3, 0.5, 0.5, 0.5, 0.5], [1, 2, 3, 4, 5, 6]
    found = system.constraint_residuals(*state, parameters={"constraints.h.axis_a": axis})
    expected = ph.compile(hinged(axis), target="python").constraint_residuals(*state)
    assert found.positions == pytest.approx(expected.positions, abs=1e-14)
    assert found.rates == pytest.approx(expected.rates, abs=1e-14)


def test_a_run_has_derivatives_by_the_length_of_a_rod():
    """Against runs from starts moved to the longer rod, by central differences."""
    path, options = "constraints.rod.length", {"duration": 0.6, "samples": 3, "tolerance": 1e-11}
    q, v = [1.1, 0.2, 0], [0, 1.0, 0.5]
    run = ph.simulate(pendulum(), q, v, sensitivities=[path], **options)
    h = 1e-4

    def at(length):
        model = pendulum(length)
        start = ph.consistent_start(model, q, v)
        return ph.simulate(model, start.q, start.v, **options)

    for name in ("q", "v"):
        slopes = (at(1 + h)[name].values - at(1 - h)[name].values) / (2 * h)
        found = run[f"sensitivity_{name}"].sel(parameter=path).values
        assert found == pytest.approx(slopes, abs=1e-6)
    assert str(run["parameter_units"].sel(parameter=path).values) == "m"
    back = ph.gradient(pendulum(), lambda q, v: q[0] * v[1], [path], q=q, v=v, duration=0.6, tolerance=1e-11)
    end = run.isel(time=-1).sel(parameter=path)
    forward = end["sensitivity_q"].values[0] * end["v"].values[1] + end["q"].values[0] * end["sensitivity_v"].values[1]
    assert back.derivatives[path] == pytest.approx(forward, rel=1e-9)


def test_set_reaches_constraints():
    model = overridden(pendulum(ph.Parameter("l", 1.0)), ["constraints.rod.position_a=1,2,3", "l=2"])
    assert model.constraints[0].data["position_a"] == (1, 2, 3)
    assert model.numbers()["constraints.rod.length"] == 2
    assert overridden(pendulum(), ["constraints.rod.position_a.1=5"]).constraints[0].data["position_a"] == (0.1, 5, 0)
    with pytest.raises(ph.ModelError, match=r"'rod', length.*out of range"):
        overridden(pendulum(), ["constraints.rod.length=-1"])
    with pytest.raises(ph.InputError, match=r"Did you mean 'constraints\.rod\.length'"):
        overridden(pendulum(), ["constraints.rod.lenght=1"])


FILE = """name: driven
parameters: {l: 0.5, w: 3}
bodies: {a: {mass: 1, inertia: [1, 1, 1]}, b: {mass: 2, inertia: [1, 1, 1]}, c: {mass: 1, inertia: [1, 1, 1]}}
joints:
  crank: {type: revolute, parent: world, child: a}
  lift: {type: prismatic, parent: world, child: b}
  third: {type: prismatic, parent: world, child: c}
constraints:
  motor: {type: prescribed, joint: crank, value: 2*t + l*sin(w*t)^2}
  cam: {type: function, residual: lift - l*(1 - cos(crank))}
  rest: {type: prescribed, joint: third, value: l}
"""


def test_motions_and_conditions_may_be_expressions_in_a_file():
    model = model_from_yaml(FILE, "driven.yaml")
    t = 0.4
    crank = 2 * t + 0.5 * np.sin(3 * t) ** 2
    rate, second = 2 + 1.5 * np.sin(6 * t), 9 * np.cos(6 * t)
    q, v = [crank, 0.5 * (1 - np.cos(crank)), 0.5], [rate, 0.5 * np.sin(crank) * rate, 0]
    system = ph.compile(model)
    missed = system.constraint_residuals(q, v, t=t)
    assert np.max(abs(missed.positions)) < 1e-15
    assert np.max(abs(missed.rates)) < 1e-15
    vd = system.forward_dynamics(q, v, [0, 0, 0], t=t)
    lift = 0.5 * (np.cos(crank) * rate**2 + np.sin(crank) * second)
    assert vd == pytest.approx([second, lift, 0], abs=1e-13)
    assert model.constraints[2].data["value"] == ph.Parameter("l", 0.5)


def test_expressions_are_written_as_they_were_and_kernels_are_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("POLHODE_CACHE", str(tmp_path))
    model = model_from_yaml(FILE, "driven.yaml")
    again = model_from_yaml(to_yaml(model), "again.yaml")
    assert again.constraints == model.constraints
    assert str(model.constraints[0].data["value"]) == "2*t + (0.5)*sin((3.0)*t)^2"
    ph.compile(model).forward_dynamics([0, 0, 0.5], [2, 0, 0], [0, 0, 0])
    assert any(tmp_path.rglob("*"))  # the text tells all of the model: its kernel is worth keeping


CURVE = """name: bead
parameters: {k: 2}
bodies: {bead: {mass: 1, inertia: [1, 1, 1]}}
joints: {flight: {type: free, parent: world, child: bead}}
constraints: {wire: {type: point-on-curve, body_b: bead, residual: [z - k*x^2, y]}}
"""


def test_a_curve_may_be_expressions_in_a_file():
    """z = 2 x², y = 0: at the bottom with speed u the bead is lifted by z̈ = 4 u²."""
    model = model_from_yaml(CURVE, "bead.yaml")
    assert model_from_yaml(to_yaml(model), "again.yaml").constraints == model.constraints
    found = ph.compile(model).forward_dynamics([0, 0, 0, 1, 0, 0, 0], [3, 0, 0, 0, 0, 0], [0] * 6)
    assert found == pytest.approx([0, 0, 36, 0, 0, 0], abs=1e-13)
    with pytest.raises(ph.CompileError, match="constraint 'wire', function: wrong result"):
        ph.compile(model_from_yaml(CURVE.replace(", y]", "]"), "bead.yaml")).constraint_rows([0] * 7, [0] * 6)


def test_functions_of_python_are_not_written():
    model = ph.Model("m", bodies=[BOB], joints=[PLANE], constraints=[ph.Constraint(lambda t, q: q[0])])
    with pytest.raises(ph.ModelError, match="function of Python cannot be written"):
        to_yaml(model)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("2*t + l*sin(w*t)^2", "2*t + k", ["driven.yaml:9, constraints.motor.value", "an unknown name", "'k'"]),
        ("2*t + l*sin(w*t)^2", "2*t +", ["driven.yaml:9, constraints.motor.value", "not an expression"]),
        ("2*t + l*sin(w*t)^2", "1/t", ["driven.yaml:9, constraints.motor.value", "a division by zero"]),
        ("lift - l*(1 - cos(crank))", "lift - third1", ["driven.yaml:10", "residual", "'third1'", "joints"]),
        ("lift - l*(1 - cos(crank))", "[]", ["driven.yaml:10, constraints.cam.residual", "not an expression"]),
        ("residual: lift - l*(1 - cos(crank))", "joint: lift", ["driven.yaml:10", "'residual' is missing"]),
        ("value: l}", "value: l, residual: lift}", ["driven.yaml:11", "residual"]),
    ],
)
def test_faults_of_expressions_have_their_line(old, new, words):
    assert old in FILE
    with pytest.raises(ph.ModelError) as error:
        model_from_yaml(FILE.replace(old, new, 1), "driven.yaml")
    for word in words:
        assert word in str(error.value), (word, str(error.value))
