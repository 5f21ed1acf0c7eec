"""Study files: numbers with units."""

import math

import pytest

import polhode as ph
from polhode.ensemble.study_file import study_of

TEXT = """model: double-pendulum
runs: 3
duration: 500 ms
step: 10 ms
method: rk4
parameters:
  bodies.upper.mass: {uniform: [900 g, 1.1 kg]}
  start.q.hinge: {grid: {from: -30deg, to: 30deg, count: 3}}
  gravity: {listed: [[0, 0, -981 cm/s2], [0, 0, -162 cm/s2], [0, 0, -1]]}
"""


def test_numbers_may_have_units():
    found = study_of(TEXT)
    mass, angle, gravity = found.samples.values()
    assert (mass.low, mass.high) == (0.9, 1.1)
    assert [x for (x,) in angle.rows] == pytest.approx([-math.pi / 6, 0, math.pi / 6])
    assert gravity.rows[1][2] == -1.62
    assert found.run_options.duration == 0.5


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("900 g", "900 mm", r"study:7, parameters.bodies.upper.mass.uniform.0: .*\n.*expected kg"),
        ("from: -30deg", "from: -30 mm", r"study:8, .*from: .*\n.*expected rad"),
        ("-981 cm/s2", "-981 cm", r"study:9, .*\n.*expected m/s2"),
        ("500 ms", "500 mm", r"study:3, duration: .*\n.*expected s"),
        ("runs: 3", "runs: 3 s", r"study:2, runs: a unit"),
        ("count: 3", "count: 3 m", r"study:8, .*count: a unit"),
    ],
)
def test_units_of_another_dimension_are_told_with_their_line(old, new, told):
    with pytest.raises(ph.InputError, match=told):
        study_of(TEXT.replace(old, new))
