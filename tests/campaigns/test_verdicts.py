"""Verdicts against references: no run is called good that is wrong, and few are called worse that are right."""

import os

import pytest

from deceptions import DECEPTIONS
from polhode.result.verdict import GOOD, Grade
from verdicts import AMISS, campaign, with_beams, with_damped_joints, with_elements

SEEDS = range(4)
COUNT = int(os.environ.get("POLHODE_VERDICTS", "2000"))
"""Runs of the whole campaign; POLHODE_VERDICTS says another number."""


def check(report):
    """What is asked of verdicts."""
    print(report)
    assert not report.of("false good", "late"), report
    assert len(report.of("false alarm")) <= max(0.05 * len(report.sound), 1), report
    ratios = report.ratios
    assert ((ratios > 0.3) & (ratios < 30)).mean() >= 0.95, report


def test_some_random_runs_are_judged_rightly():
    report = campaign(7, 20, size=20, small=True)
    assert len(report.of("good", "told")) >= 16, report
    assert not report.of("false good", "late"), report


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS)
def test_thousands_of_random_runs_are_judged_rightly(seed):
    report = campaign(seed, COUNT // len(SEEDS))
    check(report)
    assert len(report.of("good", "told")) > 0.8 * len(report.cases), report
    assert len(report.of("unchecked")) < 0.05 * len(report.cases), report


@pytest.mark.long
@pytest.mark.parametrize(("draw", "size"), [(with_elements, 10), (with_beams, 12), (with_damped_joints, 10)])
@pytest.mark.parametrize("seed", range(2))
def test_runs_of_machines_with_force_elements_are_judged_rightly(draw, size, seed):
    """Stops, friction, locks, backlash, springs with corners, on trees and loops; soft beams; joints damped hard."""
    report = campaign(seed, COUNT // 8, size, draw=draw)
    assert not report.of("false good", "late"), report
    assert len(report.of("false alarm")) <= max(0.05 * len(report.sound), 1), report
    assert len(report.of("good", "told")) > 0.7 * len(report.cases), report


@pytest.mark.long
@pytest.mark.parametrize("name", DECEPTIONS)
@pytest.mark.filterwarnings("ignore::polhode.PolhodeWarning")
def test_no_deception_is_called_good(name):
    run, true = DECEPTIONS[name]()
    grade = Grade.of(run.attrs)
    line = next(check for check in grade.checks if check.name == "error of the motion")
    if true is None:
        assert grade.verdict != GOOD, grade
        return
    early = true[run["time"].values < grade.good_until]
    assert grade.verdict != GOOD or true.max() <= AMISS * line.threshold, f"{true.max():.2e}\n{grade}"
    assert not len(early) or early.max() <= AMISS * line.threshold, f"{early.max():.2e}\n{grade}"


def test_a_verdict_that_is_wrong_is_found(monkeypatch):
    """Were every estimate nothing, the campaign would tell."""
    monkeypatch.setattr("polhode.simulation.companion.FACTOR", 0.0)
    report = campaign(7, 6, size=10, small=True)
    assert report.of("false good", "late"), report
