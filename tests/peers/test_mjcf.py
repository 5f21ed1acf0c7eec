"""MJCF files read by us and compiled by MuJoCo, body by body."""

import struct
import sys
import warnings
from pathlib import Path

import mujoco
import numpy as np
import pytest

import polhode as ph
from placing import placements, random_configuration, zero_configuration
from plain import matrix_normalised
from polhode.errors import ModelError, PolhodeError, PolhodeWarning
from polhode.formats.mjcf.reader import load_mjcf

TOLERANCE = 1e-10
TYPES = {"revolute": mujoco.mjtJoint.mjJNT_HINGE, "prismatic": mujoco.mjtJoint.mjJNT_SLIDE}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """MuJoCo itself writes its log into the current folder."""
    monkeypatch.chdir(tmp_path)


def quiet(source, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PolhodeWarning)
        return load_mjcf(source, **options)


def real_bodies(ours):
    """The bodies that MuJoCo has too, in its order."""
    frames = {joint.parent for joint in ours.joints if joint.parent != "world" and ours.body(joint.parent).mass == 0}
    return [body for body in ours.bodies if not (body.name in frames and "." in body.name)]


def check_bodies(ours, theirs):
    bodies = real_bodies(ours)
    assert len(bodies) == theirs.nbody - 1
    for i, body in enumerate(bodies, 1):
        assert body.name == (theirs.body(i).name or f"body_{i}")
        assert body.mass == pytest.approx(theirs.body_mass[i], rel=TOLERANCE, abs=0), body.name
        R = matrix_normalised(theirs.body_iquat[i])
        J = R @ np.diag(theirs.body_inertia[i]) @ R.T
        np.testing.assert_allclose(body.inertia_matrix(), J, rtol=0, atol=TOLERANCE * abs(J).max(), err_msg=body.name)
        if body.mass:
            np.testing.assert_allclose(body.center, theirs.body_ipos[i], rtol=0, atol=TOLERANCE, err_msg=body.name)


def check_joints(ours, theirs):
    """Numbers that belong to the coordinates, one by one."""
    assert (ours.nq, ours.nv) == (theirs.nq, theirs.nv)
    dof = 0
    for joint in ours.joints:
        for k in range(joint.nv):
            armature = 0.0 if joint.type == "free" and k < 3 else joint.armature
            assert armature == pytest.approx(theirs.dof_armature[dof + k], rel=TOLERANCE)
            assert joint.damping == pytest.approx(theirs.dof_damping[dof + k].flat[0], rel=TOLERANCE)
        if joint.nv == 1 and theirs.jnt_type[theirs.dof_jntid[dof]] in TYPES.values():
            check_axis(joint, theirs, theirs.dof_jntid[dof])
        dof += joint.nv


def check_axis(joint, theirs, i):
    assert joint.name == (theirs.joint(i).name or f"joint_{i}")
    assert theirs.jnt_type[i] == TYPES[joint.type]
    unit = np.array(joint.axis) / np.linalg.norm(joint.axis)
    np.testing.assert_allclose(unit, theirs.jnt_axis[i], rtol=0, atol=TOLERANCE)
    assert joint.stiffness == pytest.approx(theirs.jnt_stiffness[i].flat[0], rel=TOLERANCE)
    assert joint.rest == pytest.approx(theirs.qpos_spring[theirs.jnt_qposadr[i]], rel=TOLERANCE)
    limits = theirs.jnt_range[i] if theirs.jnt_limited[i] else (-np.inf, np.inf)
    assert (joint.lower, joint.upper) == pytest.approx(tuple(limits), rel=TOLERANCE)


def check_placements(ours, theirs, q):
    data = mujoco.MjData(theirs)
    data.qpos[:] = q
    mujoco.mj_kinematics(theirs, data)
    found = placements(ours, q)
    for i, body in enumerate(real_bodies(ours), 1):
        T, size = found[body.name], max(1.0, abs(data.xpos[i]).max())
        np.testing.assert_allclose(T[:3, 3], data.xpos[i], rtol=0, atol=TOLERANCE * size, err_msg=body.name)
        np.testing.assert_allclose(T[:3, :3].ravel(), data.xmat[i], rtol=0, atol=TOLERANCE, err_msg=body.name)


def compare(ours, theirs):
    """Everything, at the start and anywhere."""
    check_bodies(ours, theirs)
    check_joints(ours, theirs)
    start = np.array(ours.start.q) if ours.start else zero_configuration(ours)
    np.testing.assert_allclose(start, theirs.qpos0, rtol=0, atol=TOLERANCE)
    disabled = theirs.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY
    assert ours.gravity == ((0.0, 0.0, 0.0) if disabled else tuple(theirs.opt.gravity))
    check_placements(ours, theirs, start)
    check_placements(ours, theirs, random_configuration(ours, np.random.default_rng(7)))


def agree(text):
    ours = quiet(text)
    compare(ours, mujoco.MjModel.from_xml_string(text))
    return ours


def world(content, before=""):
    return f"<mujoco>{before}<worldbody>{content}</worldbody></mujoco>"


def body(content, name="a", **attributes):
    given = " ".join(f'{key}="{value}"' for key, value in attributes.items())
    return f'<body name="{name}" {given}>{content}</body>'


SOLID = '<inertial pos="1 2 3" mass="2" diaginertia="1 2 2.5"/>'
ORIENTATIONS = [
    'quat="1 2 -3 4"',
    'axisangle="1 2 3 50"',
    'xyaxes="1 2 3 -1 1 0.5"',
    'zaxis="1 -2 -3"',
    'zaxis="0 0 -1"',
    'euler="10 -20 130"',
]
MESH = 'vertex="0 0 0 1 0 0 0 2 0 0 0 3 1 1 1"'


@pytest.mark.parametrize("turned", ORIENTATIONS)
@pytest.mark.parametrize("angle", ["degree", "radian"])
def test_orientations_are_resolved_in_every_form(turned, angle):
    inertial = f'<inertial pos="1 2 3" mass="2" diaginertia="1 2 2.5" {turned}/>'
    shape = f'<geom type="box" size=".1 .2 .3" pos="1 0 0" {turned}/>'
    inner = f'<body name="b" pos="3 2 1" {turned}><joint/>{shape}</body>'
    content = f'<body name="a" pos="1 2 3" {turned}><joint/>{inertial}{inner}</body>'
    agree(world(content, f'<compiler angle="{angle}"/>'))


@pytest.mark.parametrize("sequence", ["xyz", "XYZ", "zyx", "zXz", "Yxy", "zzx"])
def test_euler_angles_follow_their_sequence(sequence):
    content = body("<joint/>" + SOLID, euler="10 20 30")
    agree(world(content, f'<compiler eulerseq="{sequence}"/>'))


def test_defaults_and_classes_reach_their_elements():
    defaults = """<default><geom density="500"/><joint damping="1" armature="0.1"/>
      <default class="wide"><geom type="box" size=".1 .2 .3" mass="3"/><joint type="slide" axis="1 0 1"/>
        <default class="deep"><joint damping="3" range="-1 1" limited="true"/></default></default></default>"""
    inner = body('<joint/><geom/><joint class="deep" axis="0 1 0"/>', "b", childclass="wide")
    ours = agree(world(body('<joint name="j" class="deep"/><geom class="wide"/><geom size="1"/>' + inner), defaults))
    assert ours.joint("j").type == "prismatic"
    assert (ours.joint("j").lower, ours.joint("j").upper, ours.joint("j").damping) == (-1.0, 1.0, 3.0)


def test_nested_frames_place_bodies_joints_and_geoms():
    shape = '<frame pos="0 1 0" zaxis="1 0 0"><frame euler="3 4 5"><geom type="box" size=".1 .2 .3"/></frame></frame>'
    joints = '<frame pos="0 0 1" euler="10 20 30"><joint pos="1 1 0" axis="1 2 0"/><joint type="slide"/></frame>'
    inner = f'<frame pos="1 2 3" quat="1 1 0 2">{body(joints + shape, "b", pos="1 0 0")}</frame>'
    agree(world(f'<frame euler="10 20 30"><frame pos="1 2 3">{body("<joint/>" + SOLID + inner)}</frame></frame>'))


def test_copies_are_made_as_mujoco_makes_them():
    inner = body('<joint name="j" pos="1 0 0"/><geom size="1"/>', "r", pos="0 1 0")
    agree(world(body(f'<geom size="1"/><replicate count="3" offset="1 0 0" euler="0 0 20">{inner}</replicate>')))


def test_a_full_inertia_is_taken_as_it_is():
    full = '<inertial pos="1 2 3" mass="2" fullinertia="1 2 2.5 .1 .2 .3"/>'
    ours = agree(world(body("<joint/>" + full)))
    np.testing.assert_array_equal(ours.body("a").inertia_matrix(), [[1, 0.1, 0.2], [0.1, 2, 0.3], [0.2, 0.3, 2.5]])


@pytest.mark.parametrize(
    "shape",
    [
        'type="sphere" size=".3"',
        'type="capsule" size=".3 .5"',
        'type="cylinder" size=".3 .5"',
        'type="ellipsoid" size=".3 .5 .7"',
        'type="box" size=".3 .5 .7"',
        'type="capsule" fromto="0 0 0 1 2 -3" size=".2"',
        'type="cylinder" fromto="0 1 0 0 1 -3" size=".2"',
        'type="ellipsoid" fromto="1 0 0 1 2 3" size=".2"',
        'type="box" fromto="0 0 0 -1 2 3" size=".2"',
    ],
)
@pytest.mark.parametrize("weight", ['density="300"', 'mass="2"', 'shellinertia="true"', 'shellinertia="true" mass="2"'])
def test_geoms_carry_the_inertia_of_a_body_without_one(shape, weight):
    place = "" if "fromto" in shape else 'pos="1 2 3" euler="10 20 30"'
    other = '<geom type="box" size=".1 .1 .4" pos="-1 0 0"/>'
    agree(world(body(f"<joint/><geom {shape} {weight} {place}/>")))
    agree(world(body(f"<joint/><geom {shape} {weight} {place}/>{other}")))


@pytest.mark.parametrize("rule", ["true", "false", "auto"])
def test_geoms_count_as_the_compiler_says(rule):
    groups = '<geom size=".1" group="1"/><geom size=".2" group="3" pos="1 0 0"/><geom size=".3" group="4"/>'
    content = body(SOLID + groups + body(groups, "b") + body(SOLID + '<geom size="1" group="5"/>', "c"))
    agree(world(content, f'<compiler inertiafromgeom="{rule}" inertiagrouprange="3 4"/>'))


@pytest.mark.parametrize("inertia", ["convex", "exact", "legacy"])
@pytest.mark.parametrize("weight", ['mass="2"', 'density="30"'])
def test_meshes_carry_inertia(inertia, weight):
    asset = (
        f'<asset><mesh name="m" {MESH} inertia="{inertia}" scale="1 2 .5" refpos="1 1 1" refquat="1 2 3 4"/></asset>'
    )
    shape = f'<geom type="mesh" mesh="m" pos="1 2 3" euler="10 20 30" {weight}/><geom size=".1"/>'
    agree(world(body("<joint/>" + shape), asset))


@pytest.mark.parametrize("kind", ["box", "sphere", "capsule", "ellipsoid", "cylinder"])
def test_primitives_fitted_to_a_mesh_carry_inertia(kind):
    asset = f'<asset><mesh name="m" {MESH}/></asset>'
    agree(world(body(f'<joint/><geom type="{kind}" mesh="m" fitscale="1.5" quat="1 1 1 0"/>'), asset))


def write_tetrahedron(path):
    """A binary STL."""
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]], dtype="<f4")
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [np.zeros(3, "<f4").tobytes() + corners[list(face)].tobytes() + b"\0\0" for face in faces]
    path.write_bytes(b"\0" * 80 + struct.pack("<I", len(faces)) + b"".join(rows))


def test_included_parts_and_mesh_files_are_found_in_the_models_folder(tmp_path):
    write_tetrahedron(tmp_path / "meshes" / "deep" / "wedge.STL")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "assets.xml").write_text('<mujoco><asset><mesh file="deep/wedge.STL"/></asset></mujoco>')
    (tmp_path / "parts" / "arm.xml").write_text(
        '<mujocoinclude><include file="parts/leaf.xml"/><geom size="1"/></mujocoinclude>'
    )
    leaf = body('<joint/><geom type="mesh" mesh="wedge"/>', "leaf")
    (tmp_path / "parts" / "leaf.xml").write_text(f"<mujocoinclude>{leaf}</mujocoinclude>")
    include = '<include file="parts/assets.xml"/><compiler meshdir="meshes"/>'
    path = tmp_path / "arm.xml"
    path.write_text(world(body('<joint/><include file="parts/arm.xml"/>'), include))
    compare(quiet(path), mujoco.MjModel.from_xml_path(str(path)))


FOLDERS = ["", "m1", "m2", "sub", "sub/m1", "sub/x", "sub/deep", "m1/x", "x"]
"""Where meshes may lie, each a cube of a size of its own."""


def write_cube(path, half):
    corners = np.array([[x, y, z] for x in (-half, half) for y in (-half, half) for z in (-half, half)], dtype="<f4")
    faces = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1)]
    faces += [(2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)]
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [np.zeros(3, "<f4").tobytes() + corners[list(face)].tobytes() + b"\0\0" for face in faces]
    path.write_bytes(b"\0" * 80 + struct.pack("<I", len(faces)) + b"".join(rows))


def part(*content):
    return f"<mujoco>{''.join(content)}</mujoco>"


def includes(file):
    return f'<include file="{file}"/>'


def meshes(file="c.stl", name="c"):
    return f'<asset><mesh name="{name}" file="{file}"/></asset>'


def at(**attributes):
    return f"<compiler {' '.join(f'{key}={chr(34)}{value}{chr(34)}' for key, value in attributes.items())}/>"


CUBE = world(body('<joint/><geom type="mesh" mesh="c"/>')).removeprefix("<mujoco>").removesuffix("</mujoco>")
SUB = includes("sub/i.xml")
PLACES = {
    "alone": {"main.xml": part(meshes(), CUBE)},
    "alone, folder": {"main.xml": part(at(meshdir="m1"), meshes(), CUBE)},
    "alone, folder said last": {"main.xml": part(meshes(), CUBE, at(meshdir="m1"))},
    "alone, folder with a backslash": {"main.xml": part(at(meshdir="sub\\m1"), meshes(), CUBE)},
    "same folder": {"main.xml": part(at(meshdir="m1"), includes("i.xml"), CUBE), "i.xml": part(meshes())},
    "subfolder": {"main.xml": part(SUB, CUBE), "sub/i.xml": part(meshes())},
    "subfolder, a path": {"main.xml": part(SUB, CUBE), "sub/i.xml": part(meshes("m1/c.stl"))},
    "subfolder, up": {"main.xml": part(SUB, CUBE), "sub/i.xml": part(meshes("../m1/c.stl"))},
    "folder of the main file": {"main.xml": part(at(meshdir="m1"), SUB, CUBE), "sub/i.xml": part(meshes())},
    "folder of the part": {"main.xml": part(SUB, CUBE), "sub/i.xml": part(at(meshdir="m1"), meshes())},
    "both folders": {"main.xml": part(at(meshdir="m1"), SUB, CUBE), "sub/i.xml": part(at(meshdir="m2"), meshes())},
    "assets": {"main.xml": part(at(assetdir="m1"), SUB, CUBE), "sub/i.xml": part(meshes())},
    "assets, meshes": {"main.xml": part(at(assetdir="m1", meshdir="m2"), SUB, CUBE), "sub/i.xml": part(meshes())},
    "stripped": {"main.xml": part(at(strippath="true", meshdir="m1"), SUB, CUBE), "sub/i.xml": part(meshes("x/c.stl"))},
    "not stripped": {"main.xml": part(at(meshdir="m1"), SUB, CUBE), "sub/i.xml": part(meshes("x/c.stl"))},
    "nested": {
        "main.xml": part(SUB, CUBE), "sub/i.xml": part(includes("deep/j.xml")), "sub/deep/j.xml": part(meshes()),
    },
    "nested, from the main file": {
        "main.xml": part(SUB, CUBE), "sub/i.xml": part(includes("sub/deep/j.xml")), "sub/deep/j.xml": part(meshes()),
    },
    "two parts of one name": {
        "main.xml": part(SUB, CUBE), "sub/i.xml": part(includes("j.xml")),
        "j.xml": part(meshes("m1/c.stl")), "sub/j.xml": part(meshes("m2/c.stl")),
    },
    "absolute folder": {"main.xml": part(at(meshdir="ROOT/m2"), SUB, CUBE), "sub/i.xml": part(meshes())},
    "absolute file": {"main.xml": part(at(meshdir="m1"), SUB, CUBE), "sub/i.xml": part(meshes("ROOT/m2/c.stl"))},
    "inside asset": {
        "main.xml": part("<asset>", SUB, "</asset>", CUBE),
        "sub/i.xml": '<mujocoinclude><mesh name="c" file="c.stl"/></mujocoinclude>',
    },
}  # fmt: skip


@pytest.mark.parametrize("case", PLACES)
def test_mesh_files_of_included_parts_are_those_that_mujoco_finds(tmp_path, case):
    """With a mesh in every folder, and with one alone in each, mass and inertia are MuJoCo's."""
    for file, text in PLACES[case].items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text.replace("ROOT", str(tmp_path)))
    path, found = tmp_path / "main.xml", 0
    for kept in [FOLDERS, *([folder] for folder in FOLDERS)]:
        for k, folder in enumerate(FOLDERS):
            write_cube(tmp_path / folder / "c.stl", 0.1 + 0.05 * k)
            if folder not in kept:
                (tmp_path / folder / "c.stl").unlink()
        ours = quiet(path)
        try:
            theirs = mujoco.MjModel.from_xml_path(str(path))
        except ValueError:
            assert ours.bodies[0].mass == 0, kept
            continue
        compare(ours, theirs)
        found += 1
    assert found >= 2


def test_several_joints_on_one_body_turn_about_their_own_points():
    joints = """<joint name="j" pos="1 2 3" axis="1 0 2"/><joint name="k" type="slide" axis="0 1 1" pos="4 4 4"/>
      <joint name="l" type="hinge" pos="0 -1 0" ref="20"/>"""
    ours = agree(world(body(joints + SOLID, pos="1 0 0", euler="10 20 30")))
    assert [joint.child for joint in ours.joints] == ["a.j", "a.k", "a.l", "a"]
    assert [joint.type for joint in ours.joints] == ["revolute", "prismatic", "revolute", "fixed"]


def test_massless_frames_between_joints_are_no_reason_to_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_mjcf(world(body('<joint pos="1 2 3"/><joint type="slide"/>' + SOLID)))


@pytest.mark.parametrize("angle", ["degree", "radian"])
def test_joint_numbers_are_kept_in_radians(angle):
    hinge = '<joint name="j" armature=".3" damping=".4" stiffness="5" springref="20" ref="10" range="-1 2"/>'
    slide = '<joint name="k" type="slide" stiffness="5" springref="2" ref="1" range="-3 4" limited="false"/>'
    ours = agree(world(body(hinge + slide + SOLID), f'<compiler angle="{angle}"/>'))
    unit = np.pi / 180 if angle == "degree" else 1.0
    assert ours.start.q == pytest.approx((10 * unit, 1.0))
    assert ours.joint("j").rest == pytest.approx(20 * unit)


def test_limits_need_autolimits_or_a_word():
    joints = '<joint range="-1 2" limited="false"/><joint range="-1 2" limited="true" axis="1 0 0"/>'
    agree(world(body(joints + SOLID), '<compiler autolimits="false"/>'))


@pytest.mark.parametrize("joint", ['type="ball" pos="1 2 3" damping="2" armature=".1"', 'type="ball"'])
def test_ball_joints_have_mujocos_coordinates(joint):
    agree(world(body(f"<joint {joint}/>" + SOLID, pos="1 2 3", euler="10 20 30")))


def test_free_joints_count_from_the_world_and_start_at_the_body():
    ours = agree(world(body("<freejoint/>" + SOLID, pos="1 2 3", euler="10 20 30")))
    assert [joint.type for joint in ours.joints] == ["free"]
    assert ours.start.q[:3] == (1.0, 2.0, 3.0)


def test_a_free_joint_with_armature_is_three_slides_and_a_ball():
    ours = agree(world(body('<joint name="f" type="free" armature=".3" damping="2"/>' + SOLID, pos="1 2 3")))
    assert [joint.type for joint in ours.joints] == ["prismatic"] * 3 + ["spherical"]


def test_bodies_without_joints_are_fixed_and_those_without_names_get_one():
    ours = agree(world(f'<body pos="1 2 3"><body><joint/><geom size="1"/></body></body>{body(SOLID)}'))
    assert [(joint.name, joint.type, joint.child) for joint in ours.joints] == [
        ("body_1.fixed", "fixed", "body_1"),
        ("joint_0", "revolute", "body_2"),
        ("a.fixed", "fixed", "a"),
    ]


@pytest.mark.parametrize(
    "compiler",
    [
        'boundmass="0.5"',
        'boundinertia="0.2"',
        'balanceinertia="true"',
        'settotalmass="7"',
        'boundmass=".1" settotalmass="3"',
    ],
)
def test_masses_are_bounded_balanced_and_scaled_as_the_compiler_says(compiler):
    odd = "7" if "balance" in compiler else "1.9"
    flat = f'<inertial pos="0 1 0" euler="10 20 30" mass="1" diaginertia="1 1 {odd}"/>'
    content = body("<joint/>" + flat + body('<geom size=".05"/>' + body("", "c"), "b"))
    agree(world(content, f"<compiler {compiler}/>"))


@pytest.mark.parametrize("option", ['<option gravity="1 2 3"/>', '<option><flag gravity="disable"/></option>', ""])
def test_gravity_is_the_files(option):
    expected = {"": (0.0, 0.0, -9.81)}.get(option, (0.0, 0.0, 0.0) if "flag" in option else (1.0, 2.0, 3.0))
    assert quiet(world(body("<joint/>" + SOLID), option)).gravity == expected


EQUALITIES = """<equality>
  <joint name="gear" joint1="j" joint2="k" polycoef="0.1 2 0 0 0"/>
  <joint name="cam" joint1="k" joint2="j" polycoef="0.1 2 -0.3 0.4 0.5"/>
  <joint name="stop" joint1="k" polycoef="0.3 2 1 1 1"/>
  <connect body1="a" body2="b" anchor="1 2 3"/>
  <connect body1="b" anchor="1 2 3"/>
  <weld name="glue" body1="a" relpose="1 2 3 1 0 0 0" active="false"/>
  <weld body1="b" body2="c" relpose="1 2 3 1 0.2 0 0.5" anchor="0.3 0.2 0.1"/>
  <weld body1="c" anchor="0.3 0.2 0.1"/>
  <weld site1="s" site2="t"/>
  <connect site1="s" site2="t"/>
</equality>"""


def equalities():
    site = '<site name="s" pos="1 0 0" euler="10 20 30"/>'
    inner = '<joint name="k" ref="10"/><frame pos="0 0 1"><site name="t" pos="0 1 0"/></frame>' + SOLID
    inner += body('<joint type="ball"/>' + SOLID, "c", pos="0.1 0.2 0.3", euler="5 6 7")
    bodies = body(
        '<joint name="j" ref="20"/>' + site + SOLID + body(inner, "b", pos="1 1 0", quat="1 0.1 0.2 0.3"), pos="0 1 2"
    )
    return world(bodies).replace("</mujoco>", EQUALITIES + "</mujoco>")


def test_equality_constraints_become_ours():
    gear, cam, stop, pin, peg, weld, held, sites, points = agree(equalities()).constraints
    assert (gear.name, gear.type, gear.data["joint"], gear.data["source"]) == ("gear", "mimic", "j", "k")
    assert gear.data["multiplier"] == 2
    assert gear.data["offset"] == pytest.approx(np.radians(20) + 0.1 - 2 * np.radians(10))
    assert (cam.type, len(cam.data["polynomial"])) == ("mimic", 5)
    assert (stop.type, stop.data["value"]) == ("prescribed", pytest.approx(np.radians(10) + 0.3))
    assert (pin.type, pin.data["body_a"], pin.data["body_b"], pin.data["position_a"]) == (
        "spherical",
        "a",
        "b",
        (1, 2, 3),
    )
    assert (peg.type, "body_a" in peg.data, peg.data["body_b"]) == ("spherical", False, "b")
    assert [c.type for c in (weld, held, sites, points)] == ["weld", "weld", "weld", "spherical"]


def test_equality_constraints_that_are_not_active_are_named():
    with pytest.warns(PolhodeWarning, match=r"not used: equality\.weld that is not active \(1\)"):
        load_mjcf(equalities())


def test_equality_constraints_miss_what_mujocos_miss():
    """At any configuration: rows of joints alike, points apart by as much, welds that hold where theirs do."""
    text = equalities()
    ours, theirs = quiet(text), mujoco.MjModel.from_xml_string(text)
    system, data = ph.compile(ours, target="python"), mujoco.MjData(theirs)
    names = [c.name for c in ours.constraints]
    for q in (np.array(ours.start.q), random_configuration(ours, np.random.default_rng(3))):
        data.qpos[:] = q
        mujoco.mj_forward(theirs, data)
        missed = dict(
            zip(system.constraint_names, system.constraint_residuals(q, np.zeros(ours.nv)).positions, strict=True)
        )
        active = [i for i in range(theirs.neq) if theirs.eq_active0[i]]
        for i, name in zip(active, names, strict=True):
            rows = data.efc_pos[: data.ne][data.efc_id[: data.ne] == i]
            mine = np.array([x for row, x in missed.items() if row.rpartition(".")[0] == name])
            if len(rows) == 1:
                assert mine == pytest.approx(rows, abs=1e-13)
            else:
                assert np.linalg.norm(mine[:3]) == pytest.approx(np.linalg.norm(rows[:3]), abs=1e-12)
                assert (np.max(abs(mine)) < 1e-12) == (np.max(abs(rows)) < 1e-12)


def test_what_a_weld_asks_for_is_what_mujocos_asks_for():
    """A body that flies to where ours is zero is where MuJoCo's is zero."""
    free = '<freejoint/><inertial pos="1 2 3" mass="2" diaginertia="1 2 2.5"/>'
    weld = '<equality><weld body1="a" body2="b" relpose="1 2 3 1 0.2 0 0.5" anchor="0.3 0.2 0.1"/></equality>'
    text = world(body(free) + body(free, "b")).replace("</mujoco>", weld + "</mujoco>")
    ours, theirs = quiet(text), mujoco.MjModel.from_xml_string(text)
    q = random_configuration(ours, np.random.default_rng(3))
    found = ph.consistent_start(ours, q, np.zeros(12)).q
    data = mujoco.MjData(theirs)
    data.qpos[:] = found
    mujoco.mj_forward(theirs, data)
    assert np.max(abs(data.efc_pos[: data.ne])) < 1e-10
    assert data.ne == 6


def test_mujocos_own_test_model_agrees():
    path = Path(mujoco.__file__).parent / "testdata" / "model.xml"
    compare(quiet(path), mujoco.MjModel.from_xml_path(str(path)))


UNUSED = """<mujoco><option timestep="0.01" gravity="0 0 -1"/><asset><mesh name="m" file="../out.stl"/></asset>
  <worldbody><light/><body name="a"><joint name="j" frictionloss="2" damping="1 2"/><site name="s"/>
    <geom size="1" friction="1 0 0" rgba="1 0 0 1"/><geom type="mesh" mesh="m"/>
    <body name="b"/><body name="c"><inertial pos="0 0 0" mass="1" diaginertia="1 1 9"/></body></body></worldbody>
  <actuator><motor joint="j"/></actuator><sensor><jointpos joint="j"/></sensor>
</mujoco>"""


def test_each_kind_of_finding_is_one_warning_with_names(tmp_path):
    path = tmp_path / "arm.xml"
    path.write_text(UNUSED)
    with pytest.warns(PolhodeWarning) as caught:
        model = load_mjcf(path)
    assert [frame.name for frame in model.frames] == ["s"]
    bare, odd, unused, meshes, lighter = (str(warning.message) for warning in caught)
    assert "without mass: 'b'" in bare
    assert "'c'" in odd
    assert f"{path}:4" in odd
    for name in (
        "actuator (1)",
        "sensor (1)",
        "light (1)",
        "option.timestep (1)",
        "joint.frictionloss (1)",
    ):
        assert name in unused
    for name in ("geom.friction (1)", "geom.rgba (1)", "joint.damping beyond its linear part (1)"):
        assert name in unused
    assert "gravity" not in unused
    assert "../out.stl" in meshes
    assert "'a'" in lighter


def test_a_missing_mujoco_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(PolhodeError, match=r"pip install 'polhode\[robots\]'"):
        load_mjcf(world(""))


def test_a_free_joint_below_another_body_is_refused():
    with pytest.raises(ModelError, match=r"<text>:1, body 'b': a free joint out of place"):
        load_mjcf(world(body(body("<freejoint/>" + SOLID, "b"))))
