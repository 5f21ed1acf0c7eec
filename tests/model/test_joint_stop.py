"""Stops and backlash: compliant contact against its closed forms, with derivatives, sweeps, files and bad input."""

import json
import math

import numpy as np
import pytest
from scipy.optimize import brentq

import polhode as ph
from polhode.ensemble.measures import VERDICTS
from polhode.formats.yaml import model_from_yaml, to_yaml

BALL = ph.Body("ball", 2.0, (0.1, 0.1, 0.1))
HEIGHT = ph.Joint("height", "prismatic", "world", "ball")


def ball(*forces, gravity=0.0):
    """A ball on a vertical rail."""
    return ph.Model("ball", gravity=(0, 0, -gravity), bodies=[BALL], joints=[HEIGHT], forces=forces)


def floor(**numbers):
    return ph.JointStop("floor", "height", 0.0, **{"stiffness": 800.0, **numbers})


def restitution(c, u):
    """e of the closed form: c u − ln(1 + c u) = −c e u − ln(1 − c e u)."""
    whole = c * u - math.log(1 + c * u)
    return brentq(lambda e: -c * e * u - math.log(1 - c * e * u) - whole, 1e-9, min(1, 1 / (c * u)) * (1 - 1e-15))


def test_a_contact_without_loss_is_half_a_sine():
    run = ph.simulate(ball(floor()), [0.5], [-1.0], duration=1.5, samples=[0.55, 0.6, 1.0])
    omega = math.sqrt(800.0 / 2.0)
    inside = [-math.sin(omega * (t - 0.5)) / omega for t in (0.55, 0.6)]
    assert run.q[1:, 0].values == pytest.approx([*inside, 0.5 - math.pi / omega, 1.0 - math.pi / omega], abs=1e-9)
    assert run.event_name.values.tolist() == ["floor.touches", "floor.leaves"]
    assert run.event_time.values == pytest.approx([0.5, 0.5 + math.pi / omega], abs=1e-7)
    assert run.attrs["verdict"] == "good"
    assert any(
        check["name"] == "energy drift" and check["verdict"] == "good" for check in json.loads(run.attrs["grade"])
    )


@pytest.mark.parametrize("exponent", [1, 1.5, 2])
@pytest.mark.parametrize("speed", [0.02, 0.7])
def test_a_contact_with_loss_leaves_at_the_speed_of_the_closed_form(exponent, speed):
    element = floor(stiffness=8e3, dissipation=3.0, exponent=exponent)
    run = ph.simulate(ball(element), [0.1 * speed], [-speed], duration=2.0, tolerance=1e-11, samples=2)
    assert float(run.v[-1, 0]) == pytest.approx(restitution(3.0, speed) * speed, rel=1e-7)
    assert run.attrs["verdict"] == "good"


def test_a_stop_never_pulls_and_its_loss_takes_energy():
    rng = np.random.default_rng(2)
    element = floor(dissipation=4.0, upper=1.0)
    system = ph.compile(ball(element))
    for q, v in rng.normal(size=(300, 2)) * (2.0, 3.0):
        push = 2.0 * float(system.forward_dynamics([q], [v], [0.0])[0])
        elastic = 800.0 * (max(-q, 0.0) - max(q - 1.0, 0.0))
        assert push * (0.5 - q) >= 0
        assert (push - elastic) * v <= 1e-9


def test_a_ball_comes_to_rest_on_a_floor():
    run = ph.simulate(ball(floor(dissipation=5.0), gravity=9.81), [0.3], duration=5.0)
    assert float(run.q[-1, 0]) == pytest.approx(-2.0 * 9.81 / 800.0, abs=1e-6)
    assert run.attrs["verdict"] == "good"


def test_steps_are_not_bounded_by_stops_and_end_at_them():
    run = ph.simulate(ball(floor()), [0.5], [-1.0], duration=1.5)
    assert run.attrs["steps_taken"] < 30
    fixed = ph.simulate(ball(floor()), [0.5], [-1.0], duration=1.5, step=7e-3, method="rk4", samples=2)
    assert float(fixed.q[-1, 0]) == pytest.approx(1.0 - math.pi / 20, abs=1e-5)


@pytest.mark.parametrize("method", ["heun", "rk4", "implicit-midpoint"])
@pytest.mark.parametrize("height", [0.55, 0.5])
def test_a_companion_takes_other_steps_to_and_from_a_contact_than_the_run(method, height):
    """The contact lies in the last third of a step, where the companion's grid has no further point."""
    run = ph.simulate(ball(floor()), [height], [-1.0], duration=0.6, step=0.2, method=method)
    true = abs(float(run.q[-1, 0]) + math.sin(20 * (0.6 - height)) / 20)
    assert true > 1e-4
    assert run.attrs["verdict"] == "failed"
    assert float(run.error_estimate[-1]) > true / 3


def test_lanes_of_a_sweep_agree_with_single_runs():
    model, asked = ball(floor(dissipation=2.0)), {"q": [0.5], "v": [-1.0], "duration": 1.5}
    drawn = {"forces.floor.stiffness": ph.Grid([400.0, 800.0])}
    runs = ph.sweep(model, drawn, **asked, tolerance=1e-10, accompanied=1.0)
    alone = ph.simulate(model, **asked, tolerance=1e-10, samples=101)
    assert np.max(abs(runs.q[1].values - alone.q.values)) < 1e-7
    assert set(runs.verdict.values) == {VERDICTS["good"]}


def test_sensitivities_and_gradients_through_a_contact_are_those_of_differences(recwarn):
    path, asked = "forces.floor.stiffness", {"q": [0.1], "v": [-1.0], "duration": 0.4, "tolerance": 1e-11}
    model = ball(floor(dissipation=2.0))
    ends = [
        float(ph.simulate(model.with_numbers({path: 800.0 + d}), **asked, samples=2).q[-1, 0]) for d in (-0.01, 0.01)
    ]
    slope = (ends[1] - ends[0]) / 0.02
    run = ph.simulate(model, **asked, sensitivities=[path], samples=2)
    assert float(run.sensitivity_q[-1, 0, 0]) == pytest.approx(slope, rel=1e-5)
    made = ph.gradient(model, lambda q, v: q[0], [path], **asked)
    assert made.derivatives[path] == pytest.approx(slope, rel=1e-5)
    assert not recwarn.list


def test_a_file_holds_stops_of_one_side_and_of_two():
    forces = floor(dissipation=2.0), ph.JointStop("both", "height", -1.0, 3.0, stiffness=2.0, exponent=1.5)
    model = ball(*forces, ph.Backlash("play", "height", gap=0.2, stiffness=3.0))
    assert model_from_yaml(to_yaml(model), "ball.yaml") == model
    assert "forces.floor.upper" not in model.numbers()
    assert model.numbers()["forces.both.upper"] == 3.0
    moved = model.with_numbers({"forces.both.upper": 2.0})
    assert (moved.forces[1].upper, moved.forces[1].exponent) == (2.0, 1.5)


def test_stops_between_two_bodies_leave_momenta_alone():
    model = ph.Model(
        "two",
        gravity=(0, 0, 0),
        bodies=[BALL, ph.Body("other", 1.0, (0.1, 0.1, 0.1))],
        joints=[
            ph.Joint("air", "free", "world", "ball"),
            ph.Joint("rail", "prismatic", "ball", "other", axis=(1, 0, 0)),
        ],
        forces=[ph.JointStop("stop", "rail", -0.1, 0.1, stiffness=500.0, dissipation=0.5)],
    )
    run = ph.simulate(model, v=[0.1, 0.2, 0, 0.3, 0.4, 0.5, 1.0], duration=1.0)
    checks = {check["name"]: check["verdict"] for check in json.loads(run.attrs["grade"])}
    assert checks["linear momentum drift"] == checks["angular momentum drift"] == "good"


# backlash


def test_a_mass_in_a_gap_goes_to_and_fro_in_the_time_of_the_closed_form():
    play = ph.Backlash("play", "height", gap=0.2, offset=0.3, stiffness=800.0)
    period = 2 * 0.2 / 1.5 + 2 * math.pi / 20
    run = ph.simulate(ball(play), [0.3], [1.5], duration=3 * period, tolerance=1e-11, samples=2)
    assert (float(run.q[-1, 0]), float(run.v[-1, 0])) == pytest.approx((0.3, 1.5), abs=1e-9)
    assert run.event_name.values.tolist() == ["play.touches", "play.leaves"] * 6


def test_wheels_drive_each_other_through_a_gap():
    """Relative motion has the reduced inertia 1/(1/J_a + i²/J_b); J_a ω_a + J_b ω_b/i stays."""
    wheels = [ph.Body(name, 1.0, (0.3, 0.3, moment)) for name, moment in (("a", 0.2), ("b", 0.5))]
    joints = [ph.Joint(name, "revolute", "world", name) for name in ("a", "b")]
    mesh = ph.Backlash("mesh", "a", "b", ratio=-2.0, gap=0.1, stiffness=300.0)
    model = ph.Model("gears", bodies=wheels, joints=joints, forces=[mesh])
    omega = math.sqrt(300.0 * (1 / 0.2 + 4 / 0.5))
    contact = 0.05 / 1.0
    run = ph.simulate(model, v=[1.0, 0.0], duration=0.5, samples=[contact + math.pi / omega], tolerance=1e-11)
    after = 1.0 * np.array([1.0, 0.0]) - 2 * 1.0 / (5 + 8) * np.array([5.0, 4.0])  # the relative speed is turned about
    assert run.v[1].values == pytest.approx(after, abs=1e-8)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: floor(stiffness=0.0), ["force 'floor', stiffness", "above 0"]),
        (lambda: floor(dissipation=-1.0), ["dissipation", "at least 0"]),
        (lambda: floor(exponent=0.5), ["exponent", "at least 1"]),
        (lambda: floor(upper=-1.0), ["limits", "lower 0, upper -1"]),
        (lambda: ph.JointStop("floor", "height", stiffness=1.0), ["no stops", "one of them finite"]),
        (lambda: ball(ph.JointStop("floor", "hight", 0.0, stiffness=1.0)), ["no such joint", "'hight'", "height"]),
        (lambda: ball(floor(axis=1)), ["no such axis", "1 of 'height'"]),
        (lambda: ph.Backlash("play", "height", "height", gap=0.1, stiffness=1.0), ["drives itself"]),
        (lambda: ph.Backlash("play", "height", gap=-0.1, stiffness=1.0), ["gap", "at least 0"]),
        (lambda: ball(ph.Backlash("play", "height", "knob", gap=0.1, stiffness=1.0)), ["no such joint", "'knob'"]),
    ],
)
def test_bad_input_is_told(make, words):
    with pytest.raises(ph.ModelError) as told:
        make()
    assert all(word in str(told.value) for word in words), told.value
