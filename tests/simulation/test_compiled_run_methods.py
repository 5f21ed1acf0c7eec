"""Every method, compiled into a run, does what it does on plain floats, and converges with its order."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import polhode as ph
from close import assert_close
from integration import ARM_START, TUMBLER, TUMBLER_START, arm
from polhode.integrate.methods import METHODS
from polhode.kernel.backends.llvm.compile import lanes
from polhode.model import make_tree
from polhode.scalar import Vec
from polhode.simulation import step_state
from polhode.simulation.compiled_run import CompiledRun, RunSpec
from polhode.simulation.driven_model import DrivenModel
from polhode.simulation.switching import Switching
from run_cases import attitude_gap, final, states

CASES = {"arm": (arm(damping=0.1), ARM_START), "free": (TUMBLER, TUMBLER_START)}

ESTIMATE = 1e4
"""Rounding of an error estimate, 1e-15, over the tolerance 1e-6, times v̇ = 20: how far controlled steps differ."""

SLOPE = 0.3
"""How far a measured slope may be from the order: what the next power of h adds at these steps."""


@pytest.fixture
def on_floats(monkeypatch):
    """Makes runs in Python, as if something could not be compiled."""

    def run(*args, **options):
        with monkeypatch.context() as patch, warnings.catch_warnings():
            warnings.simplefilter("ignore", ph.PolhodeWarning)
            patch.setattr(DrivenModel, "untraceable", lambda self: ["asked to"])
            return ph.simulate(*args, **options)

    return run


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("case", CASES)
def test_compiled_steps_are_those_on_plain_floats(case, name, on_floats):
    model, start = CASES[case]
    options = {"duration": 0.07, "step": 0.02, "method": name}  # three whole steps, and half a one
    compiled, plain = ph.simulate(model, *start, **options), on_floats(model, *start, **options)
    assert compiled.attrs["status"] == "finished"
    assert_close(states(compiled), states(plain))


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.adaptive])
def test_compiled_controlled_steps_are_those_on_plain_floats(name, on_floats):
    model, start = CASES["arm"]
    options = {"duration": 0.3, "tolerance": 1e-6, "method": name, "samples": 7}
    compiled, plain = ph.simulate(model, *start, **options), on_floats(model, *start, **options)
    assert_close(states(compiled), states(plain), ESTIMATE)
    for count in ("steps_taken", "steps_refused"):
        assert compiled.attrs[count] == plain.attrs[count]


def pushed(t, q, v):
    return [0.0, 1.5 * ph.sin(9 * t), 0.0, 2 * ph.cos(7 * t), 0.0]


@pytest.mark.parametrize(("name", "tau"), [("rk4", pushed), ("cf4", None), ("variational", None), ("radau2", None)])
def test_a_run_converges_with_the_order_of_its_method(name, tau):
    model, start = CASES["arm"]
    truth = final(ph.simulate(model, *start, duration=0.4, tau=tau, tolerance=1e-13, samples=2))
    errors = []
    for n in (32, 64):
        run = ph.simulate(model, *start, duration=0.4, tau=tau, method=name, step=0.4 / n, samples=2)
        errors.append(np.linalg.norm(final(run) - truth))
    assert abs(np.log2(errors[0] / errors[1]) - METHODS[name].order) <= SLOPE


@pytest.mark.long
def test_methods_agree_on_one_motion():
    """Far below the error of their steps' order: all solve the same equations."""
    model, start = CASES["arm"]
    truth = final(ph.simulate(model, *start, duration=0.2, tolerance=1e-13, samples=2))
    for name, method in METHODS.items():
        if method.order >= 4:
            run = ph.simulate(model, *start, duration=0.2, method=name, step=2e-3, samples=2)
            assert np.max(abs(final(run) - truth)) <= 1e3 * (2e-3) ** 4 / 24, name
            assert attitude_gap(final(run)[:4], truth[:4]) <= 1e-9, name


@pytest.mark.parametrize("name", ["double-pendulum", "four-bar"])
def test_samples_side_by_side_have_the_bits_of_samples_one_by_one(name):
    """Nineteen samples, more than lanes and no whole number of them, in one table and in tables of one row."""
    model = ph.load(name)
    start = ph.consistent_start(model) if model.constraints else None
    q, v = (start.q, start.v) if start else (np.array([0.3, 0.4]), np.array([0.1, -0.2]))
    run = CompiledRun(RunSpec(model, METHODS["dop853"], fixed=False))
    targets = np.linspace(0.05, 0.4, 19)
    table = np.empty((20, run.width))
    table[0] = run.start(0.0, q, v, 0.1)
    samples = run.run(table, [targets, 1e-9, 1.0, 1.0])
    for i, target in enumerate(targets):
        row = table[i : i + 2].copy()
        assert np.array_equal(run.run(row, [np.array([target]), 1e-9, 1.0, 1.0])[0], samples[i])
        assert np.array_equal(row[1], table[i + 1])
    assert run._samples_kernel.facts["width"] == lanes()


def test_samples_beyond_an_event_are_left_out_and_those_before_it_keep_their_bits():
    """A pendulum with a stop: rows up to the contact have the samples of tables of one row, rows after it none."""
    stop = ph.JointStop("stop", "hinge", -0.5, 0.2, stiffness=1e3)
    model = replace(ph.load("pendulum"), forces=(stop,))
    bends = Switching((), np.zeros(1), np.zeros(1), 1.0, make_tree(model))
    run = CompiledRun(RunSpec(model, METHODS["dop853"], fixed=False, switching=bends))
    targets = np.linspace(0.02, 1.0, 50)
    table = np.empty((51, run.width))
    table[0] = run.start(0.0, np.array([-0.4]), np.array([2.0]), 0.01)
    samples = run.run(table, [targets, 1e-9, 1.0, 1.0])
    going = run.field(table[1:], "status") == step_state.GOING
    good = int(np.argmin(going))
    assert 0 < good < 49
    assert not going[good:].any()
    assert np.isnan(samples[good:]).all()
    for i in range(good):
        row = table[i : i + 2].copy()
        assert np.array_equal(run.run(row, [targets[i : i + 1], 1e-9, 1.0, 1.0])[0], samples[i])


def test_kernels_of_a_run_share_the_routine_of_a_step_and_those_of_other_inputs_do_not():
    """The radau step of a beam, half a second of LLVM for 8 elements, was compiled for steps and for samples."""
    section = ph.Section(axial=1e4, torsion=10, bending_y=10, bending_z=10, mass=1.0, inertia_y=1e-4, inertia_z=1e-4)
    beam = ph.Beam("b", section, start=("world", (0, 0, 0)), end=(1, 0, 0), elements=1)
    run = CompiledRun(RunSpec(ph.Model("beam", beams=[beam]), METHODS["radau"], fixed=False))
    assert run.setup().method.step is run.setup().method.step
    other = run.changed(law=lambda t, q, v: Vec([1.0] * 6))
    q, v = Vec(run.model.zero), Vec([0.0] * 6)
    pushed, free = (each.setup().machine.acceleration(0.0, q, v) for each in (other, run))
    assert max(abs(x) for x in pushed - free) > 0.1
    assert other.setup().method.step is not run.setup().method.step
