"""Friction by normal forces: Painlevé's rod, and loops against a fixed point of NumPy in absolute coordinates."""

import math
from dataclasses import replace

import numpy as np
import pytest

import polhode as ph

RUBS = {"motor": (0.3, 0.05), "knee": (0.5, 0.04), "pivot": (0.2, 0.06)}
"""Coefficient and radius, m, of the joints of the four-bar."""


def four_bar(**options):
    bar = ph.load("four-bar")
    rubs = [
        ph.JointFriction(f"rub-{name}", name, 0.1, coefficient=mu, radius=r, **options)
        for name, (mu, r) in RUBS.items()
    ]
    return replace(bar, forces=tuple(rubs), start=None), np.array(bar.start.q), np.array(bar.start.v)


def planar_four_bar(q, v, torque):
    """Accelerations of the joints, and the forces in their pins, by Newton and Euler of three bars in the plane.

    Unknown are the accelerations of the centres (3, 2), those of the angles (3,), and the forces in the pins (4, 2):
    ground on crank, crank on coupler, ground on rocker, coupler on rocker.
    """
    L = m = np.array([0.4, 1.2, 0.8])
    I = m * (L**2 + 0.04**2) / 12
    angle, omega = np.array([q[0], q[0] + q[1], q[2]]), np.array([v[0], v[0] + v[1], v[2]])
    half = np.stack([np.cos(angle), np.sin(angle)], axis=1) * L[:, None] / 2
    K, b = np.zeros((17, 17)), np.zeros(17)
    K[range(9), range(9)] = [*np.repeat(m, 2), *I]
    b[1:6:2], b[6:9] = -9.81 * m, [torque[0] - torque[1], torque[1], torque[2]]
    for bar, pin, sign, end in (
        (0, 0, 1, -1),
        (0, 1, -1, 1),
        (1, 1, 1, -1),
        (1, 3, -1, 1),
        (2, 2, 1, -1),
        (2, 3, 1, 1),
    ):
        (x, z), force = end * half[bar], 9 + 2 * pin
        K[2 * bar, force] -= sign
        K[2 * bar + 1, force + 1] -= sign
        K[6 + bar, force : force + 2] -= sign * np.array([-z, x])
    for pin, (bar, sign, end) in (
        (0, (0, 1, -1)),
        (1, (0, 1, 1)),
        (1, (1, -1, -1)),
        (2, (2, 1, -1)),
        (3, (1, 1, 1)),
        (3, (2, -1, 1)),
    ):
        (x, z), row = end * half[bar], 9 + 2 * pin
        K[row, [2 * bar, 6 + bar]] += sign * np.array([1.0, -z])
        K[row + 1, [2 * bar + 1, 6 + bar]] += sign * np.array([1.0, x])
        b[row : row + 2] += sign * omega[bar] ** 2 * np.array([x, z])
    found = np.linalg.solve(K, b)
    a, forces = found[6:9], found[9:].reshape(4, 2)
    return np.array([a[0], a[1] - a[0], a[2]]), np.linalg.norm(forces[:3], axis=1)


def fixed_point(q, v):
    """The same with friction in the three joints of the tree, iterated."""
    torque, arm = np.zeros(3), np.array([mu * r for mu, r in RUBS.values()])
    for _ in range(100):
        vd, N = planar_four_bar(q, v, torque)
        torque = -np.sign(v) * (0.1 + arm * N)
    return vd, N


def test_joints_of_a_loop_rub_as_a_fixed_point_of_newton_and_euler_says():
    model, q, v = four_bar()
    system, none = ph.compile(model), np.zeros(3)
    vd, N = fixed_point(q, v)
    np.testing.assert_allclose(system.forward_dynamics(q, v, none), vd, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(system.joint_reactions(q, v, none).force, axis=1), N, atol=1e-12)
    with pytest.raises(ph.InputError, match="normal forces of joints: not known without the forces of constraints"):
        system.inverse_dynamics(q, v, vd)


@pytest.mark.long
def test_derivatives_of_a_loop_that_rubs_are_those_of_differences():
    model, q, v = four_bar()
    system, none, e = ph.compile(model), np.zeros(3), 1e-6
    found = system.forward_dynamics_derivatives(q, v, none)
    for slopes, move in (
        (found.dv, lambda d: system.forward_dynamics(q, v + d, none)),
        (found.dtau, lambda d: system.forward_dynamics(q, v, d)),
        (found.dq, lambda d: system.forward_dynamics(q + d, v, none)),
    ):
        central = np.stack([(move(e * unit) - move(-e * unit)) / (2 * e) for unit in np.eye(3)], axis=1)
        np.testing.assert_allclose(slopes, central, atol=1e-6)


@pytest.mark.long
def test_a_loop_that_rubs_moves_alike_by_events_and_regularised_and_passes_dead_centres():
    model, q, v = four_bar(creep_speed=1e-4)
    smooth = ph.simulate(model, q=q, v=v, duration=1.0)
    model, *_ = four_bar(method="events")
    exact = ph.simulate(model, q=q, v=v, duration=1.0)
    assert smooth.attrs["verdict"] == exact.attrs["verdict"] == "good"
    assert list(exact.event_name.values[:2]) == ["rub-pivot.sticks", "rub-pivot.slips"]  # where the rocker turns
    assert {"rub-motor.sticks", "rub-motor.slips"} <= set(exact.event_name.values)
    np.testing.assert_allclose(smooth.q, exact.q, atol=1e-5)


def rod(mu, **options):
    """A uniform rod of 2 m and 1 kg whose lower end slides on a rail, by a sled that weighs next to nothing."""
    return ph.Model(
        "rod",
        bodies=[ph.Body("sled", 1e-12, (0.0, 0.0, 0.0)), ph.Body("rod", 1.0, (1 / 3, 1 / 3, 0.0), center=(0, 0, 1.0))],
        joints=[
            ph.Joint("slide", "prismatic", "world", "sled", axis=(1, 0, 0)),
            ph.Joint("pivot", "revolute", "sled", "rod", axis=(0, 1, 0)),
        ],
        forces=[ph.JointFriction("rub", "slide", 0.0, coefficient=mu, **options)],
    )


@pytest.mark.parametrize("method", ["regularised", "events"])
def test_the_rod_of_painleve_has_one_normal_force_up_to_where_it_found_none_or_several(method):
    mu, g, rate = 2.0, 9.81, 1.5
    system = ph.compile(rod(mu, method=method))
    slip, still = ([1.0], [0.0] * 3) if method == "events" else ([], [0.0] * 2)
    for angle in (-0.1, 0.1, 1.4):
        s, c = math.sin(angle), math.cos(angle)
        N = (g - rate**2 * c) / (1 + 3 * s * (s + mu * c))
        turn = 3 * N * (s + mu * c)
        expected = [-mu * N - turn * c + rate**2 * s, turn]
        found = system.forward_dynamics([0.0, angle], [1.0, rate, *slip], still)
        np.testing.assert_allclose(found[:2], expected, rtol=1e-9)
    # 3 μ sin φ cos φ = 1 + 3 sin² φ
    tangent = (3 * mu - math.sqrt((3 * mu) ** 2 - 16)) / 8
    critical = math.atan(tangent)
    for part, known in ((1 - 1e-9, True), (1 + 1e-9, False)):
        found = system.forward_dynamics([0.0, -part * critical], [1.0, 0.0, *slip], still)
        assert np.isfinite(found).all() == known
