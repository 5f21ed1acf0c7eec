"""What a file has that would change the motion and is no part of the model: kept, and said beside every verdict."""

import json
import warnings
from dataclasses import replace

import pytest

import polhode as ph
from polhode.formats.mjcf.reader import load_mjcf
from polhode.formats.urdf import load_urdf
from polhode.result.files import load
from polhode.result.verdict import LEFT_OUT, Grade
from polhode.show.page.report import report_page
from polhode.system.identity import identity_text

FLOOR = '<geom type="plane" size="1 1 .1"/>'
CHAIN = (
    '<body name="a" pos="0 0 1"><freejoint/><geom size=".1" {bits}/>'
    '<body name="b" pos="0 0 .3"><joint name="h" axis="0 1 0"/><geom size=".1" {bits}/>'
    '<body name="c" pos="0 0 .3"><joint name="k" axis="0 1 0"/><geom size=".1" {bits}/>'
    '<body name="tip" pos="0 0 .1"><geom size=".1" {bits}/></body></body></body></body>'
)
PAIR = (
    '<body name="a" pos="0 0 1"><joint axis="0 1 0"/><geom size=".1"/><body name="tip"><geom size=".1"/></body></body>'
)
STILL, OTHERS = (
    "contacts: bodies pass through what stands still, such as a floor",
    "contacts: bodies pass through each other",
)


def mjcf(world="", more=""):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ph.PolhodeWarning)
        return load_mjcf(f"<mujoco><worldbody>{world}</worldbody>{more}</mujoco>")


def urdf(joint="", more="", links="", **options):
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    text = (
        f'<robot name="r"><link name="base">{links}</link><link name="arm">{inertial}{links}</link>{more}'
        '<joint name="j" type="revolute"><parent link="base"/><child link="arm"/><limit lower="-1" upper="1"/>'
        f"{joint}</joint></robot>"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ph.PolhodeWarning)
        return load_urdf(text, **options)


SMOOTH, BALL = CHAIN.format(bits='contype="0"'), 'joint type="ball" range="0 40"'
ACT = "actuators (2): they act only through an input (tau)"


@pytest.mark.parametrize(
    ("world", "more", "expected"),
    [
        (PAIR, "", ()),
        (FLOOR + PAIR, "", (STILL,)),
        (FLOOR + CHAIN.format(bits=""), "", (STILL, OTHERS)),
        (FLOOR + CHAIN.format(bits='contype="0"'), "", (STILL,)),
        (FLOOR + CHAIN.format(bits='contype="0" conaffinity="0"'), "", ()),
        (FLOOR + CHAIN.format(bits=""), '<option><flag contact="disable"/></option>', ()),
        (PAIR, "<actuator/><tendon/>", ()),
        (SMOOTH, '<actuator><motor joint="h"/><motor joint="k"/></actuator>', (ACT,)),
        (SMOOTH, '<tendon><fixed><joint joint="h" coef="1"/></fixed></tendon>', ("tendons (1)",)),
        (PAIR, '<option density="1000"/>', ("forces of a fluid",)),
        (PAIR, '<option density="0" viscosity="0"/>', ()),
        (PAIR, '<default><joint frictionloss="0.1"/></default>', ("dry friction of joints",)),
        (PAIR.replace("joint ", 'joint frictionloss="0" '), "", ()),
        (PAIR.replace('name="tip"', 'gravcomp="1"'), "", ("compensation of gravity at bodies",)),
        (PAIR.replace("joint axis", f"{BALL} axis"), "", ("limits of ball and free joints (1)",)),
    ],
)  # fmt: skip
def test_an_mjcf_says_what_it_ignores(world, more, expected):
    assert mjcf(world, more).ignored == expected


def test_dry_friction_of_files_is_kept_where_asked():
    made = urdf('<dynamics friction="0.2"/>', friction="events")
    assert made.ignored == ()
    assert made.forces == (ph.JointFriction("j.friction", "j", 0.2, method="events"),)
    text = f'<mujoco><worldbody>{PAIR}</worldbody><default><joint frictionloss="0.1"/></default></mujoco>'
    with warnings.catch_warnings():
        warnings.simplefilter("error", ph.PolhodeWarning)
        hinges = load_mjcf(text, friction="regularised")
    assert hinges.ignored == ()
    assert [(force.joint, force.coulomb) for force in hinges.forces] == [(x.name, 0.1) for x in hinges.joints if x.nv]
    assert ph.simulate(hinges, duration=0.01).attrs["status"] == "finished"
    ball = text.replace("joint axis", 'joint type="ball" axis')
    with pytest.warns(ph.PolhodeWarning, match="frictionloss of a ball joint"):
        assert "dry friction of ball and free joints (1)" in load_mjcf(ball, friction="regularised").ignored
    with pytest.raises(ph.InputError, match="load_mjcf, argument friction"):
        load_mjcf(text, friction="some")
    with pytest.raises(ph.InputError, match="is for URDF, SDF, Drake's directives and MJCF"):
        ph.load("pendulum", friction="events")


SHAPE = '<collision><geometry><box size="1 1 1"/></geometry></collision>'


def test_a_urdf_says_what_it_ignores():
    assert urdf().ignored == ()
    assert urdf('<dynamics damping="1" friction="0"/>').ignored == ()
    assert urdf('<dynamics friction="0.2"/>').ignored == ("dry friction of joints",)
    assert urdf(more='<transmission name="a"/><transmission name="b"/>').ignored == (ACT,)
    assert urdf(links=SHAPE).ignored == (OTHERS,)
    assert urdf('<mimic joint="k"/>', mimic="free").ignored == ("mimic joints (1): they move on their own",)


def test_it_is_no_part_of_what_a_model_is():
    model = urdf()
    other = replace(model, ignored=["a floor"])
    assert other.ignored == ("a floor",)
    assert (model, hash(model), repr(model)) == (other, hash(other), repr(other))
    assert identity_text(model) == identity_text(other)
    with pytest.raises(ph.ModelError, match="ignored"):
        replace(model, ignored="a floor")


def test_every_run_says_it_beside_its_verdict(tmp_path):
    model = urdf(more='<transmission name="a"/>', links=SHAPE)
    for tau, end in ((None, "; none was given"), ({"j": 1.0}, "")):
        run = ph.record(tmp_path / f"run{end}", model, tau=tau, duration=0.1)
        expected = [f"actuators (1): they act only through an input (tau){end}", OTHERS]
        assert json.loads(load(tmp_path / f"run{end}" / "run.nc").attrs["ignored"]) == expected
        grade = Grade.of(run.attrs)
        assert grade.verdict == "good"
        assert grade.sentence == f"This run is good.{LEFT_OUT}"
        assert [check.note for check in grade.checks if check.name == "ignored"] == expected
        assert f"ignored: {OTHERS}" in str(grade)
        assert LEFT_OUT.strip() in report_page(run, model)


def test_a_model_that_leaves_nothing_out_says_nothing():
    run = ph.simulate(ph.load("pendulum"), duration=0.1)
    assert "ignored" not in run.attrs
    assert LEFT_OUT not in str(Grade.of(run.attrs))
