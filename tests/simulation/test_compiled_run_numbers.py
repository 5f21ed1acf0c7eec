"""Runs whose kernels take the numbers of the model: other numbers compile nothing, and give what a new model gives."""

import random
from dataclasses import replace

import numpy as np
import pytest

import polhode as ph
from compilations import counted
from polhode.errors import InputError, ModelError, UnknownNameError
from polhode.formats.library import names
from polhode.kernel.backends.llvm import hoisted_kernel
from polhode.model import plain
from polhode.simulation.recording import identity
from polhode.simulation.run import Run
from polhode.simulation.run_options import RunOptions
from polhode.simulation.scenario import Scenario

pytestmark = pytest.mark.filterwarnings("ignore:.*not that of a real body")  # of puma-560

DAILY = ("pendulum", "heavy-top", "four-bar")
EVERY = [name if name in DAILY else pytest.param(name, marks=pytest.mark.long) for name in names()]
SHORT = {"duration": 1e-3, "step": 1e-4, "method": "rk4", "verify": False}
SEEN = ("q", "v", "position", "omega_world", "kinetic_energy", "linear_momentum")

ROUNDING = 1e-13
"""Differences of kernels that differ in the order of their operations, in parts of the largest value."""


def some_mass(model):
    """The path of a mass and a value that no kernel on disk was specialised for."""
    body = model.bodies[-1]
    return f"bodies.{body.name}.mass", plain(body.mass) * random.uniform(1.01, 1.2)


def assert_same(run, other, names=SEEN):
    for name in names:
        scale = max(abs(other[name].values).max(), 1e-9)
        assert abs(run[name].values - other[name].values).max() <= ROUNDING * scale, name


@pytest.mark.parametrize("name", EVERY)
def test_a_changed_mass_compiles_nothing_and_is_right(name):
    model = ph.load(name)
    path, first = some_mass(model)
    ph.simulate(model, parameters={path: first}, **SHORT)
    with counted() as compiled:
        run = ph.simulate(model, parameters={path: some_mass(model)[1]}, **SHORT)
    assert not compiled
    assert run.attrs["numbers"] == "inputs"


@pytest.mark.parametrize("name", EVERY)
def test_all_numbers_are_those_of_the_model(name):
    """Against kernels that know no inputs, for every number of bodies and joints that moves no start."""
    model = ph.load(name)
    ph.simulate(model.with_numbers({}), **SHORT)
    factors = {body.name: random.uniform(1.01, 1.1) for body in model.bodies}
    values = {
        path: x * factors[path.split(".")[1]] if path.startswith("bodies.") else x * 1.03
        for path, x in model.numbers().items()
        if x and path.startswith(("bodies.", "gravity", "forces."))
    }
    values |= {f"joints.{j.name}.damping": plain(j.damping) * 2 for j in model.joints if plain(j.damping)}
    other = model.with_numbers(values)
    with counted() as compiled:
        run = ph.simulate(other, **SHORT)
    assert not compiled
    folded = ph.simulate(other, specialise=True, **SHORT)
    assert (run.attrs["numbers"], folded.attrs["numbers"]) == ("inputs", "folded")
    assert_same(run, folded)


CHANGES = [
    {"joints.hinge.damping": 0.5},
    {"joints.hinge.stiffness": [0.5]},
    {"bodies.upper.center": [0.1, 0.2, -0.5]},
    {"gravity": [0.3, 0.0, -9.0]},
    {"gravity": [0.0, 0.0, 0.0]},
    {"joints.elbow.axis": [0.0, 0.6, 0.8]},
    {"joints.elbow.axis": [0.0, -1.0, 0.0]},
    {"joints.elbow.orientation": [0.6, 0.0, 0.8, 0.0]},
    {"joints.elbow.position": [1.0, 0.0, -1.0]},
    {"bodies.lower.mass": 1.0},
    {"bodies.lower.inertia": [1.0, 1.0, 1.0]},
]


@pytest.mark.parametrize("values", CHANGES, ids=str)
def test_what_was_zero_or_one_is_another_structure(values):
    model = ph.load("double-pendulum")
    options = {**SHORT, "q": [0.4, -0.3], "v": [1.0, 2.0]}
    ph.simulate(model.with_numbers({}), **options)
    run = ph.simulate(model, parameters=values, **options)
    assert_same(run, ph.simulate(model, parameters=values, specialise=True, **options))
    back = ph.simulate(model.with_numbers(values).with_numbers({p: _own(model, p) for p in values}), **options)
    assert np.array_equal(back["q"].values, ph.simulate(model.with_numbers({}), **options)["q"].values)


def _own(model, path):
    group, name, field = [*path.split("."), "", ""][:3]
    return (
        model.gravity
        if group == "gravity"
        else getattr(model.body(name) if group == "bodies" else model.joint(name), field)
    )


def test_bits_do_not_depend_on_what_ran_before(monkeypatch):
    model, options = ph.load("heavy-top"), {"duration": 0.05, "verify": False}
    path, value = some_mass(model)

    def run(*before):
        monkeypatch.setenv("POLHODE_CACHE", "")
        hoisted_kernel._known.clear()
        for x in before:
            ph.simulate(model, parameters={path: x}, **options)
        return ph.simulate(model, parameters={path: value}, **options)

    alone, after = run(), run(2.0 * value)
    for name in SEEN:
        assert np.array_equal(alone[name].values, after[name].values)


def test_which_kernel_serves_follows_from_the_call():
    model = ph.load("pendulum")
    kinds = [
        ph.simulate(model, **SHORT),
        ph.simulate(model, specialise=False, **SHORT),
        ph.simulate(model.with_numbers({}), **SHORT),
        ph.simulate(model.with_numbers({}), specialise=True, **SHORT),
        ph.simulate(model, parameters={}, **SHORT),
        ph.simulate(model.with_numbers({}), tau=lambda t, q, v: [ph.sin(t)], **SHORT),
    ]
    assert [run.attrs["numbers"] for run in kinds] == ["folded", "inputs", "inputs", "folded", "inputs", "folded"]
    with pytest.raises(InputError, match="specialise"):
        ph.simulate(model, specialise="yes", **SHORT)


def test_a_recording_is_resumed_by_the_same_kernels():
    model, options = ph.load("pendulum"), RunOptions(duration=0.1)
    kinds = [identity(Run(Scenario.of(x, None, None, None, options))) for x in (model, model.with_numbers({}))]
    assert kinds[0] != kinds[1]
    assert {**kinds[0], "numbers": "inputs"} == kinds[1]


def test_controlled_steps_with_their_companion_compile_nothing():
    model = ph.load("double-pendulum")
    path, first = some_mass(model)
    options = {"duration": 0.2, "samples": 11}
    ph.simulate(model, parameters={path: first}, **options)
    with counted() as compiled:
        run = ph.simulate(model, parameters={path: first * 1.1}, **options)
    assert not compiled
    assert run.attrs["verdict"] == "good"


def test_derivatives_in_the_loop_of_an_optimiser_compile_nothing():
    model, paths = ph.load("double-pendulum"), ["bodies.lower.mass", "start.q", "joints.elbow.position.2"]

    def asked(mass, specialised=False):
        changed = model.with_numbers({"bodies.lower.mass": mass})
        changed = replace(changed, number_inputs=not specialised)
        options = {"q": [0.4, 0.1], "duration": 0.2, "step": 0.01, "method": "rk4"}
        found = ph.gradient(changed, lambda q, v: q[0] * q[1] + v[1], paths, **options)
        run = ph.simulate(changed, sensitivities=paths, verify=False, **options)
        return found, run["sensitivity_v"].values

    asked(1.3)
    mass = random.uniform(1.1, 1.2)
    with counted() as compiled:
        found, slopes = asked(mass)
    assert not compiled
    expected, other = asked(mass, specialised=True)
    assert found.derivatives == pytest.approx(expected.derivatives, rel=1e-11)
    np.testing.assert_allclose(slopes, other, rtol=1e-11, atol=1e-13)


def test_a_simulator_takes_parameters():
    model, paths = ph.load("double-pendulum"), ["bodies.lower.mass", "gravity", "joints.hinge.damping"]
    sim = ph.simulator(model, step=1e-3, method="rk4", parameters=paths)
    q, v, tau = np.array([0.4, 0.1]), np.array([1.0, -2.0]), np.array([0.1, 0.2])
    sim.step(q, v, tau)
    for values in (
        {},
        {paths[0]: 1.7},
        {paths[0]: 1.9},
        {"gravity": [0.0, 0.0, -1.62]},
        {paths[2]: 0.3},
        {paths[0]: 1.7},
    ):
        with counted() as compiled:
            found = sim.step(q, v, tau, parameters=values)
        assert paths[2] in values or not compiled
        one = ph.simulator(model.with_numbers(values), step=1e-3, method="rk4", specialise=True)
        np.testing.assert_allclose(found.q, one.step(q, v, tau).q, rtol=1e-14)
        np.testing.assert_allclose(found.v, one.step(q, v, tau).v, rtol=1e-14)
        np.testing.assert_array_equal(sim.step([q, q], v, tau, parameters=values).v, [found.v, found.v])
        assert sim.step(q.tolist(), v, tau, parameters=values).q.tolist() == found.q.tolist()
    sim.run(q, v, 0.01, parameters={paths[0]: 1.7})
    with counted() as compiled:
        run = sim.run(q, v, 0.01, parameters={paths[0]: random.uniform(1.1, 1.2)})
    assert not compiled
    assert run.attrs["numbers"] == "inputs"
    for call in (sim.step, sim.run):
        with pytest.raises(UnknownNameError, match="not an input"):
            call(q, v, parameters={"bodies.upper.mass": 1.0})
    with pytest.raises(InputError, match="specialise"):
        ph.simulator(model, step=1e-3, parameters=paths, specialise=True)
    with pytest.raises(ModelError, match="mass"):
        sim.step(q, v, tau, parameters={paths[0]: -1.0})


def test_steps_have_the_bits_of_runs():
    model = ph.load("double-pendulum").with_numbers({"bodies.lower.mass": 1.7})
    q, v, h = np.array([0.4, 0.1]), np.array([1.0, -2.0]), 1e-3
    sim = ph.simulator(model, step=h, method="rk4")
    whole = sim.run(q, v, duration=10 * h, every=10, verify=False)
    for _ in range(10):
        q, v = sim.step(q, v, np.zeros(2))
    np.testing.assert_array_equal(q, whole["q"].values[-1])
    np.testing.assert_array_equal(v, whole["v"].values[-1])


@pytest.mark.parametrize(
    ("values", "error", "words"),
    [
        ({"bodies.loer.mass": 1.0}, UnknownNameError, "simulate, parameters.*bodies.lower.mass"),
        ({"bodies.lower.mass": float("nan")}, ModelError, "not a finite number"),
        ({"bodies.lower.mass": -1.0}, ModelError, "mass"),
        ({"bodies.lower.mass": [1.0, 2.0]}, ModelError, "mass"),
        ({"bodies.lower.mass": "heavy"}, InputError, "not a number"),
        ({"gravity": [1.0, 2.0]}, InputError, "wrong size"),
        ({"gravity.3": 1.0}, InputError, "no such place"),
        ({3: 1.0}, UnknownNameError, "no such number"),
        ("bodies.lower.mass", InputError, "not a mapping"),
    ],
    ids=str,
)
def test_mistakes_are_told(values, error, words):
    with pytest.raises(error, match=f"(?s){words}"):
        ph.simulate(ph.load("double-pendulum"), parameters=values, **SHORT)
