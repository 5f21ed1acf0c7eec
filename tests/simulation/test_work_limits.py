"""Work without bound is refused before it begins, by its count and the limit; limits can be raised."""

import numpy as np
import pytest

import polhode as ph
from polhode.simulation import step_state

TOP = ph.load("heavy-top")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"step": 1e-300, "method": "rk4"}, "2e+300 steps; expected at most 1e+09"),
        ({"step": 1e-12, "method": "rk4"}, "2e+12 steps"),
        ({"step": 5e-324, "duration": 1e300, "method": "rk4"}, "inf steps"),
        ({"samples": 10**12}, "1e+12 samples, 424 TB; expected at most 1.074 GB"),
        ({"samples": 10**40}, "1e+40 samples"),
        ({"step": 1e-8, "every": 1, "method": "rk4"}, "2e+08 samples"),
        ({"tau": ph.Sampled(lambda t, q, v: [0.0] * 3, 1e-300)}, "2e+300 steps"),
        ({"tau": ph.Sampled(lambda t, q, v: [0.0] * 3, 1e-7)}, "2e+07 calls of a controller"),
    ],
)
def test_a_run_without_bound_is_refused_with_its_counts(options, words, tmp_path):
    for call in (ph.simulate, lambda *a, **k: ph.record(tmp_path, *a, **{"max_bytes": 2**30, **k})):
        with pytest.raises(ph.InputError) as told:
            call(TOP, **{"duration": 2.0, **options})
        assert words in str(told.value)
        assert "max_steps=" in str(told.value) or "max_bytes=" in str(told.value)
    assert not list(tmp_path.iterdir())


def test_limits_can_be_raised_and_lowered():
    asked = {"duration": 0.1, "step": 1e-3, "method": "rk4"}
    with pytest.raises(ph.InputError, match=r"100 steps; expected at most 50.\n.*max_steps=1e2"):
        ph.simulate(TOP, **asked, max_steps=50)
    assert ph.simulate(TOP, **asked, max_steps=100).attrs["status"] == "finished"
    with pytest.raises(ph.InputError, match="max_bytes="):
        ph.simulate(TOP, duration=0.1, samples=1000, max_bytes=1000)


def test_controlled_steps_end_at_their_limit():
    run = ph.simulate(TOP, duration=1e4, max_steps=1e5)
    assert run.attrs["status"] == "failed"
    assert "max_steps=100000 allows no more" in run.attrs["reason"]
    assert 0 < run["time"].values[-1] < 1e4


@pytest.mark.parametrize("rate", [1e10, 1e30])
def test_a_pace_that_never_arrives_is_told_early(rate):
    run = ph.simulate(TOP, v=(0, rate / 2, rate), duration=10.0)
    assert run.attrs["status"] == "failed"
    assert run.attrs["steps_taken"] < 1e6
    assert "allows no more" in run.attrs["reason"] or "too small" in run.attrs["reason"]


def test_rows_that_are_handed_back_early_change_no_bit(monkeypatch):

    whole = ph.simulate(TOP, duration=1.0, samples=5)
    monkeypatch.setattr(step_state, "at_once", lambda nv, runs=1: 3)
    parts = ph.simulate(TOP, duration=1.0, samples=5)
    assert np.array_equal(whole["q"], parts["q"])
    assert whole.attrs["steps_taken"] == parts.attrs["steps_taken"]
