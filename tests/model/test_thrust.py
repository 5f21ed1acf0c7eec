"""Thrust with mass flow: the rocket equation, burn-out, derivatives, sweeps, a turning body, bad input."""

import numpy as np
import pytest

import polhode as ph
from polhode.formats.yaml import model_from_yaml, to_yaml

M, PROPELLANT, FLOW, SPEED, G = 1000.0, 600.0, 10.0, 2500.0, 9.81


def rocket(**numbers):
    """A rocket on a vertical rail."""
    given = {"flow": FLOW, "exhaust_speed": SPEED, "propellant": PROPELLANT, **numbers}
    return ph.Model(
        "rocket",
        bodies=[ph.Body("rocket", M, (500.0, 500.0, 50.0))],
        joints=[ph.Joint("rail", "prismatic", "world", "rocket")],
        forces=[ph.Thrust("engine", "rocket", **given)],
    )


def test_a_rocket_flies_by_its_equation_and_burns_out():
    run = ph.simulate(rocket(), duration=80.0, tolerance=1e-12)
    burning = np.minimum(run.time.values, PROPELLANT / FLOW)
    speed = SPEED * np.log(M / (M - FLOW * burning)) - G * run.time.values
    assert run.attrs["verdict"] == "good"
    np.testing.assert_allclose(run.v[:, 0], speed, atol=1e-10 * speed.max())
    assert list(run.event_name.values) == ["engine.burns-out"]
    np.testing.assert_allclose(run.event_time, [PROPELLANT / FLOW], rtol=1e-12)
    np.testing.assert_allclose(run.kinetic_energy[-1], (M - PROPELLANT) / 2 * speed[-1] ** 2, rtol=1e-9)


def test_a_flow_that_varies_in_time_gives_the_same_speed_for_the_same_mass():
    run = ph.simulate(rocket(flow=lambda t: FLOW * (1 + ph.sin(t) / 2), propellant=None), duration=30.0)
    burnt = run.v[:, 1].values
    np.testing.assert_allclose(burnt, FLOW * (run.time + (1 - np.cos(run.time)) / 2), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(run.v[:, 0] + G * run.time, SPEED * np.log(M / (M - burnt)), rtol=1e-8, atol=1e-6)


def test_without_an_end_of_its_propellant_it_has_derivatives_and_sweeps():
    model, T = rocket(propellant=None), 40.0
    run = ph.simulate(model, duration=T, sensitivities=["forces.engine.flow", "bodies.rocket.mass"])
    slopes = SPEED * T / (M - FLOW * T), SPEED * (1 / M - 1 / (M - FLOW * T))
    np.testing.assert_allclose(run.sensitivity_v[-1, 0], slopes, rtol=1e-9)
    runs = ph.sweep(model, {"forces.engine.flow": ph.Grid([5.0, 10.0])}, duration=T)
    for k, flow in enumerate((5.0, 10.0)):
        np.testing.assert_allclose(runs.v[k, -1, 0], SPEED * np.log(M / (M - flow * T)) - G * T, rtol=1e-9)


def test_derivatives_of_forward_dynamics_see_the_mass():
    system, q, v = ph.compile(rocket(propellant=None)), [0.0], [3.0, 400.0]
    found = system.forward_dynamics_derivatives(q, v, [0.0, 0.0])
    m = M - 400.0
    np.testing.assert_allclose(found.dv[0], [0.0, FLOW * SPEED / m**2], rtol=1e-12)
    np.testing.assert_allclose(found.dtau[0], [1 / m, 0.0], rtol=1e-12)


def test_reactions_are_those_of_the_mass_that_is_left():
    stage = ph.Model(
        "stage",
        bodies=[ph.Body("tank", M, (500.0, 500.0, 50.0)), ph.Body("load", 100.0, (10.0, 10.0, 10.0))],
        joints=[ph.Joint("rail", "prismatic", "world", "tank"), ph.Joint("bolt", "fixed", "tank", "load")],
        forces=[ph.Thrust("engine", "load", FLOW, SPEED)],
    )
    vd = (FLOW * SPEED) / (M + 100.0 - 50.0) - G
    found = ph.compile(stage).joint_reactions([0.0], [0.0, 50.0], [0.0, 0.0])
    np.testing.assert_allclose(found.force[1, 2], 50.0 * (vd + G) - FLOW * SPEED, rtol=1e-9)


def test_a_thrust_off_the_centre_turns_the_body():
    model = ph.Model(
        "tumbler",
        gravity=(0.0, 0.0, 0.0),
        bodies=[ph.Body("tumbler", 2.0, (0.5, 0.5, 0.5))],
        joints=[ph.Joint("air", "free", "world", "tumbler")],
        forces=[ph.Thrust("jet", "tumbler", 0.1, 5.0, direction=(0, 2, 0), point=(0.4, 0, 0))],
    )
    vd = ph.compile(model).forward_dynamics(model.zero, [0, 0, 0, 0, 0, 0, 1.0], [0.0] * 7)
    np.testing.assert_allclose(vd, [0, 0.5 / 1.0, 0, 0, 0, 0.5 * 0.4 / 0.25, 0.1], atol=1e-12)


def test_files_hold_it():
    assert model_from_yaml(to_yaml(rocket()), "rocket.yaml") == rocket()
    assert rocket().numbers()["forces.engine.flow"] == FLOW


def test_bad_input_is_told():
    with pytest.raises(ph.ModelError, match=r"propellant: too much[^$]*less than 'rocket' has, 1000 kg"):
        rocket(propellant=1000.0)
    with pytest.raises(ph.ModelError, match="flow: out of range"):
        rocket(flow=-1.0)
    run = ph.simulate(rocket(propellant=None), duration=120.0, verify=False)
    assert run.attrs["status"] == "failed"
