"""Runs that fail are found by halving."""

import pytest

import polhode as ph
from polhode.ensemble.study import study
from polhode.ensemble.study_runner import failing_runs


def test_the_name_it_had_before_makes_the_same_runner():
    asked = study(ph.load("pendulum"), {"start.v.hinge": ph.Grid([0.0, 1.0])}, duration=0.1)
    with pytest.warns(DeprecationWarning, match=r"study.fleet\(\) is now ph.StudyRunner"):
        runner = asked.fleet()
    assert type(runner) is ph.StudyRunner
    assert runner.study is asked


@pytest.mark.parametrize("bad", [set(), {3}, {0, 6}, {2, 3, 4}, set(range(7))])
def test_the_runs_that_fail_by_themselves_are_found_with_their_reasons(bad):
    tried = []

    def attempt(first, last):
        tried.append((first, last))
        wrong = sorted(bad & set(range(first, last)))
        return ArithmeticError(f"run {wrong[0]}\nmore") if wrong else None

    found = failing_runs(attempt, 0, 7, ArithmeticError("all"))
    assert found == {k: f"ArithmeticError: run {k}" for k in bad}
    assert len(set(tried)) == len(tried)
