"""Steps that end next to a singular position are taken back; a motion that is lost there, or no state, ends its run."""

import json

import numpy as np
import pytest

import polhode as ph
from polhode.integrate.adaptive import Controlled
from polhode.integrate.method import MotionState
from polhode.scalar import Vec, flat
from polhode.simulation import step_state
from polhode.simulation.run_loop import RunLoop

FLAT = 0.71435552929
"""When the rods of `n-four-bar-2` lie flat, s: `four_bars_lie_flat` in tests/check/test_singular_positions.py."""


def drift(run):
    """The largest change of the energy, in parts of the largest kinetic energy."""
    kinetic, potential = run["kinetic_energy"].values, run["potential_energy"].values
    return np.max(abs(kinetic + potential - kinetic[0] - potential[0])) / np.max(kinetic)


def test_a_step_is_taken_back_where_a_row_that_had_enough_left_has_not():
    """Not where it had too little before, nor where it always depends on others."""
    unit = np.sqrt(step_state.ROUNDING / 1e-9)
    tried = Controlled(True, 0.5, Vec([1.0]), Vec([3.0]), 0.1, 0.2, MotionState(Vec([1.0]), Vec([3.0])))

    def rows(*left):
        return step_state._landed(lambda t, q, v: (q, v, Vec([unit * x for x in left])), tried, 1e-9)[1:]

    _, far = rows(100.0, 6.0, 4.0, 0.0)
    near, _ = rows(100.0, 0.4, 0.4, 0.0)
    assert (far, near) == (2.0, 1.0)
    near, _ = rows(100.0, 0.6, 0.4, 0.0)
    assert near == far
    taken_back = step_state._taken_back(tried, True, 0.25, 0.25)
    assert (taken_back.accepted, taken_back.t, taken_back.h) == (False, 0.25, 0.05)


def test_a_step_that_ends_next_to_a_singular_position_is_taken_back():
    """The 47th step of ten four-bars would end 5e-6 rad before they lie flat: from there their velocity was lost."""
    run = ph.simulate(ph.load("n-four-bar-10"))
    assert (run.attrs["status"], run.attrs["verdict"]) == ("finished", "good")
    assert {x["kind"] for x in json.loads(run.attrs["singular_positions"])} == {"straight"}
    assert drift(run) < 1e-7
    assert run.attrs["steps_taken"] < 150


def test_a_step_in_a_sweep_is_taken_back_too():
    """The first of these runs is the one above."""
    drawn = {"bodies.rod0.mass": ph.Grid([1.0, 1.1])}
    found = ph.sweep(ph.load("n-four-bar-10"), drawn, duration=6.0, tolerance=1e-9)
    alone = ph.simulate(ph.load("n-four-bar-10"), duration=6.0, tolerance=1e-11, verify=False)
    assert np.max(found["energy_drift"].values) < 1e-7
    np.testing.assert_allclose(found["q_end"].values[0], alone["q"].values[-1], atol=1e-5)


def test_a_motion_whose_energy_jumps_at_a_singular_position_ends_the_run():
    """Equal steps, of which one ends where the rods lie flat but for 1e-8 s: they are not taken back."""
    step = (FLAT - 1e-8) / 200
    run = ph.simulate(ph.load("n-four-bar-2"), duration=400 * step, step=step, method="rk4", verify=False)
    assert run.attrs["status"] == "failed"
    assert run.attrs["reason"].startswith(
        f"at t = {run['time'].values[-1]:.9g}: the energy jumped at a singular position"
    )
    assert run["time"].values[-1] == pytest.approx(FLAT, abs=2 * step)
    assert drift(run) < 1e-6


@pytest.mark.parametrize("name", ["four-bar", "arm-7"])
def test_a_sample_that_is_no_state_ends_the_run(monkeypatch, name):
    whole = RunLoop._run

    def run_with_one(self, table, settings):
        states = whole(self, table, settings)
        states[settings[0][: len(states)] >= 0.5, 0] = 1e200
        return states

    monkeypatch.setattr(RunLoop, "_run", run_with_one)
    run = ph.simulate(ph.load(name), duration=1.0, verify=False)
    assert run.attrs["status"] == "failed"
    assert "the state is no longer finite, or beyond all bounds" in run.attrs["reason"]
    assert 0.4 < run["time"].values[-1] <= 0.5
    assert np.max(abs(run["q"].values)) < 1e3


@pytest.mark.parametrize("value", [1e200, np.nan])
def test_a_step_state_whose_sample_is_no_state_ends_before_its_step(monkeypatch, value):
    before = MotionState(Vec([1.0]), Vec([2.0]))
    none, work = Vec([]), Vec([0.5])
    s = step_state.AdaptiveStepState(
        0.3, step_state.GOING, Vec([3.0]), Vec([4.0]), 0.1, 1.0, 7.0, 0.0, 0.1, 0.1, none, none, 0.2, 0.1, before,
        work, Vec([0.25]), none, none,
    )  # fmt: skip
    monkeypatch.setattr(step_state, "controlled_steps", lambda setup, like, packed, *more: packed)
    monkeypatch.setattr(step_state, "state_at", lambda *given: Vec([value, 0.0, 0.0]))
    setup = step_state.Setup(None, None)
    found, _ = step_state.advance_adaptive(setup, s, Vec(flat(s)), 0.25, 1e-9, 1.0, 1.0, 5)
    ended = s._replace(t=0.2, status=step_state.NOT_FINITE, q=before.q, v=before.v, work=s.work_before)
    assert found == Vec(flat(ended))
    monkeypatch.setattr(step_state, "state_at", lambda *given: Vec([1.0, 0.0, 0.0]))
    assert step_state.advance_adaptive(setup, s, Vec(flat(s)), 0.25, 1e-9, 1.0, 1.0, 5)[0] == Vec(flat(s))
