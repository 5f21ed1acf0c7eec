"""Oscillations that steps extinguish: those that last are an error, those that die by themselves are none."""

import numpy as np
import pytest

import polhode as ph
from polhode.simulation import companion
from polhode.simulation.extinguished import Extinguished


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


def test_an_oscillation_that_grows_is_missed_as_well():
    run = ph.simulate(spring(0.0, 0.0), [1e-6], [0.0], 1000.0, ph.PD(1e8, -10.0), method="radau3", step=10.0)
    assert run.verdict == "failed"
    assert np.all(np.isfinite(run["error_estimate"]))


BAR = ph.Section(axial=1e8, torsion=1e3, bending_y=1e2, bending_z=1e2, mass=1.0, inertia_y=1e-4, inertia_z=1e-4)


def bar(force=None, more=(), **parts):
    """A stiff bar of one element with hardly any damping, so that its energy is not judged; forces along it.

    more, parts  force elements, and other parts of the model
    """
    beam = ph.Beam("b", BAR, start=("world", (0, 0, 0)), end=(1, 0, 0), elements=1, damping=1e-12)
    pull = [ph.Force("pull", "b-1", force=force)] if force else []
    return ph.Model("bar", gravity=(0, 0, 0), beams=[beam], forces=[*pull, *more], **parts)


@pytest.mark.parametrize("tolerance", [1e-3, 1e-5])
def test_control_of_the_error_does_not_hide_what_is_lost(tolerance):
    """The tip rings along the bar with 1e-3 m/s and 7e-8 m: below the tolerance of the run and of its companion."""
    run = ph.simulate(bar(), v=[1e-3, 0, 0, 0, 0, 0], duration=0.02, tolerance=tolerance, samples=5)
    assert run.attrs["method"] == "radau"
    assert abs(run.v.values[1:, 0]).max() < 1e-4  # it is gone
    assert run.verdict != "good"
    assert float(run["error_estimate"].max()) == pytest.approx(1e-3, rel=0.1)


def test_a_jump_of_a_force_of_the_model_begins_an_oscillation():
    def pull(t):
        return ph.where(t < 0.1234, 0.0, 10.0), 0.0 * t, 0.0 * t

    run = ph.simulate(bar(pull), duration=0.5, tolerance=1e-4, samples=5)
    assert run.verdict != "good"
    assert float(run["error_estimate"].max()) == pytest.approx(10 / (1e8 * 0.5) ** 0.5, rel=0.1)  # F/√(k m)


def test_a_sweep_does_not_call_it_good():
    more = {"start.q.b-1.y": ph.Uniform(0.0, 1e-9)}
    found = ph.sweep(
        bar(), more, v=[1e-3, 0, 0, 0, 0, 0], runs=2, duration=0.02, tolerance=1e-5, times=5, accompanied=1
    )
    assert (found["verdict"] == 0).all()


RATE, UNTIL, PUSHED = 1e4, 0.0305, 1e-7
"""Of a spring that lets go of its mass: rad/s, s, m"""


def lets_go(t, q, v):
    return [ph.where(t < UNTIL, -(RATE**2) * q[0], 0.0)]


def let_go(samples=101, **options):
    """A run of the mass on that spring by radau, and by how much its velocities err."""
    mass = ph.Body("mass", 1.0, (0.1, 0.1, 0.1))
    model = ph.Model("mass", (0, 0, 0), [mass], [ph.Joint("z", "prismatic", "world", "mass", axis=(0, 0, 1))])
    run = ph.simulate(model, [PUSHED], [0.0], tau=lets_go, method="radau", samples=samples, **options)
    exact = -PUSHED * RATE * np.sin(RATE * np.minimum(run.time, UNTIL))
    return run, abs(run.v[:, 0] - exact).values


@pytest.mark.parametrize("tolerance", [1e-3, 1e-5, 1e-7])
def test_what_the_machine_ends_by_itself_is_not_lost_by_long_steps_after_that(tolerance):
    """Steps up to 0.0305 s resolve the oscillation of 1e-3 m/s; those of 0.01 s after it would not."""
    run, missed = let_go(duration=10.0, tolerance=tolerance)
    assert missed.max() < 1e-4
    assert missed.max() < run["error_estimate"].max() < 8.5e-4
    assert "extinguish" not in run.attrs["grade"]


def test_what_would_take_too_many_steps_to_resolve_counts_as_lost(monkeypatch):
    given = companion.work_of_steps
    monkeypatch.setattr(
        companion,
        "work_of_steps",
        lambda steps, other, first: given(steps, other, first) * (1e9 if other.at_most < 1 else 1),
    )
    run, _ = let_go(duration=10.0, tolerance=1e-5)
    assert float(run["error_estimate"].max()) == pytest.approx(1e-3, rel=0.01)
    assert "extinguish oscillations that last" in run.attrs["grade"]


def test_ctrl_c_while_it_is_resolved_counts_as_lost(monkeypatch):
    given = companion._first_samples

    def interrupted(blocks, count):
        given(blocks, count)
        raise KeyboardInterrupt

    monkeypatch.setattr(companion, "_first_samples", interrupted)
    run, _ = let_go(duration=10.0, tolerance=1e-5)
    assert "extinguish oscillations that last" in run.attrs["grade"]


def test_samples_up_to_where_the_machine_ends_it_are_compared_with_those_that_have_it(monkeypatch):
    """As if the machine ended it right before the sample where it is looked for: the samples before it missed it."""
    beside = ph.Joint("z", "prismatic", "world", "mass", axis=(0, 0, 1))
    stop = ph.JointStop("stop", "z", -1.0, 1.0, stiffness=10.0)
    model = bar(more=[stop], bodies=[ph.Body("mass", 1.0, (0.1, 0.1, 0.1))], joints=[beside])
    monkeypatch.setattr(Extinguished, "remains", lambda *given: False)
    v = [0.0, 1e-3, 0.0, 0.0, 0.0, 0.0, 0.0]
    run = ph.simulate(model, v=v, duration=0.0204, tolerance=1e-3, samples=5)
    rate = (1e8 / 0.5) ** 0.5
    missed = abs(run.v.sel(dof="b-1.speed_x")[1] - 1e-3 * np.cos(rate * run.time[1]))
    assert missed > 3e-4  # what this is about
    np.testing.assert_allclose(run["error_estimate"][1], missed, rtol=0.05)


def test_a_sample_is_found_where_what_a_step_recalls_is_no_guess_for_a_part_of_it():
    """Springs of functions are not in the matrices of the iteration: steps are as long as it allows."""
    run, _ = let_go(samples=10001, duration=10.0, tolerance=1e-5, verify=False)
    assert run.verdict == "unchecked"
    assert np.isfinite(run.v).all()
