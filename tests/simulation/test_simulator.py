"""A simulator: the steps and runs of `ph.simulate`, one at a time."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import polhode as ph
from polhode.errors import InputError


def start(model):
    v = model.start.v if model.start and model.start.v else [0.0] * model.nv
    return np.array(model.start.q if model.start else model.zero, dtype=float), np.array(v, dtype=float)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("heavy-top", {"method": "rk4"}),
        ("heavy-top", {"method": "rkmk4"}),
        ("double-pendulum", {"method": "implicit-midpoint"}),
        ("four-bar", {"method": "rk4"}),
        ("four-bar", {"method": "rk4", "constraints": "baumgarte"}),
    ],
)
def test_steps_have_the_bits_of_a_run(name, options):
    model, h, n = ph.load(name), 1e-3, 20
    sim = ph.simulator(model, step=h, **options)
    q, v = start(model)
    whole = ph.simulate(model, q, v, duration=n * h, step=h, every=n, verify=False, **options)
    for _ in range(n):
        q, v = sim.step(q, v, np.zeros(model.nv))
    np.testing.assert_array_equal(q, whole["q"].values[-1])
    np.testing.assert_array_equal(v, whole["v"].values[-1])


def test_forces_are_held_over_a_step_and_anything_like_an_array_is_taken():
    model = ph.load("cart-pole")
    sim, tau = ph.simulator(model, step=0.01, method="rk4"), [2.0, 0.0]
    q, v = start(model)
    whole = ph.simulate(model, q, v, duration=0.01, step=0.01, method="rk4", tau=tau, verify=False)
    for found in (sim.step(q, v, np.array(tau)), sim.step(q.tolist(), v.tolist(), tau, t=3.0)):
        np.testing.assert_allclose(found.q, whole["q"].values[-1], rtol=1e-15)
        np.testing.assert_allclose(found.v, whole["v"].values[-1], rtol=1e-15)
    many = sim.step(np.tile(q, (5, 1)), v, tau)
    assert many.q.shape == (5, model.nq)
    np.testing.assert_array_equal(many.v, np.tile(found.v, (5, 1)))
    free = sim.step(q, v)
    np.testing.assert_array_equal(free.v, sim.step(q, v, np.zeros(2)).v)
    out = np.empty(model.nq), np.empty(model.nv)
    assert sim.step(q, v, np.array(tau), out=out)[0] is out[0]
    np.testing.assert_array_equal(out[1], found.v)


def test_forces_of_the_model_see_the_time_of_a_step():
    model = ph.load("pendulum")
    pushed = replace(model, forces=(ph.ForceFunction("push", lambda t, q, v: [ph.sin(t)]),))
    sim = ph.simulator(pushed, step=0.01, method="rk4")
    q, v = start(model)
    whole = ph.simulate(pushed, q, v, duration=0.02, step=0.01, method="rk4", every=1, verify=False)
    np.testing.assert_array_equal(sim.step(q, v).v, whole["v"].values[1])
    second = sim.step(whole["q"].values[1], whole["v"].values[1], t=0.01)
    np.testing.assert_allclose(second.v, whole["v"].values[2], rtol=1e-14)


def test_a_run_of_a_simulator_is_that_of_simulate():
    model = ph.load("double-pendulum")
    sim = ph.simulator(model, tolerance=1e-8, samples=11)
    found, same = sim.run(duration=1.0), ph.simulate(model, duration=1.0, tolerance=1e-8, samples=11)
    for name in ("q", "v", "error_estimate"):
        np.testing.assert_array_equal(found[name].values, same[name].values)
    assert sim.run(duration=0.5, verify=False).attrs["verdict"] == "unchecked"
    assert "double-pendulum" in repr(sim)
    assert pickle.loads(pickle.dumps(sim)).options == sim.options


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "no size of a step"),
        ({"step": 0.01, "method": "generalized-alpha"}, "hand a memory on"),
    ],
)
def test_what_has_no_single_step_says_so(options, words):
    model = ph.load("pendulum")
    with pytest.raises(InputError, match=words):
        ph.simulator(model, **options).step([0.0], [0.0])


def test_wrong_arguments_are_told():
    sim = ph.simulator(ph.load("double-pendulum"), step=0.01, method="rk4")
    with pytest.raises(InputError, match=r"Simulator.step, v: wrong shape"):
        sim.step(np.zeros(2), np.zeros(3), np.zeros(2))
    with pytest.raises(TypeError, match="Did you mean 'verify'"):
        sim.run(verfy=False)
    with pytest.raises(InputError, match="simulate, step"):
        ph.simulator(ph.load("pendulum"), step=-1.0)


def test_a_warning_points_at_the_call_of_a_run():
    sim = ph.simulator(ph.load("pendulum"), step=0.05, method="rk4")
    with pytest.warns(ph.PolhodeWarning) as told:
        sim.run(duration=0.1, tau=lambda t, q, v: [1.0 if t < 0.05 else 0.0])
    assert told[0].filename == __file__


def bouncing():
    """A ball of 1 kg on a floor with restitution."""
    ball = ph.Body("ball", 1.0, (0.1, 0.1, 0.1))
    drop = ph.Joint("drop", "prismatic", "world", "ball", axis=(0, 0, 1))
    floor = ph.ImpactStop("floor", "drop", lower=0.0, restitution=0.6)
    return ph.Model("ball", bodies=[ball], joints=[drop], forces=[floor])


def test_a_step_goes_through_events_of_force_elements():
    h, n = 0.01, 60
    run = ph.simulate(bouncing(), [0.5], duration=n * h, step=h, method="rk4", every=1, verify=False)
    sim, q, v = ph.simulator(bouncing(), step=h, method="rk4"), np.array([[0.5]]), np.array([[0.0, 0.0]])
    for k in range(n):
        q, v = sim.step(q, v, t=k * h)
        np.testing.assert_allclose([q[0, 0], v[0, 0]], [run.q[k + 1, 0], run.v[k + 1, 0]], atol=1e-13)
    assert run.sizes["event"] == 1
    assert sim.step(np.zeros((0, 1)), np.zeros((0, 2))).q.shape == (0, 1)
    pushed = sim.step([0.5], [0.0, 0.0], [9.81, 0.0])
    np.testing.assert_allclose([*pushed.q, *pushed.v], [0.5, 0.0, 0.0], atol=1e-15)
    with pytest.raises(ph.ModelError, match="force 'floor': a coordinate beyond its stops"):
        sim.step([-1.0], [0.0, 0.0])
