"""Companions that are begun while the run goes on: the same results, and nothing left behind."""

import threading

import numpy as np
import pytest

import polhode as ph
from polhode.simulation import companion, run as run_module
from polhode.simulation.companion import CompanionBeside
from polhode.simulation.run_loop import RunLoop

MODELS = ("heavy-top", "double-pendulum", "arm-7", "four-bar", "closed-chain", "bicycle")


@pytest.fixture
def eager(monkeypatch):
    """Companions are begun beside all runs that allow it, on any machine; how many were."""
    begun = []
    monkeypatch.setattr(companion, "processors", lambda: 2)
    monkeypatch.setattr(run_module, "WORTH_A_THREAD", -1.0)
    monkeypatch.setattr(run_module, "CompanionBeside", lambda *a: begun.append(CompanionBeside(*a)) or begun[-1])
    monkeypatch.setattr(run_module.CompanionBeside, "serves", CompanionBeside.serves, raising=False)
    return begun


@pytest.mark.parametrize("name", MODELS)
def test_results_are_those_of_a_companion_that_comes_after(name, eager, monkeypatch):
    model = ph.load(name)
    beside = ph.simulate(model, samples=201)
    assert len(eager) == 1
    monkeypatch.setattr(companion, "processors", lambda: 1)
    after = ph.simulate(model, samples=201)
    assert len(eager) == 1
    for each in after.variables:
        np.testing.assert_array_equal(beside[each].values, after[each].values)
    assert beside.attrs["grade"] == after.attrs["grade"]


@pytest.mark.parametrize("name", MODELS[:3])
def test_runs_that_end_early_leave_no_thread(name, eager, monkeypatch):
    model = ph.load(name)
    beside = ph.simulate(model, duration=1e4, samples=11, max_steps=200)
    monkeypatch.setattr(companion, "processors", lambda: 1)
    after = ph.simulate(model, duration=1e4, samples=11, max_steps=200)
    assert beside.status == after.status == "failed"
    assert beside.reason == after.reason
    assert eager
    assert not any(one.blocks._thread.is_alive() for one in eager)


def pushed(t, q, v):
    return [ph.sin(t)]


@pytest.mark.parametrize(
    "options",
    [
        {"verify": False},
        {"method": "rk4", "step": 1e-2},
        {"tau": pushed},
        {"tolerance": 5e-13},
        {"events": [ph.Event("low", lambda t, q, v: q[0] + 0.1)]},
        {"method": "cvode"},
    ],
)
def test_runs_whose_companions_must_wait(options, eager):
    """Of user functions, of equal steps, by other methods: as before."""
    ph.simulate(ph.load("pendulum"), duration=1.0, **options)
    assert not eager


def test_other_threads_begin_none(eager):
    found = []
    thread = threading.Thread(target=lambda: found.append(ph.simulate(ph.load("pendulum"))))
    thread.start()
    thread.join()
    assert found[0].verdict == "good"
    assert not eager


def test_what_is_short_is_not_worth_a_thread(eager, monkeypatch):
    monkeypatch.setattr(run_module, "WORTH_A_THREAD", 3600.0)
    ph.simulate(ph.load("pendulum"))
    assert not eager


def test_a_fault_of_the_companion_is_told_and_its_thread_ends(eager, monkeypatch):
    def broken(self, *given):
        if self._is_companion:
            raise RuntimeError("no companion")
        yield from given_controlled(self, *given)

    given_controlled = RunLoop._controlled
    monkeypatch.setattr(RunLoop, "_controlled", broken)
    with pytest.raises(RuntimeError, match="no companion"):
        ph.simulate(ph.load("pendulum"))
    assert eager
    assert not eager[0].blocks._thread.is_alive()


def test_ctrl_c_ends_the_run_and_what_is_beside_it(eager, monkeypatch):
    given_controlled = RunLoop._controlled

    def interrupted(self, *given):
        for k, block in enumerate(given_controlled(self, *given)):
            yield block
            if k and not self._is_companion:
                raise KeyboardInterrupt

    monkeypatch.setattr(RunLoop, "_controlled", interrupted)
    run = ph.simulate(ph.load("heavy-top"))
    assert run.status == "interrupted"
    assert run.verdict == "unchecked"
    assert eager
    assert not eager[0].blocks._thread.is_alive()


def test_a_companion_of_too_much_work_is_followed_in_part(eager, monkeypatch):
    """As much of it is compared as of one that comes after the run."""
    monkeypatch.setattr(companion, "WORK", 2e5)
    beside = ph.simulate(ph.load("heavy-top"))
    monkeypatch.setattr(companion, "processors", lambda: 1)
    after = ph.simulate(ph.load("heavy-top"))
    assert len(eager) == 1
    assert 0 < np.isfinite(after.error_estimate).sum() < after.sizes["time"]
    np.testing.assert_array_equal(beside.error_estimate, after.error_estimate)


def test_recorded_runs_are_accompanied_too(eager, monkeypatch, tmp_path):
    beside = ph.record(tmp_path / "a", ph.load("heavy-top"))
    monkeypatch.setattr(companion, "processors", lambda: 1)
    after = ph.record(tmp_path / "b", ph.load("heavy-top"))
    assert len(eager) == 1
    assert beside.attrs["grade"] == after.attrs["grade"]
    np.testing.assert_array_equal(beside.error_estimate, after.error_estimate)
