"""Suggestions for names that are not known; warnings at the line of the caller."""

import subprocess
import sys

import pytest

import polhode as ph
from polhode.errors import did_you_mean
from polhode.formats.yaml import model_from_yaml
from polhode.model.joints.registry import JOINTS, SYNONYMS

KNOWN = ["hinge", "hinges", "mB", "bodies.arm.mass", "bodies.leg.mass"]


@pytest.mark.parametrize(
    ("name", "options", "question"),
    [
        ("hing", {}, "Did you mean 'hinge'?"),
        ("hing", {"most": 3}, "Did you mean 'hinge' or 'hinges'?"),
        ("mb", {"most": 3}, "Did you mean 'mB'?"),
        ("bodies.arm.mas", {"most": 2}, "Did you mean 'bodies.arm.mass' or 'bodies.leg.mass'?"),
        ("xyz", {}, ""),
        ("xyz", {"otherwise": "See the list."}, "See the list."),
        ("Pivot", {"synonyms": {"pivot": "hinge"}}, "Did you mean 'hinge'?"),
        ("pivot", {"synonyms": {"pivot": "axle"}}, ""),
        ("mb", {"synonyms": {"mb": "hinge"}}, "Did you mean 'mB'?"),
        (3, {"otherwise": "See the list."}, "See the list."),
        ("hing", {"shown": "{}.yaml".format}, "Did you mean 'hinge.yaml'?"),
    ],
)
def test_the_nearest_names_are_suggested(name, options, question):
    assert did_you_mean(name, KNOWN, **options) == question


@pytest.mark.parametrize(
    ("word", "kind"),
    [("hinge", "revolute"), ("continuous", "revolute"), ("ball", "spherical"), ("slider", "prismatic"),
     ("weld", "fixed"), ("floating", "free")],
)  # fmt: skip
def test_words_of_other_programs_for_joints_are_answered_with_ours(word, kind):
    with pytest.raises(ph.ModelError, match=f"Did you mean '{kind}'"):
        ph.Joint("j", word, "world", "b")


def test_synonyms_lead_to_kinds_that_exist_and_hide_none():
    assert set(SYNONYMS.values()) <= set(JOINTS)
    assert not set(SYNONYMS) & set(JOINTS)


def test_nothing_is_loaded_for_suggestions_before_a_name_is_wrong():
    subprocess.run(
        [sys.executable, "-c", "import polhode.errors, sys; assert 'difflib' not in sys.modules"], check=True
    )


SPRUNG = ph.Model(
    "sprung",
    bodies=[ph.Body("bob", 1.0, (1, 1, 1))],
    joints=[ph.Joint("rail", "prismatic", "world", "bob")],
    forces=[ph.Spring("coil", "bob", "world", point_b=(0, 0, 1), stiffness=1.0)],
)
CROSSED = """
name: crossed
bodies: {bob: {mass: 1, inertia: [1, 1, 1]}}
joints: {rail: {type: prismatic, parent: world, child: bob, lower: 1, upper: -1}}
"""


@pytest.mark.parametrize(
    "call",
    [
        lambda: ph.Body("bob", -1.0, (1, 1, 1), physical=False),
        lambda: ph.Spring("coil", "bob", "world", stiffness=-1.0),
        lambda: SPRUNG.with_numbers({"forces.coil.stiffness": -1.0}),
        lambda: model_from_yaml(CROSSED, "crossed.yaml"),
        lambda: next(iter(ph.forms.values())).way,
    ],
    ids=["dataclass", "element", "replaced", "file", "old name"],
)
def test_a_warning_points_at_the_line_of_the_caller(call):
    with pytest.warns((ph.PolhodeWarning, DeprecationWarning)) as told:
        call()
    assert [warning.filename for warning in told] == [__file__]
    assert told[0].lineno == call.__code__.co_firstlineno
