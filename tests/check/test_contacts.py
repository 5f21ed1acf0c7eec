"""Contacts that would have to pull are told, with their force and time."""

import json

import numpy as np
import pytest

import polhode as ph
from polhode.check.contacts import ContactMonitor, pull_notes
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
    assert "A real wheel would lift off" in Grade.of(run.attrs).sentence
    assert f"pull at 'ground' with {-least:.3f}" in note.note


@pytest.mark.parametrize("options", [{}, {"step": 1e-3, "method": "rk4"}])
def test_a_pull_between_two_samples_is_told(options):
    """At the start and shortly before the disk lies flat the ground pushes."""
    run = falling(0.4, duration=0.4, samples=2, verify=False, **options)
    assert np.all(run["multiplier"].sel(constraint="ground.height").values > 0)
    (pull,) = json.loads(run.attrs["pulled_contacts"])
    assert 0.3 < pull["time"] < 0.4


@pytest.mark.parametrize("name", ["rolling-disk", "rolling-sphere"])
def test_wheels_that_push_have_no_note(name):
    run = ph.simulate(ph.load(name), duration=0.5, samples=20, verify=False)
    assert "pulled_contacts" not in run.attrs
    assert "ground force" not in run.attrs["grade"]


@pytest.fixture(scope="module")
def cart():
    """A rigid cart on four wheels."""
    corners, across = [(-1, -0.5), (-1, 0.5), (1, -0.5), (1, 0.5)], (np.sqrt(0.5), -np.sqrt(0.5), 0, 0)
    axles = [
        ph.Joint(f"axle {i}", "revolute", "chassis", f"wheel {i}", position=(*at, 0), orientation=across)
        for i, at in enumerate(corners)
    ]
    wheels = [ph.Body(f"wheel {i}", M, (0.01, 0.01, 0.02)) for i in range(4)]
    return ph.compile(
        ph.Model(
            "cart",
            gravity=(0, 0, -G),
            bodies=[ph.Body("chassis", 100.0, (10, 20, 25)), *wheels],
            joints=[ph.Joint("chassis", "free", "world", "chassis"), *axles],
            constraints=[ph.Constraint(f"tyre {i}", "rolling-disk", body_b=f"wheel {i}", radius=R) for i in range(4)],
        )
    )


@pytest.mark.parametrize(
    ("lift", "ahead", "least"),
    [(900.0, 0.0, None), (1300.0, 0.0, (104 * G - 1300) / 4), (600.0, 1.0, (104 * G - 1200) / 4)],
)
def test_wheels_that_share_the_load_are_told_where_no_sharing_is_without_a_pull(cart, lift, ahead, least):
    """Lifted in the middle: beyond its weight. Lifted between the front wheels: beyond half of it, shared by two."""
    monitor, tau = ContactMonitor(cart), np.zeros(10)
    q, v = np.array([0, 0, R, 1, *[0.0] * 7]), np.array([1, *[0.0] * 5, *[1 / R] * 4])
    tau[2], tau[4] = lift, -lift * ahead
    monitor.see(*(np.array([x]) for x in (0.5, q, v, tau)))
    if least is None:
        assert not monitor.pulls
        return
    ((name, force, *when),) = monitor.pulls
    assert (name, when) == ("tyre 0, tyre 1, tyre 2, tyre 3", [0.5, 0.5])
    assert force == pytest.approx(least, rel=1e-9)
    (note,) = pull_notes(monitor.pulls)
    assert "at one of tyre 0, tyre 1, tyre 2, tyre 3, which share the load, with at least" in note.note
