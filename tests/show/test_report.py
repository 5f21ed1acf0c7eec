"""The report page, opened in a real browser."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import polhode as ph
from polhode.result.dataset import Extra, Facts, Trajectory, dataset
from polhode.show.packing import MOST_SAMPLES, PackedArrays, thinned
from polhode.show.page.report import report_page, write_report
from polhode.show.page.sections import number
from polhode.show.scene.scene import MOST_FRAMES, frame_indices, solid, turns
from polhode.show.scene.turning import family, level_curves
from synthetic_runs import bundled, run

LIMIT = 2_000_000
"""Bytes of the page of a seven-axis arm."""
NASTY = "</script><b onclick=alert(1)>&amp;'\"<img src=x onerror=alert(2)>"

MOTIONS = {"arm-7": (3.0, 3000), "free-body": (40.0, 2000), "heavy-top": (2.0, 4000), "double-pendulum": (5.0, 500)}


@pytest.fixture
def show(browser, tmp_path):
    """Open a page of a run; at the end of the test it must have logged no error and made no request."""
    errors, requests, contexts = [], [], []

    def show(data, model, width=1200, **options):
        path = write_report(data, model, tmp_path / f"report{len(contexts)}.html")
        context = browser.new_context(viewport={"width": width, "height": 850}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: message.type == "error" and errors.append(message.text))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.on("dialog", lambda dialog: errors.append(f"dialog {dialog.message}"))
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready=yes]")
        page.wait_for_timeout(100)
        return page

    yield show
    for context in contexts:
        context.close()
    assert not errors
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []


def until(page, expression):
    """Wait for it; the page's policy forbids Playwright's own way, which evaluates text inside the page."""
    for _ in range(200):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(50)
    pytest.fail(f"never true: {expression}")


def detail(page, selector):
    """Bytes of a picture as PNG: an empty one has few."""
    return len(page.locator(selector).first.screenshot())


PLOT_INK = """() => [...document.querySelectorAll('.uplot canvas')].map((canvas) => {
  const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  let ink = 0;
  for (let k = 3; k < data.length; k += 4) ink += data[k] > 0;
  return ink;
})"""


@pytest.mark.parametrize("name", MOTIONS)
def test_the_page_of_a_run_draws_every_plot(show, name):
    """Every plot has ink, the animation is there, and no width overflows on a phone."""
    model, data = bundled(name, *MOTIONS[name])
    page = show(data, model, width=390)
    ink = page.evaluate(PLOT_INK)
    assert len(ink) >= 4
    assert min(ink) > 500
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator("#scene .fallback").is_hidden()
    assert page.locator("#polhode").count() == (name in ("free-body", "heavy-top"))
    assert detail(page, "#scene canvas") > 5000
    assert "Not graded" not in page.locator(".top").inner_text()


def test_play_slider_and_plots_share_one_time(show):
    model, data = bundled("arm-7", *MOTIONS["arm-7"])
    page = show(data, model)
    time = lambda: page.evaluate("Polhode.clock.t")
    assert time() == 0
    before = page.locator("#scene canvas").screenshot()
    page.click("#play")
    until(page, "Polhode.clock.t > 0.2")
    assert page.get_attribute("#play", "aria-label") == "Pause"
    page.click("#play")
    stopped = time()
    page.wait_for_timeout(100)
    assert time() == stopped
    assert page.locator("#scene canvas").screenshot() != before
    page.evaluate("Polhode.clock.speed = 1e-3")  # it does not come to its end meanwhile
    page.locator("h1").click()
    page.keyboard.press("Space")  # plays, wherever the focus is
    until(page, "Polhode.clock.playing")
    page.keyboard.press("Space")
    assert not page.evaluate("Polhode.clock.playing")
    page.locator("#time").fill("5000")
    assert time() == pytest.approx(1.5)
    assert page.inner_text("#readout").startswith("1.500 / 3.000")
    assert re.search(r"1\.[45]\d* s", page.locator(".u-legend").first.inner_text())
    page.select_option("#speed", "0.5")
    assert page.evaluate("Polhode.clock.speed") == 0.5
    page.locator(".u-over").first.scroll_into_view_if_needed()
    box = page.locator(".u-over").first.bounding_box()
    page.mouse.click(box["x"] + 0.25 * box["width"], box["y"] + 20)
    assert time() == pytest.approx(0.75, abs=0.03)


@pytest.mark.long
def test_dragging_turns_the_picture(show):
    model, data = bundled("free-body", *MOTIONS["free-body"])
    page = show(data, model)
    for picture in ("#scene canvas", "#polhode canvas"):
        canvas = page.locator(picture)
        canvas.scroll_into_view_if_needed()
        page.wait_for_timeout(150)
        before, box = canvas.screenshot(), canvas.bounding_box()
        page.mouse.move(box["x"] + 100, box["y"] + 100)
        page.mouse.down()
        page.mouse.move(box["x"] + 220, box["y"] + 140)
        page.mouse.up()
        page.wait_for_timeout(150)
        assert canvas.screenshot() != before


@pytest.mark.long
def test_paper_gets_light_stills_and_plots(show):
    """Printed from dark mode: nothing dark, poses in place of the animation, the plots drawn again; then back."""
    model, data = bundled("free-body", *MOTIONS["free-body"])
    page = show(data, model, color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    until(page, "document.querySelectorAll('#scene .stills img').length === 4")
    assert page.locator("#scene canvas").is_hidden()
    assert page.locator("#controls").is_hidden()
    assert page.locator("#scene .stills img").first.is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert min(page.evaluate(PLOT_INK)) > 2000
    page.emulate_media(media="screen", color_scheme="dark")
    page.wait_for_timeout(150)
    assert page.locator("#scene canvas").is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
    assert len(page.pdf(format="A4")) > 20_000


def test_names_are_escaped(show):
    """Markup in any name or message is shown, not obeyed."""
    model = ph.Model(
        NASTY,
        bodies=[ph.Body(NASTY, 1.0, (0.1, 0.1, 0.02), center=(0, 0, -1))],
        joints=[ph.Joint(NASTY, "revolute", "world", NASTY, axis=(0, 1, 0))],
        start=ph.Start(q=(1.0,), v=(0.0,)),
    )
    facts = {"method": NASTY, "status": "stopped", "reason": NASTY, "model_text": NASTY, "more": {"machine": NASTY}}
    data = run(model, 1.0, 60, **facts)
    data["residual_" + "loop"] = (("time", "thing"), np.ones((61, 1)), {"long_name": NASTY, "units": NASTY})
    data = data.assign_coords(thing=[NASTY])
    page = show(data, model)
    assert page.locator("h1").inner_text() == NASTY
    assert page.locator("b[onclick], img[src=x]").count() == 0
    assert page.title().startswith(NASTY)
    assert NASTY in page.locator(".provenance").inner_text()
    assert NASTY in page.locator(".u-legend").last.inner_text()


def test_a_failed_run_says_what_happened(show):
    model, data = bundled("double-pendulum", *MOTIONS["double-pendulum"])
    data = data.copy(deep=True)
    for name in data.data_vars:
        data[name].values[400:] = np.nan
    check = {"name": "finite", "value": None, "threshold": None, "unit": "", "verdict": "failed", "note": "q holds NaN"}
    data.attrs |= {"status": "failed", "reason": "the step fell below 1e-14 s", "verdict": "failed"}
    data.attrs["grade"] = json.dumps([check])
    page = show(data, model)
    said = page.locator(".alert").inner_text()
    assert "failed at t = 3.99 s" in said
    assert "the step fell below 1e-14 s" in said
    assert "101 samples" in said
    assert page.locator(".top .badge").inner_text() == "Failed"
    assert min(page.evaluate(PLOT_INK)) > 500
    assert page.evaluate("Polhode.clock.end") == pytest.approx(3.99)


def test_short_runs_give_a_page(show):
    """No sample, one sample, and none that is a number."""
    model, data = bundled("heavy-top", *MOTIONS["heavy-top"])
    assert "no sample" in show(data.isel(time=slice(0)), model).locator(".alert").inner_text()
    page = show(data.isel(time=slice(1)), model)
    assert "single sample" in page.locator(".alert").inner_text()
    assert page.locator("#controls").is_hidden()
    assert detail(page, "#scene canvas") > 5000
    lost = (data.isel(time=slice(3)) * np.nan).assign_attrs(data.attrs)
    assert "not numbers" in show(lost, model).locator(".alert").inner_text()


def test_models_without_bodies_or_freedom_give_a_page(show):
    time = np.linspace(0, 1, 5)
    empty = ph.Model("nothing")
    page = show(dataset(empty, Trajectory(time, np.zeros((5, 0)), np.zeros((5, 0)))), empty)
    assert "none" in page.locator(".bodies").inner_text()
    fixed = ph.Model("block", bodies=[ph.Body("b", 1, (1, 1, 1))], joints=[ph.Joint("j", "fixed", "world", "b")])
    poses = {"position": np.zeros((5, 1, 3)), "quaternion": np.tile([1.0, 0, 0, 0], (5, 1, 1))}
    page = show(dataset(fixed, Trajectory(time, np.zeros((5, 0)), np.zeros((5, 0)), poses)), fixed)
    assert detail(page, "#scene canvas") > 5000


def test_inputs_events_and_residuals_are_shown(show):
    model, data = bundled("double-pendulum", *MOTIONS["double-pendulum"])
    t = data["time"].values
    extra = {"residual_loop": Extra(1e-9 * np.sin(t) ** 2, ("time",), "m", "residual of the loop")}
    trajectory = Trajectory(
        t, data["q"].values, data["v"].values, {"tau": np.sin(data["v"].values)}, extra, events=[(1.25, "touch <1>")]
    )
    page = show(dataset(model, trajectory, Facts(step=None)), model)
    titles = page.locator(".plot h3").all_inner_texts()
    assert "Torques of the inputs" in titles
    assert "Residual of the loop" in titles
    assert "touch <1>" in page.locator(".events").inner_text()


def test_without_webgl_the_plots_remain(browser, tmp_path):
    model, data = bundled("heavy-top", *MOTIONS["heavy-top"])
    path = write_report(data, model, tmp_path / "report.html")
    page = browser.new_page()
    page.add_init_script(
        "const get = HTMLCanvasElement.prototype.getContext;"
        "HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {"
        " return kind === 'webgl2' ? null : get.call(this, kind, ...rest); };"
    )
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready=yes]")
    assert page.locator("#scene .fallback").is_visible()
    assert min(page.evaluate(PLOT_INK)) > 500
    page.close()


def test_the_page_is_small_complete_and_reproducible(tmp_path):
    model, data = bundled("arm-7", *MOTIONS["arm-7"])
    text = report_page(data, model)
    assert len(text.encode()) < LIMIT
    assert text == report_page(data, model)
    links = re.findall(r"""(?:src|href)=["']?([^"'\s>]*)""", text.split("<script", maxsplit=1)[0])
    assert set(links) <= {"data:,"}
    path = write_report(data, model, tmp_path / "report.html")
    with pytest.raises(ph.InputError, match="there already"):
        write_report(data, model, path)
    assert write_report(data, model, path, force=True) == path
    assert [p.name for p in Path(tmp_path).iterdir()] == ["report.html"]
    with pytest.raises(ph.InputError, match="folder is missing"):
        write_report(data, model, tmp_path / "none" / "report.html")


# what is drawn


@pytest.mark.parametrize(
    ("value", "text"),
    [(1e4, "10000"), (12345.6, "12346"), (99999.4, "99999"), (-2e4, "−20000"), (1e5, "10⁵"), (0.5, "0.5")],
)
def test_numbers_are_written_as_people_write_them(value, text):
    assert number(value) == text


def test_thinning_keeps_extremes_and_ends():
    """A needle one sample wide survives, and so do the first and the last sample."""
    y = np.sin(np.linspace(0, 50, 100_000))
    y[77_777], y[12_345] = 9.0, np.nan
    kept = thinned([y, -y])
    assert len(kept) <= MOST_SAMPLES
    assert {0, 77_777, 99_999} <= set(kept.tolist())
    assert np.nanmin(y[kept]) == np.nanmin(y)
    assert np.array_equal(thinned([y[:50]]), np.arange(50))


def test_equal_arrays_are_stored_once():
    store = PackedArrays()
    assert store.put(np.arange(3.0)) == store.put([0, 1, 2])
    assert store.put([0, 1, 2], double=True) == 1


def test_frames_are_few_and_finite():
    time, good = np.linspace(0, 1, 5000) ** 2, np.ones(5000, bool)
    good[4000:] = False
    chosen = frame_indices(time, good, bodies=3)
    assert len(chosen) <= MOST_FRAMES
    assert chosen[0] == 0
    assert chosen[-1] == 3999


def test_turns_count_whole_revolutions():
    """A body spinning at 100 rad/s, seen every 0.2 s, turns by 20 rad each time."""
    t = np.linspace(0, 2, 2001)
    axis = np.array([0.6, 0.0, 0.8])
    p = ph.quaternion.from_axis_angle(np.tile(axis, (2001, 1)), 100 * t)
    vectors = turns(t, p, np.tile(100 * axis, (2001, 1)), np.arange(0, 2001, 200))
    np.testing.assert_allclose(vectors, np.tile(20 * axis, (10, 1)), atol=1e-9)


@pytest.mark.parametrize("size", [(0.3, 0.2, 0.1), (0.5, 0.5, 0.1), (0.4, 0.4, 0.4)])
def test_solids_have_the_inertia_of_their_body(size):
    """A box is drawn as itself; one with equal sides as the cylinder or ball of the same inertia."""
    a, b, c = size
    body = ph.Body("b", 12.0, (b * b + c * c, a * a + c * c, a * a + b * b))
    part = solid(body, 1e-6)
    J = sorted(np.diag(body.inertia_matrix()))
    if part["kind"] == "box":
        np.testing.assert_allclose(sorted(part["size"]), sorted(size), rtol=1e-6)
    elif part["kind"] == "cylinder":
        r, h = part["r"], part["h"]
        np.testing.assert_allclose(sorted([6 * r * r, 3 * r * r + h * h, 3 * r * r + h * h]), J, rtol=1e-6)
    else:
        np.testing.assert_allclose(0.4 * 12 * part["size"][0] ** 2, J[0], rtol=1e-6)


@pytest.mark.parametrize("J", [(200.0, 300.0, 500.0), (2.0, 2.0, 3.0), (1.0, 2.0, 2.0)])
def test_polhodes_lie_on_the_ellipsoid(J):
    """x·Jx = 1 and |Jx|² = D on every curve."""
    J = np.array(J)
    for curve in family(J):
        x = curve / np.sqrt(J[0])
        np.testing.assert_allclose((x**2 * J).sum(1), 1, rtol=1e-9)
        D = ((x * J) ** 2).sum(1)
        np.testing.assert_allclose(D, D[0], rtol=1e-9)
    for curve in level_curves(J, (J[0] + J[1] + J[2]) / 3):
        assert np.isfinite(curve).all()


def test_constraints_have_their_own_plots(show):
    """Residuals down to rounding, forces, and the smallest singular value with the passages marked."""
    model = ph.load("n-four-bar")
    data = ph.simulate(model, duration=2, samples=401)
    page = show(data, model)
    assert min(page.evaluate(PLOT_INK)) > 500
    titles = page.locator("h3").all_inner_texts()
    for title in ("Constraints: residuals", "Distance from a singular configuration", "Reaction of loop1, force"):
        assert title in titles
    note = page.locator(".card", has_text="Distance from a singular configuration").inner_text()
    assert re.search(r"Singular configurations, dashed: t = 0\.71\d* s .* t = 1\.2\d* s", note)
    marks = page.evaluate("JSON.parse(document.getElementById('data').textContent).plots.flatMap((p) => p.marks || [])")
    assert marks == pytest.approx([0.715, 1.23], abs=0.01)


def test_constraints_take_degrees_of_freedom():
    model = ph.load("four-bar")
    page = report_page(ph.simulate(model, duration=0.1, samples=3), model)
    assert "<b>1</b> degree of freedom" in page
