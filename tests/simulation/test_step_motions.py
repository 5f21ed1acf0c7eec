"""Samples under constraints by one polynomial a step."""

import numpy as np
import pytest

import polhode as ph
from polhode.simulation import run_loop
from polhode.simulation.within_steps import step_motions, step_rows
from polhode.simulation.within_steps.step_motions import LARGEST, StepMotions, WithinSteps


@pytest.mark.parametrize("tolerance", [1e-6, 1e-9])
@pytest.mark.parametrize("name", ["four-bar", "rolling-disk"])
def test_samples_are_those_of_shorter_steps(monkeypatch, name, tolerance):
    model, asked = ph.load(name), {"tolerance": tolerance, "verify": False, "duration": 2.0}
    found = ph.simulate(model, **asked)
    monkeypatch.setattr(step_motions, "LARGEST", -1.0)  # no polynomial is good enough
    shorter = ph.simulate(model, **asked)
    assert found.attrs["steps_taken"] == shorter.attrs["steps_taken"]
    assert not np.array_equal(found["v"], shorter["v"])
    for part in ("q", "v"):
        scale = tolerance * (1 + abs(shorter[part].values))
        assert np.max(abs(found[part].values - shorter[part].values) / scale) < 5
        assert np.array_equal(found[part][-1], shorter[part][-1])  # the end of a step


def test_samples_fulfil_the_constraints():
    run = ph.simulate(ph.load("four-bar"), tolerance=1e-4, verify=False)
    assert float(abs(run["constraint_residual"]).max()) < 1e-13


def test_blocks_do_not_change_a_bit(monkeypatch):
    model, asked = ph.load("four-bar"), {"verify": False, "duration": 2.0}
    whole = ph.simulate(model, **asked)
    monkeypatch.setattr(run_loop, "MOST_STATES", 37)
    monkeypatch.setattr(step_rows, "MOST_AT_ONCE", 5)
    parts = ph.simulate(model, **asked)
    for part in ("q", "v", "work") if "work" in whole else ("q", "v"):
        assert np.array_equal(whole[part], parts[part])


def motions(errors):
    """Rows of two steps, two rows each: motions tell 1, shorter steps 2, the states at the ends of steps 0."""
    rows = np.array([[0.0], [0.0], [1.0], [1.0]])
    within = WithinSteps(
        lambda rows: np.column_stack([rows, errors[: len(rows)]]),
        lambda motions, times: np.ones((len(times), 1)),
        lambda rows, times: np.full((len(times), 1), 2.0),
    )
    return StepMotions(rows, rows[:, 0], rows[:, 0] + 1, np.zeros((4, 1)), within)


def test_steps_whose_estimate_is_too_large_have_shorter_ones():
    which, times = np.array([0, 1, 2, 3]), np.array([0.5, 1.0, 1.5, 1.7])
    assert motions([LARGEST / 2, 2 * LARGEST]).at(which, times)[:, 0].tolist() == [1.0, 0.0, 2.0, 2.0]
    assert motions([np.nan, 0.0]).at(which, times)[:, 0].tolist() == [2.0, 0.0, 1.0, 1.0]


def test_nothing_is_computed_for_samples_at_the_ends_of_steps():
    found = motions([0.0, 0.0])
    assert found.at(np.array([0, 3]), np.array([1.0, 2.0]))[:, 0].tolist() == [0.0, 0.0]
    assert "_motions" not in vars(found)


def test_lanes_that_would_be_idle_find_the_motions_of_other_steps():
    rows, asked = np.arange(6.0)[:, None], []
    within = WithinSteps(
        lambda rows: [asked.append(rows[:, 0].tolist()), np.column_stack([rows, 0 * rows])][1],
        lambda motions, times: motions[:, :1],
        lambda rows, times: np.full((len(times), 1), np.nan),
        lanes=4,
    )
    found = StepMotions(rows, rows[:, 0], rows[:, 0] + 1, np.zeros((6, 1)), within)
    for k in (2, 0, 5, 4):
        assert found.at(np.array([k]), np.array([k + 0.5])).tolist() == [[k]]
    assert asked == [[0.0, 1.0, 2.0, 3.0], [4.0, 5.0]]


def test_work_is_kept_on_groups_too():
    """Samples and work of a bicycle pushed along, by the method in coordinates and by the one on the group."""
    push = lambda t, q, v: [0.1 * ph.sin(t), *[0.0] * (len(v) - 1)]
    runs = [
        ph.simulate(ph.load("bicycle"), duration=0.3, method=method, samples=40, tau=push, tolerance=1e-10)
        for method in ("dop853", "rkmk-dop853")
    ]
    for name in ("v", "work", "total_energy"):
        np.testing.assert_allclose(runs[0][name], runs[1][name], rtol=1e-8, atol=1e-8)
    assert all(run.attrs["verdict"] == "good" for run in runs)
