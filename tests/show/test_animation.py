"""Films and moving pages: bodies where they are, cans and arrows in the right sense, files that open."""

import math
import sys
from functools import cache

import numpy as np
import pytest
from PIL import Image

import polhode as ph
from motions import linkage, swinging, top, tumbling
from polhode import quaternion
from polhode.errors import InputError, PolhodeError
from polhode.show import animation
from polhode.show.plots.run_source import model_of
from polhode.show.scene.film import SERIES, Film, Shown, hull, rgb
from polhode.show.scene.motion import Arrays, ScenePoses
from polhode.show.scene.overlay import between, cans
from polhode.show.scene.raster import Camera, Canvas, Painted, covered
from polhode.show.scene.scene import _thickness, body_parts, scene
from polhode.show.scene.solids import mesh
from polhode.show.scene.ties import path_between

ROUNDING = 1e-12


def film(run, shown=None, size=(160, 120), **options):
    arrays = Arrays()
    return Film(scene(run, model_of("test", run), arrays), arrays, shown or Shown(), size, **options)


# solids


@pytest.mark.parametrize(
    ("part", "volume", "rough"),
    [
        ({"kind": "box", "size": [1.0, 2.0, 3.0]}, 6.0, 1e-12),
        ({"kind": "cylinder", "r": 0.5, "h": 2.0}, math.pi * 0.5, 0.01),
        ({"kind": "ellipsoid", "size": [1.0, 2.0, 0.5]}, 4 / 3 * math.pi, 0.02),
        ({"kind": "capsule", "r": 0.4, "h": 1.5}, math.pi * 0.16 * 1.5 + 4 / 3 * math.pi * 0.064, 0.04),
        ({"kind": "cone", "r": 1.0, "h": 2.6}, math.pi * 2.6 / 3, 0.02),
    ],
)
def test_a_solid_is_closed_and_its_normals_point_outward(part, volume, rough):
    """∮ x·n dA = 3 V, ∮ n dA = 0, wherever it stands."""
    made = mesh({**part, "at": [3.0, -1.0, 2.0], "toward": [0.3, -0.5, 0.8]})
    a, b, c = np.moveaxis(made.corners, 1, 0)
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2
    found = np.sum(np.sum(made.corners.mean(axis=1) * made.normals, axis=1) * area) / 3
    assert found == pytest.approx(volume, rel=rough)
    assert np.max(abs(made.normals.T @ area)) < 1e-9


def test_the_camera_has_right_at_the_right_and_up_above():
    cloud = np.array([[1.0, 0, 0, 0.2], [-1.0, 0.4, 0.3, 0.2], [0, 0, 1.5, 0.1]])
    camera = Camera.seeing(np.array([0.0, -1.0, 0.0]), np.array([0.0, 0.0, 1.0]), cloud, (400, 300))
    page = camera.on_page(np.array([[0.0, 0, 0], [1, 0, 0], [0, 0, 1], [0, -1, 0]]))
    assert page[1, 0] > page[0, 0] + 20  # x to the right, for a viewer at −y
    assert page[2, 1] < page[0, 1] - 20  # z upward
    assert page[3, 2] > page[0, 2]  # nearer
    seen = camera.on_page(cloud[:, :3])[:, :2]
    assert np.all((seen >= 0) & (seen <= [400, 300]))


def test_what_is_nearer_hides_what_is_behind():
    cloud = np.array([[0.0, 0, 0, 2.0]])
    camera = Camera.seeing(np.array([0.0, -1.0, 0.0]), np.array([0.0, 0.0, 1.0]), cloud, (100, 100))
    ball = {"kind": "ellipsoid", "size": [0.5, 0.5, 0.5]}
    for order in ((-1, 1), (1, -1)):  # whichever is drawn first
        for together in (True, False):
            canvas = Canvas(camera, np.full((100, 100, 4), 255, np.uint8))
            balls = [
                Painted(mesh({**ball, "at": [0, y, 0]}), np.array([1.0, 0, 0] if y < 0 else [0, 0, 1.0])) for y in order
            ]
            for group in [balls] if together else [[each] for each in balls]:
                canvas.solids(group, np.array([0, -1.0, 0]), np.array([0, 0, 1.0]))
            middle = canvas.pixels[50, 50]
            assert middle[0] > 127
            assert middle[2] == 0


def plain_triangles(corners, size):
    """Which triangle is nearest at the middle of each pixel, −1 for none: one after the other, by barycentrics."""
    width, height = size
    found, nearest = np.full((height, width), -1), np.zeros((height, width))
    x, y = np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5)
    for k, ((x0, y0, z0), (x1, y1, z1), (x2, y2, z2)) in enumerate(corners):
        area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
        w1 = ((x - x0) * (y2 - y0) - (x2 - x0) * (y - y0)) / area
        w2 = ((x1 - x0) * (y - y0) - (x - x0) * (y1 - y0)) / area
        near = z0 + w1 * (z1 - z0) + w2 * (z2 - z0)
        here = (w1 >= 0) & (w2 >= 0) & (w1 + w2 <= 1) & (near > nearest)
        found[here], nearest[here] = k, near[here]
    return found


@pytest.mark.parametrize("seed", range(4))
def test_batches_of_triangles_are_painted_as_one_after_the_other(seed):
    """Random triangles, partly outside the picture, partly tiny: at every pixel the nearest of them."""
    random, size = np.random.default_rng(seed), (97, 61)
    corners = random.uniform((-40, -40, 0.1), (140, 100, 1.0), (60, 3, 3))
    corners[40:, :, :2] = corners[40:, :1, :2] + random.uniform(-2, 2, (20, 3, 2))
    corners[3, 0, 2] = 1e9  # reaches behind the viewer
    canvas = Canvas(Camera(np.eye(3), np.zeros(3), size), np.full((size[1], size[0], 4), 255, np.uint8))
    colours = np.zeros((60, 4), np.uint8)
    colours[:, 0] = np.arange(60)
    canvas.triangles(corners, colours)
    known = plain_triangles(np.where(np.arange(60)[:, None, None] == 3, 1e-9 * corners, corners), size)
    painted = np.where(canvas.pixels[..., 1] == 255, -1, canvas.pixels[..., 0].astype(int))
    assert np.mean(painted != known) < 2e-3  # middles on edges, and depths that single precision does not tell apart


def test_triangles_that_share_edges_leave_no_gap_and_paint_no_pixel_twice():
    random = np.random.default_rng(1)
    points = np.stack(np.meshgrid(np.linspace(0, 50, 9), np.linspace(0, 40, 8)), axis=-1)
    points[1:-1, 1:-1] += random.uniform(-2, 2, points[1:-1, 1:-1].shape)
    grid = np.concatenate([points, np.ones((*points.shape[:2], 1))], axis=-1)
    a, b, c, d = grid[:-1, :-1], grid[:-1, 1:], grid[1:, 1:], grid[1:, :-1]
    corners = np.concatenate([np.stack([a, b, c], axis=-2), np.stack([a, c, d], axis=-2)]).reshape(-1, 3, 3)
    count = np.zeros(50 * 40, int)
    for found in covered(corners, (50, 40)):
        np.add.at(count, found.place, 1)
    assert np.all(count == 1)


@pytest.mark.parametrize("n", [3, 200])
def test_the_hull_of_points_is_that_of_another_program(n):
    from scipy.spatial import ConvexHull

    points = np.random.default_rng(n).normal(size=(n, 2))
    area = ConvexHull(points).volume
    x, y = hull(points).T
    assert abs(0.5 * np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) == pytest.approx(area, rel=0.01)


@pytest.mark.long
def test_a_film_of_ten_seconds_takes_less_than_thirty_of_a_processor(tmp_path):
    from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage

    used = lambda: sum(sum(getrusage(who)[:2]) for who in (RUSAGE_SELF, RUSAGE_CHILDREN))
    run = ph.simulate(ph.load("arm-7"), duration=10.0)
    before = used()
    ph.animate(run, tmp_path / "a.mp4", seconds=10, size=(1280, 720))
    assert used() - before < 30


# motion


def test_a_scene_moves_as_the_run_does():
    dense = tumbling()
    coarse = dense.isel(time=slice(None, None, 8))
    arrays = Arrays()
    made = scene(coarse, model_of("test", dense), arrays)
    moved = ScenePoses.of(made, arrays)
    for k in (0, 4, 37, 203, 800):
        x, q = moved.at(float(dense["time"][k]))
        assert np.allclose(x[0], dense["position"].values[k, 0], atol=1e-4)
        angle = quaternion.angle_between(quaternion.normalise(q[0]), dense["quaternion"].values[k, 0])
        assert angle < (1e-7 if k % 8 == 0 else 0.02)


def test_a_body_is_drawn_where_it_is():
    """The coloured pixels of a pendulum's bob lie about the projection of its centre."""
    run = swinging()
    made = film(run, Shown(trails=False, vectors=False), (320, 240))
    for k in (0, 120, 300):
        t = float(run["time"][k])
        picture = np.asarray(made.draw(t)).astype(float) / 255
        x, q = made.motion.at(t)
        body = made.scene["bodies"][1]
        part = max(body["parts"], key=lambda part: part["reach"] if part["kind"] == "ellipsoid" else 0)
        centre = x[1] + quaternion.rotate(q[1] / np.linalg.norm(q[1]), part["at"])
        at = made.camera.on_page(centre)[:2] / 2
        around = picture[int(at[1]) - 1 : int(at[1]) + 2, int(at[0]) - 1 : int(at[0]) + 2].reshape(-1, 3).mean(axis=0)
        hue = rgb(SERIES[body["colour"]])
        assert np.argmax(around) == np.argmax(hue)
        assert around.max() - around.min() > 0.2


def test_arrows_are_along_omega_and_the_momentum():
    run = tumbling()
    made = film(run)
    for k in (0, 400):
        t = float(run["time"][k])
        (_, omega, *_), (_, momentum, *_) = made._arrows(t, *made.motion.at(t))
        for drawn, true in ((omega, run["omega_world"].values[k, 0]), (momentum, top_momentum(run, k))):
            assert np.linalg.norm(np.cross(drawn, true)) < 1e-5 * np.linalg.norm(drawn) * np.linalg.norm(true)
            assert drawn @ true > 0
    many = film(swinging())
    drawn = many._arrows(1.0, *many.motion.at(1.0))
    assert [name for *_, name, _, _ in drawn] == ["ω", "ω", "L"]


def top_momentum(run, k):
    """About the mass centre: J ω turned into space."""
    return quaternion.rotate(run["quaternion"].values[k, 0], run["omega_body"].values[k, 0] * (1.0, 2.0, 2.8))


# cans


@pytest.mark.parametrize("sequence", ["313", "321", "212"])
def test_between_two_frames_lies_one_turn_about_its_axis(sequence):
    p = tumbling()["quaternion"].values[40:, 0]
    first = np.tile(quaternion.from_axis_angle((1, 2, 3), 0.4), (len(p), 1))
    frames = between(first, p, sequence)
    angles = ph.euler.from_quaternion(sequence, quaternion.normalise(quaternion.relative(first, p)))
    assert frames[0] is first
    assert frames[3] is p
    for k, digit in enumerate(sequence):
        turn = quaternion.relative(frames[k], frames[k + 1])
        axis = np.tile(np.eye(3)[int(digit) - 1], (len(p), 1))
        expected = quaternion.from_axis_angle(axis, angles[:, k])
        assert np.max(quaternion.angle_between(quaternion.normalise(turn), expected)) < 1e-7


def test_the_halves_of_a_can_turn_by_the_joint_angle():
    run = swinging()
    r, p = run["position"].values, run["quaternion"].values
    found = cans(ph.load("double-pendulum"), r, p, 0.1)
    assert len(found) == 4
    for j, (fixed, moving) in enumerate(zip(found[::2], found[1::2], strict=True)):
        axis = np.array(ph.load("double-pendulum").joints[j].axis, dtype=float)
        angle = run["q"].values[:, j]
        expected = quaternion.from_axis_angle(np.tile(axis, (len(angle), 1)), angle)
        turn = quaternion.normalise(quaternion.relative(fixed.attitude, moving.attitude))
        assert np.max(quaternion.angle_between(turn, expected)) < 1e-7
        assert np.allclose(fixed.position, moving.position, atol=1e-9)  # both stand at the joint
        low, high = fixed.parts[0], moving.parts[0]
        assert np.dot(np.subtract(high["at"], low["at"]), axis) == pytest.approx(low["h"] * 1.06)  # ends that touch


def test_the_can_that_closes_a_loop_is_closed():
    run = linkage()
    *_, first, second = found = cans(ph.load("four-bar"), run["position"].values, run["quaternion"].values, 0.05)
    assert len(found) == 8
    ends = []
    for half, sign in ((first, 1), (second, -1)):
        part = half.parts[0]
        axis = quaternion.rotate(np.array(part["turn"]), (0.0, 0.0, 1.0))
        middle = np.array(part["at"]) + sign * 0.53 * part["h"] * axis  # of the whole can, in the axes of its body
        ends.append(
            (half.position + quaternion.rotate(half.attitude, np.broadcast_to(middle, half.position.shape)), axis)
        )
    assert np.max(abs(ends[0][0] - ends[1][0])) < 1e-7
    turned = [quaternion.rotate(half.attitude[-1], axis) for half, (_, axis) in zip((first, second), ends, strict=True)]
    assert np.allclose(*turned, atol=1e-9)


# files


@cache
def short():
    return swinging().isel(time=slice(0, 101))


def test_a_gif_holds_the_motion(tmp_path):
    counted = []
    path = ph.animate(
        short(), tmp_path / "a.gif", seconds=0.5, rate=20, size=(128, 96), progress=lambda *x: counted.append(x)
    )
    with Image.open(path) as picture:
        assert picture.size == (128, 96)
        assert picture.n_frames == 10
        assert picture.info["duration"] == 50
        first = np.asarray(picture.convert("RGB")).astype(int)
        picture.seek(9)
        last = np.asarray(picture.convert("RGB")).astype(int)
    assert np.mean(np.any(abs(first - last) > 40, axis=-1)) > 0.002
    assert counted[-1] == (10, 10)
    assert [file.name for file in tmp_path.iterdir()] == ["a.gif"]


def test_a_gif_has_the_colours_of_what_appears_later(tmp_path):
    """At rest there are no arrows; those of ω and L that come later keep their colours, and the paper stays white."""
    run = ph.simulate(ph.load("double-pendulum"), duration=1.0, samples=101)
    path = ph.animate(run, tmp_path / "a.gif", seconds=0.5, rate=12, size=(640, 480))
    made = film(run, size=(640, 480))
    with Image.open(path) as picture:
        for k in (0, picture.n_frames - 1):
            picture.seek(k)
            shown = np.asarray(picture.convert("RGB")).astype(int)
            drawn = np.asarray(made.draw(float(run["time"][0 if k == 0 else -1]))).astype(int)
            assert shown[5, 5].tolist() == [255, 255, 255]
            assert np.mean(abs(shown - drawn).max(axis=-1) > 24) < 1e-3


def test_frames_reach_beyond_the_solids_they_are_in():
    """Of a box about its own frame, all three axes are seen at one instant or another."""
    run = tumbling()
    made = film(run, Shown(trails=False, vectors=False, frames=True), (320, 240))
    bare = film(run, Shown(trails=False, vectors=False), (320, 240))
    seen = dict.fromkeys((SERIES[1], SERIES[2], SERIES[0]), 0)
    for t in run["time"].values[::200].tolist():
        with_frames, without = (np.asarray(each.draw(t)).astype(int) for each in (made, bare))
        for colour in seen:
            near = abs(with_frames - 255 * rgb(colour)).max(axis=-1) < 60
            seen[colour] += int(np.sum(near & np.any(with_frames != without, axis=-1)))
    assert min(seen.values()) > 20


def test_the_t_handle_is_a_t(tmp_path):
    """Its parts are the two bars of the model, at their places."""
    model = ph.load("t-handle")
    run = ph.simulate(model, duration=0.2, samples=11)
    parts = scene(run, model, Arrays())["bodies"][0]["parts"]
    assert [(part["kind"], part["r"], part["h"]) for part in parts] == [("cylinder", *bar.size) for bar in model.shapes]
    assert [tuple(part["at"]) for part in parts] == [bar.position for bar in model.shapes]


def test_a_body_that_is_hardly_more_than_a_frame_is_no_ball():
    with pytest.warns(ph.PolhodeWarning):
        tool = ph.Body("tool", 0.0, (0, 0, 0), physical=False)
    arm = ph.Body("arm", 1.0, (0.1, 0.1, 0.02), center=(0, 0, 0.5))
    joints = [ph.Joint("hinge", "revolute", "world", "arm", axis=(0, 1, 0)),
              ph.Joint("flange", "fixed", "arm", "tool", position=(0, 0, 1.0))]  # fmt: skip
    model = ph.Model("arm with a tool", bodies=[arm, tool], joints=joints)
    run = ph.simulate(model, q=[0.3], duration=0.1, samples=11)
    bodies = scene(run, model, Arrays())["bodies"]
    assert bodies[1]["parts"] == []
    assert bodies[0]["parts"]
    film(run).draw(0.0)


def test_no_hub_is_just_cut_by_the_surface_of_its_body():
    for name in ("quadruped", "arm-7", "arm-6"):
        model = ph.load(name)
        for body in model.bodies:
            solid_, hub = [*body_parts(model, body, 0.02), None, None][:2]
            if hub and hub.get("tone") == "hub" and hub["kind"] == "cylinder":
                thick = _thickness(solid_, hub["toward"])
                assert not 0.97 < hub["h"] / max(thick, 1e-9) < 1.03


def test_an_mp4_can_be_played(tmp_path):
    from imageio_ffmpeg import count_frames_and_secs

    path = ph.animate(short(), tmp_path / "a.mp4", seconds=0.4, size=(128, 96))
    assert path.read_bytes()[4:8] == b"ftyp"
    count, seconds = count_frames_and_secs(str(path))
    assert count == 10
    assert seconds == pytest.approx(0.4, abs=0.05)


@pytest.mark.parametrize("run", [top, swinging, tumbling], ids=["top", "machine", "free"])
def test_a_page_moves_offline_with_everything_switched_on(browser, tmp_path, run):
    path = ph.animate(run(), tmp_path / "a.html", frames=True, cans=True)
    page, faults, asked = browser.new_page(), [], []
    page.on("console", lambda entry: entry.type == "error" and faults.append(entry.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready=yes]")
    boxes = {box.get_attribute("data-option"): box.is_checked() for box in page.locator("input[data-option]").all()}
    assert boxes == boxes | {"trail": True, "axes": True, "vectors": True, "cans": True}
    before = page.locator("canvas").first.screenshot()
    slider = "document.getElementById('time')"
    page.evaluate(f"{slider}.value = {slider}.max / 2; {slider}.dispatchEvent(new Event('input'))")
    page.wait_for_timeout(150)
    after = page.locator("canvas").first.screenshot()
    page.uncheck("input[data-option=cans]")
    page.wait_for_timeout(150)
    assert len({before, after, page.locator("canvas").first.screenshot()}) == 3
    assert not faults
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    page.close()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"path": "a.avi"}, [".avi", ".html, .mp4, .gif"]),
        ({"path": "no/such/a.gif"}, ["folder is missing"]),
        ({"path": "there.gif"}, ["there already"]),
        ({"path": "a.gif", "size": (100, 95)}, ["two even numbers"]),
        ({"path": "a.gif", "rate": 0}, ["1 … 120"]),
        ({"path": "a.gif", "seconds": 1e9}, ["no such length"]),
    ],
)
def test_mistakes_are_told_before_any_work(tmp_path, options, words):
    (tmp_path / "there.gif").write_bytes(b"")
    with pytest.raises(InputError) as caught:
        ph.animate(None, tmp_path / options.pop("path"), **options)
    for word in words:
        assert word in str(caught.value)


def test_runs_that_cannot_be_drawn_are_told(tmp_path):
    for run, words in (
        (top().isel(time=slice(0, 0)), "0 samples"),
        (top().assign_attrs(model_yaml=""), "its model is not in it"),
        (top().drop_vars("position"), "position and quaternion"),
    ):
        with pytest.raises(InputError, match=words):
            ph.animate(run, tmp_path / "a.gif")
    assert not list(tmp_path.iterdir())


def test_without_ffmpeg_the_message_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(animation.shutil, "which", lambda name: None)
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(PolhodeError, match=r"pip install 'polhode\[film\]'"):
        ph.animate(short(), tmp_path / "a.mp4", seconds=0.1)
    assert not list(tmp_path.iterdir())


def test_an_encoder_that_fails_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(animation, "_ffmpeg", lambda: "/bin/false")
    with pytest.raises(PolhodeError, match="ffmpeg could not write"):
        ph.animate(short(), tmp_path / "a.mp4", seconds=0.1, size=(64, 64))
    assert not list(tmp_path.iterdir())


def test_the_command_writes_a_page_beside_the_run(tmp_path):
    from click.testing import CliRunner

    from polhode.cli import main
    from polhode.result.files import save

    save(short(), tmp_path / "swing.nc")
    found = CliRunner().invoke(main, ["animate", str(tmp_path / "swing.nc")])
    assert found.exit_code == 0, found.output
    assert (tmp_path / "swing.html").stat().st_size > 50_000
    args = [
        "animate",
        str(tmp_path / "swing.nc"),
        "--out",
        str(tmp_path / "s.gif"),
        "--size",
        "96x64",
        "--seconds",
        "0.2",
    ]
    found = CliRunner().invoke(main, [*args, "--view", "30deg,20deg", "--cans"])
    assert found.exit_code == 0, found.output
    assert found.output.strip().endswith("s.gif")
    assert CliRunner().invoke(main, ["animate", str(tmp_path / "none.nc")]).exit_code == 2


def test_a_wrong_sequence_is_told_though_nothing_is_drawn_by_it(tmp_path):
    with pytest.raises(ph.PolhodeError, match="unknown sequence"):
        ph.animate(None, tmp_path / "swing.html", sequence="zxz")


# lines of force elements


@cache
def hanging():
    bodies = [ph.Body("bob", 1.0, (0.01, 0.01, 0.01)), ph.Body("low", 0.5, (0.01, 0.01, 0.01))]
    joints = [ph.Joint("a", "free", "world", "bob"), ph.Joint("b", "free", "world", "low")]
    spring = ph.Spring("spring", "world", "bob", point_a=(0, 0, 1.0), stiffness=60.0, rest=0.6)
    cable = ph.Spring("cable", "bob", "low", point_b=(0, 0, 0.05), stiffness=3000.0, rest=0.4, only="pull")
    model = ph.Model("hanging", bodies=bodies, joints=joints, forces=[spring, cable])
    return ph.simulate(model, q=[0.2, 0, 0.1, 1, 0, 0, 0, 0.2, 0, -0.35, 1, 0, 0, 0], duration=0.5)


def test_springs_are_coils_and_cables_lines_between_their_ends():
    made = scene(hanging(), model_of("test", hanging()), Arrays())
    coil, line = made["ties"]
    assert (coil["bodies"], line["bodies"]) == ([-1, 0], [0, 1])
    assert line["path"] == [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    a, b = np.array([0.0, 0.0, 1.0]), np.array([0.3, -0.2, -0.4])
    drawn = path_between(coil["path"], a, b)
    np.testing.assert_allclose(drawn[[0, -1]], [a, b], atol=1e-12)
    d = (b - a) / np.linalg.norm(b - a)
    off = np.linalg.norm((drawn - a) - np.outer((drawn - a) @ d, d), axis=1)
    assert off.max() == pytest.approx(max(np.hypot(x, y) for x, y, _ in coil["path"]), rel=1e-6)
    assert np.all(np.diff((drawn - a) @ d) > -1e-12)
    assert np.isfinite(path_between(coil["path"], a, a)).all()


def test_a_film_shows_a_spring_up_to_the_world():
    with_it = film(hanging())
    without = film(hanging())
    without.scene = {**without.scene, "ties": []}
    assert np.any(np.array(with_it.draw(0.1)) != np.array(without.draw(0.1)))
    top = with_it.camera.on_page(np.array([[0.0, 0.0, 1.0]]))[0]
    assert 0 < top[0] < 2 * 160
    assert 0 < top[1] < 2 * 120
