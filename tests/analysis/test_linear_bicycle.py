"""The Carvallo–Whipple bicycle: its published linear equations, from the nonlinear machine as linearised here."""

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq

import polhode as ph
from analysis_cases import bicycle_matrices, furthest
from polhode.bench.published import published as rows
from polhode.formats.bicycle import Bicycle, bicycle, bicycle_text, z_up

PUBLISHED = 1e-9
"""Fourteen decimals are published; entries reach 81, eigenvalues 25."""
CROSSING = 1e-8
"""Of a speed at which eigenvalues cross."""
G = 9.81
LEAN_AND_STEER = ["frame.omega_x", "steer"]
MODEL = bicycle()


def straight(speed, model=MODEL):
    """Upright and straight ahead."""
    start = np.array(model.start.v)
    v = start * speed / start[0]
    v[3] = 0.0
    return ph.linearize(model, v=v)


def four(speed, model=MODEL):
    return np.linalg.eigvals(straight(speed, model).part(LEAN_AND_STEER).A)


@pytest.mark.parametrize("speed", [0.5, 1.0, 5.0, 10.0])
def test_mass_damping_and_stiffness_are_the_published_ones(speed):
    M, C, K = straight(speed).second_order(LEAN_AND_STEER)
    rest = straight(0.0).second_order(LEAN_AND_STEER)
    expected = bicycle_matrices()
    assert np.max(abs(M - expected["M"])) < PUBLISHED
    assert np.max(abs(C / speed - expected["C1"])) < PUBLISHED
    assert np.max(abs(rest.K / G - expected["K0"])) < PUBLISHED
    assert np.max(abs((K - rest.K) / speed**2 - expected["K2"])) < PUBLISHED


@pytest.mark.parametrize("speed", range(11))
def test_the_eigenvalues_are_those_of_table_2(speed):
    row = rows("bicycle_eigenvalues")[speed]
    expected = [float(row["capsize"]), float(row["castering"])]
    expected += [complex(float(row[f"{name}_real"]), float(row[f"{name}_imag"])) for name in ("weave", "other")]
    found = straight(float(speed)).eigenvalues(all=True)
    assert found.shape == (10,)
    assert furthest(found, [*expected, *[0] * 6]) < PUBLISHED  # 0: place, heading, wheel angles, speed
    assert np.sum(abs(found) < 1e-12) >= 6


def test_first_order_rows_are_those_of_sympy():
    for speed in (0.0, 1.0, 4.6):
        A = straight(speed).part(LEAN_AND_STEER).A
        states = ["lean", "steer", "lean_rate", "steer_rate"]
        for row in rows("bicycle_first_order"):
            expected = float(row["constant"]) + float(row["linear"]) * speed + float(row["square"]) * speed**2
            found = A[2 + ["lean", "steer"].index(row["row"]), states.index(row["state"])]
            assert abs(found - expected) < 1e-11


def speed_of(name):
    return next(row for row in rows("bicycle_speeds") if row["name"] == name)


def test_weave_becomes_stable_at_its_speed():
    row, oscillating = speed_of("weave"), lambda v: max(four(v), key=lambda x: x.imag)
    speed = brentq(lambda v: oscillating(v).real, 4.0, 4.6, xtol=1e-13)
    assert abs(speed - float(row["speed"])) < CROSSING
    assert abs(oscillating(speed).imag - float(row["imag"])) < CROSSING


def test_capsize_becomes_unstable_at_its_speed():
    stiffness = lambda v: np.linalg.det(straight(v).second_order(LEAN_AND_STEER).K)
    assert abs(brentq(stiffness, 5.5, 6.5, xtol=1e-13) - float(speed_of("capsize")["speed"])) < CROSSING


def test_two_real_eigenvalues_meet_at_their_speed():
    def discriminant(v):
        return np.prod([(a - b) ** 2 for k, a in enumerate(four(v)) for b in four(v)[:k]]).real

    row = speed_of("bifurcation")
    speed = brentq(discriminant, 0.5, 0.9, xtol=1e-13)
    assert abs(speed - float(row["speed"])) < CROSSING
    pair = sorted(four(speed), key=lambda x: -x.real)[:2]
    assert abs(sum(pair) / 2 - float(row["real"])) < 1e-7  # each alone only to the root of rounding


def test_a_bicycle_is_stable_between_weave_and_capsize():
    assert [straight(v).stability for v in (2.0, 5.0, 8.0)] == ["unstable", "stable", "unstable"]


def test_all_perturbations_that_roll_stay_so():
    small = straight(5.0)
    assert np.max(abs(small.S @ small.W - small.W @ small.A)) < 1e-12
    assert small.W.shape == (18, 10)
    assert small.is_steady
    assert set(small.states) >= {"q.frame.omega_x", "q.steer", "v.frame.omega_x", "v.steer"}


def test_the_start_of_the_file_leads_to_the_steady_ride():
    found = ph.steady_motion(ph.load("bicycle"), {"frame.speed_x": 5.0}, stability=True)
    assert found.stability == "stable"
    assert found.rates.keys() == {"frame.speed_x", "rear-axle", "front-axle"}
    assert found.rates["rear-axle"] == pytest.approx(5 / 0.3, rel=1e-12)
    assert found.residual < 1e-12


def test_a_steady_turn_needs_a_steer_torque_and_stays():
    """Lean held, steer torque found; the compiled equations of the nonlinear machine agree that v̇ + G v = 0."""
    lean = lambda q, v: 2 * (q[3] * q[4] + q[5] * q[6])  # sine of the lean, for a frame that does not pitch
    q, v = np.array(MODEL.start.q), np.array(MODEL.start.v)
    q[3:7], v[3], v[5] = (math.cos(0.1), math.sin(0.1), 0.0, 0.0), 0.0, -0.3
    found = ph.steady_motion(MODEL, ["frame.speed_x", lean], q=q, v=v, inputs=["steer"])
    assert abs(lean(found.q, None) - math.sin(0.2)) < 1e-9
    assert found.rates["turn about the vertical"] == pytest.approx(-G * math.tan(0.2) / 4.6, rel=0.1)  # to the right
    assert abs(found.tau[6]) > 0.1
    assert not np.any(np.delete(found.tau, 6))
    vd = ph.compile(MODEL).forward_dynamics(found.q, found.v, found.tau)
    assert np.max(abs(vd + found.generator @ found.v)) < 1e-9
    small = ph.linearize(MODEL, found.q, found.v, tau=found.tau, generator=found.generator)
    assert small.is_steady
    assert np.max(abs(small.S @ small.W - small.W @ small.A)) < 1e-10


def test_the_bundled_file_is_that_of_the_constructor():
    assert ph.load("bicycle") == bicycle()
    path = Path(ph.__file__).parent / "formats/models/bicycle.yaml"
    assert path.read_text(encoding="utf-8") == bicycle_text()


def test_half_a_turn_about_x_turns_z_up():
    center, inertia = z_up(1.0, 2.0, 3.0, 4.0, 5.0, 0.5)
    R = np.diag([1.0, -1.0, -1.0])
    assert np.array_equal(center, R @ [1, 0, 2])
    assert np.array_equal(inertia, R @ [[3, 0, 0.5], [0, 4, 0], [0.5, 0, 5]] @ R)


def test_other_parameters_make_another_bicycle():
    assert len(Bicycle.__dataclass_fields__) == 25
    other = ph.bicycle(w=1.2, mB=70.0, speed=3.0, roll_rate=0.0)
    assert other.body("frame").mass == 70
    assert other.start.v[0] == 3
    assert ph.linearize(other).is_steady
    with pytest.raises(ph.UnknownNameError, match="Did you mean 'mB'"):
        ph.bicycle(mb=70.0)
