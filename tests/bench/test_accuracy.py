"""The accuracy page: its numbers are within their bars, and it says so where they are not."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import polhode as ph
from polhode.bench import accuracy, problems
from polhode.bench.problems import PROBLEMS, Found, Number
from polhode.cli import main

QUICK = {"free-symmetric", "heavy-top", "steady-cone", "A01", "A04", "double-pendulum", "puma-560", "acrobot"}
"""What takes a second; the digits of the others are also tested one by one where their subject is."""


@pytest.mark.parametrize(
    "key", [p.key if p.key in QUICK else pytest.param(p.key, marks=pytest.mark.long) for p in PROBLEMS]
)
def test_every_problem_is_within_its_bar(key):
    (solved,) = accuracy.solve([key])
    assert solved.found.numbers
    assert solved.good, f"{solved.worst:.2e} above {solved.problem.bar:g}"
    assert solved.found.seconds > 0


def test_the_page_that_is_kept_has_every_problem_within_its_bar():
    text = (Path(__file__).parents[2] / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    lines = text.splitlines()
    for problem in PROBLEMS:
        (line,) = [x for x in lines if x.startswith(f"| {problem.title} | {problem.origin} |")]
        assert "| yes |" in line
        assert f"## {problem.title}" in lines


def wrong():
    return Found([Number("x", "1.5", 1.5), Number("y", "2.0", 2.1)], "a wrong number", 1.0)


def test_a_number_that_is_off_is_told(monkeypatch, tmp_path):
    acrobot = next(p for p in PROBLEMS if p.key == "acrobot")
    monkeypatch.setattr(accuracy, "PROBLEMS", (acrobot._replace(solve=wrong),))
    done = CliRunner().invoke(main, ["bench", "--accuracy", "--out", str(tmp_path)])
    assert done.exit_code == 1
    assert "NO" in done.output
    assert "2.1" in done.output
    text = (tmp_path / "benchmarks.md").read_text(encoding="utf-8")
    assert "| y | 2.0 | 2.1 | 1.0e-01 |" in text
    again = CliRunner().invoke(main, ["bench", "--accuracy", "--out", str(tmp_path)])
    assert again.exit_code != 0


def test_numbers_that_are_no_numbers_are_not_good():
    found = Found([Number("x", "1.5", float("nan")), Number("y", "2.0", 2.0)], "", 1.0)
    assert not accuracy.Solved(PROBLEMS[0], found).good


def test_json_has_all_digits():
    done = CliRunner().invoke(main, ["bench", "--problem", "acrobot", "--json"])
    (found,) = json.loads(done.output)["problems"]
    assert found["within"] is True
    assert {n["quantity"] for n in found["numbers"]} >= {"H11", "g2"}


def test_unknown_problems_are_refused():
    with pytest.raises(ph.PolhodeError, match="no such problem"):
        accuracy.solve(["A99"])


def test_the_table_of_forty_windows_is_that_of_two_for_two():
    """The closed form against the printed digits."""
    rows = problems.published("n_four_bar")
    closed = problems._row_of_windows(2, problems.times_of(rows))
    for row, ours in zip(rows, closed, strict=True):
        for name in ("x", "y", "vx", "vy"):
            assert float(ours[name]) == pytest.approx(float(row[name]), abs=1e-10)
