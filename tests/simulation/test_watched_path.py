"""Runs under constraints are looked at between their samples: same bits, and an end with its reason."""

import json

import numpy as np
import pytest
from scipy.integrate import quad

import polhode as ph
from polhode.check import singular_positions
from polhode.result.verdict import Grade
from polhode.simulation import step_state
from polhode.simulation.run import Run
from polhode.simulation.run_options import RunOptions
from polhode.simulation.scenario import Scenario
from polhode.simulation.within_steps import step_rows, watched_path

R, G = 0.3, 9.81


@pytest.mark.parametrize("name", ["n-four-bar", "four-bar", "rolling-disk"])
@pytest.mark.parametrize("options", [{}, {"samples": 5}, {"step": 0.01, "method": "rk4", "every": 50}])
def test_looks_do_not_change_the_bits_of_a_run(name, options):
    scenario = Scenario.of(ph.load(name), None, None, None, RunOptions(duration=2.0, **options))
    one, other = Run(scenario), Run(scenario)
    other.stepper.watched = None
    one.follow()
    other.follow()
    for x in ("time", "q", "v"):
        np.testing.assert_array_equal(one.arrays()[x], other.arrays()[x])


@pytest.mark.parametrize("samples", [3, 400])
def test_steps_that_end_at_corners_of_a_table_have_their_bits_too(monkeypatch, samples):
    """Steps are followed up to one corner after the other, in calls of a few."""
    times = np.linspace(0.0, 2.0, 21)
    tau = ph.Table(times, np.column_stack([np.sin(9 * times), 0 * times, 0 * times]))
    scenario = Scenario.of(ph.load("four-bar"), None, None, tau, RunOptions(duration=2.0, samples=samples))
    one, other = Run(scenario), Run(scenario)
    other.stepper.watched = None
    other.follow()
    monkeypatch.setattr(step_rows, "MOST_AT_ONCE", 5)
    monkeypatch.setattr(step_state, "at_once", lambda nv, runs=1: 11)
    one.follow()
    assert one.stepper.ending.accepted == other.stepper.ending.accepted > 100
    for x in ("time", "q", "v"):
        np.testing.assert_array_equal(one.arrays()[x], other.arrays()[x])


def toppled(lean, **options):
    half = np.pi / 4 - lean / 2
    q = [0, 0, R * np.cos(lean), np.cos(half), np.sin(half), 0, 0]
    return ph.simulate(ph.load("rolling-disk"), q, np.zeros(6), duration=1.0, **options)


@pytest.mark.parametrize("options", [{"tolerance": 1e-6}, {}, {"step": 1e-3, "method": "rk4"}, {"samples": 3}])
def test_a_disk_that_falls_flat_ends_the_run_with_that_reason(options):
    """ψ̇² = 8 g (cos ψ₀ − cos ψ) / (5 r) about its point of contact, until ψ = π/2."""
    lean = 0.4
    run = toppled(lean, **options)
    flat, _ = quad(
        lambda x: 2 * x / np.sqrt(1.6 * G / R * (np.cos(lean) - np.cos(lean + x * x))), 0, (np.pi / 2 - lean) ** 0.5
    )
    assert run.attrs["status"] == run.attrs["verdict"] == "failed"
    assert "constraint 'ground': what rolls has fallen flat" in run.attrs["reason"]
    assert run["time"].values[-1] == pytest.approx(flat, abs=2e-3)
    assert run.attrs["steps_taken"] + run.attrs["steps_refused"] < 200_000


def test_a_disk_that_nearly_falls_flat_rolls_on():
    lean, half = 0.4, np.pi / 4 - 0.2
    q = [0, 0, R * np.cos(lean), np.cos(half), np.sin(half), 0, 0]
    run = ph.simulate(ph.load("rolling-disk"), q, [-R * 0.1, 0, 0, 0, 0, 0.1], duration=1.0, samples=50, verify=False)
    assert run.attrs["status"] == "finished"


@pytest.mark.parametrize(("policy", "step"), [("ggl", 0.01), ("index-3", 0.001)])
def test_a_policy_that_cannot_pass_a_singular_position_says_so(policy, step):
    run = ph.simulate(ph.load("n-four-bar"), duration=2.0, constraints=policy, step=step)
    assert run.attrs["status"] == "failed"
    reason = run.attrs["reason"]
    assert "a singular position of the constraints" in reason
    assert "'loop0.x', 'loop1.x' lose rank" in reason
    assert f"constraints='{policy}' cannot pass it, constraints='project' can" in reason


def test_a_resumed_run_tells_the_singular_positions_before_and_after(tmp_path):
    model, options = ph.load("n-four-bar"), {"duration": 2.0, "step": 1e-3, "method": "rk4", "verify": False}
    whole = ph.simulate(model, **options)

    def stop(part, time, steps):
        if time > 0.9:
            raise KeyboardInterrupt

    ph.record(tmp_path, model, progress=stop, **options)
    resumed = ph.record(tmp_path, model, resume=True, **options)
    assert resumed.attrs["status"] == "finished"
    assert len(json.loads(resumed.attrs["singular_positions"])) == 2
    assert resumed.attrs["singular_positions"] == whole.attrs["singular_positions"]


def test_a_run_whose_looks_are_spent_says_so(monkeypatch):
    """Few samples of a long run, and next to no looks between them."""
    options = {"duration": 2.0, "samples": 3, "verify": False}
    for module, name, value in ((singular_positions, "LOOKS", 0), (watched_path, "ALLOWED", (0, 0))):
        monkeypatch.setattr(module, name, value)
    run = ph.simulate(ph.load("n-four-bar"), **options)
    (found,) = [check for check in Grade.of(run.attrs).checks if check.name == "intervals not looked into"]
    assert found.value == 2
    assert found.verdict == "note"


@pytest.mark.parametrize("method", ["dop853", "dopri54"])
def test_steps_that_are_handed_back_between_two_samples_are_looked_at_too(monkeypatch, method):
    """Compiled code hands step states back after some steps, so that Ctrl-C is seen: long before the second sample."""
    options = {"duration": 4.0, "samples": 2, "tolerance": 1e-9, "verify": False, "method": method}
    whole = ph.simulate(ph.load("n-four-bar"), **options)
    monkeypatch.setattr(step_state, "at_once", lambda nv, runs=1: 7)
    parts = ph.simulate(ph.load("n-four-bar"), **options)
    assert whole.attrs["steps_taken"] == parts.attrs["steps_taken"] > 30
    found, again = ([x["time"] for x in json.loads(run.attrs["singular_positions"])] for run in (whole, parts))
    assert len(found) == 4
    assert again == pytest.approx(found, abs=1e-4)
    for name in ("q", "v"):
        np.testing.assert_array_equal(whole[name], parts[name])
