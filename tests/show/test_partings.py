"""Up to when a run is good, and its estimated error: a line in every plot over time, words and curves on the page."""

import json
from functools import cache

import numpy as np
import pytest

import polhode as ph
from polhode.show.page.report import report_page, write_report
from polhode.show.plots.kinds import draw
from polhode.show.run_values import parting
from polhode.simulation import companion

OVER_TIME = ("energies", "momenta", "drift", "joints", "quaternions", "angles", "rates")


@cache
def pendulum(**options):
    """A double pendulum by steps that are too long for its default accuracy, 2 s."""
    return ph.simulate(ph.load("double-pendulum"), duration=2.0, step=0.02, method="rk4", **options)


def partly():
    """A run of which the first part alone is checked."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(companion, "WORK", 1e6)
        return ph.simulate(ph.load("double-pendulum"), duration=2.0, step=0.01, method="gauss3")


def lines(figure):
    """Labels of vertical lines, and their times, by panel."""
    return [
        [(line.get_label(), line.get_xdata()[0]) for line in axes.lines if line.get_gid() == "parting"]
        for axes in figure.axes
        if axes.axison
    ]


@pytest.mark.parametrize("kind", OVER_TIME)
def test_every_plot_over_time_has_a_line_where_the_run_ceases_to_be_good(kind):
    run = pendulum()
    time = run.attrs["good_until"]
    assert 0 < time < 2
    figure = draw(kind, run)
    assert all(found == [(f"good until t = {time:.6g} s", time)] for found in lines(figure))
    shown = [text.get_text() for axes in figure.axes if axes.get_legend() for text in axes.get_legend().get_texts()]
    assert f"good until t = {time:.6g} s" in shown


@pytest.mark.parametrize("kind", OVER_TIME)
def test_a_run_that_is_good_has_no_such_line(kind):
    assert not any(lines(draw(kind, pendulum(accuracy=0.01))))


def test_a_comparison_has_the_line_of_each_run():
    figure = ph.plot.compare({"coarse": pendulum(), "enough": pendulum(accuracy=0.01)})
    assert all([label for label, _ in found] == ["coarse: " + parting(pendulum()).words] for found in lines(figure))


def test_the_drift_has_the_estimated_error_and_its_threshold():
    run = pendulum()
    axes = draw("drift", run).axes[0]
    drawn = {line.get_label(): np.asarray(line.get_ydata()) for line in axes.lines}
    assert np.nanmax(drawn["error of the motion, estimated"]) == run["error_estimate"].max()
    assert set(drawn["good up to 1e-06"]) == {1e-6}
    assert axes.get_ylim()[1] <= 1e-2  # the line across all heights does not widen the axis
    assert "error not estimated" not in axes.get_legend_handles_labels()[1]


def test_the_part_that_is_not_estimated_is_marked():
    run = partly()
    assert run.attrs["verdict"] == "unchecked"
    time = run.attrs["good_until"]
    assert 0 < time < 2
    assert "error not estimated" in draw("drift", run).axes[0].get_legend_handles_labels()[1]
    text = report_page(run, ph.load("double-pendulum"))
    assert f"checked until t = {time:.6g} s" in text
    assert f'"unknownFrom":{time}' in text
    assert '<span class="badge unchecked">' in text


def test_the_page_says_up_to_when_a_run_is_good_and_draws_its_error():
    run = pendulum()
    text = report_page(run, ph.load("double-pendulum"))
    words = parting(run).words
    assert f"<li><b>{words}</b></li>" in text
    data = json.loads(text.partition('id="data">')[2].partition("</script>")[0])
    assert data["until"] == {"time": run.attrs["good_until"], "words": words}
    error = next(plot for plot in data["plots"] if plot["title"] == "Estimated error of the motion")
    assert error["log"]
    assert error["level"] == 1e-6
    good = report_page(pendulum(accuracy=0.01), ph.load("double-pendulum"))
    assert '"until":null' in good
    assert "until t =" not in good


def test_an_unchecked_page_says_so_and_fits_a_phone(browser, tmp_path):
    model = ph.load("double-pendulum")
    path = write_report(pendulum(verify=False), model, tmp_path / "unchecked.html")
    page = browser.new_page(viewport={"width": 390, "height": 850})
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready=yes]")
    assert page.locator("header .badge").inner_text() == "Unchecked"
    assert "was not estimated" in page.locator(".quality > p").first.inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.close()
