"""The bundled models and `load`: every name gives the machine it promises, every mistake is told."""

import csv
import math
import warnings
from pathlib import Path

import numpy as np
import pytest

import polhode as ph
from plain import matrix
from polhode.bench.published import FOLDER as DATA
from polhode.formats import registry
from polhode.formats.library import bundled, names
from polhode.formats.load import load, load_with_notes, xml_format
from polhode.formats.yaml import model_from_yaml, to_yaml

OF_SERIES = {"chain": "chain-10", "closed-chain": "closed-chain-10", "n-four-bar": "n-four-bar-2"}
"""What names that stand for a series load."""

WARNS = {"puma-560": 2}
DIGITS = 1e-10
"""The reference digits have ten decimals."""


def quiet(name):
    return load_with_notes(name)[0]


@pytest.mark.parametrize("name", names())
def test_a_bundled_model_loads_and_warns_only_where_its_data_are_odd(name):
    model, notes = load_with_notes(name)
    assert model.name == OF_SERIES.get(name, name)
    assert len(notes) == WARNS.get(name, 0)
    assert len(model.start.q) == model.nq
    assert len(model.start.v) == model.nv
    assert model.start.duration > 0


@pytest.mark.parametrize("name", [*names(), "chain-1", "chain-50"])
def test_a_bundled_model_survives_a_file(name):
    model = quiet(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ph.PolhodeWarning)
        assert model_from_yaml(to_yaml(model), "again.yaml") == model


@pytest.mark.parametrize("name", names())
def test_start_quaternions_are_unit_and_limits_hold_the_start(name):
    model, at = quiet(name), 0
    for joint in model.joints:
        q = model.start.q[at : at + joint.nq]
        at += joint.nq
        if joint.type in ("free", "spherical"):
            assert math.hypot(*q[-4:]) == pytest.approx(1, abs=1e-15)
        else:
            assert all(joint.lower <= x <= joint.upper for x in q)


def test_the_sizes_are_those_of_the_machines():
    sizes = {name: (quiet(name).nq, quiet(name).nv, len(quiet(name).bodies)) for name in names()}
    assert sizes == {
        "andrews": (7, 7, 7), "arm-6": (6, 6, 6), "arm-7": (7, 7, 7), "bicycle": (10, 9, 4), "bricard": (5, 5, 5),
        "cart-pole": (2, 2, 2), "chain": (10, 10, 10), "chaplygin-sleigh": (3, 3, 1), "closed-chain": (10, 10, 10),
        "double-pendulum": (2, 2, 2), "flyball-governor": (4, 4, 6), "four-bar": (3, 3, 3), "free-body": (7, 6, 1),
        "heavy-top": (4, 3, 1), "manipulator": (3, 3, 3), "n-four-bar": (5, 5, 5), "pendulum": (1, 1, 1),
        "puma-560": (6, 6, 6), "quadruped": (19, 18, 13), "rolling-disk": (7, 6, 1), "rolling-sphere": (7, 6, 1),
        "rprr": (4, 4, 4), "slider-crank-3d": (6, 5, 3), "spacecraft": (10, 9, 4), "spherical-pendulum": (4, 3, 1),
        "stewart-platform": (25, 24, 13), "t-handle": (7, 6, 1),
    }  # fmt: skip
    assert [joint.type[0].upper() for joint in quiet("rprr").joints] == list("RPRR")


@pytest.mark.parametrize("links", [1, 7, 50, 500])
def test_a_chain_has_the_links_of_its_name(links):
    chain = bundled(f"chain-{links}")
    assert (chain.nv, chain.joints[-1].child) == (links, f"link{links}")
    assert all(a.axis != b.axis for a, b in zip(chain.joints, chain.joints[1:], strict=False))


def mass_matrix_and_gravity(model, q):
    """Σ m JᵥᵀJᵥ + JωᵀI Jω and −Σ m Jᵥᵀg from the records of a chain of one-axis joints, joints in order."""
    n = model.nv
    placed = {"world": (np.zeros(3), np.eye(3), np.zeros((3, n)), np.zeros((3, n)))}  # position, R, Jv, Jw
    M, torque = np.diag([joint.armature for joint in model.joints]), np.zeros(n)
    for k, joint in enumerate(model.joints):
        p, R, Jv, Jw = placed[joint.parent]
        arm, turned = R @ joint.position, R @ matrix(joint.orientation)
        p, Jv, Jw = p + arm, Jv + np.cross(Jw.T, arm).T, Jw.copy()
        axis = np.array(joint.axis) / np.linalg.norm(joint.axis)
        if joint.type == "revolute":
            Jw[:, k] += turned @ axis
            turned = turned @ matrix((math.cos(q[k] / 2), *math.sin(q[k] / 2) * axis))
        else:
            Jv[:, k] += turned @ axis
            p = p + turned @ axis * q[k]
            Jv = Jv + np.cross(Jw.T, turned @ axis * q[k]).T
        placed[joint.child] = p, turned, Jv, Jw
        body = model.body(joint.child)
        Jc = Jv + np.cross(Jw.T, turned @ body.center).T
        M = M + body.mass * Jc.T @ Jc + Jw.T @ turned @ body.inertia_matrix() @ turned.T @ Jw
        torque -= body.mass * Jc.T @ model.gravity
    return M, torque


def test_the_puma_has_the_published_mass_matrix_and_gravity():
    puma = quiet("puma-560")
    expected = {"M": np.zeros((6, 6)), "gravity": np.zeros(6), "links": np.zeros(6)}
    with (DATA / "puma_560.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            i, j, value = int(row["i"]) - 1, int(row["j"]) - 1, float(row["value"])
            if row["quantity"] == "M":
                expected["M"][i, j] = expected["M"][j, i] = value
            else:
                expected[row["quantity"]][i] = value
    M, torque = mass_matrix_and_gravity(puma, puma.start.q)
    assert np.max(abs(M - expected["M"])) < DIGITS
    assert np.max(abs(torque - expected["gravity"])) < DIGITS
    links = np.diag(M) - [joint.armature for joint in puma.joints]
    assert np.max(abs(links - expected["links"])) < DIGITS


@pytest.mark.parametrize("name", ["arm-6", "arm-7", "manipulator", "rprr", "cart-pole", "double-pendulum", "chain-7"])
def test_the_mass_matrix_of_a_bundled_chain_is_positive_definite(name):
    model = quiet(name)
    M, _ = mass_matrix_and_gravity(model, model.start.q)
    assert np.max(abs(M - M.T)) < 1e-12
    assert np.linalg.eigvalsh(M)[0] > 1e-6


def test_the_double_pendulum_is_that_of_the_textbook():
    """Relative angles (a, b), m = l = 1: M = [[3 + 2 cos b, 1 + cos b], [1 + cos b, 1]]."""
    a, b = 0.3, 0.7
    M, torque = mass_matrix_and_gravity(quiet("double-pendulum"), (a, b))
    assert np.allclose(M, [[3 + 2 * math.cos(b), 1 + math.cos(b)], [1 + math.cos(b), 1]], rtol=1e-14)
    assert np.allclose(torque, 9.81 * np.array([2 * math.sin(a) + math.sin(a + b), math.sin(a + b)]), rtol=1e-14)


def test_the_t_handle_spins_about_its_middle_axis():
    handle = quiet("t-handle")
    A, B, C = np.diag(handle.bodies[0].inertia_matrix())
    assert B < A < C
    assert handle.start.v[3] == max(handle.start.v)


def test_the_heavy_top_is_that_of_the_lie_group_papers():
    top = quiet("heavy-top")
    about_tip = np.diag(top.bodies[0].inertia_matrix()) + 15 * np.array([1, 0, 1])
    assert np.allclose(about_tip, [15.234375, 0.46875, 15.234375], rtol=1e-15)
    assert top.start == ph.Start((1, 0, 0, 0), (0, 150, -4.61538), 2)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("heavytop", ["no bundled model", "Did you mean 'heavy-top'?"]),
        ("Heavy_Top", ["Did you mean 'heavy-top'?"]),
        ("nothing like it at all", ["no bundled model", "arm-6, arm-7", "with its suffix"]),
        ("", ["no bundled model"]),
        ("puma", ["no bundled model"]),
        ("chain-0", ["no such length", "0 links"]),
        ("chain-999999999999999999", ["no such length", "1 to 100000"]),
        ("chain-x", ["no bundled model", "chain"]),
        ("arm", ["no bundled model", "'arm.yaml'"]),
        ("arn.yaml", ["no such file", "Did you mean 'arm.yaml'?"]),
        ("pendulum.yaml", ["no such file", "bundled model 'pendulum'"]),
        ("no/such/arm.urdf", ["no such file", "no folder"]),
        ("arm.json", ["no such suffix: .json", ".urdf", "bundled"]),
        ("folder", ["a folder"]),
        ("folder.yaml", ["not a file"]),
        ("sub/arm", ["no suffix", ".yaml"]),
        ("other.xml", ["neither MJCF nor SDF nor URDF", "<svg>"]),
        ("empty.xml", ["neither MJCF nor SDF nor URDF", "no element"]),
        ("a\0b.yaml", ["not a name or a path"]),
        ("a" * 5000 + ".yaml", ["cannot be read"]),
        (None, ["not a name or a path"]),
    ],
)
def test_what_cannot_be_loaded_is_told(tmp_path, monkeypatch, source, words):
    monkeypatch.chdir(tmp_path)
    Path("arm.yaml").write_text("name: arm\n", encoding="utf-8")
    Path("folder").mkdir()
    Path("folder.yaml").mkdir()
    Path("other.xml").write_text("<?xml version='1.0'?><!-- <robot> --><!DOCTYPE svg><svg/>", encoding="utf-8")
    Path("empty.xml").write_text("<!-- <mujoco/>", encoding="utf-8")
    with pytest.raises((ph.InputError, ph.ModelError)) as error:
        load(source)
    for word in words:
        assert word in str(error.value)


def test_files_are_read_by_their_suffix_whatever_its_case(tmp_path):
    text = to_yaml(quiet("pendulum"))
    for name in ("a.yaml", "b.yml", "C.YAML"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert load(tmp_path / name) == load(str(tmp_path / name)) == quiet("pendulum")


ROBOT = """\
<?xml version='1.0'?>
<!-- <svg> -->
<robot name="arm">
  <link name="upper">
    <inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
</robot>
"""
MUJOCO = """\
\ufeff<?xml version='1.0'?><!DOCTYPE mujoco>
<mujoco model="arm">
  <worldbody>
    <body name="upper"><joint name="hinge"/><inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/></body>
  </worldbody>
</mujoco>
"""


@pytest.mark.parametrize(
    ("name", "text"), [("a.urdf", ROBOT), ("b.xml", ROBOT), ("c.xml", MUJOCO.replace("<!DOCTYPE mujoco>", ""))]
)
def test_an_xml_file_is_read_by_its_first_element(tmp_path, name, text):
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert load(tmp_path / name).body("upper").mass == 2


@pytest.mark.parametrize(("text", "kind"), [(ROBOT, "URDF"), (MUJOCO, "MJCF"), ("<!-- -->" * 9 + "<robot/>", "URDF")])
def test_the_first_element_is_found_behind_any_prolog(tmp_path, text, kind):
    path = tmp_path / "model.xml"
    path.write_text(text, encoding="utf-8")
    assert xml_format(path).name == kind


def test_options_are_checked_and_never_ignored(tmp_path):
    with pytest.raises(ph.InputError, match=r"argument base: unknown.\n  found 'loose'; expected 'fixed' or 'free'"):
        load("pendulum", base="loose")
    with pytest.raises(ph.InputError, match="argument mimic: unknown"):
        load("pendulum", mimic="none")
    with pytest.raises(ph.InputError, match="is for URDF, and this is a bundled model"):
        load("pendulum", base="free")
    (tmp_path / "a.yaml").write_text(to_yaml(quiet("pendulum")), encoding="utf-8")
    with pytest.raises(
        ph.InputError, match="argument mimic: is for URDF, SDF and Drake's directives, and this is our YAML"
    ):
        load(tmp_path / "a.yaml", mimic="free")
    with pytest.raises(ph.InputError, match="argument packages: is for URDF, SDF, Drake's directives, USD and MJCF"):
        load(tmp_path / "a.yaml", packages=["folder"])
    (tmp_path / "a.xml").write_text(MUJOCO, encoding="utf-8")
    with pytest.raises(ph.InputError, match="argument base: is for URDF, and this is MJCF"):
        load(tmp_path / "a.xml", base="free")
    (tmp_path / "a.urdf").write_text(ROBOT, encoding="utf-8")
    assert load(tmp_path / "a.urdf", base="free").nq == 7


def test_a_format_is_one_module_and_one_row(tmp_path, monkeypatch):
    """One more kind of XML, and one with a suffix of its own, are loaded, told of and offered like ours."""
    (tmp_path / "vrml_reader.py").write_text(
        "import polhode as ph\ndef read(path, packages=()):\n    return ph.Model(path.stem + str(len(packages)))\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    new = registry.FileFormat("VRML", (".vrml", ".xml"), "vrml_reader.read", "vrml", ("packages",))
    monkeypatch.setattr(registry, "FORMATS", (*registry.FORMATS, new))
    for name in ("a.vrml", "b.xml"):
        (tmp_path / name).write_text("<vrml/>", encoding="utf-8")
        assert load(tmp_path / name, packages=["folder"]).name == f"{name[0]}1"
    with pytest.raises(ph.InputError, match="argument base: is for URDF, and this is VRML"):
        load(tmp_path / "a.vrml", base="free")
    with pytest.raises(ph.InputError, match=r"\.xml \(MJCF or SDF or URDF or VRML\), .*\.vrml \(VRML\)"):
        load(tmp_path / "a.step")
    (tmp_path / "c.xml").write_text("<svg/>", encoding="utf-8")
    with pytest.raises(ph.ModelError, match="neither MJCF nor SDF nor URDF nor VRML"):
        load(tmp_path / "c.xml")
