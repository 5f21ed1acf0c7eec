"""docs/performance.md: its numbers are those of benchmarks/speed.json (that they are up to date: test_generated.py)."""

import copy
import json

import pytest

import polhode as ph
import speed_parts


@pytest.fixture(scope="module")
def measured():
    return [json.loads(path.read_text(encoding="utf-8")) for path in (speed_parts.SPEED, speed_parts.SWEEP)]


@pytest.fixture(scope="module")
def text():
    return speed_parts.PAGE.read_text(encoding="utf-8")


def test_another_measurement_is_another_page(measured, text):
    speed, sweep = copy.deepcopy(measured)
    speed["date"] = "2031-01-02"
    (row,) = speed_parts.chosen(speed["rows"], model="arm-7", quantity="forward", states="one", peer="Pinocchio")
    row["ratio"], row["ours"]["least"] = 77.4, 4.56e-8
    sweep["double steps/s, last states only"] = 3.14e10
    sweep["date"] = "2031-01-03"
    made = speed_parts.page(text, speed, sweep)
    first = next(line for line in made.splitlines() if line.startswith("| one call of"))
    assert "46 ns from Python" in first
    assert "and 77 times as fast" in first
    assert "2031-01-02" in first
    assert "| 3.1·10¹⁰ steps" in made
    assert "2031-01-03 |" in made


@pytest.mark.parametrize("part", ["rows", "simulations", "loops", "ensembles"])
def test_a_measurement_that_is_missing_is_named(measured, text, part):
    speed = {**measured[0], part: []}
    with pytest.raises(LookupError, match=r"no row has .*\n.*polhode bench --out benchmarks"):
        speed_parts.page(text, speed, measured[1])


def test_first_runs_are_told_where_they_were_measured(measured, text):
    runs = [{"model": "pendulum", "cold": 0.59}, {"model": "stewart-platform", "cold": 3.41}]
    made = speed_parts.page(text, {**measured[0], "first_runs": runs}, measured[1])
    assert "pendulum 0.59 s, Stewart platform 3.4 s (wall clock" in made
    assert "**First runs**" not in speed_parts.page(text, {**measured[0], "first_runs": []}, measured[1])


def test_a_page_without_its_marks_is_refused(measured, text):
    with pytest.raises(AssertionError, match="the marks"):
        speed_parts.page(text.replace("<!-- speed: slow", "<!-- "), *measured)


def test_the_paper_tells_when_its_speeds_were_measured(measured):
    text = speed_parts.PAPER.read_text(encoding="utf-8")
    speed = {**measured[0], "date": "2031-01-02", "versions": {"pinocchio": "5.6.7"}}
    assert "relative to Pinocchio 5.6 (wheels" in speed_parts.paper(text, speed)
    assert "2031-01-02; above 1" in speed_parts.paper(text, speed)
    with pytest.raises(AssertionError, match="caption"):
        speed_parts.paper("no figure", speed)


def test_the_paper_counts_what_there_is():
    text = speed_parts.PAPER.read_text(encoding="utf-8")
    assert f"by {len(ph.methods)} methods of integration" in text
    assert "all 329 numbered equations" in text


@pytest.mark.parametrize(
    ("value", "told"),
    [(7.48, "7.5"), (1684.0, "1700"), (99.6, "100"), (9.96, "10"), (0.864, "0.86"), (0.0461, "0.046"), (57.1, "57")],
)
def test_two_figures(value, told):
    assert speed_parts.figures(value) == told


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (6e-4, "0.6 ms"),
        (1.66e-7, "0.17 µs"),
        (1.8e-8, "18 ns"),
        (0.0085, "8.5 ms"),
        (0.13, "0.13 s"),
        (2e-11, "0.02 ns"),
    ],
)
def test_durations(seconds, told):
    assert speed_parts.duration(seconds) == told
