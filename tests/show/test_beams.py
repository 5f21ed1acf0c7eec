"""Beams in pictures: their bent shapes, what their sections bear, their modes."""

import math

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

import polhode as ph
from motions import bent, swinging
from polhode.cli import main
from polhode.errors import InputError, ModelError, UnknownNameError
from polhode.formats.registry import model_of_text
from polhode.result.files import save
from polhode.show.animation import animate
from polhode.show.page.report import report_page
from polhode.show.plots.run_source import Unfit, model_of
from polhode.show.plots.section_force import section_curves
from polhode.show.scene.beams import axis, beam_records, rings, swept, tones
from polhode.show.scene.film import Film, Shown
from polhode.show.scene.motion import Arrays
from polhode.show.scene.scene import scene
from polhode.show.terminal_picture import terminal_picture

SECTION = ph.Section.rectangle(width=0.03, height=0.004)
LENGTH = 0.5
SMALL = 1e-5
"""Of loads that bend so little that second-order terms are below this, relative to the largest value."""


def is_near(found, expected, part=SMALL):
    return np.max(abs(found - expected)) <= part * np.max(abs(np.asarray(expected)))


def cantilever(forces=(), elements=2, gravity=(0, 0, 0), section=SECTION, **options):
    beam = ph.Beam("leaf", section, start=("world", (0, 0, 0)), end=(LENGTH, 0, 0), elements=elements, **options)
    return ph.Model("leaf", gravity, beams=[beam], forces=list(forces))


def at_rest(model, **options):
    return ph.still(model, ph.equilibrium(model, **options))


# section forces against closed forms


def test_a_tip_force_gives_a_straight_moment_and_a_constant_shear():
    P = 1e-4
    curves = section_curves(at_rest(cantilever([ph.Force("tip", "leaf-2", force=(0, P, -2 * P))])))
    s = curves["My"].s
    assert s[0] == 0
    assert s[-1] == pytest.approx(LENGTH, rel=1e-14)
    assert np.all(np.diff(s) >= 0)
    assert is_near(curves["My"].values[0], 2 * P * (LENGTH - s))
    assert is_near(curves["Mz"].values[0], P * (LENGTH - s))
    assert is_near(curves["Qz"].values[0], -2 * P)
    assert is_near(curves["Qy"].values[0], P)


@pytest.mark.parametrize("follower", [False, True])
def test_a_load_along_a_beam_gives_parabolas(follower):
    f = np.array([1e-2, 1e-4, -3e-4])
    curves = section_curves(at_rest(cantilever(load=f, follower=follower)))
    left = LENGTH - curves["My"].s
    assert is_near(curves["My"].values[0], -f[2] * left**2 / 2)
    assert is_near(curves["Mz"].values[0], f[1] * left**2 / 2)
    for name, part in (("N", f[0]), ("Qy", f[1]), ("Qz", f[2])):
        assert is_near(curves[name].values[0], part * left)


@pytest.mark.long
def test_a_couple_twists_and_bends_evenly():
    torque = np.array([3e-3, 1e-3, -2e-3])
    curves = section_curves(
        at_rest(cantilever([ph.Force("tip", "leaf-2", torque=torque)])), forces=["Mx", "My", "Mz", "M"]
    )
    for name, part in (("Mx", torque[0]), ("My", torque[1]), ("Mz", torque[2])):
        assert is_near(curves[name].values[0], part, 1e-4)  # it turns by 6e-5 rad
    assert is_near(curves["M"].values[0], math.hypot(*torque[1:]), 1e-4)


@pytest.mark.long
@pytest.mark.parametrize("held", ["elongation", "all"])
def test_what_held_strains_bear_is_their_multipliers(held):
    P, N = 1e-3, 2.0
    forces = [ph.Force("tip", "leaf-2", force=(N, 0, -P), torque=(4e-3, 0, 0))]
    curves = section_curves(at_rest(cantilever(forces, held=held)))
    assert np.allclose(curves["N"].values[0], N, rtol=1e-6)
    assert np.allclose(curves["Mx"].values[0], 4e-3, rtol=1e-3)
    stiffer = P * (LENGTH - curves["My"].s)  # the pull takes a part of the moment where it bends
    assert np.allclose(curves["My"].values[0], stiffer, atol=1e-9 if held == "all" else 0.2 * P * LENGTH)


@pytest.mark.long
def test_weight_is_exact_in_the_middle_of_elements_and_off_by_an_eighth_at_nodes():
    """Weight acts on the nodes: f l²/8 there."""
    curves = section_curves(at_rest(cantilever(gravity=(0, 0, -1e-3), elements=5)))
    s, M, f, l0 = curves["My"].s, curves["My"].values[0], 1e-3 * SECTION.mass, LENGTH / 5
    exact = f * (LENGTH - s) ** 2 / 2
    middle = np.isclose((s / l0) % 1, 0.5)
    assert middle.sum() == 5
    assert np.allclose(M[middle], exact[middle], atol=1e-5 * exact[0])
    assert abs(M - exact).max() == pytest.approx(f * l0**2 / 8, rel=1e-3)


@pytest.mark.long
def test_sections_of_beams_that_bend_far_bear_the_moment_of_the_load():
    P = 200.0
    rest = at_rest(model := cantilever([ph.Force("tip", "leaf-16", force=(0, 0, -P))], elements=16))
    arm = rest["position"].values[0, -1, 0] - rest["position"].values[0, :, 0]
    nodes = section_curves(rest)["My"].values[0].reshape(16, -1)
    assert arm[0] < 0.9 * LENGTH
    assert np.allclose(nodes[:, 0], P * arm[:-1], atol=2e-3 * P * LENGTH)
    drawn = ph.plot.section_force(ph.equilibrium(model), model=model, force="bending_y")
    assert np.array_equal(drawn.axes[0].lines[0].get_ydata(), section_curves(rest)["My"].values[0])


# the plot


@pytest.mark.long
def test_panels_are_the_forces_that_are_there_with_units_and_instants():
    figure = ph.plot.section_force(bent(), time=[0.05, 0.1])
    assert [axes.get_ylabel() for axes in figure.axes] == ["$N$ (N)", "$Q_z$ (N)", "$M_y$ (N m)"]
    assert figure.axes[-1].get_xlabel() == "arc length $s$ (m)"
    assert [line.get_label() for line in figure.axes[0].lines][:2] == ["0.05 s", "0.1 s"]
    assert np.array_equal(figure.axes[2].lines[1].get_ydata(), section_curves(bent(), time=[0.1])["My"].values[0])


def test_the_envelope_is_what_lies_between_the_extremes_of_all_samples():
    figure = ph.plot.section_force(bent(), "leaf", "My", envelope=True)
    curve = section_curves(bent())["My"]
    corners = figure.axes[0].collections[0].get_paths()[0].vertices
    assert corners[:, 1].max() == curve.values.max()
    assert corners[:, 1].min() == curve.values.min()


def test_wrong_words_are_told():
    with pytest.raises(UnknownNameError, match=r"no such beam.*\n.*leaf"):
        ph.plot.section_force(bent(), "lead")
    with pytest.raises(UnknownNameError, match=r"no such section force.*\n.*\n.*Did you mean 'bending_y'"):
        ph.plot.section_force(bent(), force="bending-y")
    with pytest.raises(InputError, match=r"not instants of the run.*\n.*from 0 to 0.1"):
        ph.plot.section_force(bent(), time=3.0)
    with pytest.raises(InputError, match="a state without its model"):
        ph.plot.section_force(ph.equilibrium(cantilever()))
    with pytest.raises(Unfit, match="no sections"):
        ph.plot.section_force(swinging())
    with pytest.raises(InputError, match=r"zero all over the beams.*\n.*N, Qz, My, M"):
        ph.animate(bent(), "never.gif", color="torsion")


# bent shapes


def records_of(run, model):
    return beam_records(model, 1.0), run["position"].values[-1], run["quaternion"].values[-1]


def test_the_axis_of_an_element_is_the_deflection_of_a_beam_with_shear():
    """w = P (3 L s² − s³)/6EI + P s/GA, slope of sections w′ − P/GA, of a thick cantilever with one element."""
    P, thick = 1e-3, ph.Section.rectangle(width=0.1, height=0.2)
    model = cantilever([ph.Force("tip", "leaf-1", force=(0, 0, -P))], elements=1, section=thick)
    (record,), x, q = records_of(at_rest(model), model)
    parts = np.linspace(0, 1, 9)
    line = axis(record, x, q, parts)
    s, EI, GA = LENGTH * parts, thick.bending_y, thick.shear_z
    expected = -P * ((3 * LENGTH * s**2 - s**3) / (6 * EI) + s / GA)
    assert np.allclose(line.points[:, 2], expected, rtol=1e-6, atol=1e-6 * abs(expected[-1]))
    assert np.allclose(-line.axes[:, 2, 0], P * (2 * LENGTH * s - s**2) / (2 * EI), atol=1e-6 * abs(expected[-1]))


def test_a_beam_bent_to_a_circle_is_drawn_as_one():
    radius, angle = LENGTH / (2 * math.pi), 2 * math.pi * np.arange(9) / 8
    records = beam_records(cantilever(elements=8), 1.0)
    x = radius * np.stack([np.sin(angle), 0 * angle, 1 - np.cos(angle)], axis=-1)
    q = np.stack([np.cos(angle / 2), 0 * angle, -np.sin(angle / 2), 0 * angle], axis=-1)
    points = np.concatenate([axis(record, x, q, np.linspace(0, 1, 9)).points for record in records])
    apart = abs(np.hypot(points[:, 0], points[:, 2] - radius) / radius - 1)
    assert apart.max() < 1.5e-3  # chords: 0.08
    across = np.concatenate([axis(record, x, q, np.linspace(0, 1, 9)).axes[..., 2] for record in records])
    assert np.allclose(across, ((0, 0, radius) - points) / radius, atol=5e-3)


@pytest.mark.parametrize(
    ("section", "volume"),
    [
        (ph.Section.rectangle(0.03, 0.02), 0.03 * 0.02),
        (ph.Section.circle(0.02), 10 * math.sin(math.pi / 10) * 0.01**2),
        (ph.Section.tube(0.02, 0.01), 10 * math.sin(math.pi / 10) * (0.01**2 - 0.005**2)),
    ],
)
def test_a_straight_beam_is_a_solid_of_its_section_with_normals_outward(section, volume):
    """∮ x·n dA = 3 V, of the polygon with 20 corners where it is round."""
    model = cantilever(elements=2, section=section)
    run = ph.still(model)
    made = [
        swept(record, run["position"].values[0], run["quaternion"].values[0], 3).mesh
        for record in beam_records(model, 0.0)
    ]
    corners, normals = (np.concatenate([getattr(mesh, name) for mesh in made]) for name in ("corners", "normals"))
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    size = np.linalg.norm(area, axis=1)
    assert np.allclose(abs(np.sum(area * normals, axis=1)), size, rtol=0.02)  # a flat side has the mean of its normals
    assert np.sum(np.sum(corners[:, 0] * normals, axis=1) * size / 2) / 3 == pytest.approx(volume * LENGTH, rel=0.02)


def test_sections_have_the_look_of_their_shape_or_of_their_stiffness():
    assert ph.Section.circle(0.02).outline == ("circle", (0.02,))
    assert ph.Section.tube(0.02, 0.01).outline == ("tube", (0.02, 0.01))
    assert ph.Section.rectangle(0.03, 0.02).outline == ("rectangle", (0.03, 0.02))
    assert ph.Section(mass=1.0, width=0.03, height=0.02, round=True).outline == ("ellipse", (0.03, 0.02))
    by_numbers = ph.Section(axial=12e4, bending_y=1.0, bending_z=4.0, mass=1.0)
    (line,) = (
        ph.Model("m", beams=[ph.Beam("b", by_numbers, start=(0, 0, 0), end=(1, 0, 0), elements=1)]).forces[0].drawing()
    )
    assert line.shape == "rectangle"
    assert line.size == pytest.approx((0.02, 0.01))
    assert len(rings("ellipse", (0.03, 0.02), 0.0)[0]) == 20
    with pytest.raises(ModelError, match="outer diameter, inner diameter of a tube"):
        ph.BeamElement("b", "world", "c", 1.0, shape="tube", size=(0.1,))
    with pytest.raises(ModelError, match="not lengths"):
        ph.BeamElement("b", "world", "c", 1.0, shape="circle", size=(-0.1,))


def test_the_look_of_sections_is_kept_in_files_and_is_no_number_of_the_equations():
    model = cantilever(section=ph.Section.tube(0.02, 0.01))
    again = model_of_text(ph.still(model).attrs["model_yaml"], "again")
    assert list(again.forces[0].drawing()) == list(model.forces[0].drawing())
    assert not [path for path in model.numbers() if "size" in path]


def test_nodes_are_not_drawn_and_bodies_between_elements_of_a_user_are():
    model = cantilever()
    shown = scene(ph.still(model), model, Arrays())
    assert [body["parts"] for body in shown["bodies"]] == [[]] * 3
    assert len(shown["beams"]) == 2
    assert [beam["caps"] for beam in shown["beams"]] == [[True, False], [False, True]]
    assert not shown["stands"]
    assert [trail["body"] for trail in shown["trails"]] == [2]
    bob = ph.Body("bob", 1.0, (1, 1, 1))
    own = ph.Model(
        "own", bodies=[bob], joints=[ph.Joint("j", "free", "world", "bob", position=(1, 0, 0))],
        forces=[ph.BeamElement("e", "world", "bob", 1.0, axial=1e4, bending_y=1.0, bending_z=1.0, torsion=1.0)],
    )  # fmt: skip
    assert scene(ph.still(own), own, Arrays())["bodies"][0]["parts"]


def test_colours_of_a_film_are_those_of_the_section_force():
    """The root of the leaf is yellow, its tip dark: the colours of the largest and of no moment."""
    model = cantilever([ph.Force("tip", "leaf-2", force=(0, 0, -10.0))], section=ph.Section.rectangle(0.1, 0.01))
    run, arrays = at_rest(model), Arrays()
    shown = scene(run, model, arrays)
    assert shown["color"] == "M"
    assert shown["loads"]["M"]["range"] == [0.0, pytest.approx(10 * LENGTH, rel=0.05)]
    pixels = np.asarray(Film(shown, arrays, Shown(), (320, 240)).draw(0.0), dtype=int)
    for share, where in ((1.0, pixels[60:, :60]), (0.0, pixels[60:, -60:])):
        tone = 255 * tones(shown["loads"]["M"]["colours"], np.array([share]))[0]
        flat = where.reshape(-1, 3)
        cosine = flat @ tone / (np.linalg.norm(flat, axis=1) * np.linalg.norm(tone))
        saturated = flat.max(axis=1) - flat.min(axis=1) > 40
        assert cosine[saturated].max() > 0.98, share
    plain = scene(run, model, Arrays(), color="plain")
    assert plain["color"] == "plain"
    assert any(
        cell.front
        for row in terminal_picture(model, run["position"].values[0], run["quaternion"].values[0], 30, 10)
        for cell in row
    )


@pytest.mark.long
def test_an_instant_is_written_as_a_picture(tmp_path):
    with Image.open(animate(bent(), tmp_path / "a.png", at=0.05, size=(160, 120))) as picture:
        assert picture.size == (160, 120)
    with pytest.raises(InputError, match=r"not an instant of the run.*\n.*0 … 0.1"):
        animate(bent(), tmp_path / "b.png", at=1.0)


SWEPT = """() => {
  const P = Polhode, s = P.data.scene, n = s.bodies.length, at = P.arrays[s.time].length - 1;
  const beams = new P.Beams({ surface: () => 0, fill: () => 0 }, s.beams, s.steps), r = P.arrays[s.position], p = P.arrays[s.attitude];
  const entries = (a, size, b) => [...a.slice(size * (at * n + b), size * (at * n + b + 1))];
  beams.bend(s.bodies.map((_, b) => ({ x: entries(r, 3, b), q: entries(p, 4, b) })), () => [0, 0, 0]);
  return [...beams.data];
}"""  # noqa: E501
"""What the page sweeps at the last instant."""


def test_a_page_bends_beams_as_films_do(browser, tmp_path):
    """The vertices that the page sweeps are on the surface that Python sweeps."""
    run, model = bent(), model_of("test", bent())
    (tmp_path / "page.html").write_text(report_page(run, model), encoding="utf-8")
    page, faults = browser.new_page(), []
    page.on("pageerror", lambda fault: faults.append(str(fault)))
    page.goto((tmp_path / "page.html").as_uri())
    page.wait_for_selector("html[data-ready=yes]")
    assert not faults
    found = page.evaluate(SWEPT)
    shown = scene(run, model, Arrays())
    x, q = run["position"].values[-1], run["quaternion"].values[-1]
    expected = np.concatenate(
        [swept(beam, x, q, shown["steps"]).mesh.corners.reshape(-1, 3) for beam in shown["beams"]]
    )
    vertices = np.array(found).reshape(-1, 9)[:, :3]
    apart = np.linalg.norm(vertices[:, None] - expected, axis=-1).min(axis=1)
    assert apart.max() < 1e-6
    assert page.input_value("#shade") == "M"
    assert "bending moment" in page.inner_text("#bar")
    page.select_option("#shade", "Qz")
    assert "shear force Qz (N)" in page.inner_text("#bar")
    page.close()


# modes


@pytest.mark.long
def test_a_mode_of_a_beam_is_its_shape_and_its_moment():
    """Of a clamped and free beam: w of the first mode, and EI w″ of it, to the error of 12 elements."""
    model = cantilever(elements=12)
    shown = ph.mode_motion(model, 1, amplitude=0.01)
    r = shown["position"].values
    assert abs(r[0, :, 2]).max() == pytest.approx(0.01, rel=1e-3)
    s, k = r[0, :, 0], 1.8751040687 / LENGTH
    sigma = 0.7340955138

    def w(x):
        return np.cosh(k * x) - np.cos(k * x) - sigma * (np.sinh(k * x) - np.sin(k * x))

    def curvature(x):
        return k**2 * (np.cosh(k * x) + np.cos(k * x) - sigma * (np.sinh(k * x) + np.sin(k * x)))

    size = r[0, -1, 2] / w(LENGTH)
    assert np.allclose(r[0, :, 2], size * w(np.arange(13) * LENGTH / 12), atol=2e-3 * 0.01)
    curve = section_curves(shown, time=[0.0])["My"]
    middle = np.isclose((curve.s * 12 / LENGTH) % 1, 0.5)
    expected = -SECTION.bending_y * size * curvature(curve.s)
    assert np.allclose(curve.values[0][middle], expected[middle], atol=6e-3 * abs(expected[0]))
    assert s[0] == 0
    assert np.allclose(r[0], r[-1], atol=1e-12)
    assert float(shown["time"][-1]) == pytest.approx(
        2 * math.pi / (k**2 * math.sqrt(SECTION.bending_y / SECTION.mass)), rel=1e-2
    )


def test_modes_of_rigid_machines_are_seen_and_told(tmp_path):
    model = ph.load("double-pendulum")
    rest = ph.equilibrium(model)
    mode = ph.linearize(model, rest.q, rest.v).modes()[0]
    shown = ph.mode_motion(model, mode, rest)
    by_number = ph.mode_motion(model, 1)
    assert np.allclose(shown["q"], by_number["q"], atol=1e-9)
    assert "Hz" in shown.attrs["caption"]
    with Image.open(animate(shown, tmp_path / "mode.gif", seconds=0.4, size=(96, 64))) as film:
        assert film.n_frames == 10
        assert film.info["loop"] == 0
    with pytest.raises(InputError, match=r"no such mode.*\n.*1 … 2"):
        ph.mode_motion(model, 3)
    with pytest.raises(InputError, match="of another system"):
        ph.mode_motion(ph.load("pendulum"), mode)


@pytest.mark.long
def test_modes_of_closed_loops_stay_closed():
    free = ph.load("four-bar").with_numbers({"gravity": (0.0, 0.0, 0.0)})
    hinge = next(joint.name for joint in free.joints if joint.nv == 1)
    spring = ph.TorsionSpring("hold", joint=hinge, stiffness=50.0)
    model = ph.Model(
        free.name, free.gravity, free.bodies, free.joints, [*free.forces, spring], free.constraints, free.start
    )
    rest = ph.equilibrium(model)
    system, shown = ph.compile(model), ph.mode_motion(model, 1, rest)
    assert np.ptp(shown["q"].values[:, 0]) > 0.02
    residuals = system.constraint_residuals(shown["q"].values, 0 * shown["v"].values).positions
    assert abs(residuals).max() < 1e-9


# the command line


@pytest.mark.long
def test_the_command_line_shows_modes_and_section_forces(tmp_path):
    file, run = str(tmp_path / "mode.png"), str(tmp_path / "run.nc")
    shown = CliRunner().invoke(main, ["modes", "double-pendulum", "--animate", file, "--mode", "2"])
    assert shown.exit_code == 0, shown.output
    assert "drawn with" in shown.output
    with Image.open(file) as picture:
        assert picture.size == (640, 480)
    several = CliRunner().invoke(main, ["modes", "bicycle", "--speed", "4,5", "--animate", str(tmp_path / "b.gif")])
    assert "modes, --animate: not one state" in several.output
    save(bent(), run)
    words = ["plot", run, "section_force", "--beam", "leaf", "--section-force", "My,Qz", "--time", "0.05,0.1"]
    drawn = CliRunner().invoke(main, [*words, "--envelope", "--out", str(tmp_path / "moments.svg")])
    assert drawn.exit_code == 0, drawn.output
    assert "not instants" in CliRunner().invoke(main, [*words[:-1], "soon"]).output
    still = CliRunner().invoke(
        main, ["animate", run, "--color", "bending_y", "--at", "0.05", "--out", str(tmp_path / "a.png")]
    )
    assert still.exit_code == 0, still.output
