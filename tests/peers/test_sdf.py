"""SDF files read by us and by Drake: poses of links and frames, mass matrix and inverse dynamics at any state."""

import importlib.metadata
import logging
import warnings

import pytest

import polhode as ph
from drake_model import Beside, plant_of
from polhode.formats.sdf.reader import load_sdf

TOLERANCE = 1e-12
"""Poses in m, matrices and torques relative to their largest entry: 10 to 1000 roundings."""

EXAMPLES = {
    file.name: file.locate()
    for file in importlib.metadata.files("drake") or ()
    if str(file).endswith(".sdf") and "/examples/" in str(file)
}


@pytest.fixture(autouse=True)
def _quiet():
    logging.getLogger("drake").setLevel(logging.CRITICAL)


def loaded(source, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ph.PolhodeWarning)
        return load_sdf(source, **options)


def difference(source, seed=0, gravity=None, packages=(), **options):
    model = loaded(source, packages=packages, **options)
    beside = Beside(model, plant_of(source, gravity or model.gravity, packages), seed)
    return max(beside.difference() for _ in range(3))


def inertial(m=1.3, pose="0.1 -0.2 0.3 0.4 0.5 -0.6"):
    J = "<ixx>0.3</ixx><ixy>0.02</ixy><ixz>-0.03</ixz><iyy>0.25</iyy><iyz>0.04</iyz><izz>0.2</izz>"
    return f"<inertial><pose>{pose}</pose><mass>{m}</mass><inertia>{J}</inertia></inertial>"


def link(name, pose="", more="", **attributes):
    said = "".join(f' {key}="{value}"' for key, value in attributes.items())
    return f'<link name="{name}">{f"<pose{said}>{pose}</pose>" if pose or said else ""}{inertial()}{more}</link>'


def joint(kind, name="j", parent="a", child="b", more="<axis><xyz>0.6 0 0.8</xyz></axis>", pose="", **attributes):
    said = "".join(f' {key}="{value}"' for key, value in attributes.items())
    placed = f"<pose{said}>{pose}</pose>" if pose or said else ""
    return f'<joint name="{name}" type="{kind}">{placed}<parent>{parent}</parent><child>{child}</child>{more}</joint>'


def sdf(*parts, version="1.10", head=""):
    return f'<sdf version="{version}"><model name="m"{head}>{"".join(parts)}</model></sdf>'


A, B = link("a", "0.1 0.2 0.3 0.1 -0.2 0.3"), link("b", "0.5 -0.4 1.2 -0.7 0.2 1.1")
TWO_AXES = "<axis><xyz>0.6 0 0.8</xyz></axis><axis2><xyz>0 1 0</xyz></axis2>"
AXIS = "<axis><xyz>0.6 0 0.8</xyz>{}</axis>"

FEATURES = {
    "a free link": sdf(A),
    "a placed model": sdf("<pose>1 2 3 0.4 0.5 0.6</pose>", A, B, joint("revolute")),
    "revolute": sdf(A, B, joint("revolute")),
    "revolute away from the link's origin": sdf(A, B, joint("revolute", pose="0.3 0.1 -0.2 0.5 -0.4 0.2")),
    "continuous": sdf(A, B, joint("continuous", pose="0 0 0 0.5 -0.4 0.2")),
    "prismatic": sdf(A, B, joint("prismatic", pose="0.3 0.1 -0.2 0.5 -0.4 0.2")),
    "screw": sdf(A, B, joint("screw", more=AXIS.format("") + "<screw_thread_pitch>0.3</screw_thread_pitch>")),
    "screw by its old pitch": sdf(
        A, B, joint("screw", pose="0.3 0.1 -0.2 0 0 0", more=AXIS.format("") + "<thread_pitch>7</thread_pitch>")
    ),
    "ball": sdf(A, B, joint("ball", more="")),
    "ball away from the link's origin": sdf(A, B, joint("ball", more="", pose="0.3 0.1 -0.2 0.5 -0.4 0.2")),
    "universal": sdf(A, B, joint("universal", more=TWO_AXES)),
    "universal away from the link's origin": sdf(A, B, joint("universal", more=TWO_AXES, pose="0.3 0.1 0 0.5 0 0.2")),
    "fixed": sdf(A, B, joint("fixed", more="", pose="0.3 0.1 -0.2 0.5 -0.4 0.2")),
    "a joint on the world": sdf(A, joint("revolute", parent="world", child="a", pose="0.3 0.1 -0.2 0.5 -0.4 0.2")),
    "a spring and a damper": sdf(
        A, B,
        joint("revolute", more=AXIS.format(
            "<dynamics><damping>0.7</damping><spring_stiffness>3</spring_stiffness>"
            "<spring_reference>0.4</spring_reference></dynamics>")),
    ),
    "a damped ball": sdf(A, B, joint("ball", more=AXIS.format("<dynamics><damping>0.7</damping></dynamics>"))),
    "frames relative to each other": sdf(
        A, '<frame name="f"><pose relative_to="a">0.2 0 0 0.3 0 0</pose></frame>',
        '<frame name="g" attached_to="f"><pose>0 0.1 0 0 0.4 0</pose></frame>',
        '<frame name="h" attached_to="b"><pose relative_to="g">0 0.1 0.7 0 0.4 0.9</pose></frame>',
        link("b", "0.1 0.2 0.3 0.4 0.5 0.6", relative_to="g"),
        joint("revolute", pose="0.1 0 0.3 0.2 0 0", relative_to="h"),
    ),
    "an axis in another frame": sdf(
        A, B, '<frame name="f" attached_to="a"><pose>0 0 0 0.3 0.2 0.9</pose></frame>',
        joint("revolute", more='<axis><xyz expressed_in="f">0 0.6 0.8</xyz></axis>', pose="0.1 0 0 0.5 0 0"),
    ),
    "an axis in the model's frame": sdf(
        A, B, joint("revolute", more='<axis><xyz expressed_in="__model__">0 0.6 0.8</xyz></axis>')
    ),
    "a joint on frames": sdf(
        A, B, '<frame name="f" attached_to="a"><pose>0.1 0 0 0.3 0.2 0.9</pose></frame>',
        '<frame name="g" attached_to="b"><pose>0 0.1 0 0.3 0.2 0.9</pose></frame>',
        joint("revolute", parent="f", child="g"),
    ),
    "angles in degrees": sdf(link("a", "1 2 3 10 -20 30", degrees="true")),
    "a quaternion": sdf(link("a", "1 2 3 0.1 0.5 -0.1 0.7", rotation_format="quat_xyzw"), version="1.9"),
    "a model in a model": sdf(
        A, '<model name="n"><pose relative_to="a">0.5 0 0 0.1 0 0.2</pose>', link("b", "0.3 0 0 0 0.6 0"),
        link("c", "0.6 0 0 0 0.6 0"), joint("revolute", parent="b", child="c"),
        '<frame name="tip" attached_to="c"><pose>0 0 1 0 0 0</pose></frame></model>',
        joint("universal", name="k", child="n::b", more=TWO_AXES),
        '<frame name="end" attached_to="n::tip"><pose>0 0 0.1 0.3 0 0</pose></frame>',
    ),
    "a placement frame": sdf(
        '<pose>1 2 3 0.1 0.2 0.3</pose>', A, B, joint("revolute"),
        '<frame name="grip" attached_to="b"><pose>0.1 0.2 0.3 0.3 0.2 0.1</pose></frame>',
        head=' placement_frame="grip"',
    ),
    "a canonical link": sdf(A, B, '<frame name="f"><pose>1 0 0 0 0 0</pose></frame>', head=' canonical_link="b"'),
    "a static model": sdf("<static>true</static>", "<pose>0 0 1 0.1 0 0</pose>", A, B),
    "rotor and gear of Drake": sdf(
        A, B, joint("revolute", more=AXIS.format("") + "<drake:rotor_inertia>0.01</drake:rotor_inertia>"
                    "<drake:gear_ratio>12</drake:gear_ratio>")).replace("<sdf ", '<sdf xmlns:drake="drake.mit.edu" '),
    "version 1.4: axes in the model's frame": sdf(A, B, joint("revolute"), version="1.4"),
    "version 1.6: axes in the model's frame": sdf(
        A, B, joint("revolute", more=AXIS.format("<use_parent_model_frame>1</use_parent_model_frame>")), version="1.6"
    ),
    "version 1.6: axes in the joint's frame": sdf(A, B, joint("revolute", pose="0 0 0 0.3 0.2 0.1"), version="1.6"),
    "a world": (
        '<sdf version="1.10"><world name="w"><gravity>0 1 -3</gravity>'
        f'<model name="m"><pose>1 0 0 0 0.1 0</pose>{A}{B}{joint("revolute")}</model>'
        f'<model name="n"><pose relative_to="m">0 2 0 0.3 0 0</pose>{A}{B}{joint("prismatic")}</model>'
        f'<model name="floor"><static>1</static>{A}</model>'
        '<frame name="f" attached_to="m::b"><pose>0 0 1 0.5 0 0</pose></frame></world></sdf>'
    ),
    "a joint of the world between two models": (
        '<sdf version="1.10"><world name="w">'
        f'<model name="m">{A}</model><model name="n"><pose>0 2 0 0.3 0 0</pose>{B}</model>'
        f'{joint("fixed", parent="m::a", child="n::b", more="")}</world></sdf>'
    ),
}  # fmt: skip


@pytest.mark.parametrize("feature", FEATURES)
def test_a_feature_is_read_as_drake_reads_it(feature):
    assert difference(FEATURES[feature]) < TOLERANCE


@pytest.mark.parametrize("example", sorted(EXAMPLES))
def test_drakes_own_examples_are_drakes(example):
    assert difference(EXAMPLES[example]) < TOLERANCE


def test_there_are_examples_of_drake():
    assert {"Acrobot.sdf", "cart_pole.sdf", "planar_gripper.sdf"} <= set(EXAMPLES)


ARM = sdf(link("base"), link("tip", "0 0 1 0 0 0"), joint("revolute", parent="base", child="tip"),
          '<frame name="grip" attached_to="tip"><pose>0 0.1 0 0.2 0 0</pose></frame>')  # fmt: skip
USES = {
    "an included model": '<include><uri>package://models/arm</uri><pose relative_to="a">0 0 1 0.2 0 0</pose></include>'
    + joint("fixed", name="k", parent="a", child="m::base", more=""),
    "one by another name": "<include><uri>package://models/arm</uri><name>n</name></include>"
    + joint("revolute", name="k", parent="a", child="n::base"),
    "one by its frame": "<include><uri>package://models/arm</uri><pose>0 0 1 0.2 0 0</pose>"
    "<placement_frame>grip</placement_frame></include>",
    "a merged one": '<include merge="true"><uri>package://models/arm</uri><pose>0 0 1 0.2 0 0</pose></include>'
    + joint("revolute", name="k", parent="a", child="base"),
}


@pytest.mark.parametrize("use", USES)
def test_included_models_are_where_drake_has_them(tmp_path, use):
    folder = tmp_path / "models"
    (folder / "arm").mkdir(parents=True)
    (folder / "package.xml").write_text("<package><name>models</name></package>")
    (folder / "arm" / "arm.sdf").write_text(ARM)
    (folder / "arm" / "model.config").write_text('<model><sdf version="1.10">arm.sdf</sdf></model>')
    robot = folder / "robot.sdf"
    robot.write_text(sdf(A, USES[use]).replace('"m"', '"robot"'))
    assert difference(robot, packages=(folder,)) < TOLERANCE
