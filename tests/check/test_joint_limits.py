"""Limits of joints act in runs, as stops that follow from the machine; starts outside them are refused, or moved."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

import polhode as ph
from compilations import counted
from polhode.check.joint_limits import has_limits
from polhode.ensemble.measures import VERDICTS
from polhode.ensemble.study_file import load_study
from polhode.ensemble.study_runner import STATUS
from polhode.formats.yaml import model_from_yaml, to_yaml

BOB = ph.Body("bob", 1.0, (0.02, 0.02, 0.01), (0.0, 0.0, -0.5))
INERTIA = 0.02 + 0.25


def pendulum(lower=-0.5, upper=2.0, **more):
    hinge = ph.Joint("hinge", "revolute", "world", "bob", axis=(0, 1, 0), lower=lower, upper=upper)
    return ph.Model("pendulum", bodies=[BOB], joints=[hinge], **more)


def checks(run, name):
    return [check for check in json.loads(run.attrs["grade"]) if check["name"] == name]


def test_a_joint_stops_at_its_limit_unless_told_otherwise():
    run = ph.simulate(pendulum(), [1.0], duration=1.2)
    assert run.attrs["verdict"] == "good"
    assert -0.52 < float(run.q.min()) < -0.5
    assert "into the stop" in checks(run, "joint limit")[0]["note"]
    assert checks(run, "energy drift, less work")[0]["verdict"] == "good"
    assert list(run.work_source.values) == ["joint limits"]
    assert run.work[-1] < -0.1
    free = ph.simulate(pendulum(), [1.0], duration=1.2, limits=False)
    assert float(free.q.min()) < -0.9
    assert "beyond the limit" in checks(free, "joint limit")[0]["note"]


@pytest.mark.parametrize("steps", [{}, {"step": 1e-3, "method": "rk4"}])
def test_touches_of_a_limit_are_events_at_the_time_of_the_free_swing(steps):
    passed = ph.Event("passed", lambda t, q, v: q[0] + 0.5, direction=-1, terminal=True)
    free = ph.simulate(pendulum(), [1.0], duration=1.2, limits=False, events=[passed])
    run = ph.simulate(pendulum(), [1.0], duration=1.2, **steps)
    assert run["event_name"].values[:2].tolist() == ["hinge.limit.touches", "hinge.limit.leaves"]
    assert run["event_time"].values[0] == pytest.approx(free["event_time"].item(), abs=1e-8)
    assert ph.simulate(pendulum(), [0.3], duration=1.0)["event_time"].size == 0


def test_a_run_that_touches_no_limit_is_the_run_without_them_and_graded_alike():
    limited, free = (ph.simulate(pendulum(), [0.3], duration=3.0, limits=limits) for limits in (True, False))
    assert np.max(abs(limited.q.values - free.q.values)) < 1e-13
    assert limited.attrs["steps_taken"] == free.attrs["steps_taken"]
    assert [check["name"] for check in json.loads(limited.attrs["grade"])] == [
        check["name"] for check in json.loads(free.attrs["grade"])
    ]
    assert checks(limited, "energy drift")[0]["verdict"] == "good"


def test_energy_is_judged_with_the_work_of_stops_that_took_part():
    free = {"q": [0.3]}
    for model in (pendulum(), ph.with_limits(pendulum())):
        assert checks(ph.simulate(model, **free, duration=0.5), "energy drift")[0]["verdict"] == "good"
    assert checks(ph.simulator(pendulum()).run(**free, duration=0.5), "energy drift")[0]["verdict"] == "good"
    model = replace(pendulum(), gravity=(0, 0, 0), joints=[replace(pendulum().joints[0], stiffness=20.0, rest=-1.0)])
    run = ph.simulate(model, [-0.505], duration=0.02)  # in contact from beginning to end
    assert float(run.q.max()) < -0.5
    assert checks(run, "energy drift, less work")[0]["verdict"] == "good"


def test_stiffness_and_dissipation_follow_from_the_machine():
    (stop,) = ph.with_limits(pendulum()).forces
    assert (stop.name, stop.lower, stop.upper) == ("hinge.limit", -0.5, 2.0)
    assert stop.stiffness == pytest.approx(INERTIA / 0.02**2)
    assert stop.dissipation == pytest.approx(10.0)
    (other,) = ph.with_limits(pendulum(), stiffness=7.0, dissipation=0.5).forces
    assert (other.stiffness, other.dissipation) == (7.0, 0.5)
    slower = ph.with_limits(pendulum(), time_constant=0.04).forces[0]
    assert slower.stiffness == pytest.approx(stop.stiffness / 4)


def test_a_model_with_limits_goes_into_files_and_runs_keep_it():
    model = ph.with_limits(pendulum())
    assert model_from_yaml(to_yaml(model), "pendulum.yaml") == model
    assert model_from_yaml(ph.simulate(pendulum(), [0.3], duration=0.1).attrs["model_yaml"], "run") == model


def test_other_joints_are_free_in_the_inertia_that_a_stop_is_made_for():
    model = ph.load("arm-7")
    M = np.array(ph.compile(model).mass_matrix(model.start.q))
    expected = 1 / np.diag(np.linalg.inv(M)) / 0.02**2
    assert [stop.stiffness for stop in ph.with_limits(model).forces] == pytest.approx(list(expected))


def test_only_what_is_asked_for_has_stops_and_none_twice():
    model = ph.load("arm-7")
    assert [stop.joint for stop in ph.with_limits(model, ["joint2", "joint4"]).forces] == ["joint2", "joint4"]
    whole = ph.with_limits(model)
    assert ph.with_limits(whole) is whole
    own = ph.JointStop("mine", "hinge", -0.2, 0.2, stiffness=50.0)
    assert ph.with_limits(pendulum(forces=[own])).forces == (own,)
    rigid = ph.ImpactStop("mine", "hinge", -0.2, 0.2, restitution=0.5)
    assert ph.with_limits(pendulum(forces=[rigid])).forces == (rigid,)
    assert not has_limits(ph.load("pendulum"))
    assert ph.with_limits(ph.load("pendulum")) is ph.load("pendulum") or not ph.load("pendulum").forces


def test_a_system_has_the_forces_of_limits_only_where_asked():
    bare, held = ph.compile(pendulum()), ph.compile(ph.with_limits(pendulum()))
    q, v = [2.1], [0.0]
    push = float((held.forward_dynamics(q, v, [0.0]) - bare.forward_dynamics(q, v, [0.0]))[0])
    assert push == pytest.approx(-0.1 / 0.02**2)
    stored = float(held.energy(q, v).potential - bare.energy(q, v).potential)
    assert stored == pytest.approx(INERTIA / 0.02**2 * 0.01 / 2)


def test_limits_of_one_axis_of_several_act_alone():
    puck = ph.Joint("puck", "planar", "world", "bob", lower=(-math.inf, -0.1, -math.inf), upper=math.inf)
    model = ph.Model("puck", bodies=[BOB], joints=[puck], gravity=(0, 0, 0))
    (stop,) = ph.with_limits(model).forces
    assert (stop.name, stop.axis, stop.upper) == ("puck.limit.1", 1, math.inf)
    run = ph.simulate(model, v=[-1.0, -1.0, 0.0], duration=0.5)
    assert float(run.q[-1, 0]) == pytest.approx(-0.5)
    assert float(run.q[-1, 1]) > -0.2


# starts


def test_a_start_outside_its_limits_is_refused_and_the_nearest_offered():
    with pytest.raises(ph.InputError) as told:
        ph.simulate(pendulum(), [2.5], duration=0.1)
    words = ["q of 'hinge'", "2.5 rad", "-0.5 to 2", "q = [2.]", "move_start=True", "limits=False"]
    assert all(word in str(told.value) for word in words), told.value
    moved = ph.simulate(pendulum(), [2.5], duration=0.1, move_start=True)
    assert float(moved.q[0, 0]) == 2.0
    assert json.loads(moved.attrs["start_moved"]) == {"limit of hinge": 0.5}
    assert float(ph.simulate(pendulum(), [2.5], duration=0.1, limits=False).q[0, 0]) == 2.5


def test_a_run_goes_on_from_a_state_in_contact():
    first = ph.simulate(pendulum(), [1.0], duration=0.55)
    assert float(first.q[-1, 0]) < -0.5
    then = ph.simulate(pendulum(), first.q.values[-1], first.v.values[-1], duration=0.5)
    whole = ph.simulate(pendulum(), [1.0], duration=1.05, samples=2)
    assert float(then.q[-1, 0]) == pytest.approx(float(whole.q[-1, 0]), abs=1e-6)


def test_a_start_is_moved_within_limits_and_onto_constraints():
    other = replace(BOB, name="other")
    follower = ph.Joint("follower", "revolute", "world", "other", axis=(0, 1, 0))
    base = pendulum()
    geared = replace(
        base,
        bodies=(*base.bodies, other),
        joints=(*base.joints, follower),
        constraints=[ph.Constraint("gear", "mimic", joint="follower", source="hinge", multiplier=1.0)],
    )
    for start in ([2.5, 2.0], [2.5, 10.0]):  # the constraint alone would lead the second out again
        run = ph.simulate(geared, start, duration=0.1, move_start=True)
        assert run.q[0].values == pytest.approx([2.0, 2.0])
        assert json.loads(run.attrs["start_moved"])["limit of hinge"] == 0.5


# everywhere


def test_a_recorded_run_resumes_in_contact(tmp_path, monkeypatch):
    monkeypatch.setattr("polhode.simulation.run_loop.MOST_STATES", 10)

    def interrupt(part, t, steps):
        if t > 0.55:
            raise KeyboardInterrupt

    asked = {"q": [1.0], "duration": 1.2}
    cut = ph.record(tmp_path, pendulum(), **asked, progress=interrupt)
    assert cut.attrs["status"] == "interrupted"
    assert float(cut.q[-1, 0]) < -0.5
    cut.close()
    run = ph.record(tmp_path, pendulum(), **asked, resume=True)
    whole = ph.simulate(pendulum(), **asked)
    assert np.array_equal(run.q.values, whole.q.values)
    assert run.attrs["grade"] == whole.attrs["grade"]


def test_sweeps_have_limits_and_refuse_or_move_starts_outside():
    drawn = {"start.q.hinge": ph.Grid([1.0, 2.5])}
    runs = ph.sweep(pendulum(), drawn, duration=1.2, accompanied=1.0)
    assert runs.status.values.tolist() == [STATUS["finished"], STATUS["refused"]]
    assert "outside the limits" in runs.attrs["reasons"]
    alone = ph.simulate(pendulum(), [1.0], duration=1.2, samples=101)
    assert np.max(abs(runs.q[0].values - alone.q.values)) < 1e-6
    assert runs.verdict.values[0] == VERDICTS["good"]
    moved = ph.sweep(pendulum(), drawn, duration=0.1, move_start=True)
    assert moved.q[:, 0, 0].values.tolist() == [1.0, 2.0]
    free = ph.sweep(pendulum(), drawn, duration=1.2, limits=False)
    assert float(free.q[0].min()) < -0.9


def test_a_study_file_may_leave_limits_out(tmp_path):
    for word, limits in (("", True), ("limits: false\n", False)):
        text = f"model: arm-7\n{word}runs: 2\nduration: 0.1\nparameters: {{bodies.hand.mass: {{uniform: [1, 2]}}}}\n"
        (tmp_path / "study.yaml").write_text(text)
        study = load_study(tmp_path / "study.yaml")
        assert study.run_options.limits is limits
        assert bool(ph.StudyRunner(study).model.forces) is limits


def test_gradients_see_limits():
    asked = {"q": [1.0], "duration": 0.9, "tolerance": 1e-11}
    path = "bodies.bob.mass"
    made = ph.gradient(ph.with_limits(pendulum()), lambda q, v: q[0], [path], **asked)
    assert ph.gradient(pendulum(), lambda q, v: q[0], [path], **asked).derivatives[path] == made.derivatives[path]
    ends = [
        float(ph.simulate(ph.with_limits(pendulum()).with_numbers({path: m}), **asked, samples=2).q[-1, 0])
        for m in (1 - 1e-5, 1 + 1e-5)
    ]
    assert made.derivatives[path] == pytest.approx((ends[1] - ends[0]) / 2e-5, rel=1e-4)


def test_a_changed_number_of_a_limited_model_compiles_nothing():
    model = pendulum()
    ph.simulate(model.with_numbers({"bodies.bob.mass": 1.1}), [1.0], duration=1.2)
    with counted() as made:
        ph.simulate(model.with_numbers({"bodies.bob.mass": 1.2}), [1.0], duration=1.2)
    assert not made


def test_a_step_of_a_simulator_has_limits():
    step = ph.simulator(pendulum(), step=1e-3, method="rk4").step
    free = ph.simulator(pendulum(), step=1e-3, method="rk4", limits=False).step
    assert float(step([2.01], [0.0]).v[0]) < float(free([2.01], [0.0]).v[0])


def test_limits_of_a_file_act():
    text = """
name: swing
bodies: {bob: {mass: 1, inertia: [0.02, 0.02, 0.01], center: [0, 0, -0.5]}}
joints: {hinge: {type: revolute, parent: world, child: bob, axis: [0, 1, 0], lower: -0.5, upper: 2}}
start: {q: [1], v: [0], duration: 1}
"""
    assert float(ph.simulate(model_from_yaml(text, "swing.yaml")).q.min()) > -0.52


def test_bad_input_is_told():
    with pytest.raises(ph.InputError, match="simulate, limits"):
        ph.simulate(pendulum(), limits="soft")
    with pytest.raises(ph.InputError, match="with_limits, joints"):
        ph.with_limits(pendulum(), ["hing"])
    with pytest.raises(ph.InputError, match="with_limits, time_constant"):
        ph.with_limits(pendulum(), time_constant=0)
    with pytest.warns(ph.PolhodeWarning):
        empty = ph.Body("bob", 0.0, (0, 0, 0), physical=False)
    with pytest.raises(ph.ModelError, match="nothing to stop"):
        ph.with_limits(replace(pendulum(), bodies=[empty]))
