"""Suggestions for names that are not known."""

import subprocess
import sys

import pytest

from polhode.errors import did_you_mean

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
        (3, {"otherwise": "See the list."}, "See the list."),
        ("hing", {"shown": "{}.yaml".format}, "Did you mean 'hinge.yaml'?"),
    ],
)
def test_the_nearest_names_are_suggested(name, options, question):
    assert did_you_mean(name, KNOWN, **options) == question


def test_nothing_is_loaded_for_suggestions_before_a_name_is_wrong():
    subprocess.run(
        [sys.executable, "-c", "import polhode.errors, sys; assert 'difflib' not in sys.modules"], check=True
    )
