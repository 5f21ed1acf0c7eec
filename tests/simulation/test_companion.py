"""Companion runs: what they see, and how much of a run is accompanied."""

import json

import numpy as np
import pytest

import polhode as ph
from polhode.result.error_estimate import Difference
from polhode.simulation import companion, run as run_module
from polhode.simulation.run_loop import RunLoop
from run_cases import CART, PENDULUM


def worst(run):
    return float(np.max(run["error_estimate"]))


def note_of(run, name="error of the motion"):
    return next(check["note"] for check in json.loads(run.attrs["grade"]) if check["name"] == name)


def test_a_run_without_any_invariant_is_not_good_by_itself():
    """Damping hides the energy; nothing but a second run sees that Euler at 50 ms is wrong."""
    damped = ph.Model(
        "damped",
        (0, 0, -9.81),
        bodies=[ph.Body("bob", 1.0, (0.1, 0.1, 0.1), center=(0, 0, -1))],
        joints=[ph.Joint("hinge", "revolute", "world", "bob", axis=(0, 1, 0), damping=0.2)],
    )
    asked = {"q": [1.0], "duration": 5.0}
    coarse = ph.simulate(damped, **asked, method="euler", step=0.05)
    exact = ph.simulate(damped, **asked, tolerance=1e-12, samples=coarse["time"].values)
    true = np.max(abs(coarse["q"].values - exact["q"].values))
    assert true > 0.05
    assert coarse.verdict == "failed"
    assert worst(coarse) > true / 2
    assert exact.verdict == "good"


def test_what_a_method_conserves_is_no_evidence():
    top = ph.load("heavy-top")
    run = ph.simulate(top, method="energy-momentum", step=0.1)
    assert run.verdict == "failed"
    assert run.good_until <= 0.2


def test_chaotic_motion_is_good_until_the_two_part():
    run = ph.simulate(ph.load("double-pendulum"), duration=60.0)
    assert run.verdict == "failed"
    assert 1 < run.good_until < 50
    tight = ph.simulate(ph.load("double-pendulum"), duration=60.0, tolerance=1e-12)
    early = (run["time"] < run.good_until).values
    assert np.max(abs(run["q"] - tight["q"]).values[early]) < 1e-3


def test_a_coarse_tolerance_without_an_invariant_is_seen():
    run = ph.simulate(PENDULUM, [2.5], duration=20.0, tolerance=0.1, tau={"hinge": [0.1]})
    assert run.verdict in ("loose", "failed")


@pytest.mark.parametrize("options", [{"tolerance": 1e-13}, {"tolerance": 1e-13, "method": "dopri54"}])
def test_at_the_floor_of_rounding_another_method_is_the_companion(options):
    run = ph.simulate(PENDULUM, [1.0], duration=2.0, **options)
    assert "a companion run, method" in note_of(run)
    assert run.verdict == "good"


@pytest.mark.parametrize("period", [0.02, 0.05])
def test_steps_between_knots_are_not_compared_with_themselves(period):
    """Where the knots of a table end every step of both runs, the two would take the same steps and never part."""
    times = np.arange(0, 1, period)
    model, table = ph.load("double-pendulum"), ph.Table(times, np.sin(40 * np.outer(times, [1, 2])))
    asked = {"q": [1.0, 0.5], "v": [3.0, -6.0], "duration": 1.0, "tau": table}
    run = ph.simulate(model, **asked, method="dopri54", tolerance=0.1, samples=5)
    exact = ph.simulate(model, **asked, tolerance=1e-12, samples=5)
    true = float(np.max(Difference(model)(run, exact)))
    assert true < worst(run) < 4 * true


@pytest.mark.parametrize("method", ["rk4", "implicit-midpoint"])
@pytest.mark.parametrize("periods", [1, 2, 3, 4, 6])
def test_a_force_that_repeats_itself_with_every_step_is_seen(method, periods):
    """Steps of whole periods take the force for constant, and so would steps a third as long of three periods."""
    step = periods / 60
    run = ph.simulate(CART, duration=20 * step, step=step, method=method, tau=lambda t, q, v: [ph.cos(120 * np.pi * t)])
    assert abs(run.q.values[-1, 0]) > 100 / (120 * np.pi) ** 2
    assert run.verdict == "failed"
    assert run.good_until == run.time.values[1]


@pytest.mark.parametrize("options", [{}, {"every": 4}, {"samples": [0.1, 0.3, 0.7]}, {"samples": 2}])
@pytest.mark.parametrize("method", ["rk4", "generalized-alpha"])
def test_the_companion_of_equal_steps_is_nearer_to_the_truth(method, options):
    asked = {"q": [2.0], "duration": 1.0}
    run = ph.simulate(PENDULUM, **asked, step=0.02, method=method, **options)
    exact = ph.simulate(PENDULUM, **asked, tolerance=1e-13, samples=run["time"].values, verify=False)
    true = Difference(PENDULUM)(run, exact)
    assert np.all(run["error_estimate"].values[1:] < 3 * true[1:])
    assert np.all(true < run["error_estimate"].values + 1e-15)


def test_a_run_of_one_step_is_not_compared_with_itself():
    run = ph.simulate(PENDULUM, [2.5], [3.0], duration=0.1, method="dopri54", tolerance=0.1, samples=4)
    exact = ph.simulate(PENDULUM, [2.5], [3.0], duration=0.1, tolerance=1e-13, samples=4)
    true = Difference(PENDULUM)(run, exact)
    assert run.steps_taken == 1
    assert np.all(true[1:] <= run["error_estimate"].values[1:])


def test_a_companion_is_tighter_than_the_accuracy_asked_for():
    run = ph.simulate(PENDULUM, [1.0], duration=1.0, tolerance=1e-3, accuracy=1e-9)
    assert "tolerance 1e-11" in note_of(run)
    assert "tolerance 1e-06" in note_of(ph.simulate(PENDULUM, [1.0], duration=1.0, tolerance=0.1))


def test_verify_decides_and_work_is_counted(monkeypatch):
    assert ph.simulate(PENDULUM, [1.0], duration=1.0, verify=False).verdict == "unchecked"
    monkeypatch.setattr(companion, "WORK", 1e6)
    part = ph.simulate(PENDULUM, [1.0], duration=10.0, step=0.01, method="rk4")
    assert part.verdict == "unchecked"
    known = np.isfinite(part["error_estimate"].values)
    assert 10 < known.sum() < 500
    assert np.all(known[: known.sum()])
    assert f"after t = {part['time'].values[known.sum() - 1]:.6g}" in note_of(part, "error of the motion, later")
    assert ph.simulate(PENDULUM, [1.0], duration=10.0, step=0.01, method="rk4", verify=True).verdict != "unchecked"


def test_accuracy_is_the_threshold():
    asked = {"q": [1.0], "duration": 2.0, "step": 0.01, "method": "rk4"}
    error = worst(ph.simulate(PENDULUM, **asked))
    assert ph.simulate(PENDULUM, **asked, accuracy=2 * error).verdict == "good"
    assert ph.simulate(PENDULUM, **asked, accuracy=error / 2).verdict == "loose"
    assert ph.simulate(PENDULUM, **asked, accuracy=error / 200).verdict == "failed"
    with pytest.raises(ph.InputError, match="accuracy"):
        ph.simulate(PENDULUM, accuracy=0)


def test_a_controller_with_a_state_of_its_own_cannot_be_repeated():
    total = [0.0]

    def integral(t, q, v):
        total[0] += 1.0 - q[0]
        return [total[0]]

    run = ph.simulate(CART, duration=1.0, tau=ph.Sampled(integral, 0.1))
    assert run.verdict == "unchecked"
    assert "keeps a state" in note_of(run, "error of the motion, later")
    plain = ph.simulate(CART, duration=1.0, tau=ph.Sampled(lambda t, q, v: [1.0 - q[0]], 0.1))
    assert plain.verdict == "good"


def test_runs_that_end_at_an_event_are_compared_there():
    low = ph.Event("low", lambda t, q, v: q[0], terminal=True)
    run = ph.simulate(PENDULUM, [1.0], duration=5.0, events=[low])
    assert (run.status, run.verdict) == ("stopped", "good")
    rough = ph.simulate(PENDULUM, [1.0], duration=5.0, events=[low], step=0.1, method="euler")
    assert rough.verdict == "failed"


def test_an_interrupted_run_is_not_good():
    def stop(part, t):
        raise KeyboardInterrupt

    run = ph.simulate(PENDULUM, [1.0], duration=5.0, progress=stop)
    assert (run.status, run.verdict) == ("interrupted", "unchecked")


@pytest.mark.parametrize("form", [True, False])
def test_forms_and_equal_steps_are_accompanied(form):
    top = ph.load("heavy-top")
    name = {"form": next(iter(ph.forms))} if form else {"method": "rk4"}
    fine, coarse = (ph.simulate(top, duration=0.1, step=h, **name, accuracy=0.01) for h in (1e-5, 1e-3))
    assert fine.verdict == "good"
    assert worst(coarse) > 100 * worst(fine)


def test_sensitivities_are_accompanied_too():
    asked = {"q": [1.0], "duration": 2.0, "method": "rk4", "sensitivities": ["gravity"], "accuracy": 1e-6}
    coarse, fine = (ph.simulate(PENDULUM, **asked, step=h) for h in (0.2, 0.002))
    grades = [{check["name"]: check for check in json.loads(run.attrs["grade"])} for run in (coarse, fine)]
    found = [grade["error of sensitivities"] for grade in grades]
    assert (found[0]["verdict"], found[1]["verdict"]) == ("failed", "good")
    exact = ph.simulate(PENDULUM, **asked | {"method": None, "tolerance": 1e-12}, samples=coarse["time"].values)
    true = np.max(abs(coarse["sensitivity_q"].values - exact["sensitivity_q"].values))
    assert true / 4 < found[0]["value"] * (1 + np.max(abs(exact["sensitivity_q"].values)))


def test_a_machine_by_a_form_is_accompanied():
    rod = {"mass": 1.0, "inertia": (0.1, 0.1, 0.01), "center": (0, 0, -0.5)}
    arm = ph.Model(
        "arm",
        bodies=[ph.Body("upper", **rod), ph.Body("lower", **rod)],
        joints=[
            ph.Joint("shoulder", "spherical", "world", "upper"),
            ph.Joint("elbow", "revolute", "upper", "lower", axis=(1, 0, 0), position=(0, 0, -1)),
        ],
    )
    run = ph.simulate(arm, form="sherif-29", step=1e-3, norm="none", duration=0.2, v=[0.1, 0, 0, 1])
    assert worst(run) < 1e-9
    assert run.verdict == "good"


@pytest.mark.parametrize(("method", "periods"), [("rk4", 12), ("heun", 6)])
def test_a_periodic_force_that_begins_later_is_seen(method, periods):
    """Its zeros are at the ends and the middles of all equal steps, of the companion too but for the golden section."""

    def force(t, q, v):
        return [ph.where(t < 2.0, 0.0, ph.sin(2 * np.pi * periods / 0.1 * t) ** 2)]

    run = ph.simulate(CART, None, None, 10.0, force, method=method, step=0.1)
    assert run.verdict == "failed"
    assert 2.0 < run.attrs["good_until"] < 3.0


def test_a_force_on_a_short_part_of_the_way_is_seen():
    """Long steps at constant speed leap over it; those of the companion are bounded."""

    def force(t, q, v):
        return [5 * ph.exp(-(((q[0] - 10.0) / 0.1) ** 2))]

    run = ph.simulate(CART, [0.0], [1.0], 20.0, force, samples=2)
    assert run.verdict == "failed"


def test_a_run_that_failed_is_good_until_some_time():
    """It ends where its force is no number; up to there it was as good as any."""

    def force(t, q, v):
        return [ph.sqrt(1.0 - t)]

    run = ph.simulate(CART, [0.0], [1.0], 2.0, force, step=0.05, method="rk4", accuracy=0.01)
    assert run.status == "failed"
    assert run.verdict == "failed"
    assert 0.5 < run.attrs["good_until"] <= 1.0


@pytest.mark.parametrize(("name", "method", "every"), [("arm-7", "rk4", 7), ("four-bar", "implicit-midpoint", 10)])
def test_joined_segments_have_the_bits_of_segments_one_by_one(name, method, every, monkeypatch):
    model, found = ph.load(name), []
    for joined in (True, False):
        if not joined:
            monkeypatch.setattr(RunLoop, "_may_join", lambda self, scenario: False)
        found.append(ph.simulate(model, duration=0.35, step=1e-3, method=method, every=every))
    assert np.any(found[0]["error_estimate"] > 0)
    np.testing.assert_array_equal(found[0]["error_estimate"], found[1]["error_estimate"])
    assert found[0].attrs["grade"] == found[1].attrs["grade"]


def test_a_companion_that_fails_is_followed_up_to_where_it_does(monkeypatch):
    """One block of all segments ends in an overflow; segment by segment the samples before it are compared."""
    asked = {"duration": 20.0, "step": 0.5, "method": "rk4", "every": 1}
    run = ph.simulate(ph.load("heavy-top"), **asked)
    assert run.verdict == "failed"
    assert "there its companion ended" in note_of(run, "error of the motion, later")
    monkeypatch.setattr(RunLoop, "_may_join", lambda self, scenario: False)
    again = ph.simulate(ph.load("heavy-top"), **asked)
    assert again.attrs["grade"] == run.attrs["grade"]
    np.testing.assert_array_equal(again["error_estimate"], run["error_estimate"])


@pytest.mark.parametrize("method", ["rk4", "rkmk4", "implicit-midpoint", "gauss2"])
@pytest.mark.parametrize("name", ["heavy-top", "four-bar"])
def test_a_coarse_companion_bounds_the_error_from_above(name, method):
    model, asked = ph.load(name), {"duration": 0.2, "method": method, "step": 2e-4, "every": 10}
    run = ph.simulate(model, **asked, accuracy=0.01)
    exact = ph.simulate(model, duration=0.2, tolerance=1e-13, samples=run["time"].values)
    true = float(np.max(Difference(model)(run, exact)))
    assert run.verdict == "good"
    assert note_of(run).startswith("at most")
    assert true < worst(run) < 40 * true + 1e-12
    sharp = ph.simulate(model, **asked, accuracy=0.01, verify=True)
    assert not note_of(sharp).startswith("at most")
    assert sharp.verdict == "good"


def test_the_finer_companion_decides_where_the_coarse_one_does_not_find_a_run_good():
    model, asked = ph.load("heavy-top"), {"duration": 1.0, "method": "rk4", "step": 2e-3, "every": 10}
    sharp = ph.simulate(model, **asked, verify=True)
    limit = 3 * worst(sharp)
    run = ph.simulate(model, **asked, accuracy=limit)
    assert run.verdict == "good"
    np.testing.assert_array_equal(run["error_estimate"], sharp["error_estimate"])
    assert ph.simulate(model, **asked, accuracy=worst(sharp) / 3).verdict == "loose"


@pytest.mark.parametrize("more", [{"every": 1}, {"tau": [0.0] * 3}, {"verify": True}])
def test_a_coarse_companion_is_taken_where_nothing_can_be_missed_alone(more):
    run = ph.simulate(ph.load("heavy-top"), duration=0.1, method="rk4", step=1e-4, **{"every": 10} | more)
    assert not note_of(run).startswith("at most")


@pytest.mark.parametrize(("step", "count"), [(1e-4, 1), (1e-3, 1), (3e-4, 2)])
def test_a_hopeless_coarse_companion_is_not_taken(step, count, monkeypatch):
    """Of a fast top: good by the coarse one, hopeless with it, and neither."""
    made, own = [], run_module.Companion
    monkeypatch.setattr(run_module, "Companion", lambda *given: made.append(own(*given)) or made[-1])
    run = ph.simulate(ph.load("heavy-top"), duration=1.2, method="rk4", step=step, every=10)
    assert len(made) == count
    assert made[-1].is_coarse == (step == 1e-4) == note_of(run).startswith("at most")


def test_the_error_of_a_turn_is_that_of_its_exponential():
    """One step of order four about an axis: what is left out of exp(iωh)."""
    h, speed = 0.01, 3.0
    z = 1j * h * speed
    left_out = abs(np.exp(z) - (1 + z + z**2 / 2 + z**3 / 6 + z**4 / 24))
    assert companion.turning_error(4, h, speed, h) == pytest.approx(left_out, rel=0.01)


def test_a_run_that_failed_is_compared_with_the_finer_companion():
    """The coarse one fails before the first sample, and would agree up to there: with nothing."""
    duration = 0.6745089757465185
    run = ph.simulate(ph.load("four-bar"), duration=duration, step=duration / 7, method="implicit-midpoint", every=7)
    assert run.attrs["status"] == "failed"
    assert run.verdict == "failed"
    assert not note_of(run).startswith("at most")
