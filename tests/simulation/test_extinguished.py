"""Oscillations that steps extinguish: those that last are an error, those that die by themselves are none."""

import numpy as np
import pytest

import polhode as ph


def spring(stiffness, damping, gravity=0.0):
    """One kilogram on a spring."""
    hinge = ph.Joint("z", "prismatic", "world", "mass", axis=(0, 0, 1), stiffness=stiffness, damping=damping)
    return ph.Model("spring", (0, 0, gravity), bodies=[ph.Body("mass", 1.0, (0.1, 0.1, 0.1))], joints=[hinge])


@pytest.mark.parametrize("method", ["radau2", "radau3"])
@pytest.mark.parametrize(("stiffness", "h"), [(1e8, 10.0), (1e4, 1.0)])
def test_a_fast_oscillation_that_lasts_is_missed(method, stiffness, h):
    x0, rate = 1e-6, stiffness**0.5
    run = ph.simulate(spring(stiffness, 1e-5), [x0], [0.0], 10 * h, method=method, step=h)
    size = x0 * rate / (1 + x0 * rate)  # of its velocity
    assert run.verdict != "good"
    assert run.attrs["good_until"] == pytest.approx(h)
    np.testing.assert_allclose(run["error_estimate"][1:], size, rtol=0.03)
    assert "extinguish oscillations that last" in run.attrs["grade"]


@pytest.mark.parametrize("damping", [10.0, 2e4, 2e6])
def test_what_dies_by_itself_may_be_extinguished(damping):
    """Within a step of 10 s nothing is left of the motion: so says the method, and so it is."""
    run = ph.simulate(spring(1e8, damping), [1e-10], [0.0], 100.0, method="radau3", step=10.0)
    assert run.verdict == "good"


def test_nothing_is_lost_of_what_was_not_excited():
    """At rest in its balance, and pushed so slowly that it follows."""
    rest = ph.simulate(spring(1e8, 1e-3, -10.0), [-1e-7], [0.0], 20.0, method="radau2", step=1.0)
    assert rest.verdict == "good"
    pushed = ph.simulate(
        spring(1e8, 1e-3), [0.0], [0.0], 10.0, lambda t, q, v: [t * t * ph.sin(t)], method="radau3", step=0.1
    )
    assert pushed.verdict == "good"


def test_a_jump_of_the_forces_begins_an_oscillation():
    table = ph.Table([0.0, 3.3], [[0.0], [100.0]], hold=True)
    run = ph.simulate(spring(1e8, 1e-3), [0.0], [0.0], 10.0, table, method="radau3", step=1.0)
    assert run.attrs["good_until"] == 4.0
    np.testing.assert_allclose(run["error_estimate"][4:], 1e-2, rtol=0.03)


def test_a_recorded_run_is_told_the_same(tmp_path):
    asked = spring(1e8, 1e-3), [1e-6], [0.0], 100.0
    recorded = ph.record(tmp_path, *asked, method="radau2", step=10.0)
    found = ph.simulate(*asked, method="radau2", step=10.0)
    np.testing.assert_array_equal(recorded["error_estimate"], found["error_estimate"])


def test_of_a_machine_of_slow_and_fast_motions_the_fast_one_is_lost():
    """A bob on a stiff leg swings; it also vibrates along the leg, until the first step."""
    bodies = [ph.Body("arm", 0.01, (1e-4, 1e-4, 1e-4)), ph.Body("bob", 1.0, (0.01, 0.01, 0.01))]
    leg = ph.Joint("leg", "prismatic", "arm", "bob", axis=(0, 0, 1), position=(0, 0, -1), stiffness=1e8, damping=1e-3)
    model = ph.Model("leg", bodies=bodies, joints=[ph.Joint("hinge", "revolute", "world", "arm", axis=(0, 1, 0)), leg])
    balance = -9.81 * np.cos(0.1) / 1e8
    lost = ph.simulate(model, [0.1, balance + 1e-7], [0.0, 0.0], 1.0, method="radau3", step=0.01)
    kept = ph.simulate(model, [0.1, balance], [0.0, 0.0], 1.0, method="radau3", step=0.01)
    assert float(np.max(lost["error_estimate"])) == pytest.approx(1e-3, rel=0.1)
    assert float(np.max(kept["error_estimate"])) < 1e-5
