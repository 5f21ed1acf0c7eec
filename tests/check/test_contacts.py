"""Contacts that would have to pull are told, with their force and time."""

import json

import numpy as np
import pytest

import polhode as ph
from polhode.result.verdict import Grade

M, R, G = 1.0, 0.3, 9.81


def falling(lean, **options):
    """The bundled disk, released at rest at an angle from the vertical: it falls about its point of contact."""
    half = np.pi / 4 - lean / 2
    q = [0, 0, R * np.cos(lean), np.cos(half), np.sin(half), 0, 0]
    return ph.simulate(ph.load("rolling-disk"), q, np.zeros(6), **options)


@pytest.mark.parametrize("options", [{"samples": 4001}, {"step": 1e-4, "method": "rk4", "keep": ["q"]}])
def test_a_falling_disk_would_be_pulled_where_its_centre_falls_faster_than_free(options):
    """N = m g (1/5 − 8/5 c c₀ + 12/5 c²), c the cosine of its angle from the vertical: least at c = c₀/3."""
    lean = 0.4
    run = falling(lean, duration=0.4, verify=False, **options)
    (pull,) = json.loads(run.attrs["pulled_contacts"])
    least = M * G * (0.2 - (1.6 * np.cos(lean)) ** 2 / 9.6)
    assert pull["constraint"] == "ground"
    assert pull["force"] == pytest.approx(least, rel=1e-4)
    assert pull["since"] < pull["time"] < 0.4
    (note,) = [check for check in Grade.of(run.attrs).checks if check.name == "ground force"]
    assert note.verdict == "note"
    assert f"pull at 'ground' with {-least:.3f}" in note.note


@pytest.mark.parametrize("name", ["rolling-disk", "rolling-sphere"])
def test_wheels_that_push_have_no_note(name):
    run = ph.simulate(ph.load(name), duration=0.5, samples=20, verify=False)
    assert "pulled_contacts" not in run.attrs
    assert "ground force" not in run.attrs["grade"]
