"""The races of many runs compare the same motions, and their results can be printed and kept."""

from dataclasses import replace

import pytest

from polhode.bench import ensembles
from polhode.bench.report import report_from_json, report_json
from polhode.bench.speed import run_bench
from polhode.bench.tables import ensemble_table
from polhode.errors import PolhodeError


@pytest.fixture(scope="module")
def report():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ensembles, "RIVALS", (ensembles.Field("arm-7", 8, 20), ensembles.Field("free-body", 8, 20)))
        patch.setattr(ensembles, "THREADED", ensembles.Field("arm-7", 256, 20))
        yield run_bench(None, ["ensembles"], seconds=0.01)


def test_many_runs_are_raced_against_rollout_and_on_two_threads(report):
    rows = report.ensembles
    assert [(row.model, row.rival) for row in rows] == [
        ("arm-7", "MuJoCo rollout"), ("free-body", "MuJoCo rollout"), ("arm-7", "2 threads"),
    ]  # fmt: skip
    assert all(row.difference <= 1e-8 for row in rows)
    assert all(row.ratio == row.theirs.least / row.ours.least for row in rows[:2])
    assert rows[0].ratio > 1  # races here are short, and other tests run beside them
    assert report_from_json(report_json(report)) == report
    assert len(ensemble_table(report).rows) == 3


def test_states_that_differ_are_not_timed(monkeypatch):
    monkeypatch.setattr(ensembles, "RIVALS", (replace(ensembles.RIVALS[1], runs=8, steps=20),))
    monkeypatch.setattr(ensembles, "LARGEST", 0.0)
    with pytest.raises(PolhodeError, match="the last states differ"):
        run_bench(None, ["ensembles"], seconds=0.01)
