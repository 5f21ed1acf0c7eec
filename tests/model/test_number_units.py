"""Numbers with units in model files and on the command line: in SI, and of the dimension of their key."""

import math

import numpy as np
import pytest

import polhode as ph
from polhode.formats.overrides import assignments, overridden
from polhode.formats.yaml import model_from_yaml

TEXT = """name: arm
parameters: {reach: 300 mm}
gravity: [0, 0, -981 cm/s^2]
bodies:
  arm: {mass: 500 g, inertia: [1 kg cm2, 1 kg cm2, 2 kg cm2], center: [0, 0, reach]}
  nut: {mass: 1 kg, inertia: [1, 1, 1]}
joints:
  turn: {type: revolute, parent: world, child: arm, position: [1 mm, 2 cm, 3 in], rpy: [30deg, 0, 0],
    damping: 2 N m s, stiffness: 3 N m/deg, rest: 10 deg, lower: -90deg, upper: 0.25 rev}
  nut: {type: screw, parent: arm, child: nut, pitch: 5 mm/rev}
forces:
  spring: {type: spring, body_a: world, body_b: nut, point_a: [1 cm, 0, 0], stiffness: 2 N/mm,
    table: [[-1 mm, -1 N], [1 mm, 2 N]]}
  bushing: {type: bushing, body_a: world, body_b: arm, stiffness: [1 N/mm, 1, 1, 1 N m/deg, 1, 1]}
  stop: {type: joint-stop, joint: turn, upper: 80deg, stiffness: 10 N m/rad}
constraints:
  held: {type: prescribed, joint: nut, value: 45deg}
configurations: {home: {turn: 30deg, nut: 1 rev}}
start: {q: [60deg, 0], v: {turn: 30 rpm}, duration: 2 min}
"""


def test_numbers_with_units_are_in_si():
    model = model_from_yaml(TEXT, "text")
    arm, turn = model.body("arm"), model.joint("turn")
    assert model.gravity == (0, 0, -9.81)
    assert (arm.mass, arm.center[2].value) == (0.5, 0.3)
    np.testing.assert_allclose(arm.inertia, [1e-4, 1e-4, 2e-4])
    np.testing.assert_allclose(turn.position, [1e-3, 0.02, 0.0762])
    assert turn.stiffness == pytest.approx(3 * 180 / math.pi)
    assert (turn.damping, turn.rest, turn.lower, turn.upper) == (2, *np.radians([10, -90, 90]))
    assert model.joint("nut").pitch == pytest.approx(5e-3 / (2 * math.pi))
    spring, bushing, stop = model.forces
    assert (spring.stiffness, spring.point_a, spring.table) == (2000, (0.01, 0, 0), ((-1e-3, -1), (1e-3, 2)))
    np.testing.assert_allclose(bushing.stiffness, [1000, 1, 1, 180 / math.pi, 1, 1])
    assert stop.upper == pytest.approx(math.radians(80))
    assert model.constraints[0].data["value"] == pytest.approx(math.pi / 4)
    assert model.configurations["home"] == pytest.approx((math.pi / 6, 2 * math.pi))
    assert model.start == ph.Start(q=(math.radians(60), 0), v=(math.pi, 0), duration=120)
    assert all(type(x) is float for x in model.numbers().values())


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("mass: 500 g", "mass: 500 mm", r"text:5, bodies\.arm\.mass: .*\n.*'500 mm', which is in m; expected kg"),
        (
            "[1 kg cm2, 1 kg cm2, 2 kg cm2]",
            "[1 kg cm, 1 kg cm, 2 kg cm]",
            r"text:5, bodies\.arm\.inertia\.0: .*\n.*expected kg m2",
        ),
        ("rpy: [30deg", "rpy: [30mm", r"joints\.turn\.rpy\.0: .*\n.*expected rad"),
        ("damping: 2 N m s", "damping: 2 N s/m", r"joints\.turn\.damping: .*\n.*expected N m s/rad"),
        ("lower: -90deg", "lower: -90 m", r"joints\.turn\.lower"),
        ("5 mm/rev", "5 mm", r"joints\.nut\.pitch: .*\n.*expected m/rad"),
        ("2 N/mm", "2 N", r"forces\.spring\.stiffness"),
        ("1 mm, 2 N]", "1 mm, 2 m]", r"forces\.spring\.table\.1\.1: .*\n.*expected N"),
        ("1 N m/deg", "1 N/m", r"forces\.bushing\.stiffness\.3: .*\n.*expected N m/rad"),
        ("upper: 80deg", "upper: 80 mm", r"forces\.stop\.upper: .*\n.*expected rad"),
        ("value: 45deg", "value: 45 m", r"constraints\.held\.value: .*\n.*expected rad"),
        ("turn: 30deg, nut", "turn: 30 rpm, nut", r"configurations\.home\.turn: .*\n.*expected rad"),
        ("[60deg, 0]", "[60 mm, 0]", r"start\.q\.0: .*\n.*expected rad"),
        ("30 rpm", "30deg", r"start\.v\.turn: .*\n.*expected rad/s"),
        ("2 min", "2 m", r"start\.duration: .*\n.*expected s"),
        ("-981 cm/s^2", "-981 cm", r"gravity\.2: .*\n.*expected m/s2"),
    ],
)
def test_a_unit_of_another_dimension_is_told_with_its_line(old, new, told):
    assert old in TEXT
    with pytest.raises(ph.ModelError, match=told):
        model_from_yaml(TEXT.replace(old, new), "text")


def test_a_unit_that_is_none_is_told():
    with pytest.raises(
        ph.ModelError, match=r"text:5, bodies\.arm\.mass: no such unit.*\n.*'kgg'.*\n.*Did you mean 'kg'"
    ):
        model_from_yaml(TEXT.replace("500 g", "500 kgg"), "text")


def test_numbers_of_the_command_line_may_have_units():
    model = ph.load("double-pendulum")
    first, body = model.joints[0].name, model.bodies[0].name
    found = overridden(
        model, [f"{first}.q=30deg", f"bodies.{body}.mass=250g", "gravity=0,0,-981cm/s2", f"{first}.v=60rpm"]
    )
    assert found.start.q[0] == pytest.approx(math.pi / 6)
    assert found.start.v[0] == pytest.approx(2 * math.pi)
    assert (found.body(body).mass, found.gravity[2]) == (0.25, -9.81)
    assert assignments(model, [f"{first}=5 N mm"]) == {first: (pytest.approx(5e-3),)}


def test_the_start_of_the_command_line_may_be_a_configuration():
    model = model_from_yaml(TEXT, "text")
    assert overridden(model, ["q=home"]).start.q == model.configurations["home"]
    with pytest.raises(ph.InputError, match="an unknown name"):
        overridden(model, ["q=hom"])


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("{joint}.q=30mm", "expected rad"),
        ("{joint}.v=30deg", "expected rad/s"),
        ("bodies.{body}.mass=3 N", "expected kg"),
        ("gravity=0,0,3m", "expected m/s2"),
        ("bodies.{body}.inertia.0=3 kg", "expected kg m2"),
        ("q=1rad,2m", "expected rad"),
        ("gravity=0,0,3 parsec", "no such unit"),
    ],
)
def test_units_of_the_command_line_are_checked(given, told):
    model = ph.load("double-pendulum")
    text = given.format(joint=model.joints[0].name, body=model.bodies[0].name)
    with pytest.raises(ph.InputError, match=f"(?s){told}"):
        overridden(model, [text])


def test_units_of_given_forces_are_checked():
    model = ph.load("double-pendulum")
    with pytest.raises(ph.InputError, match="expected N m"):
        assignments(model, [f"{model.joints[0].name}=3 N"])
