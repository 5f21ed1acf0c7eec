"""Friction in joints, regularised: its law, how slowly it creeps, that it takes energy from every motion, bad input."""

import json
import math

import numpy as np
import pytest

import polhode as ph
from close import assert_close, complex_step
from polhode.formats.yaml import model_from_yaml, to_yaml

SLOPE = math.radians(20.0)
BLOCK = ph.Body("block", 2.0, (0.1, 0.1, 0.1))
LOAD = 2.0 * 9.81 * math.sin(SLOPE)


def incline(*forces):
    """A block on an incline."""
    along = (math.cos(SLOPE), 0.0, -math.sin(SLOPE))
    slide = ph.Joint("slide", "prismatic", "world", "block", axis=along)
    return ph.Model("incline", bodies=[BLOCK], joints=[slide], forces=forces)


def friction(**numbers):
    return ph.JointFriction("rub", "slide", **{"coulomb": 5.0, "static": 8.0, "creep_speed": 0.01, **numbers})


def force(element, speed):
    """The force of friction on the block at a speed."""
    system = ph.compile(incline(element))
    return -float(system.inverse_dynamics([0.0], [speed], [0.0])[0]) - LOAD


def test_a_block_below_break_away_creeps_at_the_speed_of_the_closed_form():
    run = ph.simulate(incline(friction()), duration=0.5)
    expected = 0.01 * 2 * math.sin(math.asin(LOAD / 8.0) / 3)
    assert run.attrs["verdict"] == "good"
    assert float(run.v[-1, 0]) == pytest.approx(expected, rel=1e-6)
    assert float(run.v.max()) <= 0.01


def test_a_block_above_break_away_slips_against_the_friction_of_slip():
    run = ph.simulate(incline(friction(static=6.0, stribeck_speed=0.05)), duration=1.0)
    early, late = run.v.interp(time=[0.5, 1.0])[:, 0].values
    assert (late - early) / 0.5 == pytest.approx((LOAD - 5.0) / 2.0, rel=1e-6)


@pytest.mark.parametrize("speed", [0.0, 1e-6, 0.004, -0.01, 0.01, 0.02, -0.3, 5.0])
def test_the_law_is_that_of_its_docstring(speed):
    found = force(friction(stribeck_speed=0.05, viscous=0.4), speed)
    u = abs(speed)
    creep = 8.0 * (3 - (u / 0.01) ** 2) * u / (2 * 0.01)
    law = creep if u <= 0.01 else 5.0 + 3.0 * math.exp(-(((u - 0.01) / 0.05) ** 2))
    assert found == pytest.approx(-math.copysign(law, speed) - 0.4 * speed, abs=1e-12)


def test_its_slope_is_continuous_at_the_creep_speed():
    law = friction(stribeck_speed=0.05).resistance
    before, after = (complex_step(lambda u: law(u * u) * u, x, 1.0) for x in (0.01 * (1 - 1e-9), 0.01 * (1 + 1e-9)))
    assert abs(after - before) < 1e-3  # of a slope of 1200 at rest


def test_friction_takes_energy_from_every_motion():
    rng = np.random.default_rng(0)
    for _ in range(200):
        coulomb = rng.uniform(0, 10)
        law = ph.JointFriction(
            "rub", "ball", coulomb, coulomb + rng.exponential(3), *10.0 ** rng.uniform(-4, 1, 3)
        ).resistance
        assert law(10.0 ** rng.uniform(-12, 6)) >= 0


def test_friction_of_a_ball_is_against_its_angular_velocity_alike_about_every_axis():
    ball = ph.Joint("ball", "spherical", "world", "block")
    rub = ph.JointFriction("rub", "ball", 3.0, creep_speed=0.1)
    model = ph.Model("ball", bodies=[BLOCK], joints=[ball], forces=[rub], gravity=(0, 0, 0))
    for omega in ((0.0, 0.0, 0.0), (0.01, -0.02, 0.03), (3.0, -4.0, 12.0)):
        torque = 0.1 * np.array(ph.compile(model).forward_dynamics([1.0, 0, 0, 0], omega, [0, 0, 0]))
        assert_close(torque, -rub.resistance(np.dot(omega, omega)) * np.array(omega))
    assert np.linalg.norm(torque) == pytest.approx(3.0)


def test_of_a_joint_of_several_axes_it_is_along_the_one_named():
    puck = ph.Joint("puck", "planar", "world", "block")
    rub = ph.JointFriction("rub", "puck", 3.0, axis=1)
    model = ph.Model("puck", bodies=[BLOCK], joints=[puck], forces=[rub], gravity=(0, 0, 0))
    assert_close(ph.compile(model).forward_dynamics([0, 0, 0], [1, 1, 1], [0, 0, 0]), [0, -1.5, 0])


def test_a_run_says_how_fast_it_creeps_and_why_energy_does_not_stay():
    grade = json.loads(ph.simulate(incline(friction()), duration=0.01).attrs["grade"])
    notes = [check["note"] for check in grade]
    assert any("creeps at up to 0.01" in note for note in notes)
    assert any("friction at rub" in note for note in notes)


def test_a_file_holds_it_and_its_numbers_have_paths():
    model = incline(friction(viscous=0.1))
    assert model_from_yaml(to_yaml(model), "incline.yaml") == model
    assert (
        model_from_yaml(to_yaml(incline(ph.JointFriction("rub", "slide", 5.0))), "incline.yaml").forces[0].static
        is None
    )
    paths = {path.removeprefix("forces.rub.") for path in model.numbers() if path.startswith("forces")}
    assert paths == {"coulomb", "static", "viscous", "creep_speed"}


def test_lanes_of_a_sweep_have_the_bits_of_single_runs():
    runs = ph.sweep(
        incline(friction()), {"forces.rub.coulomb": ph.Grid([1.0, 2.0])}, duration=0.2, step=1e-3, method="rk4"
    )
    model = incline(friction()).with_numbers({"forces.rub.coulomb": 2.0})
    alone = ph.simulate(model, duration=0.2, step=1e-3, method="rk4", specialise=True, samples=101)
    assert np.array_equal(runs.q[1], alone.q)


def test_derivatives_are_those_of_differences():
    asked = {"duration": 0.3, "step": 1e-3, "method": "rk4"}
    path = "forces.rub.coulomb"
    model = incline(friction(static=6.0, stribeck_speed=0.05))
    made = ph.gradient(model, lambda q, v: q[0], [path], **asked)
    ends = [float(ph.simulate(model.with_numbers({path: 5.0 + d}), **asked).q[-1, 0]) for d in (-1e-4, 1e-4)]
    assert made.derivatives[path] == pytest.approx((ends[1] - ends[0]) / 2e-4, rel=1e-6)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: friction(coulomb=-1.0), ["force 'rub', coulomb", "-1.0", "at least 0"]),
        (lambda: friction(static=4.0), ["force 'rub', static", "smaller than in slip", "coulomb = 5"]),
        (lambda: friction(creep_speed=0.0), ["creep_speed", "above 0"]),
        (lambda: friction(viscous=-0.1), ["viscous", "at least 0"]),
        (lambda: friction(axis=-1), ["axis", "not a place"]),
        (lambda: incline(friction(axis=1)), ["force 'rub', axis", "1 of 'slide'", "0 to 0"]),
        (lambda: incline(ph.JointFriction("rub", "slid", 1.0)), ["no such joint", "'slid'", "slide"]),
        (
            lambda: ph.Model(
                "f", bodies=[BLOCK], joints=[ph.Joint("air", "free", "world", "block")],
                forces=[ph.JointFriction("rub", "air", 1.0)],
            ),
            ["a joint without axes", "'air', free"],
        ),
    ],
)  # fmt: skip
def test_bad_input_is_told(make, words):
    with pytest.raises(ph.ModelError) as told:
        make()
    assert all(word in str(told.value) for word in words), told.value
