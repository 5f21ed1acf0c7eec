"""URDF files read by us and by Pinocchio (and by MuJoCo where it can), body by body."""

import importlib.metadata
import warnings
from functools import cache

import mujoco
import numpy as np
import pinocchio
import pytest

from placing import (
    coordinates,
    moments,
    moved_moments,
    placements,
    random_configuration,
    zero_configuration,
)
from plain import matrix_normalised
from polhode.errors import InputError, ModelError, PolhodeWarning
from polhode.formats.urdf import load_urdf
from polhode.formats.xml_guard import XmlElement, read_xml, write_xml
from polhode.model import Joint

ROBOTS = {
    str(file).split("/robots/", 1)[1]: file.locate()
    for file in importlib.metadata.files("example-robot-data") or ()
    if str(file).endswith(".urdf")
}
DEFECTIVE = {
    "falcon_description/urdf/falcon.urdf",  # a joint of a link that is not in the file
    "ur_description/urdf/ur3.urdf",  # a xacro without links
}
LOADABLE = sorted(set(ROBOTS) - DEFECTIVE)
TOLERANCE = 1e-10


def quiet(path, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PolhodeWarning)
        return load_urdf(path, **options)


@cache
def pair(robot, base):
    """Our model and Pinocchio's."""
    path = ROBOTS[robot]
    ours = quiet(path, base=base, mimic="free")
    if base == "free":
        return ours, pinocchio.buildModelFromUrdf(str(path), pinocchio.JointModelFreeFlyer())
    return ours, pinocchio.buildModelFromUrdf(str(path))


def pinocchio_configuration(ours, theirs, q):
    """q in Pinocchio's order and shapes: quaternions scalar last, endless angles as cosine and sine."""
    found = pinocchio.neutral(theirs)
    for name, part in coordinates(ours, q).items():
        if not part.size:
            continue
        joint = theirs.joints[theirs.getJointId(name)]
        if part.size == 7:
            value = [*part[:3], *part[4:], part[3]]
        elif part.size == 3:
            value = [part[0], part[1], np.cos(part[2]), np.sin(part[2])]
        elif joint.nq == 2:
            value = [np.cos(part[0]), np.sin(part[0])]
        else:
            value = part
        found[joint.idx_q : joint.idx_q + joint.nq] = value
    return found


def pinocchio_placements(theirs, q):
    data = theirs.createData()
    pinocchio.framesForwardKinematics(theirs, data, q)
    return {
        frame.name: data.oMf[i].homogeneous
        for i, frame in enumerate(theirs.frames)
        if frame.type == pinocchio.FrameType.BODY
    }


def check_placements(robot, base, q_of):
    ours, theirs = pair(robot, base)
    q = q_of(ours)
    expected = pinocchio_placements(theirs, pinocchio_configuration(ours, theirs, q))
    found = placements(ours, q)
    assert {body.name for body in ours.bodies} <= set(expected)
    for name, T in expected.items():
        if name in found:
            np.testing.assert_allclose(found[name], T, rtol=0, atol=TOLERANCE * max(1, abs(T).max()), err_msg=name)


def seeded(robot):
    return np.random.default_rng(sum(map(ord, robot)))


def check_inertias(robot, base):
    """Every moving joint carries what Pinocchio says, and so does every fixed link by itself."""
    ours, theirs = pair(robot, base)
    at_zero = placements(ours, zero_configuration(ours))
    joint_of = {joint.child: joint for joint in ours.joints}
    carried = {}
    for body in ours.bodies:
        top = body.name
        while top != "world" and joint_of[top].type == "fixed":
            top = joint_of[top].parent
        key = "universe" if top == "world" else joint_of[top].name
        T = np.linalg.solve(at_zero[top], at_zero[body.name])
        carried[key] = carried.get(key, 0.0) + moved_moments(body, T)
    assert set(theirs.names) == set(carried) | {"universe"}
    for name, inertia in zip(theirs.names, theirs.inertias, strict=True):
        if name in carried:
            expected = moments(inertia.mass, inertia.lever, inertia.inertia)
            np.testing.assert_allclose(carried[name], expected, rtol=TOLERANCE, atol=TOLERANCE, err_msg=name)
    fixed = {f.name: f.inertia for f in theirs.frames if f.type == pinocchio.FrameType.FIXED_JOINT}
    for joint in ours.joints:
        if joint.name in fixed:
            body, inertia = ours.body(joint.child), fixed[joint.name]
            assert body.mass == pytest.approx(inertia.mass, rel=TOLERANCE, abs=0)
            if body.mass:
                np.testing.assert_allclose(body.center, inertia.lever, rtol=TOLERANCE, atol=1e-14)
                np.testing.assert_allclose(body.inertia_matrix(), inertia.inertia, rtol=TOLERANCE, atol=1e-14)


def on_the_world(robot):
    """Whether the root link is the world itself."""
    return quiet(ROBOTS[robot], mimic="free").joints[0].name != "root_joint"


@pytest.mark.parametrize("robot", LOADABLE)
def test_links_are_where_pinocchio_has_them(robot):
    for base in ("fixed",) if on_the_world(robot) else ("fixed", "free"):
        check_placements(robot, base, zero_configuration)
        check_placements(robot, base, lambda model: random_configuration(model, seeded(robot)))


@pytest.mark.parametrize("robot", LOADABLE)
def test_links_weigh_what_pinocchio_says(robot):
    for base in ("fixed",) if on_the_world(robot) else ("fixed", "free"):
        check_inertias(robot, base)


def test_enough_public_robots_are_compared():
    assert len(LOADABLE) >= 60


@pytest.mark.parametrize("robot", sorted(DEFECTIVE))
def test_defective_public_files_are_refused_with_file_and_line(robot):
    with pytest.raises(ModelError, match=r"\.urdf:\d+, "):
        load_urdf(ROBOTS[robot])


@pytest.mark.parametrize("robot", LOADABLE)
def test_limits_and_damping_are_pinocchios(robot):
    ours, theirs = pair(robot, "fixed")
    for joint in ours.joints:
        if joint.type in ("revolute", "prismatic"):
            peer = theirs.joints[theirs.getJointId(joint.name)]
            assert joint.damping == pytest.approx(theirs.damping[peer.idx_v])
            if peer.nq == 1 and np.isfinite(joint.lower):
                assert joint.lower == theirs.lowerPositionLimit[peer.idx_q]
                assert joint.upper == theirs.upperPositionLimit[peer.idx_q]


def spec_of(path):
    """MuJoCo's reading of a URDF, uncompiled, of what is left without shapes."""
    root = read_xml(path)
    kept = {"link", "joint", "inertial", "origin", "mass", "inertia", "parent", "child", "axis", "limit", "robot"}
    for node in root.walk():
        node.children = [child for child in node.children if child.tag in kept]
    settings = XmlElement("mujoco", {}, "", 0, [XmlElement("compiler", {"fusestatic": "false"}, "", 0)])
    root.children.insert(0, settings)
    return mujoco.MjSpec.from_string(write_xml(root)[0])


@pytest.mark.parametrize("robot", ["panda_description/urdf/panda.urdf", "pr2_description/urdf/pr2.urdf"])
def test_links_and_joints_are_those_of_mujoco_uncompiled(robot):
    ours, spec = quiet(ROBOTS[robot]), spec_of(ROBOTS[robot])
    joint_of = {joint.child: joint for joint in ours.joints}
    assert {body.name for body in ours.bodies} >= {body.name for body in spec.bodies[1:]}
    for peer in spec.bodies[1:]:
        body, joint = ours.body(peer.name), joint_of[peer.name]
        np.testing.assert_allclose(joint.position, peer.pos, rtol=0, atol=1e-12)
        np.testing.assert_allclose(matrix_normalised(joint.orientation), matrix_normalised(peer.quat), atol=1e-12)
        for moving in peer.joints:
            unit = np.array(joint.axis) / np.linalg.norm(joint.axis)
            np.testing.assert_allclose(unit, moving.axis / np.linalg.norm(moving.axis), atol=1e-12)
        if peer.explicitinertial:
            assert body.mass == peer.mass
            np.testing.assert_allclose(body.center, peer.ipos, rtol=0, atol=1e-12)


ARM = """<robot name="arm">
  <link name="base"/>
  <link name="slab"><inertial><origin xyz="1 0 0" rpy="0 0 1.5707963267948966"/>
    <mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="2" iyz="0" izz="2.5"/></inertial>
    <visual><geometry><mesh filename="package://nowhere/a.stl"/></geometry></visual></link>
  <link name="tip"><inertial><mass value="1"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="9"/></inertial></link>
  <joint name="slide" type="{type}"><parent link="base"/><child link="slab"/><axis xyz="{axis}"/>
    <origin xyz="0 0 1" rpy="0.1 0.2 0.3"/><limit lower="-1" upper="2" effort="5" velocity="1"/>
    <dynamics damping="0.5" friction="3"/></joint>
  <joint name="follow" type="revolute"><parent link="slab"/><child link="tip"/>
    <limit effort="1" velocity="1"/><mimic joint="slide" multiplier="-2" offset="0.1"/></joint>
</robot>"""


def arm(kind="prismatic", axis="0 0 2", **options):
    return quiet(ARM.format(type=kind, axis=axis), **options)


def test_a_following_joint_is_a_constraint_or_free():
    (constraint,) = arm().constraints
    assert (constraint.name, constraint.type) == ("follow", "mimic")
    assert constraint.data == {"joint": "follow", "source": "slide", "multiplier": -2.0, "offset": 0.1}
    assert arm(mimic="free").constraints == ()
    assert arm(mimic="free").nv == arm().nv == 2


def test_an_inertia_is_turned_into_the_axes_of_its_link():
    np.testing.assert_allclose(arm().body("slab").inertia_matrix(), np.diag([2.0, 1.0, 2.5]), atol=1e-15)
    assert arm().body("slab").center == (1.0, 0.0, 0.0)


def test_limits_without_numbers_are_zero_as_urdf_says():
    assert (arm().joint("slide").lower, arm().joint("slide").upper, arm().joint("slide").damping) == (-1.0, 2.0, 0.5)
    assert (arm().joint("follow").lower, arm().joint("follow").upper) == (0.0, 0.0)


def test_the_default_axis_is_x():
    assert arm().joint("follow").axis == (1.0, 0.0, 0.0)


def test_each_kind_of_finding_is_one_warning_with_names():
    with pytest.warns(PolhodeWarning) as caught:
        load_urdf(ARM.format(type="prismatic", axis="0 0 1"))
    texts = [str(warning.message) for warning in caught]
    assert len(texts) == 4
    assert "without mass: 'base'" in texts[0]
    assert "'tip'" in texts[1]
    assert "principal moments 1, 1, 9" in texts[1]
    for name in ("limit.effort (2)", "limit.velocity (2)", "dynamics.friction (1)"):
        assert name in texts[2]
    assert "package://nowhere/a.stl" in texts[3]
    assert not any("slab" in text for text in texts)


def test_the_base_is_fixed_or_free_by_a_joint_of_its_own():
    assert arm().joints[0] == Joint("root_joint", "fixed", "world", "base")
    assert arm(base="free").joints[0] == Joint("root_joint", "free", "world", "base")
    taken = ARM.replace("follow", "root_joint").format(type="prismatic", axis="0 0 1")
    assert quiet(taken).joints[0].name == "root_joint_"


def test_a_root_link_named_world_is_the_world():
    text = ARM.replace("base", "world").format(type="prismatic", axis="0 0 1")
    model = quiet(text)
    assert [joint.parent for joint in model.joints] == ["world", "slab"]
    with pytest.raises(ModelError, match="no base to free"):
        load_urdf(text, base="free")


@pytest.mark.parametrize("axis", ["0 0 1", "1 0 0", "0 0 -1", "1 2 -3"])
def test_a_planar_joint_moves_normal_to_its_axis_and_starts_at_its_origin(axis):
    model = arm("planar", axis, mimic="free")
    still, start = placements(model, zero_configuration(model)), arm(mimic="free")
    expected = placements(start, zero_configuration(start))["slab"]
    np.testing.assert_allclose(still["slab"], expected, atol=1e-15)
    n = expected[:3, :3] @ np.array(axis.split(), dtype=float)
    moved = placements(model, [0.3, -0.4, 1.1, 0.0])["slab"]
    step = moved[:3, 3] - expected[:3, 3]
    np.testing.assert_allclose([step @ n, np.linalg.norm(step)], [0.0, 0.5], atol=1e-15)
    np.testing.assert_allclose(moved[:3, :3] @ expected[:3, :3].T @ n, n, atol=1e-14)


def test_a_floating_joint_is_a_free_one():
    assert arm("floating", mimic="free").joint("slide").type == "free"


@pytest.mark.parametrize("option", ["base", "mimic"])
def test_an_unknown_option_is_an_error(option):
    with pytest.raises(InputError, match=option):
        load_urdf("<robot/>", **{option: "loose"})
