"""Hostile arguments and names: each call returns, or raises an error of ours, soon and in bounded memory."""

import pytest

from harness import run
from hostile_calls import CALLS, attempt, cases


def test_some_hostile_calls_do_no_harm():
    report = run([case for case in cases(13, 100) if case[0] != "names"], attempt)
    assert report.total > 80
    assert not report.failures, report


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_thousands_of_hostile_calls_do_no_harm(seed):
    report = run(cases(seed, 1000), attempt)
    print(report)
    assert report.total == 1000
    assert report.counts["refused"] > 300
    assert not report.failures, report


@pytest.mark.parametrize("kind", list(CALLS))
def test_every_call_of_the_campaign_works_as_it_stands(kind, tmp_path):
    assert attempt(kind, [], tmp_path) == "returned"
