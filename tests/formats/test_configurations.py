"""Named configurations: of our files, of MJCF keyframes, of SRDF group states."""

import warnings
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import polhode as ph
from polhode.formats.mjcf.reader import load_mjcf
from polhode.formats.urdf import load_urdf
from polhode.formats.yaml import model_from_yaml, to_yaml

ROBOTS = Path(pin.__file__).resolve().parents[4] / "share" / "example-robot-data" / "robots"

TEXT = """name: arm
bodies: {a: {mass: 1, inertia: [1, 1, 1]}, b: {mass: 1, inertia: [1, 1, 1]}}
joints:
  ball: {type: spherical, parent: world, child: a}
  elbow: {type: revolute, parent: a, child: b}
configurations:
  home: {elbow: pi/2}
  other: [0, 1, 0, 0, 0.5]
"""


def test_configurations_of_a_file_are_by_joint_or_in_order():
    model = model_from_yaml(TEXT, "text")
    assert model.configurations == {"home": (1, 0, 0, 0, np.pi / 2), "other": (0, 1, 0, 0, 0.5)}
    assert model.configuration("other") == (0, 1, 0, 0, 0.5)
    assert model_from_yaml(to_yaml(model), "again") == model


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ("home", ph.Start(q=(1, 0, 0, 0, np.pi / 2))),
        ("{q: other, duration: 3}", ph.Start(q=(0, 1, 0, 0, 0.5), duration=3)),
        ("{q: {elbow: 1, ball: [0, 0, 1, 0]}, v: {ball: [1, 2, 3]}}", ph.Start(q=(0, 0, 1, 0, 1), v=(1, 2, 3, 0))),
        ("{v: {elbow: 2}}", ph.Start(v=(0, 0, 0, 2))),
    ],
)
def test_a_start_may_name_a_configuration_and_joints(start, expected):
    assert model_from_yaml(f"{TEXT}start: {start}\n", "text").start == expected


@pytest.mark.parametrize(
    ("start", "told"),
    [
        ("hme", r"text:9, start: no such configuration(?s:.*)Did you mean 'home'"),
        ("{q: hme}", r"text:9, start.q: no such configuration"),
        ("{q: {elbw: 1}}", r"text:9, start.q: no such joint(?s:.*)Did you mean 'elbow'"),
        ("{q: {ball: 1}}", r"text:9, start.q: wrong size(?s:.*)1 numbers of 'ball'; expected 4 numbers"),
        ("{v: home}", r"text:9, start.v: not a list"),
        ("3", r"text:9, start: not a mapping"),
    ],
)
def test_starts_that_are_none_are_told(start, told):
    with pytest.raises(ph.ModelError, match=told):
        model_from_yaml(f"{TEXT}start: {start}\n", "text")


@pytest.mark.parametrize("value", ["[1, 2]", "{x: 1}", "home", "[a, b]"])
def test_configurations_that_are_none_are_told_with_their_line(value):
    with pytest.raises(ph.ModelError, match=r"text:8, configurations\.other"):
        model_from_yaml(TEXT.replace("[0, 1, 0, 0, 0.5]", value), "text")


MJCF = """<mujoco><worldbody><body name="a"><freejoint/><geom size="1"/>
<body name="b"><joint name="hinge" ref="10"/><geom size="1"/></body></body></worldbody>
<keyframe><key name="home" qpos="0 0 1 2 0 0 0 0.5"/><key/>{}</keyframe></mujoco>"""


def loaded(text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return load_mjcf(text)


def test_keyframes_are_configurations():
    model = loaded(MJCF.format(""))
    assert model.configurations["home"] == (0, 0, 1, 1, 0, 0, 0, 0.5)
    assert model.configurations["key1"] == model.start.q


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ('<key name="home"/>', "a name twice"),
        ('<key qpos="1 2"/>', "qpos cannot be read"),
        ('<key qpos="0 0 1 0 0 0 0 0"/>', "a quaternion without length"),
    ],
)
def test_keyframes_that_are_none_are_told_with_their_line(key, told):
    with pytest.raises(ph.ModelError, match=f"<text>:3, key.*{told}"):
        loaded(MJCF.format(key))


URDF = """<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><link name="c"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>
<joint name="k" type="continuous"><parent link="b"/><child link="c"/><mimic joint="j" multiplier="2"/></joint>
</robot>"""


def urdf(srdf, whole="", **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return load_urdf(URDF, srdf=whole or f"<robot>{srdf}</robot>", **more)


def state(name, group, **values):
    joints = "".join(f'<joint name="{joint}" value="{x}"/>' for joint, x in values.items())
    return f'<group_state name="{name}" group="{group}">{joints}</group_state>'


def test_group_states_are_configurations_and_joints_follow():
    assert urdf(state("up", "arm", j=0.5)).configurations == {"up": (0.5, 1.0)}
    both = state("up", "arm", j=0.5) + state("up", "hand", k=0.2)
    assert urdf(both, mimic="free").configurations == {"up": (0.5, 0.2)}
    twice = state("up", "arm", j=0.5) + state("up", "all", j=0.1, k=0.2)
    assert urdf(twice, mimic="free").configurations == {"arm/up": (0.5, 0.0), "all/up": (0.1, 0.2)}


def test_a_base_that_flies_has_its_quaternion_scalar_last_in_the_file():
    model = urdf(state("up", "all", root="1 2 3 0 0 0 2", j=0.5), base="free")
    assert model.configurations["up"] == (1, 2, 3, 1, 0, 0, 0, 0.5, 1.0)


def test_joints_that_the_model_does_not_have_are_told():
    with pytest.warns(ph.PolhodeWarning) as caught:
        load_urdf(URDF, srdf=f"<robot>{state('up', 'arm', nothing=1)}</robot>")
    assert any("'nothing'" in str(each.message) for each in caught)


@pytest.mark.parametrize(
    "srdf", ["<mujoco/>", "<robot><group_state name='a'><joint name='j' value='x'/></group_state></robot>"]
)
def test_files_that_are_none_are_told(srdf):
    with pytest.raises(ph.ModelError, match="<text>:1"):
        urdf("", whole=srdf)


def test_other_formats_have_no_srdf():
    with pytest.raises(ph.InputError, match="argument srdf: is for URDF"):
        ph.load("double-pendulum", srdf="panda.srdf")


def test_states_of_the_panda_are_pinocchios():
    path = ROBOTS / "panda_description" / "urdf" / "panda.urdf"
    srdf = ROBOTS / "panda_description" / "srdf" / "panda.srdf"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ph.load(path, srdf=srdf, mimic="free")
    peer = pin.buildModelFromUrdf(str(path))
    pin.loadReferenceConfigurations(peer, str(srdf), False)
    assert set(model.configurations) == {"default"}
    names = [joint.name for joint in model.joints if joint.nq]
    expected = peer.referenceConfigurations["default"]
    found = dict(zip(names, model.configurations["default"], strict=True))
    for index in range(1, peer.njoints):
        assert found[peer.names[index]] == expected[peer.joints[index].idx_q]


def test_a_run_starts_at_a_configuration():
    model = model_from_yaml(TEXT, "text")
    found = ph.simulate(model, start="home", duration=0.01, verify=False)
    assert found["q"].values[0].tolist() == list(model.configurations["home"])
    with pytest.raises(ph.InputError, match="simulate, start: where does it start"):
        ph.simulate(model, q=model.zero, start="home", duration=0.01)
    with pytest.raises(ph.InputError, match="no such configuration"):
        ph.simulate(model, start="nowhere", duration=0.01)
    with pytest.raises(ph.InputError, match=r"no such configuration(?s:.*)the model has no configurations"):
        ph.simulate(ph.load("double-pendulum"), start="home", duration=0.01)
    with pytest.raises(ph.InputError, match="simulate, start: where does it start"):
        ph.simulate(model, start=3, duration=0.01)
