"""Frequencies and steady motions with closed forms: pendulums, Lagrange's top, the spherical pendulum, the governor."""

import math

import numpy as np
import pytest

import polhode as ph
from analysis_cases import G, furthest, governor, precessing, top
from polhode.formats.load import load_with_notes

MASS, LENGTH, A, C = 1.5, 0.3, 0.2, 0.05
TOP = top(MASS, LENGTH, A, C)
MGL = MASS * G * LENGTH
CRITICAL = math.sqrt(4 * A * MGL) / C
"""The spin above which a top sleeps: (C ω)² > 4 A m g l."""


def frequencies(small):
    return [mode.frequency for mode in small.modes() if mode.frequency]


def test_the_frequency_of_a_rod():
    rod = ph.load("pendulum")
    found = ph.equilibrium(rod, stability=True)
    assert found.q == pytest.approx([0], abs=1e-12)
    assert found.stability == "marginal"
    (body,) = rod.bodies
    mass, arm = body.mass, abs(body.center[2])
    rate = math.sqrt(mass * G * arm / (body.inertia[1] + mass * arm**2))
    assert frequencies(ph.linearize(rod, found.q, found.v)) == pytest.approx([rate], rel=1e-14)
    upright = ph.linearize(rod, [math.pi], [0.0])
    assert upright.eigenvalues().real == pytest.approx([rate, -rate], rel=1e-14)
    assert upright.stability == "unstable"


def test_a_damper_makes_the_damping_that_a_textbook_says():
    body = ph.Body("bob", 2.0, (0, 0, 0), center=(0, 0, -0.5))
    joint = ph.Joint("hinge", "revolute", "world", "bob", axis=(0, 1, 0), damping=0.3)
    small = ph.linearize(ph.Model("damped", bodies=[body], joints=[joint]))
    (mode,) = small.modes()
    omega = math.sqrt(G / 0.5)
    zeta = 0.3 / (2 * 2.0 * 0.25 * omega)
    assert mode.damping == pytest.approx(zeta, rel=1e-13)
    assert mode.frequency == pytest.approx(omega * math.sqrt(1 - zeta**2), rel=1e-13)
    assert mode.time == pytest.approx(math.log(2) / (zeta * omega), rel=1e-12)
    assert small.stability == "stable"


def test_the_two_frequencies_of_a_double_pendulum():
    """ω² = (2 ∓ √2) g/l; the angles of both rods stand as 1 : ±√2."""
    small = ph.linearize(ph.load("double-pendulum"), [0, 0], [0, 0])
    slow, fast = small.modes()
    assert slow.frequency**2 == pytest.approx((2 - math.sqrt(2)) * G, rel=1e-13)
    assert fast.frequency**2 == pytest.approx((2 + math.sqrt(2)) * G, rel=1e-13)
    for mode, ratio in ((slow, math.sqrt(2)), (fast, -math.sqrt(2))):
        upper, lower = mode.shape["q.hinge"], mode.shape["q.hinge"] + mode.shape["q.elbow"]
        assert lower / upper == pytest.approx(ratio, rel=1e-12)
    M, _, K = small.second_order(["hinge", "elbow"])
    assert np.max(abs(M - [[5, 2], [2, 1]])) < 1e-13
    assert np.max(abs(K / G - [[3, 1], [1, 1]])) < 1e-13


@pytest.mark.parametrize("part", [0.3, 0.9, 1.1, 3.0])
def test_a_sleeping_top(part):
    """A λ² − i C ω λ − m g l = 0, in axes that stand still."""
    spin = part * CRITICAL
    small = ph.linearize(TOP, [1, 0, 0, 0], [0, 0, spin])
    assert small.is_steady
    assert small.stability == ("unstable" if part < 1 else "marginal")
    roots = np.roots([A, -1j * C * spin, -MGL])
    assert furthest(small.eigenvalues(), [*roots, *roots.conj(), 0]) < 1e-11 * spin


def test_a_top_falls_asleep_at_its_critical_spin():
    unstable = lambda spin: ph.linearize(TOP, [1, 0, 0, 0], [0, 0, spin]).eigenvalues()[0].real
    assert unstable(CRITICAL * (1 - 1e-9)) > 1e-5
    assert unstable(CRITICAL * (1 + 1e-9)) < 1e-9
    assert ph.exact.sleeping_top_rate(A, C, MGL) == pytest.approx(CRITICAL, rel=1e-12)


@pytest.mark.parametrize("tilt", [0.4, 1.2, 2.0])
@pytest.mark.parametrize("which", ["slow", "fast"])
def test_a_precessing_top(tilt, which):
    """Rates of precession from the closed form; nutation ν² = Ω² − 2 (m g l/A) cos θ + (m g l/(A Ω))²."""
    spin = 1.5 * CRITICAL
    turn = getattr(ph.exact.steady_precession_top(A, C, MGL, tilt, spin), which)
    height = lambda q, v: q[0] * q[0] - q[1] * q[1] - q[2] * q[2] + q[3] * q[3]
    q, v = precessing(tilt, 1.05 * turn, spin)
    found = ph.steady_motion(TOP, ["tip.omega_z", height], q, v)
    assert found.rates["turn about the vertical"] == pytest.approx(turn, rel=1e-9)
    assert found.rates["spin of top about z"] == pytest.approx(spin - turn * math.cos(tilt), rel=1e-9)
    small = ph.linearize(TOP, found.q, found.v)
    squared = turn**2 - 2 * MGL / A * math.cos(tilt) + (MGL / (A * turn)) ** 2
    assert frequencies(small) == pytest.approx([math.sqrt(squared)], rel=1e-9)
    assert len(small.eigenvalues()) == 4  # nutation, and two of steady motions nearby


def test_the_cone_of_a_spherical_pendulum():
    """A point on a cone of half angle α: Ω² = g/(l cos α), and it swings about it at Ω √(1 + 3 cos² α)."""
    body = ph.Body("bob", 1.0, (0, 0, 0), center=(0, 0, -0.7))
    joint = ph.Joint("pivot", "universal", "world", "bob", axis=(0, 0, 1), axis2=(0, 1, 0))
    model = ph.Model("cone", bodies=[body], joints=[joint])
    for angle in (0.2, 0.9, 1.4):
        turn = math.sqrt(G / (0.7 * math.cos(angle)))
        found = ph.steady_motion(model, {"pivot.rate1": turn}, q=[0.3, 1.05 * angle], v=[turn, 0])
        assert found.q == pytest.approx([0.3, angle], rel=1e-9)
        (swing,) = frequencies(ph.linearize(model, found.q, found.v))
        assert swing == pytest.approx(turn * math.sqrt(1 + 3 * math.cos(angle) ** 2), rel=1e-10)


def test_the_cone_of_a_ball_on_a_rod():
    """The bundled spherical pendulum, without spin about its rod: A Ω² cos α = m g l."""
    angle, across = 0.5, 1.001
    height = lambda q, v: q[0] * q[0] - q[1] * q[1] - q[2] * q[2] + q[3] * q[3]
    turn = math.sqrt(G / (across * math.cos(angle)))
    q, v = precessing(angle, 0.9 * turn, 0.0)
    found = ph.steady_motion(ph.load("spherical-pendulum"), {"pivot.omega_z": 0.0}, q, v)
    assert abs(found.v[2]) < 1e-12
    found = ph.steady_motion(ph.load("spherical-pendulum"), [height, "pivot.omega_z"], q, v)
    assert abs(found.rates["turn about the vertical"]) == pytest.approx(turn, rel=1e-9)


def test_the_arms_of_a_governor():
    """cos α = g/(l Ω²); with the shaft's speed free, it and the arms swing together."""
    model, turn = governor(0.5, 0.8), 7.0
    found = ph.steady_motion(model, {"shaft": turn}, q=[0, 0.8, 0.7], stability=True)
    assert found.q[1:] == pytest.approx([math.acos(G / (0.5 * turn**2))] * 2, rel=1e-9)
    assert found.q[0] == 0
    assert found.stability == "marginal"
    still = ph.equilibrium(model, q=[0, 0.8, 0.7])
    assert still.q[1:] == pytest.approx([0, 0], abs=1e-9)


def test_what_must_push_to_hold_a_pendulum():
    rod = ph.load("pendulum")
    found = ph.equilibrium(rod, constant={"q.hinge": 0.4}, inputs=["hinge"])
    assert found.q == pytest.approx([0.4], abs=1e-12)
    body = rod.bodies[0]
    assert found.tau == pytest.approx([body.mass * G * abs(body.center[2]) * math.sin(0.4)], rel=1e-10)
    again = ph.equilibrium(rod, q=[0.3], tau=found.tau)
    assert again.q == pytest.approx([0.4], abs=1e-10)
    named = ph.equilibrium(rod, q=[0.3], tau={"hinge": found.tau[0]})
    assert named.q == pytest.approx([0.4], abs=1e-10)


@pytest.mark.parametrize("name", ["arm-6", "chain-7", "manipulator", "double-pendulum", "cart-pole", "puma-560"])
def test_machines_come_to_rest_downhill(name):
    model, _ = load_with_notes(name)
    found = ph.equilibrium(model, stable=True, stability=True)
    assert found.stability in ("stable", "marginal")
    system = ph.compile(model, target="python")
    assert np.max(abs(system.bias(found.q, np.zeros(model.nv)))) < 1e-8


def test_near_an_unstable_rest_that_one_is_told():
    found = ph.equilibrium(ph.load("pendulum"), q=[math.pi - 0.2], stability=True)
    assert found.q == pytest.approx([math.pi], abs=1e-10)
    assert found.stability == "unstable"
    down = ph.equilibrium(ph.load("pendulum"), q=[math.pi], stable=True)
    assert math.cos(down.q[0]) == pytest.approx(1, abs=1e-12)
