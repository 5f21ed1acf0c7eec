"""Switches that steps pass in compiled code: as in Python, and exact where a contact is pulled open."""

import numpy as np
import pytest

import polhode as ph
from polhode.simulation.compiled_run import CompiledRun
from polhode.simulation.events.event_location import StepEvents
from polhode.simulation.events.switch_log import CHATTER, MOST_PASSED, PassedSwitch, SwitchLog
from polhode.simulation.events.switch_passage import next_part

BOB = ph.Body("bob", 1.0, (0.01, 0.01, 0.01), (0, 0, -0.5))


def bouncing(dissipation):
    """A pendulum between two stops."""
    hinge = ph.Joint("hinge", "revolute", "world", "bob", axis=(0, 1, 0))
    stop = ph.JointStop("stop", "hinge", -0.3, 0.2, stiffness=300.0, dissipation=dissipation)
    return ph.Model("bouncing", bodies=[BOB], joints=[hinge], forces=[stop])


@pytest.mark.parametrize("dissipation", [0.0, 0.5, 10.0])
def test_compiled_code_passes_the_switches_that_python_does(monkeypatch, dissipation):
    asked = {"v": [2.0], "duration": 2.0, "verify": False}
    compiled = ph.simulate(bouncing(dissipation), **asked)
    monkeypatch.setattr(CompiledRun, "passes_switches", False)
    plain = ph.simulate(bouncing(dissipation), **asked)
    assert len(plain.event_time) >= 4
    assert compiled.event_name.values.tolist() == plain.event_name.values.tolist()
    np.testing.assert_allclose(compiled.event_time, plain.event_time, rtol=0, atol=1e-7)
    np.testing.assert_allclose(compiled.q, plain.q, rtol=0, atol=1e-7)


def test_python_looks_for_few_switches(monkeypatch):
    """Of seventeen passages of `arm-7` at most the one or two that come back to their surface at once, by rounding."""
    looked = []

    class Counted(StepEvents):
        def __init__(self, *args):
            looked.append(args)
            super().__init__(*args)

    monkeypatch.setattr("polhode.simulation.run_loop.StepEvents", Counted)
    run = ph.simulate(ph.load("arm-7"), verify=False)
    assert len(run.event_time) == 9
    assert len(looked) <= 3


def test_a_contact_that_is_pulled_open_is_followed_to_the_tolerance():
    """Errors were up to 3e-7 where no step ended at the corner: the estimate sees some of them, others not."""
    model = ph.load("arm-7")
    exact = ph.simulate(model, verify=False, tolerance=1e-13)
    for k in range(4):
        run = ph.simulate(model, verify=False, tolerance=1e-9 * (1 + 1e-3 * k))
        scale = 1 + np.maximum.accumulate(abs(exact.v.values).max(axis=1))
        assert np.max(abs(run.v.values - exact.v.values).max(axis=1) / scale) < 2e-8


def test_a_sample_right_before_a_switch_has_the_state_at_it():
    run = ph.simulate(bouncing(0.0), v=[2.0], duration=2.0, verify=False)
    t = float(run.event_time[0])
    times = np.array([0.0, np.nextafter(t, 0.0), t + 0.01])
    again = ph.simulate(bouncing(0.0), v=[2.0], duration=t + 0.01, samples=times, verify=False)
    assert abs(float(again.q[1, 0]) - 0.2) < 1e-11
    assert abs(float(again.event_time[0]) - t) < 1e-12


def test_many_switches_of_one_surface_within_a_step_are_left_to_the_run():
    log = SwitchLog(0.0)
    for k in range(CHATTER):
        assert not log.chatters(3, 1e-6 * k, 1.0)
    assert not log.may_pass(PassedSwitch(1, 3, 2e-4, 1e-3, 1.0, True), 1.0)
    assert log.may_pass(PassedSwitch(1, 2, 2e-4, 1e-3, 1.0, True), 1.0)
    log.block = [PassedSwitch(1, 2, 1.0, 1e-9, 1.0, True)] * MOST_PASSED
    assert not log.may_pass(PassedSwitch(1, 7, 2.0, 1e-3, 1.0, True), 1e-3)


def test_the_next_part_lies_within_the_bracket():
    for f_low, f_high in ((-1.0, 1.0), (-1e-300, 1e300), (-1.0, np.nan), (0.0, 0.0)):
        assert 0.25 < next_part(0.25, 0.5, f_low, f_high, 0.5) < 0.5
