"""A run that fails is a result: what there is up to there, the time, the state and the reason."""

import math
import os
import signal
import threading

import numpy as np
import pytest

import polhode as ph
from integration import TOP, TOP_START
from run_cases import CART, PENDULUM, SLIDER, final

SAMPLED_EVERY = 0.01
FIXED = {"step": SAMPLED_EVERY, "method": "rk4"}


def failed(run, *words):
    """The run failed for this reason, and is whole up to there."""
    assert run.attrs["status"] == "failed"
    assert run.attrs["verdict"] == "failed"
    for word in words:
        assert word in run.attrs["reason"], run.attrs["reason"]
    assert np.all(np.isfinite(run["q"]))
    assert np.all(np.isfinite(run["v"]))
    assert np.all(np.diff(run["time"]) > 0)
    told = float(run.attrs["reason"].partition("t = ")[2].partition(":")[0])
    assert run["time"].values[-1] == pytest.approx(told, rel=1e-8)
    return float(run["time"].values[-1])


def driven(tau, duration=4.0, start=(0.0, 1.0), **options):
    """The cart under a force; q̈ = τ/2."""
    return ph.simulate(CART, [start[0]], [start[1]], duration, tau, **{"samples": 401} | options)


@pytest.mark.parametrize("options", [{}, FIXED])
def test_a_motion_that_grows_without_bound_ends_when_its_numbers_do(options):
    """v = exp(30 t) passes 1e150 at t = 11.5."""
    run = driven(lambda t, q, v: [60 * v[0]], duration=40.0, samples=4001, **options)
    t = failed(run, "no longer finite, or beyond all bounds")
    assert t == pytest.approx(150 * math.log(10) / 30, rel=0.01)
    per_step = (30 * SAMPLED_EVERY) ** 5 / 120 * 1200 if options else 1e-5  # rk4's error of exp, 1200 times
    assert np.allclose(run["v"].values[:, 0], np.exp(30 * run["time"].values), rtol=per_step)


def test_equal_steps_too_long_for_a_stiff_spring_end_the_run():
    run = driven(lambda t, q, v: [-2e6 * q[0] - 200 * v[0]], **FIXED)
    t = failed(run, "no longer finite")
    assert t < 2.0
    assert run.attrs["steps_taken"] == round(t / SAMPLED_EVERY)


def test_a_singularity_in_finite_time_ends_the_run_before_it():
    """v̇ = v² is infinite at t = 1."""
    run = driven(lambda t, q, v: [2 * v[0] * v[0]])
    t = failed(run, "step became too small")
    assert t == pytest.approx(1.0, abs=1e-6)
    inner = run["time"].values < 0.995
    assert np.allclose(run["v"].values[inner, 0], 1 / (1 - run["time"].values[inner]), rtol=1e-6)


@pytest.mark.parametrize("options", [{}, FIXED, {"step": SAMPLED_EVERY, "method": "radau2"}])
def test_an_input_that_is_no_number_after_some_time_is_named(options):
    def fading(t, q, v):
        return [ph.sqrt(1 - t)]

    t = failed(driven(fading, **options), "tau 'fading' is not finite: [nan]")
    assert 1 - SAMPLED_EVERY <= t <= 1 + 1e-12


def test_an_input_that_is_no_number_at_some_places_is_named():
    def edge(t, q, v):
        return [ph.log(2 - q[0])]

    run = driven(edge, start=(0.0, 3.0))
    failed(run, "tau 'edge' is not finite")
    assert final(run)[0] == pytest.approx(2.0, abs=1e-6)


def test_a_force_of_the_model_that_is_no_number_is_named():
    def drag(t, q, v):
        return [-ph.sqrt(2 - q[0])]

    model = ph.Model("towed", CART.gravity, CART.bodies, CART.joints, forces=[ph.ForceFunction("drag", drag)])
    failed(ph.simulate(model, [0.0], [3.0], duration=2.0), "force 'drag' is not finite")
    gust = ph.Force("gust", "mass", force=lambda t: (0.0, 0.0, ph.sqrt(0.5 - t)))
    model = ph.Model("blown", CART.gravity, CART.bodies, CART.joints, forces=[gust])
    failed(ph.simulate(model, [0.0], [3.0], duration=2.0), "force of 'gust' is not finite", "t = 0.5")


@pytest.mark.filterwarnings("ignore::polhode.PolhodeWarning")
@pytest.mark.parametrize("options", [{}, FIXED])
def test_a_function_that_raises_on_the_way_ends_the_run_with_what_it_said(options):
    def limited(t, q, v):
        if t > 0.5:
            raise RuntimeError("no such time")
        return [1.0]

    run = driven(limited, **options)
    t = failed(run, "raised RuntimeError: no such time", "test_run_loop_failures.py", "in limited")
    assert 0.4 < t <= 0.5


@pytest.mark.filterwarnings("ignore::polhode.PolhodeWarning")
def test_a_division_by_zero_in_a_function_ends_the_run():
    def singular(t, q, v):
        return [1.0 / float(q[0] - 0.5) * 0.0 if q[0] == 0.5 else 0.0]

    run = driven(singular, step=0.125, method="euler", samples=None)
    failed(run, "ZeroDivisionError", "in singular")
    assert final(run)[0] == 0.5


# sampled controllers


@pytest.mark.parametrize("options", [{}, FIXED])
@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda t: [math.nan], "gave [nan], not 1 finite numbers"),
        (lambda t: [1.0, 2.0], "gave [1.0, 2.0], not 1 finite numbers"),
        (lambda t: None, "gave nan, not 1 finite numbers"),
        (lambda t: [1 / (t - t)], "raised ZeroDivisionError: float division by zero"),
    ],
)
def test_a_controller_that_fails_on_the_way_ends_the_run(answer, words, options):
    def steering(t, q, v):
        return [0.0] if t < 0.5 else answer(t)

    run = driven(ph.Sampled(steering, 0.1), **options)
    t = failed(run, "controller 'steering'", words)
    assert t == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("reset", "words"),
    [
        (lambda t, q, v: (q, [*v, 0.0]), "gave shapes (1,), (2,), not (1,), (1,)"),
        (lambda t, q, v: (q, v * math.nan), "not finite numbers"),
        (lambda t, q, v: q, "raised"),
    ],
)
def test_a_reset_that_fails_ends_the_run(reset, words):
    event = ph.Event("wall", lambda t, q, v: q[0] - 0.3, reset=reset)
    t = failed(driven(None, events=[event]), "reset of event 'wall'", words)
    assert t == pytest.approx(0.3)


def test_a_reset_beyond_a_stop_ends_the_run():
    """What was computed up to there is kept, and the reason names event and stop."""
    ball = ph.Body("ball", 1.0, (0.1, 0.1, 0.1))
    rail = ph.Joint("rail", "prismatic", "world", "ball", axis=(0, 0, 1))
    model = ph.Model("ball", bodies=[ball], joints=[rail], forces=[ph.ImpactStop("floor", "rail", lower=-1.0)])
    below = ph.Event("kick", lambda t, q, v: t - 0.3, reset=lambda t, q, v: ([-3.0, *q[1:]], v))
    run = ph.simulate(model, duration=2.0, events=[below])
    assert run.attrs["status"] == "failed"
    assert float(run.time[-1]) == pytest.approx(0.3)
    assert "reset of event 'kick', force 'floor': a coordinate beyond its stops" in run.attrs["reason"]


# Ctrl-C


@pytest.mark.parametrize("options", [{}, {"step": 1e-5, "method": "rk4"}])
def test_ctrl_c_in_the_progress_returns_what_there_is(options):
    def progress(part, t):
        if t > 0:
            raise KeyboardInterrupt

    run = driven(None, progress=progress, **options)
    assert run.attrs["status"] == "interrupted"
    assert "by its user, at t = " in run.attrs["reason"]
    assert 2 <= run.sizes["time"] < 401
    assert np.allclose(run["q"].values[:, 0], run["time"])


@pytest.mark.parametrize(
    "options", [{"step": 1e-7, "method": "rk4", "samples": 2, "max_steps": 1e16}, {"samples": 2, "max_steps": 1e16}]
)
def test_ctrl_c_while_compiled_code_runs_returns_the_state_there(options):
    """A row of many steps gives its user a chance before it ends."""
    ph.simulate(PENDULUM, [1.0], duration=1e-6, **options)  # compiled and kept
    end = threading.Timer(0.6, lambda: os.kill(os.getpid(), signal.SIGINT))
    run = ph.simulate(PENDULUM, [1.0], duration=1e8, progress=lambda part, t: end.start(), **options)
    end.join()
    t = run["time"].values
    assert run.attrs["status"] == "interrupted"
    assert run.sizes["time"] == 2 or (run.sizes["time"] == 1 and "step" not in options)  # the row that runs is lost
    assert t[-1] == pytest.approx(float(run.attrs["reason"].partition("t = ")[2]), rel=1e-5)
    assert abs(run["total_energy"].values[-1] / run["total_energy"].values[0] - 1) <= 1e-3


def test_ctrl_c_in_a_controller_returns_what_there_is():
    def steering(t, q, v):
        if t > 0.55:
            raise KeyboardInterrupt
        return [0.0]

    run = driven(ph.Sampled(steering, 0.1))
    assert run.attrs["status"] == "interrupted"
    assert run["time"].values[-1] == pytest.approx(0.6)


def test_ctrl_c_before_the_first_step_returns_the_start():
    def steering(t, q, v):
        raise KeyboardInterrupt

    run = driven(ph.Sampled(steering, 0.1))
    assert run.attrs["status"] == "interrupted"
    assert run["time"].values.tolist() == [0]
    assert final(run).tolist() == [0, 1]


@pytest.mark.filterwarnings("ignore::polhode.PolhodeWarning")
def test_ctrl_c_in_a_function_in_python_returns_what_there_is():
    def steering(t, q, v):
        if t > 0.5:
            raise KeyboardInterrupt
        return [0.0]

    run = driven(steering, **FIXED)
    assert run.attrs["status"] == "interrupted"
    assert 0.4 < run["time"].values[-1] <= 0.5


# what a failed run still is


def test_a_failed_run_is_a_whole_dataset(tmp_path):
    def fading(t, q, v):
        return [ph.sqrt(0.2 - t), 0.0, 0.0]

    run = ph.simulate(TOP, *TOP_START, duration=1.0, tau=fading)
    failed(run, "tau 'fading'")
    for name in ("position", "quaternion", "total_energy", "tau", "step_size"):
        assert run[name].sizes["time"] == run.sizes["time"]
    run.to_netcdf(tmp_path / "run.nc", engine="h5netcdf")
    assert (tmp_path / "run.nc").stat().st_size > 0


def test_verifying_a_run_that_fails_tells_the_failure_all_the_same():
    failed(driven(lambda t, q, v: [ph.sqrt(1 - t)], verify=True), "is not finite")


def test_a_machine_at_rest_is_no_failure():
    run = ph.simulate(PENDULUM, [0.0], duration=100.0)
    assert run.attrs["verdict"] == "good"
    assert np.all(run["q"] == 0)
    run = ph.simulate(SLIDER, [0.0], tau=[2 * 9.81], duration=100.0)
    assert run.attrs["status"] == "finished"
