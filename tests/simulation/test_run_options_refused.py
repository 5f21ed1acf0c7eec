"""What cannot be right is refused before the run, with what was found and what was expected."""

import math

import numpy as np
import pytest

import polhode as ph
from integration import ARM_START, TOP, arm
from polhode.simulation.simulate import simulate
from run_cases import CART, PENDULUM, SLIDER

ARM = arm()
NAN = math.nan


def refused(match, model=CART, kind=ph.InputError, **options):
    with pytest.raises(kind, match=match) as error:
        ph.simulate(model, **{"duration": 0.1} | options)
    assert isinstance(error.value, ph.PolhodeError)
    return error.value


def test_an_unknown_method_shows_the_nearest_names():
    refused(r"no such method.*\n.*'dopri45'.*\n  Did you mean 'dopri54'", method="dopri45")
    refused(r"no such method.*\n.*'RK4'", method="RK4", step=0.1)
    refused(r"no such method", method=4)


@pytest.mark.parametrize("step", [0, -0.1, NAN, math.inf, "a", True, [0.1]])
def test_a_step_must_be_above_zero(step):
    refused("simulate, step: out of range", step=step, method="rk4")


def test_a_method_of_equal_steps_needs_one():
    adaptive = ", ".join(name for name, method in ph.methods.items() if method.adaptive)
    refused(rf"'rk4' takes equal steps.*\n.*no step.*\n.*controls its own: {adaptive}\.$", method="rk4")


@pytest.mark.parametrize("tolerance", [0, 1e-20, -1e-9, 1.0, NAN, "x", None, True])
def test_a_tolerance_lies_between_rounding_and_one(tolerance):
    refused(r"simulate, tolerance: out of range.*\n.*1e-14 to 1", tolerance=tolerance)


@pytest.mark.parametrize("duration", [0, -1.0, NAN, math.inf, "long", True])
def test_a_duration_is_above_zero(duration):
    refused("simulate, duration: out of range", duration=duration)


def test_a_quaternion_off_the_sphere_is_shown_with_its_length():
    refused(r"joint 'tip': not a unit quaternion.*\n.*length 1.41421356", TOP, q=[1, 1, 0, 0])
    refused(r"length 1.00001", TOP, q=[1.00001, 0, 0, 0])
    ph.simulate(TOP, q=[1 + 1e-7, 0, 0, 0], duration=1e-3, samples=2)  # rounding of a file is no mistake


@pytest.mark.parametrize("name", ["q", "v"])
def test_a_state_has_its_shape_and_is_finite(name):
    refused(rf"simulate, {name}: wrong shape.*\n.*\(2,\); expected \(1,\)", **{name: [1.0, 2.0]})
    refused(rf"simulate, {name}: not finite", **{name: [NAN]})
    refused(rf"simulate, {name}: not numbers", **{name: "ab"})


# samples


def test_samples_lie_within_the_run():
    refused(r"samples: out of range.*\n.*times in 0 … 0.1", samples=[0.0, 0.2])
    refused("samples: out of range", samples=[-0.01, 0.05])
    refused("samples: out of range", samples=[])
    refused("samples: out of range", samples=[[0.0, 0.05]])
    refused("samples: out of range", samples=0.05)
    refused("samples: not finite", samples=[NAN])
    refused("samples: not an array of numbers", samples="all")
    refused("samples: too few", samples=1)


def test_samples_between_equal_steps_are_refused_with_the_first():
    refused(
        r"samples: between equal steps.*\n.*0.015 s; expected n × 0.01 s",
        samples=[0.01, 0.015],
        step=0.01,
        method="rk4",
    )


@pytest.mark.parametrize("every", [0, -1, 1.5, True, "2"])
def test_every_is_a_whole_number(every):
    refused("simulate, every: does not fit", every=every, step=0.01, method="rk4")


def test_every_needs_equal_steps_and_no_samples():
    refused("simulate, every: does not fit", every=2)
    refused("simulate, every: does not fit", every=2, samples=11, step=0.01, method="rk4")


# models


def test_a_model_is_a_model():
    refused(r"not a model.*\n.*'heavy-top'.*\n.*load", "heavy-top")


def test_a_model_without_bodies_is_refused():
    refused("nothing to move", ph.Model("empty"))


def test_an_unknown_norm_policy_is_refused():
    refused(r"no such policy.*\n.*'unit'; expected 'state' or 'none'.*\n.*Lie-group", norm="unit")


def test_a_machine_without_a_joint_that_moves_stands_still():
    model = ph.Model("still", bodies=CART.bodies, joints=[ph.Joint("weld", "fixed", "world", "mass")])
    for options in ({"samples": 5}, {"step": 0.03, "method": "rk4"}):
        run = ph.simulate(model, duration=0.1, **options)
        assert run.attrs["status"] == "finished"
        assert run["q"].shape == (5, 0)
        assert run["time"].values[-1] == 0.1
        assert np.all(run["position"] == 0)
        assert np.all(run["total_energy"] == 0)


# forces


def test_forces_have_one_number_for_each_velocity():
    refused(r"simulate, tau: wrong shape.*\n.*\(2,\); expected \(..., 5\)", ARM, q=ARM_START[0], tau=[1, 2])
    refused("simulate, tau", tau=[[1.0], [2.0]])
    refused("simulate, tau: not an array of numbers", tau="much")
    refused("simulate, tau: not finite", tau=[NAN])


def test_forces_by_joint_name_known_joints_and_fit_them():
    refused(r"no such joint that moves.*\n.*'elbo'; expected elbow", ARM, q=ARM_START[0], tau={"elbo": 1.0})
    refused(
        r"joint 'shoulder': wrong shape.*\n.*\(2,\); expected \(3,\)", ARM, q=ARM_START[0], tau={"shoulder": [1, 2]}
    )
    refused(r"joint 'shoulder': wrong shape", ARM, q=ARM_START[0], tau={"shoulder": 1.0})
    refused(r"joint 'elbow': not an array of numbers", ARM, q=ARM_START[0], tau={"elbow": "x"})


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda t, q, v: [1.0, 2.0], "wrong result.*\n.*2 numbers; expected 1 generalised forces"),
        (lambda t, q, v: 1.0, "wrong result.*\n.*1.0; expected 1 generalised forces"),
        (lambda t, q, v: None, "wrong result.*\n.*None; expected 1"),
        (lambda t, q, v: [[1.0]], "wrong result"),
        (lambda t, q, v: np.zeros((1, 1)), "wrong result"),
        (lambda t, q, v: [NAN], r"not finite at the start.*\n.*\[nan\]"),
        (lambda t, q, v: [1 / q[0]], "failed at the start.*\n.*ZeroDivisionError"),
        (lambda t, q: [1.0], "failed at the start.*\n.*TypeError"),
        (lambda t, q, v: [q[3]], "failed at the start.*\n.*IndexError"),
    ],
)
def test_a_function_is_tried_at_the_start(function, words):
    refused(rf"tau '<lambda>' ?(\(test_run_options_refused.py:\d+\))?: {words}", tau=function)


def test_a_force_of_the_model_is_tried_at_the_start():
    def model(force):
        return ph.Model("towed", CART.gravity, CART.bodies, CART.joints, forces=[force])

    refused("force 'drag': not finite at the start", model(ph.ForceFunction("drag", lambda t, q, v: [NAN])))
    refused("force of 'gust': not finite", model(ph.Force("gust", "mass", force=lambda t: (NAN, 0.0, 0.0))))


def test_a_sampled_controller_is_asked_at_the_start():
    refused(r"controller '<lambda>' at t = 0.*\n.*\[0.0, 1.0\]", tau=ph.Sampled(lambda t, q, v: [0.0, 1.0], 0.1))
    refused(r"controller '<lambda>' at t = 0.*\n.*ZeroDivisionError", tau=ph.Sampled(lambda t, q, v: [1 / 0], 0.1))
    for period in (0, -1.0, NAN, "x"):
        with pytest.raises(ph.InputError, match="not a period"):
            ph.Sampled(lambda t, q, v: [0.0], period)


def test_tables_fit_their_machine():
    refused(r"Table, times: not increasing", tau=ph.Table([0.0, 0.0], [[1.0], [2.0]]))
    refused(r"Table, values: do not fit.*\n.*\(2, 2\)", tau=ph.Table([0.0, 1.0], np.ones((2, 2))))
    refused(r"Table, values: do not fit", tau=ph.Table([0.0, 1.0], np.ones(2)))
    refused(r"Table, values: not finite", tau=ph.Table([0.0, 1.0], [[NAN], [1.0]]))
    refused(r"Table, times: not", tau=ph.Table("ab", [[1.0], [1.0]], True))


def test_controllers_fit_their_machine():
    refused(r"PD, stiffness: does not fit", tau=ph.PD([1.0, 2.0], 1.0))
    refused(r"PD, target: wrong shape", tau=ph.PD(1.0, 1.0, target=[1.0, 2.0]))
    refused(
        r"PD, target \(test_run_options_refused.py:\d+\): wrong result.*\n.*2 numbers",
        tau=ph.PD(1.0, 1.0, target=lambda t: [1.0, 2.0]),
    )
    refused(r"ComputedTorque, acceleration", tau=ph.ComputedTorque(1.0, 1.0, acceleration="x"))


@pytest.mark.filterwarnings("ignore::polhode.PolhodeWarning")
def test_a_target_that_cannot_be_compiled_runs_in_python():
    late = ph.PD(1.0, 1.0, target=lambda t: [1.0 if t > 0.05 else 0.0])
    run = ph.simulate(CART, duration=0.1, tau=late, step=0.02, method="rk4")
    assert run.attrs["status"] == "finished"


# events


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda t, q, v: None, "event 'e'"),
        (lambda t, q, v: q, "event 'e': wrong result"),
        (lambda t, q, v: NAN, "event 'e': not finite at the start"),
        (lambda t, q, v: q[5], "event 'e': failed at the start.*\n.*IndexError"),
        (lambda q: q[0], "event 'e': failed at the start.*\n.*TypeError"),
    ],
)
def test_the_function_of_an_event_is_tried_at_the_start(function, words):
    refused(words, events=[ph.Event("e", function)])


def test_an_event_is_made_of_functions():
    for options in ({"function": 3}, {"function": abs, "reset": 4}):
        with pytest.raises(ph.InputError, match="not a function"):
            ph.Event("e", **options)
    with pytest.raises(ph.InputError, match="no such direction"):
        ph.Event("e", abs, direction=2)


def test_events_are_a_list_of_events():
    refused("simulate, events: not events", events=[lambda t, q, v: q[0]])
    refused("simulate, events: not events", events=ph.Event("e", lambda t, q, v: q[0]))


def test_messages_have_the_house_s_form():
    error = refused("out of range", step=-1, method="rk4")
    assert str(error).splitlines()[0].endswith(".")
    assert str(error).splitlines()[1].startswith("  found ")
    assert simulate is ph.simulate
    assert ph.simulate(PENDULUM, duration=0.1, samples=2, tolerance=np.float32(1e-6)).attrs["status"] == "finished"
    assert ph.simulate(SLIDER, duration=0.1, step=0.01, method="rk4", every=np.int64(5)).sizes["time"] == 3


def test_options_are_refused_before_the_constraints_are_compiled(monkeypatch):
    monkeypatch.setattr("polhode.simulation.scenario.check_start", lambda *given: pytest.fail("looked at the start"))
    refused("samples: too few", ph.load("stewart-platform"), samples=1)
