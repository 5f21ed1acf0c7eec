"""Friction in joints: its law, creep where it is regularised, stick and slip by events, energy, files, bad input."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

import polhode as ph
from close import assert_close, complex_step
from own_elements import arm
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
    assert paths == {"coulomb", "static", "viscous", "creep_speed", "drive_speed"}


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


# by events


def exact_friction(**numbers):
    return ph.JointFriction("rub", "slide", **{"coulomb": 5.0, "static": 8.0, "method": "events", **numbers})


def test_by_events_a_block_below_break_away_sticks():
    run = ph.simulate(incline(exact_friction()), duration=1.0)
    assert run.attrs["verdict"] == "good"
    assert abs(run.v).max() < 1e-12
    assert abs(run.q).max() < 1e-12
    assert run.event_time.size == 0


def test_by_events_a_block_above_break_away_slides_as_the_closed_form():
    run = ph.simulate(incline(exact_friction(static=6.0)), duration=1.0)
    np.testing.assert_allclose(run.q[:, 0], (LOAD - 5.0) / 2.0 * run.time**2 / 2, atol=1e-12)
    assert list(run.event_name.values) == ["rub.slips"]


def test_by_events_a_block_that_is_pushed_up_stops_and_sticks_or_slides_back():
    up = -2.0
    for static, back in ((8.0, 0.0), (6.0, (LOAD - 5.0) / 2.0)):
        run = ph.simulate(incline(exact_friction(static=static)), v=[up, 0.0], duration=2.0)
        slowing = (LOAD + 5.0) / 2.0
        stops, reached = -up / slowing, -(up**2) / (2 * slowing)
        np.testing.assert_allclose(run.event_time[0], stops, atol=1e-12)
        after = np.maximum(run.time - stops, 0.0)
        expected = np.where(after > 0, reached + back * after**2 / 2, up * run.time + slowing * run.time**2 / 2)
        np.testing.assert_allclose(run.q[:, 0], expected, atol=1e-11)
        assert list(run.event_name.values) == ["rub.sticks", "rub.slips"][: 1 + bool(back)]


BELT = {"k": 4.0, "speed": 0.3, "coulomb": 1.0, "static": 2.0}


def belt(**numbers):
    """A block of 1 kg on a belt, held by a spring."""
    given = {"coulomb": BELT["coulomb"], "static": BELT["static"], "drive_speed": BELT["speed"], "method": "events"}
    return ph.Model(
        "belt",
        gravity=(0.0, 0.0, 0.0),
        bodies=[ph.Body("block", 1.0, (0.1, 0.1, 0.1))],
        joints=[ph.Joint("slide", "prismatic", "world", "block", axis=(1, 0, 0), stiffness=BELT["k"])],
        forces=[ph.JointFriction("rub", "slide", **{**given, **numbers})],
    )


def exact_belt(times):
    """x and ẋ of the stick–slip oscillator from rest, and the times of its events, by pieces.

    Slip: x = c + A cos ωs + B sin ωs about c = F_c/k until ẋ is that of the belt; stick: with the belt until k x = F_s.
    """
    k, speed = BELT["k"], BELT["speed"]
    omega, center = math.sqrt(k), BELT["coulomb"] / k
    begin, x, v, sticks, found, events = 0.0, 0.0, 0.0, False, np.full((len(times), 2), np.nan), []
    while begin <= times[-1]:
        A, B = x - center, v / omega
        if sticks:
            lasts = (BELT["static"] / k - x) / speed
        else:
            angle, phase = math.asin(-speed / (omega * math.hypot(A, B))), math.atan2(B, A)
            ends = [(a + 2 * math.pi * n + phase) / omega for a in (angle, math.pi - angle) for n in (-1, 0, 1)]
            lasts = min(end for end in ends if end > 1e-9)
        here = (times >= begin) & (times <= begin + lasts)
        for s, place in ((times[here] - begin, here), (np.array([lasts]), None)):
            slip = center + A * np.cos(omega * s) + B * np.sin(omega * s)
            rate = omega * (B * np.cos(omega * s) - A * np.sin(omega * s))
            both = np.stack([x + speed * s, speed + 0 * s] if sticks else [slip, rate], axis=1)
            if place is not None:
                found[place] = both
        (x, v), begin, sticks = both[0], begin + lasts, not sticks
        events.append(begin)
    return found, events


@pytest.mark.parametrize("options", [{"tolerance": 1e-12}, {"method": "rk4", "step": 2e-3}], ids=str)
def test_the_oscillator_on_a_belt_sticks_and_slips_as_its_piecewise_solution(options):
    run = ph.simulate(belt(), duration=20.0, **options)
    expected, events = exact_belt(run.time.values)
    assert run.attrs["verdict"] == "good"
    np.testing.assert_allclose(np.stack([run.q[:, 0], run.v[:, 0]], axis=1), expected, atol=1e-9)
    assert list(run.event_name.values) == ["rub.sticks", "rub.slips"] * 5 + ["rub.sticks"]
    np.testing.assert_allclose(run.event_time.values, events[:11], atol=1e-10)


def test_the_friction_of_slip_by_events_follows_stribeck():
    element = exact_friction(stribeck_speed=0.05, viscous=0.4)
    system = ph.compile(incline(element))
    for speed in (0.02, -0.3):
        law = 5.0 + 3.0 * math.exp(-((speed / 0.05) ** 2))
        found = -float(system.inverse_dynamics([0.0], [speed, math.copysign(1.0, speed)], [0.0, 0.0])[0]) - LOAD
        assert found == pytest.approx(-math.copysign(law, speed) - 0.4 * speed, abs=1e-12)


def test_friction_by_events_stops_a_loop_and_holds_it():
    bar = ph.load("four-bar")
    model = replace(
        bar, forces=(ph.JointFriction("rub", bar.joints[0].name, coulomb=3.0, static=4.0, method="events"),), start=None
    )
    run = ph.simulate(model, q=bar.start.q, v=[*bar.start.v, 0.0], duration=1.0)
    assert run.attrs["verdict"] == "good"
    assert list(run.event_name.values) == ["rub.sticks"]
    held = run.time.values > float(run.event_time[0])
    assert abs(run.v[held]).max() < 1e-12
    assert np.ptp(run.q.values[held], axis=0).max() < 1e-12


def test_what_friction_by_events_cannot_do_is_refused():
    model = incline(exact_friction())
    for call, what in (
        (lambda: ph.simulate(model, duration=0.1, method="variational", step=1e-3), "hold axes"),
        (lambda: ph.simulate(model, duration=0.1, engine="absolute"), "hold axes"),
        (lambda: ph.simulate(model, duration=0.1, method="cvode"), "not with SUNDIALS"),
        (lambda: ph.linearize(model, [0.0]), "hold axes"),
        (lambda: ph.equations(model), "hold axes"),
    ):
        with pytest.raises(ph.PolhodeError, match=what):
            call()
    ball = ph.Joint("ball", "spherical", "world", "block")
    with pytest.raises(ph.ModelError, match="a joint without axes"):
        ph.Model("m", bodies=[BLOCK], joints=[ball], forces=[exact_friction().changed(joint="ball")])


def test_friction_by_events_is_kept_in_files():
    model = belt()
    assert "method: events" in to_yaml(model)
    assert model_from_yaml(to_yaml(model), "belt.yaml") == model


# by the normal force


def rubbing(coefficient, **numbers):
    return ph.JointFriction("rub", "slide", 0.0, coefficient=coefficient, **numbers)


def test_a_block_slides_down_by_the_coefficient_of_its_normal_force():
    run = ph.simulate(incline(rubbing(0.2)), v=[1.0], duration=1.0)
    assert run.attrs["verdict"] == "good"
    slowed = 9.81 * (math.sin(SLOPE) - 0.2 * math.cos(SLOPE))
    np.testing.assert_allclose(run.v[:, 0], 1.0 + slowed * run.time, rtol=1e-9)
    np.testing.assert_allclose(run.work[-1], -0.2 * 2.0 * 9.81 * math.cos(SLOPE) * run.q[-1, 0], rtol=1e-9)


def test_below_the_angle_of_friction_it_creeps():
    mu = 2 * math.tan(SLOPE)
    run = ph.simulate(incline(rubbing(mu)), duration=0.5, tolerance=1e-11)
    assert float(run.v[-1, 0]) == pytest.approx(1e-3 * 2 * math.sin(math.asin(0.5) / 3), rel=1e-6)


def test_friction_of_a_bearing_depends_on_all_that_it_bears():
    mu, r, angle, rate = 0.2, 0.05, 0.3, 2.0
    pendulum = ph.Model(
        "pendulum",
        bodies=[ph.Body("bob", 1.0, (0.0, 0.0, 0.0), center=(0, 0, -1))],
        joints=[ph.Joint("hinge", "revolute", "world", "bob", axis=(0, 1, 0))],
        forces=[ph.JointFriction("rub", "hinge", 0.0, coefficient=mu, radius=r)],
    )
    radial = rate**2 + 9.81 * math.cos(angle)
    N = radial / math.sqrt(1 - (mu * r) ** 2)
    system = ph.compile(pendulum)
    vd = system.forward_dynamics([angle], [rate], [0.0])
    np.testing.assert_allclose(vd, -9.81 * math.sin(angle) - mu * r * N, rtol=1e-13)
    np.testing.assert_allclose(system.inverse_dynamics([angle], [rate], vd), [0.0], atol=1e-12)
    found, e = system.forward_dynamics_derivatives([angle], [rate], [0.0]), 1e-6
    moved = [system.forward_dynamics([angle + s * e], [rate], [0.0]) for s in (1, -1)]
    np.testing.assert_allclose(found.dq[0], (moved[0] - moved[1]) / (2 * e), rtol=1e-8)


def test_two_joints_that_rub_are_solved_together():
    rubs = [
        ph.JointFriction(f"rub-{name}", name, 0.1, coefficient=mu, radius=0.1, creep_speed=0.1)
        for name, mu in (("shoulder", 0.5), ("elbow", 0.8))
    ]
    system, q, v, tau = ph.compile(arm(*rubs)), [0.4, -0.9], [3.0, -2.0], [0.3, 0.1]
    vd = system.forward_dynamics(q, v, tau)
    np.testing.assert_allclose(system.inverse_dynamics(q, v, vd), tau, atol=1e-11)
    normal = [np.linalg.norm(force) for force in system.joint_reactions(q, v, tau).force]
    friction = -np.sign(v) * (0.1 + np.array([0.5, 0.8]) * 0.1 * normal)
    np.testing.assert_allclose(ph.compile(arm()).inverse_dynamics(q, v, vd) - tau, friction, rtol=1e-10)


def test_by_events_a_block_sticks_below_the_angle_of_friction_and_slides_as_the_closed_form_above_it():
    stuck = ph.simulate(incline(rubbing(1.01 * math.tan(SLOPE), method="events")), duration=0.5)
    assert abs(stuck.q).max() < 1e-12
    run = ph.simulate(incline(rubbing(0.2, method="events")), v=[-1.0], duration=1.0)
    assert run.attrs["verdict"] == "good"
    up, down = (9.81 * (math.sin(SLOPE) + sign * 0.2 * math.cos(SLOPE)) for sign in (1, -1))
    after = np.maximum(run.time - 1.0 / up, 0.0)
    expected = np.where(after > 0, -1 / (2 * up) + down * after**2 / 2, -run.time + up * run.time**2 / 2)
    np.testing.assert_allclose(run.q[:, 0], expected, atol=1e-11)
    assert list(run.event_name.values) == ["rub.sticks", "rub.slips"]
    np.testing.assert_allclose(run.event_time, 1.0 / up, atol=1e-12)


def sled(coefficient, **numbers):
    """A light sled on a rail, with a rod that leans on it."""
    return ph.Model(
        "sled",
        bodies=[ph.Body("sled", 0.01, (0.1, 0.1, 0.1)), ph.Body("rod", 1.0, (0.0, 0.0, 0.0), center=(0, 0, 1.0))],
        joints=[
            ph.Joint("slide", "prismatic", "world", "sled", axis=(1, 0, 0)),
            ph.Joint("pivot", "revolute", "sled", "rod", axis=(0, 1, 0)),
        ],
        forces=[rubbing(coefficient, **numbers)],
    )


@pytest.mark.parametrize("method", ["regularised", "events"])
def test_where_no_or_several_normal_forces_fit_a_run_ends_with_that_reason(method):
    run = ph.simulate(sled(0.5, method=method), q=[0.0, 0.8], v=[5.0, -3.0], duration=1.0, verify=False)
    assert run.attrs["status"] == "failed"
    assert "no or several solutions, Painlevé; force 'rub'" in run.attrs["reason"]
    assert (
        ph.simulate(sled(0.05, method=method), q=[0.0, 0.8], v=[5.0, -3.0], duration=0.1).attrs["status"] == "finished"
    )


def test_friction_without_a_normal_force_says_so():
    along = ph.Joint("slide", "prismatic", "world", "block", axis=(0, 0, 1))
    model = ph.Model("drop", bodies=[BLOCK], joints=[along], forces=[rubbing(0.3)])
    with pytest.warns(ph.PolhodeWarning, match="joint 'slide' bears no normal force at the start"):
        ph.simulate(model, duration=0.1)


def test_wrong_uses_of_a_coefficient_are_told():
    for call, what in (
        (lambda: incline(rubbing(0.3, radius=0.1)), "radius: does not fit"),
        (lambda: arm(ph.JointFriction("rub", "elbow", 0.0, coefficient=0.3)), "radius: does not fit"),
        (lambda: ph.simulate(incline(rubbing(0.3)), duration=0.1, method="variational", step=1e-3), "normal forces"),
        (lambda: ph.equations(incline(rubbing(0.3))), "normal forces"),
    ):
        with pytest.raises(ph.PolhodeError, match=what):
            call()
    bar = ph.load("four-bar")
    rub = ph.JointFriction("rub", bar.joints[0].name, 0.0, coefficient=0.1, radius=0.1)
    for options in ({"engine": "absolute"}, {"constraints": "ggl", "step": 1e-3}):
        with pytest.raises(ph.PolhodeError, match="normal forces"):
            ph.simulate(replace(bar, forces=(rub,)), duration=0.1, **options)
    with pytest.raises(ph.PolhodeError, match="normal forces of joints: not known without the forces of constraints"):
        ph.linearize(replace(bar, forces=(rub,)), bar.start.q)


def test_linear_equations_refuse_friction_that_depends_on_the_acceleration():
    hanging = arm(ph.JointFriction("rub", "elbow", 0.0, coefficient=0.2, radius=0.1))
    assert ph.linearize(hanging, [0.0, 0.0]).A.shape == (4, 4)
    driven = replace(hanging, forces=(hanging.forces[0].changed(drive_speed=1.0),))
    with pytest.raises(ph.InputError, match=r"friction by normal forces acts(.|\n)*joint 'elbow'"):
        ph.linearize(driven, [0.0, 0.0])


def test_derivatives_and_sweeps_take_a_coefficient():
    run = ph.simulate(incline(rubbing(0.2)), v=[1.0], duration=1.0, sensitivities=["forces.rub.coefficient"])
    np.testing.assert_allclose(run.sensitivity_v[-1, 0], -9.81 * math.cos(SLOPE), rtol=1e-9)
    runs = ph.sweep(incline(rubbing(0.2)), {"forces.rub.coefficient": ph.Grid([0.1, 0.2])}, v=[1.0], duration=1.0)
    np.testing.assert_allclose(runs.v[1, -1, 0], run.v[-1, 0], rtol=1e-9)


def test_a_start_may_leave_the_mode_out_and_a_wrong_one_is_told_what_velocities_are():
    run = ph.simulate(belt(), v=[0.3], duration=0.1)
    assert run.sizes["dof"] == 2
    words = r"velocities of the joints \(1\), and after them, or not, own states: rub.slip"
    with pytest.raises(ph.InputError, match=words):
        ph.simulate(belt(), v=[0.3, 0.0, 1.0], duration=0.1)
