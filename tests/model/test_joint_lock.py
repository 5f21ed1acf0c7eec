"""Locks of joints: at times, by functions, their impulse, joints of several axes, loops, bad input."""

from dataclasses import replace

import numpy as np
import pytest

import polhode as ph
from own_elements import arm
from polhode.formats.yaml import model_from_yaml, to_yaml


def test_a_joint_is_locked_and_released_at_its_times():
    run = ph.simulate(arm(ph.JointLock("brake", "elbow", lock_time=0.5, release_time=1.0)), q=[1.0, 0.5], duration=1.5)
    assert run.attrs["verdict"] == "good"
    assert list(run.event_name.values) == ["brake.locks", "brake.releases"]
    np.testing.assert_allclose(run.event_time, [0.5, 1.0], rtol=1e-15)
    held = (run.time.values > 0.5) & (run.time.values < 1.0)
    assert abs(run.v[held, 1]).max() < 1e-12
    assert np.ptp(run.q.values[held, 1]) < 1e-12
    assert abs(run.v[-1, 1]) > 0.1


def test_locking_leaves_the_momentum_that_the_joint_cannot_change():
    lock = ph.JointLock("brake", "elbow", lock_time=0.5)
    near = ph.simulate(arm(lock), q=[1.0, 0.5], duration=0.6, tolerance=1e-12, samples=[0.5 - 1e-9, 0.5 + 1e-9])
    before, after = near.v.values[1, :2], near.v.values[2, :2]
    impulse = ph.compile(arm()).mass_matrix(near.q.values[1]) @ (after - before)
    assert abs(after[1]) < 1e-12
    assert abs(impulse[0]) < 1e-6 * abs(impulse[1])


def test_a_locked_machine_moves_as_one_that_is_welded():
    rod = {"mass": 1.0, "inertia": (0.1, 0.1, 0.01), "center": (0, 0, -0.5)}
    half = (np.cos(0.25), 0.0, np.sin(0.25), 0.0)
    welded = ph.Model(
        "welded",
        bodies=[ph.Body("upper", **rod), ph.Body("lower", **rod)],
        joints=[
            ph.Joint("shoulder", "revolute", "world", "upper", axis=(0, 1, 0)),
            ph.Joint("elbow", "fixed", "upper", "lower", position=(0, 0, -1), orientation=half),
        ],
    )
    locked = ph.simulate(arm(ph.JointLock("brake", "elbow", release_time=9.0)), q=[1.0, 0.5], duration=2.0)
    np.testing.assert_allclose(locked.q[-1, 0], ph.simulate(welded, q=[1.0], duration=2.0).q[-1, 0], rtol=1e-8)


def test_a_latch_closes_where_a_function_says_so_and_stays():
    latch = ph.JointLock("latch", "elbow", lock_when=lambda t, q, v: 0.2 - q[1])
    run = ph.simulate(arm(latch), q=[1.0, 0.5], duration=1.0)
    assert list(run.event_name.values) == ["latch.locks"]
    assert abs(run.q[-1, 1] - 0.2) < 1e-12
    both = ph.JointLock("l", "elbow", lock_when=latch.lock_when, release_when=lambda t, q, v: t - 0.8)
    assert list(ph.simulate(arm(both), q=[1.0, 0.5], duration=0.7).event_name.values) == ["l.locks"]


def test_two_conditions_that_hold_at_once_are_told():
    both = ph.JointLock("l", "elbow", lock_when=lambda t, q, v: t - 0.1, release_when=lambda t, q, v: t - 0.2)
    run = ph.simulate(arm(both), q=[1.0, 0.5], duration=1.0, verify=False)
    assert run.attrs["status"] == "failed"
    assert "follow one another without end while no time passes: 'l.locks', 'l.releases'" in run.attrs["reason"]


def test_all_axes_of_a_ball_are_locked():
    body = ph.Body("b", 1.0, (0.1, 0.2, 0.25), center=(0, 0, 0.3))
    top = ph.Model(
        "top",
        bodies=[body],
        joints=[ph.Joint("ball", "spherical", "world", "b")],
        forces=[ph.JointLock("lock", "ball", lock_time=0.3)],
    )
    run = ph.simulate(top, v=[1.0, 2.0, 3.0, 0.0], duration=0.6)
    assert run.attrs["verdict"] == "good"
    assert abs(run.v[-1, :3]).max() < 1e-12


@pytest.mark.parametrize("engine", ["fundamental", "multipliers", "null-space"])
def test_a_loop_stands_while_one_of_its_joints_is_locked(engine):
    bar = ph.load("four-bar")
    lock = ph.JointLock("brake", bar.joints[0].name, lock_time=0.1, release_time=0.2)
    model = replace(bar, forces=(lock,), start=None)
    run = ph.simulate(model, q=bar.start.q, v=[*bar.start.v, 0.0], duration=0.3, engine=engine)
    assert run.attrs["verdict"] == "good"
    held = (run.time.values > 0.1) & (run.time.values < 0.2)
    assert abs(run.v[held, :3]).max() < 1e-12
    assert abs(run.v[-1, :3]).max() > 1e-2


def gripper(*forces):
    """A hand on a rail, and a ball that is free against it, at a grasp."""
    return ph.Model(
        "gripper",
        gravity=(0.0, 0.0, -9.81),
        bodies=[ph.Body("hand", 2.0, (0.1, 0.1, 0.1)), ph.Body("ball", 0.5, (0.01, 0.01, 0.01))],
        joints=[
            ph.Joint("rail", "prismatic", "world", "hand", axis=(1, 0, 0)),
            ph.Joint("grasp", "free", "hand", "ball", position=(0.2, 0, 0)),
        ],
        forces=forces,
    )


def test_a_body_that_is_let_go_flies_and_one_that_is_grasped_shares_its_momentum():
    thrown = gripper(ph.JointLock("grip", "grasp", release_time=0.3))
    run = ph.simulate(thrown, v=[1.5, 0, 0, 0, 0, 0, 0, 1.0], duration=0.8, tolerance=1e-11)
    after = np.maximum(run.time.values - 0.3, 0.0)
    ball = run.position[:, list(run.body.values).index("ball")]
    np.testing.assert_allclose(ball[:, 0], 0.2 + 1.5 * run.time, atol=1e-10)
    np.testing.assert_allclose(ball[:, 2], -9.81 / 2 * after**2, atol=1e-10)
    caught = gripper(ph.JointLock("grip", "grasp", lock_time=0.1))
    start = {"q": [0, -0.1, 0, 0, 1, 0, 0, 0], "v": [0.0, 1.0, 0, 0.4905, 0, 0, 0, 0.0]}
    run = ph.simulate(caught, **start, duration=0.3, tolerance=1e-11)
    assert run.attrs["verdict"] == "good"
    np.testing.assert_allclose(run.v[-1, 0], 0.5 * 1.0 / 2.5, rtol=1e-9)
    assert abs(run.v[-1, 1:7]).max() < 1e-12


def test_files_hold_locks_with_times():
    model = arm(ph.JointLock("brake", "elbow", lock_time=0.5))
    assert model_from_yaml(to_yaml(model), "arm.yaml") == model


def test_bad_input_is_told():
    for numbers in ({}, {"lock_time": 1.0, "lock_when": lambda t, q, v: 1.0}):
        with pytest.raises(ph.ModelError, match="times and functions"):
            ph.JointLock("l", "elbow", **numbers)
    with pytest.raises(ph.ModelError, match="when it locks too"):
        ph.JointLock("l", "elbow", lock_time=1.0, release_time=1.0)
    with pytest.raises(ph.ModelError, match="no such axis"):
        arm(ph.JointLock("l", "elbow", lock_time=1.0, axis=1))
