"""Bodies as they look: shapes and mesh files of a URDF, placed as it says, coarse enough, told where they fail."""

import math
import sys

import numpy as np
import pytest
import trimesh

import polhode as ph
from polhode.errors import InputError, PolhodeError
from polhode.formats.load import load_with_notes
from polhode.formats.visuals import visuals
from polhode.show.scene.film import Film, Shown
from polhode.show.scene.meshes import coarser, looks, with_normals
from polhode.show.scene.motion import Arrays
from polhode.show.scene.scene import scene
from polhode.show.scene.solids import given

URDF = """<robot name="arm">
  <link name="base">
    <inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <link name="arm">
    <inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual>
      <origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/>
      <geometry><mesh filename="brick.stl" scale="2 1 1"/></geometry>
    </visual>
    <visual><geometry><cylinder radius="0.1" length="0.5"/></geometry></visual>
    {more}
  </link>
  <joint name="hinge" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
    <limit lower="-3" upper="3" effort="9" velocity="9"/></joint>
</robot>"""


@pytest.fixture
def arm(tmp_path):
    """A URDF whose link is a brick of 1 × 0.4 × 0.2 m, drawn out to twice its length, and a cylinder."""
    trimesh.creation.box((1.0, 0.4, 0.2)).export(tmp_path / "brick.stl")
    path = tmp_path / "arm.urdf"
    path.write_text(URDF.format(more=""), encoding="utf-8")
    return path


def test_a_mesh_stands_where_the_urdf_says(arm):
    """Scaled in its own axes, turned by 90° about z, then shifted."""
    mesh, cylinder = looks(arm, load_with_notes(arm)[0])["arm"]
    points = mesh["triangles"].reshape(-1, 3) + mesh["at"]
    assert np.allclose(points.max(axis=0) - points.min(axis=0), [0.4, 2.0, 0.2], atol=1e-6)
    assert np.allclose((points.max(axis=0) + points.min(axis=0)) / 2, [1, 2, 3], atol=1e-6)
    assert (cylinder["kind"], cylinder["r"], cylinder["h"]) == ("cylinder", 0.1, 0.5)


def test_normals_point_the_way_the_corners_turn(arm):
    mesh, _ = looks(arm, load_with_notes(arm)[0])["arm"]
    both = with_normals(mesh["triangles"])
    outward = both[..., :3].mean(axis=1)  # from its middle
    assert np.all(np.sum(both[:, 0, 3:] * outward, axis=1) > 0)
    made = given(both.ravel())
    assert np.array_equal(made.corners, mesh["triangles"])
    assert not made.closed


def test_a_fine_mesh_is_made_coarser_and_keeps_its_shape():
    ball = np.asarray(trimesh.creation.icosphere(subdivisions=5).triangles)
    assert len(ball) > 20_000
    found = coarser(ball, 1500)
    assert 300 < len(found) <= 1500
    radius = np.linalg.norm(found.reshape(-1, 3), axis=1)
    assert 0.9 < radius.min() <= radius.max() <= 1.0 + 1e-9
    assert coarser(found, 1500) is found


def test_collision_shapes_stand_in_for_meshes_that_are_not_read(tmp_path):
    text = URDF.replace("brick.stl", "brick.dae").format(
        more='<collision><geometry><sphere radius="0.3"/></geometry></collision>'
    )
    (tmp_path / "brick.dae").write_text("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", encoding="utf-8")
    (tmp_path / "arm.urdf").write_text(text, encoding="utf-8")
    (found,) = visuals(tmp_path / "arm.urdf")["arm"]
    assert (found.kind, found.size) == ("sphere", (0.3,))


def test_what_cannot_be_read_is_told(arm, tmp_path, monkeypatch):
    model = load_with_notes(arm)[0]
    for source, words in (
        (7, "not shapes"),
        ("arm.stl", "not a URDF"),
        ({"leg": "a.stl"}, "no such body"),
        ({"arm": "nothing.stl"}, "cannot be read"),
        ({"arm": tmp_path / "arm.urdf"}, "a kind that is not read"),
        ({"arm": np.zeros((4, 3))}, "not triangles"),
    ):
        with pytest.raises(InputError, match=words):
            looks(source, model)
    (tmp_path / "brick.stl").write_bytes(b"solid nothing\nendsolid\n")
    with pytest.warns(ph.PolhodeWarning, match=r"brick\.stl.*\n.*\n.*left out"):
        assert [part["kind"] for part in looks(arm, model)["arm"]] == ["cylinder"]
    (tmp_path / "brick.stl").unlink()
    with pytest.warns(ph.PolhodeWarning, match="no such file"):
        looks(arm, model)
    outside = tmp_path / "inner" / "arm.urdf"
    outside.parent.mkdir()
    trimesh.creation.box().export(tmp_path / "brick.stl")
    outside.write_text(URDF.replace("brick.stl", "../brick.stl").format(more=""), encoding="utf-8")
    with pytest.warns(ph.PolhodeWarning, match="no such file"):
        looks(outside, model)
    monkeypatch.setitem(sys.modules, "trimesh", None)
    with pytest.raises(PolhodeError, match=r"pip install 'polhode\[meshes\]'"):
        looks({"arm": tmp_path / "brick.stl"}, model)


def test_a_machine_is_drawn_with_its_meshes(arm, tmp_path, browser):
    model = load_with_notes(arm)[0]
    run = ph.simulate(model, q=[0.4], duration=0.5, samples=21)
    arrays = Arrays()
    made = scene(run, model, arrays, looks=looks(arm, model))
    (body,) = [body for body in made["bodies"] if body["name"] == "arm"]
    assert [part["kind"] for part in body["parts"]] == ["mesh", "cylinder"]
    assert body["parts"][0]["reach"] == pytest.approx(math.hypot(0.2, 1.0, 0.1), rel=1e-3)  # four digits on the page
    film = Film(made, arrays, Shown(trails=False, vectors=False), (160, 120))
    picture = np.asarray(film.draw(0.2)).astype(int)
    assert np.mean(picture.max(axis=-1) - picture.min(axis=-1) > 60) > 0.01  # a coloured brick

    path = ph.animate(run, tmp_path / "arm.html", meshes=arm)
    page, faults = browser.new_page(), []
    page.on("console", lambda entry: entry.type == "error" and faults.append(entry.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready=yes]")
    page.wait_for_timeout(150)
    with_mesh = page.locator("canvas").first.screenshot()
    page.goto(ph.animate(run, tmp_path / "plain.html").as_uri())
    page.wait_for_selector("html[data-ready=yes]")
    page.wait_for_timeout(150)
    assert page.locator("canvas").first.screenshot() != with_mesh
    assert not faults
    page.close()
