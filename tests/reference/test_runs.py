"""Runs against published digits and closed forms."""

import numpy as np
import pytest

import polhode as ph
from polhode import exact
from run_cases import DOUBLE, FREQUENCY, PENDULUM, attitude_gap, columns, spinning, table, top

TIGHT = 1e-13
"""The tolerance of the runs that are compared with digits."""

ATTITUDE, RATE, PLANE, CHAIN = 1e-11, 1e-10, 1e-11, 1e-10
"""What those runs are judged by: quaternions, angular velocities, the pendulum's place, the double pendulum."""

LOOSE = 1e-10
"""The tolerance of the runs against closed forms."""


def accumulated(run):
    """What errors of LOOSE at each step add up to: a rate that is wrong turns a body away for the rest of the time."""
    return LOOSE * run.attrs["steps_taken"] * (1 + float(run["time"][-1]))


@pytest.mark.parametrize(
    ("name", "inertia", "omega"),
    [
        ("exact_free_symmetric", (0.04, 0.04, 0.02), (2, 4, 6)),
        ("exact_free_asymmetric", (500, 200, 300), (0.5, -0.4, 0.7)),
    ],
)
def test_a_free_body_has_the_digits_of_the_reference(name, inertia, omega):
    rows = table(name)
    run = ph.simulate(
        spinning(inertia), v=(0, 0, 0, *omega), duration=rows["t"][-1], samples=rows["t"], tolerance=TIGHT
    )
    assert attitude_gap(run["q"].values[1:, 3:], columns(rows, "p0", "p1", "p2", "p3")) <= ATTITUDE
    assert np.max(abs(run["v"].values[1:, 3:] - columns(rows, "w1", "w2", "w3"))) <= RATE


def test_the_heavy_top_has_the_digits_of_the_reference():
    rows = table("heavy_top")
    model = top(15.0, (0.234375, 0.46875, 0.234375), (0, 1, 0))
    run = ph.simulate(model, v=(0, 150, -4.61538), duration=1.0, samples=rows["t"], tolerance=TIGHT)
    p = run["q"].values[1:]
    assert attitude_gap(p, columns(rows, "q0", "q1", "q2", "q3")) <= ATTITUDE
    assert np.max(abs(run["v"].values[1:] - columns(rows, "w1", "w2", "w3"))) <= RATE
    assert np.max(abs(ph.quaternion.rotate(p, (0, 1, 0)) - columns(rows, "x", "y", "z"))) <= ATTITUDE


def cone():
    """A cone on its tip, and what it takes to precess steadily at 10 rad/s, tilted by π/3 (metis, HeavyTopQuat)."""
    H, R, g, tilt, precession = 0.1, 0.05, 9.81, np.pi / 3, 10.0
    m, L = 2700 * np.pi * R**2 * H / 3, 3 * H / 4
    J1, J3 = 3 * m * (4 * R**2 + H**2) / 80, 3 * m * R**2 / 10
    spin = m * g * L / (J3 * precession) + (J1 + m * L**2 - J3) / J3 * precession * np.cos(tilt)
    p = (np.cos(tilt / 2), np.sin(tilt / 2), 0, 0)
    omega = (0, precession * np.sin(tilt), spin + precession * np.cos(tilt))
    return top(m, (J1, J1, J3), (0, 0, L)), p, omega


def test_a_cone_in_steady_precession_keeps_its_tilt_and_returns():
    model, p, omega = cone()
    run = ph.simulate(model, p, omega, duration=2 * np.pi / 10, samples=101, tolerance=TIGHT)
    axis = ph.quaternion.rotate(run["q"].values, (0, 0, 1))
    assert np.max(abs(axis[:, 2] - np.cos(np.pi / 3))) <= ATTITUDE
    assert np.max(abs(axis[-1] - axis[0])) <= ATTITUDE
    body = model.bodies[0]
    A, C = body.inertia[0] + body.mass * body.center[2] ** 2, body.inertia[2]
    motion = exact.steady_top(A, C, body.mass * 9.81 * body.center[2], np.pi / 3, omega[2], run["time"].values)
    assert attitude_gap(run["q"], motion.p) <= ATTITUDE
    assert np.max(abs(run["v"] - motion.omega)) <= RATE


def test_the_pendulum_has_the_digits_of_the_reference():
    rows = table("exact_pendulum")
    run = ph.simulate(PENDULUM, [-np.pi / 2], duration=10.0, samples=rows["t"], tolerance=TIGHT)
    angle = run["q"].values[1:, 0]
    assert np.max(abs(np.sin(angle) - rows["x"])) <= PLANE
    assert np.max(abs(-np.cos(angle) - rows["y"])) <= PLANE


def test_the_double_pendulum_has_the_digits_of_the_reference():
    rows = table("double_pendulum")
    run = ph.simulate(DOUBLE, [np.pi / 2, 0], duration=5.0, samples=rows["t"], tolerance=TIGHT)
    for name, found in (("theta", run["q"].values[1:]), ("rate", run["v"].values[1:])):
        absolute = np.cumsum(found, axis=1)
        assert np.max(abs(absolute - columns(rows, f"{name}1", f"{name}2"))) <= CHAIN


@pytest.mark.parametrize("seed", range(3))
def test_random_free_bodies_follow_their_closed_form(seed):
    rng = np.random.default_rng(seed)
    a, b, c = rng.uniform(0.1, 1.0, 3)
    inertia, omega, p = (a + b, b + c, c + a), rng.normal(size=3) * 3, rng.normal(size=4)
    p /= np.linalg.norm(p)
    speed = rng.normal(size=3)
    run = ph.simulate(spinning(inertia), (0, 0, 0, *p), (*speed, *omega), duration=8.0, samples=50, tolerance=LOOSE)
    motion = exact.free_body(inertia, omega, run["time"].values, p)
    assert attitude_gap(run["q"].values[:, 3:], motion.p) <= accumulated(run)
    assert np.max(abs(run["v"].values[:, 3:] - motion.omega)) <= accumulated(run)
    assert np.max(abs(run["q"].values[:, :3] - np.outer(run["time"], speed))) <= accumulated(run)


@pytest.mark.parametrize("seed", range(3))
def test_random_tops_follow_their_closed_form(seed):
    rng = np.random.default_rng(seed)
    mass, A, arm = rng.uniform(0.5, 2.0), rng.uniform(0.1, 0.3), rng.uniform(0.2, 0.6)
    inertia, p = (A, A, rng.uniform(0.5, 1.9) * A), rng.normal(size=4)
    p, omega = p / np.linalg.norm(p), rng.normal(size=3) * (2, 2, 12)
    run = ph.simulate(top(mass, inertia, (0, 0, arm)), p, omega, duration=4.0, samples=50, tolerance=LOOSE)
    motion = exact.heavy_top(mass, inertia, (0, 0, arm), p, omega, run["time"].values)
    assert attitude_gap(run["q"], motion.p) <= accumulated(run)
    assert np.max(abs(run["v"] - motion.omega)) <= accumulated(run)


@pytest.mark.parametrize(("angle", "rate"), [(0.3, 0.0), (2.5, -1.0), (0.1, 7.5)])
def test_pendula_of_any_amplitude_follow_their_closed_form(angle, rate):
    run = ph.simulate(PENDULUM, [angle], [rate], duration=6.0, samples=50, tolerance=LOOSE)
    motion = exact.pendulum(angle, rate, run["time"].values, FREQUENCY)
    assert np.max(abs(run["q"].values[:, 0] - motion.angle)) <= accumulated(run)
    assert np.max(abs(run["v"].values[:, 0] - motion.rate)) <= accumulated(run)
