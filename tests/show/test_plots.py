"""What the plots draw is right: on the data of the drawing, and in a browser."""

import inspect
import io
import json
import math
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from functools import cache
from itertools import combinations

import numpy as np
import pytest
import xarray as xr
from matplotlib.image import imread

import polhode as ph
from analysis_cases import bicycle_matrices
from motions import bent, by_form, damped, free_body, linkage, swinging, top, tumbling
from polhode.errors import InputError
from polhode.result.files import save
from polhode.show.figure import COLOURS, new_figure, save_figure
from polhode.show.plots import run_source
from polhode.show.plots.angles import angle_curves
from polhode.show.plots.compare import differences, named
from polhode.show.plots.drift import drifts
from polhode.show.plots.eigenvalues import stability_bands, tracked
from polhode.show.plots.ellipsoid import Ellipsoid
from polhode.show.plots.fan import quantiles
from polhode.show.plots.herpolhode import herpolhode_curve
from polhode.show.plots.kinds import KINDS, draw, fitting
from polhode.show.plots.phase import portraits
from polhode.show.plots.poinsot import construction
from polhode.show.plots.quaternions import continuous
from polhode.show.plots.reactions import reaction_curves
from polhode.show.plots.rolling import smooth
from polhode.show.plots.run_source import Unfit, model_of
from polhode.show.scene.turning import turning
from polhode.show.vector.geometry import View

ROUNDING = 1e-12
RUN = 1e-7
"""Of runs at tolerance 1e-10, relative."""
CURVE = 2e-5
"""Of cubics between samples."""


@cache
def bicycle_speeds(count=200):
    """Published linear equations of the bicycle: M q̈ + v C1 q̇ + (g K0 + v² K2) q = 0."""
    M, C1, K0, K2 = (bicycle_matrices()[name] for name in ("M", "C1", "K0", "K2"))
    speeds, found = np.linspace(0.1, 10, count), []
    for v in speeds:
        low = np.linalg.solve(M, np.hstack([9.81 * K0 + v**2 * K2, v * C1]))
        found.append(np.linalg.eigvals(np.block([[np.zeros((2, 2)), np.eye(2)], [-low]])))
    return speeds, found


EVERY = {
    "energies": top, "balance": damped, "momenta": tumbling, "drift": linkage, "joints": swinging, "phase": swinging,
    "reactions": linkage, "multipliers": by_form, "quaternions": tumbling, "angles": top, "rates": tumbling,
    "polhode": tumbling, "herpolhode": tumbling, "poinsot": tumbling, "section_force": bent,
}  # fmt: skip


def figures():
    yield from ((kind, lambda kind=kind, run=run: draw(kind, run())) for kind, run in EVERY.items())
    yield "compare", lambda: ph.plot.compare([swinging(), swinging(1e-5)])
    yield "eigenvalues", lambda: ph.plot.eigenvalues(*bicycle_speeds())


each_kind = pytest.mark.parametrize(("kind", "figure"), list(figures()), ids=[kind for kind, _ in figures()])


def test_every_kind_is_looked_at():
    assert set(EVERY) == set(KINDS)


@each_kind
def test_a_plot_is_drawn_with_units_and_without_a_window(kind, figure, tmp_path):
    made = figure()
    assert made.canvas.manager is None
    save_figure(made, tmp_path / "plot.png", "test")
    picture = imread(tmp_path / "plot.png")[..., :3]
    assert min(picture.shape[:2]) >= 400
    assert np.mean(np.any(picture < 0.9, axis=-1)) > 0.005
    flat = [axes for axes in made.axes if axes.axison]
    for axes in flat:
        assert re.search(r"\(.+\)", axes.get_ylabel()), axes.get_ylabel()
    assert all(re.search(r"\(.+\)", axes.get_xlabel()) for axes in flat[-1:])
    assert flat or "rad/s" in " ".join(text.get_text() for text in made.axes[0].texts)


# curves


def lines(figure, axes=0):
    return {line.get_label(): np.array(line.get_data()) for line in figure.axes[axes].lines}


def test_energies_are_those_of_the_run():
    drawn = lines(ph.plot.energies(top()))
    assert np.array_equal(drawn["kinetic"], [top()["time"], top()["kinetic_energy"]])
    assert np.allclose(drawn["total"][1], top()["total_energy"], rtol=ROUNDING)


def test_momenta_are_those_of_the_run():
    drawn = lines(ph.plot.momenta(tumbling()), axes=1)
    for axis in "xyz":
        assert np.array_equal(drawn[f"$L_{axis}$"][1], tumbling()["angular_momentum"].sel(axis=axis))


def test_long_curves_keep_their_extremes():
    run = ph.simulate(ph.load("pendulum"), duration=2.0, samples=20_001)
    angle = run["q"].values[:, 0]
    drawn = lines(ph.plot.joints(run))["hinge"][1]
    assert len(drawn) < 5000
    assert (drawn.min(), drawn.max()) == (angle.min(), angle.max())


def test_drift_is_that_of_the_grade():
    """The largest drawn drift of the energy is the value that the run was graded by."""
    found = dict(drifts(top()))
    graded = {check["name"]: check["value"] for check in json.loads(top().attrs["grade"])}
    assert max(found["energy drift"]) == pytest.approx(graded["energy drift"], rel=1e-3)
    L = top()["angular_momentum"].values
    expected = abs(L[:, 2] - L[0, 2]) / np.linalg.norm(L, axis=1).max()
    assert np.allclose(found["|ΔL| / |L|, along z"], expected, rtol=1e-9)
    assert "constraints, positions" in dict(drifts(linkage()))


def test_a_phase_portrait_is_rate_against_coordinate():
    for name, q, v, unit in portraits(swinging()):
        assert np.array_equal(q, swinging()["q"].sel(coordinate=name))
        assert np.array_equal(v, swinging()["v"].sel(dof=name))
        assert unit == "rad"


def test_the_multiplier_is_drawn_with_its_prediction():
    drawn = lines(ph.plot.multipliers(by_form()))
    assert np.array_equal(drawn["λ"][1], by_form()["multiplier"])
    assert np.array_equal(drawn["predicted"][1], by_form()["multiplier_predicted"])


def hung():
    joint = ph.Joint("j", "free", "world", "b")
    hook = ph.Constraint("hook", "spherical", {"body_a": "world", "body_b": "b"})
    body = ph.Body("b", 2.5, (1, 1, 1), center=(0, 0, -1))
    return ph.Model("hung", bodies=[body], joints=[joint], constraints=[hook])


def test_a_body_that_hangs_pulls_with_its_weight():
    """On its hook, a constraint, and on a hinge, a joint of the tree: 2.5 kg × g upward on the body."""
    run = ph.simulate(hung(), duration=0.5, samples=11)
    bare = run.drop_vars([name for name in run.data_vars if str(name).startswith(("reaction", "multiplier"))])
    hinge = ph.Joint("pin", "revolute", "world", "b", axis=(1, 0, 0))
    on_hinge = ph.simulate(ph.Model("hinged", bodies=hung().bodies, joints=[hinge]), duration=0.5, samples=11)
    for made, name in ((run, "hook"), (bare, "hook"), (on_hinge, "pin")):
        found = {row: y for row, _, y in reaction_curves(made)[name]}
        assert np.allclose(found["$F_z$"], 2.5 * 9.81, rtol=1e-9)
        assert np.allclose([found["$F_x$"], found["$F_y$"], found["$T_x$"], found["$T_y$"]], 0, atol=1e-8)


def test_forces_in_a_loop_are_those_the_run_holds():
    found = reaction_curves(linkage(), joints=True)
    legend = ph.plot.reactions(linkage()).axes[0].get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["$F_x$", "$F_y$", "$F_z$"]
    assert list(found) == ["closing", "motor", "knee", "pivot"]
    assert np.array_equal(found["closing"][0][2], linkage()["reaction_force"].values[:, 0, 0])
    assert [unit for _, unit, _ in found["motor"]] == ["N"] * 3 + ["N m"] * 3


# attitudes


def test_signs_are_continued_and_the_attitude_stays():
    rng = np.random.default_rng(1)
    p = tumbling()["quaternion"].values[:, 0]
    shaken = p * rng.choice([-1.0, 1.0], size=len(p))[:, None]
    found = continuous(shaken)
    assert np.array_equal(found[0], shaken[0])
    assert np.all(np.sum(found[1:] * found[:-1], axis=1) > 0)
    assert np.array_equal(abs(found), abs(p))


@pytest.mark.parametrize("sequence", ["313", "321", "extrinsic-123", "232"])
def test_drawn_angles_are_the_attitude_and_do_not_jump(sequence):
    time, angles, distance = angle_curves(tumbling(), sequence, 0)
    free = np.isfinite(angles).all(axis=1)  # the run starts in the lock of some sequences
    assert np.array_equal(free, distance > 1e-9)
    told = ph.euler.to_quaternion(sequence, angles[free])
    assert np.max(ph.quaternion.angle_between(told, tumbling()["quaternion"].values[free, 0])) < 1e-7
    assert np.nanmax(abs(np.diff(angles, axis=0))) < math.pi + 1e-9
    assert len(time) == len(distance) == tumbling().sizes["time"]


def pitching():
    """A body that pitches evenly through the lock of 321: θ = 40°/s × t − 100°."""
    run = tumbling().isel(time=slice(0, 401)).copy(deep=True)
    time = np.linspace(0, 5, 401)
    pitch = math.radians(40) * time - math.radians(100)
    run["quaternion"].values[:, 0] = ph.quaternion.from_axis_angle((0, 1, 0), pitch)
    return run.assign_coords(time=time)


def test_shading_is_where_the_angles_lock():
    """|θ| is within 10° of 90° from 0 to 0.5 s and from 4.5 s on: θ = ∓80° there."""
    figure = ph.plot.angles(pitching(), "321", near=10.0)
    spans = [(patch.get_x(), patch.get_x() + patch.get_width()) for patch in figure.axes[0].patches]
    assert np.allclose(spans, [(0, 0.5), (4.5, 5.0)], atol=5 / 400)
    assert len(ph.plot.angles(pitching(), "321", near=1e-6).axes[0].patches) <= 2
    middle = figure.axes[1].lines[0].get_ydata()
    assert abs(middle).max() <= 90 + 1e-9
    assert not ph.plot.angles(pitching(), "312", near=10.0).axes[0].patches  # pitch is its third angle


# Poinsot


def body():
    return turning(tumbling(), free_body())


@pytest.mark.parametrize("at", [0.0, 3.7, 11.0, 20.0])
def test_the_ellipsoid_touches_the_plane_at_the_tip_of_omega(at):
    drawn = construction(body(), at)
    assert abs(drawn.time - at) < 0.02
    A, c, n, d = drawn.ellipsoid.A, drawn.contact, drawn.normal, drawn.distance
    assert abs(np.linalg.norm(np.linalg.solve(A, c)) - 1) < ROUNDING  # on the ellipsoid
    assert abs(c @ n - d) < ROUNDING  # in the plane
    assert abs(np.linalg.norm(A.T @ n) - d) < ROUNDING  # the plane supports the ellipsoid: it touches, and does not cut
    outward = np.linalg.solve(A @ A.T, c)
    assert np.linalg.norm(np.cross(outward / np.linalg.norm(outward), n)) < ROUNDING
    k = int(np.argmin(abs(tumbling()["time"].values - at)))
    assert np.allclose(c, tumbling()["omega_world"].values[k, 0], atol=ROUNDING)


def test_by_itself_the_contact_is_drawn_where_it_is_farthest_out():
    drawn = construction(body())
    radius = np.linalg.norm(body().in_space - drawn.distance * drawn.normal, axis=1)
    assert np.linalg.norm(drawn.contact - drawn.distance * drawn.normal) == pytest.approx(radius.max())


def test_what_stays_looks_as_if_it_stayed():
    """The energy of a free body is a level line, not its rounding; a body at the origin has no panel of positions."""
    low, high = ph.plot.energies(by_form()).axes[0].get_ylim()
    assert high - low > 0.9e-3 * high
    assert len(ph.plot.joints(by_form()).axes) == 2


def test_the_herpolhode_lies_in_the_invariable_plane_between_its_circles():
    drawn = construction(body())
    assert np.max(abs(drawn.herpolhode @ drawn.normal - drawn.distance)) < CURVE
    radius = np.linalg.norm(herpolhode_curve(body()), axis=1)
    exact = ph.exact.free_body((1.0, 2.0, 2.8), (1.0, 0.9, 0.6), np.linspace(0, 20, 20_001)).omega
    expected = np.sqrt(np.sum(exact**2, axis=1) - drawn.distance**2)
    assert np.allclose([radius.min(), radius.max()], [expected.min(), expected.max()], atol=CURVE)


def test_the_polhode_lies_on_the_ellipsoid_and_goes_through_the_contact():
    for at in (0.0, 7.3):
        drawn = construction(body(), at)
        inside = np.linalg.solve(drawn.ellipsoid.A, drawn.polhode.T)
        assert np.max(abs(np.linalg.norm(inside, axis=0) - 1)) < ROUNDING
        step = np.linalg.norm(np.diff(drawn.polhode, axis=0), axis=1).max()
        assert np.min(np.linalg.norm(drawn.polhode - drawn.contact, axis=1)) < step


def test_the_ellipsoid_rolls_without_slipping():
    """The contact runs as far on the ellipsoid as in the plane, at every instant."""
    _, own, in_space = smooth(body())
    ways = [np.cumsum(np.linalg.norm(np.diff(x, axis=0), axis=1)) for x in (own, in_space)]
    assert np.max(abs(ways[0] - ways[1])) < 1e-3 * ways[0][-1]


def test_curves_between_samples_are_those_of_the_closed_form():
    time, own, in_space = smooth(turning(tumbling(samples=151), free_body()))
    exact = ph.exact.free_body((1.0, 2.0, 2.8), (1.0, 0.9, 0.6), time)
    assert len(time) > 225
    assert np.max(abs(own - exact.omega)) < CURVE
    assert np.max(abs(in_space - ph.quaternion.rotate(ph.quaternion.normalise(exact.p), exact.omega))) < CURVE


def test_a_point_is_hidden_where_its_ray_meets_the_ellipsoid():
    rng = np.random.default_rng(7)
    for _ in range(20):
        solid = Ellipsoid(rng.normal(size=(3, 3)))
        view = View.of(*rng.uniform(-80, 80, 2))
        x = rng.normal(size=(60, 3)) * 1.5
        way = np.linspace(0.0, 12.0, 4001)[1:, None]
        cast = [
            bool((np.linalg.norm(np.linalg.solve(solid.A, (p + way * view.toward).T), axis=0) < 1).any()) for p in x
        ]
        deep = abs(np.linalg.norm(np.linalg.solve(solid.A, x.T), axis=0) - 1) > 0.02
        found = solid.hides(x, view.toward)
        assert np.mean(found[deep] == np.array(cast)[deep]) > 0.98  # the cast rays have steps; tangent ones may differ
        edge = solid.outline(view)
        u = rng.normal(size=(500, 3))
        flat = view.page(u / np.linalg.norm(u, axis=1, keepdims=True) @ solid.A.T)
        for direction in rng.normal(size=(8, 2)):  # the outline is the convex hull of all points
            assert (flat @ direction).max() <= (edge @ direction).max() * (1 + 1e-3)


def test_torque_keeps_the_construction_away():
    with pytest.raises(InputError, match="a torque acts"):
        ph.plot.poinsot(top())
    assert ph.plot.polhode(top()) is not None


# eigenvalues, comparisons


def test_the_bicycle_is_stable_between_its_weave_and_capsize_speeds():
    """4.29238253634111 and 6.02426201538837 m/s: Meijaard, Papadopoulos, Ruina, Schwab 2007."""
    bands = stability_bands(*bicycle_speeds(400))
    assert [band.stability for band in bands] == ["unstable", "stable", "unstable"]
    assert np.allclose(bands[1][:2], (4.29238253634111, 6.02426201538837), atol=1e-5)
    assert bands[0].start == 0.1
    assert bands[2].end == 10


def test_eigenvalues_are_followed_from_one_speed_to_the_next():
    rng = np.random.default_rng(3)
    x = np.linspace(0, 3, 300)
    paths = np.column_stack([-1 + 0.5 * x + 1j * (1 + x), -1 + 0.5 * x - 1j * (1 + x), 2 - x + 0j, x - 2 + 0j])
    shuffled = np.array([row[rng.permutation(4)] for row in paths])
    found = tracked(shuffled)
    assert np.max(abs(np.diff(found, axis=0))) < 0.05
    assert np.array_equal(np.sort_complex(found[-1]), np.sort_complex(paths[-1]))


def test_runs_are_compared_at_common_instants_and_between_them():
    found = named([swinging(), swinging(1e-5)])
    assert list(found) == ["dop853, tolerance 1e-09", "dop853, tolerance 1e-05"]
    time, apart = differences(found, "q", [0, 1])["dop853, tolerance 1e-05"]
    assert np.array_equal(time, swinging()["time"])
    assert np.array_equal(apart, abs(swinging()["q"].values - swinging(1e-5)["q"].values).max(axis=1))
    other = ph.simulate(ph.load("double-pendulum"), duration=3.0, samples=1235, tolerance=1e-9)
    _, between = differences({"a": swinging(), "b": other}, "q", [0, 1])["b"]
    assert between.max() < 1e-5


def test_one_attitude_with_two_signs_is_no_difference():
    run = tumbling()
    turned = run.assign(quaternion=-run["quaternion"])
    _, apart = differences({"a": run, "b": turned}, "quaternion", [0])["b"]
    assert apart.max() < 1e-7


# what a run holds, and bad input


@pytest.mark.parametrize("kind", KINDS)
def test_every_plot_takes_the_model_and_refuses_another(kind):
    assert "model" in inspect.signature(KINDS[kind]).parameters
    run, model = swinging(), ph.load("double-pendulum")
    try:
        assert KINDS[kind](run, model=model).axes
    except Unfit:
        return
    with pytest.raises(InputError, match="another model than the run's"):
        ph.plot.energies(run, model=ph.load("pendulum"))


@pytest.mark.parametrize("run", [swinging, top])
def test_names_of_curves_lie_beside_the_panels(run):
    """No legend covers a curve: each is outside of its axes."""
    figure = ph.plot.joints(run())
    figure.canvas.draw()
    named = [axes for axes in figure.axes if axes.get_legend() is not None]
    assert named
    for axes in named:
        assert axes.get_legend().get_window_extent().x0 >= axes.get_window_extent().x1


def test_a_run_holds_its_model():
    run = swinging()
    assert model_of("test", run) == ph.load("double-pendulum")
    assert run.attrs["model_yaml"].startswith("name: double-pendulum")


def test_the_model_of_a_run_is_read_without_a_second_warning():
    with pytest.warns(ph.PolhodeWarning, match="not that of a real body"):
        puma = ph.load("puma-560")
    run = ph.simulate(puma, duration=0.01, samples=3)
    assert model_of("test", run) == puma  # a warning would be an error here


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: draw("enrgies", top()), ["no such kind", "Did you mean 'energies'"]),
        (lambda: ph.plot.energies(top().drop_vars("kinetic_energy")), ["no variable 'kinetic_energy'", "keep="]),
        (lambda: ph.plot.energies(top().isel(time=slice(0, 0))), ["nothing to draw", "0 samples"]),
        (lambda: ph.plot.angles(top(), "999"), ["unknown sequence", "313"]),
        (lambda: ph.plot.rates(top(), body="tip"), ["no such body", "'top'"]),
        (lambda: ph.plot.rates(top(), axes="space"), ["'body' or 'world'"]),
        (lambda: ph.plot.poinsot(swinging()), ["not one turning body", "2 bodies"]),
        (lambda: ph.plot.poinsot(tumbling().assign_attrs(model_yaml="")), ["its model is not in it", "model="]),
        (lambda: ph.plot.multipliers(top()), ["no variable 'multiplier'", "form="]),
        (lambda: ph.plot.reactions(tumbling()), ["nothing is carried", "free bodies"]),
        (lambda: ph.plot.phase(top()), ["no coordinate of one axis"]),
        (lambda: ph.plot.joints(swinging(), ["knee"]), ["no such coordinate", "hinge"]),
        (lambda: ph.plot.compare([top()]), ["nothing to compare"]),
        (lambda: ph.plot.compare([top(), swinging()]), ["not the same machine"]),
        (lambda: ph.plot.eigenvalues([1, 2], [[1]]), ["do not match"]),
        (lambda: ph.plot.energies("no-such-run.nc"), ["no such file"]),
    ],
)
def test_mistakes_are_told(call, words):
    with pytest.raises(InputError) as caught:
        call()
    for word in words:
        assert word in str(caught.value)


def study(count=40):
    """A Dataset such as `ph.sweep` returns: of run k the first coordinate is k + t, the second its double."""
    time, run = np.linspace(0, 1, 11), np.arange(float(count))
    q = (run[:, None] + time)[..., None] * [1, 2]
    names = {"time": time, "coordinate": ["hinge", "elbow"]}
    variables = {"q": (("run", "time", "coordinate"), q), "height": (("run", "time"), q[..., 0])}
    return xr.Dataset({**variables, "status": ("run", run)}, names, {"model_name": "arm"})


@pytest.mark.parametrize("kind", KINDS)
def test_a_plot_of_one_run_refuses_those_of_a_study(kind):
    with pytest.raises(InputError, match=r"many runs(.|\n)*40 runs(.|\n)*ph.plot.fan\(runs\)"):
        draw(kind, study())
    with pytest.raises(InputError, match="not a run"):
        draw(kind, np.zeros((3, 4)))


def test_many_runs_are_neither_compared_nor_left_out_in_silence():
    with pytest.raises(InputError, match="many runs"):
        ph.plot.compare([study(), study()])
    with pytest.raises(InputError, match="many runs"):
        list(fitting(study()))


def test_a_fan_shows_the_quantiles_of_the_runs():
    figure = ph.plot.fan(study(41))
    t, y = lines(figure)["median"]
    assert y == pytest.approx(20 + t)
    assert lines(figure, 1)["median"][1] == pytest.approx(40 + 2 * t)
    assert "q of 41 runs: arm" in figure.get_suptitle()
    runs = study(41)
    assert quantiles(runs, "q", 0)[:, 0] == pytest.approx([2, 10, 20, 30, 38])
    runs["q"][30:, 6:] = np.nan  # runs that ended before the others
    assert quantiles(runs, "q", 0)[2, -1] == pytest.approx(15.5, abs=0.01)
    assert len(ph.plot.fan(runs, names="elbow").axes) == len(ph.plot.fan(runs, "height").axes) == 1
    many = ph.plot.fan(study(3000))
    assert "2,000 of 3,000 runs" in many.get_suptitle()
    assert lines(many)["median"][1] == pytest.approx(1500 + t, abs=100)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ph.plot.fan(top()), ["not many runs", "a Dataset over", "ph.sweep"]),
        (lambda: ph.plot.fan([1, 2]), ["not many runs", "[1, 2]"]),
        (lambda: ph.plot.fan(study(0)), ["nothing to draw", "0 runs"]),
        (lambda: ph.plot.fan(study(), "status"), ["no such variable", "'status'", "q, height"]),
        (lambda: ph.plot.fan(study(), names=["hing"]), ["no such coordinate", "Did you mean 'hinge'"]),
        (lambda: ph.plot.fan(study(), names=[]), ["nothing to draw", "no coordinate"]),
        (lambda: ph.plot.fan(study().isel(time=[0])), ["nothing to draw", "1 samples"]),
    ],
)
def test_a_fan_tells_what_is_wrong(call, words):
    with pytest.raises(InputError) as caught:
        call()
    for word in words:
        assert word in str(caught.value)


def test_without_matplotlib_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ph.PolhodeError, match=r"pip install 'polhode\[plot\]'"):
        ph.plot.energies(top())


def test_names_of_a_model_are_not_taken_for_mathematics():
    body = ph.Body("$x$ <b>", 1.0, (1, 1, 1), center=(0, 0, -1))
    model = ph.Model("a $\\frac$", bodies=[body], joints=[ph.Joint("_hinge $^$", "revolute", "world", "$x$ <b>")])
    run = ph.simulate(model, q=[0.5], duration=0.5, samples=21)
    for _, figure in fitting(run):
        figure.savefig(io.BytesIO(), format="svg")


@pytest.mark.parametrize(("run", "value"), [(tumbling, 1e300), (linkage, np.nan)], ids=["body", "machine"])
def test_a_run_that_failed_is_drawn_as_far_as_it_goes(run, value, tmp_path):
    broken = run().copy(deep=True)
    for name in broken.data_vars:
        if "time" in broken[name].dims and broken[name].dtype.kind == "f":
            broken[name].values[-20:] = value
    drawn = dict(fitting(broken))
    assert {"energies", "joints", "quaternions", "angles"} <= set(drawn)
    for kind, figure in drawn.items():
        save_figure(figure, tmp_path / f"{kind}.svg", "test")
    ph.animate(broken, tmp_path / "a.gif", seconds=0.1, size=(96, 64))


# in a browser


def test_vector_pictures_open_in_a_browser_with_their_text(browser, tmp_path):
    for kind in ("poinsot", "angles"):
        save_figure(draw(kind, EVERY[kind]()), tmp_path / f"{kind}.svg", "test")
    page, faults, asked = browser.new_page(), [], []
    page.on("console", lambda entry: faults.append(entry.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    for kind in ("poinsot", "angles"):
        page.goto((tmp_path / f"{kind}.svg").as_uri())
        assert page.evaluate("document.documentElement.tagName") == "svg"
        assert page.evaluate("document.querySelectorAll('text').length") == 0  # outlines, and their words beside them
        assert page.evaluate("document.querySelectorAll('g[id^=text] title').length") > 3
        assert page.evaluate("document.documentElement.getBoundingClientRect().width") > 300
    assert not faults
    assert all(url.startswith("file:") for url in asked)
    assert len(asked) == 2


@pytest.mark.parametrize("kind", ["pdf", "svg"])
def test_a_figure_is_the_same_file_each_time(kind, tmp_path):
    for name in ("a", "b"):
        save_figure(ph.plot.energies(top()), tmp_path / f"{name}.{kind}", "test")
    assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()


def test_words_of_a_figure_mean_nothing_to_the_page(tmp_path):
    figure, axes = new_figure(3, 2)
    words = ["--><script>alert(1)</script><!--", "a & b", "two\nlines"]
    for k, text in enumerate(words):
        axes.text(0, k / 3, text, parse_math=False)
    save_figure(figure, tmp_path / "a.svg", "test")
    root = ET.parse(tmp_path / "a.svg").getroot()
    titles = [title.text for title in root.iter("{http://www.w3.org/2000/svg}title")]
    assert not list(root.iter("{http://www.w3.org/2000/svg}script"))
    assert {"a & b", "- -><script>alert(1)</script><!- -", "two", "lines"} <= set(titles)


def test_of_a_very_long_run_evenly_spread_samples_are_read(tmp_path, monkeypatch):
    save(tumbling(), tmp_path / "run.nc")
    monkeypatch.setattr(run_source, "MOST_READ", 100)
    found = run_source.opened(tmp_path / "run.nc")["time"].values
    assert len(found) <= 100
    assert found[-1] == tumbling()["time"].values[-1]
    assert np.allclose(np.diff(found), found[1] - found[0])


def test_no_display_is_needed(tmp_path):
    save(swinging(), tmp_path / "run.nc")
    code = f"import polhode as ph; ph.plot.energies({str(tmp_path / 'run.nc')!r}).savefig({str(tmp_path / 'a.png')!r})"
    settings = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
    settings["MPLBACKEND"] = "TkAgg"
    subprocess.run([sys.executable, "-c", code], env=settings, check=True, timeout=120)
    assert (tmp_path / "a.png").stat().st_size > 5000


def test_a_saved_run_is_drawn_from_its_file(tmp_path):
    save(tumbling(), tmp_path / "run.nc")
    drawn = {kind for kind, _ in fitting(tmp_path / "run.nc")}
    assert {"energies", "momenta", "polhode", "herpolhode", "poinsot", "angles"} <= drawn
    assert not {"multipliers", "reactions", "phase"} & drawn
    assert ph.plot.energies(tmp_path) is not None


# colours

SEEN = {
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
"""How colours look without one kind of cone, in linear light: Machado, Oliveira, Fernandes 2009."""


def seen(colour, matrix):
    """L*, a*, b* of a colour as somebody sees it."""
    rgb = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    linear = np.clip(np.array(matrix) @ linear, 0, 1)
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ linear
    x, y, z = np.cbrt(xyz / [0.9505, 1.0, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("kind", SEEN)
def test_curves_are_told_apart_with_any_colour_vision(kind):
    """The colours of the curves differ by at least ten of CIELAB's units; one or two is the least that is noticed."""
    found = [seen(colour, SEEN[kind]) for colour in COLOURS]
    apart = [np.linalg.norm(a - b) for a, b in combinations(found, 2)]
    assert min(apart) > 10


class Jumping:
    """Eigenvalues ±√x up to x = jump, then 5 ± i√x."""

    def __init__(self, x, jump):
        self.x, self.jump = x, jump

    def eigenvalues(self):
        root = np.sqrt(self.x)
        return np.array([root, -root]) if self.x < self.jump else 5 + 1j * np.array([root, -root])

    stability = "unstable"


@pytest.mark.parametrize(("jump", "gaps"), [(2.3, 1), (9.0, 0)])
def test_curves_of_eigenvalues_end_where_another_motion_begins(jump, gaps):
    """Not where a pair is born, however steep."""
    x = np.arange(1.0, 5.0, 0.5)
    drawn = ph.plot.eigenvalues(x, [Jumping(at, jump) for at in x], find=lambda at: Jumping(at, jump)).axes[0]
    longest = max(drawn.lines, key=lambda line: len(line.get_xdata()))
    assert len(longest.get_xdata()) == len(x) + gaps
