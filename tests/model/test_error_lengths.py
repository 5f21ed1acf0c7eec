"""Errors of nodes count in parts of the length of their elements: steps and verdicts know no unit of length."""

import numpy as np
import pytest

import polhode as ph
from polhode.model import make_tree
from polhode.model.error_lengths import error_lengths
from polhode.result.error_estimate import Difference


def cantilever(size, **more):
    """A beam of `size` metres that falls, the same machine in other units of length: forces in kg × unit/s²."""
    section = ph.Section(1e5 * size, *[10 * size**3] * 3, *[3e4 * size] * 2, 0.5 / size, 1e-4 * size, 1e-4 * size)
    beam = ph.Beam("b", section, start=("world", (0, 0, 0)), end=(size, 0, 0), elements=3, **more)
    return ph.Model("c", (0, -9.81 * size, 0), beams=[beam])


@pytest.mark.parametrize(
    "more",
    [
        {"plane": (0, 0, 1)},
        *(pytest.param(x, marks=pytest.mark.long) for x in ({}, {"mass": "consistent"}, {"held": "elongation"})),
    ],
    ids=str,
)
@pytest.mark.parametrize("tolerance", [1e-3, 1e-6])
def test_a_machine_in_other_units_of_length_takes_the_same_steps(more, tolerance):
    found = []
    for size in (1.0, 1e3, 1e-3):
        run = ph.simulate(cantilever(size, **more), duration=0.2, tolerance=tolerance, samples=5, verify=False)
        assert run.attrs["method"] == "radau"
        found.append((run.attrs["steps_taken"], run.position.values / size))
    assert len({steps for steps, _ in found}) == 1
    for _, places in found[1:]:
        np.testing.assert_allclose(places, found[0][1], atol=1e-11)


def test_the_tolerance_of_a_small_deflection_is_one_of_its_element():
    """A beam of a millimetre is followed to the tolerance in parts of a millimetre, not of a metre."""
    model, errors = cantilever(1e-3, plane=(0, 0, 1)), []
    places = [
        ph.simulate(model, duration=0.2, tolerance=x, samples=5, verify=False).position.values for x in (1e-4, 1e-10)
    ]
    errors = np.max(abs(places[0] - places[1]))
    assert errors < 1e-4 * 1e-3


def test_ways_that_move_elements_have_the_smallest_length_and_turns_have_none():
    slider, hub = ph.Body("slider", 1.0, (1, 1, 1)), ph.Body("hub", 1.0, (1, 1, 1))
    rail = ph.Joint("rail", "prismatic", "world", "slider", axis=(1, 0, 0))
    shaft = ph.Joint("shaft", "revolute", "slider", "hub", axis=(0, 0, 1))
    section = ph.Section.circle(0.01)
    short = ph.Beam("short", section, start=("hub", (0, 0, 0)), end=(0.1, 0, 0), elements=1)
    long = ph.Beam("long", section, start=("hub", (0, 0, 0)), end=(0, 3.0, 0), elements=2)
    away = ph.Body("away", 1.0, (1, 1, 1))
    model = ph.Model(
        "m",
        bodies=[slider, hub, away],
        joints=[rail, shaft, ph.Joint("fly", "free", "world", "away")],
        beams=[short, long],
    )
    labels = [f"{joint.name}.{k}" for joint in model.joints for k in range(joint.nv)]
    found = {labels[x.velocity]: float(x.length) for x in error_lengths(make_tree(model))}
    nodes = {"short-1": 0.1, "long-1": 1.5, "long-2": 1.5}
    assert found == {"rail.0": 0.1, **{f"{node}.{k}": size for node, size in nodes.items() for k in range(3)}}
    assert not error_lengths(make_tree(ph.load("double-pendulum")))


def test_a_verdict_counts_errors_of_short_beams_in_parts_of_their_elements():
    model = cantilever(3e-3, plane=(0, 0, 1))  # elements of 1 mm
    q, v = np.zeros((2, model.nq)), np.zeros((2, model.nv))
    off = q.copy()
    off[1, -3] = 1e-4  # a tenth of an element
    (zero, found) = Difference(model)({"q": q, "v": v}, {"q": off, "v": v})
    assert zero == 0
    assert found == pytest.approx(0.1, rel=1e-9)
