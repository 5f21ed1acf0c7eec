"""What bodies look like: checked, kept by files and edits, and no part of the mechanics."""

import math
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest

import polhode as ph
from polhode.formats.registry import model_of_text
from polhode.formats.yaml import to_yaml

QUARTER = (math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0)


def shaped(**changes):
    model = ph.load("double-pendulum")
    values = {"name": "rod", "body": "upper", "type": "box", "size": (0.1, 0.2, 0.3), "position": (0, 0, -0.5)}
    return replace(model, shapes=[ph.BodyShape(**(values | changes))])


def moments(shape, mass):
    """Principal moments of a uniform cylinder about its middle, and its place."""
    r, h = shape.size
    J = np.diag([mass * (r**2 / 4 + h**2 / 12)] * 2 + [mass * r**2 / 2])
    R = np.asarray(ph.quaternion.rotation_matrix(np.array(shape.orientation)))
    return R @ J @ R.T, np.array(shape.position)


def test_the_t_handle_has_the_inertia_of_its_shapes():
    """Two bars of one material, the oracle of both: mass centre at the origin, and the moments of the file."""
    model = ph.load("t-handle")
    body, bars = model.bodies[0], model.shapes
    volumes = [math.pi * bar.size[0] ** 2 * bar.size[1] for bar in bars]
    found, center = np.zeros((3, 3)), np.zeros(3)
    for bar, volume in zip(bars, volumes, strict=True):
        mass = body.mass * volume / sum(volumes)
        J, c = moments(bar, mass)
        found += J + mass * (c @ c * np.eye(3) - np.outer(c, c))
        center += mass * c
    np.testing.assert_allclose(center, 0, atol=1e-15)
    np.testing.assert_allclose(found, np.diag(body.inertia), rtol=2e-6, atol=1e-15)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"type": "cone"}, "no such shape"),
        ({"type": "cylinder"}, "size"),
        ({"size": (0.1, 0.0, 0.3)}, "not above 0"),
        ({"type": "mesh"}, "a mesh is a file"),
        ({"file": "a.stl"}, "a mesh is a file"),
        ({"orientation": (1, 1, 0, 0)}, "not a unit quaternion"),
        ({"body": "uper"}, "no such body"),
    ],
)
def test_what_is_no_shape_is_refused(changes, told):
    with pytest.raises(ph.ModelError, match=told):
        shaped(**changes)


def test_shapes_are_no_part_of_the_mechanics():
    plain, looks = ph.load("double-pendulum"), shaped()
    assert plain == looks
    assert hash(plain) == hash(looks)
    assert [*plain.numbers()] == [*looks.numbers()]


def test_a_file_keeps_shapes_but_not_files_of_meshes():
    model = shaped(orientation=QUARTER)
    assert model_of_text(to_yaml(model), "kept").shapes == model.shapes
    mesh = ph.BodyShape("look", "lower", "mesh", (1, 1, 1), file="/somewhere/a.stl")
    text = to_yaml(replace(model, shapes=[*model.shapes, mesh]))
    assert "somewhere" not in text
    assert model_of_text(text, "kept").shapes == model.shapes


def test_a_file_gives_the_orientation_as_angles_too():
    text = to_yaml(shaped(orientation=QUARTER))
    line = next(line for line in text.splitlines() if "orientation" in line and "0.707" in line)
    turned = model_of_text(text.replace(line, f"    rpy: [0, {math.pi / 2}, 0]"), "turned")
    np.testing.assert_allclose(turned.shapes[0].orientation, QUARTER, atol=1e-15)
    with pytest.raises(ph.ModelError, match=r"shapes\.rod"):
        model_of_text(text.replace("type: box", "type: ball"), "wrong")


def corners(model):
    """The corners of the box in the world, with the model at its zero, sorted."""
    system = ph.compile(model, target="python")
    shape = model.shapes[0]
    pose = system.pose(model.zero, body=shape.body)
    signs = np.array(np.meshgrid(*[(-0.5, 0.5)] * 3)).reshape(3, -1).T
    own = np.asarray(ph.quaternion.rotate(np.array(shape.orientation), signs * shape.size)) + shape.position
    found = np.asarray(ph.quaternion.rotate(np.asarray(pose.quaternion), own)) + pose.position
    return found[np.lexsort(found.round(9).T)]


TILTED = ph.quaternion.from_axis_angle((1, 2, 3), 0.7)


def test_scaled_models_have_scaled_shapes():
    model = shaped(orientation=TILTED)
    np.testing.assert_allclose(corners(model.scaled(length=2.0)), 2 * corners(model), atol=1e-12)


def test_mirrored_models_have_mirrored_shapes():
    model = shaped(orientation=TILTED, position=(0.1, 0.2, -0.5))
    image = corners(model) * (1, -1, 1)
    np.testing.assert_allclose(corners(model.mirrored()), image[np.lexsort(image.round(9).T)], atol=1e-12)


def test_merged_bodies_keep_their_looks():
    model = shaped(body="lower", orientation=TILTED)
    locked = model.with_locked(["elbow"])
    np.testing.assert_allclose(corners(locked), corners(model), atol=1e-12)


def test_links_of_a_urdf_bring_their_shapes(tmp_path):
    (tmp_path / "a.stl").write_text("solid a\nendsolid a\n", encoding="utf-8")
    visual = '<visual><origin xyz="0 0 1" rpy="0 0 0"/><geometry>{}</geometry></visual>'
    shapes = ['<cylinder radius="0.1" length="2"/>', '<mesh filename="a.stl"/>', '<mesh filename="gone.stl"/>']
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    for shape, known in zip(shapes, ([("cylinder", (0.1, 2.0))], [("mesh", (1.0, 1.0, 1.0))], []), strict=True):
        path = tmp_path / "r.urdf"
        path.write_text(f'<robot name="r"><link name="arm">{inertial}{visual.format(shape)}</link></robot>')
        with pytest.warns(ph.PolhodeWarning) if "gone" in shape else nullcontext():
            model = ph.load(path)
        assert [(each.type, each.size) for each in model.shapes] == known
        assert all(each.position == (0.0, 0.0, 1.0) for each in model.shapes)
