"""What bodies of an MJCF look like: MuJoCo puts its geoms in the same places."""

import mujoco
import numpy as np
import pytest

import polhode as ph
from polhode.formats.mjcf.reader import load_mjcf

TETRAHEDRON = """v 0 0 0
v 0.3 0 0
v 0 0.2 0
v 0 0 0.1
f 1 3 2
f 1 2 4
f 1 4 3
f 2 3 4
"""

TEXT = """<mujoco>
  <compiler angle="degree" eulerseq="xyz"/>
  <asset><mesh name="tip" file="tip.obj" scale="2 1 1"/></asset>
  <worldbody>
    <body name="arm" pos="0 0 1">
      <freejoint/>
      <geom name="rod" type="capsule" fromto="0.1 0 0 1 0.2 0.3" size="0.1"/>
      <geom name="block" type="box" size="0.1 0.2 0.3" pos="0 1 0" euler="30 40 50"/>
      <geom name="touch" type="sphere" size="0.05" group="3"/>
      <body name="hand" pos="1 0 0">
        <joint type="hinge" axis="0 1 0"/>
        <geom name="drum" type="cylinder" size="0.05 0.2" pos="0.3 0 0" quat="0.5 0.5 0.5 0.5" group="4"/>
        <geom type="ellipsoid" size="0.1 0.2 0.3" mass="1"/>
        <body name="tool" pos="0 0.1 0">
          <joint type="slide" axis="0 0 1"/>
          <geom name="tip" type="mesh" mesh="tip" pos="0.1 0.2 0.3" euler="0 0 90"/>
          <geom type="box" size="0 0 0" fromto="1 1 1 1 1 1" mass="0"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


@pytest.fixture
def files(tmp_path):
    (tmp_path / "tip.obj").write_text(TETRAHEDRON, encoding="utf-8")
    path = tmp_path / "arm.xml"
    path.write_text(TEXT.replace('<geom type="box" size="0 0 0" fromto="1 1 1 1 1 1" mass="0"/>', ""), encoding="utf-8")
    return path


def test_shapes_are_where_mujoco_has_its_geoms(files):
    model, theirs = load_mjcf(files), mujoco.MjModel.from_xml_path(str(files))
    found = {shape.name: shape for shape in model.shapes}
    kinds = ["cylinder", "sphere", "sphere", "box", "cylinder", "mesh"]
    assert [*found] == ["arm-0", "arm-1", "arm-2", "arm-3", "hand-0", "tool-0"]
    assert [shape.type for shape in found.values()] == kinds
    for name, geom in (("arm-0", "rod"), ("arm-3", "block"), ("hand-0", "drum")):
        at = theirs.geom(geom)
        np.testing.assert_allclose(found[name].position, at.pos, atol=1e-12)
        R = np.array(ph.quaternion.rotation_matrix(np.array(found[name].orientation)))
        S = np.array(ph.quaternion.rotation_matrix(at.quat))
        assert abs(R[:, 2] @ S[:, 2]) == pytest.approx(1.0, abs=1e-12)  # z, about which cylinders are round
        sizes = {"rod": (0.1, 2 * at.size[1]), "block": 2 * at.size, "drum": (0.05, 0.4)}[geom]
        np.testing.assert_allclose(found[name].size, sizes, atol=1e-12)
    rod = theirs.geom("rod")
    ends = np.array([found["arm-1"].position, found["arm-2"].position])
    np.testing.assert_allclose(ends.mean(axis=0), rod.pos, atol=1e-12)
    np.testing.assert_allclose(ends[0], (1, 0.2, 0.3), atol=1e-12)


def test_a_mesh_is_drawn_as_its_file_has_it(files):
    """MuJoCo moves vertices into principal axes, and the geom back."""
    model, theirs = load_mjcf(files), mujoco.MjModel.from_xml_path(str(files))
    (shape,) = (x for x in model.shapes if x.type == "mesh")
    geom = theirs.geom("tip")
    first, count = theirs.mesh_vertadr[geom.dataid[0]], theirs.mesh_vertnum[geom.dataid[0]]
    S = np.array(ph.quaternion.rotation_matrix(geom.quat))
    expected = theirs.mesh_vert[first : first + count] @ S.T + geom.pos
    vertices = np.array([line.split()[1:] for line in TETRAHEDRON.splitlines() if line.startswith("v")], dtype=float)
    R = np.array(ph.quaternion.rotation_matrix(np.array(shape.orientation)))
    found = vertices * shape.size @ R.T + shape.position
    assert len(found) == len(expected)
    for point in found:
        assert np.min(np.linalg.norm(expected - point, axis=1)) < 1e-6  # its vertices are single precision


def test_a_geom_that_is_no_shape_is_not_drawn(tmp_path):
    """Two equal points are refused only where the mass of the geom is asked for."""
    (tmp_path / "tip.obj").write_text(TETRAHEDRON, encoding="utf-8")
    path = tmp_path / "arm.xml"
    path.write_text(TEXT, encoding="utf-8")
    assert [shape.type for shape in load_mjcf(path).shapes if shape.body == "tool"] == ["mesh"]
