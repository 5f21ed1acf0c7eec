"""Stops by impacts: bounces, rest and release against closed forms, impulses in coupled machines, bad input."""

import math
from dataclasses import replace

import numpy as np
import pytest

import polhode as ph
from own_elements import arm
from polhode.formats.yaml import model_from_yaml, to_yaml

G = 9.81


def ball(*forces, **numbers):
    """A ball above a floor."""
    floor = ph.ImpactStop("floor", "height", **{"lower": 0.0, "restitution": 0.6, **numbers})
    return ph.Model(
        "ball",
        bodies=[ph.Body("ball", 2.0, (0.1, 0.1, 0.1))],
        joints=[ph.Joint("height", "prismatic", "world", "ball")],
        forces=[floor, *forces],
    )


@pytest.mark.parametrize("options", [{"tolerance": 1e-12}, {"method": "rk4", "step": 1e-2}], ids=str)
def test_a_ball_bounces_at_the_times_of_the_geometric_series_and_comes_to_rest_at_its_sum(options):
    e, first = 0.6, math.sqrt(2 / G)
    run = ph.simulate(ball(rest_speed=1e-9), q=[1.0], duration=2.5, **options)
    times = run.event_time.values
    flights = 2 * first * e ** np.arange(1, len(times))
    assert run.attrs["verdict"] == "good"
    np.testing.assert_allclose(times, first + np.concatenate([[0.0], np.cumsum(flights)]), atol=1e-10)
    assert times[-1] == pytest.approx(first * (1 + e) / (1 - e), abs=2 * 1e-9 / G / (1 - e))
    resting = run.time.values > times[-1]
    assert abs(run.q[resting]).max() < 1e-12
    assert abs(run.v[resting, 0]).max() < 1e-12
    assert set(run.v[resting, 1].values) == {-1.0}


def test_without_restitution_it_rests_at_once_and_leaves_when_it_is_pulled():
    pull = ph.Force("pull", "ball", force=lambda t: (0.0, 0.0, 40.0 * t))
    run = ph.simulate(ball(pull, restitution=0.0), q=[0.1], v=[0.0, 0.0], duration=1.0)
    assert list(run.event_name.values) == ["floor.hits-lower", "floor.leaves"]
    leaves = 2 * G / 40
    np.testing.assert_allclose(run.event_time[1], leaves, rtol=1e-12)
    after = run.time.values > leaves
    s = run.time.values[after] - leaves
    np.testing.assert_allclose(run.q[after, 0], 40 / 2 * s**3 / 6, atol=1e-9)


def test_a_pendulum_between_stops_swings_back_with_the_speed_that_is_left():
    e, gamma = 0.7, 0.4
    pendulum = ph.Model(
        "pendulum",
        bodies=[ph.Body("bob", 1.0, (0.0, 0.0, 0.0), center=(0, 0, -1.0))],
        joints=[ph.Joint("hinge", "revolute", "world", "bob", axis=(0, 1, 0))],
        forces=[ph.ImpactStop("wall", "hinge", upper=gamma, restitution=e)],
    )
    run = ph.simulate(pendulum, q=[-1.0], duration=2.0, tolerance=1e-12, samples=4001)
    speed = math.sqrt(2 * G * (math.cos(gamma) - math.cos(1.0)))
    k = int(np.searchsorted(run.time, run.event_time[0]))
    energy = run.v[:, 0] ** 2 / 2 - G * np.cos(run.q[:, 0])
    np.testing.assert_allclose(energy[:k], -G * math.cos(1.0), atol=1e-9)
    np.testing.assert_allclose(energy[k : k + 50], (e * speed) ** 2 / 2 - G * math.cos(gamma), atol=1e-9)


def test_an_impact_is_an_impulse_along_its_axis_alone():
    stop = ph.ImpactStop("stop", "elbow", lower=-0.1, restitution=0.5)
    given = {"q": [1.0, 0.5], "v": [0.0, -3.0, 0.0], "duration": 0.5, "tolerance": 1e-12}
    run = ph.simulate(arm(stop), **given)
    t = float(run.event_time[0])
    near = ph.simulate(arm(stop), **given, samples=[t - 1e-9, t + 1e-9])
    before, after = near.v.values[1, :2], near.v.values[2, :2]
    assert after[1] == pytest.approx(-0.5 * before[1], rel=1e-6)
    impulse = ph.compile(arm()).mass_matrix(near.q.values[1]) @ (after - before)
    assert abs(impulse[0]) < 1e-6 * abs(impulse[1])


@pytest.mark.long
def test_an_impact_lets_go_what_friction_holds_but_not_a_lock():
    stop = ph.ImpactStop("stop", "elbow", lower=-0.1, restitution=0.5)
    rub = ph.JointFriction("rub", "shoulder", coulomb=30.0, method="events")
    run = ph.simulate(arm(stop, rub), q=[1.0, 0.5], duration=0.8)
    assert run.event_name[0] == "stop.hits-lower"
    assert "rub.sticks" in run.event_name
    assert abs(run.q[-1, 0] - 1.0) > 1e-4
    locked = ph.simulate(arm(stop, ph.JointLock("lock", "shoulder", release_time=9.0)), q=[1.0, 0.5], duration=0.8)
    assert abs(locked.q[:, 0] - 1.0).max() < 1e-12
    assert locked.attrs["verdict"] == "good"


def test_a_machine_at_rest_on_one_stop_is_knocked_off_it_by_another():
    stops = [ph.ImpactStop("a", "shoulder", upper=0.0), ph.ImpactStop("b", "elbow", upper=0.3, restitution=1.0)]
    push = ph.ForceFunction("push", lambda t, q, v: [1.0, 5.0, 0.0, 0.0])
    model = arm(*stops, push, gravity=(0.0, 0.0, 0.0))
    run = ph.simulate(model, q=[0.0, 0.0], v=[0.0, 0.0, 1.0, 0.0], duration=0.5)
    names = list(run.event_name.values)
    assert "b.hits-upper" in names
    assert run.attrs["status"] == "finished"
    assert float(run.q[:, 0].max()) < 1e-9
    assert float(run.q[:, 1].max()) < 0.3 + 1e-9


def test_a_resumed_run_with_impacts_has_the_bits_of_a_whole_one(tmp_path):
    given = {"q": [1.0], "duration": 2.0, "verify": False}
    whole = ph.simulate(ball(), **given)
    recorded = ph.record(tmp_path / "run", ball(), **given)
    assert np.array_equal(whole.v, recorded.v)
    assert np.array_equal(whole.event_time, recorded.event_time)


def test_a_file_holds_it():
    model = ball(rest_speed=1e-4)
    assert model_from_yaml(to_yaml(model), "ball.yaml") == model
    assert model.own_states == (("floor", "rests"),)


def test_bad_input_is_told():
    with pytest.raises(ph.ModelError, match="restitution: out of range"):
        ball(restitution=1.2)
    with pytest.raises(ph.ModelError, match="no stops"):
        ball(lower=-math.inf)
    with pytest.raises(ph.ModelError, match=r"rest_speed: out of range"):
        ball(rest_speed=0.0)
    with pytest.raises(ph.PolhodeError, match="force 'floor': a coordinate beyond its stops"):
        ph.simulate(ball(), q=[-0.2], duration=0.1)


def test_a_loop_bounces_off_a_stop_of_its_crank():
    bar = ph.load("four-bar")
    q, v = bar.start.q, bar.start.v
    stop = ph.ImpactStop("stop", bar.joints[0].name, upper=q[0] + 1.0, restitution=0.6)
    run = ph.simulate(replace(bar, forces=(stop,), start=None), q=q, v=[*v, 0.0], duration=0.3, tolerance=1e-10)
    assert run.attrs["verdict"] == "good"
    assert list(run.event_name.values) == ["stop.hits-upper"]
    assert abs(run.constraint_residual).max() < 1e-12
    energy = run.kinetic_energy + run.potential_energy
    np.testing.assert_allclose(energy - energy[0], run.work, atol=1e-9)


@pytest.mark.parametrize("seed", [6, 7])
def test_stops_and_friction_together_leave_no_coordinate_beyond_its_stops(seed):
    """Several events within a step: guards that are above 0 before the first, but no more at its end, are met too."""
    rng, names = np.random.default_rng(seed), ("a", "b", "c")
    parts = [ph.JointFriction(f"rub-{name}", name, 0.4, static=1.0, method="events") for name in names]
    parts += [ph.ImpactStop(f"stop-{name}", name, -0.2, 0.15, restitution=0.3) for name in names]
    rod = {"mass": 1.0, "inertia": (0.1, 0.1, 0.02), "center": (0, 0, -0.3)}
    chain = ph.Model(
        "chain",
        bodies=[ph.Body(f"{name}-rod", **rod) for name in names],
        joints=[
            ph.Joint(name, "revolute", under, f"{name}-rod", position=(0, 0, -0.6), axis=(0, 1, 0))
            for name, under in zip(names, ("world", "a-rod", "b-rod"), strict=True)
        ],
        forces=parts,
    )
    run = ph.simulate(
        chain, q=rng.uniform(-0.1, 0.1, 3), v=[*rng.normal(0, 4, 3), *[0.0] * 6], duration=0.4, verify=False
    )
    assert run.attrs["status"] == "finished"
    assert float(run.q.min()) > -0.2 - 1e-8
    assert float(run.q.max()) < 0.15 + 1e-8


def test_a_joint_that_is_said_to_rest_away_from_its_stop_falls():
    ball = ph.Model(
        "ball",
        bodies=[ph.Body("ball", 1.0, (0.1, 0.1, 0.1))],
        joints=[ph.Joint("drop", "prismatic", "world", "ball")],
        forces=[ph.ImpactStop("floor", "drop", lower=0.0, restitution=0.5)],
    )
    run = ph.simulate(ball, q=[1.0], v=[0.0, -1.0], duration=0.4)
    assert run.q[-1, 0] == pytest.approx(1.0 - 9.81 * 0.16 / 2)
