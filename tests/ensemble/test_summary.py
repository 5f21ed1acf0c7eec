"""Summaries out of core are those of the whole arrays; estimates come with their error."""

import json
import re

import numpy as np
import pytest
from click.testing import CliRunner

import polhode as ph
from polhode.cli import main
from polhode.ensemble import summary as summaries
from polhode.ensemble.on_disk.verify import verify_study
from polhode.ensemble.summary import SURE, summary, wilson
from polhode.show.page.chart import round_numbers
from polhode.show.page.sections import number
from polhode.show.page.study import study_page
from study_cases import small


@pytest.fixture(scope="module")
def runs():
    return ph.sweep(small())


@pytest.mark.parametrize("small_room", [False, True])
def test_a_summary_in_parts_is_that_of_all(runs, monkeypatch, small_room):
    if small_room:
        monkeypatch.setattr(summaries, "TOGETHER", 17)
        monkeypatch.setattr(summaries, "ROOM", 8 * 200 * 3)  # three columns in a pass
    found = summary(runs)
    q = runs["q"].values
    for name, function in (("mean", np.nanmean), ("low", np.nanmin), ("high", np.nanmax)):
        assert np.allclose(found[f"q_{name}"], function(q, axis=0), rtol=0, atol=1e-14)
    assert np.allclose(found["q_deviation"], np.nanstd(q, axis=0, ddof=1), rtol=1e-12, atol=1e-15)
    assert np.allclose(found["q_quantile"], np.nanquantile(q, found["quantile"], axis=0), rtol=0, atol=1e-15)
    x = runs["highest"].values
    assert found["highest_error"].item() == pytest.approx(x.std(ddof=1) / np.sqrt(len(x)), rel=1e-12)
    for n, mean in zip(found["so_far"].values, found["highest_so_far"].values, strict=True):
        assert mean == pytest.approx(x[:n].mean(), rel=1e-12)
    assert found["so_far"].values.tolist() == [2, 4, 8, 16, 32, 64, 128, 200]


def test_failures_are_counted_with_their_bounds():
    model = ph.load("double-pendulum")
    given = {"bodies.upper.mass": ph.Normal(0.1, 0.1)}
    found = summary(ph.sweep(model, given, runs=256, seed=1, duration=0.01, step=0.001, method="rk4"))
    truth = 0.158655  # P(mass ≤ 0)
    assert found.attrs["failure_low"] < truth < found.attrs["failure_high"]
    assert found.attrs["failure_fraction"] == found.attrs["runs_failed"] / 256
    assert "mass of &#x27;upper&#x27;" in study_page(found)
    # bounds of 0 and 5 of 50, as tables have them
    assert wilson(0, 50) == pytest.approx((0.0, 0.07135), abs=1e-5)
    assert wilson(5, 50) == pytest.approx((0.04349, 0.21361), abs=1e-4)


def test_means_come_as_close_as_their_error_says():
    """A pendulum at rest at a random angle: the mean of its height is known."""
    model = ph.load("double-pendulum")
    outputs, measures = {"height": "-cos(q.hinge)"}, {"first": ph.Measure("max", "height")}
    options = {"duration": 1e-6, "step": 1e-6, "method": "rk4", "outputs": outputs, "measures": measures, "keep": ()}
    runs = ph.sweep(model, {"start.q.hinge": ph.Uniform(0, np.pi / 2)}, runs=40 * 64, **options)
    within = 0
    for k in range(40):
        found = summary(runs.isel(run=slice(64 * k, 64 * (k + 1)))[["first", "status"]])
        within += abs(found["first_mean"].item() + 2 / np.pi) < 1.96 * found["first_error"].item()
    assert 33 <= within <= 40  # 95 % of 40, ± 3 standard deviations


def test_histograms_count_the_runs_between_the_extremes(runs):
    found, x = summary(runs), runs["highest"].values
    counts = found["highest_histogram"].values
    assert counts.tolist() == np.histogram(x, len(counts))[0].tolist()
    text = study_page(found)
    assert "How measures are spread" in text
    assert text.count('class="narrow bar"') == sum(
        np.count_nonzero(found[f"{name}_histogram"].values) for name in found.attrs["measures"]
    )


def test_units_stand_on_the_page_and_on_fans(runs):
    text = study_page(summary(runs))
    assert "q, hinge [rad]" in text
    assert "v, hinge [rad/s]" in text
    labels = [axes.get_ylabel() for axes in ph.plot.fan(runs, "v").axes]
    assert labels[0] == "hinge (rad/s)"


def test_plus_minus_means_the_same_on_the_page_and_on_the_command_line(tmp_path):
    """The half width of 95 %, with the number of runs that the mean is over."""
    study = tmp_path / "s.yaml"
    study.write_text(
        "model: pendulum\nruns: 32\nduration: 0.2\nstep: 0.01\nmethod: rk4\n"
        "parameters: {start.q.hinge: {uniform: [0.1, 0.5]}}\nmeasures: {largest: {max: q.hinge}}\n",
        encoding="utf-8",
    )
    told = CliRunner().invoke(main, ["sweep", str(study), "--out", str(tmp_path / "s")])
    assert told.exit_code == 0, told.output
    x = ph.open_study(tmp_path / "s")["largest"].values
    half = SURE * x.std(ddof=1) / np.sqrt(32)
    assert f"{x.mean():.6g} ± {half:.2g} (95 %), the mean of 32 runs" in told.stdout
    page = (tmp_path / "s" / "report.html").read_text(encoding="utf-8")
    assert f'<td class="number">{number(half)}</td>' in page
    assert "largest [rad]" in page


def test_a_sweep_in_python_writes_the_page_as_the_command_does(tmp_path):
    given = {"start.q.hinge": ph.Uniform(0.1, 0.5)}
    options = {"runs": 8, "duration": 0.1, "step": 0.01, "measures": {"largest": ph.Measure("max", "q.hinge")}}
    ph.sweep(ph.load("pendulum"), given, out=tmp_path / "a", **options)
    found = summary(ph.open_study(tmp_path / "a"))
    assert (tmp_path / "a" / "report.html").read_text(encoding="utf-8") == study_page(found)
    assert (tmp_path / "a" / "summary.nc").exists()
    verify_study(tmp_path / "a")
    ph.sweep(ph.load("pendulum"), given, out=tmp_path / "b", report=False, **options)
    assert not (tmp_path / "b" / "report.html").exists()


def test_the_page_counts_verdicts(runs):
    found = summary(runs)
    counts = json.loads(found.attrs["verdicts"])
    assert counts["unchecked"] > 0
    text = study_page(found)
    known = found.attrs["runs_accompanied"]
    assert known > 0
    assert f"The errors of {known:,} runs were estimated" in text
    for verdict, count in counts.items():
        assert re.search(rf'class="badge {verdict} small".*?<td class="number">{count:,}</td>', text)
    assert "How good the runs are" not in study_page(found.assign_attrs(verdicts="{}"))


def test_summary_and_page_say_which_runs_were_accompanied(runs):
    found = summary(runs)
    told, text = json.loads(found.attrs["accompanied"]), study_page(found)
    here = np.flatnonzero(runs["accompanied"].values == 1)
    assert np.array_equal(here, np.flatnonzero(~np.isnan(runs["error_estimate"].values)))
    assert told["yes"]["runs"] == len(here)
    assert told["yes"]["first"] == here[:20].tolist()
    assert told["no"]["runs"] == runs.sizes["run"] - len(here)
    assert "accompanied by a run of other steps" in text
    assert f"run {', '.join(map(str, here[:12]))}" in text
    older = summary(runs.drop_vars("accompanied"))
    assert older.attrs["accompanied"] == "{}"
    assert "How good the runs are" in study_page(older)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.0, 1.0, [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (-3.2, 7.9, [-2.0, 0.0, 2.0, 4.0, 6.0]),
        (1e-9, 3e-9, [1e-9, 1.5e-9, 2e-9, 2.5e-9, 3e-9]),
        (5.0, 5.0, [5.0]),
    ],
)
def test_charts_have_round_numbers(low, high, expected):
    assert round_numbers(low, high) == pytest.approx(expected)


def test_powers_of_ten_are_whole():
    assert round_numbers(0.301, 4.301, whole=True) == [1.0, 2.0, 3.0, 4.0]
    assert round_numbers(0.0, 8.0, whole=True) == [0.0, 2.0, 4.0, 6.0, 8.0]
