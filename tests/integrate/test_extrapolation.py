"""Euler's linearly implicit rule, extrapolated: weights, damping of joints, steps that are long beside it."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import polhode as ph
from polhode.integrate.extrapolation import COLUMNS, LANES, schedule, weights


def test_the_weights_leave_nothing_of_the_powers_of_the_step():
    """Σ w_j = 1, and Σ w_j j⁻ᵐ = 0 up to the order."""
    for columns in (COLUMNS, COLUMNS[1:]):
        found = weights(columns)
        assert sum(found.values()) == 1
        for m in range(1, len(columns)):
            assert sum(w * Fraction(1, j) ** m for j, w in found.items()) == 0


def test_every_column_goes_through_the_whole_step_once():
    table, lanes = schedule(), len(LANES)
    columns = [j for lane in LANES for j in lane]
    assert sorted(columns) == list(COLUMNS)
    assert sum(table.begins) == len(COLUMNS)
    assert sum(table.sizes) == pytest.approx(len(COLUMNS))
    for i, lane in enumerate(LANES):
        ends = [(t, w) for t, w in zip(table.times[i::lanes], table.weights[i::lanes], strict=True) if w]
        assert ends == [(1.0, float(weights(COLUMNS)[j])) for j in lane]


def wrist(damping):
    """A pendulum with a light part that its damping holds."""
    bodies = [ph.Body("arm", 1.0, (0.1, 0.1, 0.01), (0, 0, -0.5)), ph.Body("knob", 0.01, (1e-6, 1e-6, 1e-6))]
    joints = [
        ph.Joint("shoulder", "revolute", "world", "arm", axis=(0, 1, 0)),
        ph.Joint("wrist", "revolute", "arm", "knob", axis=(0, 1, 0), position=(0, 0, -1), damping=damping),
    ]
    return ph.Model("wrist", bodies=bodies, joints=joints, start=ph.Start(q=[1.0, 0.5], v=[0.0, 3.0], duration=2.0))


def test_joints_that_are_damped_hard_take_no_short_steps():
    """The knob comes to rest within 2 µs; explicit steps stay near that for good."""
    model = wrist(0.5)
    run = ph.simulate(model)
    assert run.attrs["method"] == "seulex"
    assert run.attrs["verdict"] == "good"
    assert int(run.attrs["steps_taken"]) < 150
    best = ph.simulate(model, method="radau", tolerance=1e-12, verify=False)
    assert np.max(abs(run.q.values - best.q.values)) < 1e-7
    explicit = ph.simulate(model, method="dop853", duration=0.01, verify=False)
    assert int(explicit.attrs["steps_taken"]) > 500


def test_the_method_is_told_where_damping_chooses_it():
    told = ph.simulate(wrist(0.5)).attrs["grade"]
    assert "damping: 'seulex' is the usual method" in told
    assert "'wrist'" in told


@pytest.mark.parametrize(
    ("damping", "options", "method"),
    [
        (0.0, {}, "dop853"),
        (1e-4, {}, "dop853"),
        (0.5, {"method": "dop853", "duration": 1e-4}, "dop853"),
        (0.5, {"step": 0.01}, "seulex"),
        (1e-4, {"step": 0.01}, "dop853"),
        (4e-4, {"step": 0.01}, "seulex"),
        (0.5, {"step": 5e-6, "duration": 1e-4}, "dop853"),
    ],
)
def test_the_usual_method_is_that_of_the_damping(damping, options, method):
    assert ph.simulate(wrist(damping), verify=False, **options).attrs["method"] == method


def test_equal_steps_keep_what_is_damped_hard():
    """Of 0.01 s each, where damping acts within 2 µs."""
    model = wrist(0.5)
    run = ph.simulate(model, step=0.01, verify=False)
    best = ph.simulate(model, tolerance=1e-11, verify=False)
    assert abs(run.q.values[-1, 0] - best.q.values[-1, 0]) < 1e-6


def test_constraints_hold_where_joints_are_damped_hard():
    """Samples lie within steps forwards: damping, followed backwards, would push."""
    model = ph.load("four-bar")
    joints = tuple(replace(joint, damping=0.2) for joint in model.joints)
    model = replace(model, joints=joints)
    found, best = (ph.simulate(model, method=x, duration=1.0, verify=False) for x in ("seulex", "radau"))
    assert found.attrs["status"] == best.attrs["status"] == "finished"
    np.testing.assert_allclose(found.q.values, best.q.values, rtol=0, atol=2e-7)


def test_derivatives_go_forward_and_back_through_its_steps():
    path, options = "joints.wrist.damping", {"method": "seulex", "duration": 0.3, "step": 0.01}
    model = wrist(2e-4)
    back = ph.gradient(model, lambda q, v: q[0] + q[1], [path], **options).derivatives[path]
    run = ph.simulate(model, sensitivities=[path], verify=False, **options)
    forward = float(run.sensitivity_q.values[-1].sum())
    ends = [float(ph.simulate(wrist(2e-4 + d), verify=False, **options).q.values[-1].sum()) for d in (-1e-7, 1e-7)]
    assert back == pytest.approx(forward, rel=1e-9)
    assert back == pytest.approx((ends[1] - ends[0]) / 2e-7, rel=1e-5)


def test_a_function_in_python_is_damped_as_well():
    """One that branches runs in Python, and accelerations by kernels of their own; with steps of 0.2 ms."""

    def push(t, q, v):
        return [0.1 if q[0] > -10 else 0.0, 0.0]

    with pytest.warns(ph.PolhodeWarning, match="Python runs in the loop"):
        run = ph.simulate(wrist(0.5), tau=push, duration=0.2, tolerance=1e-6, samples=3, verify=False)
    assert run.attrs["status"] == "finished"
    assert int(run.attrs["steps_taken"]) < 1100


def test_a_sweep_takes_the_steps_of_its_runs():
    """Lanes of several runs have the bits of one run alone."""
    model = wrist(0.5)
    options = {"duration": 0.5, "method": "seulex"}
    many = ph.sweep(model, {"start.q.shoulder": ph.Grid([0.4, 0.8, 1.2])}, times=3, **options)
    for k, q in enumerate((0.4, 0.8, 1.2)):
        one = ph.simulate(model, q=[q, 0.5], samples=3, verify=False, **options)
        np.testing.assert_array_equal(many.q.values[k], one.q.values)


def test_the_work_of_contacts_is_that_of_the_motion():
    """Columns of few steps go beyond a limit that the step does not reach: nothing is done there."""
    run = ph.simulate(ph.load("arm-7"), method="seulex", duration=1.0)
    assert run.attrs["verdict"] == "good", run.attrs["grade"]
    drift = run.total_energy.values - run.work.values
    assert np.ptp(drift) < 1e-6
