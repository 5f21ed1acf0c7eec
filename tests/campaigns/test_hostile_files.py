"""Hostile model and study files: nothing of them runs, nothing ends in a traceback, a hang or a flood of memory."""

import os

import pytest

from harness import CANARY, RUN, run
from hostile_files import NAMES, attempt_content, cases


def test_a_hundred_hostile_files_do_no_harm():
    report = run(cases(13, 100), attempt_content)
    assert report.total == 100
    assert not report.failures, report


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_thousands_of_hostile_files_do_no_harm(seed):
    report = run(cases(seed, 1000), attempt_content)
    print(report)
    assert report.total == 1000
    assert report.counts["loaded"] > 100
    assert not report.failures, report


def hang(_kind, content, _folder):
    """What the harness is to notice."""
    if content == "hang":
        while True:
            pass
    if content == "memory":
        return str(len(bytearray(3 * 2**30)))
    if content == "crash":
        os.abort()
    if content == "run":
        os.system(RUN)
    if content == "raise":
        raise KeyError(content)
    return "loaded"


def test_the_harness_notices_every_kind_of_harm():
    harms = {"hang": "hang", "memory": "memory", "crash": "crash", "run": "executed code", "raise": "traceback"}
    report = run([("x", content) for content in [*harms, "sound"]], hang, seconds=1)
    assert report.counts == {**dict.fromkeys(harms.values(), 1), "loaded": 1}
    assert {content: what for what, _, content, _ in report.failures} == harms
    assert not CANARY.exists()


def test_cases_are_the_same_for_the_same_seed():
    assert list(cases(5, 30)) == list(cases(5, 30))
    assert list(cases(5, 30)) != list(cases(6, 30))
    assert {kind for kind, _ in cases(5, 200)} == {"yaml", "urdf", "mjcf", "sdf", "dmd", "usd", "study", "stl", "obj"}
    assert any(RUN in name for name in NAMES)
